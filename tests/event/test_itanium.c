/* Encodings of the Itanium 9300, worked out by hand from the tables of 323602-001. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "pmulab/event.h"

#define TEXT_MAX 512

struct expected_write {
	uint8_t space;
	uint32_t address;
	uint64_t value;
};

/* Writes end with address 0. */
static const struct {
	const char *text;
	unsigned instance, counter;
	struct expected_write writes[7];
} encodings[] = {
    /* Tables 3-4, 3-5: es 15:8, umask 19:16, plm 3:0 all levels, ism 25:24 = 2, MESI 30:27 all.
       Counter n is PMC 4 + n. */
    {"itanium-9300/core.CPU_OP_CYCLES.ALL", 0, 0, {{PMU_SPACE_PMC, 4, 0x7a00120f}}},
    /* M is bit 30; MISS of DATA_READ is b1010: table 4-115 */
    {"itanium-9300/core.L3_READS.DATA_READ.MISS:MESI=M", 0, 2, {{PMU_SPACE_PMC, 6, 0x420add0f}}},
    {"itanium-9300/core.L3_WRITES.L2_WB.ALL:MESI=S+E", 0, 2, {{PMU_SPACE_PMC, 6, 0x320bde0f}}},
    /* Tag channel 1 is umask 01, privilege level 3 is plm bit 3 */
    {"itanium-9300/core.IA64_TAGGED_INST_RETIRED.IBRP1_OPCM1:plm=8",
     0,
     11,
     {{PMU_SPACE_PMC, 15, 0x7a010808}}},
    /* .all is bit 26 */
    {"itanium-9300/core.L2D_REFERENCES.ALL:all", 0, 0, {{PMU_SPACE_PMC, 4, 0x7e03e60f}}},
    /* threshold 22:20 */
    {"itanium-9300/core.INST_DISPERSED:threshold=3", 0, 6, {{PMU_SPACE_PMC, 10, 0x7a304d0f}}},
    /* oi 5, pm 6 */
    {"itanium-9300/core.BACK_END_BUBBLE.FE:oi:pm", 0, 5, {{PMU_SPACE_PMC, 9, 0x7a01006f}}},
    /* 0xb5 of tables 4-37 and 4-44, not 0xb4 of §4.16 */
    {"itanium-9300/core.ER_MEM_READ_OUT_LO", 0, 1, {{PMU_SPACE_PMC, 5, 0x7a00b50f}}},

    /* §5.4.2: cnt3_sel 23:18 = 0x1b, cnt_en[3] is bit 4 (tables 5-10, 5-11); B-Box 0 at 0xc000 */
    {"itanium-9300-uncore/bbox.SNP_REQ_ALL",
     0,
     3,
     {{PMU_SPACE_MMIO, 0xc088, 0x6c0000}, {PMU_SPACE_MMIO, 0xc080, 0x10}}},
    /* COHQ is 0x25; cnt7_sel 47:42 = 8; arb_en 10, cnt_en[7] is bit 8; B-Box 1 at 0xd000 */
    {"itanium-9300-uncore/bbox.ARB_Q0_OVFL.COHQ",
     1,
     7,
     {{PMU_SPACE_MMIO, 0xd090, 0x25},
      {PMU_SPACE_MMIO, 0xd088, UINT64_C(8) << 42},
      {PMU_SPACE_MMIO, 0xd080, 0x500}}},
    /* iob_remote_local 20:19 = 1, iob_id_in 17; HOM0 and RdData one-hot: tables 5-13 to 5-16 */
    {"itanium-9300-uncore/bbox.IOB_IN_PKTS.RSNID:class_in=HOM0:opcode_in=HOM0.RdData",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xc090, 0xa0000},
      {PMU_SPACE_MMIO, 0xc098, 0x00040001},
      {PMU_SPACE_MMIO, 0xc088, 0x19},
      {PMU_SPACE_MMIO, 0xc080, 0x2}}},
    /* §5.6.2.1: FLT_SENT is bit 31, pt_sel 21:19 = 3, ev_sel 18:16 = 1 for IPERF1, en 22 */
    {"itanium-9300-uncore/rbox.FLITS_SENT",
     3,
     5,
     {{PMU_SPACE_MMIO, 0x7388, 0x80000000}, {PMU_SPACE_MMIO, 0x4e58, 0x590000}}},
    /* Port 10 is pt_sel 5 of counters 8 to 15; ev0_cls 6:4 = 4; ev_sel 2: tables 5-25, 5-30 */
    {"itanium-9300-uncore/rbox.QUE_ARB_BID.DRS",
     10,
     0,
     {{PMU_SPACE_MMIO, 0x44b8, 0x40}, {PMU_SPACE_MMIO, 0x4e88, 0x6a0000}}},
    /* Table 5-36, second set of port 11: 0x1c00, 0x1fe0, state 8 of 0xf, mm_en 21 and flit 1 */
    {"itanium-9300-uncore/rbox.DRS.DataC_M",
     11,
     1,
     {{PMU_SPACE_MMIO, 0x4bc8, 0x1c00},
      {PMU_SPACE_MMIO, 0x4bd0, 0x80000},
      {PMU_SPACE_MMIO, 0x4bd8, 0x1fe0},
      {PMU_SPACE_MMIO, 0x4be0, 0xf0000},
      {PMU_SPACE_MMIO, 0x4be8, 0x210000},
      {PMU_SPACE_MMIO, 0x4e18, 0x6d0000}}},
    /* §5.7.3.1: dram_cmd 12:8 = 2; inc_sel 9:4 = 0xa, en 0 */
    {"itanium-9300-uncore/zbox.PLD_DRAM_EV.DRAM_CMD.RAS",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xcb08, 0x200}, {PMU_SPACE_MMIO, 0xcc90, 0xa1}}},
    /* §5.7.3.1, the counter's own control and evnt2 20:18 = 5; bcmd 8:5 = 3 */
    {"itanium-9300-uncore/zbox.FVC_EV2.BBOX_CMDS.V2F",
     0,
     2,
     {{PMU_SPACE_MMIO, 0xc818, 0x140060}, {PMU_SPACE_MMIO, 0xcc80, 0xf1}}},
    /* rtry_sngl_fvid 7, fvid 6:1 */
    {"itanium-9300-uncore/zbox.PLD_RETRY_EV.RETRIES_FVID:fvid=9",
     1,
     4,
     {{PMU_SPACE_MMIO, 0xdb08, 0x92}, {PMU_SPACE_MMIO, 0xdc70, 0xb1}}},
};

