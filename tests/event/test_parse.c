/* Notations that mean the same, names in any case, and what is refused, with where and why. */
#include <string.h>

#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

static const struct {
	const char *text;
	const char *canonical;
} notations[] = {
    {"CAS_COUNT.RD", "imc.CAS_COUNT.RD"},
    {"  imc.cas_count.rd ", "imc.CAS_COUNT.RD"},
    {"XEON-E5V4/IMC.CAS_COUNT.RD", "imc.CAS_COUNT.RD"},
    {"imc7.CAS_COUNT.RD", "imc7.CAS_COUNT.RD"},
    {"imc07.CAS_COUNT.RD", "imc7.CAS_COUNT.RD"},
    /* An event may end in a digit too, which is no instance. */
    {"RxR_IPQ_RETRY2.AD_SBO", "cbo.RxR_IPQ_RETRY2.AD_SBO"},
    /* Unit masks are bits: what they add up to has one name. */
    {"CAS_COUNT.RD_REG+RD_UNDERFILL", "imc.CAS_COUNT.RD"},
    {"CAS_COUNT.WR+RD", "imc.CAS_COUNT.ALL"},
    {"CAS_COUNT.WR_RMM+RD_REG", "imc.CAS_COUNT.RD_REG+WR_RMM"},
    /* An only unit mask need not be named. */
    {"EVENT_MSG", "ubox.EVENT_MSG.DOORBELL_RCVD"},
    {"cbo.clockticks:thresh=1:edge", "cbo.CLOCKTICKS:thresh=1:edge_det"},
    {"cbo.clockticks:edge_det=1:thresh=0b1", "cbo.CLOCKTICKS:thresh=1:edge_det"},
    {"cbo.clockticks{ inv , thresh = 0x1 }", "cbo.CLOCKTICKS:thresh=1:invert"},
    {"cbo.clockticks{edge_det,thresh=0x1}:invert", "cbo.CLOCKTICKS:thresh=1:invert:edge_det"},
    /* Control fields of 0 are as if they were not named. */
    {"cbo.clockticks:edge=0:thresh=0", "cbo.CLOCKTICKS"},
    {"TOR_INSERTS.OPCODE with:Cn_MSR_PMON_BOX_FILTER1.opc=0x182", "cbo.TOR_INSERTS.OPCODE:opc=DRd"},
    {"TOR_INSERTS.OPCODE with: cn_msr_pmon_box_filter1.OPC = drd",
     "cbo.TOR_INSERTS.OPCODE:opc=DRd"},
    {"TOR_INSERTS.NID_OPCODE with:Cn_MSR_PMON_BOX_FILTER1.{opc,nid}={0x180,0xF}",
     "cbo.TOR_INSERTS.NID_OPCODE:opc=RFO:nid=0xf"},
    {"TOR_INSERTS.NID_OPCODE with:Cn_MSR_PMON_BOX_FILTER1.{nid, opc}={other_nodes, RFO}",
     "cbo.TOR_INSERTS.NID_OPCODE:opc=RFO:nid=other_nodes"},
    {"TOR_INSERTS.OPCODE{tid_en} with:{Cn_MSR_PMON_BOX_FILTER0.tid=0x3E, "
     "Cn_MSR_PMON_BOX_FILTER1.opc=0x1C8}",
     "cbo.TOR_INSERTS.OPCODE:tid=0x3e:opc=ItoM"},
    {"cbo.COUNTER0_OCCUPANCY{thresh=1} with:Cn_MSR_PMON_BOX_FILTER1.opc=0x182",
     "cbo.COUNTER0_OCCUPANCY:thresh=1:opc=DRd"},
    {"cbo.LLC_LOOKUP.DATA_READ:state=M+E", "cbo.LLC_LOOKUP.DATA_READ:state=E+M"},
    {"cbo.LLC_LOOKUP.DATA_READ:state=any", "cbo.LLC_LOOKUP.DATA_READ:state=ANY"},
    {"cbo.LLC_LOOKUP.DATA_READ:state=0x1f", "cbo.LLC_LOOKUP.DATA_READ:state=I+S+E+M+F"},
    {"cbo.LLC_LOOKUP.NID+READ:state=I:nid=my_node", "cbo.LLC_LOOKUP.READ+NID:state=I:nid=my_node"},
    {"TOR_INSERTS.NID_ALL:nid=3", "cbo.TOR_INSERTS.NID_ALL:nid=0x3"},
    {"TOR_INSERTS.ALL:isoc:nc", "cbo.TOR_INSERTS.ALL:nc:isoc"},
    {"TOR_INSERTS.ALL:tid=0", "cbo.TOR_INSERTS.ALL:tid=0x0"},
    {"UCLK_FIXED", "ubox.clock"},
    {"U_MSR_PMON_UCLK_FIXED_CTR", "ubox.clock"},
    {"imc.clock", "imc.clock"},
    /* The second pair of bits, for occupancies: tables 2-159, 2-165. */
    {"pcu.POWER_STATE_OCCUPANCY.CORES_C6:thresh=4:inv",
     "pcu.POWER_STATE_OCCUPANCY.CORES_C6:thresh=4:occ_invert"},
    {"FREQ_BAND0_CYCLES with:PCU_MSR_PMON_BOX_FILTER.filt7_0=20",
     "pcu.FREQ_BAND0_CYCLES:band0=0x14"},
    {"irp.SNOOP_RESP.SNPDATA+HIT_M", "irp.SNOOP_RESP.HIT_M+SNPDATA"},
    /* A value whose name depends on another field is printed as a number. */
    {"CTO_COUNT:rx_match_opc=DRS.DataC_Cmp", "qpi.CTO_COUNT:rx_match_opc=0x2:rx_match_mc=DRS"},
    {"CTO_COUNT:rx_match_mc=0xE:rx_match_opc=drs.datac_cmp",
     "qpi.CTO_COUNT:rx_match_opc=0x2:rx_match_mc=DRS"},
    {"xeon-e5/qpi.CTO_COUNT:match_opc=DRS.DataC_Cmp",
     "xeon-e5/qpi.CTO_COUNT:match_opc=0x2:match_mc=DRS"},
    {"CTO_COUNT{rx_match_mc=DRS,rx_match_opc=DataC_Cmp}",
     "qpi.CTO_COUNT:rx_match_opc=0x2:rx_match_mc=DRS"},
    {"imc5.MC_CHy_PCI_PMON_FIXED_CTR", "imc5.clock"},
};

