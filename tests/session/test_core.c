/*
 * The cores' counters beside those of others: one control for all fixed counters, one global
 * control a core (325384, architectural performance monitoring versions 2 and 3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bus/emulated.h"
#include "machine/access.h"
#include "pmulab/session.h"

#define PMC0	    0xC1
#define A_PMC0	    0x4C1
#define EVTSEL0	    0x186
#define FIXED0	    0x309
#define FIXED_CTRL  0x38D
#define STATUS	    0x38E
#define CTRL	    0x38F
#define GLOBAL_CTL  0x700 /* of the uncore */
#define EN_USR	    0x410000
#define INSNS	    0xC0
#define BLOCK_INSNS 5

struct bench {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct emul *emul;
	struct machine_address_space *space;
	struct machine_hart *core;
	struct machine_block block;
};

static void bench_init(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	assert_int_equal(pmu_ctx_new(&bench->ctx), 0);
	assert_int_equal(
	    pmu_bus_emulated(&bench->bus, bench->ctx, pmu_find_machine("xeon-e5v4-4c")), 0);
	assert_int_equal(pmu_session_new(&bench->session, bench->ctx, bench->bus), 0);
	bench->emul = bus_emulated_emul(bench->bus);
	assert_int_equal(machine_address_space_new(&bench->space, emul_machine(bench->emul)), 0);
	bench->core = machine_hart_enter(emul_machine(bench->emul), bench->space, 0);
	machine_block_init(emul_machine(bench->emul), &bench->block, 0x400000, 20, BLOCK_INSNS, 0,
			   0);
}

static void bench_fini(struct bench *bench)
{
	machine_hart_leave(bench->core);
	machine_address_space_free(bench->space);
	pmu_session_free(bench->session);
	pmu_bus_free(bench->bus);
	pmu_ctx_free(bench->ctx);
}

/* On core 0. */
static void run_blocks(struct bench *bench, unsigned count)
{
	while (count--)
		machine_run(bench->core, &bench->block);
}

static uint64_t get(struct bench *bench, unsigned core, uint32_t address)
{
	struct pmon_access access = {
	    .socket = 0, .core = core, .space = PMU_SPACE_MSR, .address = address, .width = 64};
	uint64_t value;

	assert_int_equal(emul_read(bench->emul, &access, &value), 0);
	return value;
}

static void set(struct bench *bench, unsigned core, uint32_t address, uint64_t value)
{
	struct pmon_access access = {
	    .socket = 0, .core = core, .space = PMU_SPACE_MSR, .address = address, .width = 64};

	assert_int_equal(emul_write(bench->emul, &access, value), 0);
}

static void add(struct bench *bench, const char *event)
{
	struct pmu_selection selection;

	assert_int_equal(pmu_event_parse(bench->ctx, pmu_find_pmu("xeon-e5v4"), event, &selection),
			 0);
	assert_true(pmu_session_add(bench->session, bench->ctx, &selection) >= 0);
}

static uint64_t count_of(struct bench *bench, unsigned event, unsigned core)
{
	const struct pmu_count *counts;
	size_t count;

	assert_int_equal(pmu_session_read(bench->session, bench->ctx, &counts, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (counts[i].event == event && counts[i].instance == core)
			return counts[i].count;
	fail();
	return 0;
}

/* Three fixed counters and two general ones: what is written where, in every core. */
static void test_registers(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench);
	add(&bench, "core.INST_RETIRED.ANY");
	add(&bench, "core.CPU_CLK_UNHALTED.REF_TSC:usr");
	add(&bench, "core.BR_INST_RETIRED.ALL_BRANCHES");
	add(&bench, "core2.LONGEST_LAT_CACHE.MISS:usr");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	for (unsigned core = 0; core < 4; core++) {
		assert_int_equal(get(&bench, core, FIXED_CTRL), 0x203);
		assert_int_equal(get(&bench, core, EVTSEL0), 0x4300c4);
		assert_int_equal(get(&bench, core, EVTSEL0 + 1), core == 2 ? 0x41412e : 0);
		assert_int_equal(get(&bench, core, CTRL), core == 2 ? 0x500000003 : 0x500000001);
	}
	run_blocks(&bench, 7);
	assert_int_equal(count_of(&bench, 0, 0), 7 * BLOCK_INSNS);
	assert_int_equal(count_of(&bench, 0, 1), 0);
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, CTRL), 0);
	run_blocks(&bench, 7);
	assert_int_equal(count_of(&bench, 0, 0), 7 * BLOCK_INSNS);
	assert_int_equal(pmu_session_end(bench.session, bench.ctx), 0);
	for (unsigned core = 0; core < 4; core++) {
		assert_int_equal(get(&bench, core, FIXED_CTRL), 0);
		assert_int_equal(get(&bench, core, EVTSEL0), 0);
		assert_int_equal(get(&bench, core, CTRL), 0);
	}
	bench_fini(&bench);
}

