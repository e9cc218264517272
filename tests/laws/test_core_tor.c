/*
 * A core's own counts of its misses against those of its socket's slices, which filter their
 * requests by it: two PMUs see one thing, from two sides. To the last count.
 */
#include <stdio.h>

#include "core_fixture.h"
#include "machine/control.h"
#include "machine/prefetcher.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define LINE	     64u
#define STEPS	     20000
#define RUN	     6 /* lines that a step touches */
#define USERS	     4 /* cores that have threads */
#define APART	     14
#define CORES	     44
#define PER_SOCKET   22
#define SHARED_BASE  0x40000000u
#define SHARED_BYTES (16u << 20)
#define NOBODY	     7 /* a core of either socket that does nothing */

/* Opcodes: 334291-001 table 2-20. */
#define DRD	   "TOR_INSERTS.OPCODE:opc=0x182"
#define PREF_DATA  "TOR_INSERTS.OPCODE:opc=0x192"
#define MISS_DRD   "TOR_INSERTS.MISS_OPCODE:opc=0x182"
#define MISS_RFO   "TOR_INSERTS.MISS_OPCODE:opc=0x180"
#define HIT_SHARED "MISC.RFO_HIT_S"

enum event { LOAD_MISSES, LLC_MISSES, DEMAND_DATA, ALL_DATA, SLICES, EVENTS };

/* What is counted of one core: by itself, and by its socket's slices with its number as filter. */
struct question {
	unsigned core;
	const char *slices; /* the event of theirs */
	uint32_t prefetchers;
	bool reads_only;
};

static void fixture_up(struct core_fixture *fixture, const struct question *question)
{
	char slices[96];

	core_fixture_up(fixture, "xeon-e5-2699v4-2s");
	set_all_prefetchers(fixture->machine, question->prefetchers);
	/* tid: core * 2 + thread, 334291-001 table 2-18. */
	snprintf(slices, sizeof(slices), "cbo.%s:tid_en=1:tid=%u", question->slices,
		 question->core % PER_SOCKET * 2);
	core_fixture_add(fixture, "core.MEM_LOAD_UOPS_RETIRED.L3_MISS");
	core_fixture_add(fixture, "core.LONGEST_LAT_CACHE.MISS");
	core_fixture_add(fixture, "core.OFFCORE_REQUESTS.DEMAND_DATA_RD");
	core_fixture_add(fixture, "core.OFFCORE_REQUESTS.ALL_DATA_RD");
	core_fixture_add(fixture, slices);
	for (unsigned i = 0; i < CORES; i++) {
		core_fixture_enter(fixture, i + 1);
		machine_hart_pause(fixture->harts[i]);
	}
}

static void fixture_down(struct core_fixture *fixture)
{
	for (unsigned i = 0; i < CORES; i++)
		machine_hart_resume(fixture->harts[i]);
	core_fixture_down(fixture);
}

/* One step of a core: lines in order are read, written or flushed. */
static void step(struct core_fixture *fixture, uint64_t word, bool reads_only)
{
	static const struct machine_insn insn = {.place = 1};
	struct machine_hart *core = fixture->harts[word % USERS * APART];
	uint64_t address = SHARED_BASE + (word >> 24) % (SHARED_BYTES / LINE) * LINE;

	machine_hart_resume(core);
	for (unsigned i = 0; i < RUN; i++, address += LINE) {
		if (word >> 8 & 1)
			machine_load(core, address, 8, &insn);
		else if (!reads_only && word >> 9 & 1)
			machine_store(core, address, 8, &insn);
		else
			machine_flush(core, address);
	}
	machine_hart_pause(core);
}

static void read_counts(struct core_fixture *fixture, unsigned core, uint64_t values[EVENTS])
{
	size_t count = 0;
	const struct pmu_count *counts = core_fixture_stop(fixture, &count);

	for (size_t i = 0; i < count; i++)
		if (counts[i].socket == core / PER_SOCKET &&
		    (counts[i].event == SLICES || counts[i].instance == core % PER_SOCKET))
			values[counts[i].event] += counts[i].count;
}

