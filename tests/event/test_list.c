/* Lists that commas divide. */
#include <string.h>

#include "pmulab/event.h"
#include "support/cmocka.h"

static const struct {
	const char *list;
	const char *items[4]; /* NULL behind the last */
} lists[] = {
    {"", {NULL}},
    {",", {NULL}},
    {"a", {"a"}},
    {"a,b", {"a", "b"}},
    {",a,,bc,", {"a", "bc"}},
    {"cbo.X{edge_det,thresh=1},ha.Y", {"cbo.X{edge_det,thresh=1}", "ha.Y"}},
    {"a{{b,c},d},e", {"a{{b,c},d}", "e"}},
    /* What is left open is one item; what closes nothing opens nothing. */
    {"a{b,c", {"a{b,c"}},
    {"a},b", {"a}", "b"}},
};

static void test_items(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *list = lists[i].list, *item;
		size_t length;

		for (const char *const *wanted = lists[i].items; *wanted; wanted++) {
			assert_true(pmu_event_list_next(&list, &item, &length));
			assert_int_equal(length, strlen(*wanted));
			assert_memory_equal(item, *wanted, length);
		}
		assert_false(pmu_event_list_next(&list, &item, &length));
		assert_string_equal(list, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
