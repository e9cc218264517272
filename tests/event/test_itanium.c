/* Encodings of the Itanium 9300, worked out by hand from the tables of 323602-001. */
#include <stdio.h>

#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

#define TEXT_MAX 512

struct expected_write {
	uint8_t space;
	uint32_t address;
	uint64_t value;
};

/*
 * What events that look at opcodes, instruction or data addresses are not restricted by, if nobody
 * names one: tables 3-9, 3-10, 3-12 and 3-13 as after reset.
 */
#define ANY_INSTRUCTION 0x030f01ffffffffff
#define NO_ADDRESS                                                                                 \
	{                                                                                          \
		PMU_SPACE_PMC, 32, ANY_INSTRUCTION                                                 \
	}
#define NO_OPCODE                                                                                  \
	NO_ADDRESS,                                                                                \
	{                                                                                          \
		PMU_SPACE_PMC, 36, 0                                                               \
	}
#define NO_RANGE                                                                                   \
	{PMU_SPACE_PMC, 38, 0xdb6},                                                                \
	{                                                                                          \
		PMU_SPACE_PMC, 41, 0x2078fefefefe                                                  \
	}

/* Writes end with address and value 0. */
static const struct {
	const char *text;
	unsigned instance, counter;
	struct expected_write writes[10];
} encodings[] = {
    /* Tables 3-4, 3-5: es 15:8, umask 19:16, plm 3:0 all levels, ism 25:24 = 2, MESI 30:27 all.
       Counter n is PMC 4 + n. */
    {"itanium-9300/core.CPU_OP_CYCLES.ALL",
     0,
     0,
     {NO_OPCODE, NO_RANGE, {PMU_SPACE_PMC, 4, 0x7a00120f}}},
    /* M is bit 30; MISS of DATA_READ is b1010: table 4-115 */
    {"itanium-9300/core.L3_READS.DATA_READ.MISS:MESI=M",
     0,
     2,
     {NO_OPCODE, NO_RANGE, {PMU_SPACE_PMC, 6, 0x420add0f}}},
    {"itanium-9300/core.L3_WRITES.L2_WB.ALL:MESI=S+E",
     0,
     2,
     {NO_OPCODE, NO_RANGE, {PMU_SPACE_PMC, 6, 0x320bde0f}}},
    /* Tag channel 1 is umask 01, privilege level 3 is plm bit 3 */
    {"itanium-9300/core.IA64_TAGGED_INST_RETIRED.IBRP1_OPCM1:plm=8",
     0,
     11,
     {{PMU_SPACE_PMC, 34, ANY_INSTRUCTION},
      {PMU_SPACE_PMC, 36, 0},
      {PMU_SPACE_PMC, 38, 0xdb6},
      {PMU_SPACE_PMC, 15, 0x7a010808}}},
    /* .all is bit 26 */
    {"itanium-9300/core.L2D_REFERENCES.ALL:all",
     0,
     0,
     {NO_OPCODE, NO_RANGE, {PMU_SPACE_PMC, 4, 0x7e03e60f}}},
    /* threshold 22:20 */
    {"itanium-9300/core.INST_DISPERSED:threshold=3",
     0,
     6,
     {NO_ADDRESS, NO_RANGE, {PMU_SPACE_PMC, 10, 0x7a304d0f}}},
    /* oi 5, pm 6 */
    {"itanium-9300/core.BACK_END_BUBBLE.FE:oi:pm", 0, 5, {{PMU_SPACE_PMC, 9, 0x7a01006f}}},
    /* 0xb5 of tables 4-37 and 4-44, not 0xb4 of §4.16 */
    {"itanium-9300/core.ER_MEM_READ_OUT_LO", 0, 1, {{PMU_SPACE_PMC, 5, 0x7a00b50f}}},

    /* §5.4.2: cnt3_sel 23:18 = 0x1b, cnt_en[3] is bit 4 (tables 5-10, 5-11); B-Box 0 at 0xc000 */
    {"itanium-9300/bbox.SNP_REQ_ALL",
     0,
     3,
     {{PMU_SPACE_MMIO, 0xc088, 0x6c0000}, {PMU_SPACE_MMIO, 0xc080, 0x10}}},
    /* COHQ is 0x25; cnt7_sel 47:42 = 8; arb_en 10, cnt_en[7] is bit 8; B-Box 1 at 0xd000 */
    {"itanium-9300/bbox.ARB_Q0_OVFL.COHQ",
     1,
     7,
     {{PMU_SPACE_MMIO, 0xd090, 0x25},
      {PMU_SPACE_MMIO, 0xd088, UINT64_C(8) << 42},
      {PMU_SPACE_MMIO, 0xd080, 0x500}}},
    /* iob_remote_local 20:19 = 1, iob_id_in 17; HOM0 and RdData one-hot: tables 5-13 to 5-16 */
    {"itanium-9300/bbox.IOB_IN_PKTS.RSNID:class_in=HOM0:opcode_in=HOM0.RdData",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xc090, 0xa0000},
      {PMU_SPACE_MMIO, 0xc098, 0x00040001},
      {PMU_SPACE_MMIO, 0xc088, 0x19},
      {PMU_SPACE_MMIO, 0xc080, 0x2}}},
    /* §5.6.2.1: FLT_SENT is bit 31, pt_sel 21:19 = 3, ev_sel 18:16 = 1 for IPERF1, en 22 */
    {"itanium-9300/rbox.FLITS_SENT",
     3,
     5,
     {{PMU_SPACE_MMIO, 0x7388, 0x80000000}, {PMU_SPACE_MMIO, 0x4e58, 0x590000}}},
    /* Port 10 is pt_sel 5 of counters 8 to 15; ev0_cls 6:4 = 4; ev_sel 2: tables 5-25, 5-30 */
    {"itanium-9300/rbox.QUE_ARB_BID.DRS",
     10,
     0,
     {{PMU_SPACE_MMIO, 0x44b8, 0x40}, {PMU_SPACE_MMIO, 0x4e88, 0x6a0000}}},
    /* Table 5-36, second set of port 11: 0x1c00, 0x1fe0, state 8 of 0xf, mm_en 21 and flit 1 */
    {"itanium-9300/rbox.DRS.DataC_M",
     11,
     1,
     {{PMU_SPACE_MMIO, 0x4bc8, 0x1c00},
      {PMU_SPACE_MMIO, 0x4bd0, 0x80000},
      {PMU_SPACE_MMIO, 0x4bd8, 0x1fe0},
      {PMU_SPACE_MMIO, 0x4be0, 0xf0000},
      {PMU_SPACE_MMIO, 0x4be8, 0x210000},
      {PMU_SPACE_MMIO, 0x4e18, 0x6d0000}}},
    /* §5.7.3.1: dram_cmd 12:8 = 2; inc_sel 9:4 = 0xa, en 0 */
    {"itanium-9300/zbox.PLD_DRAM_EV.DRAM_CMD.RAS",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xcb08, 0x200}, {PMU_SPACE_MMIO, 0xcc90, 0xa1}}},
    /* §5.7.3.1, the counter's own control and evnt2 20:18 = 5; bcmd 8:5 = 3 */
    {"itanium-9300/zbox.FVC_EV2.BBOX_CMDS.V2F",
     0,
     2,
     {{PMU_SPACE_MMIO, 0xc818, 0x140060}, {PMU_SPACE_MMIO, 0xcc80, 0xf1}}},
    /* rtry_sngl_fvid 7, fvid 6:1 */
    {"itanium-9300/zbox.PLD_RETRY_EV.RETRIES_FVID:fvid=9",
     1,
     4,
     {{PMU_SPACE_MMIO, 0xdb08, 0x92}, {PMU_SPACE_MMIO, 0xdc70, 0xb1}}},
    /* Table 5-54: dram_cmd 12:8 = 0x18, addr_match1 13 */
    {"itanium-9300/zbox.PLD_DRAM_EV.CMD_ALL:dram_cmd=ZQCAL:addr_match1",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xcb08, 0x3800}, {PMU_SPACE_MMIO, 0xcc90, 0xa1}}},
    /* Tables 5-10, 5-13 to 5-15: remote is 2 in 20:19, DRS bit 14, wrdata_en bit 14 */
    {"itanium-9300/bbox.IOB_IN_PKTS.RHNID:class_in=DRS:iob_remote_local=REMOTE:wrdata_en",
     0,
     0,
     {{PMU_SPACE_MMIO, 0xc090, 0x100000},
      {PMU_SPACE_MMIO, 0xc098, 0xffff4000},
      {PMU_SPACE_MMIO, 0xc088, 0x19},
      {PMU_SPACE_MMIO, 0xc080, 0x4002}}},

    /* Tables 5-31 to 5-35, 5-64, 5-65: DNID 17:13, MC 12:9 = 0xc, OPC 8:5 = 0xa, VNW 4:3 = 1; what
       is given is compared in all its bits; mm_en 21 and the first flit, 19:16 = 1 */
    {"itanium-9300/rbox.PACKETS:VNW=VN1:MC=NCB:OPC=NCB.IntPhysical:DNID=5",
     0,
     0,
     {{PMU_SPACE_MMIO, 0x4a00, 0xb948},
      {PMU_SPACE_MMIO, 0x4a08, 0},
      {PMU_SPACE_MMIO, 0x4a10, 0x3fff8},
      {PMU_SPACE_MMIO, 0x4a18, 0},
      {PMU_SPACE_MMIO, 0x4a20, 0x210000},
      {PMU_SPACE_MMIO, 0x4e08, 0x440000}}},
    /* What table 5-36 has as DRS.DataC_M, but for the last bits of the opcode; set 1 of port 5 */
    {"itanium-9300/rbox.DRS.AnyResp:OPC=DRS.DataC:OPC_mask=0xc:RDS=M",
     5,
     1,
     {{PMU_SPACE_MMIO, 0x4d00, 0x1c00},
      {PMU_SPACE_MMIO, 0x4d08, 0x80000},
      {PMU_SPACE_MMIO, 0x4d10, 0x1f80},
      {PMU_SPACE_MMIO, 0x4d18, 0xf0000},
      {PMU_SPACE_MMIO, 0x4d20, 0x210000},
      {PMU_SPACE_MMIO, 0x4e98, 0x450000}}},
    /* ig_flit_cnt 20; remote node 0b10110 in 2:0 and 31:30 */
    {"itanium-9300/rbox.PACKETS:RNID_4_2=5:RNID_1_0=2:ig_flit_cnt",
     0,
     0,
     {{PMU_SPACE_MMIO, 0x4a00, 0x80000000},
      {PMU_SPACE_MMIO, 0x4a08, 5},
      {PMU_SPACE_MMIO, 0x4a10, 0xc0000000},
      {PMU_SPACE_MMIO, 0x4a18, 7},
      {PMU_SPACE_MMIO, 0x4a20, 0x310000},
      {PMU_SPACE_MMIO, 0x4e08, 0x440000}}},

    /* §3.2.3.1, opcode and range of instructions on channel 0. PMC32: ig_ad 57 and inv 56 off,
       every slot 51:48, every bit of the encoding; PMC38: ig_ibrp0 off in 0xdb6; PMC41: cfgdtag0
       4:3 = 1 in 0x2078fefefefe; IBR1: plm 59:56, mask 55:0 */
    {"itanium-9300/core.L3_MISSES:OPCM0=0x4000000000:IBRP0=0x4000",
     0,
     0,
     {{PMU_SPACE_PMC, 32, 0x000f000000000000},
      {PMU_SPACE_PMC, 33, 0x4000000000},
      {PMU_SPACE_PMC, 36, 0},
      {PMU_SPACE_PMC, 38, 0xdb4},
      {PMU_SPACE_PMC, 41, 0x2078fefefeee},
      {PMU_SPACE_IBR, 0, 0x4000},
      {PMU_SPACE_IBR, 1, 0x0fffffffffffffff},
      {PMU_SPACE_PMC, 4, 0x7a00dc0f}}},
    /* Opcode alone: ig_ibrp0 on; mask of table 3-10, 1 is not compared */
    {"itanium-9300/core.NOPS_RETIRED:OPCM0=0x8000000:OPCM0_mask=0x3ffffff:OPCM0_slot=M+I",
     0,
     11,
     {{PMU_SPACE_PMC, 32, 0x000c000003ffffff},
      {PMU_SPACE_PMC, 33, 0x8000000},
      {PMU_SPACE_PMC, 36, 0},
      {PMU_SPACE_PMC, 38, 0xdb6},
      {PMU_SPACE_PMC, 41, 0x2078fefefeee},
      {PMU_SPACE_PMC, 15, 0x7a00500f}}},
    /* A page of data alone: cfgdtag0 = 2 */
    {"itanium-9300/core.L2D_MISSES:DBRP0=0x6000000000001000:DBRP0_mask=0xfffffffffff000",
     0,
     0,
     {NO_OPCODE,
      {PMU_SPACE_PMC, 38, 0xdb6},
      {PMU_SPACE_PMC, 41, 0x2078fefefef6},
      {PMU_SPACE_DBR, 0, 0x6000000000001000},
      {PMU_SPACE_DBR, 1, 0x00fffffffffff000},
      {PMU_SPACE_PMC, 4, 0x7a00cb0f}}},
    /* §3.3.5.4, fine mode: bits 1 and 7 off, 13 on; table 3-10 after reset but for ig_ad and inv */
    {"itanium-9300/core.INST_DISPERSED:IBRP0=0x4000:IBRP0_end=0x4800",
     0,
     0,
     {{PMU_SPACE_PMC, 32, 0x000f01ffffffffff},
      {PMU_SPACE_PMC, 38, 0x2d34},
      {PMU_SPACE_PMC, 41, 0x2078fefefeee},
      {PMU_SPACE_IBR, 0, 0x4000},
      {PMU_SPACE_IBR, 1, 0x0fffffffffffffff},
      {PMU_SPACE_IBR, 4, 0x4800},
      {PMU_SPACE_IBR, 5, 0x0fffffffffffffff},
      {PMU_SPACE_PMC, 4, 0x7a004d0f}}},
    /* Channel 3: F is bit 49 of PMC34, ig_ibrp3 bit 10 of PMC38 */
    {"itanium-9300/core.IA64_TAGGED_INST_RETIRED.IBRP3_OPCM1:OPCM1_slot=F:IBRP3=0x1000",
     0,
     0,
     {{PMU_SPACE_PMC, 34, 0x030201ffffffffff},
      {PMU_SPACE_PMC, 36, 0},
      {PMU_SPACE_PMC, 38, 0x9b6},
      {PMU_SPACE_IBR, 6, 0x1000},
      {PMU_SPACE_IBR, 7, 0x0fffffffffffffff},
      {PMU_SPACE_PMC, 4, 0x7a03080f}}},
    /* Tables 3-19, 3-20, 3-22: ism 25:24 = 2, umask 19:16, mode 8:7, plm; PMC39 off */
    {"itanium-9300/core.DATA_EAR_EVENTS.CACHE_LAT64",
     0,
     0,
     {NO_OPCODE,
      NO_RANGE,
      {PMU_SPACE_PMC, 39, 0},
      {PMU_SPACE_PMC, 40, 0x0204000f},
      {PMU_SPACE_PMC, 4, 0x7a00c80f}}},
    {"itanium-9300/core.DATA_EAR_EVENTS.TLB_L2DTLB_FAULT:DEAR_plm=8",
     0,
     0,
     {NO_OPCODE,
      NO_RANGE,
      {PMU_SPACE_PMC, 39, 0},
      {PMU_SPACE_PMC, 40, 0x020a0088},
      {PMU_SPACE_PMC, 4, 0x7a00c80f}}},
    /* Tables 3-14, 3-15, 3-17: umask 12:5 or 7:5, cache is bit 13; any latency is 01xxxxxx */
    {"itanium-9300/core.L1I_EAR_EVENTS",
     0,
     0,
     {NO_ADDRESS, NO_RANGE, {PMU_SPACE_PMC, 37, 0x280f}, {PMU_SPACE_PMC, 4, 0x7a00430f}}},
    {"itanium-9300/core.L1I_EAR_EVENTS.CACHE_LAT16",
     0,
     0,
     {NO_ADDRESS, NO_RANGE, {PMU_SPACE_PMC, 37, 0x3f8f}, {PMU_SPACE_PMC, 4, 0x7a00430f}}},
    {"itanium-9300/core.L1I_EAR_EVENTS.TLB_VHPT",
     0,
     0,
     {NO_ADDRESS, NO_RANGE, {PMU_SPACE_PMC, 37, 0x004f}, {PMU_SPACE_PMC, 4, 0x7a00430f}}},
    /* §3.3.10.1.1, all branches predicted right: tm = 3, ptm = 2, ppm = 2, brt = 0 */
    {"itanium-9300/core.ETB_EVENT:ptm=RIGHT:ppm=RIGHT",
     0,
     0,
     {NO_OPCODE,
      NO_RANGE,
      {PMU_SPACE_PMC, 39, 0x2b0f},
      {PMU_SPACE_PMC, 42, 0},
      {PMU_SPACE_PMC, 4, 0x7a00110f}}},
    /* Table 3-29: delay 18:11, mode 10:8 = 4 */
    {"itanium-9300/core.L3_MISSES:oi:IPEAR=20",
     0,
     0,
     {NO_OPCODE, NO_RANGE, {PMU_SPACE_PMC, 42, 0xa40f}, {PMU_SPACE_PMC, 4, 0x7a00dc2f}}},
    /* Table 3-33: any interruption, or one offset */
    {"itanium-9300/core.IVA_EVENT",
     0,
     0,
     {{PMU_SPACE_PMC, 43, 0x3ff800}, {PMU_SPACE_PMC, 4, 0x7a00140f}}},
    {"itanium-9300/core.IVA_EVENT:IVA_off=0x300",
     0,
     0,
     {{PMU_SPACE_PMC, 43, 0x300}, {PMU_SPACE_PMC, 4, 0x7a00140f}}},
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
		assert_int_equal(encodings[i].writes[count].value, 0);
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
	    /* Its code says which; what is captured stands elsewhere */
	    {0x7a00c80f, "itanium-9300/core.DATA_EAR_EVENTS"},
	    /* States say nothing where they are not looked at */
	    {0x4200dc0f, "itanium-9300/core.L3_MISSES"},
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
	    {"itanium-9300/core.L2D_MISSES", 0, 5, 5},
	    {"itanium-9300/core.L2D_MISSES", 0, 6, PMU_E_CONFLICT},
	    {"itanium-9300/core.CPE_LNK.IN_VLD", 0, 11, PMU_E_CONFLICT},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL", 0, 11, 5},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL:all", 0, 5, 5},
	    {"itanium-9300/core.CPU_OP_CYCLES.ALL:all", 0, 6, PMU_E_CONFLICT},
	    {"itanium-9300/core.LOADS_RETIRED", 0, 12, PMU_E_CONFLICT},
	    {"itanium-9300/zbox.CYCLES", 1, 5, PMU_E_CONFLICT},
	    {"itanium-9300/rbox.FLITS_SENT", 12, 0, PMU_E_RANGE},
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
	    {"itanium-9300/zbox.PLD_RETRY_EV.RETRIES_FVID", PMU_E_SYNTAX},
	    {"itanium-9300/bbox.B_CYCLES:class_in=HOM0", PMU_E_CONFLICT},
	    {"itanium-9300/rbox.FLITS_SENT:MC=DRS", PMU_E_CONFLICT},
	    {"itanium-9300/rbox.PACKETS:OPC=SNP.RdCode", PMU_E_UNKNOWN},
	    {"itanium-9300/rbox.PACKETS:RDS=M+E", PMU_E_CONFLICT},
	    {"itanium-9300/zbox.PLD_DRAM_EV.CMD_ALL", PMU_E_SYNTAX},
	    /* Columns IAR, DAR, OPC and MESI of chapter 4 */
	    {"itanium-9300/core.L3_MISSES:MESI=M", PMU_E_CONFLICT},
	    {"itanium-9300/core.L3_READS.ALL.ALL:MESI=0", PMU_E_CONFLICT},
	    {"itanium-9300/core.INST_CHKS_RETIRED:IBRP0=0x4000", PMU_E_CONFLICT},
	    {"itanium-9300/core.INST_DISPERSED:OPCM0=0", PMU_E_CONFLICT},
	    {"itanium-9300/core.NOPS_RETIRED:DBRP0=0", PMU_E_CONFLICT},
	    {"itanium-9300/core.NOPS_RETIRED:IBRP0_inv", PMU_E_SYNTAX},
	    {"itanium-9300/core.NOPS_RETIRED:OPCM0_slot=0", PMU_E_CONFLICT},
	    /* §3.3.5.2, §3.3.5.3 */
	    {"itanium-9300/core.L1I_PREFETCHES:IBRP0=0x4000", PMU_E_CONFLICT},
	    {"itanium-9300/core.L1I_READS:IBRP1=0x4000", PMU_E_CONFLICT},
	    {"itanium-9300/core.IA64_TAGGED_INST_RETIRED.IBRP1_OPCM1:OPCM0=1", PMU_E_CONFLICT},
	    /* Table 3-25: captures nothing; the IP-EAR takes the trace buffer away */
	    {"itanium-9300/core.ETB_EVENT:tm=0", PMU_E_CONFLICT},
	    {"itanium-9300/core.ETB_EVENT:IPEAR=1", PMU_E_CONFLICT},
	    {"itanium-9300/core.DATA_EAR_EVENTS:tm=TAKEN", PMU_E_CONFLICT},
	    /* §4.16: .all is ignored; table 4-97: by unit mask */
	    {"itanium-9300/core.ER_SNP_CODE.ALL:all", PMU_E_CONFLICT},
	    {"itanium-9300/core.L2D_BYPASS.L2_DATA1:all", PMU_E_CONFLICT},
	};
	struct pmu_selection selection;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		assert_int_equal(pmu_event_parse(*state, NULL, refusals[i].text, &selection),
				 refusals[i].code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_decode),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
