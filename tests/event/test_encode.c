/* Encodings worked out by hand from the register and event tables of 334291-001. */
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "encoding.h"
#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

#define PCI(device, function, offset) ((device) << 15 | (function) << 12 | (offset))

/* Writes end with address 0. */
static const struct {
	const char *text;
	unsigned instance, counter;
	struct expected_write writes[7];
} encodings[] = {
    /* opc 28:20 = 0x182; en 22, umask 0x03, ev_sel 0x35: tables 2-16, 2-19, 2-20, 2-40 */
    {"cbo3.TOR_INSERTS.MISS_OPCODE:opc=DRd", 3, 1, {{0xe36, 0x18200000}, {0xe32, 0x00400335}}},
    /* state 23:17, I is its lowest bit: table 2-18 */
    {"cbo.LLC_LOOKUP.DATA_READ:state=I", 0, 0, {{0xe05, 0x00020000}, {0xe01, 0x00400334}}},
    /* M is bit 20, E bit 19 */
    {"cbo.LLC_LOOKUP.WRITE:state=M+E", 0, 0, {{0xe05, 0x00180000}, {0xe01, 0x00400534}}},
    {"cbo.TOR_OCCUPANCY.NID_MISS_OPCODE:opc=RFO:nid=1",
     0,
     0,
     {{0xe06, 0x18000001}, {0xe01, 0x00404336}}},
    /* tid switches on tid_en, bit 19 of the control */
    {"cbo.TOR_INSERTS.OPCODE:tid=0x3e:opc=ItoM",
     0,
     0,
     {{0xe05, 0x0000003e}, {0xe06, 0x1c800000}, {0xe01, 0x00480135}}},
    {"cbo.LLC_VICTIMS.M_STATE", 17, 3, {{0xf14, 0x00400137}}},
    /* thresh 31:24, edge_det 18 */
    {"cbo.COUNTER0_OCCUPANCY{edge_det,thresh=0x1}", 1, 2, {{0xe13, 0x0144001f}}},
    /* invert 23 */
    {"cbo.RxR_OCCUPANCY.IRQ:thresh=20:inv", 0, 0, {{0xe01, 0x14c00111}}},
    {"cbo.CLOCKTICKS", 23, 0, {{0xf71, 0x00400000}}},
    /* D20:F0, CTL0 at 0xd8: table 2-112 */
    {"imc.CAS_COUNT.RD", 0, 0, {{PCI(20, 0, 0xd8), 0x00400304}}},
    {"imc.RD_CAS_RANK1.BANKG3", 3, 2, {{PCI(21, 1, 0xe0), 0x004014b1}}},
    {"imc.RD_CAS_RANK1.BANK0", 7, 1, {{PCI(24, 1, 0xdc), 0x004000b1}}},
    /* The fixed counter has only en: table 2-116 */
    {"imc.clock", 4, 0, {{PCI(23, 0, 0xf0), 0x00400000}}},
    {"ha.REQUESTS.READS", 1, 3, {{PCI(18, 5, 0xe4), 0x00400301}}},
    /* Address 0x1234_5678_9a40: bits 31:6 and 45:32; RdData is class 0, opcode 2 */
    {"ha.ADDR_OPC_MATCH.FILT:opc=RdData:lo_addr=0x159e269:hi_addr=0x1234",
     0,
     0,
     {{PCI(18, 1, 0x40), 0x56789a40},
      {PCI(18, 1, 0x44), 0x00001234},
      {PCI(18, 1, 0x48), 0x00000002},
      {PCI(18, 1, 0xd8), 0x00400320}}},
    /* Written twice, first without en (§2.4.2.2); SBo 1 CTL2 at 0x72d: table 2-44 */
    {"sbo.RING_AD_USED.UP", 1, 2, {{0x72d, 0x0000031b}, {0x72d, 0x0040031b}}},
    /* ev_sel_ext 21: table 2-169; D8:F2 for port 0: table 2-166 */
    {"qpi.RxL_FLITS_G1.SNP", 0, 0, {{PCI(8, 2, 0xd8), 0x00600102}}},
    /* Band 0 in bits 7:0, 100 MHz each; CTL1 at 0x712: table 2-156 */
    {"pcu.FREQ_BAND0_CYCLES:band0=20:edge:thresh=1",
     0,
     1,
     {{0x715, 0x00000014}, {0x712, 0x0144000b}}},
    /* occ_sel 15:14 = 3, occ_edge_det 31, thresh 28:24: table 2-159; not on counter 0 */
    {"pcu.POWER_STATE_OCCUPANCY.CORES_C6:edge:thresh=1", 0, 1, {{0x712, 0x8140c080}}},
    /* Table 2-172: what is matched is compared in all its bits, where no mask says otherwise, and
       nothing else is; mc 12:9 = 14, opc 8:5 = 2; D8:F6, control on F2 */
    {"qpi.CTO_COUNT:rx_match_mc=DRS:rx_match_opc=2",
     0,
     0,
     {{PCI(8, 6, 0x210), 0},
      {PCI(8, 6, 0x214), 0},
      {PCI(8, 6, 0x228), 0x1c40},
      {PCI(8, 6, 0x238), 0x1fe0},
      {PCI(8, 6, 0x23c), 0},
      {PCI(8, 2, 0xd8), 0x00600038}}},
    {"ubox.EVENT_MSG", 0, 1, {{0x706, 0x00400842}}},
    {"ubox.clock", 0, 0, {{0x703, 0x00400000}}},
    /* 325384, IA32_PERFEVTSELx: cmask 31:24, inv 23, any 21, edge 18, os 17, usr 16; codes: perfmon
     */
    {"xeon-e5v4/core.MEM_LOAD_UOPS_RETIRED.L3_MISS:usr", 0, 3, {{0x189, 0x004120d1}}},
    {"xeon-e5v4/core.UOPS_ISSUED.STALL_CYCLES", 0, 0, {{0x186, 0x01c3010e}}},
    {"xeon-e5v4/core.RS_EVENTS.EMPTY_END", 0, 0, {{0x186, 0x01c7015e}}},
    {"xeon-e5v4/core.L1D_PEND_MISS.PENDING", 0, 2, {{0x188, 0x00430148}}},
    {"xeon-e5v4/core.L1D_PEND_MISS.FB_FULL", 0, 0, {{0x186, 0x01430248}}},
    {"xeon-e5v4/core.IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE", 0, 0, {{0x186, 0x0443019c}}},
    {"xeon-e5v4/core.OFFCORE_RESPONSE_1.ALL_DATA_RD.LLC_MISS_LOCAL_DRAM",
     0,
     0,
     {{0x1a7, 0x604000091}, {0x186, 0x004301bb}}},
    {"xeon-e5v4/core.MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128",
     0,
     3,
     {{0x3f6, 0x80}, {0x189, 0x004301cd}}},
};

