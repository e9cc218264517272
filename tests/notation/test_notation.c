/* Every event of the catalog in every notation: printed, read back, and held against libpfm4. */
#include <inttypes.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/entries.h"
#include "pmulab/notation.h"
#include "support/cmocka.h"
#include "support/context.h"

/* One that the catalog gives: an event with a unit mask, or a fixed counter. */
typedef void each_selection(struct pmu_ctx *ctx, const struct pmu_selection *selection, void *arg);

static void offer(struct pmu_ctx *ctx, const struct pmu_box *box, const char *event,
		  const struct pmu_umask *umask, each_selection *each, void *arg)
{
	char text[PMU_EVENT_TEXT_MAX];
	struct pmu_selection selection;
	size_t used = (size_t)snprintf(text, sizeof(text), "%s/%s.%s%s%s", box->pmu, box->name,
				       event, umask ? "." : "", umask ? umask->name : "");

	for (size_t i = 0; umask && i < box->modifier_count; i++)
		if (pmu_umask_needs(umask, &box->modifiers[i]))
			used += (size_t)snprintf(text + used, sizeof(text) - used, ":%s=1",
						 box->modifiers[i].name);
	if (!pmu_event_parse(ctx, NULL, text, &selection))
		each(ctx, &selection, arg);
}

static void each_of_box(struct pmu_ctx *ctx, const struct pmu_box *box, each_selection *each,
			void *arg)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];

		for (size_t u = 0; u < (event->umask_count ? event->umask_count : 1); u++)
			offer(ctx, box, event->name, event->umask_count ? &event->umasks[u] : NULL,
			      each, arg);
	}
	for (unsigned i = 0; i < box->fixed_count; i++) {
		const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);

		offer(ctx, box, *reg->event ? reg->event : "clock", NULL, each, arg);
	}
}

static void each_of_all(struct pmu_ctx *ctx, each_selection *each, void *arg)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t b = 0; b < pmus[i].box_count; b++)
			each_of_box(ctx, &pmus[i].boxes[b], each, arg);
}

static unsigned counter_of(const struct pmu_selection *selection)
{
	return selection->event ? (unsigned)__builtin_ctz(selection->event->counters) : 0;
}

static void assert_same(struct pmu_ctx *ctx, const struct pmu_selection *a,
			const struct pmu_selection *b, const char *text)
{
	struct pmu_write first[PMU_EVENT_WRITES], second[PMU_EVENT_WRITES];
	int count = pmu_event_encode(ctx, a, a->instance, counter_of(a), first);

	if (pmu_event_encode(ctx, b, b->instance, counter_of(a), second) != count || count <= 0)
		fail_msg("%s: not as many writes", text);
	for (int i = 0; i < count; i++)
		if (first[i].reg != second[i].reg || first[i].address != second[i].address ||
		    first[i].value != second[i].value)
			fail_msg("%s: %s is %#" PRIx64 ", not %#" PRIx64, text, first[i].reg->name,
				 second[i].value, first[i].value);
}

struct round_trip {
	enum pmu_tool tool;
	unsigned printed;
};

static void check_round_trip(struct pmu_ctx *ctx, const struct pmu_selection *selection, void *arg)
{
	struct round_trip *trip = arg;
	char text[PMU_EVENT_TEXT_MAX];
	struct pmu_selection found;

	if (pmu_notation_print(selection, trip->tool, text, sizeof(text)) < 0)
		return;
	trip->printed++;
	if (pmu_notation_parse(ctx, selection->pmu, text, &found))
		fail_msg("%s: %s", text, pmu_message(ctx));
	assert_same(ctx, selection, &found, text);
}

/* Of how many events each tool has a name, so that a rule that is lost is seen. */
static void test_round_trip(void **state)
{
	static const unsigned least[PMU_TOOL_COUNT] = {2100, 1850, 1840, 1600};

	for (int tool = 0; tool < PMU_TOOL_COUNT; tool++) {
		struct round_trip trip = {.tool = (enum pmu_tool)tool};

		each_of_all(*state, check_round_trip, &trip);
		print_message("%s: %u names\n", pmu_tool_name(trip.tool), trip.printed);
		assert_true(trip.printed >= least[tool]);
	}
}

