/* Source with counts. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "cli/attribution.h"

/** @return exit code */
int annotate_print(const struct cli *cli, const struct stat_run *run);

/* What attribution.c has for it: a table with a column an event and a last one, and the cells of a
   row but for the last. */
struct table *attribution_table(const struct stat_run *run, const char *name);
void attribution_counts(const struct stat_run *run, struct table *table, const uint64_t *counts);

#endif
