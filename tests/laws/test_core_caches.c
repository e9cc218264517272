/*
 * What a core's counters say of its caches: closed forms of traffic that is written down, and what
 * adds up to what else a core or the machine counts. The traffic is the same in every run, so that
 * events are counted in packs.
 */
#include <stdio.h>

#include "core_fixture.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define LINE	  64u
#define L1_LINES  512u
#define L2_LINES  4096u
#define DATA	  0x10000000ull
#define CODE	  0x400000u
#define PACK	  4 /* counters that every event can have */
#define STEPS	  60000
#define CORES	  4
#define ALL	  0xFu /* prefetchers */
#define SHARED	  (2u << 20)
#define TERMS_MAX 6

enum event {
	DATA_HIT,
	DATA_MISS,
	OWN_HIT,
	OWN_MISS,
	CODE_HIT,
	CODE_MISS,
	PREFETCH_HIT,
	PREFETCH_MISS,
	DEMAND_MISS,
	L2_MISS,
	DEMAND_DATA,
	ALL_OWN,
	ALL_CODE,
	DEMAND_REFERENCES,
	ALL_PREFETCHES,
	REFERENCES,
	TRANS_DATA,
	TRANS_OWN,
	TRANS_CODE,
	TRANS_PREFETCH,
	TRANS_L1_WB,
	TRANS_FILL,
	TRANS_L2_WB,
	WB_HIT,
	FILLS_S,
	FILLS_E,
	FILLS,
	VICTIMS_CLEAN,
	L1_FILLS,
	FETCH_HIT,
	FETCH_MISS,
	LOADS,
	STORES,
	LOCKED,
	SPLIT_LOADS,
	SPLIT_STORES,
	OFFCORE_DATA,
	OFFCORE_OWN,
	OFFCORE_CODE,
	OFFCORE_ALL_DATA,
	OFFCORE,
	LLC_REFERENCE,
	EVENTS,
};

/* clang-format off */
static const char *const names[EVENTS] = {
	[DATA_HIT] = "L2_RQSTS.DEMAND_DATA_RD_HIT", [DATA_MISS] = "L2_RQSTS.DEMAND_DATA_RD_MISS",
	[OWN_HIT] = "L2_RQSTS.RFO_HIT", [OWN_MISS] = "L2_RQSTS.RFO_MISS",
	[CODE_HIT] = "L2_RQSTS.CODE_RD_HIT", [CODE_MISS] = "L2_RQSTS.CODE_RD_MISS",
	[PREFETCH_HIT] = "L2_RQSTS.L2_PF_HIT", [PREFETCH_MISS] = "L2_RQSTS.L2_PF_MISS",
	[DEMAND_MISS] = "L2_RQSTS.ALL_DEMAND_MISS", [L2_MISS] = "L2_RQSTS.MISS",
	[DEMAND_DATA] = "L2_RQSTS.ALL_DEMAND_DATA_RD", [ALL_OWN] = "L2_RQSTS.ALL_RFO",
	[ALL_CODE] = "L2_RQSTS.ALL_CODE_RD", [DEMAND_REFERENCES] = "L2_RQSTS.ALL_DEMAND_REFERENCES",
	[ALL_PREFETCHES] = "L2_RQSTS.ALL_PF", [REFERENCES] = "L2_RQSTS.REFERENCES",
	[TRANS_DATA] = "L2_TRANS.DEMAND_DATA_RD", [TRANS_OWN] = "L2_TRANS.RFO",
	[TRANS_CODE] = "L2_TRANS.CODE_RD", [TRANS_PREFETCH] = "L2_TRANS.ALL_PF",
	[TRANS_L1_WB] = "L2_TRANS.L1D_WB", [TRANS_FILL] = "L2_TRANS.L2_FILL",
	[TRANS_L2_WB] = "L2_TRANS.L2_WB", [WB_HIT] = "L2_DEMAND_RQSTS.WB_HIT",
	[FILLS_S] = "L2_LINES_IN.S", [FILLS_E] = "L2_LINES_IN.E", [FILLS] = "L2_LINES_IN.ALL",
	[VICTIMS_CLEAN] = "L2_LINES_OUT.DEMAND_CLEAN", [L1_FILLS] = "L1D.REPLACEMENT",
	[FETCH_HIT] = "ICACHE.HIT", [FETCH_MISS] = "ICACHE.MISSES",
	[LOADS] = "MEM_UOPS_RETIRED.ALL_LOADS", [STORES] = "MEM_UOPS_RETIRED.ALL_STORES",
	[LOCKED] = "MEM_UOPS_RETIRED.LOCK_LOADS", [SPLIT_LOADS] = "MEM_UOPS_RETIRED.SPLIT_LOADS",
	[SPLIT_STORES] = "MEM_UOPS_RETIRED.SPLIT_STORES",
	[OFFCORE_DATA] = "OFFCORE_REQUESTS.DEMAND_DATA_RD", [OFFCORE_OWN] = "OFFCORE_REQUESTS.DEMAND_RFO",
	[OFFCORE_CODE] = "OFFCORE_REQUESTS.DEMAND_CODE_RD",
	[OFFCORE_ALL_DATA] = "OFFCORE_REQUESTS.ALL_DATA_RD", [OFFCORE] = "OFFCORE_REQUESTS.ALL_REQUESTS",
	[LLC_REFERENCE] = "LONGEST_LAT_CACHE.REFERENCE",
};

