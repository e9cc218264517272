/* The generated tables, for the look-ups of this layer only. */
#ifndef CATALOG_TABLES_H
#define CATALOG_TABLES_H

#include "catalog/description.h"
#include "catalog/entries.h"

extern const struct pmu_pmu pmu_table[];
extern const size_t pmu_table_count;
extern const struct pmu_index pmu_table_index;
extern const struct pmu_machine machine_table[];
extern const size_t machine_table_count;

#endif
