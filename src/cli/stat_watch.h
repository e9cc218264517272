/* What goes on beside a program that is measured: intervals, a delay, a time limit, progress. */
#ifndef CLI_STAT_WATCH_H
#define CLI_STAT_WATCH_H

#include "cli/report.h"

struct stat_watch;

/**
 * Watches from now on, in a thread of its own, if anything is to be watched. Until
 * stat_watch_end() the session is the watch's alone.
 * @param watch  receives it; NULL: there is nothing to watch
 * @return 0 or the exit code, said
 */
int stat_watch_begin(struct stat_watch **watch, const struct cli *cli, struct stat_run *run);
/** NULL is allowed. @return 0, or the exit code of what failed meanwhile, said */
int stat_watch_end(struct stat_watch *watch);

#endif