/* Written down from the tools' own lists and the kernel's driver. */
static const struct {
	const char *pmu, *text,
	    *own; /* own NULL: refused, text then names the word of the message */
} written[] = {
    {"xeon-e5v4", "uncore_imc_3/event=0x4,umask=0x3/", "imc3.CAS_COUNT.RD"},
    {"xeon-e5v4", "uncore_imc/cas_count_read/", "imc.CAS_COUNT.RD"},
    {"xeon-e5v4", "imc/cas_count_write/", "imc.CAS_COUNT.WR"},
    {"xeon-e5v4", "uncore_imc_*/event=0xff/", "imc.clock"},
    {"xeon-e5v4", "uncore_cbox_2/event=0x35,umask=0x1,filter_opc=0x182/",
     "cbo2.TOR_INSERTS.OPCODE:opc=DRd"},
    {"xeon-e5v4", "uncore_qpi_0/event=0x102,umask=0x8/", "qpi0.RxL_FLITS_G1.DRS_DATA"},
    {"xeon-e5v4", "uncore_pcu/event=0x80,occ_sel=0x1/", "pcu.POWER_STATE_OCCUPANCY.CORES_C0"},
    {"xeon-e5v4", "unc_m_cas_count.rd", "imc.CAS_COUNT.RD"},
    {"xeon-e5v4", "UNC_C_LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.M_STATE"},
    {"xeon-e5v4", "r412e", "xeon-e5v4/core.LONGEST_LAT_CACHE.MISS"},
    {"xeon-e5v4", "cpu/event=0x2e,umask=0x4f/", "xeon-e5v4/core.LONGEST_LAT_CACHE.REFERENCE"},
    {"xeon-e5v4", "cache-misses", "xeon-e5v4/core.LONGEST_LAT_CACHE.MISS"},
    {"xeon-e5v4", "instructions", "xeon-e5v4/core.INST_RETIRED.ANY"},
    {"xeon-e5v4", "branch-misses", "xeon-e5v4/core.BR_MISP_RETIRED.ALL_BRANCHES"},
    /* Linux, events/intel/core.c: bits of MSR_OFFCORE_RSP_0 and 1. */
    {"xeon-e5v4", "LLC-loads",
     "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=DEMAND_DATA_RD:response=ANY_RESPONSE"},
    {"xeon-e5v4", "cpu/LLC-load-misses/",
     "xeon-e5v4/core.OFFCORE_RESPONSE_1:request_1=DEMAND_DATA_RD:response_1=0x1fbc00"},
    {"xeon-e5", "LLC-store-misses",
     "xeon-e5/core.OFFCORE_RESPONSE_1:request_1=0x102:response_1=0x3fffc0"},
    {"xeon-e5", "node-prefetches",
     "xeon-e5/core.OFFCORE_RESPONSE_0:request=0x30:response=0x1fffc0"},
    {"xeon-e5v4", "offcore_response.all_data_rd.llc_miss.local_dram",
     "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=ALL_DATA_RD:response=LLC_MISS_LOCAL_DRAM"},
    {"xeon-e5", "cpu/OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE/",
     "xeon-e5/core.OFFCORE_RESPONSE_0:request=DEMAND_RFO:response=ANY_RESPONSE"},
    /* perfmon, Sandy Bridge-EP core events: not what the same words mean beside others. */
    {"xeon-e5", "OFFCORE_RESPONSE.ALL_DATA_RD.ANY_RESPONSE",
     "xeon-e5/core.OFFCORE_RESPONSE_0:request=0x5b3:response=ANY_RESPONSE"},
    {"xeon-e5v4", "OFFCORE_RESPONSE.ALL_DATA_RD.NO_SUCH", NULL},
    /* The same bits, as a term: format/offcore_rsp. */
    {"xeon-e5v4", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x604000091/",
     "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=ALL_DATA_RD:response=LLC_MISS_LOCAL_DRAM"},
    {"xeon-e5", "cpu/event=0xbb,umask=0x1,offcore_rsp=0x10002/",
     "xeon-e5/core.OFFCORE_RESPONSE_1:request_1=DEMAND_RFO:response_1=ANY_RESPONSE"},
    {"xeon-e5v4", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x4000010001/", NULL},
    {"xeon-e5v4", "cpu/event=0x2e,umask=0x41,offcore_rsp=0x10001/", NULL},
    {"xeon-e5v4", "cpu/LLC-loads,offcore_rsp=0x10001/", NULL},
    {"xeon-e5v4", "imc/event=0x4,umask=0x3,offcore_rsp=0x10001/", NULL},
    {"xeon-e5v4", "CAS_COUNT_RD:MBOX0C0", "imc0.CAS_COUNT.RD"},
    {"xeon-e5v4", "LLC_VICTIMS_M:CBOX3C2", "cbo3.LLC_VICTIMS.M_STATE"},
    {"xeon-e5v4", "TOR_INSERTS_OPCODE:CBOX1C0:OPCODE=0x182:EDGEDETECT:THRESHOLD=1",
     "cbo1.TOR_INSERTS.OPCODE:thresh=1:edge_det:opc=DRd"},
    {"xeon-e5v4", "DRAM_CLOCKTICKS:MBOX2FIX", "imc2.clock"},
    {"xeon-e5v4", "INSTR_RETIRED_ANY:FIXC0", "xeon-e5v4/core.INST_RETIRED.ANY"},
    {"xeon-e5v4", "R2R_RING_AD_USED_UP:SBOX1C3", "sbo1.RING_AD_USED.UP"},
    {"xeon-e5", "RXL_FLITS_G1_DRS_DATA:SBOX0C1", "xeon-e5/qpi0.RxL_FLITS_G1.DRS_DATA"},
    /* LIKWID, doc/archs/broadwellep.md: bits 15:0 and 37:16 of MSR_OFFCORE_RSP_0 and 1. */
    {"xeon-e5v4", "OFFCORE_RESPONSE_0_OPTIONS:PMC0:MATCH0=0x91:MATCH1=0x60400",
     "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=ALL_DATA_RD:response=LLC_MISS_LOCAL_DRAM"},
    {"xeon-e5v4", "OFFCORE_RESPONSE_1_OPTIONS:PMC1:MATCH0=0x2:MATCH1=0x1:EDGEDETECT:THRESHOLD=1",
     "xeon-e5v4/"
     "core.OFFCORE_RESPONSE_1:request_1=DEMAND_RFO:response_1=ANY_RESPONSE:edge:cmask=1"},
    {"xeon-e5v4", "OFFCORE_RESPONSE_0_DMND_DATA_RD_ANY:PMC0",
     "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=DEMAND_DATA_RD:response=ANY_RESPONSE"},
    {"xeon-e5", "OFFCORE_RESPONSE_1_PF_L3_RFO_ANY:PMC2",
     "xeon-e5/core.OFFCORE_RESPONSE_1:request_1=0x100:response_1=0x1"},
    {"xeon-e5v4", "OFFCORE_RESPONSE_0_NO_SUCH_ANY:PMC0", NULL},
    {"xeon-e5v4", "LONGEST_LAT_CACHE_MISS:PMC0:MATCH0=0x1", NULL},
    {"xeon-e5v4", "bdx_unc_imc0::UNC_M_CAS_COUNT:RD", "imc0.CAS_COUNT.RD"},
    {NULL, "bdx_unc_imc0::UNC_M_CAS_COUNT:RD", "imc0.CAS_COUNT.RD"},
    {NULL, "snbep_unc_imc1::UNC_M_CAS_COUNT:WR", "xeon-e5/imc1.CAS_COUNT.WR"},
    {"xeon-e5v4", "bdx_unc_cbo3::UNC_C_TOR_INSERTS:OPCODE:OPC_DRD:t=1",
     "cbo3.TOR_INSERTS.OPCODE:thresh=1:opc=DRd"},
    {"xeon-e5v4", "bdx_unc_cbo0::UNC_C_LLC_LOOKUP:DATA_READ:STATE_M",
     "cbo0.LLC_LOOKUP.DATA_READ:state=M"},
    {NULL, "nhm_unc::UNC_QMC_NORMAL_READS:CH0", "nehalem/uncore.UNC_IMC_NORMAL_READS.CH0"},
    {"xeon-e5v4", "imc/config=0x304,name=CAS_COUNT.RD/", "imc.CAS_COUNT.RD"},
    {"xeon-e5v4", "imc/fixed,name=DRAM_CLOCKS/", "imc.clock"},
    {"xeon-e5v4", "core/config=0x3412e,name=MISS/", "xeon-e5v4/core.LONGEST_LAT_CACHE.MISS"},
    {"xeon-e5v4", "NO_SUCH:MBOX0C0", NULL},
    {"xeon-e5v4", "no_such/event=1/", NULL},
    {"xeon-e5v4", "imc/no_such=1/", NULL},
    {"xeon-e5v4", "imc/event=zz/", NULL},
    {"xeon-e5v4", "imc/event=0x55/", NULL},
    {"xeon-e5v4", "no_such::EVENT", NULL},
    {"xeon-e5v4", "rzz", NULL},
};

static void test_written(void **state)
{
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		const struct pmu_pmu *pmu = written[i].pmu ? pmu_find_pmu(written[i].pmu) : NULL;
		struct pmu_selection found, own;
		int error = pmu_notation_parse(*state, pmu, written[i].text, &found);

		print_message("%s\n", written[i].text);
		if (!written[i].own) {
			assert_true(error < 0);
			assert_true(*pmu_message(*state));
			continue;
		}
		if (error || pmu_event_parse(*state, NULL, written[i].own, &own))
			fail_msg("%s", pmu_message(*state));
		assert_ptr_equal(found.box, own.box);
		assert_int_equal(found.one_instance, own.one_instance);
		assert_same(*state, &own, &found, written[i].text);
	}
}

