/*
 * Metrics of xeon-e5v4 on traffic that is written down here, held against what the manual's
 * definition (334291-001 §2.3.5, §2.5.4, §2.6.6, §2.9.5) makes of that traffic.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bus/emulated.h"
#include "emul/block.h"
#include "machine/access.h"
#include "pmulab/metric.h"
#include "pmulab/session.h"
#include "support/cmocka.h"

#define LINE	    64
#define METRICS_MAX 24
#define EVENTS_MAX  4  /* of a metric */
#define NOT_FETCHED 64 /* address of a block of no bytes: nothing is fetched */
#define DATA	    0x10000000u
#define OTHER_DATA  0x20000000u
#define STORED	    0x30000000u
#define STREAMED    0x40000000u
#define UNREPEATED  1000000000u /* cycles between refreshes: none in these runs */

/* mov rax, [rax] */
static const struct machine_insn dependent = {.address_registers = 1, .loads_registers = 1};
static const struct machine_insn independent;

struct metric {
	const char *name;
	double expected;
	struct pmu_formula *formula;
	unsigned events[EVENTS_MAX];
};

struct fixture {
	struct pmu_machine desc;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_hart *core;
	struct machine_block load, store; /* each an instruction, or those of a cycle */
	double seconds;
};

static void fixture_up(struct fixture *fixture, const char *name)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->desc = *pmu_find_machine(name);
	fixture->desc.prefetchers = 0;
	fixture->desc.translation = "none";
	fixture->desc.t_refi = UNREPEATED;
}

static void power_on(struct fixture *fixture)
{
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	if (pmu_bus_emulated(&fixture->bus, fixture->ctx, &fixture->desc) ||
	    pmu_session_new(&fixture->session, fixture->ctx, fixture->bus))
		fail_msg("%s", pmu_message(fixture->ctx));
	pmu_session_spread(fixture->session);
	fixture->machine = emul_machine(bus_emulated_emul(fixture->bus));
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
	machine_block_init(fixture->machine, &fixture->load, NOT_FETCHED, 0, 1, 1, 0);
	machine_block_init(fixture->machine, &fixture->store, NOT_FETCHED, 0, 1, 0, 1);
}

