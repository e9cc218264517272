/*
 * Encodings for Core i7 and Xeon 5500, worked out by hand from the tables of the Performance
 * Analysis Guide (G) and the register layouts of 253669 §18.8.
 */
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "encoding.h"
#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

/* Writes end with address 0. Controls: usr 16, os 17, edge 18, int 20, any 21, en 22, inv 23. */
static const struct {
	const char *text;
	unsigned counter;
	struct expected_write writes[3];
} encodings[] = {
    /* Request 03, response 60: G table 9 and the lists behind it */
    {"nehalem/core.OFFCORE_RESPONSE_0.DEMAND_DATA.ANY_DRAM:usr",
     2,
     {{0x1a6, 0x6003}, {0x188, 0x004101b7}}},
    /* Where non-temporal stores to local memory are counted: G, erratum behind table 9 */
    {"nehalem/core.OFFCORE_RESPONSE_0.OTHER.LLC_OTHER_CORE_HIT",
     0,
     {{0x1a6, 0x0280}, {0x186, 0x004301b7}}},
    {"nehalem/core.OFFCORE_RESPONSE_0.DEMAND_DATA_RD+PF_DATA_RD.REMOTE_DRAM+LOCAL_DRAM",
     0,
     {{0x1a6, 0x6011}, {0x186, 0x004301b7}}},
    {"nehalem/core.OFFCORE_RESPONSE_0:request=ANY_REQUEST:response=0xf8",
     0,
     {{0x1a6, 0xf8ff}, {0x186, 0x004301b7}}},
    /* 20 is hexadecimal, 128 is not: G table 4, Appendix 1 */
    {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_20", 3, {{0x3f6, 0x20}, {0x189, 0x0043100b}}},
    {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_128", 3, {{0x3f6, 0x80}, {0x189, 0x0043100b}}},
    {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_0:ldlat=100",
     0,
     {{0x3f6, 100}, {0x186, 0x0043100b}}},
    /* G table 1: C, I, E and AT */
    {"nehalem/core.UOPS_EXECUTED.CORE_STALL_COUNT", 1, {{0x187, 0x01e73fb1}}},
    {"nehalem/core.UOPS_EXECUTED.PORT2_CORE", 0, {{0x186, 0x006304b1}}},
    {"nehalem/core.UOPS_EXECUTED.PORT2_CORE:any=0", 0, {{0x186, 0x004304b1}}},
    {"nehalem/core.UOPS_ISSUED.STALL_CYCLES", 0, {{0x186, 0x01c3010e}}},
    {"nehalem/core.UOPS_ISSUED.ANY:cmask=3", 0, {{0x186, 0x0343010e}}},
    {"nehalem/core.CPU_CLK_UNHALTED.TOTAL_CYCLES", 0, {{0x186, 0x02c3003c}}},
    {"nehalem/core.INST_RETIRED.TOTAL_CYCLES_R3", 0, {{0x186, 0x10c101c0}}},
    {"nehalem/core.INST_RETIRED.TOTAL_CYCLES_R0", 0, {{0x186, 0x10c201c0}}},
    {"nehalem/core.BR_INST_RETIRED.NEAR_CALL:int", 0, {{0x186, 0x005302c4}}},
    {"L1D_CACHE_LD.I_STATE", 1, {{0x187, 0x00430140}}},
    {"L2_DATA_RQSTS.DEMAND.I_STATE+PREFETCH.I_STATE", 0, {{0x186, 0x00431126}}},
    {"ITLB_MISS_RETIRED", 0, {{0x186, 0x004320c8}}},
    /* One name, two codes: G table 20 */
    {"MACRO_INSTS.DECODED", 0, {{0x186, 0x004301d0}}},
    {"MACRO_INSTS.FUSIONS_DECODED", 0, {{0x186, 0x004301a6}}},
    /* Four bits a fixed counter: os, usr, any, PMI (253669 §18.2.2) */
    {"nehalem/core.INST_RETIRED.ANY", 0, {{0x38d, 0x003}}},
    {"nehalem/core.CPU_CLK_UNHALTED.THREAD:usr", 0, {{0x38d, 0x020}}},
    {"nehalem/core.CPU_CLK_UNHALTED.REF:os:any:int", 0, {{0x38d, 0xd00}}},

    {"nehalem/uncore.UNC_LLC_MISS.READ", 0, {{0x3c0, 0x00400109}}},
    /* cmask 32: G table 24 */
    {"UNC_GQ_TRACKER_OCCUP.RT_LLC_MISS_FULL", 7, {{0x3c7, 0x20400202}}},
    {"UNC_GQ_TRACKER_OCCUP.RT:occ_ctr_rst", 0, {{0x3c0, 0x00420102}}},
    /* MSR 0x301: G table 28 */
    {"UNC_GQ_SNOOP.GOTO_S_HIT_E", 0, {{0x301, 0x02}, {0x3c0, 0x0040040c}}},
    {"UNC_GQ_SNOOP.GOTO_I_HIT_F", 0, {{0x301, 0x80}, {0x3c0, 0x0040080c}}},
    {"UNC_GQ_SNOOP.GOTO_I", 0, {{0x3c0, 0x0040020c}}},
    /* MSR 0x396: G tables 37, 38 */
    {"UNC_ADDR_OPCODE_MATCH.LOCAL.RSPFWDI", 0, {{0x396, 0x4000190000000000}, {0x3c0, 0x00400435}}},
    {"UNC_ADDR_OPCODE_MATCH.REMOTE.NONE:match_select=ADDRESS:address=0x1000",
     0,
     {{0x396, 0x8000000000008000}, {0x3c0, 0x00400235}}},
    {"UNC_GQ_DATA.FROM_IMC", 0, {{0x3c0, 0x00400204}}},
    {"UNC_GQ_DATA.TO_LLC", 0, {{0x3c0, 0x00400205}}},
    {"UNC_IMC_WRITES.PARTIAL.ANY:pmi", 0, {{0x3c0, 0x0050382f}}},
    {"uncore.clock", 0, {{0x395, 0x1}}},
};

static void test_by_hand(void **state)
{
	assert_int_equal(pmu_find_box(pmu_find_pmu("nehalem"), "core")->space, PMU_SPACE_MSR);
	assert_int_equal(pmu_find_box(pmu_find_pmu("nehalem"), "uncore")->space, PMU_SPACE_MSR);
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		check_encoding(*state, NULL, encodings[i].text, 0, encodings[i].counter,
			       encodings[i].writes);
}

/* What is said in other words has one name. */
static const struct {
	const char *text, *canonical;
} names[] = {
    {"UOPS_ISSUED.ANY:cmask=1:inv", "UOPS_ISSUED.STALL_CYCLES"},
    {"UOPS_ISSUED.ANY:cmask=1:inv:edge", "UOPS_ISSUED.STALL_CYCLES:edge"},
    {"UOPS_ISSUED.ANY:cmask=2:inv", "UOPS_ISSUED.ANY:cmask=2:inv"},
    {"UOPS_ISSUED.ANY:os:usr", "UOPS_ISSUED.ANY"},
    {"UOPS_ISSUED.ANY:os=0", "UOPS_ISSUED.ANY:usr"},
    {"UOPS_EXECUTED.PORT2_CORE:any", "UOPS_EXECUTED.PORT2_CORE"},
    {"UOPS_EXECUTED.PORT2_CORE:any=0", "UOPS_EXECUTED.PORT2_CORE:any=0"},
    {"OFFCORE_RESPONSE_0.DATA_IN.LOCAL_DRAM",
     "OFFCORE_RESPONSE_0:request=DATA_IN:response=LOCAL_DRAM"},
    {"OFFCORE_RESPONSE_0.DATA_IN.LLC_MISS",
     "OFFCORE_RESPONSE_0:request=DATA_IN:response=ANY_LLC_MISS"},
    {"INST_RETIRED.ANY:usr:os", "INST_RETIRED.ANY"},
    {"INST_RETIRED.ANY:usr", "INST_RETIRED.ANY:usr"},
    {"IA32_FIXED_CTR2", "CPU_CLK_UNHALTED.REF"},
};

static void test_names(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("nehalem");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pmu_selection selection;
		char text[256], expected[256];

		print_message("%s\n", names[i].text);
		if (pmu_event_parse(*state, pmu, names[i].text, &selection))
			fail_msg("%s", pmu_message(*state));
		pmu_event_print(&selection, text, sizeof(text));
		snprintf(expected, sizeof(expected), "nehalem/core.%s", names[i].canonical);
		assert_string_equal(text, expected);
	}
}

static const struct {
	const char *text;
	int code;
	const char *says;
} refusals[] = {
    {"OFFCORE_RESPONSE_0", PMU_E_SYNTAX, "needs the filter request"},
    {"OFFCORE_RESPONSE_0.DATA_IN", PMU_E_SYNTAX, "needs the filter response"},
    {"OFFCORE_RESPONSE_0.DATA_INN.ANY_DRAM", PMU_E_UNKNOWN, "did you mean DATA_IN?"},
    {"OFFCORE_RESPONSE_0:request=0:response=1", PMU_E_CONFLICT, "counts nothing"},
    {"UOPS_ISSUED.ANY:edge", PMU_E_SYNTAX, "needs a cmask"},
    {"UOPS_ISSUED.ANY:inv:cmask=0", PMU_E_SYNTAX, "needs a cmask"},
    {"UOPS_ISSUED.ANY:usr=0:os=0", PMU_E_CONFLICT, "no ring at all"},
    {"UOPS_ISSUED.ANY+STALL_CYCLES", PMU_E_CONFLICT, "stands alone"},
    {"UOPS_ISSUED.ANY:cmask=256", PMU_E_RANGE, "0 to 255"},
    {"MACRO_INSTS", PMU_E_SYNTAX, "needs a unit mask"},
    {"MACRO_INSTS.DECODED+FUSIONS_DECODED", PMU_E_UNKNOWN, "FUSIONS_DECODED"},
    {"INST_RETIRED.ANY:cmask=1", PMU_E_CONFLICT, "no field cmask"},
    {"L1D_CACHE_LD.MESI:ldlat=3", PMU_E_CONFLICT, "does not look at the filter ldlat"},
};

static void test_refusals(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("nehalem");

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct pmu_selection selection;

		assert_int_equal(pmu_event_parse(*state, pmu, refusals[i].text, &selection),
				 refusals[i].code);
		print_message("%s\n", pmu_message(*state));
		assert_non_null(strstr(pmu_message(*state), refusals[i].says));
	}
}

