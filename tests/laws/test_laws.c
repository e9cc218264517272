/*
 * Conservation: what one box counts is what the box beside it counts, and what the traffic is known
 * to be. Each law compares registers with other registers, read by a session.
 */
#include "conservation.h"
#include "feed/kernels.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

#define PASSES	    2
#define ARRAY_LINES (1u << 14) /* of each array: beyond the cut-down LLC, in each of its sets */
#define ARRAY_BYTES (ARRAY_LINES * 64)
#define STRIDE	    256

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

static const struct witness witnesses[] = {
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

static const struct rules rules = {laws, witnesses, COUNT(laws), COUNT(witnesses)};

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

static void check_traffic(const struct counts *counts, size_t kernel)
{
	const uint64_t lines = PASSES * ARRAY_LINES;
	const uint64_t reads = traffic[kernel].reads * lines, owns = traffic[kernel].owns * lines;
	const uint64_t streams = traffic[kernel].streams * lines;
	const uint64_t fetches = counted(counts, MISS_CRD);

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

		choose_events(&counts, &rules, &desc);
		for (size_t i = 0; i < kernels; i++) {
			count_all(&counts, &desc, drive_kernel,
				  feed_kernel_find(traffic[i].kernel));
			check_rules(&counts, &rules, sockets);
			check_traffic(&counts, i);
		}
	}
}

static void check_random(uint32_t on)
{
	for (unsigned sockets = 1; sockets <= 2; sockets++) {
		const struct pmu_machine desc = cut_down(sockets);
		struct counts counts;

		choose_events(&counts, &rules, &desc);
		count_all(&counts, &desc, drive_random, &on);
		check_rules(&counts, &rules, sockets);
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
