/* A set of the LLC against a list that does the same. */
#include <string.h>

#include "machine/llc_set.h"
#include "support/cmocka.h"

#define STEPS 60000

struct line {
	uint32_t key;
	enum line_state state;
	unsigned core;
};

/* Most recent first. */
struct list {
	struct line lines[LLC_WAYS_MAX];
	unsigned count;
};

static uint32_t random_state = 54321;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

/* Of few keys, so that many are found again: some have the same low bits, some of them 0. */
static uint32_t any_key(void)
{
	static const uint32_t keys[] = {1, 2, 0xfffe, 0xffff, 0x10000, 0x10001, LLC_KEY_MAX};

	return next_random(3) ? 100 + next_random(30) : keys[next_random(7)];
}

static unsigned any_core(void)
{
	const unsigned cores[] = {LLC_CORE_NONE, LLC_CORE_SEVERAL, LLC_CORE(0),
				  LLC_CORE(CORES_MAX - 1), LLC_CORE(next_random(CORES_MAX))};

	return cores[next_random(5)];
}

/* A line that comes is in one core at most. */
static unsigned any_reader(void)
{
	return next_random(2) ? LLC_CORE_NONE : LLC_CORE(next_random(CORES_MAX));
}

static int find(const struct list *list, uint32_t key)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->lines[i].key == key)
			return (int)i;
	return -1;
}

static void take_out(struct list *list, unsigned at)
{
	list->count--;
	memmove(list->lines + at, list->lines + at + 1,
		(list->count - at) * sizeof(list->lines[0]));
}

static void put_first(struct list *list, struct line line)
{
	memmove(list->lines + 1, list->lines, list->count * sizeof(list->lines[0]));
	list->lines[0] = line;
	list->count++;
}

static void assert_same(const struct llc_set *set, const struct list *list, unsigned ways)
{
	bool several = false;

	for (unsigned way = 0; way < list->count; way++) {
		const struct line *line = &list->lines[way];

		assert_true(llc_in_use(set, way));
		assert_int_equal(llc_key_at(set, way), line->key);
		assert_int_equal(llc_state(set, way), line->state);
		assert_int_equal(llc_core(set, way), line->core);
		several |= line->core == LLC_CORE_SEVERAL;
	}
	for (unsigned way = list->count; way < LLC_WAYS_MAX; way++)
		assert_false(llc_in_use(set, way) || llc_key_at(set, way));
	assert_true(llc_has_several(set) || !several);
	assert_int_equal(llc_room(set, ways), list->count < ways ? list->count : ways - 1);
}

static void add(struct llc_set *set, struct list *list, uint32_t key, unsigned ways)
{
	const unsigned room = llc_room(set, ways);
	const struct line line = {key, (enum line_state)(LINE_S + next_random(4)), any_reader()};

	if (list->count == ways) {
		llc_clear(set, room);
		take_out(list, room);
	}
	llc_put(set, room, key, line.state, line.core);
	llc_use(set, room);
	put_first(list, line);
}

static void change(struct llc_set *set, struct list *list, unsigned way)
{
	struct line line = list->lines[way];

	switch (next_random(8)) {
	case 0:
		llc_drop(set, way);
		take_out(list, way);
		break;
	case 1:
		line.state = (enum line_state)(LINE_S + next_random(4));
		llc_set_state(set, way, line.state);
		list->lines[way] = line;
		break;
	case 2:
		line.core = any_core();
		llc_set_core(set, way, line.core);
		list->lines[way] = line;
		break;
	default:
		llc_use(set, way);
		take_out(list, way);
		put_first(list, line);
	}
}

static void set_is_the_list(unsigned ways)
{
	struct llc_set set = {0};
	struct list list = {.count = 0};
	unsigned full = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		const uint32_t key = any_key();
		const int way = find(&list, key);

		assert_int_equal(llc_find(&set, key), way);
		if (way < 0)
			add(&set, &list, key, ways);
		else
			change(&set, &list, (unsigned)way);
		assert_same(&set, &list, ways);
		full += list.count == ways;
	}
	assert_true(full > STEPS / 100);
}

static void set_is_the_list_with_all_ways(void **unused)
{
	(void)unused;
	set_is_the_list(20);
}

static void set_is_the_list_with_fewer_ways(void **unused)
{
	(void)unused;
	set_is_the_list(1);
	set_is_the_list(16);
	set_is_the_list(17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(set_is_the_list_with_all_ways),
	    cmocka_unit_test(set_is_the_list_with_fewer_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
