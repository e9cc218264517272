/* The table of groups, made from catalog/PMU/groups. */
#ifndef CATALOG_GROUP_H
#define CATALOG_GROUP_H

#include "pmulab/group.h"

struct pmu_group {
	const char *pmu, *name, *title, *text;
};

extern const struct pmu_group group_table[];
extern const size_t group_table_count;

#endif