/* A counter of somebody else goes on all the while. */
static void test_others_go_on(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench);
	set(&bench, 0, EVTSEL0 + 5, EN_USR | INSNS);
	set(&bench, 0, FIXED_CTRL, 0x200);
	set(&bench, 0, CTRL, 0x400000020);
	run_blocks(&bench, 1);
	add(&bench, "core.INST_RETIRED.ANY:usr");
	add(&bench, "core.INST_RETIRED.ANY_P:usr");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, FIXED_CTRL), 0x202);
	assert_int_equal(get(&bench, 0, CTRL), 0x500000021);
	assert_int_equal(get(&bench, 1, CTRL), 0x100000001);
	run_blocks(&bench, 2);
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, CTRL), 0x400000020);
	run_blocks(&bench, 4);
	assert_int_equal(count_of(&bench, 0, 0), 2 * BLOCK_INSNS);
	assert_int_equal(count_of(&bench, 1, 0), 2 * BLOCK_INSNS);
	assert_int_equal(pmu_session_end(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, FIXED_CTRL), 0x200);
	assert_int_equal(get(&bench, 0, CTRL), 0x400000020);
	run_blocks(&bench, 8);
	assert_int_equal(get(&bench, 0, PMC0 + 5), 15 * BLOCK_INSNS);
	assert_int_equal(get(&bench, 0, EVTSEL0), 0);
	bench_fini(&bench);
}

static void test_refuses_what_is_in_use(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench);
	/* As the kernel's watchdog has it: fixed counter 1, PMI and both rings. */
	set(&bench, 3, FIXED_CTRL, 0xb0);
	set(&bench, 3, CTRL, 0x200000000);
	add(&bench, "core.CPU_CLK_UNHALTED.THREAD");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(bench.ctx), "IA32_FIXED_CTR_CTRL of core3"));
	assert_int_equal(get(&bench, 3, FIXED_CTRL), 0xb0);
	assert_int_equal(get(&bench, 0, FIXED_CTRL), 0);
	bench_fini(&bench);
}

static void test_sees_that_others_reprogrammed(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench);
	add(&bench, "core.INST_RETIRED.ANY");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	set(&bench, 2, FIXED_CTRL, 0x033);
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), 0);
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	set(&bench, 2, FIXED_CTRL, 0x031);
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(bench.ctx), "IA32_FIXED_CTR_CTRL of core2"));
	bench_fini(&bench);
}

/* Taken by force, a counter is given back with all its 48 bits. */
static void test_gives_back(void **state)
{
	const uint64_t general = 0x123480000001, fixed = 0xf00000000005;
	struct bench bench;

	(void)state;
	bench_init(&bench);
	set(&bench, 0, EVTSEL0, EN_USR | 0x3c);
	set(&bench, 0, A_PMC0, general);
	set(&bench, 0, FIXED_CTRL, 0x002);
	set(&bench, 0, FIXED0, fixed);
	add(&bench, "core.INST_RETIRED.ANY:usr");
	add(&bench, "core.INST_RETIRED.ANY_P:usr");
	pmu_session_force(bench.session);
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, EVTSEL0), EN_USR | INSNS);
	assert_int_equal(get(&bench, 0, PMC0), 0);
	run_blocks(&bench, 3);
	assert_int_equal(pmu_session_end(bench.session, bench.ctx), 0);
	assert_int_equal(get(&bench, 0, EVTSEL0), EN_USR | 0x3c);
	assert_int_equal(get(&bench, 0, PMC0), general);
	assert_int_equal(get(&bench, 0, FIXED0), fixed);
	assert_int_equal(get(&bench, 0, FIXED_CTRL), 0x002);
	assert_int_equal(get(&bench, 0, CTRL), 0);
	bench_fini(&bench);
}

/* Counting in cores leaves the uncore's freeze alone. */
static void test_uncore_is_left_alone(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench);
	set(&bench, 0, 0x703, 1u << 22); /* the fixed counter of the UBox */
	set(&bench, 0, GLOBAL_CTL, 1u << 31);
	add(&bench, "core.INST_RETIRED.ANY");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), 0);
	run_blocks(&bench, 1000);
	assert_int_equal(pmu_session_end(bench.session, bench.ctx), 0);
	run_blocks(&bench, 1000);
	assert_int_equal(get(&bench, 0, 0x704), 0);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_registers),
	    cmocka_unit_test(test_others_go_on),
	    cmocka_unit_test(test_refuses_what_is_in_use),
	    cmocka_unit_test(test_sees_that_others_reprogrammed),
	    cmocka_unit_test(test_gives_back),
	    cmocka_unit_test(test_uncore_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
