/*
 * Sessions on emulated machines: clocks that have to agree, transactions that the machine itself
 * counts, and no rule of the manual broken on the way.
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

#define LINE_BYTES 64
#define LINES	   20000
#define BASE	   0x10000000u /* virtual, of the lines that are touched */

struct bench {
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
	struct bench *bench = arg;

	bench->violations++;
	print_error("%s = 0x%llX: %s (%s)\n", violation->reg, (unsigned long long)violation->value,
		    violation->rule, violation->source);
}

static void bench_init(struct bench *bench, const char *machine)
{
	memset(bench, 0, sizeof(*bench));
	bench->desc = pmu_find_machine(machine);
	assert_int_equal(pmu_ctx_new(&bench->ctx), 0);
	assert_int_equal(pmu_bus_emulated(&bench->bus, bench->ctx, bench->desc), 0);
	pmon_strict(emul_pmon(bus_emulated_emul(bench->bus)), violated, bench);
	assert_int_equal(pmu_session_new(&bench->session, bench->ctx, bench->bus), 0);
}

static void bench_fini(struct bench *bench)
{
	pmu_session_free(bench->session);
	assert_int_equal(bench->violations, 0);
	pmu_bus_free(bench->bus);
	pmu_ctx_free(bench->ctx);
}

static unsigned add(struct bench *bench, const char *event)
{
	struct pmu_selection selection;
	int index;

	assert_int_equal(pmu_event_parse(bench->ctx, NULL, event, &selection), 0);
	index = pmu_session_add(bench->session, bench->ctx, &selection);
	assert_true(index >= 0);
	return (unsigned)index;
}

/* Loads each of @lines lines once. */
static void load_lines(struct bench *bench, unsigned lines)
{
	struct machine *machine = emul_machine(bus_emulated_emul(bench->bus));
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

static void measure(struct bench *bench, unsigned lines)
{
	if (pmu_session_start(bench->session, bench->ctx))
		fail_msg("%s", pmu_message(bench->ctx));
	load_lines(bench, lines);
	assert_int_equal(pmu_session_stop(bench->session, bench->ctx), 0);
	assert_int_equal(
	    pmu_session_read(bench->session, bench->ctx, &bench->counts, &bench->count), 0);
}

static uint64_t total(const struct bench *bench, unsigned event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bench->count; i++)
		if (bench->counts[i].event == event)
			sum += bench->counts[i].count;
	return sum;
}

static unsigned rows(const struct bench *bench, unsigned event)
{
	unsigned count = 0;

	for (size_t i = 0; i < bench->count; i++)
		count += bench->counts[i].event == event;
	return count;
}

/* What the part has, by its own registers: docs/machine.md and machines/. */
static void test_instances(void **fixture)
{
	static const struct {
		const char *machine;
		unsigned cbo, ha, imc;
	} parts[] = {
	    {"xeon-e5v4-4c", 4, 1, 4},
	    {"xeon-e5-2699v4-2s", 44, 4, 8},
	};

	(void)fixture;
	for (size_t i = 0; i < 2; i++) {
		struct pmu_selection absent;
		struct bench bench;

		bench_init(&bench, parts[i].machine);
		add(&bench, "cbo.CLOCKTICKS");
		add(&bench, "ha.CLOCKTICKS");
		add(&bench, "imc.clock");
		measure(&bench, 10);
		assert_int_equal(rows(&bench, 0), parts[i].cbo);
		assert_int_equal(rows(&bench, 1), parts[i].ha);
		assert_int_equal(rows(&bench, 2), parts[i].imc);
		assert_int_equal(pmu_event_parse(bench.ctx, NULL, "cbo22.CLOCKTICKS", &absent), 0);
		pmu_session_free(bench.session);
		assert_int_equal(pmu_session_new(&bench.session, bench.ctx, bench.bus), 0);
		assert_int_equal(pmu_session_add(bench.session, bench.ctx, &absent),
				 PMU_E_UNSUPPORTED);
		bench_fini(&bench);
	}
}

/* One uncore clock counts in all boxes, and the DRAM clock in its proportion to it. */
static void check_clocks(const char *machine, const char *const events[4])
{
	struct bench bench;
	uint64_t uclk, dclk;

	bench_init(&bench, machine);
	for (unsigned i = 0; i < 4; i++)
		add(&bench, events[i]);
	measure(&bench, LINES);
	uclk = total(&bench, 0) / bench.desc->sockets;
	dclk = total(&bench, 3) / (4 * bench.desc->sockets);
	assert_true(uclk > LINES);
	for (size_t i = 0; i < bench.count; i++)
		assert_int_equal(bench.counts[i].count, bench.counts[i].event < 3 ? uclk : dclk);
	/* Each clock is cut to whole cycles. */
	assert_in_range(uclk * bench.desc->dclk_mhz / bench.desc->uclk_mhz, dclk - 1, dclk + 1);
	bench_fini(&bench);
}