static void test_notations(void **state)
{
	for (size_t i = 0; i < sizeof(notations) / sizeof(notations[0]); i++) {
		struct pmu_selection selection;
		char text[256];

		print_message("%s\n", notations[i].text);
		assert_int_equal(pmu_event_parse(*state, NULL, notations[i].text, &selection), 0);
		pmu_event_print(&selection, text, sizeof(text));
		assert_string_equal(text, notations[i].canonical);
	}
}

/* @at and @marked: the part of the input under the carets. */
static const struct {
	const char *text;
	int code;
	const char *marked;
	size_t at;
	const char *says;
} refusals[] = {
    {"", PMU_E_SYNTAX, "", 0, "a box or event is missing"},
    {"cbo", PMU_E_SYNTAX, "cbo", 0, "cbo.EVENT"},
    {"cbo.", PMU_E_SYNTAX, "", 4, "an event is missing"},
    {"cbo.LLC_LOOKUP.", PMU_E_SYNTAX, "", 15, "a unit mask is missing"},
    {"imc.CAS_COUNT.RD+", PMU_E_SYNTAX, "", 17, "a unit mask is missing"},
    {"imc.CAS_COUNT.RD:", PMU_E_SYNTAX, "", 17, "a field is missing"},
    {"imc.CAS_COUNT.RD:thresh=", PMU_E_SYNTAX, "", 24, "a value is missing"},
    {"imc.CAS_COUNT.RD{thresh=1", PMU_E_SYNTAX, "", 25, "'}' is missing"},
    {"imc.CAS_COUNT.RD thresh=1", PMU_E_SYNTAX, "t", 17, ":field=value"},
    {"imc.CAS_COUNT.RD:thresh", PMU_E_SYNTAX, "thresh", 17, "8 bits and needs a value"},
    {"TOR_INSERTS.NID_OPCODE with:Cn_MSR_PMON_BOX_FILTER1.{opc,nid}={1}", PMU_E_SYNTAX, "}", 64,
     "',' is missing"},

    {"itanium/imc.CAS_COUNT", PMU_E_UNKNOWN, "itanium", 0, "valid: xeon-e5v4"},
    {"CAS_CUONT.RD", PMU_E_UNKNOWN, "CAS_CUONT", 0, "did you mean CAS_COUNT?"},
    {"cob.CLOCKTICKS", PMU_E_UNKNOWN, "cob", 0, "did you mean cbo?"},
    {"imc.LLC_LOOKUP.READ", PMU_E_UNKNOWN, "LLC_LOOKUP", 4, "no event \"LLC_LOOKUP\", but cbo has"},
    {"imc.CAS_COUNT.READ", PMU_E_UNKNOWN, "READ", 14, "Valid: RD_REG, RD_UNDERFILL, RD, "},
    {"cbo.CLOCKTICKS.ALL", PMU_E_UNKNOWN, "ALL", 15, "no unit masks"},
    {"imc.CAS_COUNT.RD:threshold=1", PMU_E_UNKNOWN, "threshold", 17, "did you mean thresh?"},
    {"imc.CAS_COUNT.RD:opc=1", PMU_E_UNKNOWN, "opc", 17, "thresh, invert, edge_det"},
    {"TOR_INSERTS.OPCODE:opc=DRq", PMU_E_UNKNOWN, "DRq", 23, "did you mean DRd?"},
    {"cbo.CLOCKTICKS:thresh=x1", PMU_E_UNKNOWN, "x1", 22, "no number"},
    {"cbo.CLOCKTICKS:thresh=1x", PMU_E_UNKNOWN, "1x", 22, "no number"},
    {"cbo.CLOCKTICKS:thresh=my_node", PMU_E_UNKNOWN, "my_node", 22, "no number"},
    {"TOR_INSERTS.OPCODE with:Cn_MSR_PMON_BOX_FILTER.opc=1", PMU_E_UNKNOWN,
     "Cn_MSR_PMON_BOX_FILTER", 24, "did you mean Cn_MSR_PMON_BOX_FILTER0?"},
    {"TOR_INSERTS.OPCODE with:Cn_MSR_PMON_BOX_FILTER0.opc=1", PMU_E_UNKNOWN, "opc", 48,
     "valid: state, tid"},

    {"cbo24.CLOCKTICKS", PMU_E_RANGE, "cbo24.CLOCKTICKS", 0, "0 to 23"},
    {"ubox1.RACU_REQUESTS", PMU_E_RANGE, "ubox1.RACU_REQUESTS", 0, "one ubox"},
    {"cbo.CLOCKTICKS:thresh=256", PMU_E_RANGE, "256", 22, "8 bits: 0 to 255"},
    /* Five bits in the UBox: table 2-7. */
    {"RACU_REQUESTS:thresh=32", PMU_E_RANGE, "32", 21, "5 bits: 0 to 31"},
    {"cbo.CLOCKTICKS:thresh=2", PMU_E_RANGE, "thresh=2", 15, "valid: 0 to 1"},
    {"cbo.CLOCKTICKS:edge=2:thresh=1", PMU_E_RANGE, "2", 20, "1 bit: 0 to 1"},
    {"TOR_INSERTS.ALL:tid=99999999999999999999999", PMU_E_RANGE, "99999999999999999999999", 20,
     "6 bits: 0 to 63"},

    {"CLOCKTICKS", PMU_E_CONFLICT, "CLOCKTICKS", 0, "cbo.CLOCKTICKS, "},
    {"clock", PMU_E_CONFLICT, "clock", 0, "xeon-e5v4/ubox.clock, xeon-e5v4/imc.clock"},
    {"imc.CAS_COUNT.RD:thresh=1:thresh=1", PMU_E_CONFLICT, "thresh=1", 26, "set twice"},
    {"imc.clock:thresh=1", PMU_E_CONFLICT, "thresh", 10, "fixed counter"},
    {"TOR_INSERTS.ALL+WB", PMU_E_CONFLICT, "WB", 16, "one unit mask"},
    {"cbo.RxR_INSERTS.IRQ+IRQ_REJ", PMU_E_CONFLICT, "IRQ_REJ", 20, "stands alone"},
    {"cbo.RxR_INSERTS.IRQ_REJ+IRQ", PMU_E_CONFLICT, "IRQ", 24, "stands alone"},
    {"TOR_INSERTS.OPCODE:opc=DRd+RFO", PMU_E_CONFLICT, "DRd+RFO", 23, "cannot be added"},
    {"TOR_INSERTS.ALL:opc=DRd", PMU_E_CONFLICT, "opc=DRd", 16, "OPCODE, MISS_OPCODE"},
    {"LLC_LOOKUP.READ:state=I:nid=1", PMU_E_CONFLICT, "nid=1", 24, "that do: NID"},
    {"cbo.CLOCKTICKS:tid=1", PMU_E_CONFLICT, "tid=1", 15, "by nothing"},
    {"MISC.STARTED:opc=DRd", PMU_E_CONFLICT, "opc=DRd", 13, "by tid"},
    {"LLC_LOOKUP.READ:state=0", PMU_E_CONFLICT, "state=0", 16, "counts nothing"},
    {"TOR_INSERTS.NID_ALL:nid=0", PMU_E_CONFLICT, "nid=0", 20, "counts nothing"},
    {"TOR_INSERTS.ALL:tid=1:tid_en=0", PMU_E_CONFLICT, "tid_en=0", 22, "switches off"},

    {"irp.MISC0.FAST_REQ+FAST_XFER", PMU_E_CONFLICT, "irp.MISC0.FAST_REQ+FAST_XFER", 0,
     "FAST_REQ and FAST_XFER"},
    {"pcu.POWER_STATE_OCCUPANCY.CORES_C0:thresh=1:edge_det", PMU_E_CONFLICT, "edge_det", 44,
     "occ_edge_det"},
    {"pcu.FREQ_BAND0_CYCLES", PMU_E_SYNTAX, "pcu.FREQ_BAND0_CYCLES", 0, "needs the filter band0"},
    {"qpi.CTO_COUNT", PMU_E_SYNTAX, "qpi.CTO_COUNT", 0, "needs the filter rx_match_vnw"},
    {"qpi.CTO_COUNT:rx_mask_opc=3", PMU_E_SYNTAX, "qpi.CTO_COUNT", 0, "needs the filter"},
    {"xeon-e5/ha.ADDR_OPC_MATCH.FILT", PMU_E_SYNTAX, "ha.ADDR_OPC_MATCH.FILT", 8,
     "needs the filter opc"},
    {"CTO_COUNT:rx_match_opc=HOM0.DataC_Cmp", PMU_E_UNKNOWN, "HOM0.DataC_Cmp", 23, "did you mean"},
    {"CTO_COUNT:rx_match_mc=NDR:rx_match_opc=DRS.DataC_Cmp", PMU_E_CONFLICT, "DRS.DataC_Cmp", 39,
     "rx_match_mc is set twice"},
    {"FREQ_BAND0_CYCLES:band1=20", PMU_E_CONFLICT, "band1=20", 18, "filtered by band0"},

    /* Not whole: something has to be added. */
    {"imc.CAS_COUNT", PMU_E_SYNTAX, "imc.CAS_COUNT", 0, "imc.CAS_COUNT.RD_REG"},
    {"TOR_INSERTS.OPCODE", PMU_E_SYNTAX, "TOR_INSERTS.OPCODE", 0,
     "needs the filter opc, for example cbo.TOR_INSERTS.OPCODE:opc=RFO"},
    {"TOR_INSERTS.NID_OPCODE:opc=DRd", PMU_E_SYNTAX, "TOR_INSERTS.NID_OPCODE", 0,
     "needs the filter nid, for example cbo.TOR_INSERTS.NID_OPCODE:opc=DRd:nid=my_node"},
    {"LLC_LOOKUP.READ", PMU_E_SYNTAX, "LLC_LOOKUP.READ", 0, "needs the filter state"},
    {"LLC_LOOKUP.NID:state=I:nid=1", PMU_E_SYNTAX, "LLC_LOOKUP.NID", 0, "DATA_READ+NID"},
    {"LLC_VICTIMS.NID:nid=1", PMU_E_SYNTAX, "LLC_VICTIMS.NID", 0, "M_STATE+NID"},
    {"irp.SNOOP_RESP.MISS", PMU_E_SYNTAX, "irp.SNOOP_RESP.MISS", 0, "SNPCODE, SNPDATA, SNPINV"},
    {"TOR_INSERTS.ALL:tid_en", PMU_E_SYNTAX, "tid_en", 16, "give tid"},
    {"cbo.CLOCKTICKS:edge", PMU_E_SYNTAX, "edge", 15, "needs a thresh"},
    {"cbo.CLOCKTICKS:inv:thresh=0", PMU_E_SYNTAX, "inv", 15, "needs a thresh"},
};

