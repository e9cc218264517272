/*
 * Conservation: what one box counts is what the box beside it counts, and what the traffic is known
 * to be. Each law compares registers with other registers, read by a session. The traffic is the
 * same in every run, so that laws may take events that do not fit the counters together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/emulated.h"
#include "emul/block.h"
#include "feed/kernels.h"
#include "pmulab/session.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define EVENTS_MAX   96
#define TERMS_MAX    9
#define PASSES	     2
#define ARRAY_LINES  (1u << 14) /* of each array: beyond the cut-down LLC, in each of its sets */
#define ARRAY_BYTES  (ARRAY_LINES * 64)
#define STRIDE	     256
#define DATA	     0x10000000u
#define CODE	     0x400000u
#define RANDOM_STEPS 40000
#define CORES_USED   4
#define SHARED_BYTES (2u << 20)
#define CORES_MAX    44

#define DRD	 "cbo.TOR_INSERTS.OPCODE:opc=0x182"
#define CRD	 "cbo.TOR_INSERTS.OPCODE:opc=0x181"
#define RFO	 "cbo.TOR_INSERTS.OPCODE:opc=0x180"
#define WCILF	 "cbo.TOR_INSERTS.OPCODE:opc=0x18C"
#define WCIL	 "cbo.TOR_INSERTS.OPCODE:opc=0x18D"
#define WBMTOI	 "cbo.TOR_INSERTS.OPCODE:opc=0x1C4"
#define WBMTOE	 "cbo.TOR_INSERTS.OPCODE:opc=0x1C5"
#define MISS_DRD "cbo.TOR_INSERTS.MISS_OPCODE:opc=0x182"
#define MISS_CRD "cbo.TOR_INSERTS.MISS_OPCODE:opc=0x181"
#define MISS_RFO "cbo.TOR_INSERTS.MISS_OPCODE:opc=0x180"
#define PREFETCHES                                                                                 \
	"cbo.TOR_INSERTS.OPCODE:opc=0x190", "cbo.TOR_INSERTS.OPCODE:opc=0x191",                    \
	    "cbo.TOR_INSERTS.OPCODE:opc=0x192"
#define MISS_PREFETCHES                                                                            \
	"cbo.TOR_INSERTS.MISS_OPCODE:opc=0x190", "cbo.TOR_INSERTS.MISS_OPCODE:opc=0x191",          \
	    "cbo.TOR_INSERTS.MISS_OPCODE:opc=0x192"
#define LOOKUPS "cbo.LLC_LOOKUP.ANY:state=any"
#define READ_I	"cbo.LLC_LOOKUP.READ:state=I"
#define INVITOE "ha.REQUESTS.INVITOE_LOCAL+INVITOE_REMOTE"

/* How the sum of the events on the left stands to that of those on the right. */
enum relation {
	EQUAL,
	AT_MOST,
	EQUAL_ON_ONE, /* on machines of one socket */
	EQUAL_ON_TWO,
	EQUAL_OF_DEMANDS, /* without prefetchers; with them the left is at most the right */
};

struct law {
	enum relation relation;
	const char *left[TERMS_MAX], *right[TERMS_MAX];
};

