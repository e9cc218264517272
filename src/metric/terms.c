#include <assert.h>
#include <math.h>

#include "base/name.h"
#include "metric/formula.h"

/* Names of §1.7.1, those that equations use beside it (docs/errata.md, 67), and SECONDS. */
enum term {
	TERM_GB_CONVERSION,
	TERM_INSTANCES,
	TERM_INST_RETIRED,
	TERM_SAMPLE_INTERVAL,
	TERM_SECONDS,
	TERM_TOTAL_CORE_CYCLES,
	TERM_TOTAL_INTERVAL,
	TERM_TOTAL_PROC_CYC,
	TERM_TSC_SPEED,
	TERM_UNCORE_FREQUENCY,
	TERM_COUNT,
};

static const char *const names[] = {
    [TERM_GB_CONVERSION] = "GB_CONVERSION",
    [TERM_INSTANCES] = "INSTANCES",
    [TERM_INST_RETIRED] = "INST_RETIRED.ALL",
    [TERM_SAMPLE_INTERVAL] = "SAMPLE_INTERVAL",
    [TERM_SECONDS] = "SECONDS",
    [TERM_TOTAL_CORE_CYCLES] = "TOTAL_CORE_CYCLES",
    [TERM_TOTAL_INTERVAL] = "TOTAL_INTERVAL",
    [TERM_TOTAL_PROC_CYC] = "TOTAL_PROC_CYC",
    [TERM_TSC_SPEED] = "TSC_SPEED",
    [TERM_UNCORE_FREQUENCY] = "UNCORE_FREQUENCY",
};
static_assert(sizeof(names) / sizeof(names[0]) == TERM_COUNT, "a name for each term");

int term_find(const char *name)
{
	for (int i = 0; i < TERM_COUNT; i++)
		if (name_equal(names[i], name))
			return i;
	return -1;
}

double term_value(unsigned term, unsigned clock, const struct pmu_terms *terms)
{
	switch ((enum term)term) {
	case TERM_GB_CONVERSION:
		return 1024.0 * 1024.0 * 1024.0;
	case TERM_INSTANCES:
		return terms->instances;
	case TERM_INST_RETIRED:
		return terms->instructions;
	case TERM_SAMPLE_INTERVAL:
		return clock < PMU_CLOCK_COUNT
			   ? terms->seconds * terms->clock_mhz[clock] * 1e6 * terms->instances
			   : NAN;
	case TERM_SECONDS:
		return terms->seconds;
	case TERM_TOTAL_CORE_CYCLES:
	case TERM_TOTAL_PROC_CYC:
		return terms->core_cycles;
	case TERM_TOTAL_INTERVAL:
		return terms->seconds * terms->tsc_mhz * 1e6;
	case TERM_TSC_SPEED:
		return terms->tsc_mhz;
	case TERM_UNCORE_FREQUENCY:
		return terms->clock_mhz[PMU_CLOCK_UCLK];
	case TERM_COUNT:
		break;
	}
	return NAN;
}
