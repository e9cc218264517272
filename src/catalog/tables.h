/* The generated tables, for the look-ups of this room only. */
#ifndef CATALOG_TABLES_H
#define CATALOG_TABLES_H

#include "pmulab/catalog.h"
#include "pmulab/machine.h"

extern const struct pmu_pmu pmu_table[];
extern const size_t pmu_table_count;
extern const struct pmu_machine machine_table[];
extern const size_t machine_table_count;

/*
 * Every event of every box, sorted by name_hash() of its name and then by box. The boxes of all
 * PMUs stand in one array, so that the order of their addresses is that of the catalog.
 */
struct event_index {
	uint32_t hash;
	const struct pmu_box *box;
	const struct pmu_event *event;
};

extern const struct event_index event_index[];
extern const size_t event_index_count;

#endif
