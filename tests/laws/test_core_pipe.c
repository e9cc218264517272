/*
 * What a core counts of branches, micro-operations and stalls: of blocks whose instructions are
 * known, run so often and in such an order; and that all of its cycles go somewhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core_fixture.h"
#include "plans.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define LINE	64u
#define DATA	0x10000000ull
#define CODE	0x400000ull
#define APART	0x1000u /* of blocks' addresses */
#define ROUNDS	4000u
#define PACK	4 /* counters that every event can have */
#define WIDTH	4u
#define DIVIDES 9u /* cycles that Broadwell's divider is busy: machines/uarch/broadwell.json */

#define EACH_BLOCK(use)                                                                            \
	use(mixed) use(conditional) use(jump) use(jump_indirect) use(call) use(call_indirect)      \
	    use(return ) use(system) use(divide) use(chain) use(port)

#define DECLARE(name) extern const uint8_t block_##name[], block_##name##_end[];
EACH_BLOCK(DECLARE)

#define NUMBER(name) BLOCK_##name,
enum block { EACH_BLOCK(NUMBER) BLOCKS };

#define BYTES(name) {block_##name, block_##name##_end},
static const struct {
	const uint8_t *begin, *end;
} code[BLOCKS] = {EACH_BLOCK(BYTES)};

/* Blocks at addresses of their own, or right behind another. */
enum place {
	MIXED,
	IF,
	ELSE, /* behind it */
	THEN,
	JUMP,
	INDIRECT,
	CALL,
	RETURNED, /* behind it */
	CALL_INDIRECT,
	RETURNED_INDIRECT, /* behind it */
	CALLEE,
	SYSTEM,
	DIVIDE,
	CHAIN,
	PORT,
	PLACES,
};

static const struct {
	enum block block;
	bool behind; /* the place before */
} places[PLACES] = {
    [MIXED] = {BLOCK_mixed, false},
    [IF] = {BLOCK_conditional, false},
    [ELSE] = {BLOCK_jump, true},
    [THEN] = {BLOCK_jump, false},
    [JUMP] = {BLOCK_jump, false},
    [INDIRECT] = {BLOCK_jump_indirect, false},
    [CALL] = {BLOCK_call, false},
    [RETURNED] = {BLOCK_jump, true},
    [CALL_INDIRECT] = {BLOCK_call_indirect, false},
    [RETURNED_INDIRECT] = {BLOCK_jump, true},
    [CALLEE] = {BLOCK_return, false},
    [SYSTEM] = {BLOCK_system, false},
    [DIVIDE] = {BLOCK_divide, false},
    [CHAIN] = {BLOCK_chain, false},
    [PORT] = {BLOCK_port, false},
};

struct program {
	struct machine_plan *plans[PLACES];
};

typedef void traffic(struct core_fixture *fixture, const struct program *program);

static void program_up(struct program *program, const struct machine *machine)
{
	for (unsigned i = 0; i < PLACES; i++) {
		const struct machine_plan *before = i ? program->plans[i - 1] : NULL;
		const uint64_t address =
		    places[i].behind ? before->address + before->bytes : CODE + i * APART;

		program->plans[i] = plan_of_code(machine, code[places[i].block].begin,
						 code[places[i].block].end, address);
	}
}

static void program_down(struct program *program)
{
	for (unsigned i = 0; i < PLACES; i++)
		free(program->plans[i]);
}

static void run(struct core_fixture *fixture, const struct program *program, enum place place)
{
	machine_run_planned(fixture->harts[0], program->plans[place]);
}

/* Counts the events of core 0, in packs; the traffic is the same each time. @return cycles */
static uint64_t count_all(const char *const *names, uint64_t *values, unsigned events,
			  traffic *drive)
{
	uint64_t cycles = 0;

	for (unsigned first = 0; first < events; first += PACK) {
		struct core_fixture fixture;
		struct program program;
		const struct pmu_count *counts;
		const unsigned in_pack = events - first < PACK ? events - first : PACK;
		size_t count = 0;

		core_fixture_up(&fixture, "xeon-e5v4-4c");
		switch_prefetchers_off(fixture.machine);
		program_up(&program, fixture.machine);
		for (unsigned i = 0; i < in_pack; i++) {
			char event[64];

			snprintf(event, sizeof(event), "core.%s", names[first + i]);
			core_fixture_add(&fixture, event);
		}
		core_fixture_add(&fixture, "core.CPU_CLK_UNHALTED.THREAD");
		core_fixture_start(&fixture);
		core_fixture_enter(&fixture, 1);
		drive(&fixture, &program);
		machine_hart_pause_briefly(fixture.harts[0]);
		counts = core_fixture_stop(&fixture, &count);
		for (size_t i = 0; i < count; i++) {
			if (counts[i].instance)
				continue;
			if (counts[i].event < in_pack) {
				values[first + counts[i].event] = counts[i].count;
				continue;
			}
			/* Whatever is counted, the time is the same. */
			assert_true(!first || counts[i].count == cycles);
			cycles = counts[i].count;
		}
		program_down(&program);
		core_fixture_down(&fixture);
	}
	return cycles;
}