/* Sums of events that are equal, whatever the traffic. NONE ends them. */
#define NONE EVENTS
static const struct {
	enum event left[TERMS_MAX], right[TERMS_MAX];
} laws[] = {
	{{REFERENCES, NONE}, {DEMAND_REFERENCES, ALL_PREFETCHES, NONE}},
	{{DEMAND_REFERENCES, NONE}, {DEMAND_DATA, ALL_OWN, ALL_CODE, NONE}},
	{{DEMAND_DATA, NONE}, {DATA_HIT, DATA_MISS, NONE}},
	{{ALL_OWN, NONE}, {OWN_HIT, OWN_MISS, NONE}},
	{{ALL_CODE, NONE}, {CODE_HIT, CODE_MISS, NONE}},
	{{ALL_PREFETCHES, NONE}, {PREFETCH_HIT, PREFETCH_MISS, NONE}},
	{{DEMAND_MISS, NONE}, {DATA_MISS, OWN_MISS, CODE_MISS, NONE}},
	{{L2_MISS, NONE}, {DEMAND_MISS, PREFETCH_MISS, NONE}},
	{{DEMAND_MISS, NONE}, {LLC_REFERENCE, NONE}},
	{{TRANS_DATA, TRANS_OWN, TRANS_CODE, TRANS_PREFETCH, NONE}, {REFERENCES, NONE}},
	{{TRANS_FILL, NONE}, {FILLS, NONE}},
	{{FILLS, NONE}, {FILLS_S, FILLS_E, NONE}},
	{{ALL_CODE, NONE}, {FETCH_MISS, NONE}},
	{{OFFCORE_DATA, NONE}, {DATA_MISS, NONE}},
	{{OFFCORE_OWN, NONE}, {OWN_MISS, NONE}},
	{{OFFCORE_CODE, NONE}, {CODE_MISS, NONE}},
};
/* clang-format on */

/* Of all cores of the machine. */
struct counts {
	uint64_t values[EVENTS];
	struct machine_statistics stats;
};

static void fixture_up(struct core_fixture *fixture, unsigned first)
{
	core_fixture_up(fixture, "xeon-e5v4-4c");
	for (unsigned i = first; i < EVENTS && i < first + PACK; i++) {
		char event[64];

		snprintf(event, sizeof(event), "core.%s", names[i]);
		core_fixture_add(fixture, event);
	}
	core_fixture_start(fixture);
}

static void fixture_down(struct core_fixture *fixture, unsigned first, struct counts *out)
{
	size_t count = 0;
	const struct pmu_count *counts = core_fixture_stop(fixture, &count);

	for (size_t i = 0; i < count; i++)
		out->values[first + counts[i].event] += counts[i].count;
	machine_statistics(fixture->machine, &out->stats);
	core_fixture_down(fixture);
}

