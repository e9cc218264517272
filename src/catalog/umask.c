#include "catalog/umask.h"

#include <string.h>

/* Whether @entry is part of @umask, where unit masks are added up. */
static bool combines(const struct pmu_event *event, const struct pmu_umask *entry, unsigned umask)
{
	if (event->combine == PMU_COMBINE_GROUP)
		return umask_is(entry, umask);
	return event->combine == PMU_COMBINE_OR && !entry->alone && !(entry->value & ~umask);
}

/* Whether @entry needs one of another group that @umask does not have. */
static bool lacks(const struct pmu_event *event, const struct pmu_umask *entry, unsigned umask)
{
	if (!entry->needs || !*entry->needs)
		return false;
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *other = &event->umasks[i];

		if (!strcmp(other->group, entry->needs) && combines(event, other, umask))
			return false;
	}
	return true;
}

bool umask_defined(const struct pmu_event *event, unsigned umask)
{
	unsigned covered = 0;

	if (event->umask_count == 0)
		return umask == 0;
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *entry = &event->umasks[i];

		if (umask == entry->value)
			return !lacks(event, entry, umask);
		if (!combines(event, entry, umask))
			continue;
		if (lacks(event, entry, umask))
			return false;
		covered |= entry->value;
	}
	return umask && covered == umask;
}
