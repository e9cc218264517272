/* Counts out of what counters and status registers hold, and what is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/entries.h"
#include "memory_bus.h"
#include "pmulab/session.h"

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

struct bench {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_count *counts;
	size_t count;
};

static void bench_init(struct bench *bench, bool emulated)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");

	memset(bench, 0, sizeof(*bench));
	assert_int_equal(pmu_ctx_new(&bench->ctx), 0);
	assert_int_equal(memory_bus_new(&bench->bus, bench->ctx, pmu, 1, emulated), 0);
	assert_int_equal(pmu_session_new(&bench->session, bench->ctx, bench->bus), 0);
}

static void bench_fini(struct bench *bench)
{
	pmu_session_free(bench->session);
	pmu_bus_free(bench->bus);
	pmu_ctx_free(bench->ctx);
}

static void add(struct bench *bench, const char *event)
{
	struct pmu_selection selection;

	assert_int_equal(pmu_event_parse(bench->ctx, NULL, event, &selection), 0);
	assert_true(pmu_session_add(bench->session, bench->ctx, &selection) >= 0);
}

static uint64_t *msr(struct bench *bench, uint32_t address)
{
	return memory_bus_at(bench->bus, 0, PMU_SPACE_MSR, address);
}

static uint64_t *pci(struct bench *bench, uint32_t address)
{
	return memory_bus_at(bench->bus, 0, PMU_SPACE_PCI, address);
}

static void start(struct bench *bench)
{
	assert_int_equal(pmu_session_start(bench->session, bench->ctx), 0);
}

static void collect(struct bench *bench)
{
	assert_int_equal(
	    pmu_session_read(bench->session, bench->ctx, &bench->counts, &bench->count), 0);
}

static void test_counts(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "cbo0.CLOCKTICKS");
	add(&bench, "cbo0.LLC_VICTIMS.M_STATE");
	start(&bench);
	*msr(&bench, C0_CTR0) = 1000;
	*msr(&bench, C0_CTR1) = 0xFFFFFFFFFFFF;
	collect(&bench);
	assert_int_equal(bench.count, 2);
	assert_int_equal(bench.counts[0].count, 1000);
	assert_int_equal(bench.counts[1].event, 1);
	assert_int_equal(bench.counts[1].count, WRAP - 1);
	bench_fini(&bench);
}

/* A status bit is one carry, reported once, of its own counter, and cleared to see the next one. */
static void test_wraps(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "cbo0.CLOCKTICKS");
	add(&bench, "cbo0.LLC_VICTIMS.M_STATE");
	start(&bench);
	*msr(&bench, C0_CTR0) = 5;
	*msr(&bench, C0_CTR1) = 7;
	*msr(&bench, C0_STATUS) = 0x2;
	collect(&bench);
	assert_int_equal(bench.counts[0].count, 5);
	assert_int_equal(bench.counts[1].count, WRAP + 7);
	assert_int_equal(*msr(&bench, C0_STATUS), 0);

	collect(&bench);
	assert_int_equal(bench.counts[1].count, WRAP + 7);

	*msr(&bench, C0_STATUS) = 0x2;
	collect(&bench);
	assert_int_equal(bench.counts[1].count, 2 * WRAP + 7);

	/* A new start begins anew. */
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), 0);
	start(&bench);
	collect(&bench);
	assert_int_equal(bench.counts[1].count, 0);
	bench_fini(&bench);
}

/* Table 2-114: bit 0 is the fixed counter, bit 1 counter 0. */
static void test_wraps_beside_a_fixed_counter(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "imc0.clock");
	add(&bench, "imc0.CAS_COUNT.RD");
	start(&bench);
	*pci(&bench, MC0_FIXED_CTR) = 11;
	*pci(&bench, MC0_CTR0) = 13;
	*pci(&bench, MC0_STATUS) = 0x2;
	collect(&bench);
	assert_int_equal(bench.counts[0].count, 11);
	assert_int_equal(bench.counts[1].count, WRAP + 13);
	*pci(&bench, MC0_STATUS) = 0x1;
	collect(&bench);
	assert_int_equal(bench.counts[0].count, WRAP + 11);
	assert_int_equal(bench.counts[1].count, WRAP + 13);
	bench_fini(&bench);
}

/* The UBox's fixed counter has no bit in BOX_STATUS (table 2-6): it can only be seen to fall. */
static void test_wrap_without_status(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "ubox.clock");
	start(&bench);
	*msr(&bench, U_FIXED_CTR) = WRAP - 10;
	collect(&bench);
	assert_int_equal(bench.counts[0].count, WRAP - 10);
	*msr(&bench, U_FIXED_CTR) = 20;
	collect(&bench);
	assert_int_equal(bench.counts[0].count, WRAP + 20);
	bench_fini(&bench);
}

/* The counter carries between the read of its value and that of its status. */
static void carry_after_read(void *arg, const struct pmu_access_op *op)
{
	struct bench *bench = arg;

	if (op->address != C0_CTR0)
		return;
	memory_bus_hook(bench->bus, NULL, NULL);
	*msr(bench, C0_CTR0) = 3;
	*msr(bench, C0_STATUS) = 0x1;
}

static void test_wrap_while_reading(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "cbo0.CLOCKTICKS");
	start(&bench);
	*msr(&bench, C0_CTR0) = WRAP - 1;
	memory_bus_hook(bench.bus, carry_after_read, &bench);
	collect(&bench);
	assert_int_equal(bench.counts[0].count, WRAP + 3);
	bench_fini(&bench);
}

