/*
 * Conservation, from the machine's own truth to counts that a session read from registers: every
 * kernel on one core, and random accesses of cores of both sockets. To the last count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bus/emulated.h"
#include "feed/kernels.h"
#include "pmulab/session.h"
#include "system/system.h"

#define ARRAY_BYTES  (12u << 20)
#define RANDOM_STEPS 300000
#define THREADS	     4
#define SHARED_BASE  0x40000000u
#define SHARED_BYTES (24u << 20)
#define CORES_MAX    44

/* A set of events that fit the counters together; tests run once for each set. */
static const char *const sets[][12] = {
    {"cbo.TOR_OCCUPANCY.ALL", "cbo.TOR_INSERTS.ALL", "cbo.LLC_LOOKUP.ANY:state=any",
     "cbo.LLC_VICTIMS.M_STATE", "ha.REQUESTS.READS", "ha.REQUESTS.WRITES",
     "ha.REQUESTS.INVITOE_LOCAL+INVITOE_REMOTE", "ha.SNOOP_RESP.RSPI+RSPS+RSPIFWD+RSPSFWD+RSP_WB",
     "imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR", "imc.WPQ_READ_HIT", "imc.WPQ_WRITE_HIT"},
    {"cbo.LLC_LOOKUP.READ:state=I", "cbo.RxR_INSERTS.IPQ",
     "cbo.LLC_VICTIMS.M_STATE+E_STATE+S_STATE+F_STATE", "cbo.TOR_INSERTS.EVICTION",
     "ha.TRACKER_OCCUPANCY.READS_LOCAL+READS_REMOTE+WRITES_LOCAL+WRITES_REMOTE+INVITOE_LOCAL+"
     "INVITOE_REMOTE",
     "ha.IMC_READS.NORMAL", "ha.IMC_WRITES.ALL", "ha.REQUESTS.READS", "imc.RPQ_INSERTS",
     "imc.ACT_COUNT.RD+WR", "imc.PRE_COUNT.PAGE_MISS", "imc.CAS_COUNT.RD_REG"},
};

struct run {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	const char *const *set;
	const struct pmu_count *counts;
	size_t count;
	struct machine_truth truth;
};

static void begin(struct run *run, const char *machine, const char *const *set)
{
	const struct pmu_machine *desc = pmu_find_machine(machine);

	*run = (struct run){.set = set};
	assert_int_equal(pmu_ctx_new(&run->ctx), 0);
	if (pmu_bus_emulated(&run->bus, run->ctx, desc) ||
	    pmu_session_new(&run->session, run->ctx, run->bus))
		fail_msg("%s", pmu_message(run->ctx));
	for (int i = 0; i < 12; i++) {
		struct pmu_selection selection;

		if (pmu_event_parse(run->ctx, pmu_find_pmu(desc->pmu), set[i], &selection) ||
		    pmu_session_add(run->session, run->ctx, &selection) != i)
			fail_msg("%s: %s", set[i], pmu_message(run->ctx));
	}
	if (pmu_session_start(run->session, run->ctx))
		fail_msg("%s", pmu_message(run->ctx));
	run->machine = system_machine(bus_emulated_system(run->bus));
}

static void end(struct run *run)
{
	machine_drain(run->machine);
	if (pmu_session_stop(run->session, run->ctx) ||
	    pmu_session_read(run->session, run->ctx, &run->counts, &run->count))
		fail_msg("%s", pmu_message(run->ctx));
	machine_truth(run->machine, &run->truth);
}

static void finish(struct run *run)
{
	pmu_session_free(run->session);
	pmu_bus_free(run->bus);
	pmu_ctx_free(run->ctx);
}

/* Sum over all sockets and instances. */
static uint64_t sum(const struct run *run, const char *event)
{
	uint64_t total = 0;
	unsigned index = 0;

	while (strcmp(run->set[index], event))
		assert_true(++index < 12);
	for (size_t i = 0; i < run->count; i++)
		if (run->counts[i].event == index)
			total += run->counts[i].count;
	return total;
}

static void check_first_set(const struct run *run)
{
	const struct machine_truth *t = &run->truth;
	uint64_t reads = sum(run, "ha.REQUESTS.READS"), writes = sum(run, "ha.REQUESTS.WRITES");
	uint64_t cas_reads = sum(run, "imc.CAS_COUNT.RD"),
		 cas_writes = sum(run, "imc.CAS_COUNT.WR");
	uint64_t victims = sum(run, "cbo.LLC_VICTIMS.M_STATE");

	/* Each entry is there as long as the machine charged for it. */
	assert_int_equal(sum(run, "cbo.TOR_OCCUPANCY.ALL"), t->tor_cycles);
	assert_int_equal(sum(run, "cbo.TOR_INSERTS.ALL"), t->llc_lookups + t->llc_victims);
	assert_int_equal(sum(run, "cbo.LLC_LOOKUP.ANY:state=any"), t->llc_lookups);
	assert_int_equal(t->llc_lookups, t->l2_misses + t->l2_writebacks + t->wc_lines + t->snoops);
	/* What misses goes to a home agent, what is read there is read from memory. */
	assert_int_equal(reads, t->llc_misses);
	assert_int_equal(reads, cas_reads - t->underfills + sum(run, "imc.WPQ_READ_HIT"));
	assert_int_equal(writes, victims + (t->llc_writebacks - victims) + t->wc_lines);
	assert_int_equal(writes + t->snoop_writebacks, cas_writes + sum(run, "imc.WPQ_WRITE_HIT"));
	/* Each read and InvItoE asks the other socket, where there is one. */
	assert_int_equal(sum(run, "ha.SNOOP_RESP.RSPI+RSPS+RSPIFWD+RSPSFWD+RSP_WB"), t->snoops);
	if (pmu_bus_sockets(run->bus) == 2)
		assert_int_equal(t->snoops,
				 reads + sum(run, "ha.REQUESTS.INVITOE_LOCAL+INVITOE_REMOTE"));
}