static void test_by_hand(void **state)
{
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		struct pmu_write writes[PMU_EVENT_WRITES];
		struct pmu_selection selection;
		int count;

		print_message("%s\n", encodings[i].text);
		assert_int_equal(pmu_event_parse(*state, NULL, encodings[i].text, &selection), 0);
		count = pmu_event_encode(*state, &selection, encodings[i].instance,
					 encodings[i].counter, writes);
		assert_true(count > 0);
		for (int j = 0; j < count; j++) {
			const struct expected_write *expected = &encodings[i].writes[j];

			assert_int_equal(writes[j].space, expected->space);
			assert_int_equal(writes[j].address, expected->address);
			assert_int_equal(writes[j].value, expected->value);
		}
		assert_int_equal(encodings[i].writes[count].address, 0);
	}
}

static void test_decode(void **state)
{
	static const struct {
		uint64_t control;
		const char *text;
	} controls[] = {
	    {0x7a00120f, "itanium-9300/core.CPU_OP_CYCLES.ALL"},
	    {0x420add0f, "itanium-9300/core.L3_READS.DATA_READ.MISS:MESI=M"},
	    /* Two names have code 0x08; unit mask 00 is both */
	    {0x7a00080f, "itanium-9300/core.IA64_INST_RETIRED.THIS"},
	    {0x7a020803, "itanium-9300/core.IA64_TAGGED_INST_RETIRED.IBRP2_OPCM0:plm=3"},
	    /* bxx01 with don't-care bits set */
	    {0x7a0d000f, "itanium-9300/core.BACK_END_BUBBLE.FE"},
	};
	const struct pmu_box *core = pmu_find_box(pmu_find_pmu("itanium-9300"), "core");
	struct pmu_selection selection;
	char text[TEXT_MAX];

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		assert_int_equal(pmu_event_decode(*state, core, controls[i].control, &selection),
				 0);
		pmu_event_print(&selection, text, sizeof(text));
		assert_string_equal(text, controls[i].text);
	}
	/* b1011 of CPU_OP_CYCLES_LOST counts nothing: table 4-72 */
	assert_int_equal(pmu_event_decode(*state, core, 0x7a0b1a0f, &selection), PMU_E_UNKNOWN);
}

/* Counters that count an event (§3.3.3, §4.2.1) or look at a field (table 3-5). */
static void test_places(void **state)
{
	static const struct {
		const char *text;
		unsigned instance, counter;
		int code;
	} places[] = {
	    {"itanium-9300/core.L2D_MISSES", 0, 5, 1},
	    {"itanium-9300/core.L2D_MISSES", 0, 6, PMU_E_CONFLICT},
	    {"itanium-9300/core.CPE_LNK.IN_VLD", 0, 11, PMU_E_CONFLICT},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL", 0, 11, 1},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL:all", 0, 5, 1},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL:all", 0, 6, PMU_E_CONFLICT},
	    {"itanium-9300/core.LOADS_RETIRED", 0, 12, PMU_E_CONFLICT},
	    {"itanium-9300-uncore/zbox.CYCLES", 1, 5, PMU_E_CONFLICT},
	    {"itanium-9300-uncore/rbox.FLITS_SENT", 12, 0, PMU_E_RANGE},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct pmu_write writes[PMU_EVENT_WRITES];
		struct pmu_selection selection;

		assert_int_equal(pmu_event_parse(*state, NULL, places[i].text, &selection), 0);
		assert_int_equal(pmu_event_encode(*state, &selection, places[i].instance,
						  places[i].counter, writes),
				 places[i].code);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		int code;
	} refusals[] = {
	    {"itanium-9300/core.BACK_END_BUBBLE", PMU_E_SYNTAX},
	    {"itanium-9300/core.BACK_END_BUBBLE.ALL+FE", PMU_E_CONFLICT},
	    {"itanium-9300/core.L2I_READS.MISS", PMU_E_UNKNOWN},
	    {"itanium-9300/core.INST_DISPERSED:threshold=8", PMU_E_RANGE},
	    {"itanium-9300-uncore/zbox.PLD_RETRY_EV.RETRIES_FVID", PMU_E_SYNTAX},
	    {"itanium-9300-uncore/bbox.B_CYCLES:class_in=HOM0", PMU_E_CONFLICT},
	};
	struct pmu_selection selection;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		assert_int_equal(pmu_event_parse(*state, NULL, refusals[i].text, &selection),
				 refusals[i].code);
}

static int setup(void **state)
{
	struct pmu_ctx *ctx;
	int code = pmu_ctx_new(&ctx);

	*state = ctx;
	return code;
}

static int teardown(void **state)
{
	pmu_ctx_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_decode),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
