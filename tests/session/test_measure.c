/*
 * Sessions on emulated machines: clocks that have to agree, transactions that the machine itself
 * counts, and no rule of the manual broken on the way.
 */
#include <string.h>

#include "bus/emulated.h"
#include "machine/access.h"
#include "pmulab/session.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/untranslated.h"

#define LINE_BYTES 64
#define LINES	   20000
#define BASE	   0x10000000u /* virtual, of the lines that are touched */

struct fixture {
	struct pmu_ctx *ctx;
	const struct pmu_machine *desc;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_count *counts;
	size_t count;
	unsigned violations;
};

static void violated(void *arg, const struct pmon_violation *violation)
{
	struct fixture *fixture = arg;

	fixture->violations++;
	print_error("%s = 0x%llX: %s (%s)\n", violation->reg, (unsigned long long)violation->value,
		    violation->rule, violation->source);
}

static void fixture_up(struct fixture *fixture, const char *machine)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->desc = untranslated(machine);
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	assert_int_equal(pmu_bus_emulated(&fixture->bus, fixture->ctx, fixture->desc), 0);
	switch_prefetchers_off(emul_machine(bus_emulated_emul(fixture->bus)));
	pmon_strict(emul_pmon(bus_emulated_emul(fixture->bus)), violated, fixture);
	assert_int_equal(pmu_session_new(&fixture->session, fixture->ctx, fixture->bus), 0);
}

static void fixture_down(struct fixture *fixture)
{
	pmu_session_free(fixture->session);
	assert_int_equal(fixture->violations, 0);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

static unsigned add(struct fixture *fixture, const char *event)
{
	struct pmu_selection selection;
	int index;

	assert_int_equal(pmu_event_parse(fixture->ctx, NULL, event, &selection), 0);
	index = pmu_session_add(fixture->session, fixture->ctx, &selection);
	assert_true(index >= 0);
	return (unsigned)index;
}

/* Loads each of @lines lines once. */
static void load_lines(struct fixture *fixture, unsigned lines)
{
	struct machine *machine = emul_machine(bus_emulated_emul(fixture->bus));
	const struct machine_insn insn = {0};
	struct machine_address_space *space;
	struct machine_block block;
	struct machine_hart *core;

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	core = machine_hart_enter(machine, space, 0);
	machine_block_init(machine, &block, 0x400000, 16, 4, 1, 0);
	for (unsigned i = 0; i < lines; i++) {
		machine_run(core, &block);
		machine_load(core, BASE + i * LINE_BYTES, 8, &insn);
	}
	machine_hart_leave(core);
	machine_drain(machine);
	machine_address_space_free(space);
}

static void measure(struct fixture *fixture, unsigned lines)
{
	if (pmu_session_start(fixture->session, fixture->ctx))
		fail_msg("%s", pmu_message(fixture->ctx));
	load_lines(fixture, lines);
	assert_int_equal(pmu_session_stop(fixture->session, fixture->ctx), 0);
	assert_int_equal(
	    pmu_session_read(fixture->session, fixture->ctx, &fixture->counts, &fixture->count), 0);
}

static uint64_t total(const struct fixture *fixture, unsigned event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->counts[i].event == event)
			sum += fixture->counts[i].count;
	return sum;
}

static unsigned rows(const struct fixture *fixture, unsigned event)
{
	unsigned count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->counts[i].event == event;
	return count;
}

/* What the part has, by its own registers: docs/machine.md and machines/. */
static void test_instances(void **state)
{
	static const struct {
		const char *machine;
		unsigned cbo, ha, imc;
	} parts[] = {
	    {"xeon-e5v4-4c", 4, 1, 4},
	    {"xeon-e5-2699v4-2s", 44, 4, 8},
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct pmu_selection absent;
		struct fixture fixture;

		fixture_up(&fixture, parts[i].machine);
		add(&fixture, "cbo.CLOCKTICKS");
		add(&fixture, "ha.CLOCKTICKS");
		add(&fixture, "imc.clock");
		measure(&fixture, 10);
		assert_int_equal(rows(&fixture, 0), parts[i].cbo);
		assert_int_equal(rows(&fixture, 1), parts[i].ha);
		assert_int_equal(rows(&fixture, 2), parts[i].imc);
		assert_int_equal(pmu_event_parse(fixture.ctx, NULL, "cbo22.CLOCKTICKS", &absent),
				 0);
		pmu_session_free(fixture.session);
		assert_int_equal(pmu_session_new(&fixture.session, fixture.ctx, fixture.bus), 0);
		assert_int_equal(pmu_session_add(fixture.session, fixture.ctx, &absent),
				 PMU_E_UNSUPPORTED);
		fixture_down(&fixture);
	}
}

/* Each clock is cut to whole cycles. */
static void check_clock(const struct fixture *fixture, unsigned event, unsigned mhz, uint64_t uclk)
{
	const uint64_t cycles = uclk * mhz / fixture->desc->uclk_mhz;

	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->counts[i].event == event)
			assert_in_range(fixture->counts[i].count, cycles - 1, cycles + 1);
	assert_true(rows(fixture, event) > 0);
}

