/*
 * The PMUs outside of IA-64 cores, fed by hand: what registers select, overflow and freeze
 * (323602-001 §5.4 to §5.7).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catalog/entries.h"
#include "catalog/signal.h"
#include "pmon/ia64/uncore.h"

#define SOCKETS	   2
#define B_LIMIT	   (1ull << 40)
#define ENABLE0	   0x2ull /* of B_CSR_PERF_CTL0: counter 0 */
#define ENABLE1	   0x4ull
#define B_FROZEN   (1ull << 32)
#define AOV0	   (1ull << 24)
#define SOV0	   (1ull << 16)
#define OVERFLOWED (1ull << 40)

struct fixture {
	struct pmon_uncore *uncore;
	const struct pmu_pmu *pmu;
	uint64_t now;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pmu = pmu_find_pmu("itanium-9300");
	f->uncore = calloc(1, pmon_uncore_size(f->pmu, SOCKETS));
	assert_non_null(f->uncore);
	assert_int_equal(pmon_uncore_init(f->uncore, NULL, f->pmu, SOCKETS), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	free(f->uncore);
	free(f);
	return 0;
}

static uint32_t address(const struct fixture *f, const char *box, unsigned instance,
			const char *name)
{
	const struct pmu_box *b = pmu_find_box(f->pmu, box);
	const struct pmu_register *reg = pmu_find_register(b, name);

	assert_non_null(reg);
	return pmu_register_address(b, reg, instance);
}

static void set(struct fixture *f, const char *box, unsigned instance, const char *name,
		uint64_t value)
{
	assert_int_equal(
	    pmon_uncore_write(f->uncore, 0, address(f, box, instance, name), f->now, value), 0);
}

static uint64_t get(struct fixture *f, const char *box, unsigned instance, const char *name)
{
	uint64_t value;

	assert_int_equal(
	    pmon_uncore_read(f->uncore, 0, address(f, box, instance, name), f->now, &value), 0);
	return value;
}

static void happens(struct fixture *f, struct detail_event event)
{
	event.time = f->now;
	event.amount = event.amount ? event.amount : 1;
	pmon_uncore_event(f->uncore, &event);
}

static void enter(struct fixture *f, unsigned unit)
{
	happens(f, (struct detail_event){.id = SIGNAL_DIRECTORY_ENTER,
					 .unit = (uint8_t)unit,
					 .qualifiers = QUALIFIER_DIRECTORY_ENTER_NEW});
}

static void test_addresses(void **state)
{
	struct fixture *f = *state;
	uint64_t value;

	assert_int_equal(address(f, "bbox", 1, "B_CSR_PERF_CTL0"), 0xD080);
	assert_int_equal(address(f, "dbox", 0, "DBX_CSR_MISC"), 0xFA00);
	assert_int_equal(pmon_uncore_read(f->uncore, 0, 0x1234, 0, &value), PMU_E_UNKNOWN);
	assert_int_equal(pmon_uncore_read(f->uncore, SOCKETS, 0xD080, 0, &value), PMU_E_UNKNOWN);
}

/* IMT_ALLOC is 5, IMT_POP_CFL 6. */
static void test_select(void **state)
{
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 5 | 6 << 6);
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 0);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | ENABLE1);
	enter(f, 0);
	enter(f, 1); /* the other home agent's */
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 1);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT1"), 0);
	happens(f, (struct detail_event){.id = SIGNAL_DIRECTORY_ENTER,
					 .qualifiers = QUALIFIER_DIRECTORY_ENTER_AFTER_CONFLICT});
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 1);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT1"), 1);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | 1); /* reset holds counters at 0 */
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 0);
}

