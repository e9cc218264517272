/* Counts out of what counters and status registers hold, and what is left behind. */
#include <string.h>

#include "catalog/entries.h"
#include "memory_bus.h"
#include "pmulab/session.h"
#include "support/cmocka.h"

#define WRAP (UINT64_C(1) << 48)

/* 334291-001 tables 2-1, 2-5, 2-13 and 2-112; MC0 channel 0 is D20:F0. */
#define GLOBAL_CTL    0x700
#define GLOBAL_STATUS 0x701
#define U_FIXED_CTL   0x703
#define U_FIXED_CTR   0x704
#define C0_CTL0	      0xE01
#define C0_CTL1	      0xE02
#define C0_FILTER1    0xE06
#define C0_STATUS     0xE07
#define C0_CTR0	      0xE08
#define C0_CTR1	      0xE09
#define MC0_CTR0      0xA00A0
#define MC0_FIXED_CTR 0xA00D0
#define MC0_STATUS    0xA00F8

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_count *counts;
	size_t count;
};

static void fixture_up_for(struct fixture *fixture, const struct pmu_pmu *pmu, bool emulated)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	assert_int_equal(memory_bus_new(&fixture->bus, fixture->ctx, pmu, 1, emulated), 0);
	assert_int_equal(pmu_session_new(&fixture->session, fixture->ctx, fixture->bus), 0);
}

static void fixture_up(struct fixture *fixture, bool emulated)
{
	fixture_up_for(fixture, pmu_find_pmu("xeon-e5v4"), emulated);
}

static void fixture_down(struct fixture *fixture)
{
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

static void add(struct fixture *fixture, const char *event)
{
	struct pmu_selection selection;

	assert_int_equal(pmu_event_parse(fixture->ctx, NULL, event, &selection), 0);
	assert_true(pmu_session_add(fixture->session, fixture->ctx, &selection) >= 0);
}

static uint64_t *msr(struct fixture *fixture, uint32_t address)
{
	return memory_bus_at(fixture->bus, 0, PMU_SPACE_MSR, address);
}

static uint64_t *pci(struct fixture *fixture, uint32_t address)
{
	return memory_bus_at(fixture->bus, 0, PMU_SPACE_PCI, address);
}

static void start(struct fixture *fixture)
{
	assert_int_equal(pmu_session_start(fixture->session, fixture->ctx), 0);
}

static void collect(struct fixture *fixture)
{
	assert_int_equal(
	    pmu_session_read(fixture->session, fixture->ctx, &fixture->counts, &fixture->count), 0);
}

static void test_counts(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "cbo0.CLOCKTICKS");
	add(&fixture, "cbo0.LLC_VICTIMS.M_STATE");
	start(&fixture);
	*msr(&fixture, C0_CTR0) = 1000;
	*msr(&fixture, C0_CTR1) = 0xFFFFFFFFFFFF;
	collect(&fixture);
	assert_int_equal(fixture.count, 2);
	assert_int_equal(fixture.counts[0].count, 1000);
	assert_int_equal(fixture.counts[1].event, 1);
	assert_int_equal(fixture.counts[1].count, WRAP - 1);
	fixture_down(&fixture);
}

/* A status bit is one carry, reported once, of its own counter, and cleared to see the next one. */
static void test_wraps(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "cbo0.CLOCKTICKS");
	add(&fixture, "cbo0.LLC_VICTIMS.M_STATE");
	start(&fixture);
	*msr(&fixture, C0_CTR0) = 5;
	*msr(&fixture, C0_CTR1) = 7;
	*msr(&fixture, C0_STATUS) = 0x2;
	collect(&fixture);
	assert_int_equal(fixture.counts[0].count, 5);
	assert_int_equal(fixture.counts[1].count, WRAP + 7);
	assert_int_equal(*msr(&fixture, C0_STATUS), 0);

	collect(&fixture);
	assert_int_equal(fixture.counts[1].count, WRAP + 7);

	*msr(&fixture, C0_STATUS) = 0x2;
	collect(&fixture);
	assert_int_equal(fixture.counts[1].count, 2 * WRAP + 7);

	/* A new start begins anew. */
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), 0);
	start(&fixture);
	collect(&fixture);
	assert_int_equal(fixture.counts[1].count, 0);
	fixture_down(&fixture);
}

