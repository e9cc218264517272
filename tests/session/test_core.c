/*
 * The cores' counters beside those of others: one control for all fixed counters, one global
 * control a core (325384, architectural performance monitoring versions 2 and 3).
 */
#include <string.h>

#include "bus/emulated.h"
#include "machine/access.h"
#include "pmulab/session.h"
#include "support/cmocka.h"

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

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct emul *emul;
	struct machine_address_space *space;
	struct machine_hart *core;
	struct machine_block block;
};

static void fixture_up(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	assert_int_equal(
	    pmu_bus_emulated(&fixture->bus, fixture->ctx, pmu_find_machine("xeon-e5v4-4c")), 0);
	assert_int_equal(pmu_session_new(&fixture->session, fixture->ctx, fixture->bus), 0);
	fixture->emul = bus_emulated_emul(fixture->bus);
	assert_int_equal(machine_address_space_new(&fixture->space, emul_machine(fixture->emul)),
			 0);
	fixture->core = machine_hart_enter(emul_machine(fixture->emul), fixture->space, 0);
	machine_block_init(emul_machine(fixture->emul), &fixture->block, 0x400000, 20, BLOCK_INSNS,
			   0, 0);
}

static void fixture_down(struct fixture *fixture)
{
	machine_hart_leave(fixture->core);
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

/* On core 0. */
static void run_blocks(struct fixture *fixture, unsigned count)
{
	while (count--)
		machine_run(fixture->core, &fixture->block);
}

static uint64_t get(struct fixture *fixture, unsigned core, uint32_t address)
{
	struct pmon_access access = {
	    .socket = 0, .core = core, .space = PMU_SPACE_MSR, .address = address, .width = 64};
	uint64_t value;

	assert_int_equal(emul_read(fixture->emul, &access, &value), 0);
	return value;
}

static void set(struct fixture *fixture, unsigned core, uint32_t address, uint64_t value)
{
	struct pmon_access access = {
	    .socket = 0, .core = core, .space = PMU_SPACE_MSR, .address = address, .width = 64};

	assert_int_equal(emul_write(fixture->emul, &access, value), 0);
}

static void add(struct fixture *fixture, const char *event)
{
	struct pmu_selection selection;

	assert_int_equal(
	    pmu_event_parse(fixture->ctx, pmu_find_pmu("xeon-e5v4"), event, &selection), 0);
	assert_true(pmu_session_add(fixture->session, fixture->ctx, &selection) >= 0);
}

static uint64_t count_of(struct fixture *fixture, unsigned event, unsigned core)
{
	const struct pmu_count *counts;
	size_t count;

	assert_int_equal(pmu_session_read(fixture->session, fixture->ctx, &counts, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (counts[i].event == event && counts[i].instance == core)
			return counts[i].count;
	fail();
	return 0;
}

/* Three fixed counters and two general ones: what is written where, in every core. */
static void test_registers(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	add(&fixture, "core.INST_RETIRED.ANY");
	add(&fixture, "core.CPU_CLK_UNHALTED.REF_TSC:usr");
	add(&fixture, "core.BR_INST_RETIRED.ALL_BRANCHES");
	add(&fixture, "core2.LONGEST_LAT_CACHE.MISS:usr");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	for (unsigned core = 0; core < 4; core++) {
		assert_int_equal(get(&fixture, core, FIXED_CTRL), 0x203);
		assert_int_equal(get(&fixture, core, EVTSEL0), 0x4300c4);
		assert_int_equal(get(&fixture, core, EVTSEL0 + 1), core == 2 ? 0x41412e : 0);
		assert_int_equal(get(&fixture, core, CTRL), core == 2 ? 0x500000003 : 0x500000001);
	}
	run_blocks(&fixture, 7);
	assert_int_equal(count_of(&fixture, 0, 0), 7 * BLOCK_INSNS);
	assert_int_equal(count_of(&fixture, 0, 1), 0);
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, CTRL), 0);
	run_blocks(&fixture, 7);
	assert_int_equal(count_of(&fixture, 0, 0), 7 * BLOCK_INSNS);
	assert_int_equal(pmu_session_end(fixture.session, fixture.ctx), 0);
	for (unsigned core = 0; core < 4; core++) {
		assert_int_equal(get(&fixture, core, FIXED_CTRL), 0);
		assert_int_equal(get(&fixture, core, EVTSEL0), 0);
		assert_int_equal(get(&fixture, core, CTRL), 0);
	}
	fixture_down(&fixture);
}

/* A counter of somebody else goes on all the while. */
static void test_others_go_on(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	set(&fixture, 0, EVTSEL0 + 5, EN_USR | INSNS);
	set(&fixture, 0, FIXED_CTRL, 0x200);
	set(&fixture, 0, CTRL, 0x400000020);
	run_blocks(&fixture, 1);
	add(&fixture, "core.INST_RETIRED.ANY:usr");
	add(&fixture, "core.INST_RETIRED.ANY_P:usr");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, FIXED_CTRL), 0x202);
	assert_int_equal(get(&fixture, 0, CTRL), 0x500000021);
	assert_int_equal(get(&fixture, 1, CTRL), 0x100000001);
	run_blocks(&fixture, 2);
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, CTRL), 0x400000020);
	run_blocks(&fixture, 4);
	assert_int_equal(count_of(&fixture, 0, 0), 2 * BLOCK_INSNS);
	assert_int_equal(count_of(&fixture, 1, 0), 2 * BLOCK_INSNS);
	assert_int_equal(pmu_session_end(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, FIXED_CTRL), 0x200);
	assert_int_equal(get(&fixture, 0, CTRL), 0x400000020);
	run_blocks(&fixture, 8);
	assert_int_equal(get(&fixture, 0, PMC0 + 5), 15 * BLOCK_INSNS);
	assert_int_equal(get(&fixture, 0, EVTSEL0), 0);
	fixture_down(&fixture);
}

