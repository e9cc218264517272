/*
 * Where loads find their lines, as a core counts it: each case brings lines into one place, loads
 * each of them once, and finds that place's events at their number and all others at 0. What the
 * core sends to the LLC is what slices count.
 */
#include <stdio.h>

#include "machine/control.h"
#include "places.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

#define PACK 4 /* counters that these events can have */

enum event {
	L1_HIT,
	L2_HIT,
	L3_HIT,
	L1_MISS,
	L2_MISS,
	L3_MISS,
	LFB,
	SNOOP_MISS,
	SNOOP_HIT,
	SNOOP_HITM,
	SNOOP_NONE,
	LOCAL,
	REMOTE,
	REMOTE_HITM,
	REMOTE_FWD,
	LLC_REFERENCE,
	LLC_MISS,
	LOADS,
	EVENTS,
};

/* clang-format off */
static const char *const names[EVENTS] = {
	[L1_HIT] = "MEM_LOAD_UOPS_RETIRED.L1_HIT", [L2_HIT] = "MEM_LOAD_UOPS_RETIRED.L2_HIT",
	[L3_HIT] = "MEM_LOAD_UOPS_RETIRED.L3_HIT", [L1_MISS] = "MEM_LOAD_UOPS_RETIRED.L1_MISS",
	[L2_MISS] = "MEM_LOAD_UOPS_RETIRED.L2_MISS", [L3_MISS] = "MEM_LOAD_UOPS_RETIRED.L3_MISS",
	[LFB] = "MEM_LOAD_UOPS_RETIRED.HIT_LFB",
	[SNOOP_MISS] = "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_MISS",
	[SNOOP_HIT] = "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HIT",
	[SNOOP_HITM] = "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM",
	[SNOOP_NONE] = "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_NONE",
	[LOCAL] = "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM",
	[REMOTE] = "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM",
	[REMOTE_HITM] = "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM",
	[REMOTE_FWD] = "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_FWD",
	[LLC_REFERENCE] = "LONGEST_LAT_CACHE.REFERENCE", [LLC_MISS] = "LONGEST_LAT_CACHE.MISS",
	[LOADS] = "MEM_UOPS_RETIRED.ALL_LOADS",
};
/* clang-format on */

static const struct machine_insn plain;

struct place {
	const char *name;
	unsigned lines;
	void (*prepare)(struct core_fixture *fixture, unsigned lines);
	enum event events[6]; /* that count all loads; EVENTS ends them */
};

static const struct place places[] = {
    {"L1", 256, places_private, {L1_HIT, EVENTS}},
    {"L2", 2048, places_private, {L2_HIT, L1_MISS, EVENTS}},
    {"LLC", 16384, places_private, {L3_HIT, SNOOP_NONE, L1_MISS, L2_MISS, LLC_REFERENCE, EVENTS}},
    {"gone", 64, places_gone_near, {SNOOP_MISS, L1_MISS, L2_MISS, LLC_REFERENCE, EVENTS}},
    {"clean", 64, places_clean_near, {SNOOP_HIT, L1_MISS, L2_MISS, LLC_REFERENCE, EVENTS}},
    {"modified", 64, places_modified_near, {SNOOP_HITM, L1_MISS, L2_MISS, LLC_REFERENCE, EVENTS}},
    {"memory", 512, places_memory, {LOCAL, L3_MISS, L1_MISS, L2_MISS, LLC_REFERENCE, LLC_MISS}},
    {"far memory",
     512,
     places_far_memory,
     {REMOTE, L3_MISS, L1_MISS, L2_MISS, LLC_REFERENCE, LLC_MISS}},
    {"far, clean",
     64,
     places_clean_far,
     {REMOTE_FWD, L3_MISS, L1_MISS, L2_MISS, LLC_REFERENCE, LLC_MISS}},
    {"far, modified",
     64,
     places_modified_far,
     {REMOTE_HITM, L3_MISS, L1_MISS, L2_MISS, LLC_REFERENCE, LLC_MISS}},
};

static void fixture_up(struct core_fixture *fixture, unsigned first)
{
	core_fixture_up(fixture, "xeon-e5-2699v4-2s");
	switch_prefetchers_off(fixture->machine);
	places_enter(fixture);
	for (unsigned i = first; i < EVENTS && i < first + PACK; i++) {
		char event[64];

		snprintf(event, sizeof(event), "core.%s", names[i]);
		core_fixture_add(fixture, event);
	}
}

/* @param values  of core 0, from the first event of the pack on */
static void fixture_down(struct core_fixture *fixture, uint64_t *values)
{
	size_t count = 0;
	const struct pmu_count *counts = core_fixture_stop(fixture, &count);

	for (size_t i = 0; i < count; i++)
		if (!counts[i].socket && !counts[i].instance)
			values[counts[i].event] = counts[i].count;
	core_fixture_down(fixture);
}

static bool counts_all(const struct place *place, enum event event)
{
	if (event == LOADS)
		return true;
	for (unsigned i = 0; i < 6 && place->events[i] != EVENTS; i++)
		if (place->events[i] == event)
			return true;
	return false;
}

static void check(const struct place *place, const uint64_t *values)
{
	for (unsigned event = 0; event < EVENTS; event++) {
		const uint64_t wanted = counts_all(place, (enum event)event) ? place->lines : 0;

		if (values[event] != wanted)
			fail_msg("%s: %s is %lu, not %lu", place->name, names[event], values[event],
				 wanted);
	}
}

static void each_place_by_itself(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t values[EVENTS] = {0};

		for (unsigned first = 0; first < EVENTS; first += PACK) {
			struct core_fixture fixture;

			fixture_up(&fixture, first);
			places[i].prepare(&fixture, places[i].lines);
			core_fixture_start(&fixture);
			places_pass(&fixture, 0, places[i].lines, false);
			fixture_down(&fixture, values + first);
		}
		check(&places[i], values);
	}
}

/* A load of a line that another one has asked for, and of one that is prefetched. */
static void lines_on_their_way(void **unused)
{
	uint64_t values[EVENTS] = {0};

	(void)unused;
	for (unsigned first = 0; first < EVENTS; first += PACK) {
		static const struct machine_insn insn = {.loads_registers = 1};
		struct core_fixture fixture;

		fixture_up(&fixture, first);
		places_memory(&fixture, 8);
		core_fixture_start(&fixture);
		machine_load(fixture.harts[0], PLACES_DATA, 8, &insn);
		machine_load(fixture.harts[0], PLACES_DATA + 8, 8, &insn);
		machine_load(fixture.harts[0], PLACES_DATA + 16, 8, &insn);
		machine_prefetch(fixture.harts[0], PLACES_DATA + PLACES_LINE, MACHINE_HINT_L1,
				 &plain);
		machine_load(fixture.harts[0], PLACES_DATA + PLACES_LINE, 8, &insn);
		places_settle(&fixture);
		machine_load(fixture.harts[0], PLACES_DATA + 24, 8, &insn);
		fixture_down(&fixture, values + first);
	}
	assert_int_equal(values[LOADS], 5);
	assert_int_equal(values[LFB], 3);
	assert_int_equal(values[LOCAL], 1);
	assert_int_equal(values[L1_HIT], 1);
	assert_int_equal(values[L1_MISS], 1);
	/* The prefetch is no load, but a read. */
	assert_int_equal(values[LLC_MISS], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_place_by_itself),
	    cmocka_unit_test(lines_on_their_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