static void test_by_hand(void **state)
{
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		check_encoding(*state, NULL, encodings[i].text, encodings[i].instance,
			       encodings[i].counter, encodings[i].writes);
}

static void test_control_is_not_enabled(void **state)
{
	struct pmu_selection selection;

	assert_int_equal(
	    pmu_event_parse(*state, NULL, "imc.CAS_COUNT.WR:thresh=1:edge", &selection), 0);
	assert_int_equal(pmu_event_control(&selection), 0x01040c04);
	assert_int_equal(pmu_event_parse(*state, NULL, "ubox.clock", &selection), 0);
	assert_int_equal(pmu_event_control(&selection), 0);
}

#define MERGED_MAX 2

/* Two events on counters 0 and 1; a refusal says these words. */
static const struct {
	const char *texts[MERGED_MAX];
	struct expected_write writes[5];
	const char *says[4];
} merges[] = {
    /* Different fields of FILTER1: opc 28:20, nid 15:0 */
    {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", "cbo.LLC_VICTIMS.M_STATE+NID:nid=2"},
     {{0xe06, 0x18200002}, {0xe01, 0x00400136}, {0xe02, 0x00404137}},
     {NULL}},
    /* Different registers, in their order whatever that of the events */
    {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", "cbo.LLC_LOOKUP.ANY:state=I"},
     {{0xe05, 0x00020000}, {0xe06, 0x18200000}, {0xe01, 0x00400136}, {0xe02, 0x00401134}},
     {NULL}},
    /* Controls that are written twice stay together: table 2-44 */
    {{"sbo.RING_AD_USED.UP", "sbo.CLOCKTICKS"},
     {{0x721, 0x31b}, {0x721, 0x40031b}, {0x722, 0}, {0x722, 0x400000}},
     {NULL}},
    {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", "cbo.TOR_INSERTS.OPCODE:opc=RFO"},
     {{0}},
     {"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", "cbo.TOR_INSERTS.OPCODE:opc=RFO", "values of opc",
      "Cn_MSR_PMON_BOX_FILTER1"}},
    /* What does not name nc must not have it. */
    {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd:nc=1", "cbo.TOR_INSERTS.ALL"},
     {{0}},
     {"values of nc", "cbo.TOR_INSERTS.ALL"}},
};

