/* Metrics of the catalog: what they select, and their values worked out by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "support/cmocka.h"
#include "trial.h"

static const struct pmu_terms terms = {
    .size = sizeof(terms),
    .seconds = 2,
    .tsc_mhz = 1000,
    .instances = 4,
    .clock_mhz = {[PMU_CLOCK_UCLK] = 50e-6}, /* 100 cycles each */
    .core_cycles = 8000,
    .instructions = 1000,
};

static void test_values(void **state)
{
	static const struct trial trials[] = {
	    {"xeon-e5v4", "MEM_BW_READS", {{"imc.CAS_COUNT.RD", 10}}, 640},
	    {"xeon-e5v4",
	     "imc.mem_bw_total",
	     {{"imc.CAS_COUNT.RD", 10}, {"imc.CAS_COUNT.WR", 5}},
	     960},
	    {"xeon-e5v4",
	     "PCT_REQUESTS_PAGE_HIT",
	     {{"imc.ACT_COUNT.ALL", 30},
	      {"imc.PRE_COUNT.PAGE_MISS", 10},
	      {"imc.CAS_COUNT.RD", 60},
	      {"imc.CAS_COUNT.WR", 40}},
	     0.7},
	    {"xeon-e5v4",
	     "PCT_CYCLES_DRAM_RANK3_IN_CKE",
	     {{"imc.POWER_CKE_CYCLES.RANK3", 25}, {"imc.clock", 100}},
	     0.25},
	    {"xeon-e5v4",
	     "ha.PCT_RD_REQUESTS",
	     {{"ha.REQUESTS.READS", 30}, {"ha.REQUESTS.WRITES", 10}},
	     0.75},
	    {"xeon-e5v4",
	     "AVG_TOR_DRD_MISS_LATENCY",
	     {{"cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd", 5000},
	      {"cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd", 100}},
	     50},
	    {"xeon-e5v4",
	     "AVG_TOR_DRD_MISS_LATENCY",
	     {{"cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd", 0},
	      {"cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd", 0}},
	     NAN},
	    {"xeon-e5v4",
	     "AVG_TOR_DRD_HIT_LATENCY",
	     {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", 9000},
	      {"cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd", 5000},
	      {"cbo.TOR_INSERTS.OPCODE:opc=DRd", 300},
	      {"cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd", 100}},
	     20},
	    /* with: after a parenthesis is for all in it. */
	    {"xeon-e5v4",
	     "AVG_TOR_DRDS_WHEN_NE",
	     {{"cbo.TOR_OCCUPANCY.OPCODE:opc=DRd", 600},
	      {"cbo.COUNTER0_OCCUPANCY:thresh=1:opc=DRd", 200}},
	     3},
	    {"xeon-e5v4",
	     "AVG_TOR_DRD_LOC_MISS_LATENCY",
	     {{"cbo.TOR_OCCUPANCY.NID_MISS_OPCODE:opc=DRd:nid=my_node", 60},
	      {"cbo.TOR_INSERTS.NID_MISS_OPCODE:opc=DRd:nid=my_node", 20}},
	     3},
	    /* with: binds to what stands directly before it. */
	    {"xeon-e5v4",
	     "LLC_DRD_MISS_PCT",
	     {{"cbo.LLC_LOOKUP.DATA_READ:state=I", 3}, {"cbo.LLC_LOOKUP.DATA_READ:state=ANY", 12}},
	     0.25},
	    {"xeon-e5v4", "LLC_MPI", {{"cbo.LLC_LOOKUP.ANY:state=I", 5}}, 0.005},
	    {"xeon-e5v4", "AVG_INGRESS_DEPTH", {{"cbo.RxR_OCCUPANCY.IRQ", 800}}, 2},
	    {"xeon-e5v4", "MEM_WB_BYTES", {{"cbo.LLC_VICTIMS.M_STATE", NAN}}, NAN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		trial_run(&trials[i], &terms);
}

/* Several settings, in one register and in several (§1.7): IO_READ_BW has both a tid and an opc. */
static void test_several_settings(void **state)
{
	const struct pmu_selection *selections;
	struct pmu_formula *formula;
	char text[256];

	(void)state;
	assert_int_equal(pmu_formula_new(&formula, NULL, pmu_find_pmu("xeon-e5v4"), "IO_READ_BW"),
			 0);
	assert_int_equal(pmu_formula_selections(formula, &selections), 2);
	pmu_event_print(&selections[0], text, sizeof(text));
	assert_non_null(strstr(text, ":tid=0x3e"));
	assert_non_null(strstr(text, ":opc="));
	pmu_event_print(&selections[1], text, sizeof(text));
	assert_null(strstr(text, ":tid="));
	assert_string_equal(pmu_formula_metric(formula)->unit, "MB");
	pmu_formula_free(formula);
}

static void refuse(const char *name, int error, const char *says)
{
	struct pmu_formula *formula;
	struct pmu_ctx *ctx;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	assert_int_equal(pmu_formula_new(&formula, ctx, pmu_find_pmu("xeon-e5v4"), name), error);
	if (!strstr(pmu_message(ctx), says))
		fail_msg("\"%s\" is not in: %s", says, pmu_message(ctx));
	pmu_ctx_free(ctx);
}

static void test_refusals(void **state)
{
	(void)state;
	refuse("PCT_RD_REQUESTS", PMU_E_CONFLICT, "ha");
	refuse("MEM_BW_READ", PMU_E_UNKNOWN, "MEM_BW_READS");
	refuse("cbo.MEM_BW_READS", PMU_E_UNKNOWN, "cbo.MEM_BW_READS");
	refuse("PCT_CYCLES_DRAM_RANKx_IN_CKE", PMU_E_UNKNOWN, "number");
	refuse("PCT_CYCLES_DRAM_RANK9_IN_CKE", PMU_E_UNKNOWN, "RANK9");
}

static struct pmu_formula *parse(struct pmu_ctx *ctx, const char *equation)
{
	struct pmu_formula *formula;

	if (pmu_formula_parse(&formula, ctx, pmu_find_pmu("xeon-e5v4"), equation))
		fail_msg("%s", pmu_message(ctx));
	return formula;
}

/* 334291-001 names it in §2.6.6 and has no such event. */
static void test_missing_names(void **state)
{
	const struct pmu_selection *selections;
	struct pmu_formula *formula;
	double counts[] = {7};
	struct pmu_ctx *ctx;

	(void)state;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	assert_int_equal(
	    pmu_formula_new(&formula, ctx, pmu_find_pmu("xeon-e5v4"), "imc.PCT_RD_REQUESTS"), 0);
	assert_string_equal(pmu_formula_missing(formula), "WPQ_INSERTS");
	assert_int_equal(pmu_formula_selections(formula, &selections), 1);
	assert_true(isnan(pmu_formula_evaluate(formula, counts, &terms)));
	pmu_formula_free(formula);
	formula = parse(ctx, "1 - imc.PCT_WR_REQUESTS");
	assert_string_equal(pmu_formula_missing(formula), "WPQ_INSERTS");
	pmu_formula_free(formula);
	pmu_ctx_free(ctx);
}

/* Equations of the user's own: events, metrics and terms of any box. */
static void test_own_equations(void **state)
{
	static const struct {
		const char *equation;
		double counts[3], value;
	} trials[] = {
	    {"3 * (1 + 0.5)", {0}, 4.5},
	    {"imc.CAS_COUNT.RD*64/SECONDS", {10}, 320},
	    {"MEM_BW_TOTAL / seconds", {10, 5}, 480},
	    {"imc.PCT_CYCLES_DRAM_RANK3_IN_CKE", {25, 100}, 0.25},
	    {"(cbo.LLC_LOOKUP.ANY:state=0x1 - cbo3.LLC_LOOKUP.REMOTE_SNOOP:state=0x1) / "
	     "INST_RETIRED.ALL",
	     {500, 100},
	     0.4},
	    {"TOR_INSERTS.MISS_OPCODE with:Cn_MSR_PMON_BOX_FILTER1.opc=0x182", {3}, NAN},
	    {"cbo.COUNTER0_OCCUPANCY{edge_det,thresh=0x1}/imc.clock", {8, 4}, 2},
	    {"2 * cbo.CLOCKTICKS:thresh=1:edge_det", {4}, 8},
	};
	struct pmu_ctx *ctx;

	(void)state;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct pmu_formula *formula;
		double value;

		if (isnan(trials[i].value)) {
			assert_int_equal(pmu_formula_parse(&formula, ctx, pmu_find_pmu("xeon-e5v4"),
							   trials[i].equation),
					 PMU_E_SYNTAX);
			continue;
		}
		formula = parse(ctx, trials[i].equation);
		value = pmu_formula_evaluate(formula, trials[i].counts, &terms);
		if (!(fabs(value - trials[i].value) < 1e-9))
			fail_msg("%s is %g", trials[i].equation, value);
		assert_null(pmu_formula_metric(formula));
		pmu_formula_free(formula);
	}
	pmu_ctx_free(ctx);
}

/* Metrics of metrics with a variable, which stands in values too (§2.9.5). */
static void test_nested_variable(void **state)
{
	const struct pmu_selection *selections;
	struct pmu_formula *formula;
	struct pmu_ctx *ctx;
	size_t count;

	(void)state;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	if (pmu_formula_new(&formula, ctx, pmu_find_pmu("xeon-e5v4"), "DATA_FROM_QPI_TO_NODE3"))
		fail_msg("%s", pmu_message(ctx));
	/* DRS DataC; DRS any, whose DataC are taken off; NCB any and its interrupts. */
	count = pmu_formula_selections(formula, &selections);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		bool node = false;

		for (size_t s = 0; s < selections[i].setting_count; s++)
			node |=
			    !strcmp(selections[i].settings[s].modifier->name, "rx_match_dnid") &&
			    selections[i].settings[s].value == 3;
		assert_true(node);
	}
	pmu_formula_free(formula);
	pmu_ctx_free(ctx);
}

