/*
 * Xeon E5-2600: encodings worked out by hand from 327043-001 and the register addresses, fields and
 * event aliases of Linux (arch/x86/events/intel/uncore_snbep.c), what its counters can count, and
 * their widths.
 */
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "encoding.h"
#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

#define PCI(device, function, offset) ((device) << 15 | (function) << 12 | (offset))
#define TEXT_MAX		      512

/* Writes end with address 0. Controls: edge 18, tid_en 19, ev_sel_ext 21, en 22, thresh 31:24. */
static const struct {
	const char *text;
	unsigned instance, counter;
	struct expected_write writes[6];
} encodings[] = {
    /* Filter: opc 31:23, state 22:18, nid 17:10, tid 4:0; CBo n at 0xD00 + 0x20 n */
    {"cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd", 3, 1, {{0xd74, 0xc1000000}, {0xd71, 0x00400335}}},
    {"cbo.LLC_LOOKUP.DATA_READ+NID:state=M+F:nid=1",
     7,
     0,
     {{0xdf4, 0x00600400}, {0xdf0, 0x00404334}}},
    {"cbo.LLC_LOOKUP.WRITE:state=ANY", 0, 0, {{0xd14, 0x007c0000}, {0xd10, 0x00400534}}},
    {"cbo.TxR_INSERTS.AD_CACHE:tid_en:tid=5", 0, 1, {{0xd14, 0x00000005}, {0xd11, 0x00480102}}},
    /* Thresholds of 7, 14 and 18 on counters 1 to 3: 327043-001 §2.3.2.1 */
    {"cbo.COUNTER0_OCCUPANCY:thresh=7", 0, 1, {{0xd11, 0x0740001f}}},
    {"cbo.COUNTER0_OCCUPANCY:thresh=14", 0, 2, {{0xd12, 0x0e40001f}}},
    {"cbo.COUNTER0_OCCUPANCY:thresh=18", 1, 3, {{0xd33, 0x1240001f}}},
    {"cbo.RxR_OCCUPANCY.IRQ:thresh=1", 2, 0, {{0xd50, 0x01400111}}},
    {"cbo.RING_BL_USED.UP_EVEN+UP_ODD", 0, 2, {{0xd12, 0x0040031d}}},
    {"ubox.EVENT_MSG.DOORBELL_RCVD", 0, 1, {{0xc11, 0x00400842}}},
    {"ubox.clock", 0, 0, {{0xc08, 0x00400000}}},
    /* Bands of 8 bits, 100 MHz each: 32 is 3.2 GHz (327043-001 §2.6.3.2) */
    {"pcu.FREQ_BAND2_CYCLES:band2=32", 0, 3, {{0xc34, 0x00200000}, {0xc33, 0x0040000d}}},
    /* occ_sel 15:14 = 3, occ_edge_det 31 */
    {"pcu.POWER_STATE_OCCUPANCY.CORES_C6:occ_edge_det:thresh=1", 0, 0, {{0xc30, 0x8140c080}}},
    {"pcu.CORE3_TRANSITION_CYCLES", 0, 1, {{0xc31, 0x00600006}}},
    /* Of the filter that it looks at nothing is left of others. */
    {"pcu.DEMOTIONS_CORE0", 0, 0, {{0xc34, 0}, {0xc30, 0x0040001e}}},
    /* Linux: cas_count_read event=0x04,umask=0x03; cas_count_write umask=0x0c */
    {"imc.CAS_COUNT.RD", 2, 2, {{PCI(16, 4, 0xe0), 0x00400304}}},
    {"imc.CAS_COUNT.WR", 1, 0, {{PCI(16, 1, 0xd8), 0x00400c04}}},
    {"imc.clock", 3, 0, {{PCI(16, 5, 0xf0), 0x00400000}}},
    {"ha.REQUESTS.READS", 0, 3, {{PCI(14, 1, 0xe4), 0x00400301}}},
    /* lo_addr 31:6, hi_addr 13:0 */
    {"ha.ADDR_OPC_MATCH.FILT:opc=RdData:lo_addr=0x159e269:hi_addr=0x1234",
     0,
     0,
     {{PCI(14, 1, 0x40), 0x56789a40},
      {PCI(14, 1, 0x44), 0x1234},
      {PCI(14, 1, 0x48), 0x02},
      {PCI(14, 1, 0xd8), 0x00400320}}},
    /* Linux: txl_flits_active event=0x00,umask=0x06; drs_data event=0x102,umask=0x08; ncb_data
       event=0x103,umask=0x04; clockticks event=0x14, where 0x100 means bit 21 */
    {"qpi.TxL_FLITS_G0.DATA+NON_DATA", 0, 0, {{PCI(8, 2, 0xd8), 0x00400600}}},
    {"qpi.RxL_FLITS_G1.DRS_DATA", 1, 0, {{PCI(9, 2, 0xd8), 0x00600802}}},
    {"qpi.RxL_FLITS_G2.NCB_DATA", 0, 1, {{PCI(8, 2, 0xdc), 0x00600403}}},
    {"qpi.CLOCKTICKS", 1, 3, {{PCI(9, 2, 0xe4), 0x00400014}}},
    /* NCB.AnyInt: match 0x1900, mask 0x1F80 (327043-001 §2.7.3.3.1), on function 6 of the port */
    {"qpi.CTO_COUNT:match_mc=NCB:match_opc=8:mask_mc=0xf:mask_opc=0xc",
     1,
     0,
     {{PCI(9, 6, 0x228), 0x1900},
      {PCI(9, 6, 0x238), 0x1f80},
      {PCI(9, 6, 0x23c), 0},
      {PCI(9, 2, 0xd8), 0x00600038}}},
    {"r3qpi.RxR_OCCUPANCY.HOM", 1, 0, {{PCI(19, 6, 0xd8), 0x00400113}}},
    {"r2pcie.TxR_INSERTS", 0, 0, {{PCI(19, 1, 0xd8), 0x00400024}}},
};