/* The message has the input in its second line and carets under what is at fault in its third. */
static void assert_marked(const char *message, const char *input, size_t at, size_t length)
{
	const char *excerpt = strchr(message, '\n');
	const char *carets;

	assert_non_null(excerpt);
	excerpt += 3;
	assert_memory_equal(excerpt, input, strlen(input));
	carets = excerpt + strlen(input);
	assert_memory_equal(carets, "\n  ", 3);
	carets += 3;
	assert_int_equal(strspn(carets, " "), at);
	assert_int_equal(strspn(carets + at, "^"), length ? length : 1);
	assert_int_equal(carets[at + (length ? length : 1)], '\0');
}

static void test_refusals(void **state)
{
	struct pmu_ctx *ctx = *state;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct pmu_selection selection;
		size_t length = strlen(refusals[i].marked);

		print_message("%s\n", refusals[i].text);
		assert_memory_equal(refusals[i].text + refusals[i].at, refusals[i].marked, length);
		assert_int_equal(pmu_event_parse(ctx, NULL, refusals[i].text, &selection),
				 refusals[i].code);
		print_message("  %s\n", pmu_message(ctx));
		assert_non_null(strstr(pmu_message(ctx), refusals[i].says));
		assert_marked(pmu_message(ctx), refusals[i].text, refusals[i].at, length);
	}
}

static void test_long_input(void **state)
{
	struct pmu_selection selection;
	char text[10000];

	memset(text, 'A', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pmu_event_parse(*state, NULL, text, &selection), PMU_E_SYNTAX);
	memcpy(text, "cbo.", 4);
	assert_int_equal(pmu_event_parse(*state, NULL, text, &selection), PMU_E_SYNTAX);
}

/* Without a context there is no message, but the code is the same. */
static void test_without_context(void **state)
{
	struct pmu_selection selection;

	(void)state;
	assert_int_equal(pmu_event_parse(NULL, NULL, "imc.CAS_COUNT", &selection), PMU_E_SYNTAX);
	assert_int_equal(pmu_event_parse(NULL, NULL, "imc.CAS_COUNT.RD", &selection), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_notations),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_long_input),
	    cmocka_unit_test(test_without_context),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
