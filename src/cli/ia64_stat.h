/* Counts events of an emulated core while pmulab-ia64 runs a program. */
#ifndef CLI_IA64_STAT_H
#define CLI_IA64_STAT_H

#include "pmulab/ia64.h"

struct ia64_stat;

/**
 * Counts what the expressions in `events` name, divided by commas; prints it to standard error when
 * the process ends.
 * @param run  receives the core that the program is to run on, and what is called in the end
 * @return 0; else an exit status, after a message
 */
int ia64_stat_new(struct ia64_stat **stat, struct pmu_ia64_options *run, const char *events);
/** Of a program that did not begin; NULL is allowed. */
void ia64_stat_free(struct ia64_stat *stat);

#endif