/* clang-format off */
static const struct law laws[] = {
	/* Cores and slices. */
	{EQUAL_OF_DEMANDS, {"core.LONGEST_LAT_CACHE.REFERENCE"}, {DRD, CRD, RFO}},
	{EQUAL_OF_DEMANDS, {"core.LONGEST_LAT_CACHE.MISS"}, {READ_I}},
	{EQUAL, {LOOKUPS}, {"cbo.LLC_LOOKUP.READ:state=any", "cbo.LLC_LOOKUP.WRITE:state=any",
		     "cbo.LLC_LOOKUP.REMOTE_SNOOP:state=any"}},
	{EQUAL, {LOOKUPS}, {"cbo.LLC_LOOKUP.ANY:state=I", "cbo.LLC_LOOKUP.ANY:state=S",
		     "cbo.LLC_LOOKUP.ANY:state=E", "cbo.LLC_LOOKUP.ANY:state=M",
		     "cbo.LLC_LOOKUP.ANY:state=F"}},
	{EQUAL, {"cbo.LLC_LOOKUP.DATA_READ:state=any"}, {DRD, "cbo.TOR_INSERTS.OPCODE:opc=0x192"}},
	{EQUAL, {"cbo.LLC_LOOKUP.READ:state=any"}, {DRD, CRD, RFO, PREFETCHES}},
	{EQUAL, {"cbo.LLC_LOOKUP.WRITE:state=any"}, {"cbo.TOR_INSERTS.WB", WCIL, WCILF}},
	{EQUAL, {"cbo.TOR_INSERTS.WB"}, {WBMTOI, WBMTOE}},
	{EQUAL, {"cbo.RxR_INSERTS.IRQ"}, {DRD, CRD, RFO, PREFETCHES, "cbo.TOR_INSERTS.WB", WCIL, WCILF}},
	{EQUAL, {"cbo.RxR_INSERTS.IPQ"}, {"cbo.LLC_LOOKUP.REMOTE_SNOOP:state=any"}},
	{EQUAL, {"cbo.TOR_INSERTS.ALL"}, {LOOKUPS, "cbo.TOR_INSERTS.EVICTION"}},
	{EQUAL, {"cbo.TOR_INSERTS.ALL"}, {"cbo.TOR_INSERTS.LOCAL", "cbo.TOR_INSERTS.REMOTE"}},
	{EQUAL, {"cbo.TOR_INSERTS.EVICTION"}, {"cbo.LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.E_STATE",
					"cbo.LLC_VICTIMS.S_STATE", "cbo.LLC_VICTIMS.F_STATE"}},
	/* What fills the LLC beyond its size displaces something; invalidations make room too. */
	{AT_MOST, {"cbo.TOR_INSERTS.EVICTION"}, {READ_I}},
	/* Slices and home agents. */
	{EQUAL, {"ha.REQUESTS.READS"}, {READ_I}},
	{EQUAL, {"ha.REQUESTS.WRITES"}, {"cbo.LLC_VICTIMS.M_STATE", "cbo.MISC.WC_ALIASING", WCIL, WCILF}},
	/* An InvItoE is a non-temporal line, or an RFO that misses though the LLC has the line. */
	{EQUAL, {INVITOE, READ_I}, {WCIL, WCILF, MISS_RFO, MISS_DRD, MISS_CRD, MISS_PREFETCHES}},
	{EQUAL, {"ha.REQUESTS.READS"}, {"ha.REQUESTS.READS_LOCAL", "ha.REQUESTS.READS_REMOTE"}},
	{EQUAL, {"ha.REQUESTS.WRITES"}, {"ha.REQUESTS.WRITES_LOCAL", "ha.REQUESTS.WRITES_REMOTE"}},
	{EQUAL, {"ha.TAD_REQUESTS_G0.REGION0"}, {"ha.REQUESTS.READS", "ha.REQUESTS.WRITES", INVITOE}},
	/* Each read and InvItoE asks the other socket, where there is one. */
	{EQUAL_ON_TWO, {"cbo.RxR_INSERTS.IPQ"}, {"ha.REQUESTS.READS", INVITOE}},
	{EQUAL_ON_ONE, {"cbo.RxR_INSERTS.IPQ"}, {NULL}},
	{EQUAL, {"cbo.RxR_INSERTS.IPQ"}, {"ha.SNOOP_RESP.RSPI", "ha.SNOOP_RESP.RSPS",
				   "ha.SNOOP_RESP.RSPIFWD", "ha.SNOOP_RESP.RSPSFWD",
				   "ha.SNOOP_RESP.RSP_WB"}},
	/* Home agents and channels. */
	{EQUAL, {"ha.IMC_READS.NORMAL"}, {"ha.REQUESTS.READS"}},
	{EQUAL, {"ha.IMC_WRITES.ALL"}, {"ha.REQUESTS.WRITES", "ha.SNOOP_RESP.RSP_WB"}},
	{EQUAL, {"ha.IMC_WRITES.ALL"}, {"ha.IMC_WRITES.FULL", "ha.IMC_WRITES.PARTIAL"}},
	{EQUAL, {"ha.IMC_WRITES.PARTIAL"}, {WCIL}},
	{EQUAL, {"imc.RPQ_INSERTS"}, {"ha.IMC_READS.NORMAL"}},
	{EQUAL, {"imc.CAS_COUNT.RD_REG", "imc.WPQ_READ_HIT"}, {"ha.IMC_READS.NORMAL"}},
	{EQUAL, {"imc.CAS_COUNT.WR", "imc.WPQ_WRITE_HIT"}, {"ha.IMC_WRITES.ALL"}},
	{AT_MOST, {"imc.CAS_COUNT.RD_UNDERFILL"}, {"ha.IMC_WRITES.PARTIAL"}},
	/* Channels. */
	{EQUAL, {"imc.CAS_COUNT.RD"}, {"imc.CAS_COUNT.RD_REG", "imc.CAS_COUNT.RD_UNDERFILL"}},
	{EQUAL, {"imc.CAS_COUNT.RD"}, {"imc.CAS_COUNT.RD_WMM", "imc.CAS_COUNT.RD_RMM"}},
	{EQUAL, {"imc.CAS_COUNT.RD"}, {"imc.RD_CAS_RANK0.ALLBANKS", "imc.RD_CAS_RANK1.ALLBANKS"}},
	{EQUAL, {"imc.CAS_COUNT.WR"}, {"imc.CAS_COUNT.WR_WMM", "imc.CAS_COUNT.WR_RMM"}},
	{EQUAL, {"imc.CAS_COUNT.WR"}, {"imc.WR_CAS_RANK0.ALLBANKS", "imc.WR_CAS_RANK1.ALLBANKS"}},
	{EQUAL, {"imc.CAS_COUNT.ALL"}, {"imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"}},
	{AT_MOST, {"imc.ACT_COUNT.RD", "imc.ACT_COUNT.WR"}, {"imc.CAS_COUNT.ALL"}},
	{AT_MOST, {"imc.PRE_COUNT.PAGE_MISS"}, {"imc.ACT_COUNT.RD", "imc.ACT_COUNT.WR"}},
};