/* Every equation is understood; three name an event that the manual does not have. */
static void test_all_metrics(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");
	unsigned missing = 0, metrics = 0;

	(void)state;
	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++)
		for (size_t i = 0; i < box->metric_count; i++) {
			char name[128], *variable;
			struct pmu_formula *formula = NULL;
			struct pmu_ctx *ctx;

			assert_int_equal(pmu_ctx_new(&ctx), 0);
			snprintf(name, sizeof(name), "%s.%s", box->name, box->metrics[i].name);
			variable = strstr(name, "RANKx");
			if (!variable)
				variable = strstr(name, "NODEx");
			if (variable)
				variable[4] = '0';
			metrics++;
			if (pmu_formula_new(&formula, ctx, pmu, name))
				fail_msg("%s: %s", name, pmu_message(ctx));
			missing += *pmu_formula_missing(formula) != 0;
			pmu_formula_free(formula);
			pmu_ctx_free(ctx);
		}
	assert_int_equal(missing, 3);
	assert_int_equal(metrics, 113);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),	  cmocka_unit_test(test_several_settings),
	    cmocka_unit_test(test_refusals),	  cmocka_unit_test(test_nested_variable),
	    cmocka_unit_test(test_all_metrics),	  cmocka_unit_test(test_missing_names),
	    cmocka_unit_test(test_own_equations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
