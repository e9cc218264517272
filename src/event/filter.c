#include "event/filter.h"

#include <string.h>

#include "base/name.h"

bool filter_list_next(const char **list, char *name, size_t size)
{
	size_t length = strcspn(*list, ",");

	if (length == 0 || length >= size)
		return false;
	memcpy(name, *list, length);
	name[length] = '\0';
	*list += length;
	*list += **list == ',';
	return true;
}

bool filter_list_has(const char *list, const char *name)
{
	char entry[32];

	while (filter_list_next(&list, entry, sizeof(entry)))
		if (name_equal(entry, name))
			return true;
	return false;
}

bool filter_is_used(const struct pmu_event *event, const struct pmu_umask *const *rows,
		    size_t row_count, const char *filter)
{
	/* What counter 0 sees goes through all filters of the box. */
	if (event->measure == PMU_MEASURE_COUNTER0)
		return true;
	for (size_t i = 0; i < row_count; i++)
		if (filter_list_has(rows[i]->filters, filter) ||
		    filter_list_has(rows[i]->uses, filter))
			return true;
	/* What some unit masks ask for is nothing to the others. */
	for (size_t i = 0; i < event->umask_count; i++)
		if (filter_list_has(event->umasks[i].filters, filter) ||
		    filter_list_has(event->umasks[i].uses, filter))
			return false;
	return filter_list_has(event->filters, filter);
}

const struct pmu_modifier *filter_switch(const struct pmu_modifier *filter)
{
	return filter->reg ? filter->partner : NULL;
}

const struct pmu_modifier *filter_of_switch(const struct pmu_modifier *modifier)
{
	return modifier->reg ? NULL : modifier->partner;
}