static void test_refuses_what_is_in_use(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	/* As the kernel's watchdog has it: fixed counter 1, PMI and both rings. */
	set(&fixture, 3, FIXED_CTRL, 0xb0);
	set(&fixture, 3, CTRL, 0x200000000);
	add(&fixture, "core.CPU_CLK_UNHALTED.THREAD");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(fixture.ctx), "IA32_FIXED_CTR_CTRL of core3"));
	assert_int_equal(get(&fixture, 3, FIXED_CTRL), 0xb0);
	assert_int_equal(get(&fixture, 0, FIXED_CTRL), 0);
	fixture_down(&fixture);
}

static void test_sees_that_others_reprogrammed(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	add(&fixture, "core.INST_RETIRED.ANY");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	set(&fixture, 2, FIXED_CTRL, 0x033);
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), 0);
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	set(&fixture, 2, FIXED_CTRL, 0x031);
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(fixture.ctx), "IA32_FIXED_CTR_CTRL of core2"));
	fixture_down(&fixture);
}

/* Taken by force, a counter is given back with all its 48 bits. */
static void test_gives_back(void **state)
{
	const uint64_t general = 0x123480000001, fixed = 0xf00000000005;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	set(&fixture, 0, EVTSEL0, EN_USR | 0x3c);
	set(&fixture, 0, A_PMC0, general);
	set(&fixture, 0, FIXED_CTRL, 0x002);
	set(&fixture, 0, FIXED0, fixed);
	add(&fixture, "core.INST_RETIRED.ANY:usr");
	add(&fixture, "core.INST_RETIRED.ANY_P:usr");
	pmu_session_force(fixture.session);
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, EVTSEL0), EN_USR | INSNS);
	assert_int_equal(get(&fixture, 0, PMC0), 0);
	run_blocks(&fixture, 3);
	assert_int_equal(pmu_session_end(fixture.session, fixture.ctx), 0);
	assert_int_equal(get(&fixture, 0, EVTSEL0), EN_USR | 0x3c);
	assert_int_equal(get(&fixture, 0, PMC0), general);
	assert_int_equal(get(&fixture, 0, FIXED0), fixed);
	assert_int_equal(get(&fixture, 0, FIXED_CTRL), 0x002);
	assert_int_equal(get(&fixture, 0, CTRL), 0);
	fixture_down(&fixture);
}

/* Counting in cores leaves the uncore's freeze alone. */
static void test_uncore_is_left_alone(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture);
	set(&fixture, 0, 0x703, 1u << 22); /* the fixed counter of the UBox */
	set(&fixture, 0, GLOBAL_CTL, 1u << 31);
	add(&fixture, "core.INST_RETIRED.ANY");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), 0);
	run_blocks(&fixture, 1000);
	assert_int_equal(pmu_session_end(fixture.session, fixture.ctx), 0);
	run_blocks(&fixture, 1000);
	assert_int_equal(get(&fixture, 0, 0x704), 0);
	fixture_down(&fixture);
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