/* Table 2-114: bit 0 is the fixed counter, bit 1 counter 0. */
static void test_wraps_beside_a_fixed_counter(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "imc0.clock");
	add(&fixture, "imc0.CAS_COUNT.RD");
	start(&fixture);
	*pci(&fixture, MC0_FIXED_CTR) = 11;
	*pci(&fixture, MC0_CTR0) = 13;
	*pci(&fixture, MC0_STATUS) = 0x2;
	collect(&fixture);
	assert_int_equal(fixture.counts[0].count, 11);
	assert_int_equal(fixture.counts[1].count, WRAP + 13);
	*pci(&fixture, MC0_STATUS) = 0x1;
	collect(&fixture);
	assert_int_equal(fixture.counts[0].count, WRAP + 11);
	assert_int_equal(fixture.counts[1].count, WRAP + 13);
	fixture_down(&fixture);
}

/* By nothing but that it has fallen, from 48 bits. */
static void check_wrap(struct fixture *fixture, const char *event, uint32_t fixed)
{
	add(fixture, event);
	start(fixture);
	*msr(fixture, fixed) = WRAP - 10;
	collect(fixture);
	assert_int_equal(fixture->counts[0].count, WRAP - 10);
	*msr(fixture, fixed) = 20;
	collect(fixture);
	assert_int_equal(fixture->counts[0].count, WRAP + 20);
}

/* The UBox's fixed counter has no bit in BOX_STATUS (table 2-6): it can only be seen to fall. */
static void test_wrap_without_status(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	check_wrap(&fixture, "ubox.clock", U_FIXED_CTR);
	fixture_down(&fixture);
}

/* 327043-001 §2.2.2, table 2-5: 48 bits beside general counters of 44 (§2.2.3.2). */
static void test_wrap_of_a_wider_fixed_counter(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up_for(&fixture, pmu_find_pmu("xeon-e5"), false);
	check_wrap(&fixture, "xeon-e5/ubox.clock", 0xC09);
	fixture_down(&fixture);
}

/* The counter carries between the read of its value and that of its status. */
static void carry_after_read(void *arg, const struct pmu_access_op *op)
{
	struct fixture *fixture = arg;

	if (op->address != C0_CTR0)
		return;
	memory_bus_hook(fixture->bus, NULL, NULL);
	*msr(fixture, C0_CTR0) = 3;
	*msr(fixture, C0_STATUS) = 0x1;
}

static void test_wrap_while_reading(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "cbo0.CLOCKTICKS");
	start(&fixture);
	*msr(&fixture, C0_CTR0) = WRAP - 1;
	memory_bus_hook(fixture.bus, carry_after_read, &fixture);
	collect(&fixture);
	assert_int_equal(fixture.counts[0].count, WRAP + 3);
	fixture_down(&fixture);
}

/* §2.1.1.1: the overflow of any counter with ov_en freezes all, which makes counts too small. */
static void test_frozen_by_others(void **state)
{
	const struct pmu_count *counts;
	struct fixture fixture;
	size_t count;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "cbo0.CLOCKTICKS");
	start(&fixture);
	*msr(&fixture, GLOBAL_STATUS) = UINT64_C(1) << 21;
	assert_int_equal(pmu_session_read(fixture.session, fixture.ctx, &counts, &count),
			 PMU_E_CONFLICT);
	assert_non_null(strstr(pmu_message(fixture.ctx), "U_MSR_PMON_GLOBAL_STATUS"));
	assert_int_equal(count, 1);
	assert_false(counts[0].valid);
	assert_int_equal(counts[0].running_ns, 0);
	/* What was missed stays missing. */
	*msr(&fixture, GLOBAL_STATUS) = 0;
	collect(&fixture);
	assert_false(fixture.counts[0].valid);
	fixture_down(&fixture);
}