/* The machine's own statistics, as one more witness. */
#define STATISTIC(field) offsetof(struct machine_statistics, field)
static const struct {
	const char *events[TERMS_MAX];
	size_t statistic;
} witnesses[] = {
	{{"core.LONGEST_LAT_CACHE.REFERENCE"}, STATISTIC(l2_misses)},
	{{PREFETCHES}, STATISTIC(llc_prefetches)},
	{{LOOKUPS}, STATISTIC(llc_lookups)},
	{{READ_I}, STATISTIC(llc_misses)},
	{{"cbo.TOR_INSERTS.EVICTION"}, STATISTIC(llc_victims)},
	{{"cbo.TOR_INSERTS.WB"}, STATISTIC(l2_writebacks)},
	{{WCIL, WCILF}, STATISTIC(wc_lines)},
	{{"cbo.TOR_OCCUPANCY.ALL"}, STATISTIC(tor_cycles)},
	{{"ha.REQUESTS.READS"}, STATISTIC(home_reads)},
	{{"ha.REQUESTS.WRITES"}, STATISTIC(home_writes)},
	{{INVITOE}, STATISTIC(home_owns)},
	{{"ha.TRACKER_OCCUPANCY.READS_LOCAL+READS_REMOTE+WRITES_LOCAL+WRITES_REMOTE+INVITOE_LOCAL+"
	  "INVITOE_REMOTE"}, STATISTIC(tracker_cycles)},
	{{"ha.SNOOP_RESP.RSP_WB"}, STATISTIC(snoop_writebacks)},
	{{"imc.CAS_COUNT.RD"}, STATISTIC(cas_reads)},
	{{"imc.CAS_COUNT.WR"}, STATISTIC(cas_writes)},
	{{"imc.CAS_COUNT.RD_UNDERFILL"}, STATISTIC(underfills)},
	{{"imc.WPQ_READ_HIT"}, STATISTIC(wpq_read_hits)},
	{{"imc.WPQ_WRITE_HIT"}, STATISTIC(wpq_write_hits)},
};