/* Queues by CTL2.arbq_sel0: ARB_Q0_INSERTS is 9; conflict queue 7, any, and that for entries. */
static void test_queues(void **state)
{
	static const struct {
		uint64_t queue;
		unsigned counts;
	} cases[] = {{7, 1}, {8, 0}, {32, 2}, {37, 1}, {41, 1}, {33, 0}};
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 9);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(f, "bbox", 0, "B_CSR_PERF_CTL2", cases[i].queue);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", 1);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0);
		happens(f, (struct detail_event){.id = SIGNAL_DIRECTORY_QUEUE,
						 .qualifiers = QUALIFIER_DIRECTORY_QUEUE_CONFLICT |
							       QUALIFIER_DIRECTORY_QUEUE_INTO_EMPTY,
						 .number = 7,
						 .amount = 20});
		happens(f, (struct detail_event){.id = SIGNAL_DIRECTORY_QUEUE,
						 .qualifiers = QUALIFIER_DIRECTORY_QUEUE_CONFLICT,
						 .number = 9,
						 .amount = 20});
		happens(f, (struct detail_event){.id = SIGNAL_DIRECTORY_QUEUE,
						 .qualifiers = QUALIFIER_DIRECTORY_QUEUE_ENTRY,
						 .amount = 20});
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), cases[i].counts);
	}
}

/* IMT_OVFL, 4: 64 entry cycles each; the rest stays in accum_cnt, if imt_en (bit 9) is set. */
static void test_accumulator(void **state)
{
	const struct detail_event held = {.id = SIGNAL_DIRECTORY_ENTRY, .amount = 100};
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 4);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0);
	happens(f, held);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_IMT_PERF_CNT") & 0x7f, 0);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | 1 << 9);
	for (unsigned i = 1; i <= 10; i++) {
		happens(f, held);
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0") << 6 |
				     (get(f, "bbox", 0, "B_CSR_IMT_PERF_CNT") & 0x7f),
				 100 * i);
	}
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | 1 << 9 | 1); /* reset holds it at 0 too */
	happens(f, held);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_IMT_PERF_CNT") & 0x7f, 0);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | 1 << 9);
	happens(f, held);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 1);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_IMT_PERF_CNT") & 0x7f, 100 - 64);
}

/* Table 5-17: a write of CTL3 clears iob_live_cnt, bits 20:11, and leaves accum_cnt. */
static void test_live_count(void **state)
{
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_IOB_PERF_CNT", 5 << 11 | 77);
	set(f, "bbox", 0, "B_CSR_PERF_CTL2", 1);
	set(f, "bbox", 1, "B_CSR_PERF_CTL3", 1); /* the other home agent's */
	assert_int_equal(get(f, "bbox", 0, "B_CSR_IOB_PERF_CNT"), 5 << 11 | 77);
	set(f, "bbox", 0, "B_CSR_PERF_CTL3", 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_IOB_PERF_CNT"), 77);
}

static void live(struct fixture *f, unsigned message, unsigned number)
{
	pmon_uncore_event(f->uncore, &(struct detail_event){.id = SIGNAL_DIRECTORY_MEMORY_LIVE,
							    .message = (uint8_t)message,
							    .time = f->now,
							    .amount = number});
}

/*
 * BZ_WMARK, 0x24, with bz_en (bit 12): cycles with at most so many commands (bits 42:37), or with
 * bit 43 at least, of those of z_op (bits 36:21). Two reads and a write from 10 to 30, one read and
 * the write until 50, then nothing until 100.
 */
static void test_watermark(void **state)
{
	static const struct {
		uint64_t op, mark, or_more, cycles;
	} cases[] = {{0xFFFF, 3, 1, 20},  {0xFFFF, 2, 1, 40},  {0xFFFF, 1, 1, 40},
		     {0xFFFF, 0, 1, 100}, {0xFFFF, 4, 1, 0},   {0xFFFF, 0, 0, 60},
		     {0xFFFF, 2, 0, 80},  {0xFFFF, 3, 0, 100}, {1, 2, 1, 20},
		     {2, 1, 1, 40},	  {2, 2, 1, 0},	       {0x40, 1, 1, 0}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = *state;

		f->now = 1000 * i;
		set(f, "bbox", 0, "B_CSR_PERF_CTL1", 0x24);
		set(f, "bbox", 0, "B_CSR_PERF_CTL2",
		    cases[i].or_more << 43 | cases[i].mark << 37 | cases[i].op << 21);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", 1);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | 1 << 12);
		f->now += 10;
		live(f, MESSAGE_READ_DATA, 2);
		live(f, MESSAGE_WRITEBACK, 1);
		f->now += 20;
		live(f, MESSAGE_READ_DATA, 1);
		f->now += 20;
		live(f, MESSAGE_READ_DATA, 0);
		live(f, MESSAGE_WRITEBACK, 0);
		f->now += 50;
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), cases[i].cycles);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0);
		f->now += 50;
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), cases[i].cycles);
	}
}