static void test_restores_what_it_found(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	*msr(&fixture, GLOBAL_CTL) = 0x40000003; /* wk_on_pmi, pmi_core_sel */
	*msr(&fixture, C0_CTL0) = 0x00400036;	 /* somebody counts here */
	*msr(&fixture, C0_CTR0) = 12345;
	*msr(&fixture, C0_CTL1) = 0x00000137; /* and left this behind */
	*msr(&fixture, C0_CTR1) = 999;
	*msr(&fixture, C0_FILTER1) = 0x18000000;
	add(&fixture, "cbo0.TOR_OCCUPANCY.OPCODE:opc=0x182");
	pmu_session_force(fixture.session);
	start(&fixture);
	assert_int_equal(*msr(&fixture, GLOBAL_CTL), 0x40000003);
	assert_int_equal(*msr(&fixture, C0_CTL0), 0x00400136);
	assert_int_equal(*msr(&fixture, C0_CTL1), 0);
	assert_int_equal(*msr(&fixture, C0_FILTER1), 0x18200000);
	*msr(&fixture, C0_CTR0) = 77;
	*msr(&fixture, C0_CTR1) = 0; /* as the box's reset leaves it */
	pmu_session_free(fixture.session);
	fixture.session = NULL;
	assert_int_equal(*msr(&fixture, GLOBAL_CTL), 0x40000003);
	assert_int_equal(*msr(&fixture, C0_CTL0), 0x00400036);
	assert_int_equal(*msr(&fixture, C0_CTR0), 12345);
	assert_int_equal(*msr(&fixture, C0_CTL1), 0x00000137);
	assert_int_equal(*msr(&fixture, C0_CTR1), 999);
	assert_int_equal(*msr(&fixture, C0_FILTER1), 0x18000000);
	fixture_down(&fixture);
}

/* Without force, a counter that somebody has enabled is named and nothing is written. */
static void test_refuses_what_is_in_use(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	*msr(&fixture, C0_CTL1) = 0x00400137;
	*msr(&fixture, C0_CTR1) = 999;
	add(&fixture, "cbo0.CLOCKTICKS");
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(fixture.ctx), "Cn_MSR_PMON_CTL1 of cbo0 on socket 0"));
	assert_non_null(strstr(pmu_message(fixture.ctx), "0x400137"));
	assert_int_equal(*msr(&fixture, GLOBAL_CTL), 0);
	assert_int_equal(*msr(&fixture, C0_CTL0), 0);
	pmu_session_free(fixture.session);
	fixture.session = NULL;
	assert_int_equal(*msr(&fixture, C0_CTL1), 0x00400137);
	assert_int_equal(*msr(&fixture, C0_CTR1), 999);
	fixture_down(&fixture);
}

static void test_sees_that_others_reprogrammed(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, false);
	add(&fixture, "cbo0.LLC_VICTIMS.M_STATE");
	add(&fixture, "cbo1.LLC_VICTIMS.M_STATE");
	start(&fixture);
	assert_int_equal(*msr(&fixture, C0_CTL0), 0x00400137);
	*msr(&fixture, C0_CTL0) = 0x00400237;
	assert_int_equal(pmu_session_stop(fixture.session, fixture.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(fixture.ctx), "from 0x400137 to 0x400237"));
	collect(&fixture);
	assert_int_equal(fixture.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(fixture.counts[i].valid, fixture.counts[i].instance == 1);
	fixture_down(&fixture);
}

/* What an emulated machine does not model is not programmed; what is real is. */
static void test_not_modelled(void **state)
{
	(void)state;
	for (int emulated = 0; emulated < 2; emulated++) {
		struct fixture fixture;

		fixture_up(&fixture, emulated);
		add(&fixture, "cbo0.RING_BL_USED.UP");
		add(&fixture, "cbo0.CLOCKTICKS");
		start(&fixture);
		assert_int_equal(*msr(&fixture, C0_CTL0), emulated ? 0x400000 : 0x40031D);
		assert_int_equal(*msr(&fixture, C0_CTL1), emulated ? 0 : 0x400000);
		collect(&fixture);
		assert_int_equal(fixture.count, 2);
		assert_int_equal(
		    pmu_session_event(fixture.session, fixture.counts[0].event)->event->model,
		    PMU_MODEL_ABSENT);
		fixture_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_wraps),
	    cmocka_unit_test(test_wraps_beside_a_fixed_counter),
	    cmocka_unit_test(test_wrap_without_status),
	    cmocka_unit_test(test_wrap_of_a_wider_fixed_counter),
	    cmocka_unit_test(test_wrap_while_reading),
	    cmocka_unit_test(test_frozen_by_others),
	    cmocka_unit_test(test_restores_what_it_found),
	    cmocka_unit_test(test_refuses_what_is_in_use),
	    cmocka_unit_test(test_sees_that_others_reprogrammed),
	    cmocka_unit_test(test_not_modelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
