/* What a PMU of the real machine would have counted by turns. */
#ifndef CLI_STAT_MULTIPLEX_H
#define CLI_STAT_MULTIPLEX_H

#include "cli/report.h"

/** Makes room for all events. @return 0 or the exit code, said */
int stat_multiplex_init(const struct cli *cli, struct stat_run *run);
void stat_multiplex_fini(struct stat_run *run);

/** Adds a time slice, in which one group of events counts. @param counts  what happened, by event
 */
void stat_multiplex_add(struct stat_run *run, const uint64_t *counts, double seconds);

/** Estimates, their bounds and the truth. */
int stat_multiplex_print(const struct cli *cli, const struct stat_run *run);
struct json_t *stat_multiplex_json(const struct stat_run *run);

#endif