enum branch_event {
	ALL,
	CONDITIONAL,
	NOT_TAKEN,
	NEAR_TAKEN,
	NEAR_CALL,
	NEAR_RETURN,
	FAR_BRANCH,
	EXEC_NOT_TAKEN,
	EXEC_TAKEN,
	EXEC_JUMP,
	EXEC_JUMP_INDIRECT,
	EXEC_CALL,
	EXEC_CALL_INDIRECT,
	EXEC_RETURN,
	EXEC_ALL,
	WRONG,
	WRONG_CONDITIONAL,
	WRONG_RETURN,
	WRONG_INDIRECT,
	BRANCH_EVENTS,
};

static const char *const branch_names[BRANCH_EVENTS] = {
    [ALL] = "BR_INST_RETIRED.ALL_BRANCHES",
    [CONDITIONAL] = "BR_INST_RETIRED.CONDITIONAL",
    [NOT_TAKEN] = "BR_INST_RETIRED.NOT_TAKEN",
    [NEAR_TAKEN] = "BR_INST_RETIRED.NEAR_TAKEN",
    [NEAR_CALL] = "BR_INST_RETIRED.NEAR_CALL",
    [NEAR_RETURN] = "BR_INST_RETIRED.NEAR_RETURN",
    [FAR_BRANCH] = "BR_INST_RETIRED.FAR_BRANCH",
    [EXEC_NOT_TAKEN] = "BR_INST_EXEC.NONTAKEN_CONDITIONAL",
    [EXEC_TAKEN] = "BR_INST_EXEC.TAKEN_CONDITIONAL",
    [EXEC_JUMP] = "BR_INST_EXEC.ALL_DIRECT_JMP",
    [EXEC_JUMP_INDIRECT] = "BR_INST_EXEC.ALL_INDIRECT_JUMP_NON_CALL_RET",
    [EXEC_CALL] = "BR_INST_EXEC.ALL_DIRECT_NEAR_CALL",
    [EXEC_CALL_INDIRECT] = "BR_INST_EXEC.TAKEN_INDIRECT_NEAR_CALL",
    [EXEC_RETURN] = "BR_INST_EXEC.ALL_INDIRECT_NEAR_RETURN",
    [EXEC_ALL] = "BR_INST_EXEC.ALL_BRANCHES",
    [WRONG] = "BR_MISP_RETIRED.ALL_BRANCHES",
    [WRONG_CONDITIONAL] = "BR_MISP_RETIRED.CONDITIONAL",
    [WRONG_RETURN] = "BR_MISP_RETIRED.RET",
    [WRONG_INDIRECT] = "BR_MISP_EXEC.INDIRECT",
};

/* Laws of any order of branches. */
static void check_branches(const uint64_t *values)
{
	assert_int_equal(values[NOT_TAKEN] + values[NEAR_TAKEN] + values[FAR_BRANCH], values[ALL]);
	assert_int_equal(values[EXEC_NOT_TAKEN] + values[EXEC_TAKEN], values[CONDITIONAL]);
	assert_int_equal(values[EXEC_CALL] + values[EXEC_CALL_INDIRECT], values[NEAR_CALL]);
	assert_int_equal(values[EXEC_RETURN], values[NEAR_RETURN]);
	assert_int_equal(values[EXEC_ALL] + values[FAR_BRANCH], values[ALL]);
	assert_int_equal(values[WRONG_CONDITIONAL] + values[WRONG_RETURN] + values[WRONG_INDIRECT],
			 values[WRONG]);
}

/* A round has each kind once, and ends with the system call. */
static void drive_kinds(struct core_fixture *fixture, const struct program *program)
{
	static const enum place round[] = {
	    IF,	   THEN, INDIRECT, CALL, CALLEE, RETURNED, CALL_INDIRECT, CALLEE, RETURNED_INDIRECT,
	    SYSTEM};

	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned j = 0; j < sizeof(round) / sizeof(round[0]); j++)
			run(fixture, program, round[j]);
}