struct traffic {
	void (*drive)(struct core_fixture *fixture, const struct traffic *traffic);
	uint32_t prefetchers;
	unsigned lines, passes;
	bool stores;
};

static void count_all(struct counts *counts, const struct traffic *traffic)
{
	*counts = (struct counts){0};
	for (unsigned first = 0; first < EVENTS; first += PACK) {
		struct core_fixture fixture;

		fixture_up(&fixture, first);
		set_all_prefetchers(fixture.machine, traffic->prefetchers);
		traffic->drive(&fixture, traffic);
		fixture_down(&fixture, first, counts);
	}
}

static uint64_t sum(const struct counts *counts, const enum event *events)
{
	uint64_t total = 0;

	for (unsigned i = 0; events[i] != NONE; i++)
		total += counts->values[events[i]];
	return total;
}

static void check_laws(const struct counts *counts)
{
	const struct machine_statistics *stats = &counts->stats;
	const uint64_t *values = counts->values;

	for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
		if (sum(counts, laws[i].left) != sum(counts, laws[i].right))
			fail_msg("%s...: %llu is not %llu", names[laws[i].left[0]],
				 (unsigned long long)sum(counts, laws[i].left),
				 (unsigned long long)sum(counts, laws[i].right));
	assert_int_equal(values[DEMAND_MISS], stats->l2_misses);
	assert_int_equal(values[PREFETCH_MISS], stats->l2_prefetches + stats->llc_prefetches);
	assert_int_equal(values[FETCH_MISS], stats->l1i_misses);
	assert_int_equal(values[FETCH_HIT] + values[FETCH_MISS], stats->fetches);
	assert_int_equal(values[OFFCORE], values[L2_MISS] + stats->l2_writebacks + stats->wc_lines);
	/* Of each line's end that is crossed, both sides are in the statistics. */
	assert_int_equal(values[LOADS] + values[SPLIT_LOADS], stats->loads + stats->locked);
	assert_int_equal(values[STORES] + values[SPLIT_STORES],
			 stats->stores + stats->locked + stats->nt_stores);
}

/* One access a line, in order, so often. */
static void drive_lines(struct core_fixture *fixture, const struct traffic *traffic)
{
	static const struct machine_insn insn = {0};
	struct machine_hart *core = machine_hart_enter(fixture->machine, fixture->space, 0);

	for (unsigned pass = 0; pass < traffic->passes; pass++)
		for (unsigned i = 0; i < traffic->lines; i++)
			if (traffic->stores)
				machine_store(core, DATA + i * LINE, 8, &insn);
			else
				machine_load(core, DATA + i * LINE, 8, &insn);
	machine_hart_leave(core);
}

/* Loads of arrays that fit L1, L2 and the LLC. */
static void loads_by_level(void **unused)
{
	static const unsigned sizes[] = {L1_LINES / 2, L2_LINES / 2, 4 * L2_LINES};

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned lines = sizes[i];
		const struct traffic traffic = {drive_lines, 0, lines, 3, false};
		struct counts counts;

		count_all(&counts, &traffic);
		check_laws(&counts);
		assert_int_equal(counts.values[LOADS], 3 * lines);
		assert_int_equal(counts.values[DATA_MISS], i < 2 ? lines : 3 * lines);
		assert_int_equal(counts.values[DATA_HIT], i == 1 ? 2 * lines : 0);
		assert_int_equal(counts.values[L1_FILLS], i == 0 ? lines : 3 * lines);
		assert_int_equal(counts.values[FILLS_E], counts.values[DATA_MISS]);
		assert_int_equal(counts.values[FILLS_S], 0);
		assert_int_equal(counts.values[VICTIMS_CLEAN], i == 2 ? 3 * lines - L2_LINES : 0);
		assert_int_equal(counts.values[TRANS_L1_WB], 0);
		assert_int_equal(counts.values[OFFCORE], counts.values[DATA_MISS]);
		assert_int_equal(counts.values[STORES], 0);
	}
}