/* What freezes all of an E5 v4 is no register of an E5: its UBox is stopped by its controls. */
static void test_clocks(void **fixture)
{
	static const char *const v4[] = {"ubox.clock", "cbo.CLOCKTICKS", "ha.CLOCKTICKS",
					 "imc.clock"};
	static const char *const e5[] = {"xeon-e5/ubox.clock", "xeon-e5/cbo.CLOCKTICKS",
					 "xeon-e5/ha.CLOCKTICKS", "xeon-e5/imc.clock"};

	(void)fixture;
	check_clocks("xeon-e5v4-4c", v4);
	check_clocks("xeon-e5-2680-2s", e5);
}

/* Lines that nobody has yet: each is one DRd that misses, one read at home, one CAS. */
static void test_traffic(void **fixture)
{
	struct machine_statistics stats;
	struct bench bench;

	(void)fixture;
	bench_init(&bench, "xeon-e5v4-4c");
	unsigned drd = add(&bench, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	unsigned occupancy = add(&bench, "cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd");
	unsigned busy = add(&bench, "cbo.COUNTER0_OCCUPANCY:thresh=1");
	unsigned reads = add(&bench, "ha.REQUESTS.READS");
	unsigned cas = add(&bench, "imc.CAS_COUNT.RD");
	unsigned clock = add(&bench, "imc.clock");

	measure(&bench, LINES);
	machine_statistics(emul_machine(bus_emulated_emul(bench.bus)), &stats);
	assert_int_equal(total(&bench, drd), LINES);
	assert_int_equal(total(&bench, reads), stats.home_reads);
	assert_int_equal(total(&bench, cas), stats.cas_reads);
	/* The one line of code is a miss of its own, of another opcode. */
	assert_int_equal(stats.home_reads, LINES + 1);
	assert_true(total(&bench, occupancy) > total(&bench, busy));
	assert_true(total(&bench, busy) > 0);
	assert_true(total(&bench, clock) > 0);
	bench_fini(&bench);
}

/* Two sockets: the first core's pages are its own node's, so nothing goes to the other. */
static void test_nodes(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, "xeon-e5-2699v4-2s");
	unsigned mine = add(&bench, "cbo.TOR_INSERTS.NID_MISS_OPCODE:opc=DRd:nid=my_node");

	measure(&bench, LINES);
	assert_int_equal(total(&bench, mine), LINES);
	bench_fini(&bench);

	bench_init(&bench, "xeon-e5-2699v4-2s");
	unsigned others = add(&bench, "cbo.TOR_INSERTS.NID_MISS_OPCODE:opc=DRd:nid=other_nodes");

	measure(&bench, LINES);
	assert_int_equal(total(&bench, others), 0);
	bench_fini(&bench);
}

/* The same twice, to the last digit; and nothing counts between stop and start. */
static void test_repeated(void **fixture)
{
	uint64_t first, clocks;
	struct bench bench;

	(void)fixture;
	bench_init(&bench, "xeon-e5v4-4c");
	unsigned lookups = add(&bench, "cbo.LLC_LOOKUP.ANY:state=ANY");
	unsigned clock = add(&bench, "ubox.clock");

	measure(&bench, LINES);
	first = total(&bench, lookups);
	clocks = total(&bench, clock);
	load_lines(&bench, LINES);
	assert_int_equal(pmu_session_read(bench.session, bench.ctx, &bench.counts, &bench.count),
			 0);
	assert_int_equal(total(&bench, lookups), first);
	assert_int_equal(total(&bench, clock), clocks);
	bench_fini(&bench);

	bench_init(&bench, "xeon-e5v4-4c");
	add(&bench, "cbo.LLC_LOOKUP.ANY:state=ANY");
	add(&bench, "ubox.clock");
	measure(&bench, LINES);
	assert_int_equal(total(&bench, lookups), first);
	assert_int_equal(total(&bench, clock), clocks);
	bench_fini(&bench);
}

/* What is not modelled is not programmed, and its rows are there all the same. */
static void test_not_modelled(void **fixture)
{
	struct bench bench;

	(void)fixture;
	bench_init(&bench, "xeon-e5v4-4c");
	unsigned absent = add(&bench, "cbo.RING_BL_USED.UP");

	measure(&bench, 10);
	assert_int_equal(rows(&bench, absent), 4);
	assert_int_equal(pmu_session_event(bench.session, absent)->event->model, PMU_MODEL_ABSENT);
	bench_fini(&bench);
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