static void branches_by_kind(void **unused)
{
	uint64_t values[BRANCH_EVENTS] = {0};

	(void)unused;
	count_all(branch_names, values, BRANCH_EVENTS, drive_kinds);
	check_branches(values);
	assert_int_equal(values[ALL], 10 * ROUNDS);
	assert_int_equal(values[EXEC_TAKEN], ROUNDS);
	assert_int_equal(values[EXEC_NOT_TAKEN], 0);
	assert_int_equal(values[EXEC_JUMP], 3 * ROUNDS);
	assert_int_equal(values[EXEC_JUMP_INDIRECT], ROUNDS);
	assert_int_equal(values[EXEC_CALL], ROUNDS);
	assert_int_equal(values[EXEC_CALL_INDIRECT], ROUNDS);
	assert_int_equal(values[NEAR_RETURN], 2 * ROUNDS);
	assert_int_equal(values[FAR_BRANCH], ROUNDS);
	/* Whatever goes the same way each time is learned; calls tell where they return. */
	assert_in_range(values[WRONG], 1, ROUNDS / 100);
	assert_int_equal(values[WRONG_RETURN], 0);
}

/* One branch, as the bits say. */
static void drive_bits(struct core_fixture *fixture, const struct program *program, bool alternate)
{
	uint64_t random = 88172645463325252;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t bits = alternate ? i : next_random(&random) >> 32;

		run(fixture, program, IF);
		run(fixture, program, bits & 1 ? THEN : ELSE);
	}
	run(fixture, program, SYSTEM);
}

static void drive_alternating(struct core_fixture *fixture, const struct program *program)
{
	drive_bits(fixture, program, true);
}

static void drive_unknown(struct core_fixture *fixture, const struct program *program)
{
	drive_bits(fixture, program, false);
}

static void branches_by_way(void **unused)
{
	uint64_t known[BRANCH_EVENTS] = {0}, unknown[BRANCH_EVENTS] = {0};

	(void)unused;
	count_all(branch_names, known, BRANCH_EVENTS, drive_alternating);
	check_branches(known);
	assert_int_equal(known[EXEC_TAKEN], ROUNDS / 2);
	assert_int_equal(known[EXEC_NOT_TAKEN], ROUNDS / 2);
	assert_int_equal(known[EXEC_JUMP], ROUNDS);
	assert_in_range(known[WRONG], 1, ROUNDS / 50);
	count_all(branch_names, unknown, BRANCH_EVENTS, drive_unknown);
	check_branches(unknown);
	assert_int_equal(unknown[CONDITIONAL], ROUNDS);
	/* Nobody knows more than half of them. */
	assert_in_range(unknown[WRONG_CONDITIONAL], ROUNDS * 4 / 10, ROUNDS * 6 / 10);
	assert_int_equal(unknown[WRONG], unknown[WRONG_CONDITIONAL]);
}

enum uop_event {
	ISSUED,
	EXECUTED,
	RETIRED,
	SLOTS,
	PORT_0,
	PORT_1,
	PORT_2,
	PORT_3,
	PORT_4,
	PORT_5,
	PORT_6,
	PORT_7,
	DIVIDER,
	UOP_EVENTS,
};

static const char *const uop_names[UOP_EVENTS] = {
    [ISSUED] = "UOPS_ISSUED.ANY",	    [EXECUTED] = "UOPS_EXECUTED.THREAD",
    [RETIRED] = "UOPS_RETIRED.ALL",	    [SLOTS] = "UOPS_RETIRED.RETIRE_SLOTS",
    [PORT_0] = "UOPS_EXECUTED_PORT.PORT_0", [PORT_1] = "UOPS_EXECUTED_PORT.PORT_1",
    [PORT_2] = "UOPS_EXECUTED_PORT.PORT_2", [PORT_3] = "UOPS_EXECUTED_PORT.PORT_3",
    [PORT_4] = "UOPS_EXECUTED_PORT.PORT_4", [PORT_5] = "UOPS_EXECUTED_PORT.PORT_5",
    [PORT_6] = "UOPS_EXECUTED_PORT.PORT_6", [PORT_7] = "UOPS_EXECUTED_PORT.PORT_7",
    [DIVIDER] = "ARITH.FPU_DIV_ACTIVE",
};

static void drive_mixed(struct core_fixture *fixture, const struct program *program)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		run(fixture, program, MIXED);
}

static void drive_divisions(struct core_fixture *fixture, const struct program *program)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		run(fixture, program, DIVIDE);
}