/* With no command at all it overflows by itself, and freezes in that cycle. */
static void test_watermark_overflow(void **state)
{
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 0x24);
	set(f, "bbox", 0, "B_CSR_PERF_CTL2", 0xFFFFull << 21);
	set(f, "bbox", 0, "B_CSR_PERF_CNT0", B_LIMIT - 100);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | AOV0 | 1 << 12);
	f->now = 99;
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), B_LIMIT - 1);
	f->now = 130;
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
	assert_true(get(f, "bbox", 0, "B_CSR_PERF_CTL0") & B_FROZEN);
	f->now = 200;
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
}

/* The count reads 2^40 - N and overflows at the N-th event: bit 40, and with aov the freeze. */
static void test_overflow(void **state)
{
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 5);
	set(f, "bbox", 0, "B_CSR_PERF_CNT0", B_LIMIT - 2);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | AOV0);
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), B_LIMIT - 1);
	assert_int_equal(pmon_uncore_interrupts(f->uncore, 0), 0);
	for (unsigned i = 0; i < 3; i++)
		enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
	assert_true(get(f, "bbox", 0, "B_CSR_PERF_CTL0") & B_FROZEN);
	assert_int_equal(pmon_uncore_interrupts(f->uncore, 0), 1);
	assert_int_equal(pmon_uncore_interrupts(f->uncore, 1), 0);
	assert_int_equal(get(f, "dbox", 0, "DBX_CSR_MISC"), 0);
	/* It goes on by a 0 in frz; with the overflow bit left, the next one freezes nothing. */
	set(f, "bbox", 0, "B_CSR_PERF_CNT0", OVERFLOWED | (B_LIMIT - 1));
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | AOV0);
	enter(f, 0);
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED | 1);
	assert_int_equal(pmon_uncore_interrupts(f->uncore, 0), 1);
}

static void test_stop(void **state)
{
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 5 | 5 << 6);
	set(f, "bbox", 0, "B_CSR_PERF_CNT0", B_LIMIT - 1);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | ENABLE1 | SOV0);
	for (unsigned i = 0; i < 3; i++)
		enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT1"), 3);
}

/* It goes on once sov is 0, or aov is 1, and from a reset on. */
static void test_stop_ends(void **state)
{
	static const struct {
		uint64_t control, after, counts;
	} cases[] = {{ENABLE0 | SOV0, ENABLE0 | SOV0, 0},
		     {ENABLE0, ENABLE0, 2},
		     {ENABLE0 | SOV0 | AOV0, ENABLE0 | SOV0 | AOV0, 2},
		     {ENABLE0 | SOV0 | 1, ENABLE0 | SOV0, 2}};
	struct fixture *f = *state;

	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 5);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | SOV0);
		set(f, "bbox", 0, "B_CSR_PERF_CNT0", B_LIMIT - 1);
		enter(f, 0);
		enter(f, 0);
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", cases[i].control);
		set(f, "bbox", 0, "B_CSR_PERF_CTL0", cases[i].after); /* ends a late freeze */
		enter(f, 0);
		enter(f, 0);
		assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"),
				 OVERFLOWED | cases[i].counts);
	}
}

