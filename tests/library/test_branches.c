/*
 * Branch records of an emulated core, read as software reads them: of a program whose branches are
 * known (branches.S).
 *
 *     test_branches PROGRAM [VALGRIND_TOOL]
 */
#include <pmulab/hwrec.h>
#include <pmulab/program.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"

#define TEXT	  0x500000u /* where the program is linked to */
#define RECORDS	  16
#define ARGUMENTS 200			    /* fewer */
#define MOST	  (3 * (ARGUMENTS + 5) + 3) /* branches */

/* Registers by address: 325384, last branch records and performance monitoring. */
#define PMC0	    0xC1
#define PERFEVTSEL0 0x186
#define LBR_SELECT  0x1C8
#define LBR_TOS	    0x1C9
#define DEBUGCTL    0x1D9
#define GLOBAL_CTRL 0x38F
#define FROM_IP	    0x680
#define TO_IP	    0x6C0

#define LBR		   0x1u
#define FREEZE_LBRS_ON_PMI 0x800u
#define EN_USR		   0x410000u
#define INT		   0x100000u
#define LBR_INSERTS	   0x20CCu
#define INST_RETIRED	   0x00C0u

/* Kinds by the bit of LBR_SELECT that leaves them out. */
#define JCC	      (1u << 2)
#define NEAR_REL_CALL (1u << 3)
#define NEAR_IND_CALL (1u << 4)
#define NEAR_RET      (1u << 5)
#define NEAR_IND_JMP  (1u << 6)
#define NEAR_REL_JMP  (1u << 7)
#define CPL_EQ_0      1u
#define CPL_NEQ_0     2u

static const char *program_path, *valgrind_tool;

struct bench {
	struct pmu_ctx *ctx;
	struct pmu_emul *emul;
	struct pmu_bus *bus;
};

struct branch {
	unsigned kind;
	uint64_t from, to;
	bool wrong; /* its target was never seen before */
};

static void bench_up(struct bench *bench, const char *machine)
{
	assert_int_equal(pmu_ctx_new(&bench->ctx), 0);
	if (pmu_emul_new(&bench->emul, bench->ctx, pmu_find_machine(machine)) ||
	    pmu_emul_bus(&bench->bus, bench->ctx, bench->emul))
		fail_msg("%s", pmu_message(bench->ctx));
}

static void bench_down(struct bench *bench)
{
	pmu_bus_free(bench->bus);
	pmu_emul_free(bench->emul);
	pmu_ctx_free(bench->ctx);
}

static struct pmu_access_op op_of(uint64_t address, uint64_t value)
{
	return (struct pmu_access_op){.space = PMU_SPACE_MSR,
				      .address = address,
				      .width = 64,
				      .value = value,
				      .reg = "register"};
}

static void write_register(struct bench *bench, uint64_t address, uint64_t value)
{
	const struct pmu_access_op op = op_of(address, value);

	if (pmu_bus_write(bench->bus, bench->ctx, &op))
		fail_msg("%s", pmu_message(bench->ctx));
}

static uint64_t read_register(struct bench *bench, uint64_t address)
{
	struct pmu_access_op op = op_of(address, 0);

	if (pmu_bus_read(bench->bus, bench->ctx, &op))
		fail_msg("%s", pmu_message(bench->ctx));
	return op.value;
}

/* With so many arguments behind its name. */
static void run(struct bench *bench, enum pmu_feed feed, unsigned arguments)
{
	const struct pmu_program_options options = {
	    .size = sizeof(options),
	    .feed = feed,
	    .plugin = feed == PMU_FEED_VALGRIND ? valgrind_tool : NULL,
	};
	struct pmu_program_result result = {.size = sizeof(result)};
	char *argv[ARGUMENTS + 2] = {(char *)program_path};
	struct pmu_program *program;

	for (unsigned i = 0; i < arguments; i++)
		argv[1 + i] = "x";
	if (pmu_program_new(&program, bench->ctx, pmu_emul_machine(bench->emul), argv, &options) ||
	    pmu_program_run(program, bench->ctx, bench->emul, &result))
		fail_msg("%s", pmu_message(bench->ctx));
	assert_int_equal(result.exit, 0);
	pmu_program_free(program);
}

static uint64_t slot(unsigned number)
{
	return TEXT + 64 * number;
}

