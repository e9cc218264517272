/* Metrics of a run under `stat`: the catalog's and the user's own. */
#ifndef CLI_STAT_METRIC_H
#define CLI_STAT_METRIC_H

#include "cli/report.h"

#define STAT_WHY_MAX (PMU_EVENT_TEXT_MAX + 64)

/** Adds metrics and their events: NAME, with * and ?, or NAME[UNIT]=EQUATION. @return 0 or the exit
 * code, said */
int stat_metric_add(const struct cli *cli, struct stat_run *run, const char *text);
void stat_metric_fini(struct stat_metric *metric);

/** The value in the metric's own unit; NAN: not known. */
double stat_metric_value(const struct stat_run *run, const struct stat_metric *metric);
/** Turns a value into what people expect: bytes into GB/s, cycles into ns. @return its unit */
const char *stat_metric_show(const struct stat_run *run, const struct stat_metric *metric,
			     double *value);
/** Why there is no value; "" where there is one. */
void stat_metric_why(const struct stat_run *run, const struct stat_metric *metric,
		     char text[STAT_WHY_MAX]);

#endif
