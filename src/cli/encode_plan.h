/* Events that are encoded in one call: counters for all of them, and registers that they share. */
#ifndef CLI_ENCODE_PLAN_H
#define CLI_ENCODE_PLAN_H

#include "cli/cli.h"
#include "pmulab/event.h"

struct encode_plan {
	struct pmu_selection *selections;
	struct pmu_placed *events; /* each of the selections, where it counts */
	size_t count;
};

/**
 * Parses the expressions and places them.
 * @param counter  the counter of each; -1: one that can count it, beside the others
 * @return exit code
 */
int encode_plan_init(const struct cli *cli, struct encode_plan *plan, const struct pmu_pmu *pmu,
		     char **texts, int counter);
void encode_plan_fini(struct encode_plan *plan);

/**
 * The writes of one event, with what the others set in the same registers.
 * @return their number or a negative error
 */
int encode_plan_writes(const struct cli *cli, const struct encode_plan *plan, size_t event,
		       struct pmu_write writes[PMU_EVENT_WRITES]);

#endif
