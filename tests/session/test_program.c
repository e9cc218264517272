/*
 * Register writes of small sessions, worked out by hand from 334291-001: the order of §2.1.2 with
 * the reset before the programming, addresses of tables 2-1, 2-5, 2-13, 2-61 and 2-112, bits of
 * tables 2-2, 2-3, 2-7, 2-9, 2-14 to 2-19 and 2-113 to 2-115.
 */
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "support/cmocka.h"
#include "trace.h"

/* GLOBAL_CTL 0x700: frz_all is bit 31, unfrz_all bit 29. GLOBAL_STATUS 0x701: 35:34, 29:21, 2:0. */
#define FREEZE	     "0 700=80000000\n"
#define UNFREEZE     "0 700=20000000\n"
#define CLEAR_GLOBAL "0 701=C3FE00007\n"

static void test_fixed_counter_of_a_box_without_control(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "ubox.clock"), 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text, FREEZE "0 708=3\n"      /* BOX_STATUS.ov 1:0 */
						      "0 704=0\n"      /* the counter */
						      "0 703=400000\n" /* its control: en */
			    CLEAR_GLOBAL UNFREEZE);
	/* GLOBAL_CTL, the counter and the fixed control are read to be restored. */
	assert_int_equal(traced.trace.reads, 3);

	trace_clear(&traced.trace);
	assert_int_equal(pmu_session_stop(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text, FREEZE);

	trace_clear(&traced.trace);
	pmu_session_free(traced.session);
	traced.session = NULL;
	assert_string_equal(traced.trace.text, FREEZE "0 704=0\n0 703=0\n" UNFREEZE);
	traced_fini(&traced);
}

static void test_filters_and_restricted_counters(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "cbo3.LLC_LOOKUP.DATA_READ:state=1"), 0);
	assert_int_equal(traced_add(&traced, "cbo3.TOR_OCCUPANCY.MISS_OPCODE:opc=0x182"), 1);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text, "0 E30=30003\n" /* rst_ctrl, rst_ctrs, bits 17:16 */
			    FREEZE "0 E37=F\n"		       /* BOX_STATUS.ov 3:0 */
					       "0 E35=20000\n" /* FILTER0.state 23:17 */
					       "0 E36=18200000\n" /* FILTER1.opc 28:20 */
					       "0 E32=400334\n"	  /* LLC_LOOKUP makes room for.. */
					       "0 E31=400336\n" /* TOR_OCCUPANCY, counter 0 only */
			    CLEAR_GLOBAL UNFREEZE);

	trace_clear(&traced.trace);
	pmu_session_free(traced.session);
	traced.session = NULL;
	assert_string_equal(traced.trace.text,
			    FREEZE "0 E38=0\n0 E39=0\n0 E3A=0\n0 E3B=0\n"
				   "0 E31=0\n0 E32=0\n0 E33=0\n0 E34=0\n0 E35=0\n0 E36=0\n"
				   "0 E30=30000\n" UNFREEZE);
	traced_fini(&traced);
}

/* MC0 channel 0 is D20:F0: 20 << 15 = 0xA0000. */
static void test_pci_box_with_fixed_counter(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "imc0.clock"), 0);
	assert_int_equal(traced_add(&traced, "imc0.CAS_COUNT.RD"), 1);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text,
			    "0 A00F4=30003\n" FREEZE
			    "0 A00F8=1F\n" /* ov 4:0, bit 0 is the fixed counter's */
			    "0 A00D0=0\n"
			    "0 A00F0=400000\n"
			    "0 A00D8=400304\n" /* en, umask 3, code 4 */
			    CLEAR_GLOBAL UNFREEZE);
	traced_fini(&traced);
}

static void count_text(const struct trace *trace, const char *wanted, unsigned expected)
{
	unsigned found = 0;

	for (const char *at = trace->text; (at = strstr(at, wanted)); at++)
		found++;
	assert_int_equal(found, expected);
}

static void test_every_instance_of_every_socket(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 2);
	assert_int_equal(traced_add(&traced, "cbo.CLOCKTICKS"), 0);
	assert_int_equal(traced_add(&traced, "cbo.LLC_VICTIMS.M_STATE"), 1);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	count_text(&traced.trace, "=400000\n", 2 * 24);
	count_text(&traced.trace, "=400137\n", 2 * 24);
	count_text(&traced.trace, "\n1 F71=400000\n", 1); /* socket 1, CBo 23, control 0 */
	/*
	 * A socket: GLOBAL_CTL read, frozen, unfrozen, GLOBAL_STATUS cleared. A CBo: four controls
	 * and four counters read; reset, status, two controls written. Nothing else.
	 */
	assert_int_equal(traced.trace.reads, 2 * (1 + 24 * 8));
	assert_int_equal(traced.trace.writes, 2 * (3 + 24 * 4));
	print_message("start: %u reads, %u writes for 2 events in 48 CBos\n", traced.trace.reads,
		      traced.trace.writes);

	trace_clear(&traced.trace);
	const struct pmu_count *counts;
	size_t count;

	assert_int_equal(pmu_session_read(traced.session, traced.ctx, &counts, &count), 0);
	assert_int_equal(count, 2 * 2 * 24);
	/* A socket: GLOBAL_STATUS. A CBo: two counters and BOX_STATUS. */
	assert_int_equal(traced.trace.reads, 2 * (1 + 24 * 3));
	assert_int_equal(traced.trace.writes, 0);
	print_message("read: %u reads for %zu counts\n", traced.trace.reads, count);
	traced_fini(&traced);
}

