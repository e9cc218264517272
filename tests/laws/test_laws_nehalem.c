/*
 * Conservation between the parts of the uncore of Xeon 5500, which are one box here: the LLC, the
 * global queue, the home logic, the memory controller, and the other socket.
 */
#include "conservation.h"
#include "support/cmocka.h"

#define READS "UNC_LLC_MISS.READ"

/* clang-format off */
static const struct law laws[] = {
	/* Cores' requests and the global queue. */
	{EQUAL, {"UNC_GQ_ALLOC.RT"}, {"UNC_LLC_HITS.READ", "UNC_LLC_MISS.READ"}},
	{EQUAL, {"UNC_GQ_ALLOC.RT"}, {"UNC_GQ_ALLOC.RT_TO_LLC_RESP"}},
	{EQUAL, {"UNC_GQ_ALLOC.RT_LLC_MISS"}, {READS}},
	{EQUAL, {"UNC_GQ_ALLOC.WT"}, {"UNC_LLC_HITS.WRITE", "UNC_LLC_MISS.WRITE"}},
	{EQUAL, {"UNC_GQ_ALLOC.PPT"}, {"UNC_LLC_HITS.PROBE", "UNC_LLC_MISS.PROBE"}},
	{EQUAL, {"UNC_LLC_HITS.ANY"}, {"UNC_LLC_HITS.READ", "UNC_LLC_HITS.WRITE"}},
	{EQUAL, {"UNC_LLC_MISS.ANY"}, {"UNC_LLC_MISS.READ", "UNC_LLC_MISS.WRITE"}},
	{AT_MOST, {"UNC_GQ_TRACKER_OCCUP.RT_LLC_MISS", "UNC_GQ_TRACKER_OCCUP.RT_TO_LLC_RESP"},
		  {"UNC_GQ_TRACKER_OCCUP.RT"}},
	{AT_MOST, {"UNC_GQ_CYCLES_BUSY.READ_TRACKER"}, {"UNC_GQ_TRACKER_OCCUP.RT"}},
	{AT_MOST, {"UNC_GQ_CYCLES_BUSY.WRITE_TRACKER"}, {"UNC_GQ_TRACKER_OCCUP.WT"}},
	{AT_MOST, {"UNC_GQ_CYCLES_BUSY.PEER_PROBE_TRACKER"}, {"UNC_GQ_TRACKER_OCCUP.PPT"}},
	/* What is missed comes in; what comes into a full set displaces something. */
	{EQUAL, {"UNC_LLC_LINES_IN.ANY"}, {READS}},
	{EQUAL, {"UNC_LLC_LINES_IN.ANY"}, {"UNC_LLC_LINES_IN.M_STATE", "UNC_LLC_LINES_IN.E_STATE",
		  "UNC_LLC_LINES_IN.F_STATE"}},
	{EQUAL, {"UNC_LLC_LINES_OUT.ANY"}, {"UNC_LLC_LINES_OUT.M_STATE", "UNC_LLC_LINES_OUT.E_STATE",
		  "UNC_LLC_LINES_OUT.S_STATE", "UNC_LLC_LINES_OUT.F_STATE"}},
	{AT_MOST, {"UNC_LLC_LINES_OUT.ANY"}, {"UNC_LLC_LINES_IN.ANY"}},
	/* The home logic. Streaming stores ask for the line, and write it. */
	{AT_MOST, {READS}, {"UNC_QHL_REQUESTS.LOCAL_READS+REMOTE_READS"}},
	{AT_MOST, {"UNC_LLC_LINES_OUT.M_STATE"}, {"UNC_QHL_REQUESTS.LOCAL_WRITES+REMOTE_WRITES"}},
	{EQUAL, {"UNC_QHL_REQUESTS.LOCAL_READS+REMOTE_READS"},
		{"UNC_QHL_REQUESTS.LOCAL_READS", "UNC_QHL_REQUESTS.REMOTE_READS"}},
	{AT_MOST, {"UNC_QHL_CYCLES_NOT_EMPTY.REMOTE"},
		  {"UNC_QHL_OCCUPANCY.REMOTE", "UNC_QHL_REQUESTS.REMOTE_WRITES"}},
	/* Each of its reads is a probe of the other socket's queue, which answers once. */
	{EQUAL, {"UNC_GQ_ALLOC.PPT"}, {"UNC_QHL_REQUESTS.LOCAL_READS", "UNC_QHL_REQUESTS.REMOTE_READS"}},
	{EQUAL, {"UNC_QHL_REQUESTS.REMOTE_READS"},
		{"UNC_SNP_RESP_TO_LOCAL_HOME.I_STATE", "UNC_SNP_RESP_TO_LOCAL_HOME.S_STATE",
		 "UNC_SNP_RESP_TO_LOCAL_HOME.FWD_S_STATE", "UNC_SNP_RESP_TO_LOCAL_HOME.FWD_I_STATE",
		 "UNC_SNP_RESP_TO_LOCAL_HOME.WB"}},
	{EQUAL, {"UNC_QHL_REQUESTS.LOCAL_READS"},
		{"UNC_SNP_RESP_TO_REMOTE_HOME.I_STATE", "UNC_SNP_RESP_TO_REMOTE_HOME.S_STATE",
		 "UNC_SNP_RESP_TO_REMOTE_HOME.FWD_S_STATE", "UNC_SNP_RESP_TO_REMOTE_HOME.FWD_I_STATE",
		 "UNC_SNP_RESP_TO_REMOTE_HOME.WB"}},
	{EQUAL, {"UNC_SNP_RESP_TO_LOCAL_HOME.HITM"},
		{"UNC_SNP_RESP_TO_LOCAL_HOME.WB", "UNC_SNP_RESP_TO_LOCAL_HOME.FWD_S_STATE"}},
	/* Probes that find the line change its state. */
	{EQUAL, {"UNC_LLC_HITS.PROBE"}, {"UNC_GQ_SNOOP.GOTO_S", "UNC_GQ_SNOOP.GOTO_I"}},
	{EQUAL, {"UNC_GQ_SNOOP.GOTO_S"}, {"UNC_GQ_SNOOP.GOTO_S_HIT_M", "UNC_GQ_SNOOP.GOTO_S_HIT_E",
		  "UNC_GQ_SNOOP.GOTO_S_HIT_S", "UNC_GQ_SNOOP.GOTO_S_HIT_F"}},
	{EQUAL, {"UNC_GQ_SNOOP.GOTO_I"}, {"UNC_GQ_SNOOP.GOTO_I_HIT_M", "UNC_GQ_SNOOP.GOTO_I_HIT_E",
		  "UNC_GQ_SNOOP.GOTO_I_HIT_S", "UNC_GQ_SNOOP.GOTO_I_HIT_F"}},
	{AT_MOST, {"UNC_GQ_SNOOP.GOTO_S_HIT_M"},
		  {"UNC_SNP_RESP_TO_LOCAL_HOME.WB", "UNC_SNP_RESP_TO_REMOTE_HOME.WB"}},
	/* The memory controller. */
	{EQUAL, {"UNC_IMC_NORMAL_READS.ANY"}, {"UNC_IMC_NORMAL_READS.CH0",
		  "UNC_IMC_NORMAL_READS.CH1", "UNC_IMC_NORMAL_READS.CH2"}},
	{AT_MOST, {"UNC_IMC_NORMAL_READS.ANY"}, {READS}},
	{AT_MOST, {"UNC_QHL_REQUESTS.LOCAL_WRITES+REMOTE_WRITES"},
		  {"UNC_IMC_WRITES.FULL.ANY", "UNC_IMC_WRITES.PARTIAL.ANY"}},
	{EQUAL, {"UNC_IMC_WRITES.FULL.ANY", "UNC_IMC_WRITES.PARTIAL.ANY"},
		{"UNC_QHL_REQUESTS.LOCAL_WRITES+REMOTE_WRITES", "UNC_SNP_RESP_TO_LOCAL_HOME.WB",
		 "UNC_SNP_RESP_TO_REMOTE_HOME.WB"}},
	{EQUAL, {"UNC_IMC_WRITES.FULL.ANY"}, {"UNC_IMC_WRITES.FULL.CH0", "UNC_IMC_WRITES.FULL.CH1",
		  "UNC_IMC_WRITES.FULL.CH2"}},
	{EQUAL, {"UNC_IMC_WRITES.PARTIAL.ANY"}, {"UNC_IMC_WRITES.PARTIAL.CH0",
		  "UNC_IMC_WRITES.PARTIAL.CH1", "UNC_IMC_WRITES.PARTIAL.CH2"}},
	{AT_MOST, {"UNC_DRAM_WRITE_CAS.CH1"}, {"UNC_IMC_WRITES.FULL.CH1", "UNC_IMC_WRITES.PARTIAL.CH1"}},
	{AT_MOST, {"UNC_DRAM_OPEN.CH0"}, {"UNC_DRAM_READ_CAS.CH0", "UNC_DRAM_WRITE_CAS.CH0"}},
	{AT_MOST, {"UNC_DRAM_PAGE_MISS.CH2"}, {"UNC_DRAM_OPEN.CH2"}},
	{AT_MOST, {"UNC_IMC_BUSY.READ.CH0"}, {"UNC_IMC_NORMAL_OCCUPANCY.CH0"}},
};