static const struct pmu_pmu *xeon_e5(void)
{
	return pmu_find_pmu("xeon-e5");
}

static void test_by_hand(void **state)
{
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		check_encoding(*state, xeon_e5(), encodings[i].text, encodings[i].instance,
			       encodings[i].counter, encodings[i].writes);
}

/* 327043-001 §2.2.2, §2.3.2, §2.4.2, §2.8.3.2, §2.9.3.2; Linux for the others and the numbers. */
static const struct {
	const char *name;
	unsigned instances, counters, width;
} boxes[] = {
    {"ubox", 1, 2, 44}, {"cbo", 8, 4, 44}, {"ha", 1, 4, 48},	 {"imc", 4, 4, 48},
    {"pcu", 1, 4, 48},	{"qpi", 2, 4, 48}, {"r2pcie", 1, 4, 44}, {"r3qpi", 2, 3, 44},
};

static void test_widths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		const struct pmu_box *box = pmu_find_box(xeon_e5(), boxes[i].name);

		assert_non_null(box);
		assert_int_equal(box->instance_count, boxes[i].instances);
		assert_int_equal(box->counter_count, boxes[i].counters);
		assert_int_equal(box->counter_width, boxes[i].width);
		for (unsigned j = 0; j < boxes[i].counters; j++) {
			const struct pmu_field *count = pmu_find_field(
			    pmu_box_register(box, PMU_ROLE_COUNTER, j), "event_count");

			assert_int_equal(count->lo, 0);
			assert_int_equal(count->hi, boxes[i].width - 1);
		}
	}
}

/* Linux: SNBEP_C0_MSR_PMON_*, SNBEP_CBO_MSR_OFFSET. */
static void test_cbo_addresses(void **state)
{
	static const struct {
		enum pmu_role role;
		uint32_t address;
	} registers[] = {
	    {PMU_ROLE_BOX_CTL, 0xd04},
	    {PMU_ROLE_COUNTER_CTL, 0xd10},
	    {PMU_ROLE_FILTER, 0xd14},
	    {PMU_ROLE_COUNTER, 0xd16},
	};
	const struct pmu_box *cbo = pmu_find_box(xeon_e5(), "cbo");

	(void)state;
	for (unsigned n = 0; n < 8; n++)
		for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
			assert_int_equal(pmu_register_address(
					     cbo, pmu_box_register(cbo, registers[i].role, 0), n),
					 registers[i].address + 0x20 * n);
}

/* An event on each counter that the box has, and on one that it has not. */
static void check_counters(struct pmu_ctx *ctx, const char *text, uint32_t counters)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;

	print_message("%s\n", text);
	assert_int_equal(pmu_event_parse(ctx, xeon_e5(), text, &selection), 0);
	for (unsigned i = 0; i <= selection.box->counter_count; i++) {
		int count = pmu_event_encode(ctx, &selection, 0, i, writes);

		if (counters >> i & 1)
			assert_true(count > 0);
		else
			assert_int_equal(count, PMU_E_CONFLICT);
	}
}

