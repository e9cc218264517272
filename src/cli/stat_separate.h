/* Groups of events that one PMU counts one after the other: the program runs once for each. */
#ifndef CLI_STAT_SEPARATE_H
#define CLI_STAT_SEPARATE_H

#include "cli/report.h"

/**
 * Divides the events of the session, where there are real registers. Where nobody asks for that,
 * and they cannot be counted at once, groups of them take turns of STAT_TURN_MS.
 * @return 0 or the exit code, said
 */
int stat_separate_plan(const struct cli *cli, struct stat_run *run);

/**
 * Makes a session of one group of @plan, as run->session.
 * @param events  receives what its events are in the plan; has room for all of the plan
 * @return 0 or an error of pmu_session_new(), pmu_session_only() or pmu_session_add()
 */
int stat_separate_open(const struct cli *cli, struct stat_run *run, struct pmu_session *plan,
		       size_t group, unsigned *events);

/**
 * host_measure() of one group after the other; run->counts has the counts of all of them then,
 * run->seconds the mean of their times, run->exit the first exit code that is not 0.
 * @return 0 or the exit code, said
 */
int stat_separate_measure(const struct cli *cli, struct stat_run *run, char **argv);

#endif