/* Eight instructions: 248966, 2.3 (fusion, eliminated moves and zeros); ports: uops.info. */
static void uops_of_a_block(void **unused)
{
	uint64_t values[UOP_EVENTS] = {0};

	(void)unused;
	count_all(uop_names, values, UOP_EVENTS, drive_mixed);
	assert_int_equal(values[ISSUED], 7 * ROUNDS);
	assert_int_equal(values[SLOTS], values[ISSUED]);
	assert_int_equal(values[EXECUTED], 6 * ROUNDS);
	assert_int_equal(values[RETIRED], 9 * ROUNDS);
	/* The load on 2 or 3, the store's data on 4, its address on 7. */
	assert_int_equal(values[PORT_2] + values[PORT_3], ROUNDS);
	assert_int_equal(values[PORT_4], ROUNDS);
	assert_int_equal(values[PORT_7], ROUNDS);
	/* The multiplication on 1, the addition on 0, 1, 5 or 6, the jump on 0 or 6. */
	assert_true(values[PORT_1] >= ROUNDS);
	assert_int_equal(values[PORT_0] + values[PORT_1] + values[PORT_5] + values[PORT_6],
			 3 * ROUNDS);
	assert_int_equal(values[DIVIDER], 0);
}

static void divisions(void **unused)
{
	uint64_t values[UOP_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = count_all(uop_names, values, UOP_EVENTS, drive_divisions);
	assert_int_equal(values[DIVIDER], DIVIDES * ROUNDS);
	assert_true(values[DIVIDER] <= cycles);
	assert_int_equal(values[EXECUTED], values[ISSUED]);
	assert_int_equal(values[PORT_7], 0);
}

enum stall_event {
	STALLED,
	RECOVERY,
	UNDELIVERED,
	NONE_DELIVERED,
	RESOURCES,
	STATIONS,
	STORES,
	REORDERS,
	LOADS,
	FAR_LOADS,
	BUFFERS,
	USED,
	STALL_EVENTS,
};

static const char *const stall_names[STALL_EVENTS] = {
    [STALLED] = "UOPS_ISSUED.STALL_CYCLES",
    [RECOVERY] = "INT_MISC.RECOVERY_CYCLES",
    [UNDELIVERED] = "IDQ_UOPS_NOT_DELIVERED.CORE",
    [NONE_DELIVERED] = "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE",
    [RESOURCES] = "RESOURCE_STALLS.ANY",
    [STATIONS] = "RESOURCE_STALLS.RS",
    [STORES] = "RESOURCE_STALLS.SB",
    [REORDERS] = "RESOURCE_STALLS.ROB",
    [LOADS] = "CYCLE_ACTIVITY.STALLS_LDM_PENDING",
    [FAR_LOADS] = "CYCLE_ACTIVITY.STALLS_L2_PENDING",
    [BUFFERS] = "L1D_PEND_MISS.FB_FULL",
    [USED] = "UOPS_RETIRED.RETIRE_SLOTS",
};

/* Each is rounded on its own. */
static void check_near(uint64_t value, uint64_t wanted, uint64_t off)
{
	assert_in_range(value, wanted > off ? wanted - off : 0, wanted + off);
}

/* Every slot of every cycle is one of four things. */
static uint64_t stalls_of(traffic *drive, uint64_t *values)
{
	const uint64_t cycles = count_all(stall_names, values, STALL_EVENTS, drive);

	check_near(values[USED] + WIDTH * (values[RECOVERY] + values[RESOURCES]) +
		       values[UNDELIVERED],
		   WIDTH * cycles, 16 * WIDTH);
	/* Some cycles issue fewer than four. */
	assert_true(values[STALLED] + values[USED] / WIDTH <= cycles);
	assert_true(values[STALLED] + values[USED] >= cycles);
	/* Decoders leave a part of a cycle's slots too. */
	assert_true(values[UNDELIVERED] + WIDTH >= WIDTH * values[NONE_DELIVERED]);
	assert_true(values[BUFFERS] <= values[LOADS] && values[LOADS] <= values[RESOURCES]);
	assert_true(values[FAR_LOADS] <= values[LOADS]);
	assert_true(values[STATIONS] + values[STORES] + values[REORDERS] <= values[RESOURCES]);
	return cycles;
}

static void mispredicted_stall(void **unused)
{
	uint64_t values[STALL_EVENTS] = {0}, wrong[BRANCH_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = stalls_of(drive_unknown, values);
	count_all(branch_names, wrong, BRANCH_EVENTS, drive_unknown);
	/* 14 cycles of refill and one or two to know: machines/uarch/broadwell.json */
	assert_in_range(values[RECOVERY], 15 * wrong[WRONG], 20 * wrong[WRONG]);
	assert_true(values[RECOVERY] > cycles / 2);
	assert_int_equal(values[LOADS], 0);
	assert_int_equal(values[STORES], 0);
}

static void drive_dependent(struct core_fixture *fixture, const struct program *program)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		run(fixture, program, CHAIN);
}

static void drive_port(struct core_fixture *fixture, const struct program *program)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		run(fixture, program, PORT);
}