/* One uncore clock counts in all boxes, and the other clocks in their proportion to it. */
static void check_clocks(const char *machine, const char *const events[6])
{
	struct fixture fixture;
	uint64_t uclk;

	fixture_up(&fixture, machine);
	for (unsigned i = 0; i < 6; i++)
		add(&fixture, events[i]);
	measure(&fixture, LINES);
	uclk = total(&fixture, 0) / fixture.desc->sockets;
	assert_true(uclk > LINES);
	for (size_t i = 0; i < fixture.count; i++)
		if (fixture.counts[i].event < 3)
			assert_int_equal(fixture.counts[i].count, uclk);
	check_clock(&fixture, 3, fixture.desc->dclk_mhz, uclk);
	check_clock(&fixture, 4, fixture.desc->pclk_mhz, uclk);
	check_clock(&fixture, 5, fixture.desc->qfclk_mhz, uclk);
	fixture_down(&fixture);
}

/* What freezes all of an E5 v4 is no register of an E5: its UBox is stopped by its controls. */
static void test_clocks(void **state)
{
	static const char *const v4[] = {"ubox.clock", "cbo.CLOCKTICKS", "ha.CLOCKTICKS",
					 "imc.clock",  "pcu.CLOCKTICKS", "qpi.CLOCKTICKS"};
	static const char *const e5[] = {"xeon-e5/ubox.clock",	   "xeon-e5/cbo.CLOCKTICKS",
					 "xeon-e5/ha.CLOCKTICKS",  "xeon-e5/imc.clock",
					 "xeon-e5/pcu.CLOCKTICKS", "xeon-e5/qpi.CLOCKTICKS"};

	(void)state;
	check_clocks("xeon-e5-2650v4-2s", v4);
	check_clocks("xeon-e5-2680-2s", e5);
}

/* Lines that nobody has yet: each is one DRd that misses, one read at home, one CAS. */
static void test_traffic(void **state)
{
	struct machine_statistics stats;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	unsigned drd = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	unsigned occupancy = add(&fixture, "cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd");
	unsigned busy = add(&fixture, "cbo.COUNTER0_OCCUPANCY:thresh=1");
	unsigned reads = add(&fixture, "ha.REQUESTS.READS");
	unsigned cas = add(&fixture, "imc.CAS_COUNT.RD");
	unsigned clock = add(&fixture, "imc.clock");

	measure(&fixture, LINES);
	machine_statistics(emul_machine(bus_emulated_emul(fixture.bus)), &stats);
	assert_int_equal(total(&fixture, drd), LINES);
	assert_int_equal(total(&fixture, reads), stats.home_reads);
	assert_int_equal(total(&fixture, cas), stats.cas_reads);
	/* The one line of code is a miss of its own, of another opcode. */
	assert_int_equal(stats.home_reads, LINES + 1);
	assert_true(total(&fixture, occupancy) > total(&fixture, busy));
	assert_true(total(&fixture, busy) > 0);
	assert_true(total(&fixture, clock) > 0);
	fixture_down(&fixture);
}

/* Two sockets: the first core's pages are its own node's, so nothing goes to the other. */
static void test_nodes(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5-2699v4-2s");
	unsigned mine = add(&fixture, "cbo.TOR_INSERTS.NID_MISS_OPCODE:opc=DRd:nid=my_node");

	measure(&fixture, LINES);
	assert_int_equal(total(&fixture, mine), LINES);
	fixture_down(&fixture);

	fixture_up(&fixture, "xeon-e5-2699v4-2s");
	unsigned others = add(&fixture, "cbo.TOR_INSERTS.NID_MISS_OPCODE:opc=DRd:nid=other_nodes");

	measure(&fixture, LINES);
	assert_int_equal(total(&fixture, others), 0);
	fixture_down(&fixture);
}

/* The same twice, to the last digit; and nothing counts between stop and start. */
static void test_repeated(void **state)
{
	uint64_t first, clocks;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	unsigned lookups = add(&fixture, "cbo.LLC_LOOKUP.ANY:state=ANY");
	unsigned clock = add(&fixture, "ubox.clock");

	measure(&fixture, LINES);
	first = total(&fixture, lookups);
	clocks = total(&fixture, clock);
	load_lines(&fixture, LINES);
	assert_int_equal(
	    pmu_session_read(fixture.session, fixture.ctx, &fixture.counts, &fixture.count), 0);
	assert_int_equal(total(&fixture, lookups), first);
	assert_int_equal(total(&fixture, clock), clocks);
	fixture_down(&fixture);

	fixture_up(&fixture, "xeon-e5v4-4c");
	add(&fixture, "cbo.LLC_LOOKUP.ANY:state=ANY");
	add(&fixture, "ubox.clock");
	measure(&fixture, LINES);
	assert_int_equal(total(&fixture, lookups), first);
	assert_int_equal(total(&fixture, clock), clocks);
	fixture_down(&fixture);
}

/* What is not modelled is not programmed, and its rows are there all the same. */
static void test_not_modelled(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	unsigned absent = add(&fixture, "cbo.RING_BL_USED.UP");

	measure(&fixture, 10);
	assert_int_equal(rows(&fixture, absent), 4);
	assert_int_equal(pmu_session_event(fixture.session, absent)->event->model,
			 PMU_MODEL_ABSENT);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_instances), cmocka_unit_test(test_clocks),
	    cmocka_unit_test(test_traffic),   cmocka_unit_test(test_nodes),
	    cmocka_unit_test(test_repeated),  cmocka_unit_test(test_not_modelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