static void test_counters(void **state)
{
	static const struct {
		const char *text;
		uint32_t counters;
	} events[] = {
	    /* Occupancies on counter 0 alone, what it sees on the others: 327043-001 §2.3.2 */
	    {"cbo.TOR_OCCUPANCY.ALL", 0x1},
	    {"cbo.RxR_OCCUPANCY.IRQ", 0x1},
	    {"cbo.ISMQ_DRD_MISS_OCC", 0x1},
	    {"cbo.COUNTER0_OCCUPANCY", 0xe},
	    {"cbo.TOR_INSERTS.WB", 0x3},
	    /* Linux: UNCORE_EVENT_CONSTRAINT(0x1b, 0xc); r2pcie 0x12, 0x1; r3qpi 0x13, 0x1 */
	    {"cbo.RING_AD_USED.UP_EVEN", 0xc},
	    {"r2pcie.RxR_AK_BOUNCES", 0x1},
	    {"r3qpi.RxR_OCCUPANCY.HOM", 0x1},
	    {"r3qpi.CLOCKTICKS", 0x7},
	    {"ha.CLOCKTICKS", 0xf},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		check_counters(*state, events[i].text, events[i].counters);
}

/* 327043-001 §2.3.2: counters 2 and 3 track ring events and the companion, 20 a cycle at most. */
static void test_cbo_rules(void **state)
{
	const struct pmu_box *cbo = pmu_find_box(xeon_e5(), "cbo");

	(void)state;
	for (size_t i = 0; i < cbo->event_count; i++) {
		const struct pmu_event *event = &cbo->events[i];
		bool companion = !strcmp(event->name, "COUNTER0_OCCUPANCY");

		print_message("%s\n", event->name);
		if (event->counters & 0xc)
			assert_true(companion || !strncmp(event->name, "RING_", 5));
		if (event->counters & 0xe && !companion)
			assert_true(event->max_increment <= 1);
		assert_true(event->max_increment <= 20);
	}
}

/* Values for the filters that a unit mask cannot do without. */
static size_t put_filters(const struct pmu_box *box, uint64_t filters, char *text, size_t length)
{
	for (size_t i = 0; i < box->modifier_count; i++)
		if (filters >> box->modifiers[i].number & 1)
			length += (size_t)snprintf(text + length, TEXT_MAX - length, ":%s=1",
						   box->modifiers[i].name);
	return length;
}

/* The first unit mask of the group that @umask needs beside it. */
static const struct pmu_umask *companion_of(const struct pmu_event *event,
					    const struct pmu_umask *umask)
{
	for (size_t i = 0; i < event->umask_count; i++)
		if (*umask->needs && !strcmp(umask->needs, event->umasks[i].group))
			return &event->umasks[i];
	return NULL;
}

static void check_round_trip(struct pmu_ctx *ctx, const struct pmu_box *box,
			     const struct pmu_event *event, const struct pmu_umask *umask)
{
	const struct pmu_umask *companion = umask ? companion_of(event, umask) : NULL;
	uint8_t bits =
	    (uint8_t)((umask ? umask->value : event->umask) | (companion ? companion->value : 0));
	struct pmu_selection selection, decoded;
	struct pmu_write writes[PMU_EVENT_WRITES];
	char text[TEXT_MAX];
	size_t length = (size_t)sprintf(text, "xeon-e5/%s.%s%s%s%s%s", box->name, event->name,
					umask ? "." : "", umask ? umask->name : "",
					companion ? "+" : "", companion ? companion->name : "");

	if (umask)
		put_filters(box, umask->filters, text, length);
	if (event->needs)
		snprintf(text + length, TEXT_MAX - length, ":%s=1",
			 box->modifiers[__builtin_ctzll(event->needs)].name);
	if (pmu_event_parse(ctx, NULL, text, &selection))
		fail_msg("%s", pmu_message(ctx));
	for (unsigned counter = 0; counter < box->counter_count; counter++) {
		int count;

		if (!(event->counters >> counter & 1))
			continue;
		count = pmu_event_encode(ctx, &selection, 0, counter, writes);
		assert_true(count > 0);
		assert_int_equal(writes[count - 1].value & 0xffff, event->code | bits << 8);
		assert_int_equal(writes[count - 1].value >> 21 & 3, event->ext | 2);
		assert_int_equal(pmu_event_decode(ctx, box, writes[count - 1].value, &decoded), 0);
		assert_ptr_equal(decoded.event, event);
		assert_int_equal(decoded.umask, bits);
	}
}

static void test_round_trip(void **state)
{
	size_t lone = 0, umasks = 0;

	for (size_t i = 0; i < xeon_e5()->box_count; i++) {
		const struct pmu_box *box = &xeon_e5()->boxes[i];

		/* The cores' are not in the manual; they have two names for one code. */
		for (size_t j = 0; j < box->event_count && box->scope == PMU_SCOPE_SOCKET; j++) {
			const struct pmu_event *event = &box->events[j];

			if (!event->umask_count)
				check_round_trip(*state, box, event, NULL);
			for (size_t k = 0; k < event->umask_count; k++)
				check_round_trip(*state, box, event, &event->umasks[k]);
			umasks += event->umask_count;
			lone += !event->umask_count;
		}
	}
	print_message("%zu events without unit masks, %zu unit masks\n", lone, umasks);
	/*
	 * perfmon JKT V24 has 503 rows beside IRP's: 400 unit masks and 103 events. The UBox's
	 * clock is its fixed counter; libpfm4 and pmu-tools have five more: TxR_INSERTS of R2PCIe,
	 * TxR_INSERTS, TxR_CYCLES_FULL, TxR_CYCLES_NE and TxR_NACK of R3QPI.
	 */
	assert_int_equal(lone, 107);
	assert_int_equal(umasks, 400);
}

/* Its names are those of xeon-e5v4 too, and mean that unless the PMU is said. */
static void test_qualified(void **state)
{
	struct pmu_selection selection;
	char text[TEXT_MAX];

	assert_int_equal(pmu_event_parse(*state, NULL, "imc.CAS_COUNT.RD", &selection), 0);
	assert_string_equal(selection.pmu->name, "xeon-e5v4");
	pmu_event_print(&selection, text, sizeof(text));
	assert_string_equal(text, "imc.CAS_COUNT.RD");

	assert_int_equal(pmu_event_parse(*state, xeon_e5(), "CAS_COUNT.RD", &selection), 0);
	assert_ptr_equal(selection.pmu, xeon_e5());
	pmu_event_print(&selection, text, sizeof(text));
	assert_string_equal(text, "xeon-e5/imc.CAS_COUNT.RD");
	assert_int_equal(pmu_event_parse(*state, NULL, text, &selection), 0);
	assert_ptr_equal(selection.pmu, xeon_e5());

	assert_int_equal(pmu_event_parse(*state, NULL, "VOLT_TRANS_CYCLES_CHANGE", &selection),
			 PMU_E_UNKNOWN);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} refusals[] = {
	    {"cbo.TOR_INSERTS.MISS_OPCODE", PMU_E_SYNTAX, "needs the filter opc"},
	    {"cbo.LLC_LOOKUP.DATA_READ", PMU_E_SYNTAX, "needs the filter state"},
	    {"cbo.LLC_LOOKUP.NID:state=M:nid=1", PMU_E_SYNTAX, "counts nothing alone"},
	    {"cbo.TOR_INSERTS.EVICTION:opc=DRd", PMU_E_CONFLICT, "does not look at the filter opc"},
	    {"cbo.RxR_INSERTS.IRQ+IRQ_REJECTED", PMU_E_CONFLICT, "stands alone"},
	    {"cbo.TOR_INSERTS.WB+EVICTION", PMU_E_CONFLICT, "one unit mask"},
	    {"cbo8.CLOCKTICKS", PMU_E_RANGE, "0 to 7"},
	    {"cbo.TOR_INSERTS.OPCODE:opc=0x200", PMU_E_RANGE, "511"},
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct pmu_selection selection;

		assert_int_equal(pmu_event_parse(*state, xeon_e5(), refusals[i].text, &selection),
				 refusals[i].code);
		print_message("%s\n", pmu_message(*state));
		assert_non_null(strstr(pmu_message(*state), refusals[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),	  cmocka_unit_test(test_widths),
	    cmocka_unit_test(test_cbo_addresses), cmocka_unit_test(test_counters),
	    cmocka_unit_test(test_cbo_rules),	  cmocka_unit_test(test_round_trip),
	    cmocka_unit_test(test_qualified),	  cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
