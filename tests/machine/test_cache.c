/* Sets of tag words against the plainest code that does the same. */
#include <string.h>

#include "machine/cache.h"
#include "machine/scan.h"
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
		uint32_t tag = (next_random(4) + 1) << CACHE_STATE_BITS, word = next_random(5);
		unsigned eight = 0, free = 0, twenty = 0;

		words[next_random(LLC_WAYS_MAX)] =
		    word << CACHE_STATE_BITS | (word ? next_random(4) : 0);
		for (unsigned way = 0; way < LLC_WAYS_MAX; way++) {
			twenty |= (unsigned)(words[way] == tag) << way;
			if (way >= L1_WAYS)
				continue;
			eight |= (unsigned)((words[way] & ~CACHE_STATE_MASK) == tag) << way;
			free |= (unsigned)!words[way] << way;
		}
		assert_int_equal(cache_match8(words, tag), eight);
		assert_int_equal(cache_free8(words), free);
		assert_int_equal(cache_match20(words, tag), twenty);
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
	assert_int_equal(cache_free8(words), 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6);
	assert_int_equal(cache_match8(words, 12), 0);
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

static void lru_of_twenty_is_the_list(unsigned ways)
{
	_Alignas(16) int8_t recency[32] = {0};
	int8_t behind[sizeof(recency) - LLC_WAYS_MAX];
	unsigned order[LLC_WAYS_MAX];

	/* What follows the ways is no recency. */
	for (unsigned i = LLC_WAYS_MAX; i < sizeof(recency); i++)
		recency[i] = (int8_t)(-(int)next_random(129));
	memcpy(behind, recency + LLC_WAYS_MAX, sizeof(behind));
	for (unsigned way = 0; way < ways; way++) {
		order[way] = way;
		lru_touch32(recency, way, ways);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned way = next_random(ways);

		move_to_end(order, ways, way);
		lru_touch32(recency, way, ways);
		assert_int_equal(lru_victim32(recency, ways), order[0]);
	}
	assert_memory_equal(behind, recency + LLC_WAYS_MAX, sizeof(behind));
}

static void lru_of_twenty(void **unused)
{
	(void)unused;
	lru_of_twenty_is_the_list(20);
	lru_of_twenty_is_the_list(16);
	lru_of_twenty_is_the_list(17);
}

/* Most recent first; 0 at the end. */
struct list {
	uint32_t words[L2_WAYS];
	unsigned count;
};

static void take_out(struct list *list, unsigned at)
{
	list->count--;
	memmove(list->words + at, list->words + at + 1,
		(list->count - at) * sizeof(list->words[0]));
	list->words[list->count] = 0;
}

static void put_first(struct list *list, uint32_t word)
{
	memmove(list->words + 1, list->words, list->count * sizeof(list->words[0]));
	list->words[0] = word;
	list->count++;
}

static uint32_t add(struct list *list, uint32_t word)
{
	uint32_t last = list->words[L2_WAYS - 1];

	if (last)
		take_out(list, L2_WAYS - 1);
	put_first(list, word);
	return last;
}

static void use(struct list *list, unsigned at)
{
	uint32_t word = list->words[at];

	take_out(list, at);
	put_first(list, word);
}

static void lru_of_eight_is_the_list(void **unused)
{
	_Alignas(32) uint32_t words[L2_WAYS + 8] = {0};
	struct list list = {.count = 0};

	(void)unused;
	for (unsigned way = 0; way < 8; way++)
		words[L2_WAYS + way] = ~0u;
	for (uint32_t step = 1; step <= STEPS; step++) {
		unsigned at = list.count ? next_random(list.count) : 0, kind = next_random(8);

		if (kind < 4 || !list.count) {
			assert_int_equal(lru8_add(words, step), add(&list, step));
		} else if (kind < 7) {
			lru8_use(words, at);
			use(&list, at);
		} else {
			lru8_drop(words, at);
			take_out(&list, at);
		}
		assert_memory_equal(words, list.words, sizeof(list.words));
	}
	for (unsigned way = 0; way < 8; way++)
		assert_int_equal(words[L2_WAYS + way], ~0u);
}

/* Entries from @count on are not in use. */
static void scans_find_what_a_loop_finds(void **unused)
{
	_Alignas(32) uint32_t words[SCAN_MAX] = {0};
	uint64_t times[SCAN_MAX] = {0};

	(void)unused;
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned count = 1 + step * SCAN_MAX / STEPS;
		uint32_t wanted = 1 + next_random(4), equal = 0, late = 0;
		uint64_t time = (uint64_t)next_random(8) << 31;

		words[next_random(count)] = next_random(5);
		times[next_random(count)] = (uint64_t)next_random(8) << 31;
		for (unsigned i = 0; i < count; i++) {
			equal |= (uint32_t)(words[i] == wanted) << i;
			late |= (uint32_t)(times[i] > time) << i;
		}
		assert_int_equal(scan_equal(words, count, wanted), equal);
		assert_int_equal(scan_later(times, count, time), late);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(match_finds_every_way),
	    cmocka_unit_test(state_bits_are_told_from_the_tag),
	    cmocka_unit_test(plru_is_the_tree),
	    cmocka_unit_test(lru_of_eight_is_the_list),
	    cmocka_unit_test(scans_find_what_a_loop_finds),
	    cmocka_unit_test(lru_of_twenty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
