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
    /* perf's terms, and pmulab's PMU/EVENT. */
    {"imc/event=4,umask=3/,b", {"imc/event=4,umask=3/", "b"}},
    {"b,uncore_imc_0/cas_count_read/", {"b", "uncore_imc_0/cas_count_read/"}},
    {"{imc/event=4,umask=3/,b}", {"{imc/event=4,umask=3/,b}"}},
    {"xeon-e5/imc.A,xeon-e5/imc.B", {"xeon-e5/imc.A", "xeon-e5/imc.B"}},
    {"xeon-e5/imc.A,imc/event=4/", {"xeon-e5/imc.A", "imc/event=4/"}},
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