static void test_printed_filters(void **state)
{
	static const struct {
		enum pmu_tool tool;
		const char *own, *text;
	} printed[] = {
	    {PMU_TOOL_PERF, "cbo2.TOR_INSERTS.OPCODE:opc=DRd",
	     "uncore_cbox_2/event=0x35,umask=0x1,filter_opc=0x182/"},
	    {PMU_TOOL_PERF,
	     "xeon-e5v4/core.OFFCORE_RESPONSE_1:request_1=DEMAND_RFO:response_1=ANY_RESPONSE",
	     "cpu/event=0xbb,umask=0x1,offcore_rsp=0x10002/"},
	    {PMU_TOOL_LIKWID,
	     "xeon-e5v4/core.OFFCORE_RESPONSE_1:request_1=DEMAND_RFO:response_1=ANY_RESPONSE",
	     "OFFCORE_RESPONSE_1_OPTIONS:PMC0:MATCH0=0x2:MATCH1=0x1"},
	};

	for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
		struct pmu_selection selection;
		char text[PMU_EVENT_TEXT_MAX];

		assert_int_equal(pmu_event_parse(*state, NULL, printed[i].own, &selection), 0);
		assert_true(pmu_notation_print(&selection, printed[i].tool, text, sizeof(text)) >
			    0);
		assert_string_equal(text, printed[i].text);
	}
}