/* The D-Box: frz_all is bit 6, unfrz_all 7, frz_en 0, ov_box_en 1, ov of B-Box 1 bit 11. */
static void test_global(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 2; i++) {
		set(f, "bbox", i, "B_CSR_PERF_CTL1", 5);
		set(f, "bbox", i, "B_CSR_PERF_CTL0", ENABLE0 | AOV0);
	}
	set(f, "dbox", 0, "DBX_CSR_MISC", 0x40);
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 0);
	set(f, "dbox", 0, "DBX_CSR_MISC", 0xc0); /* 0 to 1 of unfrz_all alone */
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 1);
	set(f, "dbox", 0, "DBX_CSR_MISC", 0x43); /* frz_all stays 1: nothing */
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 2);
	set(f, "bbox", 1, "B_CSR_PERF_CNT0", B_LIMIT - 1);
	enter(f, 1);
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), 2);
	assert_int_equal(get(f, "dbox", 0, "DBX_CSR_MISC"), 0x43 | 1 << 11);
}

/* B_CYCLES is 0x25. An overflow between two events freezes in its own cycle. */
static void test_cycles(void **state)
{
	struct fixture *f = *state;

	f->now = 1000;
	set(f, "bbox", 0, "B_CSR_PERF_CTL1", 0x25 | 5 << 6 | 0x25 << 12);
	set(f, "bbox", 0, "B_CSR_PERF_CNT0", B_LIMIT - 50);
	set(f, "bbox", 0, "B_CSR_PERF_CTL0", ENABLE0 | ENABLE1 | 8 | AOV0);
	f->now = 1049;
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), B_LIMIT - 1);
	f->now = 5000;
	enter(f, 0);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT0"), OVERFLOWED);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT1"), 1);
	assert_int_equal(get(f, "bbox", 0, "B_CSR_PERF_CNT2"), 50);
}

/* Right half, port 8 is 3 in pt_sel (21:19); en is 22; IPERF1 is ev_sel 1. 48 bits, split. */
static void test_router(void **state)
{
	const struct detail_event flits = {.id = SIGNAL_PORT_FLITS_OUT, .unit = 8, .amount = 18};
	struct fixture *f = *state;

	set(f, "rbox", 8, "R_CSR_Pn_IPERF1", 1u << 31);
	set(f, "rbox", 8, "R_CSR_PERF_CNT_1", 0xfffffff0);
	set(f, "rbox", 8, "R_CSR_PERF_CNT_CTRL_1", 1 << 22 | 3 << 19 | 1 << 16 | 0xab);
	happens(f, flits);
	happens(f, (struct detail_event){.id = SIGNAL_PORT_FLITS_OUT, .unit = 7, .amount = 18});
	assert_int_equal(get(f, "rbox", 5, "R_CSR_PERF_CNT_1"), 2); /* the same counter */
	assert_int_equal(get(f, "rbox", 8, "R_CSR_PERF_CNT_CTRL_1"),
			 1 << 22 | 3 << 19 | 1 << 16 | 0xac);
	set(f, "rbox", 0, "R_CSR_PERF_GBLCFG", 1 << 11); /* frz */
	happens(f, flits);
	assert_int_equal(get(f, "rbox", 8, "R_CSR_PERF_CNT_1"), 2);
	assert_int_equal(get(f, "rbox", 3, "R_CSR_PERF_GBLCFG"), 1 << 8); /* stat */
	set(f, "rbox", 0, "R_CSR_PERF_GBLCFG", 1 << 9);			  /* unfrz */
	happens(f, flits);
	assert_int_equal(get(f, "rbox", 8, "R_CSR_PERF_CNT_1"), 20);
	set(f, "rbox", 0, "R_CSR_PERF_GBLCFG", 1 << 10); /* clr */
	assert_int_equal(get(f, "rbox", 8, "R_CSR_PERF_CNT_1"), 0);
}