/* The machine's own statistics, over both sockets. */
static const struct witness witnesses[] = {
	{{READS}, STATISTIC(llc_misses)},
	{{"UNC_LLC_LINES_OUT.ANY"}, STATISTIC(llc_victims)},
	{{"UNC_IMC_NORMAL_READS.ANY"}, STATISTIC(home_reads)},
	{{"UNC_DRAM_READ_CAS.CH0", "UNC_DRAM_READ_CAS.CH1", "UNC_DRAM_READ_CAS.CH2"}, STATISTIC(cas_reads)},
	{{"UNC_DRAM_WRITE_CAS.CH0", "UNC_DRAM_WRITE_CAS.CH1", "UNC_DRAM_WRITE_CAS.CH2"},
	 STATISTIC(cas_writes)},
};
/* clang-format on */

static const struct rules rules = {laws, witnesses, COUNT(laws), COUNT(witnesses)};

/* With an LLC so small that little traffic fills it. */
static struct pmu_machine cut_down(void)
{
	struct pmu_machine desc = *pmu_find_machine("xeon-x5570-2s");

	desc.llc.sets = 64;
	desc.memory_bytes = 1 << 28;
	desc.translation = "none";
	return desc;
}

static void check_random(uint32_t prefetchers)
{
	const struct pmu_machine desc = cut_down();
	struct counts counts;

	choose_events(&counts, &rules, &desc);
	count_all(&counts, &desc, drive_random, &prefetchers);
	check_rules(&counts, &rules, desc.sockets);
	/* No law holds because there was nothing. */
	for (size_t i = 0; i < COUNT(laws); i++)
		if (!sum(&counts, laws[i].left))
			fail_msg("there was no %s", laws[i].left[0]);
}

static void random_on_four_cores(void **unused)
{
	(void)unused;
	check_random(0);
}

static void random_with_prefetchers(void **unused)
{
	(void)unused;
	check_random(0xF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_on_four_cores),
	    cmocka_unit_test(random_with_prefetchers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
