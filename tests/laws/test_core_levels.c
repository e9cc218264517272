/*
 * In how many cycles so many requests of a core are on their way at once: of requests that begin
 * together or one after the other, by closed forms; and that all levels add up to the sum.
 */
#include <pthread.h>

#include "core_fixture.h"
#include "machine/control.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define LINE	       64u
#define DATA	       0x10000000ull
#define CODE	       0x400000ull
#define L2_LATENCY     12u /* core cycles: machines/parts/broadwell-ep.json */
#define LINES	       2048u
#define AT_ONCE	       8u /* less than fill buffers: 10 */
#define GROUPS	       (LINES / AT_ONCE)
#define GAP	       5u /* cycles without any */
#define L2_MOVE_HALVES 5u /* half cycles a line, of 6 ticks: at 26 bytes a cycle 29.5 ticks */
#define LAST_HALVES    ((AT_ONCE - 1) * L2_MOVE_HALVES) /* until the last line of a group moves */
#define LEVELS	       10
#define MANY	       200000u

enum event {
	LINE_SUM,
	LINE_1, /* and so on up to LEVELS */
	LINE_RISES = LINE_1 + LEVELS,
	LINE_RISES_8,
	LINE_NONE,
	LINE_CYCLES,
	DATA_SUM,
	DATA_1,
	DATA_2,
	DATA_6,
	DATA_9,
	DATA_RISES,
	DATA_NONE,
	DATA_CYCLES,
	DATA_SIX,
	ALL_DATA_CYCLES,
	OWN_SUM,
	OWN_CYCLES,
	OWN_2,
	CODE_SUM,
	CODE_1,
	CODE_2,
	LOAD_CYCLES,
	FAR_CYCLES,
	EVENTS
};

#define PENDING	    "L1D_PEND_MISS.PENDING"
#define OUTSTANDING "OFFCORE_REQUESTS_OUTSTANDING."

static const char *const names[EVENTS] = {
    [LINE_SUM] = PENDING,
    [LINE_1] = PENDING ":cmask=1",
    [LINE_1 + 1] = PENDING ":cmask=2",
    [LINE_1 + 2] = PENDING ":cmask=3",
    [LINE_1 + 3] = PENDING ":cmask=4",
    [LINE_1 + 4] = PENDING ":cmask=5",
    [LINE_1 + 5] = PENDING ":cmask=6",
    [LINE_1 + 6] = PENDING ":cmask=7",
    [LINE_1 + 7] = PENDING ":cmask=8",
    [LINE_1 + 8] = PENDING ":cmask=9",
    [LINE_1 + 9] = PENDING ":cmask=10",
    [LINE_RISES] = PENDING ":cmask=1:edge",
    [LINE_RISES_8] = PENDING ":cmask=8:edge",
    [LINE_NONE] = PENDING ":cmask=1:inv",
    [LINE_CYCLES] = "L1D_PEND_MISS.PENDING_CYCLES",
    [DATA_SUM] = OUTSTANDING "DEMAND_DATA_RD",
    [DATA_1] = OUTSTANDING "DEMAND_DATA_RD:cmask=1",
    [DATA_2] = OUTSTANDING "DEMAND_DATA_RD:cmask=2",
    [DATA_6] = OUTSTANDING "DEMAND_DATA_RD:cmask=6",
    [DATA_9] = OUTSTANDING "DEMAND_DATA_RD:cmask=9",
    [DATA_RISES] = OUTSTANDING "DEMAND_DATA_RD:cmask=1:edge",
    [DATA_NONE] = OUTSTANDING "DEMAND_DATA_RD:cmask=1:inv",
    [DATA_CYCLES] = OUTSTANDING "CYCLES_WITH_DEMAND_DATA_RD",
    [DATA_SIX] = OUTSTANDING "DEMAND_DATA_RD_GE_6",
    [ALL_DATA_CYCLES] = OUTSTANDING "CYCLES_WITH_DATA_RD",
    [OWN_SUM] = OUTSTANDING "DEMAND_RFO",
    [OWN_CYCLES] = OUTSTANDING "CYCLES_WITH_DEMAND_RFO",
    [OWN_2] = OUTSTANDING "DEMAND_RFO:cmask=2",
    [CODE_SUM] = OUTSTANDING "DEMAND_CODE_RD",
    [CODE_1] = OUTSTANDING "DEMAND_CODE_RD:cmask=1",
    [CODE_2] = OUTSTANDING "DEMAND_CODE_RD:cmask=2",
    [LOAD_CYCLES] = "CYCLE_ACTIVITY.CYCLES_L1D_PENDING",
    [FAR_CYCLES] = "CYCLE_ACTIVITY.CYCLES_L2_PENDING",
};

/* Each is rounded on its own. */
static void expect_near(uint64_t value, uint64_t wanted)
{
	assert_in_range(value, wanted ? wanted - 1 : 0, wanted + 1);
}