static void test_merge(void **state)
{
	for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
		struct pmu_write writes[MERGED_MAX * PMU_EVENT_WRITES];
		struct pmu_selection selections[MERGED_MAX];
		struct pmu_placed events[MERGED_MAX];
		int count;

		for (unsigned e = 0; e < MERGED_MAX; e++) {
			if (pmu_event_parse(*state, NULL, merges[i].texts[e], &selections[e]))
				fail_msg("%s", pmu_message(*state));
			events[e] = (struct pmu_placed){.selection = &selections[e], .counter = e};
		}
		count = pmu_event_merge(*state, events, MERGED_MAX, writes,
					sizeof(writes) / sizeof(writes[0]));
		if (merges[i].says[0])
			assert_int_equal(count, PMU_E_CONFLICT);
		for (size_t s = 0; s < 4 && merges[i].says[s]; s++)
			if (!strstr(pmu_message(*state), merges[i].says[s]))
				fail_msg("\"%s\" is not in: %s", merges[i].says[s],
					 pmu_message(*state));
		for (int w = 0; w < count; w++) {
			assert_int_equal(writes[w].address, merges[i].writes[w].address);
			assert_int_equal(writes[w].value, merges[i].writes[w].value);
		}
		if (count >= 0)
			assert_int_equal(merges[i].writes[count].address, 0);
	}
}

/* One after the other, until there is no room. */
static void test_merge_is_bounded(void **state)
{
	struct pmu_selection selection;
	struct pmu_placed event = {.selection = &selection};
	struct pmu_write writes[2];

	assert_int_equal(
	    pmu_event_parse(*state, NULL, "cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", &selection), 0);
	assert_int_equal(pmu_event_merge(*state, &event, 1, writes, 2), 2);
	assert_int_equal(pmu_event_merge(*state, &event, 1, writes, 1), PMU_E_RANGE);
	assert_int_equal(pmu_event_merge(*state, NULL, 0, NULL, 0), 0);
}

/* Events that only some counters can count (§2.3.4), and instances that are not there. */
static void test_places(void **state)
{
	static const struct {
		const char *text;
		unsigned instance, counter;
		int code;
	} places[] = {
	    /* nc and isoc of FILTER1 */
	    {"cbo.TOR_OCCUPANCY.ALL", 0, 0, 2},
	    {"cbo.TOR_OCCUPANCY.ALL", 0, 1, PMU_E_CONFLICT},
	    {"cbo.FAST_ASSERTED", 0, 1, 1},
	    {"cbo.FAST_ASSERTED", 0, 2, PMU_E_CONFLICT},
	    {"cbo.CLOCKTICKS", 0, 4, PMU_E_CONFLICT},
	    {"cbo.CLOCKTICKS", 0, 40, PMU_E_CONFLICT},
	    {"cbo.CLOCKTICKS", 24, 0, PMU_E_RANGE},
	    {"cbo7.CLOCKTICKS", 7, 0, 1},
	    {"cbo7.CLOCKTICKS", 8, 0, PMU_E_CONFLICT},
	    {"imc.clock", 8, 0, PMU_E_RANGE},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=my_node", 0, 0, PMU_E_UNSUPPORTED},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct pmu_selection selection;
		struct pmu_write writes[PMU_EVENT_WRITES];

		assert_int_equal(pmu_event_parse(*state, NULL, places[i].text, &selection), 0);
		assert_int_equal(pmu_event_encode(*state, &selection, places[i].instance,
						  places[i].counter, writes),
				 places[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand), cmocka_unit_test(test_control_is_not_enabled),
	    cmocka_unit_test(test_merge),   cmocka_unit_test(test_merge_is_bounded),
	    cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
