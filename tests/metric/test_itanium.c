/* Metrics of the Itanium 9300: the equations of 323602-001, with values worked out by hand. */
#include "catalog/entries.h"
#include "support/cmocka.h"
#include "support/context.h"
#include "trial.h"

static const struct trial trials[] = {
    {"itanium-9300",
     "IA64_IPC",
     {{"itanium-9300/core.IA64_INST_RETIRED.THIS", 4500},
      {"itanium-9300/core.CPU_OP_CYCLES.ALL", 3000}},
     1.5},
    /* §4.4: both sides of the dispersal identity, 6 * (1000 - 400) = 2900 + 720 - 20 */
    {"itanium-9300",
     "DISPERSAL_SLOTS",
     {{"itanium-9300/core.CPU_OP_CYCLES.ALL", 1000}, {"itanium-9300/core.DISP_STALLED", 400}},
     3600},
    {"itanium-9300",
     "DISPERSAL_SUM",
     {{"itanium-9300/core.INST_DISPERSED", 2900},
      {"itanium-9300/core.SYLL_NOT_DISPERSED.ALL", 720},
      {"itanium-9300/core.SYLL_OVERCOUNT.ALL", 20}},
     3600},
    /* §4.6 */
    {"itanium-9300",
     "BE_BUBBLE_SUM",
     {{"itanium-9300/core.BE_RSE_BUBBLE.ALL", 1},
      {"itanium-9300/core.BE_EXE_BUBBLE.ALL", 20},
      {"itanium-9300/core.BE_L1D_FPU_BUBBLE.ALL", 300},
      {"itanium-9300/core.BE_FLUSH_BUBBLE.ALL", 4000},
      {"itanium-9300/core.BACK_END_BUBBLE.FE", 50000}},
     54321},
    /* Table 4-9: (30 + 10) / (300 + 100) */
    {"itanium-9300",
     "L1I_MISS_RATIO",
     {{"itanium-9300/core.L2I_DEMAND_READS", 30},
      {"itanium-9300/core.L2I_PREFETCHES", 10},
      {"itanium-9300/core.L1I_READS", 300},
      {"itanium-9300/core.L1I_PREFETCHES", 100}},
     0.1},
    /* §4.11.3: (20 * 8 + 40) / 2 */
    {"itanium-9300",
     "MEM_READ_LATENCY",
     {{"itanium-9300/core.ER_MEM_READ_OUT_HI", 20},
      {"itanium-9300/core.ER_MEM_READ_OUT_LO", 40},
      {"itanium-9300/core.ER_READS.CACHEABLE_READS", 2}},
     100},
    /* §4.16: 5 * 8 + 30 */
    {"itanium-9300",
     "ER_SNOOPQ_LIVE",
     {{"itanium-9300/core.ER_SNOOPQ_LIVE_HI", 5}, {"itanium-9300/core.ER_SNOOPQ_LIVE_LO", 30}},
     70},
    /* §5.5.4.1, §5.5.6: 3 * 2048 / 64; §5.5.4.2: 5 * 64 / 20 */
    {"itanium-9300",
     "IOB_LATENCY",
     {{"bbox.IOB_OVFL", 3}, {"bbox.IOB_REMOVES.IN_PKT_COMPLETES", 64}},
     96},
    {"itanium-9300", "BZ_LATENCY", {{"bbox.BZ_OVFL", 5}, {"bbox.BZ_ACK", 20}}, 16},
    /* Table 4-41: 10 * 64 + 10 * 8 + 2 */
    {"itanium-9300",
     "RSE_CURRENT_REGS",
     {{"itanium-9300/core.RSE_CURRENT_REGS_6", 10},
      {"itanium-9300/core.RSE_CURRENT_REGS_5_TO_3", 10},
      {"itanium-9300/core.RSE_CURRENT_REGS_2_TO_0", 2}},
     722},
    /* §5.5.6, §5.5.4.2: accumulators of six bits; 50 * 64 / 100 */
    {"itanium-9300", "BZ_LATENCY", {{"bbox.BZ_OVFL", 50}, {"bbox.BZ_ACK", 100}}, 32},
    {"itanium-9300", "ARB_COHQ_OCCUPANCY", {{"bbox.ARB_Q0_OVFL.COHQ", 3}}, 3072},
    {"itanium-9300", "ET_DEPTH_NCB", {{"rbox.ET_ACC.NCB", 3}}, 96},
};

static void test_values(void **state)
{
	static const struct pmu_terms terms = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		trial_run(&trials[i], &terms);
}

static void test_all_metrics(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("itanium-9300");

	for (size_t b = 0; b < pmu->box_count; b++) {
		for (size_t m = 0; m < pmu->boxes[b].metric_count; m++) {
			struct pmu_formula *formula;

			if (pmu_formula_new(&formula, *state, pmu, pmu->boxes[b].metrics[m].name))
				fail_msg("%s", pmu_message(*state));
			pmu_formula_free(formula);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_all_metrics),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