/* G, L1D: only the first two counters see the L1D. */
static void test_counters(void **state)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;

	assert_int_equal(pmu_event_parse(*state, NULL, "L1D_CACHE_LD.MESI", &selection), 0);
	assert_int_equal(pmu_event_encode(*state, &selection, 0, 1, writes), 1);
	assert_int_equal(pmu_event_encode(*state, &selection, 0, 2, writes), PMU_E_CONFLICT);
}

static void test_decode(void **state)
{
	static const struct {
		uint64_t control;
		const char *text;
	} controls[] = {
	    {0x01e73fb1, "nehalem/core.UOPS_EXECUTED.CORE_STALL_COUNT"},
	    {0x004101a6, "nehalem/core.MACRO_INSTS.FUSIONS_DECODED:usr"},
	    {0x004301f6, "nehalem/core.SQ_STALL"},
	    {0x01c301a8, "nehalem/core.LSD.INACTIVE"},
	};
	const struct pmu_box *core = pmu_find_box(pmu_find_pmu("nehalem"), "core");
	struct pmu_selection selection;

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		char text[256];

		assert_int_equal(pmu_event_decode(*state, core, controls[i].control, &selection),
				 0);
		pmu_event_print(&selection, text, sizeof(text));
		assert_string_equal(text, controls[i].text);
	}
	/* ITLB_MISS_RETIRED is unit mask 20 and no other. */
	assert_int_equal(pmu_event_decode(*state, core, 0x004301c8, &selection), PMU_E_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),  cmocka_unit_test(test_names),
	    cmocka_unit_test(test_refusals), cmocka_unit_test(test_counters),
	    cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