static void check_laws(const uint64_t *values, uint64_t cycles)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LEVELS; i++) {
		sum += values[LINE_1 + i];
		assert_true(!i || values[LINE_1 + i] <= values[LINE_1 + i - 1]);
	}
	/* There are no more than fill buffers; each is rounded on its own. */
	assert_in_range(sum, values[LINE_SUM] > LEVELS ? values[LINE_SUM] - LEVELS : 0,
			values[LINE_SUM] + LEVELS);
	assert_int_equal(values[LINE_1] + values[LINE_NONE], cycles);
	assert_int_equal(values[LINE_1], values[LINE_CYCLES]);
	assert_int_equal(values[DATA_1] + values[DATA_NONE], cycles);
	assert_int_equal(values[DATA_1], values[DATA_CYCLES]);
	assert_int_equal(values[DATA_6], values[DATA_SIX]);
	assert_int_equal(values[ALL_DATA_CYCLES], values[DATA_CYCLES]);
	assert_int_equal(values[DATA_9], 0);
	assert_true(values[DATA_2] <= values[DATA_1] && values[DATA_6] <= values[DATA_2]);
	assert_true(values[FAR_CYCLES] <= values[LOAD_CYCLES]);
	assert_true(values[LOAD_CYCLES] <= values[LINE_1]);
}

static uint64_t count(uint64_t *values, core_fixture_drive *drive)
{
	const uint64_t cycles = core_fixture_count(names, values, EVENTS, drive);

	check_laws(values, cycles);
	return cycles;
}

/* Each load's address is what the one before it loads. */
static void load_chain(struct core_fixture *fixture, unsigned lines)
{
	static const struct machine_insn insn = {.address_registers = 1, .loads_registers = 1};

	for (unsigned i = 0; i < lines; i++)
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
}

static void drive_chain(struct core_fixture *fixture)
{
	load_chain(fixture, LINES);
}

/* All that is outstanding ends, and so many cycles pass. */
static void rest(struct machine_hart *core, unsigned cycles)
{
	machine_hart_pause_briefly(core);
	machine_execute(
	    core, cycles * (uint32_t)machine_ticks_per_cycle(core->machine, PMU_CLOCK_CORE), 0, 0);
}

/* The chain before brings the lines into L2, one at a time. */
static void drive_groups(struct core_fixture *fixture)
{
	static const struct machine_insn insn = {0};

	load_chain(fixture, LINES);
	for (unsigned i = 0; i < LINES; i++) {
		if (i % AT_ONCE == 0)
			rest(fixture->harts[0], GAP);
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
	}
}

static void drive_far_groups(struct core_fixture *fixture)
{
	static const struct machine_insn insn = {0};

	for (unsigned i = 0; i < LINES; i++) {
		if (i % AT_ONCE == 0)
			rest(fixture->harts[0], GAP);
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
	}
}

/* Loads and stores of any line, at any time. */
static void drive_any(struct core_fixture *fixture)
{
	static const struct machine_insn independent = {0}, dependent = {1, 1, 0, false};
	struct machine_hart *core = fixture->harts[0];
	uint64_t random = 88172645463325252;

	for (unsigned i = 0; i < LINES; i++) {
		const uint64_t bits = next_random(&random) >> 16;
		const uint64_t address = DATA + bits % (1u << 24) / 8 * 8;

		if (bits >> 40 & 1)
			machine_load(core, address, 8, bits >> 41 & 1 ? &dependent : &independent);
		else
			machine_store(core, address, 8, &independent);
		machine_execute(core, (uint32_t)(bits >> 43 & 1023), 1, 0);
	}
}

static void drive_stores(struct core_fixture *fixture)
{
	static const struct machine_insn insn = {0};

	for (unsigned i = 0; i < LINES; i++) {
		machine_store(fixture->harts[0], DATA + i * LINE, 8, &insn);
		rest(fixture->harts[0], 0);
	}
	for (unsigned i = 0; i < LINES; i++)
		machine_fetch_outline(fixture->harts[0], CODE + i * LINE, CODE + i * LINE);
}

/* One line is always on its way to L1D, and beyond L2 all but its latency. */
static void one_at_a_time(void **unused)
{
	uint64_t values[EVENTS], cycles;

	(void)unused;
	cycles = count(values, drive_chain);
	assert_true(cycles > 100 * LINES);
	expect_near(values[LINE_1], cycles);
	assert_int_equal(values[LINE_1 + 1], 0);
	assert_int_equal(values[LINE_RISES], 1);
	expect_near(values[DATA_1], values[DATA_SUM]);
	expect_near(values[DATA_NONE], L2_LATENCY * LINES);
	assert_int_equal(values[DATA_2], 0);
	assert_int_equal(values[DATA_RISES], LINES);
	expect_near(values[LOAD_CYCLES], cycles);
	expect_near(values[FAR_CYCLES], cycles);
	assert_int_equal(values[OWN_CYCLES], 0);
	assert_int_equal(values[CODE_1], 0);
}

/* All levels up to eight are reached at once, once a group: for L2's latency until the first line
 * moves, and each for the time of a line more. */