/* What the program does in order, but for kinds that are left out. */
static unsigned expect(struct branch *branches, unsigned rounds, unsigned left_out)
{
	const struct branch round[] = {{NEAR_REL_CALL, slot(1), slot(5), false},
				       {NEAR_RET, slot(5), slot(1) + 5, false},
				       {JCC, slot(3), slot(1), false}};
	const struct branch end[] = {{NEAR_IND_JMP, slot(4), slot(6), true},
				     {NEAR_IND_CALL, slot(6), slot(8), true},
				     {NEAR_RET, slot(8), slot(6) + 3, false},
				     {NEAR_REL_JMP, slot(7), slot(9), false}};
	unsigned count = 0;

	/* The last round does not jump back. */
	for (unsigned i = 0; i < 3 * rounds - 1; i++)
		if (!(round[i % 3].kind & left_out))
			branches[count++] = round[i % 3];
	for (unsigned i = 0; i < 4; i++)
		if (!(end[i].kind & left_out))
			branches[count++] = end[i];
	return left_out & CPL_NEQ_0 ? 0 : count;
}

/* Decoded records, the youngest first. */
struct decoded {
	unsigned count, notes;
	struct branch branches[RECORDS];
	bool wrong[RECORDS];
};

static void on_entry(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct decoded *decoded = arg;

	(void)row;
	if (!strcmp(pmu_hwrec_kind_name(kind), "branch"))
		decoded->count++;
}

static void on_value(void *arg, const struct pmu_hwrec_value *value)
{
	struct decoded *decoded = arg;
	struct branch *branch = &decoded->branches[decoded->count - 1];

	switch (pmu_hwrec_field_role(value->field)) {
	case PMU_HWREC_ROLE_BRANCH_FROM:
		branch->from = value->value;
		break;
	case PMU_HWREC_ROLE_BRANCH_TO:
		branch->to = value->value;
		break;
	case PMU_HWREC_ROLE_MISPREDICTED:
		decoded->wrong[decoded->count - 1] = value->value;
		break;
	default:
		fail();
	}
}

static void on_note(void *arg, const char *text)
{
	assert_non_null(strstr(text, "lbr is 1"));
	((struct decoded *)arg)->notes++;
}

static struct decoded decode(struct bench *bench)
{
	static const struct pmu_hwrec_visitor visitor = {
	    .size = sizeof(visitor), .entry = on_entry, .value = on_value, .note = on_note};
	const struct pmu_box *box = pmu_find_box(pmu_bus_pmu(bench->bus), "core");
	const struct pmu_hwrec *record = pmu_find_hwrec(box, "lbr");
	struct pmu_register_value values[2 * RECORDS + 2];
	struct decoded decoded = {0};
	size_t count = 0;

	assert_non_null(record);
	for (size_t i = 0; i < pmu_box_registers(box); i++) {
		const struct pmu_register *reg = pmu_box_register_at(box, i);

		if (pmu_hwrec_register(record, reg))
			values[count++] = (struct pmu_register_value){
			    .box = box,
			    .reg = reg,
			    .value = read_register(bench, pmu_register_address(box, reg, 0))};
	}
	assert_int_equal(count, 2 * RECORDS + 2);
	if (pmu_hwrec_decode(bench->ctx, record, NULL, values, count, &visitor, &decoded))
		fail_msg("%s", pmu_message(bench->ctx));
	return decoded;
}

/* Nehalem has no such event. */
static bool counts_records(const struct bench *bench)
{
	const struct pmu_box *box = pmu_find_box(pmu_bus_pmu(bench->bus), "core");

	return pmu_find_event(box, "ROB_MISC_EVENTS");
}

static void check(struct bench *bench, unsigned rounds, unsigned left_out)
{
	struct branch expected[MOST];
	const unsigned count = expect(expected, rounds, left_out);
	const struct decoded decoded = decode(bench);

	assert_int_equal(read_register(bench, PMC0), counts_records(bench) ? count : 0);
	assert_int_equal(read_register(bench, LBR_TOS), count % RECORDS);
	assert_int_equal(decoded.count, count < RECORDS ? count : RECORDS);
	for (unsigned i = 0; i < decoded.count; i++) {
		const struct branch *branch = &expected[count - 1 - i];

		assert_int_equal(decoded.branches[i].from, branch->from);
		assert_int_equal(decoded.branches[i].to, branch->to);
		if (branch->kind != JCC)
			assert_int_equal(decoded.wrong[i], branch->wrong);
	}
}

static void enable(struct bench *bench, unsigned left_out)
{
	write_register(bench, LBR_SELECT, left_out);
	write_register(bench, PERFEVTSEL0, EN_USR | LBR_INSERTS);
	write_register(bench, GLOBAL_CTRL, 1);
	write_register(bench, DEBUGCTL, LBR);
}

static void records_of(const char *machine, enum pmu_feed feed)
{
	static const unsigned left_out[] = {
	    0,
	    CPL_EQ_0,
	    JCC,
	    NEAR_RET | JCC | NEAR_REL_CALL,
	    NEAR_REL_CALL | NEAR_RET | NEAR_IND_JMP | NEAR_REL_JMP | NEAR_IND_CALL,
	    NEAR_IND_CALL | NEAR_REL_JMP | NEAR_IND_JMP,
	    CPL_NEQ_0,
	};

	for (unsigned arguments = 0; arguments < ARGUMENTS; arguments += ARGUMENTS / 2 - 1)
		for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
			struct bench bench;

			bench_up(&bench, machine);
			enable(&bench, left_out[i]);
			run(&bench, feed, arguments);
			check(&bench, arguments + 5, left_out[i]);
			bench_down(&bench);
		}
}

