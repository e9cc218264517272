/*
 * In how many cycles a core issues, executes and retires so much: of blocks whose micro-operations
 * are known, begun at known times. Slots follow each other by a quarter of a cycle.
 */
#include <stdlib.h>

#include "core_fixture.h"
#include "plans.h"
#include "support/cmocka.h"

#define CODE	0x400000ull
#define ROUNDS	4000u
#define DIVIDES 9u /* cycles that the divider is busy: machines/uarch/broadwell.json */
#define ROOTS	7u /* of four single ones */

#define EACH_BLOCK(use) use(two) use(three) use(four) use(store) use(chain) use(divide) use(root)

#define DECLARE(name) extern const uint8_t block_##name[], block_##name##_end[];
EACH_BLOCK(DECLARE)

enum event {
	ISSUED,
	ISSUED_1,
	ISSUED_2,
	ISSUED_3,
	ISSUED_4,
	ISSUED_5,
	ISSUED_NONE,
	ISSUED_BELOW_3,
	ISSUED_RISES,
	ISSUED_RISES_2,
	EXECUTED,
	EXECUTED_1,
	EXECUTED_2,
	EXECUTED_3,
	EXECUTED_4,
	EXECUTED_5,
	EXECUTED_6,
	EXECUTED_NONE,
	RETIRED_5,
	RETIRED_NONE,
	ALL_CYCLES,
	INSTRUCTIONS_4,
	INSTRUCTIONS_NONE,
	EVENTS
};

static const char *const names[EVENTS] = {
    [ISSUED] = "UOPS_ISSUED.ANY",
    [ISSUED_1] = "UOPS_ISSUED.ANY:cmask=1",
    [ISSUED_2] = "UOPS_ISSUED.ANY:cmask=2",
    [ISSUED_3] = "UOPS_ISSUED.ANY:cmask=3",
    [ISSUED_4] = "UOPS_ISSUED.ANY:cmask=4",
    [ISSUED_5] = "UOPS_ISSUED.ANY:cmask=5",
    [ISSUED_NONE] = "UOPS_ISSUED.STALL_CYCLES",
    [ISSUED_BELOW_3] = "UOPS_RETIRED.RETIRE_SLOTS:cmask=3:inv",
    [ISSUED_RISES] = "UOPS_ISSUED.ANY:cmask=1:edge",
    [ISSUED_RISES_2] = "UOPS_ISSUED.ANY:cmask=2:edge",
    [EXECUTED] = "UOPS_EXECUTED.THREAD",
    [EXECUTED_1] = "UOPS_EXECUTED.CYCLES_GE_1_UOP_EXEC",
    [EXECUTED_2] = "UOPS_EXECUTED.CYCLES_GE_2_UOPS_EXEC",
    [EXECUTED_3] = "UOPS_EXECUTED.CORE_CYCLES_GE_3",
    [EXECUTED_4] = "UOPS_EXECUTED.CYCLES_GE_4_UOPS_EXEC",
    [EXECUTED_5] = "UOPS_EXECUTED.THREAD:cmask=5",
    [EXECUTED_6] = "UOPS_EXECUTED.THREAD:cmask=6",
    [EXECUTED_NONE] = "UOPS_EXECUTED.STALL_CYCLES",
    [RETIRED_5] = "UOPS_RETIRED.ALL:cmask=5",
    [RETIRED_NONE] = "UOPS_RETIRED.STALL_CYCLES",
    [ALL_CYCLES] = "UOPS_RETIRED.TOTAL_CYCLES",
    [INSTRUCTIONS_4] = "INST_RETIRED.ANY_P:cmask=4",
    [INSTRUCTIONS_NONE] = "INST_RETIRED.ANY_P:cmask=1:inv",
};

static void pass_to(struct machine_hart *core, uint64_t time)
{
	machine_execute(core, (uint32_t)(time - machine_hart_time(core)), 0, 0);
}

/*
 * Runs a block, of which no line has to come, from the beginning of a cycle on.
 * @param apart  cycles from one round to the next; 0: as soon as it can
 */