/* Table 5-29: ARB_MSGSEL (15:9), and PKT_MSGSEL (5:0) with PKT_VNSEL (7:6), are masks of classes.
 */
static void test_classes(void **state)
{
	static const struct {
		uint32_t iperf;
		unsigned counts;
	} cases[] = {{0x40 << 9, 10},  {0x50 << 9, 13},	  {0x14 << 9, 4},    {0x7f << 9, 14},
		     {0x53 << 9, 13},  {3 << 9, 0},	  {2 << 6 | 32, 10}, {2 << 6 | 48, 13},
		     {2 << 6 | 20, 4}, {2 << 6 | 63, 14}, {3 << 6 | 48, 13}, {48, 0}};
	static const uint32_t packets[] = {QUALIFIER_PORT_PACKET_IN_HOME,
					   QUALIFIER_PORT_PACKET_IN_SNOOP,
					   QUALIFIER_PORT_PACKET_IN_DATA};
	static const unsigned times[] = {10, 3, 1};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(f, "rbox", 0, "R_CSR_Pn_IPERF0", cases[i].iperf);
		set(f, "rbox", 0, "R_CSR_PERF_CNT_0", 0);
		set(f, "rbox", 0, "R_CSR_PERF_CNT_CTRL_0", 1 << 22);
		for (unsigned n = 0; n < 3; n++)
			for (unsigned t = 0; t < times[n]; t++)
				happens(f, (struct detail_event){
					       .id = SIGNAL_PORT_PACKET_IN,
					       .qualifiers =
						   packets[n] | QUALIFIER_PORT_PACKET_IN_ADAPTIVE});
		assert_int_equal(get(f, "rbox", 0, "R_CSR_PERF_CNT_0"), cases[i].counts);
	}
}

/* Match 0 is ev_sel 4, mm_en bit 21: class 14, opcode 4 under mask. */
static void test_match(void **state)
{
	static const struct {
		uint32_t match, mask;
		unsigned counts;
	} cases[] = {{14 << 9 | 4 << 5, 15 << 9 | 15 << 5, 1},
		     {14 << 9 | 4 << 5, 15 << 9 | 12 << 5, 1},
		     {14 << 9, 15 << 9, 2},
		     {14 << 9, 15 << 9 | 12 << 5, 1},
		     {0, 0, 3},
		     {3 << 9, 15 << 9, 0}};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(f, "rbox", 0, "R_CSR_Pn_MATCH_LSB_0", cases[i].match);
		set(f, "rbox", 0, "R_CSR_Pn_MASK_LSB_0", cases[i].mask);
		set(f, "rbox", 0, "R_CSR_Pn_MM_CFG_0", 1 << 21 | 1 << 16);
		set(f, "rbox", 0, "R_CSR_PERF_CNT_0", 0);
		set(f, "rbox", 0, "R_CSR_PERF_CNT_CTRL_0", 1 << 22 | 4 << 16);
		happens(f, (struct detail_event){.id = SIGNAL_PORT_PACKET_OUT,
						 .message = MESSAGE_DATA_WRITTEN});
		happens(f, (struct detail_event){.id = SIGNAL_PORT_PACKET_OUT,
						 .message = MESSAGE_DATA});
		happens(f, (struct detail_event){.id = SIGNAL_PORT_PACKET_OUT,
						 .message = MESSAGE_READ_DATA});
		assert_int_equal(get(f, "rbox", 0, "R_CSR_PERF_CNT_0"), cases[i].counts);
	}
}

