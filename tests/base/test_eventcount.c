/* Numbers that are waited for: each rise wakes all that sleep, and none is missed. */
#include <pthread.h>

#include "base/clock.h"
#include "base/eventcount.h"
#include "support/cmocka.h"

#define ROUNDS	  10000
#define THREADS	  3
#define LIMIT_NS  UINT64_C(10000000000) /* a wake-up that is lost takes that long */
#define SECOND_NS UINT64_C(1000000000)

/* One thread raises the first; others raise the second each time that they see it. */
struct pair {
	struct eventcount call, answer;
};

static void *answer(void *arg)
{
	struct pair *pair = arg;

	for (uint64_t seen = 0; seen < ROUNDS; seen++) {
		if (!eventcount_await(&pair->call, seen, LIMIT_NS))
			break;
		eventcount_advance(&pair->answer);
	}
	return NULL;
}

static void call(struct pair *pair, unsigned threads)
{
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = clock_ns(), seen = round * threads;

		eventcount_advance(&pair->call);
		while (seen < (round + 1) * threads) {
			assert_true(eventcount_await(&pair->answer, seen, LIMIT_NS));
			seen = eventcount_read(&pair->answer);
		}
		assert_true(clock_ns() - begin < LIMIT_NS / 2);
	}
}

static void test_each_rise_wakes_all(void **state)
{
	(void)state;
	for (unsigned count = 1; count <= THREADS; count++) {
		struct pair pair = {0};
		pthread_t threads[THREADS];

		for (unsigned i = 0; i < count; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, answer, &pair), 0);
		call(&pair, count);
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
}

static void test_time_is_over(void **state)
{
	struct eventcount event = {.count = 7};
	uint64_t begin = clock_ns();

	(void)state;
	assert_true(eventcount_await(&event, 6, LIMIT_NS));
	assert_false(eventcount_await(&event, 7, 0));
	assert_true(clock_ns() - begin < LIMIT_NS / 2);
	begin = clock_ns();
	assert_false(eventcount_await(&event, 7, SECOND_NS / 50));
	assert_true(clock_ns() - begin >= SECOND_NS / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_rise_wakes_all),
	    cmocka_unit_test(test_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
