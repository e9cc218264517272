/* Groups of events that the one PMU of a computer counts by turns while a program runs. */
#ifndef CLI_STAT_TURNS_H
#define CLI_STAT_TURNS_H

#include "cli/report.h"

/**
 * Runs @argv, or waits, while the groups of the plan run->session take turns of --multiplex. Counts
 * are estimates for the whole time then; run->slices says of how much of it.
 * @return 0 or the exit code, said
 */
int stat_turns_measure(const struct cli *cli, struct stat_run *run, char **argv);

#endif