static void fixture_down(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

static void want(struct fixture *fixture, struct metric *metric)
{
	const struct pmu_selection *selections;
	size_t count;

	if (pmu_formula_new_for(&metric->formula, fixture->ctx, pmu_find_pmu(fixture->desc.pmu),
				metric->name, fixture->desc.sockets))
		fail_msg("%s: %s", metric->name, pmu_message(fixture->ctx));
	count = pmu_formula_selections(metric->formula, &selections);
	assert_in_range(count, 1, EVENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		int event = pmu_session_add(fixture->session, fixture->ctx, &selections[i]);

		if (event < 0)
			fail_msg("%s: %s", metric->name, pmu_message(fixture->ctx));
		metric->events[i] = (unsigned)event;
	}
	/* Together where they can be: COUNTER0_OCCUPANCY repeats what another one sees. */
	if (count > 1)
		pmu_session_group(fixture->session, NULL, metric->events, count);
}

static void begin(struct fixture *fixture, struct metric *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		want(fixture, &metrics[i]);
	if (pmu_session_start(fixture->session, fixture->ctx))
		fail_msg("%s", pmu_message(fixture->ctx));
	fixture->core = machine_hart_enter(fixture->machine, fixture->space, 0);
	assert_non_null(fixture->core);
}

static double sum(const struct pmu_count *values, size_t count, unsigned event, unsigned *instances)
{
	double total = 0;

	*instances = 0;
	for (size_t i = 0; i < count; i++) {
		if (values[i].event != event)
			continue;
		assert_true(values[i].valid);
		total += (double)values[i].count;
		++*instances;
	}
	assert_true(*instances > 0);
	return total;
}

static double evaluate(const struct fixture *fixture, const struct metric *metric,
		       const struct pmu_count *values, size_t count)
{
	const struct pmu_machine *desc = &fixture->desc;
	const struct pmu_selection *selections;
	size_t events = pmu_formula_selections(metric->formula, &selections);
	struct machine_statistics stats;
	struct pmu_terms terms = {.size = sizeof(terms), .seconds = fixture->seconds};
	double counts[EVENTS_MAX];
	unsigned instances = 0;

	machine_statistics(fixture->machine, &stats);
	for (size_t i = events; i-- > 0;)
		counts[i] = sum(values, count, metric->events[i], &instances);
	terms.instances = instances;
	terms.tsc_mhz = desc->core_mhz;
	terms.clock_mhz[PMU_CLOCK_UCLK] = desc->uclk_mhz;
	terms.clock_mhz[PMU_CLOCK_DCLK] = desc->dclk_mhz;
	terms.clock_mhz[PMU_CLOCK_CORE] = desc->core_mhz;
	terms.clock_mhz[PMU_CLOCK_PCLK] = desc->pclk_mhz;
	terms.clock_mhz[PMU_CLOCK_QFCLK] = desc->qfclk_mhz;
	terms.core_cycles = (double)stats.cycles;
	terms.instructions = (double)stats.instructions;
	return pmu_formula_evaluate(metric->formula, counts, &terms);
}

/* Leaves the core, reads what was counted, and holds each metric against what it must be. */
static void end(struct fixture *fixture, struct metric *metrics, size_t metric_count)
{
	const struct pmu_count *values = NULL;
	unsigned wrong = 0;
	size_t count = 0;

	machine_hart_leave(fixture->core);
	machine_drain(fixture->machine);
	fixture->seconds = (double)machine_now(fixture->machine) /
			   (double)machine_ticks_per_second(fixture->machine);
	if (pmu_session_stop(fixture->session, fixture->ctx) ||
	    pmu_session_read(fixture->session, fixture->ctx, &values, &count))
		fail_msg("%s", pmu_message(fixture->ctx));
	for (size_t i = 0; i < metric_count; i++) {
		double value = evaluate(fixture, &metrics[i], values, count);

		/* The last digits are those of divisions of doubles. */
		if (!(fabs(value - metrics[i].expected) <= 1e-12 * fabs(metrics[i].expected))) {
			print_error("%s: %.17g, not %.17g\n", metrics[i].name, value,
				    metrics[i].expected);
			wrong++;
		}
		pmu_formula_free(metrics[i].formula);
	}
	assert_int_equal(wrong, 0);
}

static void load(struct fixture *fixture, uint64_t address, unsigned lines,
		 const struct machine_insn *insn)
{
	for (uint64_t i = 0; i < lines; i++) {
		machine_run(fixture->core, &fixture->load);
		machine_load(fixture->core, address + i * LINE, 8, insn);
	}
}

/* @return the tick at which the last load has its value */
static uint64_t await_loads(struct fixture *fixture)
{
	machine_hart_pause(fixture->core);
	machine_hart_resume(fixture->core);
	return machine_hart_time(fixture->core);
}

static void store(struct fixture *fixture, uint64_t address, unsigned lines)
{
	for (uint64_t i = 0; i < lines; i++) {
		machine_run(fixture->core, &fixture->store);
		machine_store(fixture->core, address + i * LINE, 8, &independent);
	}
}

/* @param bytes  of each line, in stores of 8 */
static void stream(struct fixture *fixture, uint64_t address, unsigned lines, unsigned bytes)
{
	for (uint64_t i = 0; i < lines; i++)
		for (unsigned at = 0; at < bytes; at += 8) {
			machine_run(fixture->core, &fixture->store);
			machine_store_nt(fixture->core, address + i * LINE + at, 8);
		}
}

/*
 * Twice as many lines as L2 has, in turns: the second time all miss L2 (LRU) and hit the LLC, which
 * has room for everything.
 */
#define L 8192u /* loaded twice, home on this socket */
#define R 2048u /* loaded once, home on the other */
#define S 8192u /* stored to twice */
#define F 1000u /* streamed whole */
#define P 300u	/* streamed in part */
#define B 64.0	/* bytes of a line */

static void requests_of_a_core(void **unused)
{
	const double misses = L + R + S, reads = misses, writes = F + P;
	const double instructions = 2 * L + R + 2 * S + 8 * F + P;
	struct metric metrics[] = {
	    {.name = "LLC_DRD_MISS_PCT", .expected = (L + R) / (2.0 * L + R)},
	    {.name = "LLC_RFO_MISS_PCT", .expected = 0.5},
	    {.name = "LLC_DRD_RFO_MISS_TO_LOC_MEM", .expected = (L + S) / misses},
	    {.name = "LLC_DRD_RFO_MISS_TO_REM_MEM", .expected = R / misses},
	    {.name = "LLC_MPI", .expected = (misses + F + P) / instructions},
	    {.name = "STREAMED_FULL_STORES", .expected = F},
	    {.name = "STREAMED_PART_STORES", .expected = P},
	    {.name = "MEM_WB_BYTES", .expected = 0},
	    /* The rest of a line that is written in part is read before. */
	    {.name = "MEM_BW_READS", .expected = (reads + P) * B},
	    {.name = "MEM_BW_WRITES", .expected = writes * B},
	    {.name = "MEM_BW_TOTAL", .expected = (reads + P + writes) * B},
	    {.name = "ha.PCT_RD_REQUESTS", .expected = reads / (reads + writes)},
	    {.name = "ha.PCT_WR_REQUESTS", .expected = writes / (reads + writes)},
	    {.name = "QPI_SPEED", .expected = 9.6}, /* of the part, GT/s */
	};
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, "xeon-e5-2699v4-2s");
	power_on(&fixture);
	begin(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	load(&fixture, DATA, L, &independent);
	load(&fixture, DATA, L, &independent);
	store(&fixture, STORED, S);
	store(&fixture, STORED, S);
	stream(&fixture, STREAMED, F, LINE);
	stream(&fixture, STREAMED + F * LINE, P, 8);
	machine_bind_memory(fixture.machine, 2, false);
	load(&fixture, OTHER_DATA, R, &independent);
	end(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	fixture_down(&fixture);
}

/* Lines that a socket's LLC holds, of @lines from @address on. */
static unsigned held(const struct fixture *fixture, uint64_t address, unsigned lines)
{
	unsigned count = 0;

	for (uint64_t i = 0; i < lines; i++)
		count += machine_peek(fixture->machine, MACHINE_LLC, 0, address + i * LINE) != 'I';
	return count;
}

/* Every line is modified; what the small LLC holds no more was a modified victim. */
static void victims(void **unused)
{
	struct metric metrics[] = {{.name = "MEM_WB_BYTES"}, {.name = "MEM_BW_WRITES"}};
	struct fixture fixture;
	double written;

	(void)unused;
	fixture_up(&fixture, "xeon-e5v4-4c");
	fixture.desc.llc.sets = 64;
	fixture.desc.memory_bytes = 1 << 28;
	power_on(&fixture);
	begin(&fixture, metrics, 2);
	store(&fixture, STORED, S);
	/* Frames are given in order from the first one on: line n of the program is line n of
	 * memory. */
	written = S - held(&fixture, 0, S);
	assert_true(written > 0);
	metrics[0].expected = metrics[1].expected = written * B;
	end(&fixture, metrics, 2);
	fixture_down(&fixture);
}

/*
 * Each load waits for the one before, and takes the core its L2's latency, the way to the slice and
 * back, a cycle in the IRQ, and its time in the TOR. All clocks are multiples of the uncore's
 * cycle, so that spans begin and end with one.
 */
static void loads_one_by_one(void **unused)
{
	enum { LINES = 8192, FIRST = 1 /* cycle, of the first block */ };
	struct metric metrics[] = {
	    {.name = "AVG_INGRESS_LATENCY", .expected = 1},
	    {.name = "AVG_INGRESS_LATENCY_WHEN_NE", .expected = 1},
	    {.name = "AVG_INGRESS_DEPTH"},
	    {.name = "AVG_TOR_DRDS_WHEN_NE", .expected = 1},
	    {.name = "AVG_TOR_DRDS_MISS_WHEN_NE", .expected = 1},
	    {.name = "AVG_TOR_DRD_LATENCY"},
	    {.name = "AVG_TOR_DRD_MISS_LATENCY"},
	    {.name = "AVG_TOR_DRD_LOC_MISS_LATENCY"},
	    {.name = "AVG_TOR_DRD_HIT_LATENCY"},
	    {.name = "CORE_IPC"},
	};
	enum { DEPTH = 2, ALL = 5, MISS, LOCAL, HIT, IPC };
	struct fixture fixture;
	uint64_t cycle, begun, missed, ended;
	double way, cycles;

	(void)unused;
	fixture_up(&fixture, "xeon-e5v4-4c");
	fixture.desc.core_mhz = fixture.desc.uclk_mhz = fixture.desc.dclk_mhz = 2000;
	power_on(&fixture);
	/* The issue width's instructions take a cycle. */
	machine_block_init(fixture.machine, &fixture.load, NOT_FETCHED, 0, fixture.desc.issue_width,
			   1, 0);
	cycle = machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_CORE);
	begin(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	begun = machine_hart_time(fixture.core);
	load(&fixture, DATA, LINES, &dependent);
	missed = await_loads(&fixture);
	load(&fixture, DATA, LINES, &dependent);
	ended = await_loads(&fixture);
	way = fixture.desc.l2.latency + 2 * fixture.desc.ring_hop + 1;
	cycles = (double)((ended - begun) / cycle);
	metrics[MISS].expected = metrics[LOCAL].expected =
	    (double)((missed - begun) / cycle - FIRST) / LINES - way;
	metrics[HIT].expected = fixture.desc.llc.latency;
	metrics[ALL].expected = (metrics[MISS].expected + metrics[HIT].expected) / 2;
	metrics[DEPTH].expected = 2.0 * LINES / (fixture.desc.slices * cycles);
	metrics[IPC].expected = 2.0 * LINES * fixture.desc.issue_width / cycles;
	end(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	fixture_down(&fixture);
}

/* One rank of one bank: each row but a channel's first finds the one before it open. */
static void rows(void **unused)
{
	enum { ROWS = 8, ROW_BYTES = 8192, CHANNELS = 4 };
	const double lines = (double)ROWS * CHANNELS * ROW_BYTES / LINE;
	struct metric metrics[] = {
	    {.name = "PCT_REQUESTS_PAGE_EMPTY", .expected = CHANNELS / lines},
	    {.name = "PCT_REQUESTS_PAGE_MISS", .expected = (ROWS - 1) * CHANNELS / lines},
	    {.name = "PCT_REQUESTS_PAGE_HIT", .expected = 1 - ROWS * CHANNELS / lines},
	};
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, "xeon-e5v4-4c");
	fixture.desc.ranks = fixture.desc.banks = 1;
	fixture.desc.bank_groups = 0;
	fixture.desc.row_bytes = ROW_BYTES;
	assert_int_equal(fixture.desc.home_agents * fixture.desc.channels, CHANNELS);
	power_on(&fixture);
	begin(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	load(&fixture, DATA, (unsigned)lines, &dependent);
	end(&fixture, metrics, sizeof(metrics) / sizeof(*metrics));
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests_of_a_core),
	    cmocka_unit_test(victims),
	    cmocka_unit_test(loads_one_by_one),
	    cmocka_unit_test(rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
