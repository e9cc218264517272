/* stat -C: the CPUs that are counted. */
#ifndef CLI_STAT_CPUS_H
#define CLI_STAT_CPUS_H

#include "cli/report.h"

/** Reads a list of CPUs, 0,2-3. @return 0 or EXIT_USAGE, said */
int stat_cpus_read(const struct cli *cli, struct stat_cpus *cpus, const char *list);
/** All that are online, for -a. @return 0 or the exit code, said */
int stat_cpus_all(const struct cli *cli, struct stat_cpus *cpus);

/** Leaves out of the session what is not of the CPUs, if any are asked for. @return 0 or the exit
 * code, said */
int stat_cpus_limit(const struct cli *cli, const struct stat_run *run);

#endif
