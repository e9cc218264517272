/* Look-ups beside those of pmulab/catalog.h: names whose name_hash() is known, codes. */
#ifndef CATALOG_FIND_H
#define CATALOG_FIND_H

#include "catalog/entries.h"

const struct pmu_pmu *find_pmu(const char *name, uint32_t hash);
const struct pmu_box *find_box(const struct pmu_pmu *pmu, const char *name, uint32_t hash);
const struct pmu_event *find_event(const struct pmu_box *box, const char *name, uint32_t hash);
const struct pmu_umask *find_umask(const struct pmu_event *event, const char *name, uint32_t hash);
const struct pmu_modifier *find_modifier(const struct pmu_box *box, const char *name,
					 uint32_t hash);

/** Bits of a counter's count; those of a fixed one may be others than the general ones'. */
unsigned counter_width(const struct pmu_box *box, const struct pmu_register *counter);

/** Which copy of the fields that select an event a counter is given; 0 where there is one. */
static inline unsigned event_copy(const struct pmu_event *event, unsigned counter)
{
	return event->copies ? counter % event->copies : 0;
}

/**
 * An event that a counter selects by its code; names with the same code follow in the catalog's
 * order. A copy of the selecting fields has a code of its own, as struct pmu_event says.
 * @param after  the event found before; NULL: none
 * @return NULL where there is none, or no more
 */
const struct pmu_event *find_coded_event(const struct pmu_box *box, const struct pmu_event *after,
					 unsigned counter, uint64_t code, bool ext);

#endif
