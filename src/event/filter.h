/* Filters: which an event looks at, and the control bits that switch them on. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "catalog/entries.h"

/** Whether a set of modifiers, as the catalog has them for events and unit masks, holds one. */
bool filter_in(uint64_t set, const struct pmu_modifier *modifier);

/** Whether an event with these unit masks looks at a filter. */
bool filter_is_used(const struct pmu_event *event, const struct pmu_umask *const *rows,
		    size_t row_count, const struct pmu_modifier *filter);

#endif
