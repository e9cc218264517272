/* What the kernel counted, in the formats of `stat`. */
#ifndef CLI_PROCESS_REPORT_H
#define CLI_PROCESS_REPORT_H

#include "cli/cli.h"
#include "cli/mean.h"
#include "cli/process_run.h"
#include "pmulab/process.h"

#define PROCESS_RUNS_MAX (2 * ROUNDS_EVENTS_MAX) /* each ends an event, or halves their number */

struct process_result {
	struct pmu_process_count counts[PROCESS_EVENTS_MAX];
	struct pmu_process *processes[PROCESS_RUNS_MAX]; /* of runs, whose names the counts have */
	size_t runs;
	double seconds;					     /* mean of the runs */
	int exit;					     /* the first that is not 0 */
	struct mean means[PROCESS_EVENTS_MAX], seconds_mean; /* of what is repeated */
	unsigned repeated;				     /* 0: nothing is */
};

/** Whether its counter was shared: there is an estimate. */
bool process_is_estimate(const struct pmu_process_count *count);
/** For the whole time. */
uint64_t process_estimate(const struct pmu_process_count *count);

/** @return 0 or the exit code, said */
int process_report(struct cli *cli, const struct process_run *run,
		   const struct process_result *result, char **argv);

#endif
