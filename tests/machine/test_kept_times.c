/* What is kept of processes that have ended: the latest, once each. */
#include "machine/kept_times.h"
#include "support/cmocka.h"

static void each_is_taken_once(void **unused)
{
	struct kept_times kept = {0};
	struct machine_times times;

	(void)unused;
	assert_false(kept_times_take(&kept, 0, &times));
	kept_times_put(&kept, 7, (struct machine_times){70, 1});
	kept_times_put(&kept, 8, (struct machine_times){80, 2});
	kept_times_put(&kept, 7, (struct machine_times){71, 3});
	assert_true(kept_times_take(&kept, 7, &times));
	assert_int_equal(times.own, 71);
	assert_int_equal(times.children, 3);
	assert_false(kept_times_take(&kept, 7, &times));
	assert_true(kept_times_take(&kept, 8, &times));
	assert_int_equal(times.own, 80);
}

/* Nobody asks for the first ones: they make room, and no later one does. */
static void the_oldest_make_room(void **unused)
{
	const uint32_t asked = 1000, count = 3 * KEPT_TIMES_MAX;
	struct kept_times kept = {0};
	struct machine_times times;

	(void)unused;
	for (uint32_t i = 1; i <= count; i++) {
		kept_times_put(&kept, i, (struct machine_times){i, 0});
		kept_times_put(&kept, asked, (struct machine_times){2 * i, 0});
		assert_true(kept_times_take(&kept, asked, &times));
		assert_int_equal(times.own, 2 * i);
	}
	for (uint32_t i = 1; i <= count; i++)
		assert_int_equal(kept_times_take(&kept, i, &times), i > count - KEPT_TIMES_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_is_taken_once),
	    cmocka_unit_test(the_oldest_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