/* What a kernel asks of the LLC for each line of an array and pass, none of which hits there. */
static const struct {
	const char *kernel;
	unsigned reads, owns, streams;
} traffic[] = {
	{"load", 1, 0, 0}, {"store", 0, 1, 0}, {"stream", 0, 0, 1}, {"copy", 1, 1, 0},
	{"update", 1, 0, 0}, /* the read is granted E */
	{"triad", 2, 1, 0}, {"chase", 1, 0, 0}, {"stride", 1, 0, 0},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Every event of the laws once, in packs that fit the counters together, and what was counted of it
 * over all sockets and instances.
 */
struct counts {
	const char *events[EVENTS_MAX];
	unsigned packs[EVENTS_MAX]; /* that it is in */
	uint64_t values[EVENTS_MAX];
	size_t count;
	unsigned pack_count;
	struct machine_statistics stats;
};

static size_t index_of(const struct counts *counts, const char *event)
{
	size_t i = 0;

	while (i < counts->count && strcmp(counts->events[i], event))
		i++;
	return i;
}

static void want(struct counts *counts, const char *const *events)
{
	for (int i = 0; i < TERMS_MAX && events[i]; i++) {
		if (index_of(counts, events[i]) < counts->count)
			continue;
		assert_true(counts->count < EVENTS_MAX);
		counts->events[counts->count++] = events[i];
	}
}

static uint64_t sum(const struct counts *counts, const char *const *events)
{
	uint64_t total = 0;

	for (int i = 0; i < TERMS_MAX && events[i]; i++)
		total += counts->values[index_of(counts, events[i])];
	return total;
}

struct fixture {
	const struct pmu_machine *desc;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	struct machine_address_space *space;
	size_t events[EVENTS_MAX]; /* indices in struct counts, by that in the session */
};

static void fixture_up(struct fixture *fixture, const struct pmu_machine *desc)
{
	*fixture = (struct fixture){.desc = desc};
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	if (pmu_bus_emulated(&fixture->bus, fixture->ctx, desc) ||
	    pmu_session_new(&fixture->session, fixture->ctx, fixture->bus))
		fail_msg("%s", pmu_message(fixture->ctx));
	fixture->machine = emul_machine(bus_emulated_emul(fixture->bus));
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

static void fixture_down(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

/* @return 0, or the session's error where the pack does not fit */
static int begin(struct fixture *fixture, const struct counts *counts, unsigned pack)
{
	size_t chosen = 0;

	for (size_t i = 0; i < counts->count; i++) {
		struct pmu_selection selection;
		int index;

		if (counts->packs[i] != pack)
			continue;
		if (pmu_event_parse(fixture->ctx, pmu_find_pmu(fixture->desc->pmu),
				    counts->events[i], &selection))
			fail_msg("%s: %s", counts->events[i], pmu_message(fixture->ctx));
		index = pmu_session_add(fixture->session, fixture->ctx, &selection);
		if (index < 0)
			return index;
		assert_int_equal(index, chosen);
		fixture->events[chosen++] = i;
	}
	return pmu_session_start(fixture->session, fixture->ctx);
}

static bool fits(const struct counts *counts, const struct pmu_machine *desc, unsigned pack)
{
	struct fixture fixture;
	int error;

	fixture_up(&fixture, desc);
	error = begin(&fixture, counts, pack);
	fixture_down(&fixture);
	return !error;
}

/* Each event goes to the first pack that has a counter and a filter for it. */
static void pack_events(struct counts *counts, const struct pmu_machine *desc)
{
	const size_t count = counts->count;

	for (size_t i = 0; i < count; i++) {
		counts->count = i + 1;
		counts->packs[i] = 0;
		while (!fits(counts, desc, counts->packs[i]))
			if (counts->packs[i]++ == counts->pack_count)
				fail_msg("%s fits nowhere", counts->events[i]);
		if (counts->packs[i] == counts->pack_count)
			counts->pack_count++;
	}
}

static void choose_events(struct counts *counts, const struct pmu_machine *desc)
{
	*counts = (struct counts){.count = 0};
	for (size_t i = 0; i < COUNT(laws); i++) {
		want(counts, laws[i].left);
		want(counts, laws[i].right);
	}
	for (size_t i = 0; i < COUNT(witnesses); i++)
		want(counts, witnesses[i].events);
	pack_events(counts, desc);
}

static void end(struct fixture *fixture, struct counts *counts)
{
	const struct pmu_count *values = NULL;
	size_t count = 0;

	machine_drain(fixture->machine);
	if (pmu_session_stop(fixture->session, fixture->ctx) ||
	    pmu_session_read(fixture->session, fixture->ctx, &values, &count))
		fail_msg("%s", pmu_message(fixture->ctx));
	for (size_t i = 0; i < count; i++)
		counts->values[fixture->events[values[i].event]] += values[i].count;
	machine_statistics(fixture->machine, &counts->stats);
}

/* Runs the traffic as often as it takes to count every event. */
static void count_all(struct counts *counts, const struct pmu_machine *desc,
		      void (*drive)(struct fixture *fixture, const void *argument),
		      const void *argument)
{
	struct fixture fixture;

	memset(counts->values, 0, sizeof(counts->values));
	for (unsigned pack = 0; pack < counts->pack_count; pack++) {
		fixture_up(&fixture, desc);
		if (begin(&fixture, counts, pack))
			fail_msg("%s", pmu_message(fixture.ctx));
		drive(&fixture, argument);
		end(&fixture, counts);
		fixture_down(&fixture);
	}
}

static bool applies(const struct law *law, unsigned sockets)
{
	return law->relation != (sockets == 1 ? EQUAL_ON_TWO : EQUAL_ON_ONE);
}

static unsigned check_law(const struct counts *counts, const struct law *law)
{
	uint64_t left = sum(counts, law->left), right = sum(counts, law->right);
	bool at_most = law->relation == AT_MOST ||
		       (law->relation == EQUAL_OF_DEMANDS && counts->stats.l2_prefetches);

	if (at_most ? left <= right : left == right)
		return 0;
	print_error("law %td: %s...: %llu is not %s%llu\n", law - laws, law->left[0],
		    (unsigned long long)left, at_most ? "at most " : "", (unsigned long long)right);
	return 1;
}

static unsigned check_witness(const struct counts *counts, const char *const *events,
			      size_t statistic)
{
	uint64_t counted = sum(counts, events), reported;

	memcpy(&reported, (const char *)&counts->stats + statistic, sizeof(reported));
	if (counted == reported)
		return 0;
	print_error("%s: %llu, the statistics say %llu\n", events[0], (unsigned long long)counted,
		    (unsigned long long)reported);
	return 1;
}

static void check(const struct counts *counts, unsigned sockets)
{
	unsigned broken = 0;

	for (size_t i = 0; i < COUNT(laws); i++)
		if (applies(&laws[i], sockets))
			broken += check_law(counts, &laws[i]);
	for (size_t i = 0; i < COUNT(witnesses); i++)
		broken += check_witness(counts, witnesses[i].events, witnesses[i].statistic);
	assert_int_equal(broken, 0);
}

/* With an LLC so small that little traffic fills it: four slices, or 22 in each socket. */
static struct pmu_machine cut_down(unsigned sockets)
{
	struct pmu_machine desc =
	    *pmu_find_machine(sockets == 1 ? "xeon-e5v4-4c" : "xeon-e5-2699v4-2s");

	desc.llc.sets = sockets == 1 ? 64 : 16;
	desc.memory_bytes = 1 << 28;
	desc.translation = "none";
	return desc;
}

static void drive_kernel(struct fixture *fixture, const void *argument)
{
	const struct feed_kernel *kernel = argument;
	const struct feed_arrays arrays = {
	    .address = DATA,
	    .bytes = kernel->step_bytes ? ARRAY_BYTES : ARRAY_LINES * STRIDE,
	    .stride = STRIDE,
	};
	struct machine_hart *core = machine_hart_enter(fixture->machine, fixture->space, 0);

	switch_prefetchers_off(fixture->machine);
	for (int pass = 0; pass < PASSES; pass++)
		feed_kernel_run(kernel, fixture->machine, core, &arrays);
	machine_hart_leave(core);
}

static void expect(const struct counts *counts, const char *event, uint64_t expected)
{
	uint64_t counted = counts->values[index_of(counts, event)];

	if (counted != expected)
		fail_msg("%s: %llu, not %llu", event, (unsigned long long)counted,
			 (unsigned long long)expected);
}

static void check_traffic(const struct counts *counts, size_t kernel)
{
	const uint64_t lines = PASSES * ARRAY_LINES;
	const uint64_t reads = traffic[kernel].reads * lines, owns = traffic[kernel].owns * lines;
	const uint64_t streams = traffic[kernel].streams * lines;
	const uint64_t fetches = counts->values[index_of(counts, MISS_CRD)];

	expect(counts, DRD, reads);
	expect(counts, MISS_DRD, reads);
	expect(counts, RFO, owns);
	expect(counts, MISS_RFO, owns);
	expect(counts, WCILF, streams);
	expect(counts, WCIL, 0);
	expect(counts, INVITOE, streams);
	expect(counts, "ha.IMC_WRITES.PARTIAL", 0);
	expect(counts, "ha.REQUESTS.READS", reads + owns + fetches);
	expect(counts, "ha.REQUESTS.READS_REMOTE", 0);
}

static void kernels_on_one_core(void **unused)
{
	size_t kernels;

	(void)unused;
	feed_kernels(&kernels);
	assert_int_equal(COUNT(traffic), kernels);
	for (unsigned sockets = 1; sockets <= 2; sockets++) {
		const struct pmu_machine desc = cut_down(sockets);
		struct counts counts;

		choose_events(&counts, &desc);
		for (size_t i = 0; i < kernels; i++) {
			count_all(&counts, &desc, drive_kernel,
				  feed_kernel_find(traffic[i].kernel));
			check(&counts, sockets);
			check_traffic(&counts, i);
		}
	}
}

/* Whatever cores can do, on lines that the others want too. */
static void step_once(struct fixture *fixture, struct machine_hart *core, uint64_t word)
{
	static const struct machine_insn insn = {0};
	uint64_t offset = (word >> 24) % (word & 1u << 20 ? 64 << 10 : SHARED_BYTES) & ~63ull;
	struct machine_block block;

	switch (word >> 16 & 7) {
	case 0:
		machine_store_nt(core, DATA + offset, 8);
		break;
	case 1:
		machine_store_nt(core, DATA + offset, 64);
		break;
	case 2:
		machine_locked(core, DATA + offset, 8, &insn);
		break;
	case 3:
		machine_block_init(fixture->machine, &block, CODE + offset, 16, 4, 0, 0);
		machine_run(core, &block);
		break;
	case 4:
	case 5:
		machine_store(core, DATA + offset, 8, &insn);
		break;
	default:
		machine_load(core, DATA + offset, 8, &insn);
	}
}

/* Four cores in owners, on the large machine of both sockets. @param on  of prefetchers */
static void drive_random(struct fixture *fixture, const void *on)
{
	const unsigned cores = fixture->desc->sockets * fixture->desc->cores,
		       step = cores / CORES_USED;
	struct machine_hart *core[CORES_MAX];
	uint64_t random = 88172645463325252;

	set_all_prefetchers(fixture->machine, *(const uint32_t *)on);
	for (unsigned i = 0; i < cores; i++)
		core[i] = machine_hart_enter(fixture->machine, fixture->space, 0);
	for (unsigned i = 0; i < RANDOM_STEPS; i++) {
		uint64_t word = next_random(&random);

		step_once(fixture, core[word % CORES_USED * step], word);
	}
	for (unsigned i = 0; i < cores; i++)
		machine_hart_leave(core[i]);
}

static void check_random(uint32_t on)
{
	for (unsigned sockets = 1; sockets <= 2; sockets++) {
		const struct pmu_machine desc = cut_down(sockets);
		struct counts counts;

		choose_events(&counts, &desc);
		count_all(&counts, &desc, drive_random, &on);
		check(&counts, sockets);
		assert_true(!on || (counts.stats.l2_prefetches && counts.stats.llc_prefetches));
		/* No law holds because there was nothing. */
		for (size_t i = 0; i < COUNT(laws); i++)
			if (sockets == 2 && applies(&laws[i], sockets))
				assert_true(sum(&counts, laws[i].left) > 0);
	}
}

static void random_on_four_cores(void **unused)
{
	(void)unused;
	check_random(0);
}

/* All of them, whose requests are requests like others. */
static void random_with_prefetchers(void **unused)
{
	(void)unused;
	check_random(0xF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernels_on_one_core),
	    cmocka_unit_test(random_on_four_cores),
	    cmocka_unit_test(random_with_prefetchers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