static void the_last_branches_of_broadwell(void **state)
{
	(void)state;
	records_of("xeon-e5v4-4c", PMU_FEED_QEMU);
}

static void the_last_branches_of_sandy_bridge(void **state)
{
	(void)state;
	records_of("xeon-e5-2680-2s", PMU_FEED_QEMU);
}

static void the_last_branches_of_nehalem(void **state)
{
	(void)state;
	records_of("xeon-x5570-2s", PMU_FEED_QEMU);
}

static void the_last_branches_under_valgrind(void **state)
{
	(void)state;
	if (!valgrind_tool)
		skip();
	records_of("xeon-e5v4-4c", PMU_FEED_VALGRIND);
}

/* They stay as they were when recording ended, and go on from there. */
static void records_stay(void **state)
{
	struct bench bench;

	(void)state;
	bench_up(&bench, "xeon-e5v4-4c");
	enable(&bench, 0);
	run(&bench, PMU_FEED_QEMU, 0);
	assert_int_equal(decode(&bench).notes, 1);
	write_register(&bench, DEBUGCTL, 0);
	run(&bench, PMU_FEED_QEMU, 1);
	check(&bench, 5, 0);
	assert_int_equal(decode(&bench).notes, 0);
	write_register(&bench, DEBUGCTL, LBR);
	/* 18 branches before, and 21. */
	run(&bench, PMU_FEED_QEMU, 1);
	assert_int_equal(read_register(&bench, LBR_TOS), (18 + 21) % RECORDS);
	bench_down(&bench);
}

static void an_interrupt_ends_them(void **state)
{
	struct bench bench;

	(void)state;
	bench_up(&bench, "xeon-e5v4-4c");
	write_register(&bench, PERFEVTSEL0, EN_USR | INT | INST_RETIRED);
	write_register(&bench, PMC0, UINT32_MAX);
	write_register(&bench, GLOBAL_CTRL, 1);
	write_register(&bench, DEBUGCTL, LBR | FREEZE_LBRS_ON_PMI);
	run(&bench, PMU_FEED_QEMU, 0);
	/* It is noticed when a register of the core is read. */
	assert_int_equal(read_register(&bench, DEBUGCTL), FREEZE_LBRS_ON_PMI);
	assert_int_equal(read_register(&bench, LBR_TOS), 18 % RECORDS);
	run(&bench, PMU_FEED_QEMU, 0);
	assert_int_equal(read_register(&bench, LBR_TOS), 18 % RECORDS);
	bench_down(&bench);
}

/* As the system does where it takes them over from another program. */
static void records_are_cleared(void **state)
{
	struct bench bench;

	(void)state;
	bench_up(&bench, "xeon-e5v4-4c");
	enable(&bench, 0);
	run(&bench, PMU_FEED_QEMU, 0);
	for (unsigned i = 0; i < RECORDS; i++) {
		write_register(&bench, FROM_IP + i, 0);
		write_register(&bench, TO_IP + i, 0);
	}
	assert_int_equal(decode(&bench).count, 0);
	bench_down(&bench);
}

static void what_is_not_there_faults(void **state)
{
	static const struct {
		uint64_t address, value;
	} rows[] = {
	    {LBR_SELECT, 1u << 9}, {LBR_TOS, RECORDS}, {DEBUGCTL, 1u << 1}, {DEBUGCTL, 1u << 7}};
	struct bench bench;

	(void)state;
	bench_up(&bench, "xeon-e5v4-4c");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pmu_access_op op = op_of(rows[i].address, rows[i].value);

		assert_int_not_equal(pmu_bus_write(bench.bus, bench.ctx, &op), 0);
		assert_int_equal(read_register(&bench, rows[i].address), 0);
	}
	bench_down(&bench);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_last_branches_of_broadwell),
	    cmocka_unit_test(the_last_branches_of_sandy_bridge),
	    cmocka_unit_test(the_last_branches_of_nehalem),
	    cmocka_unit_test(the_last_branches_under_valgrind),
	    cmocka_unit_test(records_stay),
	    cmocka_unit_test(an_interrupt_ends_them),
	    cmocka_unit_test(records_are_cleared),
	    cmocka_unit_test(what_is_not_there_faults),
	};

	if (argc < 2)
		return 2;
	program_path = argv[1];
	valgrind_tool = argc > 2 ? argv[2] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
