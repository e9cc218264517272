/* What goes on beside a program that the kernel counts: a delay, intervals. */
#ifndef CLI_PROCESS_WATCH_H
#define CLI_PROCESS_WATCH_H

#include "cli/cli.h"
#include "cli/process_run.h"
#include "pmulab/process.h"

struct process_watch;

/**
 * Watches from now on, in a thread of its own. What is delayed has to be held.
 * @param watch  receives it; NULL: there is nothing to watch
 * @return 0 or the exit code, said
 */
int process_watch_begin(struct process_watch **watch, const struct cli *cli,
			const struct process_run *run, struct pmu_process *process);
/** NULL is allowed. @return 0, or the exit code of what failed meanwhile, said */
int process_watch_end(struct process_watch *watch);

#endif