/* §2.1.1.1: the overflow of any counter with ov_en freezes all, which makes counts too small. */
static void test_frozen_by_others(void **fixture)
{
	const struct pmu_count *counts;
	struct bench bench;
	size_t count;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "cbo0.CLOCKTICKS");
	start(&bench);
	*msr(&bench, GLOBAL_STATUS) = UINT64_C(1) << 21;
	assert_int_equal(pmu_session_read(bench.session, bench.ctx, &counts, &count),
			 PMU_E_CONFLICT);
	assert_non_null(strstr(pmu_message(bench.ctx), "U_MSR_PMON_GLOBAL_STATUS"));
	assert_int_equal(count, 1);
	assert_false(counts[0].valid);
	assert_int_equal(counts[0].running_ns, 0);
	/* What was missed stays missing. */
	*msr(&bench, GLOBAL_STATUS) = 0;
	collect(&bench);
	assert_false(bench.counts[0].valid);
	bench_fini(&bench);
}

static void test_restores_what_it_found(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	*msr(&bench, GLOBAL_CTL) = 0x40000003; /* wk_on_pmi, pmi_core_sel */
	*msr(&bench, C0_CTL0) = 0x00400036;    /* somebody counts here */
	*msr(&bench, C0_CTR0) = 12345;
	*msr(&bench, C0_CTL1) = 0x00000137; /* and left this behind */
	*msr(&bench, C0_CTR1) = 999;
	*msr(&bench, C0_FILTER1) = 0x18000000;
	add(&bench, "cbo0.TOR_OCCUPANCY.OPCODE:opc=0x182");
	pmu_session_force(bench.session);
	start(&bench);
	assert_int_equal(*msr(&bench, GLOBAL_CTL), 0x40000003);
	assert_int_equal(*msr(&bench, C0_CTL0), 0x00400136);
	assert_int_equal(*msr(&bench, C0_CTL1), 0);
	assert_int_equal(*msr(&bench, C0_FILTER1), 0x18200000);
	*msr(&bench, C0_CTR0) = 77;
	*msr(&bench, C0_CTR1) = 0; /* as the box's reset leaves it */
	pmu_session_free(bench.session);
	bench.session = NULL;
	assert_int_equal(*msr(&bench, GLOBAL_CTL), 0x40000003);
	assert_int_equal(*msr(&bench, C0_CTL0), 0x00400036);
	assert_int_equal(*msr(&bench, C0_CTR0), 12345);
	assert_int_equal(*msr(&bench, C0_CTL1), 0x00000137);
	assert_int_equal(*msr(&bench, C0_CTR1), 999);
	assert_int_equal(*msr(&bench, C0_FILTER1), 0x18000000);
	bench_fini(&bench);
}

/* Without force, a counter that somebody has enabled is named and nothing is written. */
static void test_refuses_what_is_in_use(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	*msr(&bench, C0_CTL1) = 0x00400137;
	*msr(&bench, C0_CTR1) = 999;
	add(&bench, "cbo0.CLOCKTICKS");
	assert_int_equal(pmu_session_start(bench.session, bench.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(bench.ctx), "Cn_MSR_PMON_CTL1 of cbo0 on socket 0"));
	assert_non_null(strstr(pmu_message(bench.ctx), "0x400137"));
	assert_int_equal(*msr(&bench, GLOBAL_CTL), 0);
	assert_int_equal(*msr(&bench, C0_CTL0), 0);
	pmu_session_free(bench.session);
	bench.session = NULL;
	assert_int_equal(*msr(&bench, C0_CTL1), 0x00400137);
	assert_int_equal(*msr(&bench, C0_CTR1), 999);
	bench_fini(&bench);
}

static void test_sees_that_others_reprogrammed(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, false);
	add(&bench, "cbo0.LLC_VICTIMS.M_STATE");
	add(&bench, "cbo1.LLC_VICTIMS.M_STATE");
	start(&bench);
	assert_int_equal(*msr(&bench, C0_CTL0), 0x00400137);
	*msr(&bench, C0_CTL0) = 0x00400237;
	assert_int_equal(pmu_session_stop(bench.session, bench.ctx), PMU_E_BUSY);
	assert_non_null(strstr(pmu_message(bench.ctx), "from 0x400137 to 0x400237"));
	collect(&bench);
	assert_int_equal(bench.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(bench.counts[i].valid, bench.counts[i].instance == 1);
	bench_fini(&bench);
}

/* What an emulated machine does not model is not programmed; what is real is. */
static void test_not_modelled(void **fixture)
{
	(void)fixture;
	for (int emulated = 0; emulated < 2; emulated++) {
		struct bench bench;

		bench_init(&bench, emulated);
		add(&bench, "cbo0.RING_BL_USED.UP");
		add(&bench, "cbo0.CLOCKTICKS");
		start(&bench);
		assert_int_equal(*msr(&bench, C0_CTL0), emulated ? 0x400000 : 0x40031D);
		assert_int_equal(*msr(&bench, C0_CTL1), emulated ? 0 : 0x400000);
		collect(&bench);
		assert_int_equal(bench.count, 2);
		assert_int_equal(
		    pmu_session_event(bench.session, bench.counts[0].event)->event->model,
		    PMU_MODEL_ABSENT);
		bench_fini(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_wraps),
	    cmocka_unit_test(test_wraps_beside_a_fixed_counter),
	    cmocka_unit_test(test_wrap_without_status),
	    cmocka_unit_test(test_wrap_while_reading),
	    cmocka_unit_test(test_frozen_by_others),
	    cmocka_unit_test(test_restores_what_it_found),
	    cmocka_unit_test(test_refuses_what_is_in_use),
	    cmocka_unit_test(test_sees_that_others_reprogrammed),
	    cmocka_unit_test(test_not_modelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
