/*
 * Where lines are that a core of Nehalem loads, or takes to store to them: each case brings lines
 * into one place, and finds that place's events at their number and all others at 0.
 */
#include <stdio.h>
#include <string.h>

#include "places.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

#define PACK 3 /* counters that these events can have, beside that of responses */

enum event {
	L1D_HIT,
	L2_HIT,
	LLC_UNSHARED_HIT,
	OTHER_CORE,
	LLC_MISS,
	OTHER_CORE_HITM,
	LOCAL_HOME_HIT,
	REMOTE_DRAM,
	LOCAL_DRAM,
	EVENTS,
};

/* clang-format off */
static const char *const names[EVENTS] = {
	[L1D_HIT] = "MEM_LOAD_RETIRED.L1D_HIT", [L2_HIT] = "MEM_LOAD_RETIRED.L2_HIT",
	[LLC_UNSHARED_HIT] = "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT",
	[OTHER_CORE] = "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM",
	[LLC_MISS] = "MEM_LOAD_RETIRED.LLC_MISS",
	[OTHER_CORE_HITM] = "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM",
	[LOCAL_HOME_HIT] = "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT",
	[REMOTE_DRAM] = "MEM_UNCORE_RETIRED.REMOTE_DRAM",
	[LOCAL_DRAM] = "MEM_UNCORE_RETIRED.LOCAL_DRAM",
};
/* clang-format on */

static const char *const responses[] = {
    "LLC_HIT_NO_OTHER_CORE", "LLC_OTHER_CORE_HIT", "LLC_OTHER_CORE_HITM", "REMOTE_CACHE_HITM",
    "REMOTE_CACHE_HIT",	     "REMOTE_DRAM",	   "LOCAL_DRAM",	  "IO_CSR_MMIO",
};
#define RESPONSES (sizeof(responses) / sizeof(responses[0]))

/* Guide, Precise Memory Access Events and table 9. */
static const struct place {
	const char *name;
	unsigned lines;
	void (*prepare)(struct core_fixture *fixture, unsigned lines);
	const char *response; /* NULL: the core has the lines */
	enum event events[2]; /* that count all loads; EVENTS: none */
} places[] = {
    {"L1", 256, places_private, NULL, {L1D_HIT, EVENTS}},
    {"L2", 2048, places_private, NULL, {L2_HIT, EVENTS}},
    {"LLC", 16384, places_private, "LLC_HIT_NO_OTHER_CORE", {LLC_UNSHARED_HIT, EVENTS}},
    {"gone", 64, places_gone_near, "LLC_OTHER_CORE_HIT", {OTHER_CORE, EVENTS}},
    {"clean", 64, places_clean_near, "LLC_OTHER_CORE_HIT", {OTHER_CORE, EVENTS}},
    {"modified", 64, places_modified_near, "LLC_OTHER_CORE_HITM", {OTHER_CORE, OTHER_CORE_HITM}},
    {"memory", 512, places_memory, "LOCAL_DRAM", {LLC_MISS, LOCAL_DRAM}},
    {"far memory", 512, places_far_memory, "REMOTE_DRAM", {LLC_MISS, REMOTE_DRAM}},
    {"far, clean", 64, places_clean_far, "REMOTE_CACHE_HIT", {LLC_MISS, EVENTS}},
    {"far, modified", 64, places_modified_far, "REMOTE_CACHE_HITM", {LLC_MISS, REMOTE_DRAM}},
    {"lent, clean", 64, places_clean_lent, "REMOTE_CACHE_HIT", {LLC_MISS, LOCAL_HOME_HIT}},
    {"lent, modified", 64, places_modified_lent, "REMOTE_CACHE_HITM", {LLC_MISS, LOCAL_DRAM}},
};

static void count(const struct place *place, bool stores, const char *const *events,
		  unsigned event_count, uint64_t *values)
{
	const struct pmu_count *counts;
	struct core_fixture fixture;
	size_t number = 0;

	core_fixture_up(&fixture, "xeon-x5570-2s");
	switch_prefetchers_off(fixture.machine);
	places_enter(&fixture);
	for (unsigned i = 0; i < event_count; i++)
		core_fixture_add(&fixture, events[i]);
	place->prepare(&fixture, place->lines);
	core_fixture_start(&fixture);
	places_pass(&fixture, 0, place->lines, stores);
	counts = core_fixture_stop(&fixture, &number);
	for (size_t i = 0; i < number; i++)
		if (!counts[i].socket && !counts[i].instance)
			values[counts[i].event] = counts[i].count;
	core_fixture_down(&fixture);
}

static void loads(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct place *place = &places[i];
		uint64_t values[EVENTS] = {0};

		for (unsigned first = 0; first < EVENTS; first += PACK) {
			char texts[PACK][80];
			const char *events[PACK];

			for (unsigned n = 0; n < PACK; n++) {
				snprintf(texts[n], sizeof(texts[n]), "core.%s", names[first + n]);
				events[n] = texts[n];
			}
			count(place, false, events, PACK, values + first);
		}
		for (unsigned event = 0; event < EVENTS; event++) {
			const bool all = place->events[0] == event || place->events[1] == event;

			if (values[event] != (all ? place->lines : 0))
				fail_msg("%s: %s is %lu", place->name, names[event], values[event]);
		}
	}
}

static void check_responses(const struct place *place, bool stores)
{
	for (unsigned i = 0; i < RESPONSES; i++) {
		const bool all = place->response && !strcmp(place->response, responses[i]);
		const char *const events[] = {"core.LONGEST_LAT_CACHE.MISS",
					      "core.LONGEST_LAT_CACHE.REFERENCE"};
		const char *request = stores ? "DEMAND_RFO" : "DEMAND_DATA_RD";
		uint64_t values[3] = {0};
		char text[80];

		snprintf(text, sizeof(text), "core.OFFCORE_RESPONSE_0.%s.%s", request,
			 responses[i]);
		count(place, stores, (const char *const[]){text, events[0], events[1]}, 3, values);
		if (values[0] != (all ? place->lines : 0))
			fail_msg("%s: %s is %lu", place->name, text, values[0]);
		if (values[1] !=
			(place->response && !strstr(place->response, "LLC") ? place->lines : 0) ||
		    values[2] != (place->response ? place->lines : 0))
			fail_msg("%s: %lu of %lu references miss", place->name, values[1],
				 values[2]);
	}
}

static void answers(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		check_responses(&places[i], false);
		check_responses(&places[i], true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads),
	    cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