/* All sockets stop before the first one is programmed, and go on together at the end. */
static void test_sockets_start_together(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 2);
	assert_int_equal(traced_add(&traced, "ubox.clock"), 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text, "0 700=80000000\n1 700=80000000\n"
					       "0 708=3\n0 704=0\n0 703=400000\n"
					       "1 708=3\n1 704=0\n1 703=400000\n"
					       "0 701=C3FE00007\n1 701=C3FE00007\n"
					       "0 700=20000000\n1 700=20000000\n");
	traced_fini(&traced);
}

/* FILTER1.nid 15:0 is a mask of nodes; the node of a socket is its own in each (§1.7, §2.3.2.3). */
static void test_nodes_differ_by_socket(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 2);
	assert_int_equal(traced_add(&traced, "cbo0.TOR_INSERTS.NID_OPCODE:opc=0x182:nid=my_node"),
			 0);
	assert_int_equal(
	    traced_add(&traced, "cbo1.TOR_INSERTS.NID_OPCODE:opc=0x182:nid=other_nodes"), 1);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	count_text(&traced.trace, "0 E06=18200001\n", 1);
	count_text(&traced.trace, "1 E06=18200002\n", 1);
	count_text(&traced.trace, "0 E16=18200002\n", 1);
	count_text(&traced.trace, "1 E16=18200001\n", 1);
	traced_fini(&traced);
}

/* A thread filter is switched on in the control of its counter only (table 2-16, bit 19). */
static void test_thread_filter_switch(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "cbo0.LLC_VICTIMS.M_STATE:tid=0x3E"), 0);
	assert_int_equal(traced_add(&traced, "cbo0.LLC_VICTIMS.M_STATE"), 1);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	count_text(&traced.trace, "0 E05=3E\n", 1);
	count_text(&traced.trace, "0 E01=480137\n", 1);
	count_text(&traced.trace, "0 E02=400137\n", 1);
	traced_fini(&traced);
}

/*
 * §2.4.2, §2.10.2, §2.11.2.2: controls of SBo, R2PCIe and R3QPI are written twice, first with
 * en = 0. SBo 1 begins at 0x72A (table 2-44): control 0x72A, CTL0 0x72B, status 0x72F.
 */
static void test_controls_written_twice(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "sbo1.CLOCKTICKS"), 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_string_equal(traced.trace.text,
			    "0 72A=30003\n" FREEZE
			    "0 72F=F\n0 72B=0\n0 72B=400000\n" CLEAR_GLOBAL UNFREEZE);
	traced_fini(&traced);
}

static void test_states(void **state)
{
	const struct pmu_count *counts;
	struct traced traced;
	size_t count;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(pmu_session_stop(traced.session, traced.ctx), PMU_E_STATE);
	assert_int_equal(pmu_session_read(traced.session, traced.ctx, &counts, &count),
			 PMU_E_STATE);
	assert_int_equal(traced_add(&traced, "ubox.clock"), 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), PMU_E_STATE);
	assert_int_equal(traced_add(&traced, "cbo.CLOCKTICKS"), PMU_E_STATE);
	assert_int_equal(pmu_session_stop(traced.session, traced.ctx), 0);
	assert_int_equal(pmu_session_stop(traced.session, traced.ctx), PMU_E_STATE);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);
	traced_fini(&traced);
}

/* A session that was never started has changed nothing. */
static void test_nothing_is_written_before_the_start(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 2);
	assert_int_equal(traced_add(&traced, "cbo.CLOCKTICKS"), 0);
	pmu_session_free(traced.session);
	traced.session = NULL;
	assert_int_equal(traced.trace.writes, 0);
	traced_fini(&traced);
}

#define E5_CBO0_BOX_CTL 0xD04 /* 327043-001; the next CBo's is 0x20 higher */

struct failing_ops {
	struct bus_ops ops;
	const struct bus_ops *sound;
};

static int all_but_one(struct pmu_bus *bus, struct pmu_ctx *ctx,
		       const struct bus_register_ref *place, const struct pmu_access_op *op)
{
	if (op->address == E5_CBO0_BOX_CTL)
		return PMU_E_IO;
	return ((const struct failing_ops *)bus->ops)->sound->write(bus, ctx, place, op);
}

/* An E5 is stopped box by box; one that cannot be reached does not keep the next from going on. */
static void test_boxes_go_on_without_the_one_that_fails(void **state)
{
	struct failing_ops failing;
	struct traced traced;

	(void)state;
	traced_init_on(&traced, pmu_find_pmu("xeon-e5"), 1);
	assert_true(traced_add(&traced, "cbo0.CLOCKTICKS") >= 0);
	assert_true(traced_add(&traced, "cbo1.CLOCKTICKS") >= 0);
	assert_int_equal(pmu_session_start(traced.session, traced.ctx), 0);

	failing = (struct failing_ops){.ops = *traced.bus->ops, .sound = traced.bus->ops};
	failing.ops.write = all_but_one;
	traced.bus->ops = &failing.ops;
	trace_clear(&traced.trace);
	assert_int_equal(pmu_session_end(traced.session, traced.ctx), PMU_E_IO);
	assert_non_null(strstr(traced.trace.text, "0 D24=0\n"));
	traced.bus->ops = failing.sound;
	traced_fini(&traced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fixed_counter_of_a_box_without_control),
	    cmocka_unit_test(test_filters_and_restricted_counters),
	    cmocka_unit_test(test_pci_box_with_fixed_counter),
	    cmocka_unit_test(test_every_instance_of_every_socket),
	    cmocka_unit_test(test_sockets_start_together),
	    cmocka_unit_test(test_nodes_differ_by_socket),
	    cmocka_unit_test(test_thread_filter_switch),
	    cmocka_unit_test(test_controls_written_twice),
	    cmocka_unit_test(test_states),
	    cmocka_unit_test(test_nothing_is_written_before_the_start),
	    cmocka_unit_test(test_boxes_go_on_without_the_one_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
