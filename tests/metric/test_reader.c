/* Arithmetic of equations, numbers and names; variables in names. */
#include <math.h>
#include <string.h>

#include "metric/formula.h"
#include "support/cmocka.h"

static const struct pmu_box *imc(void)
{
	return pmu_find_box(pmu_find_pmu("xeon-e5v4"), "imc");
}

static double compute_in(const char *box, const char *equation)
{
	const struct pmu_terms terms = {
	    .size = sizeof(terms),
	    .seconds = 2,
	    .tsc_mhz = 100,
	    .instances = 3,
	    .clock_mhz = {[PMU_CLOCK_UCLK] = 2800,
			  [PMU_CLOCK_DCLK] = 1200,
			  [PMU_CLOCK_CORE] = 2200,
			  [PMU_CLOCK_PCLK] = 800,
			  [PMU_CLOCK_QFCLK] = 1000},
	};
	struct pmu_formula *formula;
	struct pmu_ctx *ctx;
	double value;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	if (formula_from_equation(&formula, ctx, pmu_find_pmu("xeon-e5v4"),
				  pmu_find_box(pmu_find_pmu("xeon-e5v4"), box), NULL, equation))
		fail_msg("%s", pmu_message(ctx));
	value = pmu_formula_evaluate(formula, NULL, &terms);
	pmu_formula_free(formula);
	pmu_ctx_free(ctx);
	return value;
}

static double compute(const char *equation)
{
	return compute_in("imc", equation);
}

/* Three instances for two seconds. */
static void test_each_box_has_its_own_clock(void **state)
{
	(void)state;
	assert_true(compute_in("cbo", "SAMPLE_INTERVAL / 1e6") == 3 * 2 * 2800);
	assert_true(compute_in("imc", "SAMPLE_INTERVAL / 1e6") == 3 * 2 * 1200);
	assert_true(compute_in("core", "SAMPLE_INTERVAL / 1e6") == 3 * 2 * 2200);
	assert_true(compute_in("pcu", "SAMPLE_INTERVAL / 1e6") == 3 * 2 * 800);
	assert_true(compute_in("qpi", "SAMPLE_INTERVAL / 1e6") == 3 * 2 * 1000);
	assert_true(compute_in("imc", "UNCORE_FREQUENCY") == 2800);
}

static void test_arithmetic(void **state)
{
	static const struct {
		const char *equation;
		double value;
	} cases[] = {
	    {"2 + 3 * 4", 14},
	    {"(2 + 3) * 4", 20},
	    {"(2+3)*(1+1)", 10},
	    {"64 / 8 / 2", 4},
	    {"10 - 3 - 2", 5},
	    {"10 - (3 - 2)", 9},
	    {"2 * 3 / 4 * 2", 3},
	    {"((((7))))", 7},
	    {"1e6", 1000000},
	    {"1.5e3", 1500},
	    {"0.25", 0.25},
	    {"0x1F * 2", 62},
	    {"0xaB", 171},
	    {"1000 / 1e3", 1},
	    {"GB_CONVERSION", 1073741824},
	    {"TSC_SPEED", 100},
	    {"INSTANCES", 3},
	    {"TOTAL_INTERVAL / (TSC_SPEED * 1000000)", 2},
	    {"1000 / UNCORE_FREQUENCY * 28", 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fabs(compute(cases[i].equation) - cases[i].value) > 1e-9)
			fail_msg("%s is %g", cases[i].equation, compute(cases[i].equation));
	assert_true(isnan(compute("1 / 0")));
	assert_true(isnan(compute("0 / (2 - 2) + 1")));
}

static void test_syntax(void **state)
{
	static const struct {
		const char *equation, *says;
		int error;
	} cases[] = {
	    {"", "missing", PMU_E_SYNTAX},
	    {"1 +", "missing", PMU_E_SYNTAX},
	    {"(1", "')'", PMU_E_SYNTAX},
	    {"1)", "end", PMU_E_SYNTAX},
	    {"1 2", "end", PMU_E_SYNTAX},
	    {"1x", "no number", PMU_E_SYNTAX},
	    {"1e", "no number", PMU_E_SYNTAX},
	    {"((((((((((1))))))))))", "deep", PMU_E_SYNTAX},
	    {"CAS_COUNT.RD{thresh=1", "'}'", PMU_E_SYNTAX},
	    {"NO_SUCH_EVENT.RD * 64", "NO_SUCH_EVENT.RD", PMU_E_UNKNOWN},
	    {"CAS_COUNT.NOWHERE", "NOWHERE", PMU_E_UNKNOWN},
	    {"CAS_COUNT.RD{nothing}", "nothing", PMU_E_UNKNOWN},
	    {"CAS_COUNT.RD with:Nowhere.opc=1", "Nowhere", PMU_E_UNKNOWN},
	    {"CAS_COUNT.RD with:MC_CHy_PCI_PMON_BOX_CTL.frz=1", "frz", PMU_E_UNKNOWN},
	    {"INST_RETIRED.ALL (on Core", "')'", PMU_E_SYNTAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pmu_formula *formula;
		struct pmu_ctx *ctx;

		assert_int_equal(pmu_ctx_new(&ctx), 0);
		assert_int_equal(formula_from_equation(&formula, ctx, pmu_find_pmu("xeon-e5v4"),
						       imc(), NULL, cases[i].equation),
				 cases[i].error);
		if (!strstr(pmu_message(ctx), cases[i].says))
			fail_msg("\"%s\" is not in: %s", cases[i].says, pmu_message(ctx));
		pmu_ctx_free(ctx);
	}
}

static void test_variables(void **state)
{
	struct formula_variable variable;
	char text[32];

	(void)state;
	assert_true(variable_match("PCT_RANKx_IN", "pct_rank12_in", &variable));
	assert_int_equal(variable.letter, 'x');
	assert_string_equal(variable.value, "12");
	assert_false(variable_match("PCT_RANKx_IN", "PCT_RANKx_IN", &variable));
	assert_false(variable_match("PCT_RANKx_IN", "PCT_RANK_IN", &variable));
	assert_false(variable_match("PCT_RANKx_IN", "PCT_RANK1_INTO", &variable));
	assert_false(variable_match("PCT_RANK", "PCT_RANK", &variable));
	assert_false(variable_match("PCT_RANKx", "PCT_RANK123456789", &variable));
	assert_false(variable_in("TxR_RSPxWB_DataC"));
	assert_true(variable_in("DRS_DataC_TO_NODEx"));

	assert_true(variable_match("RANKx", "RANK7", &variable));
	assert_true(variable_replace(&variable, "TxR.RANKx", text, sizeof(text)));
	assert_string_equal(text, "TxR.RANK7");
	assert_true(variable_replace(&variable, "CHy", text, sizeof(text)));
	assert_string_equal(text, "CHy");
	assert_false(variable_replace(&variable, "RANKx", text, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_arithmetic),
	    cmocka_unit_test(test_each_box_has_its_own_clock),
	    cmocka_unit_test(test_syntax),
	    cmocka_unit_test(test_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
