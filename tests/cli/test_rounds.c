/* Runs of a program against a PMU of the test's own, which shares counters as the kernel does. */
#include "cli/rounds.h"

#include "support/cmocka.h"
#include "support/random.h"

#define PROGRAMS 2000

/* Events with the same @unit exclude each other; a run that holds none of them twice counts all. */
static void run_once(const size_t *which, size_t count, const unsigned *unit, bool *whole)
{
	for (size_t i = 0; i < count; i++) {
		whole[i] = true;
		for (size_t j = 0; j < count; j++)
			whole[i] &= i == j || unit[which[i]] != unit[which[j]];
	}
}

/* @return runs that it took */
static unsigned run_all(size_t events, const unsigned *unit)
{
	bool counted[ROUNDS_EVENTS_MAX] = {false}, whole[ROUNDS_EVENTS_MAX];
	size_t which[ROUNDS_EVENTS_MAX], count;
	struct rounds rounds;
	unsigned runs = 0;

	rounds_init(&rounds, events);
	while ((count = rounds_next(&rounds, which)) != 0) {
		run_once(which, count, unit, whole);
		for (size_t i = 0; i < count; i++) {
			assert_false(counted[which[i]]);
			counted[which[i]] = whole[i];
		}
		rounds_take(&rounds, which, whole, count);
		assert_true(++runs <= 2 * ROUNDS_EVENTS_MAX);
	}
	for (size_t i = 0; i < events; i++)
		assert_true(counted[i]);
	return runs;
}

static void test_what_fits_takes_one_run(void **state)
{
	const unsigned apart[] = {0, 1, 2, 3}, alike[] = {0, 0, 0};

	(void)state;
	assert_int_equal(run_all(4, apart), 1);
	assert_int_equal(run_all(1, apart), 1);
	assert_int_equal(run_all(0, apart), 0);
	/* All three at once, two, then one at a time. */
	assert_int_equal(run_all(3, alike), 5);
}

static void test_each_event_is_counted_whole(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned program = 0; program < PROGRAMS; program++) {
		const size_t events = 1 + next_random(&random) % ROUNDS_EVENTS_MAX;
		const unsigned units = 1 + next_random(&random) % 16;
		unsigned unit[ROUNDS_EVENTS_MAX];

		for (size_t i = 0; i < events; i++)
			unit[i] = next_random(&random) % units;
		run_all(events, unit);
	}
}

/* The watchdog has a counter of its own for ever: the event that needs it keeps its estimate. */
static void test_never_whole(void **state)
{
	const bool never[2] = {false, false};
	size_t which[2], count;
	struct rounds rounds;
	unsigned runs = 0;

	(void)state;
	rounds_init(&rounds, 2);
	while ((count = rounds_next(&rounds, which)) != 0) {
		rounds_take(&rounds, which, never, count);
		assert_true(++runs < 10);
	}
	assert_int_equal(runs, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_fits_takes_one_run),
	    cmocka_unit_test(test_each_event_is_counted_whole),
	    cmocka_unit_test(test_never_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
