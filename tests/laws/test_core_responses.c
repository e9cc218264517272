/*
 * What answers the requests of a core: each case brings lines into one place, loads or takes each
 * of them once, and finds them all with that place's supplier and snoop, and none with another.
 */
#include <inttypes.h>
#include <stdio.h>

#include "machine/machine.h"
#include "places.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

/* Bits of the fields of MSR_OFFCORE_RSP_0 (perfmon, Broadwell-EP). */
#define DEMAND_DATA_RD 0x1u
#define DEMAND_RFO     0x2u
#define COREWB	       0x8u
#define REQUESTS       0x8fffu
#define ANY	       0x1u
#define LLC_E	       (1u << 3)
#define LOCAL	       (1u << 10)
#define REMOTE	       (1u << 11)
#define SUPPLIERS      0x7ffeu
#define NOT_NEEDED     (1u << 16)
#define MISSED	       (1u << 17)
#define KEPT	       (1u << 18) /* NO_FWD */
#define FORWARDED      (1u << 19)
#define MODIFIED       (1u << 20) /* HITM */
#define SNOOPS	       0x3f8000u

struct place {
	const char *name;
	unsigned lines;
	void (*prepare)(struct core_fixture *fixture, unsigned lines);
	uint32_t supplier, snoop; /* 0: the core has the lines, and sends no request */
};

/* The LLC has in E what one core has read, or taken to write to it. */
static const struct place places[] = {
    {"L1", 256, places_private, 0, 0},
    {"L2", 2048, places_private, 0, 0},
    {"LLC", 16384, places_private, LLC_E, NOT_NEEDED},
    {"gone", 64, places_gone_near, LLC_E, MISSED},
    {"clean", 64, places_clean_near, LLC_E, KEPT},
    {"modified", 64, places_modified_near, LLC_E, MODIFIED},
    {"memory", 512, places_memory, LOCAL, MISSED},
    {"far memory", 512, places_far_memory, REMOTE, MISSED},
    {"far, clean", 64, places_clean_far, REMOTE, FORWARDED},
    {"far, modified", 64, places_modified_far, REMOTE, MODIFIED},
};

struct query {
	uint32_t request, response;
};

static void add(struct core_fixture *fixture, unsigned number, struct query query)
{
	static const char *const formats[] = {
	    "core.OFFCORE_RESPONSE_0:request=0x%" PRIx32 ":response=0x%" PRIx32,
	    "core.OFFCORE_RESPONSE_1:request_1=0x%" PRIx32 ":response_1=0x%" PRIx32,
	};
	char event[128];

	snprintf(event, sizeof(event), formats[number], query.request, query.response);
	core_fixture_add(fixture, event);
}

/* @param values  of core 0, by event */
static void read_values(struct core_fixture *fixture, uint64_t *values)
{
	size_t count = 0;
	const struct pmu_count *counts = core_fixture_stop(fixture, &count);

	for (size_t i = 0; i < count; i++)
		if (!counts[i].socket && !counts[i].instance)
			values[counts[i].event] = counts[i].count;
}

static void expect(const struct place *place, bool stores, const struct query queries[2],
		   const uint64_t wanted[2])
{
	struct core_fixture fixture;
	uint64_t values[2] = {0};

	core_fixture_up(&fixture, "xeon-e5-2699v4-2s");
	switch_prefetchers_off(fixture.machine);
	places_enter(&fixture);
	for (unsigned i = 0; i < 2; i++)
		add(&fixture, i, queries[i]);
	place->prepare(&fixture, place->lines);
	core_fixture_start(&fixture);
	places_pass(&fixture, 0, place->lines, stores);
	read_values(&fixture, values);
	core_fixture_down(&fixture);
	for (unsigned i = 0; i < 2; i++)
		if (values[i] != wanted[i])
			fail_msg("%s, %s, request %x, response %x: %lu, not %lu", place->name,
				 stores ? "stores" : "loads", queries[i].request,
				 queries[i].response, values[i], wanted[i]);
}

static void check(const struct place *place, bool stores)
{
	const uint32_t request = stores ? DEMAND_RFO : DEMAND_DATA_RD;
	const uint64_t all = place->supplier ? place->lines : 0;

	/* Of the stores some displace modified lines. */
	expect(place, stores,
	       (const struct query[]){{request, ANY}, {REQUESTS & ~(request | COREWB), ANY}},
	       (const uint64_t[]){all, 0});
	expect(place, stores,
	       (const struct query[]){{request, place->supplier | place->snoop | (all ? 0 : ANY)},
				      {request, (SUPPLIERS & ~place->supplier) | SNOOPS}},
	       (const uint64_t[]){all, 0});
	expect(place, stores,
	       (const struct query[]){{request, SUPPLIERS | (SNOOPS & ~place->snoop)},
				      {request, SUPPLIERS | SNOOPS}},
	       (const uint64_t[]){0, all});
}

static void loads_are_answered(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		check(&places[i], false);
}

static void stores_are_answered(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		check(&places[i], true);
}

/* What is read from memory is what channels read; prefetches are those that L2 sent. */
static void prefetches_are_answered(void **unused)
{
	static const struct query queries[2][2] = {
	    {{0x7f7, LOCAL | MISSED | KEPT}, {0x70, ANY}},
	    {{0x1, LOCAL | MISSED | KEPT}, {0x380, ANY}},
	};
	uint64_t values[4] = {0}, reads = 0;
	struct machine_statistics stats;

	(void)unused;
	for (unsigned pack = 0; pack < 2; pack++) {
		struct core_fixture fixture;
		const struct pmu_count *counts;
		size_t count = 0;

		core_fixture_up(&fixture, "xeon-e5-2699v4-2s");
		places_enter(&fixture);
		for (unsigned i = 0; i < 2; i++)
			add(&fixture, i, queries[pack][i]);
		core_fixture_add(&fixture, "imc.CAS_COUNT.RD");
		core_fixture_start(&fixture);
		places_pass(&fixture, 0, 65536, false);
		machine_statistics(fixture.machine, &stats);
		counts = core_fixture_stop(&fixture, &count);
		for (size_t i = 0; i < count; i++)
			if (counts[i].event == 2)
				reads += pack ? 0 : counts[i].count;
			else
				values[2 * pack + counts[i].event] += counts[i].count;
		core_fixture_down(&fixture);
	}
	assert_int_equal(values[0], reads);
	assert_true(reads >= 65536);
	assert_true(values[2] < values[0]);
	assert_int_equal(values[1], stats.l2_prefetches);
	assert_int_equal(values[3], stats.llc_prefetches);
	assert_true(values[1] && values[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_are_answered),
	    cmocka_unit_test(stores_are_answered),
	    cmocka_unit_test(prefetches_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