static void together_from_l2(void **unused)
{
	uint64_t chain[EVENTS], values[EVENTS], cycles;

	(void)unused;
	cycles = count(chain, drive_chain);
	cycles = count(values, drive_groups) - cycles;
	assert_int_equal(2 * cycles, (2 * (L2_LATENCY + GAP) + LAST_HALVES) * GROUPS);
	for (unsigned i = 0; i < AT_ONCE; i++)
		expect_near(2 * (values[LINE_1 + i] - chain[LINE_1 + i]),
			    (2 * L2_LATENCY + LAST_HALVES - i * L2_MOVE_HALVES) * GROUPS);
	assert_int_equal(values[LINE_1 + AT_ONCE], 0);
	assert_int_equal(values[LINE_RISES] - chain[LINE_RISES], GROUPS);
	assert_int_equal(values[LINE_RISES_8], GROUPS);
	expect_near(values[LINE_NONE] - chain[LINE_NONE], GAP * GROUPS);
	assert_int_equal(values[DATA_1], chain[DATA_1]);
	assert_int_equal(values[FAR_CYCLES], chain[FAR_CYCLES]);
	expect_near(2 * (values[LOAD_CYCLES] - chain[LOAD_CYCLES]),
		    (2 * L2_LATENCY + LAST_HALVES) * GROUPS);
}

/* They leave together, and come when they come. */
static void together_from_memory(void **unused)
{
	uint64_t values[EVENTS], cycles;

	(void)unused;
	cycles = count(values, drive_far_groups);
	expect_near(values[LINE_NONE], GAP * GROUPS);
	expect_near(values[DATA_NONE], (L2_LATENCY + GAP) * GROUPS);
	assert_int_equal(values[DATA_RISES], GROUPS);
	assert_int_equal(values[LINE_RISES_8], GROUPS);
	assert_true(values[DATA_6] > 50 * GROUPS);
	assert_int_equal(values[LINE_1 + AT_ONCE], 0);
	assert_true(values[LINE_1] < cycles);
}

static void of_others(void **unused)
{
	uint64_t values[EVENTS], cycles;

	(void)unused;
	cycles = count(values, drive_stores);
	expect_near(values[OWN_CYCLES], values[OWN_SUM]);
	assert_int_equal(values[OWN_2], 0);
	expect_near(values[CODE_1], values[CODE_SUM]);
	assert_int_equal(values[CODE_2], 0);
	assert_true(values[CODE_1] > 50 * LINES && values[OWN_CYCLES] > 50 * LINES);
	/* Each waits for L2 first, which L1I does too. */
	expect_near(values[OWN_CYCLES] + values[CODE_1] + 2 * L2_LATENCY * LINES, cycles);
	assert_int_equal(values[LOAD_CYCLES], 0);
	assert_int_equal(values[DATA_1], 0);
}

static void laws_of_any(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	count(values, drive_any);
	assert_true(values[LINE_1 + 3] > 0);
}

/* First without a request, then always with one. */
static void *runs(void *arg)
{
	static const struct machine_insn insn = {0};
	struct core_fixture *fixture = arg;

	core_fixture_enter(fixture, 1);
	for (unsigned i = 0; i < MANY; i++)
		rest(fixture->harts[0], GAP);
	for (unsigned i = 0; i < MANY; i++)
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
	machine_hart_pause_briefly(fixture->harts[0]);
	return NULL;
}

/* The core goes on between what a read asks of it. */
static void read_while_it_runs(void **unused)
{
	enum { SOME, NONE, ALL, COUNTS };
	static const char *const asked[COUNTS] = {"core." OUTSTANDING "DEMAND_DATA_RD:cmask=1",
						  "core." OUTSTANDING "DEMAND_DATA_RD:cmask=1:inv",
						  "core.CPU_CLK_UNHALTED.THREAD"};
	uint64_t values[COUNTS] = {0};
	const struct pmu_count *counts;
	struct core_fixture fixture;
	pthread_t thread;
	size_t count = 0;

	(void)unused;
	core_fixture_up(&fixture, "xeon-e5v4-4c");
	switch_prefetchers_off(fixture.machine);
	for (unsigned i = 0; i < COUNTS; i++)
		core_fixture_add(&fixture, asked[i]);
	core_fixture_start(&fixture);
	assert_int_equal(pthread_create(&thread, NULL, runs, &fixture), 0);
	while (pthread_tryjoin_np(thread, NULL))
		assert_int_equal(pmu_session_read(fixture.session, fixture.ctx, &counts, &count),
				 0);
	counts = core_fixture_stop(&fixture, &count);
	for (size_t i = 0; i < count; i++)
		if (!counts[i].instance)
			values[counts[i].event] = counts[i].count;
	assert_true(values[SOME] > 10 * MANY && values[NONE] >= GAP * MANY);
	expect_near(values[SOME] + values[NONE], values[ALL]);
	core_fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_at_a_time),	    cmocka_unit_test(together_from_l2),
	    cmocka_unit_test(together_from_memory), cmocka_unit_test(of_others),
	    cmocka_unit_test(laws_of_any),	    cmocka_unit_test(read_while_it_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
