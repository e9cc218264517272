/* The computer that this runs on, beside the emulated machines. */
#ifndef CLI_MACHINES_H
#define CLI_MACHINES_H

#include "cli/cli.h"

/**
 * Reports which PMU this computer has, which boxes were found, and what is missing and why.
 * @param root    as in struct pmu_host_options
 * @param folder  instead of a report, the computer is captured there; NULL: it is not
 * @return exit code
 */
int machines_host(const struct cli *cli, const char *root, const char *folder);

#endif
