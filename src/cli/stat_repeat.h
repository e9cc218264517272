/* A measurement that is repeated: means and deviations over its runs. */
#ifndef CLI_STAT_REPEAT_H
#define CLI_STAT_REPEAT_H

#include "cli/report.h"

/** Takes the counts and metrics of one more run. @return 0 or the exit code, said */
int stat_repeat_add(const struct cli *cli, struct stat_run *run);
void stat_repeat_fini(struct stat_run *run);

#endif
