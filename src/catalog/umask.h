/* Unit masks as the manual defines them. */
#ifndef CATALOG_UMASK_H
#define CATALOG_UMASK_H

#include "catalog/entries.h"

/** Whether @umask is that of @row, but for the bits that the row does not care about. */
static inline bool umask_is(const struct pmu_umask *row, unsigned umask)
{
	return (umask & row->care) == row->value;
}

/**
 * Whether the event defines the unit mask: a row has exactly this value, or rows that go together
 * make it up, each with what it needs.
 */
bool umask_defined(const struct pmu_event *event, unsigned umask);

#endif