/* INFLIGHT_CMD is 0x1d; 40 bits as CNT << 8 | CTL[31:24]; wrap_mode is bit 2, cnt_lo_we 23. */
static void test_memory(void **state)
{
	const struct detail_event read = {.id = SIGNAL_MEMORY_COMMAND,
					  .qualifiers = QUALIFIER_MEMORY_COMMAND_READ};
	struct fixture *f = *state;

	set(f, "zbox", 0, "Z_CSR_PMU_CNT_2", 0xffffffff);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0xfeu << 24 | 1 << 23);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0x1d << 4 | 4 | 1);
	for (unsigned i = 0; i < 3; i++)
		happens(f, read);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_2"), 0);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2"), 1 << 24 | 0x1d << 4 | 4 | 1);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS"), 1 << 2);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS", 1 << 2);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS"), 0);
	/* Without wrap_mode it stops at its overflow; with frz_mode (bit 3) all do. */
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_2", 0xffffffff);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0xffu << 24 | 1 << 23);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0x1d << 4 | 1);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_3", 0x1d << 4 | 1);
	for (unsigned i = 0; i < 3; i++)
		happens(f, read);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2") >> 24, 0);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_3") >> 24, 3);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_0", 1 << 22); /* clr_all */
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_3") >> 24, 0);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS"), 0);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_2", 0xffffffff);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0xffu << 24 | 1 << 23);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0x1d << 4 | 8 | 1);
	for (unsigned i = 0; i < 3; i++)
		happens(f, read);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_3") >> 24, 1);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS"), 1u << 31 | 1 << 2);
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS", 1 << 30 | 1 << 2);
	happens(f, read);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_3") >> 24, 2);
}

/* Where frz_mode cannot freeze again, as the overflow bit is left, wrap_mode = 0 still stops. */
static void test_memory_stops(void **state)
{
	const struct detail_event read = {.id = SIGNAL_MEMORY_COMMAND,
					  .qualifiers = QUALIFIER_MEMORY_COMMAND_READ};
	struct fixture *f = *state;

	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0x1d << 4 | 8 | 1);
	for (unsigned i = 0; i < 2; i++) {
		set(f, "zbox", 0, "Z_CSR_PMU_CNT_2", 0xffffffff);
		set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0xffu << 24 | 1 << 23);
		for (unsigned n = 0; n < 3; n++)
			happens(f, read);
		assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_2"), 0);
		assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2") >> 24, 0);
		assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS"),
				 (i ? 0 : 1u << 31) | 1 << 2);
		set(f, "zbox", 0, "Z_CSR_PMU_CNT_STATUS", 1 << 30); /* the bit is left */
	}
	set(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2", 0x1d << 4 | 8 | 4 | 1); /* wrap_mode */
	happens(f, read);
	assert_int_equal(get(f, "zbox", 0, "Z_CSR_PMU_CNT_CTL_2") >> 24, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_addresses, begin, end),
	    cmocka_unit_test_setup_teardown(test_select, begin, end),
	    cmocka_unit_test_setup_teardown(test_queues, begin, end),
	    cmocka_unit_test_setup_teardown(test_accumulator, begin, end),
	    cmocka_unit_test_setup_teardown(test_live_count, begin, end),
	    cmocka_unit_test_setup_teardown(test_watermark, begin, end),
	    cmocka_unit_test_setup_teardown(test_watermark_overflow, begin, end),
	    cmocka_unit_test_setup_teardown(test_overflow, begin, end),
	    cmocka_unit_test_setup_teardown(test_stop, begin, end),
	    cmocka_unit_test_setup_teardown(test_stop_ends, begin, end),
	    cmocka_unit_test_setup_teardown(test_global, begin, end),
	    cmocka_unit_test_setup_teardown(test_cycles, begin, end),
	    cmocka_unit_test_setup_teardown(test_router, begin, end),
	    cmocka_unit_test_setup_teardown(test_classes, begin, end),
	    cmocka_unit_test_setup_teardown(test_match, begin, end),
	    cmocka_unit_test_setup_teardown(test_memory, begin, end),
	    cmocka_unit_test_setup_teardown(test_memory_stops, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