static void drive(struct core_fixture *fixture, const uint8_t *begin, const uint8_t *end,
		  unsigned apart)
{
	struct machine_hart *core = fixture->harts[0];
	const uint64_t cycle = machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_CORE);
	struct machine_plan *plan = plan_of_code(fixture->machine, begin, end, CODE);
	uint64_t time;

	machine_fetch_outline(core, CODE, CODE + (uint64_t)(end - begin) - 1);
	time = (machine_hart_time(core) / cycle + 1) * cycle;
	pass_to(core, time);
	for (unsigned i = 0; i < ROUNDS; i++) {
		machine_run_planned(core, plan);
		time += apart * cycle;
		if (apart)
			pass_to(core, time);
	}
	free(plan);
}

#define DRIVE(name, code, apart)                                                                   \
	static void name(struct core_fixture *fixture)                                             \
	{                                                                                          \
		drive(fixture, block_##code, block_##code##_end, apart);                           \
	}
DRIVE(threes, three, 0)
DRIVE(fours, four, 0)
DRIVE(stores, store, 0)
DRIVE(chain, chain, 0)
DRIVE(twos_apart, two, 3)
DRIVE(stores_apart, store, 4)
DRIVE(divisions_apart, divide, 30)
DRIVE(roots, root, 0)

/* What holds whatever runs. */
static void check_laws(const uint64_t *values, uint64_t cycles)
{
	assert_int_equal(values[ISSUED_1] + values[ISSUED_2] + values[ISSUED_3] + values[ISSUED_4],
			 values[ISSUED]);
	assert_int_equal(values[ISSUED_5], 0);
	assert_int_equal(values[ISSUED_1] + values[ISSUED_NONE], cycles);
	assert_int_equal(values[ISSUED_3] + values[ISSUED_BELOW_3], cycles);
	assert_int_equal(values[EXECUTED_1] + values[EXECUTED_2] + values[EXECUTED_3] +
			     values[EXECUTED_4] + values[EXECUTED_5] + values[EXECUTED_6],
			 values[EXECUTED]);
	assert_int_equal(values[EXECUTED_1] + values[EXECUTED_NONE], cycles);
	assert_int_equal(values[EXECUTED_NONE], values[ISSUED_NONE]);
	assert_int_equal(values[RETIRED_NONE], values[ISSUED_NONE]);
	assert_int_equal(values[INSTRUCTIONS_NONE], values[ISSUED_NONE]);
	assert_int_equal(values[ALL_CYCLES], cycles);
}

static void count(uint64_t *values, core_fixture_drive *drive)
{
	const uint64_t cycles = core_fixture_count(names, values, EVENTS, drive);

	check_laws(values, cycles);
}

/* Four in each cycle without a gap, whether blocks have as many or not. */
static void full_cycles(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	count(values, fours);
	assert_int_equal(values[ISSUED_1], ROUNDS);
	assert_int_equal(values[ISSUED_4], ROUNDS);
	assert_int_equal(values[ISSUED_RISES], 1);
	assert_int_equal(values[INSTRUCTIONS_4], ROUNDS);
	assert_int_equal(values[EXECUTED_4], ROUNDS);
	assert_int_equal(values[RETIRED_5], 0);
	count(values, threes);
	assert_int_equal(values[ISSUED_1], ROUNDS * 3 / 4);
	assert_int_equal(values[ISSUED_4], ROUNDS * 3 / 4);
	assert_int_equal(values[ISSUED_RISES], 1);
}

/* Two in one cycle of three. */
static void cycles_apart(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	count(values, twos_apart);
	assert_int_equal(values[ISSUED_1], ROUNDS);
	assert_int_equal(values[ISSUED_2], ROUNDS);
	assert_int_equal(values[ISSUED_3], 0);
	assert_int_equal(values[ISSUED_RISES], ROUNDS);
	assert_int_equal(values[ISSUED_RISES_2], ROUNDS);
	assert_int_equal(values[EXECUTED_2], ROUNDS);
	assert_int_equal(values[INSTRUCTIONS_4], 0);
	/* Four issued in the first cycle of four, and one in the second. */
	count(values, stores_apart);
	assert_int_equal(values[ISSUED_1], 2 * ROUNDS);
	assert_int_equal(values[ISSUED_2], ROUNDS);
	assert_int_equal(values[ISSUED_4], ROUNDS);
	assert_int_equal(values[ISSUED_RISES], ROUNDS);
	/* Six executed, 5/6 of a slot apart: the sixth is 4 1/6 slots after the first. */
	assert_int_equal(values[EXECUTED_5], ROUNDS);
	assert_int_equal(values[EXECUTED_6], 0);
	assert_int_equal(values[EXECUTED_1], 2 * ROUNDS);
}

/*
 * Six in each block's five slots: block b has them at 5b + 5j/6 slots, so of five cycles (four
 * blocks) the first four have 5 each and the fifth 4.
 */
static void more_than_slots(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	count(values, stores);
	assert_int_equal(values[ISSUED_4], ROUNDS * 5 / 4);
	assert_int_equal(values[EXECUTED_4], ROUNDS * 5 / 4);
	assert_int_equal(values[EXECUTED_5], ROUNDS);
	assert_int_equal(values[RETIRED_5], ROUNDS);
	assert_int_equal(values[EXECUTED_6], 0);
	assert_int_equal(values[INSTRUCTIONS_4], ROUNDS * 5 / 4);
}

/*
 * Once the reorder buffer is full, 48 cycles ahead, one is issued for each that ends: one every
 * three cycles. Until then, 48 / (3 - 1/4) are issued four a cycle.
 */
static void one_of_a_chain(void **unused)
{
	uint64_t values[EVENTS];

	(void)unused;
	count(values, chain);
	assert_int_equal(values[ISSUED], ROUNDS);
	assert_in_range(values[ISSUED_1], ROUNDS - 18, ROUNDS - 12);
	assert_in_range(values[ISSUED_2], 4, 6);
	assert_in_range(values[ISSUED_RISES], ROUNDS - 20, ROUNDS - 12);
}

enum divider_event { DIVIDER, DIVIDER_1, DIVIDER_2, DIVIDER_NONE, DIVISIONS, DIVIDER_EVENTS };

static const char *const divider_names[DIVIDER_EVENTS] = {
    [DIVIDER] = "ARITH.FPU_DIV_ACTIVE",
    [DIVIDER_1] = "ARITH.FPU_DIV_ACTIVE:cmask=1",
    [DIVIDER_2] = "ARITH.FPU_DIV_ACTIVE:cmask=2",
    [DIVIDER_NONE] = "ARITH.FPU_DIV_ACTIVE:cmask=1:inv",
    [DIVISIONS] = "ARITH.FPU_DIV_ACTIVE:cmask=1:edge",
};

/* The divider is idle between them, or works on all of them without a break. */
static void divisions(void **unused)
{
	uint64_t values[DIVIDER_EVENTS], cycles;

	(void)unused;
	cycles = core_fixture_count(divider_names, values, DIVIDER_EVENTS, divisions_apart);
	assert_int_equal(values[DIVIDER], DIVIDES * ROUNDS);
	assert_int_equal(values[DIVIDER_1], values[DIVIDER]);
	assert_int_equal(values[DIVIDER_2], 0);
	assert_int_equal(values[DIVIDER_1] + values[DIVIDER_NONE], cycles);
	assert_int_equal(values[DIVISIONS], ROUNDS);
	core_fixture_count(divider_names, values, DIVIDER_EVENTS, roots);
	assert_int_equal(values[DIVIDER], ROOTS * ROUNDS);
	assert_int_equal(values[DIVISIONS], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(full_cycles),     cmocka_unit_test(cycles_apart),
	    cmocka_unit_test(more_than_slots), cmocka_unit_test(one_of_a_chain),
	    cmocka_unit_test(divisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
