/*
 * How long a core's requests are on their way, added up: what waits for nothing else takes as long
 * as the core's clock says, and what is independent takes that many times it. Prefetchers are off
 * but where the test says so.
 */
#include "core_fixture.h"
#include "machine/control.h"
#include "machine/prefetcher.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

#define LINE	       64u
#define DATA	       0x10000000ull
#define CODE	       0x400000ull
#define L2_LATENCY     12   /* core cycles: machines/parts/broadwell-ep.json */
#define L2_MOVE_HALVES 5    /* half cycles a line, of 6 ticks: at 26 bytes a cycle 29.5 ticks */
#define L1_LINES       512u /* 32 KB */
#define LINES	       2048u
#define AT_ONCE	       8u /* less than fill buffers: 10 */

enum event { DATA_WAIT, OWN_WAIT, CODE_WAIT, ALL_DATA_WAIT, L1_WAIT, CYCLES, EVENTS };

/* clang-format off */
static const char *const names[EVENTS] = {
	[DATA_WAIT] = "core.OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD",
	[OWN_WAIT] = "core.OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO",
	[CODE_WAIT] = "core.OFFCORE_REQUESTS_OUTSTANDING.DEMAND_CODE_RD",
	[ALL_DATA_WAIT] = "core.OFFCORE_REQUESTS_OUTSTANDING.ALL_DATA_RD",
	[L1_WAIT] = "core.L1D_PEND_MISS.PENDING",
	[CYCLES] = "core.CPU_CLK_UNHALTED.THREAD",
};
/* clang-format on */

struct fixture {
	struct core_fixture all;
	struct machine_hart *core;
	uint64_t values[EVENTS];
};

static void fixture_up(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	core_fixture_up(&fixture->all, "xeon-e5v4-4c");
	switch_prefetchers_off(fixture->all.machine);
	core_fixture_enter(&fixture->all, 1);
	fixture->core = fixture->all.harts[0];
	for (int i = 0; i < EVENTS; i++)
		core_fixture_add(&fixture->all, names[i]);
}

static void start(struct fixture *fixture)
{
	machine_hart_pause_briefly(fixture->core);
	core_fixture_start(&fixture->all);
}

/* All that is outstanding ends before. */
static void stop(struct fixture *fixture)
{
	const struct pmu_count *counts;
	size_t count = 0;

	machine_hart_pause_briefly(fixture->core);
	counts = core_fixture_stop(&fixture->all, &count);
	for (size_t i = 0; i < count; i++)
		if (!counts[i].instance)
			fixture->values[counts[i].event] = counts[i].count;
}

static void fixture_down(struct fixture *fixture)
{
	core_fixture_down(&fixture->all);
}

/* Each load's address is what the one before it loads. */
static void load_chain(struct fixture *fixture, unsigned lines)
{
	static const struct machine_insn insn = {.address_registers = 1, .loads_registers = 1};

	for (unsigned i = 0; i < lines; i++)
		machine_load(fixture->core, DATA + i * LINE, 8, &insn);
}

/* So many at once, each of which waits for nothing. */
static void load_together(struct fixture *fixture, unsigned lines)
{
	static const struct machine_insn insn = {0};

	for (unsigned i = 0; i < lines; i++) {
		machine_load(fixture->core, DATA + i * LINE, 8, &insn);
		if (i % AT_ONCE == AT_ONCE - 1)
			machine_hart_pause_briefly(fixture->core);
	}
}

static void flush_all(struct fixture *fixture)
{
	for (unsigned i = 0; i < LINES; i++) {
		machine_flush(fixture->core, DATA + i * LINE);
		machine_hart_pause_briefly(fixture->core);
	}
}

/* Ticks are parts of cycles: a sum is rounded once. */
static void expect_near(uint64_t value, uint64_t wanted)
{
	assert_in_range(value, wanted ? wanted - 1 : 0, wanted ? wanted + 1 : 0);
}

/* The clock passes by the wait for each load, and by nothing else. */
static void one_at_a_time(void **unused)
{
	struct fixture fixture;
	const uint64_t *values = fixture.values;

	(void)unused;
	fixture_up(&fixture);
	load_chain(&fixture, LINES);
	flush_all(&fixture);
	start(&fixture);
	load_chain(&fixture, LINES);
	stop(&fixture);
	assert_true(values[CYCLES] > 100 * LINES);
	expect_near(values[L1_WAIT], values[CYCLES]);
	expect_near(values[DATA_WAIT], values[CYCLES] - L2_LATENCY * LINES);
	assert_int_equal(values[ALL_DATA_WAIT], values[DATA_WAIT]);
	assert_int_equal(values[OWN_WAIT], 0);
	assert_int_equal(values[CODE_WAIT], 0);
	fixture_down(&fixture);
}

