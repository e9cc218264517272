/* Source with counts. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "cli/attribution.h"

/** @return exit code */
int annotate_print(const struct cli *cli, const struct stat_run *run);

#endif