/* Patterns */

static int count_one(void *arg, const struct pmu_selection *selection)
{
	(void)selection;
	++*(unsigned *)arg;
	return 0;
}

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern;
		const char *event; /* whose unit masks are meant */
	} patterns[] = {
	    {"imc.CAS_COUNT.*", "CAS_COUNT"},
	    {"imc2.cas_count.*", "CAS_COUNT"},
	    {"CAS_COUNT.*:edge_det:thresh=1", "CAS_COUNT"},
	    {"i?c.PREEMPTION.*", "PREEMPTION"},
	};
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");
	const struct pmu_box *imc = pmu_find_box(pmu, "imc");

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		unsigned found = 0;

		if (pmu_notation_expand(*state, pmu, patterns[i].pattern, count_one, &found))
			fail_msg("%s", pmu_message(*state));
		assert_int_equal(found, pmu_event_umasks(pmu_find_event(imc, patterns[i].event)));
	}
	assert_int_equal(pmu_notation_expand(*state, pmu, "imc.NO_*", count_one, NULL),
			 PMU_E_UNKNOWN);
}

/* libpfm4's own list */

static uint64_t control_of(const char *name, int *error)
{
	pfm_pmu_encode_arg_t encoding = {.size = sizeof(encoding)};
	uint64_t control = 0;

	*error = pfm_get_os_event_encoding(name, PFM_PLM3 | PFM_PLM0, PFM_OS_NONE, &encoding);
	if (!*error && encoding.count > 0)
		control = encoding.codes[0];
	free(encoding.codes);
	return control;
}

static uint64_t mask_of(const struct pmu_field *field)
{
	return field ? pmu_mask(field->hi, field->lo) : 0;
}

struct peer {
	unsigned same, unknown, other, core;
};

static void check_libpfm4(struct pmu_ctx *ctx, const struct pmu_selection *selection, void *arg)
{
	const struct pmu_selector *selector = &selection->box->selector;
	struct peer *peer = arg;
	char text[PMU_EVENT_TEXT_MAX];
	uint64_t theirs, ours, mask;
	int error;

	(void)ctx;
	if (!selection->event ||
	    pmu_notation_print(selection, PMU_TOOL_LIBPFM4, text, sizeof(text)) < 0)
		return;
	theirs = control_of(text, &error);
	mask = mask_of(selector->ev_sel) | mask_of(selector->ev_sel_ext) |
	       mask_of(selector->umask) | mask_of(selector->occ_sel);
	ours = pmu_event_control(selection);
	/* Of cores libpfm4 follows other documents too. */
	if (selection->box->scope == PMU_SCOPE_CORE && (error || (ours ^ theirs) & mask)) {
		peer->core++;
	} else if (error) {
		peer->unknown++;
		print_message("libpfm4 does not know %s: %s\n", text, pfm_strerror(error));
	} else if ((ours ^ theirs) & mask) {
		peer->other++;
		print_message("%s: %#" PRIx64 ", libpfm4 %#" PRIx64 "\n", text, ours, theirs);
	} else {
		peer->same++;
	}
}

static void test_libpfm4(void **state)
{
	struct peer peer = {0};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		skip();
	each_of_all(*state, check_libpfm4, &peer);
	print_message("%u as in libpfm4, %u not known there, %u other; of cores %u are neither\n",
		      peer.same, peer.unknown, peer.other, peer.core);
	pfm_terminate();
	assert_true(peer.same >= 1800);
	assert_true(peer.core * 10 < peer.same);
	assert_int_equal(peer.unknown, 0);
	assert_int_equal(peer.other, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip),	    cmocka_unit_test(test_written),
	    cmocka_unit_test(test_printed_filters), cmocka_unit_test(test_patterns),
	    cmocka_unit_test(test_libpfm4),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
