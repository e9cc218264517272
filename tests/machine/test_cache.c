/* Sets of tag words against the plainest code that does the same. */
#include <string.h>

#include "machine/cache.h"
#include "support/cmocka.h"

#define STEPS 20000

static uint32_t random_state = 12345;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static void match_finds_every_way(void **unused)
{
	_Alignas(16) uint32_t words[LLC_WAYS_MAX] = {0};

	(void)unused;
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t tag = (next_random(4) + 1) << 3;
		unsigned eight = 0, free = 0, twenty = 0;

		words[next_random(LLC_WAYS_MAX)] =
		    next_random(5) ? (next_random(4) + 1) << 3 | next_random(8) : 0;
		for (unsigned way = 0; way < LLC_WAYS_MAX; way++) {
			twenty |= (unsigned)((words[way] & ~7u) == tag) << way;
			if (way >= L1_WAYS)
				continue;
			eight |= (unsigned)((words[way] & ~CACHE_STATE_MASK) == tag) << way;
			free |= (unsigned)!words[way] << way;
		}
		assert_int_equal(cache_match8(words, tag), eight);
		assert_int_equal(cache_free8(words), free);
		assert_int_equal(cache_match20(words, tag, 7), twenty);
	}
}

static void state_bits_are_told_from_the_tag(void **unused)
{
	_Alignas(16)
	    uint32_t words[8] = {0, 4 | LINE_S, 0, 8 | LINE_M, 0, 0, 0, 0xfffffff4 | LINE_E};

	(void)unused;
	assert_int_equal(cache_match8(words, 4), 1 << 1);
	assert_int_equal(cache_match8(words, 8), 1 << 3);
	assert_int_equal(cache_match8(words, 0xfffffff4), 1 << 7);
	assert_int_equal(cache_way(cache_free8(words)), 0);
	assert_int_equal(cache_way(cache_match8(words, 12)), -1);
}

/* The tree as nodes 1 to 7 of an array, leaves 8 to 15: true where the upper half is older. */
static void plru_is_the_tree(void **unused)
{
	bool upper[8] = {false};
	uint8_t plru = 0;

	(void)unused;
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned way = next_random(8), node = 1;

		for (unsigned leaf = way + 8, level = 3; level-- > 0;)
			upper[leaf >> (level + 1)] = !(leaf >> level & 1);
		plru_touch(&plru, way);
		while (node < 8)
			node = 2 * node + upper[node];
		assert_int_equal(plru_victim(plru), node - 8);
	}
}

/* Least recent first. */
static void move_to_end(unsigned *order, unsigned ways, unsigned way)
{
	unsigned at = 0;

	while (order[at] != way)
		at++;
	memmove(order + at, order + at + 1, (ways - at - 1) * sizeof(*order));
	order[ways - 1] = way;
}

static void lru_is_the_list(unsigned ways, bool wide)
{
	_Alignas(16) uint8_t recency[32] = {0};
	unsigned order[LLC_WAYS_MAX];

	for (unsigned way = 0; way < ways; way++) {
		order[way] = way;
		if (wide)
			lru_touch32(recency, way, ways);
		else
			lru_touch8(recency, way);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned way = next_random(ways);

		move_to_end(order, ways, way);
		if (wide) {
			lru_touch32(recency, way, ways);
			assert_int_equal(lru_victim32(recency, ways), order[0]);
		} else {
			lru_touch8(recency, way);
			assert_int_equal(lru_victim8(recency), order[0]);
		}
	}
}

static void lru_of_eight(void **unused)
{
	(void)unused;
	lru_is_the_list(8, false);
}

static void lru_of_twenty(void **unused)
{
	(void)unused;
	lru_is_the_list(20, true);
	lru_is_the_list(16, true);
	lru_is_the_list(17, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(match_finds_every_way),
	    cmocka_unit_test(state_bits_are_told_from_the_tag),
	    cmocka_unit_test(plru_is_the_tree),
	    cmocka_unit_test(lru_of_eight),
	    cmocka_unit_test(lru_of_twenty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