/* From L2 each takes its latency once those of its group before it have moved. */
static void together_from_l2(void **unused)
{
	struct fixture fixture;
	const uint64_t *values = fixture.values;

	(void)unused;
	fixture_up(&fixture);
	load_chain(&fixture, LINES);
	start(&fixture);
	load_together(&fixture, LINES);
	stop(&fixture);
	assert_int_equal(4 * values[L1_WAIT],
			 (4 * L2_LATENCY + (AT_ONCE - 1) * L2_MOVE_HALVES) * LINES);
	assert_int_equal(2 * values[CYCLES],
			 (2 * L2_LATENCY + (AT_ONCE - 1) * L2_MOVE_HALVES) * LINES / AT_ONCE);
	assert_int_equal(values[DATA_WAIT], 0);
	assert_int_equal(values[ALL_DATA_WAIT], 0);
	fixture_down(&fixture);
}

/* None takes longer than all of them do, and most of the time they are all on their way. */
static void together_from_memory(void **unused)
{
	struct fixture fixture;
	const uint64_t *values = fixture.values;

	(void)unused;
	fixture_up(&fixture);
	load_chain(&fixture, LINES);
	flush_all(&fixture);
	start(&fixture);
	load_together(&fixture, LINES);
	stop(&fixture);
	assert_true(values[L1_WAIT] <= AT_ONCE * values[CYCLES]);
	assert_true(values[L1_WAIT] > AT_ONCE / 2 * values[CYCLES]);
	expect_near(values[DATA_WAIT], values[L1_WAIT] - L2_LATENCY * LINES);
	fixture_down(&fixture);
}

/* What L1 has waits for nothing. */
static void in_l1(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture);
	load_chain(&fixture, L1_LINES);
	start(&fixture);
	load_chain(&fixture, L1_LINES);
	stop(&fixture);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(fixture.values[i], 0);
	fixture_down(&fixture);
}

/* Stores fetch lines to own, which take fill buffers too; instructions have their own. */
static void of_others(void **unused)
{
	static const struct machine_insn insn = {0};
	struct fixture fixture;
	const uint64_t *values = fixture.values;

	(void)unused;
	fixture_up(&fixture);
	start(&fixture);
	for (unsigned i = 0; i < LINES; i++) {
		machine_store(fixture.core, DATA + i * LINE, 8, &insn);
		machine_hart_pause_briefly(fixture.core);
	}
	stop(&fixture);
	expect_near(values[L1_WAIT], values[CYCLES]);
	expect_near(values[OWN_WAIT], values[CYCLES] - L2_LATENCY * LINES);
	assert_int_equal(values[DATA_WAIT], 0);
	assert_int_equal(values[CODE_WAIT], 0);
	start(&fixture);
	for (unsigned i = 0; i < LINES; i++)
		machine_fetch_outline(fixture.core, CODE + i * LINE, CODE + i * LINE);
	stop(&fixture);
	assert_true(values[CODE_WAIT] > 50 * LINES);
	assert_int_equal(values[L1_WAIT], 0);
	assert_int_equal(values[OWN_WAIT], 0);
	assert_int_equal(values[DATA_WAIT], 0);
	fixture_down(&fixture);
}

/*
 * A chain takes the time that its lines are on their way to L1D, whoever asked for them: what L2's
 * prefetchers have asked for is waited for as long as it is still on its way.
 */
static void prefetched_into_l2(void **unused)
{
	struct fixture fixture;
	const uint64_t *values = fixture.values;

	(void)unused;
	fixture_up(&fixture);
	load_chain(&fixture, LINES);
	flush_all(&fixture);
	set_all_prefetchers(fixture.all.machine,
			    1u << MACHINE_PREFETCH_STREAM | 1u << MACHINE_PREFETCH_ADJACENT);
	start(&fixture);
	load_chain(&fixture, LINES);
	stop(&fixture);
	expect_near(values[L1_WAIT], values[CYCLES]);
	assert_true(values[ALL_DATA_WAIT] > values[DATA_WAIT]);
	assert_true(values[DATA_WAIT] < values[L1_WAIT] - L2_LATENCY * LINES);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_at_a_time),
	    cmocka_unit_test(together_from_l2),
	    cmocka_unit_test(together_from_memory),
	    cmocka_unit_test(in_l1),
	    cmocka_unit_test(of_others),
	    cmocka_unit_test(prefetched_into_l2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
