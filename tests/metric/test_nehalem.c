/* Metrics of Core i7 and Xeon 5500: the guide's equations, with values worked out by hand. */
#include "catalog/entries.h"
#include "support/cmocka.h"
#include "support/context.h"
#include "trial.h"

static const struct trial trials[] = {
    /* Two fixed counters are two counts. */
    {"nehalem",
     "CPI",
     {{"nehalem/core.CPU_CLK_UNHALTED.THREAD", 3000}, {"nehalem/core.INST_RETIRED.ANY", 2000}},
     1.5},
    {"nehalem",
     "INSTRUCTION_STARVATION",
     {{"nehalem/core.UOPS_ISSUED.STALL_CYCLES", 900}, {"nehalem/core.RESOURCE_STALLS.ANY", 250}},
     650},
    {"nehalem",
     "WASTED_WORK_CORE",
     {{"nehalem/core.UOPS_EXECUTED.PORT234_CORE", 500},
      {"nehalem/core.UOPS_EXECUTED.PORT015:any", 700},
      {"nehalem/core.UOPS_RETIRED.ANY:any", 1100}},
     100},
    {"nehalem",
     "L1D_MISS_DEPTH",
     {{"nehalem/core.L1D_PEND_MISS.PENDING", 600},
      {"nehalem/core.L1D_PEND_MISS.PENDING:cmask=1", 200}},
     3},
    /* 1000 lines of 64 bytes */
    {"nehalem",
     "NT_STORE_LOCAL_BYTES",
     {{"nehalem/core.OFFCORE_RESPONSE_0:request=OTHER:response=LOCAL_CACHE_DRAM", 1000}},
     64000},
    {"nehalem",
     "READ_LATENCY_CH1",
     {{"uncore.UNC_IMC_NORMAL_OCCUPANCY.CH1", 4000}, {"uncore.UNC_IMC_NORMAL_READS.CH1", 50}},
     80},
    /* 64 bytes * 500 reads in 1000 cycles of 2000 MHz, half a microsecond: 64000 MB/s */
    {"nehalem",
     "READ_BANDWIDTH",
     {{"uncore.UNC_IMC_NORMAL_READS.ANY", 500}, {"uncore.clock", 1000}},
     64000},
};

static void test_values(void **state)
{
	static const struct pmu_terms terms = {
	    .size = sizeof(terms), .instances = 1, .clock_mhz = {[PMU_CLOCK_UCLK] = 2000}};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		trial_run(&trials[i], &terms);
}

/* Every equation is understood; some have a term that the manual does not define. */
static void test_all_metrics(void **state)
{
	static const char *const open[] = {"UNACCOUNTED_STALLS", "UNACCOUNTED_STALLS_THREAD"};
	const struct pmu_pmu *pmu = pmu_find_pmu("nehalem");
	size_t missing = 0;

	for (size_t i = 0; i < pmu->box_count; i++) {
		const struct pmu_box *box = &pmu->boxes[i];

		for (size_t m = 0; m < box->metric_count; m++) {
			struct pmu_formula *formula = NULL;

			assert_int_equal(
			    pmu_formula_new(&formula, *state, pmu, box->metrics[m].name), 0);
			if (*pmu_formula_missing(formula)) {
				assert_true(missing < sizeof(open) / sizeof(open[0]));
				assert_string_equal(box->metrics[m].name, open[missing]);
				missing++;
			}
			pmu_formula_free(formula);
		}
	}
	assert_int_equal(missing, sizeof(open) / sizeof(open[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_all_metrics),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