/*
 * Multiplications: of three cycles after each other, and of one that each takes port 1. The code
 * has to come first, and no more than 48 and 30 cycles of it are ahead (docs/machine.md).
 */
static void values_and_ports(void **unused)
{
	uint64_t chain[STALL_EVENTS] = {0}, port[STALL_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = stalls_of(drive_dependent, chain);
	check_near(cycles, 3 * ROUNDS, 3 * ROUNDS / 20);
	check_near(chain[REORDERS], 3 * ROUNDS - ROUNDS / WIDTH, 50);
	assert_int_equal(chain[STATIONS], 0);
	assert_int_equal(chain[REORDERS], chain[RESOURCES]);
	cycles = stalls_of(drive_port, port);
	check_near(cycles, 2 * ROUNDS, 2 * ROUNDS / 20);
	check_near(port[STATIONS], 2 * ROUNDS - 2 * ROUNDS / WIDTH, 50);
	assert_int_equal(port[REORDERS], 0);
	assert_int_equal(port[STATIONS], port[RESOURCES]);
}

/* Lines of code that were never executed before. */
static void drive_cold_code(struct core_fixture *fixture, const struct program *program)
{
	(void)program;
	for (unsigned i = 0; i < ROUNDS; i++)
		machine_fetch_outline(fixture->harts[0], CODE + i * LINE, CODE + i * LINE);
}

static void code_that_has_to_come(void **unused)
{
	uint64_t values[STALL_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = stalls_of(drive_cold_code, values);
	assert_true(cycles > 50 * ROUNDS);
	check_near(values[UNDELIVERED], WIDTH * cycles, WIDTH);
	check_near(values[RESOURCES], 0, 2);
}

/* Each load's address is what the one before it loads; more than fill buffers at once. */
static void drive_chain(struct core_fixture *fixture, const struct program *program)
{
	static const struct machine_insn insn = {.address_registers = 1, .loads_registers = 1};

	(void)program;
	for (unsigned i = 0; i < ROUNDS; i++)
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
}

static void drive_stream(struct core_fixture *fixture, const struct program *program)
{
	static const struct machine_insn insn = {.loads_registers = 2};

	(void)program;
	for (unsigned i = 0; i < ROUNDS; i++)
		machine_load(fixture->harts[0], DATA + i * LINE, 8, &insn);
}

/* Each is of a line of its own. */
static void drive_stores(struct core_fixture *fixture, const struct program *program)
{
	static const struct machine_insn insn = {0};

	(void)program;
	for (unsigned i = 0; i < ROUNDS; i++)
		machine_store(fixture->harts[0], DATA + i * LINE, 8, &insn);
}

/* All but what is on its way at the end is waited for: an entry of the store buffer. */
static void stores_that_wait(void **unused)
{
	uint64_t values[STALL_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = stalls_of(drive_stores, values);
	check_near(values[STORES], cycles, cycles / 50);
	check_near(values[RESOURCES], cycles, 2);
	assert_int_equal(values[LOADS], 0);
}

/* All but what is on its way at the end is waited for: by the next load, or for a buffer. */
static void loads_that_wait(void **unused)
{
	uint64_t chain[STALL_EVENTS] = {0}, stream[STALL_EVENTS] = {0}, cycles;

	(void)unused;
	cycles = stalls_of(drive_chain, chain);
	check_near(chain[LOADS], cycles, cycles / 100);
	assert_int_equal(chain[FAR_LOADS], chain[LOADS]);
	assert_int_equal(chain[BUFFERS], 0);
	cycles = stalls_of(drive_stream, stream);
	check_near(stream[BUFFERS], cycles, cycles / 50);
	check_near(stream[LOADS], stream[BUFFERS], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(branches_by_kind),	  cmocka_unit_test(branches_by_way),
	    cmocka_unit_test(uops_of_a_block),	  cmocka_unit_test(divisions),
	    cmocka_unit_test(mispredicted_stall), cmocka_unit_test(code_that_has_to_come),
	    cmocka_unit_test(loads_that_wait),	  cmocka_unit_test(stores_that_wait),
	    cmocka_unit_test(values_and_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