/* What L1D displaces it writes back into L2, what L2 displaces into the LLC. */
static void stores_by_level(void **unused)
{
	static const unsigned sizes[] = {L1_LINES / 2, L2_LINES / 2, 4 * L2_LINES};

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned lines = sizes[i];
		const struct traffic traffic = {drive_lines, 0, lines, 2, true};
		struct counts counts;

		count_all(&counts, &traffic);
		check_laws(&counts);
		assert_int_equal(counts.values[STORES], 2 * lines);
		assert_int_equal(counts.values[OWN_MISS], i < 2 ? lines : 2 * lines);
		assert_int_equal(counts.values[OWN_HIT], i == 1 ? lines : 0);
		assert_int_equal(counts.values[L1_FILLS], i == 0 ? lines : 2 * lines);
		assert_int_equal(counts.values[TRANS_L1_WB], i == 0 ? 0 : 2 * lines - L1_LINES);
		assert_int_equal(counts.values[WB_HIT], counts.values[TRANS_L1_WB]);
		assert_int_equal(counts.values[TRANS_L2_WB], i == 2 ? 2 * lines - L2_LINES : 0);
		assert_int_equal(counts.values[VICTIMS_CLEAN], 0);
		assert_int_equal(counts.values[LOADS], 0);
	}
}

/* In order with prefetchers: each line comes into L2 once, by whomever. */
static void prefetched_lines(void **unused)
{
	const struct traffic traffic = {drive_lines, ALL, 4 * L2_LINES, 1, false};
	struct counts counts;

	(void)unused;
	count_all(&counts, &traffic);
	check_laws(&counts);
	assert_int_equal(counts.values[FILLS], 4 * L2_LINES);
	assert_int_equal(counts.values[L1_FILLS], 4 * L2_LINES);
	assert_int_equal(counts.values[DEMAND_DATA], 4 * L2_LINES);
	assert_true(counts.values[PREFETCH_MISS] > 2 * L2_LINES);
	assert_int_equal(counts.values[OFFCORE_ALL_DATA],
			 counts.values[DATA_MISS] + counts.values[PREFETCH_MISS]);
}

static void step(struct core_fixture *fixture, struct machine_hart *core, uint64_t word)
{
	static const struct machine_insn insn = {0};
	uint64_t offset = (word >> 24) % (word & 1u << 20 ? 64 << 10 : SHARED) & ~63ull;
	struct machine_block block;

	switch (word >> 16 & 7) {
	case 0:
		machine_store_nt(core, DATA + offset, 8);
		break;
	case 1:
		machine_locked(core, DATA + offset, 8, &insn);
		break;
	case 2:
		machine_block_init(fixture->machine, &block, CODE + offset, 16, 4, 0, 0);
		machine_run(core, &block);
		break;
	case 3:
	case 4:
		machine_store(core, DATA + offset + (word & 32 ? 60 : 0), 8, &insn);
		break;
	default:
		machine_load(core, DATA + offset + (word & 64 ? 57 : 0), 8, &insn);
	}
}

static void drive_random(struct core_fixture *fixture, const struct traffic *traffic)
{
	struct machine_hart *cores[CORES];
	uint64_t random = 88172645463325252;

	(void)traffic;
	for (unsigned i = 0; i < CORES; i++)
		cores[i] = machine_hart_enter(fixture->machine, fixture->space, 0);
	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t word = next_random(&random);

		step(fixture, cores[word % CORES], word);
	}
	for (unsigned i = 0; i < CORES; i++)
		machine_hart_leave(cores[i]);
}

static void random_on_four_cores(void **unused)
{
	(void)unused;
	for (uint32_t on = 0; on <= ALL; on += ALL) {
		const struct traffic traffic = {.drive = drive_random, .prefetchers = on};
		struct counts counts;

		count_all(&counts, &traffic);
		check_laws(&counts);
		/* No law holds because there was nothing. */
		for (unsigned i = 0; i < EVENTS; i++)
			if (on && !counts.values[i])
				fail_msg("%s is 0", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_by_level),
	    cmocka_unit_test(stores_by_level),
	    cmocka_unit_test(prefetched_lines),
	    cmocka_unit_test(random_on_four_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