static void check_second_set(const struct run *run)
{
	const struct machine_truth *t = &run->truth;
	const char *all_victims = "cbo.LLC_VICTIMS.M_STATE+E_STATE+S_STATE+F_STATE";

	assert_int_equal(sum(run, "cbo.LLC_LOOKUP.READ:state=I"), t->llc_misses);
	assert_int_equal(sum(run, "cbo.RxR_INSERTS.IPQ"), t->snoops);
	assert_int_equal(sum(run, all_victims), t->llc_victims);
	assert_int_equal(sum(run, "cbo.TOR_INSERTS.EVICTION"), t->llc_victims);
	assert_int_equal(sum(run, run->set[4]), t->tracker_cycles);
	assert_int_equal(sum(run, "ha.IMC_READS.NORMAL"), sum(run, "ha.REQUESTS.READS"));
	assert_int_equal(sum(run, "imc.RPQ_INSERTS"), sum(run, "ha.IMC_READS.NORMAL"));
	assert_int_equal(sum(run, "ha.IMC_WRITES.ALL"), t->home_writes + t->snoop_writebacks);
	assert_int_equal(sum(run, "imc.CAS_COUNT.RD_REG"), t->cas_reads - t->underfills);
	/* A precharge for a page miss is followed by an activate. */
	assert_true(sum(run, "imc.PRE_COUNT.PAGE_MISS") <= sum(run, "imc.ACT_COUNT.RD+WR"));
	assert_true(sum(run, "imc.ACT_COUNT.RD+WR") <= t->cas_reads + t->cas_writes);
}

static void check(const struct run *run)
{
	if (run->set == sets[0])
		check_first_set(run);
	else
		check_second_set(run);
}

static void run_kernel(const char *machine, const char *const *set,
		       const struct feed_kernel *kernel)
{
	struct feed_arrays arrays = {.address = 0x10000000, .bytes = ARRAY_BYTES, .stride = 256};
	struct machine_space *space;
	struct machine_core *core;
	struct run run;

	if (!strcmp(kernel->name, "chase"))
		arrays.bytes = 8u << 20;
	begin(&run, machine, set);
	assert_int_equal(machine_space_new(&space, run.machine), 0);
	core = machine_core_enter(run.machine, space, 0);
	for (int pass = 0; pass < 2; pass++)
		feed_kernel_run(kernel, run.machine, core, &arrays);
	machine_core_leave(core);
	end(&run);
	assert_true(run.truth.llc_lookups > 0);
	check(&run);
	machine_space_free(space);
	finish(&run);
}

static void kernels_on_one_core(void **unused)
{
	static const char *const machines[] = {"xeon-e5v4-4c", "xeon-e5-2699v4-2s"};
	const struct feed_kernel *kernels;
	size_t count;

	(void)unused;
	kernels = feed_kernels(&count);
	for (int machine = 0; machine < 2; machine++)
		for (int set = 0; set < 2; set++)
			for (size_t i = 0; i < count; i++)
				run_kernel(machines[machine], sets[set], &kernels[i]);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Four cores in turns, each @step-th, so that what they share moves between them, and on the large
 * machine between sockets.
 */
static void random_accesses(const char *machine, const char *const *set, unsigned step)
{
	static const struct machine_insn insn = {0};
	const unsigned count = step * (THREADS - 1) + 1;
	struct machine_core *cores[CORES_MAX];
	struct machine_space *space;
	uint64_t random = 88172645463325252;
	struct run run;

	begin(&run, machine, set);
	assert_int_equal(machine_space_new(&space, run.machine), 0);
	for (unsigned i = 0; i < count; i++)
		cores[i] = machine_core_enter(run.machine, space, 0);
	for (unsigned i = 0; i < count; i++)
		machine_core_pause(cores[i]);
	for (unsigned i = 0; i < RANDOM_STEPS; i++) {
		uint64_t word = next_random(&random);
		struct machine_core *core = cores[word % THREADS * step];
		uint64_t bytes = word & 1u << 20 ? 64 << 10 : SHARED_BYTES;
		uint64_t address = SHARED_BASE + (word >> 24) % bytes;

		machine_core_resume(core);
		if (word & 1u << 21)
			machine_load(core, address & ~7ull, 8, &insn);
		else if (word & 7u << 16)
			machine_store(core, address & ~7ull, 8, &insn);
		else
			machine_stream(core, address & ~7ull, 8);
		machine_core_pause(core);
	}
	for (unsigned i = 0; i < count; i++) {
		machine_core_resume(cores[i]);
		machine_core_leave(cores[i]);
	}
	end(&run);
	check(&run);
	machine_space_free(space);
	finish(&run);
}

static void random_on_four_cores(void **unused)
{
	(void)unused;
	for (int set = 0; set < 2; set++) {
		random_accesses("xeon-e5v4-4c", sets[set], 1);
		random_accesses("xeon-e5-2699v4-2s", sets[set], 11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernels_on_one_core),
	    cmocka_unit_test(random_on_four_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
