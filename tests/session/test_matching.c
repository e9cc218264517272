/* The matching against all ways there are, on random restrictions. */
#include "session/matching.h"
#include "support/cmocka.h"

#define ITEMS	 7
#define COUNTERS 6
#define TRIALS	 20000

static uint32_t random_bits(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static bool brute_force(const uint32_t *allowed, size_t count, uint32_t taken)
{
	if (count == 0)
		return true;
	for (unsigned c = 0; c < COUNTERS; c++)
		if (allowed[0] & ~taken & 1u << c &&
		    brute_force(allowed + 1, count - 1, taken | 1u << c))
			return true;
	return false;
}

static void check_matching(const uint32_t *allowed, size_t count, const uint8_t *counter)
{
	uint32_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(allowed[i] & 1u << counter[i]);
		assert_false(taken & 1u << counter[i]);
		taken |= 1u << counter[i];
	}
}

/* Hall's theorem: where there is no matching, some items share fewer counters than they are. */
static void check_blame(const uint32_t *allowed, size_t count, uint64_t blame)
{
	uint32_t counters = 0;

	assert_int_not_equal(blame, 0);
	for (size_t i = 0; i < 64; i++) {
		if (!(blame & UINT64_C(1) << i))
			continue;
		assert_true(i < count);
		counters |= allowed[i];
	}
	assert_true(__builtin_popcount(counters) < __builtin_popcountll(blame));
}

static void test_random_restrictions(void **state)
{
	uint64_t random = 1;
	unsigned found = 0;

	(void)state;
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		uint32_t allowed[ITEMS];
		uint8_t counter[ITEMS];
		size_t count = random_bits(&random) % (ITEMS + 1);
		uint64_t blame = 0;
		bool possible;

		/* Two draws make sparse restrictions, where placing has to move others. */
		for (size_t i = 0; i < count; i++)
			allowed[i] =
			    random_bits(&random) & random_bits(&random) & ((1u << COUNTERS) - 1);
		possible = matching_find(allowed, count, counter, &blame);
		assert_int_equal(possible, brute_force(allowed, count, 0));
		if (possible)
			check_matching(allowed, count, counter);
		else
			check_blame(allowed, count, blame);
		found += possible;
	}
	/* Both outcomes have to be tried in earnest. */
	assert_in_range(found, TRIALS / 10, TRIALS * 9 / 10);
}

/* The first comer has to make room for those that can be on one counter only. */
static void test_moves(void **state)
{
	const uint32_t allowed[] = {0xF, 0x7, 0x3, 0x1};
	uint8_t counter[4];
	uint64_t blame;

	(void)state;
	assert_true(matching_find(allowed, 4, counter, &blame));
	assert_int_equal(counter[3], 0);
	assert_int_equal(counter[2], 1);
	assert_int_equal(counter[1], 2);
	assert_int_equal(counter[0], 3);
}

static void test_more_items_than_any_box(void **state)
{
	uint32_t allowed[MATCHING_COUNTERS_MAX + 1];
	uint8_t counter[MATCHING_COUNTERS_MAX + 1];
	uint64_t blame = 0;

	(void)state;
	for (size_t i = 0; i <= MATCHING_COUNTERS_MAX; i++)
		allowed[i] = UINT32_MAX;
	assert_true(matching_find(allowed, MATCHING_COUNTERS_MAX, counter, &blame));
	check_matching(allowed, MATCHING_COUNTERS_MAX, counter);
	assert_false(matching_find(allowed, MATCHING_COUNTERS_MAX + 1, counter, &blame));
	assert_true(blame == (UINT64_C(1) << (MATCHING_COUNTERS_MAX + 1)) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_restrictions),
	    cmocka_unit_test(test_moves),
	    cmocka_unit_test(test_more_items_than_any_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