/* The same traffic each time. */
static void measure(struct question question, uint64_t values[EVENTS])
{
	uint64_t random = 88172645463325252;
	struct core_fixture fixture;

	for (unsigned i = 0; i < EVENTS; i++)
		values[i] = 0;
	fixture_up(&fixture, &question);
	core_fixture_start(&fixture);
	for (unsigned i = 0; i < STEPS; i++)
		step(&fixture, next_random(&random), question.reads_only);
	read_counts(&fixture, question.core, values);
	fixture_down(&fixture);
}

static uint64_t slices_of(struct question question, const char *event)
{
	uint64_t values[EVENTS];

	question.slices = event;
	measure(question, values);
	return values[SLICES];
}

/*
 * A request for ownership leaves the slice also where that has the line in S or F: there it is a
 * miss, and to the core none. No event of the slice's tells those in F.
 */
static void check_misses(const struct question question, const uint64_t values[EVENTS])
{
	const uint64_t shared = slices_of(question, HIT_SHARED);

	assert_true(shared > 0);
	assert_true(values[LLC_MISSES] > values[SLICES]);
	assert_true(values[LLC_MISSES] + shared <= values[SLICES] + slices_of(question, MISS_RFO));
}

/* Without prefetchers only loads send DRd, and only stores RFO. */
static void demands_alone(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < USERS; i++) {
		const struct question question = {.core = i * APART, .slices = MISS_DRD};
		uint64_t values[EVENTS];

		measure(question, values);
		assert_true(values[SLICES] > 1000);
		assert_int_equal(values[LOAD_MISSES], values[SLICES]);
		assert_int_equal(values[DEMAND_DATA], values[ALL_DATA]);
		assert_int_equal(values[DEMAND_DATA], slices_of(question, DRD));
		check_misses(question, values);
	}
}

/* The filter selects one core: nothing of others that miss is seen as this one's. */
static void nobody(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	measure((struct question){.core = NOBODY, .slices = MISS_DRD}, values);
	for (unsigned i = 0; i < EVENTS; i++)
		assert_int_equal(values[i], 0);
}

/*
 * Prefetches into L1D are DRd too, and no load uops: slices see more misses than loads had. The
 * core's count of misses has them, as they are L1D's requests.
 */
static void prefetches_into_l1d(void **unused)
{
	const struct question question = {
	    .slices = MISS_DRD,
	    .prefetchers = 1u << MACHINE_PREFETCH_NEXT | 1u << MACHINE_PREFETCH_STRIDE,
	    .reads_only = true,
	};
	uint64_t values[EVENTS];

	(void)unused;
	measure(question, values);
	assert_true(values[SLICES] > values[LOAD_MISSES]);
	assert_int_equal(values[DEMAND_DATA], slices_of(question, DRD));
	assert_int_equal(values[LLC_MISSES], values[SLICES]);
}

/*
 * L2's prefetches are DRd where L2 takes the line, PrefData where the LLC alone does. Neither is a
 * miss to the core, which counts them as requests of their own.
 */
static void prefetches_into_l2(void **unused)
{
	const struct question question = {
	    .slices = MISS_DRD,
	    .prefetchers = 1u << MACHINE_PREFETCH_STREAM | 1u << MACHINE_PREFETCH_ADJACENT,
	};
	uint64_t values[EVENTS];

	(void)unused;
	measure(question, values);
	assert_true(values[SLICES] > values[LOAD_MISSES]);
	assert_true(values[ALL_DATA] > values[DEMAND_DATA]);
	assert_int_equal(values[ALL_DATA],
			 slices_of(question, DRD) + slices_of(question, PREF_DATA));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(demands_alone),
	    cmocka_unit_test(nobody),
	    cmocka_unit_test(prefetches_into_l1d),
	    cmocka_unit_test(prefetches_into_l2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
