/* Groups of events and metrics: the catalog's, and files. */
#ifndef CLI_STAT_GROUP_H
#define CLI_STAT_GROUP_H

#include "cli/stat_events.h"
#include "pmulab/group.h"

/**
 * Calls @each for every event, or every metric, of the groups: names, files, or LIKWID's lists of
 * EVENT:COUNTER.
 * @return 0 or the first code that is not, said
 */
int stat_groups_add(const struct cli *cli, struct stat_run *run, const struct stat_words *groups,
		    enum pmu_group_list wanted, stat_item *each);

#endif
