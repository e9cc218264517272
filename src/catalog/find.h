/* Look-ups as those of pmulab/catalog.h, of names whose name_hash() is known. */
#ifndef CATALOG_FIND_H
#define CATALOG_FIND_H

#include "pmulab/catalog.h"

const struct pmu_pmu *find_pmu(const char *name, uint32_t hash);
const struct pmu_box *find_box(const struct pmu_pmu *pmu, const char *name, uint32_t hash);
const struct pmu_event *find_event(const struct pmu_box *box, const char *name, uint32_t hash);
const struct pmu_umask *find_umask(const struct pmu_event *event, const char *name, uint32_t hash);
const struct pmu_modifier *find_modifier(const struct pmu_box *box, const char *name,
					 uint32_t hash);

#endif
