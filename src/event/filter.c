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
		if (filter_list_has(rows[i]->filters, filter))
			return true;
	/* What some unit masks ask for is nothing to the others. */
	for (size_t i = 0; i < event->umask_count; i++)
		if (filter_list_has(event->umasks[i].filters, filter))
			return false;
	return filter_list_has(event->filters, filter);
}

/* Whether @name is @filter and "_en". */
static bool is_switch_name(const char *name, const char *filter)
{
	size_t length = strlen(filter);

	return strlen(name) == length + 3 && !strncmp(name, filter, length) &&
	       name_equal(name + length, "_en");
}

const struct pmu_modifier *filter_switch(const struct pmu_box *box,
					 const struct pmu_modifier *filter)
{
	if (!filter->reg)
		return NULL;
	for (size_t i = 0; i < box->modifier_count; i++)
		if (!box->modifiers[i].reg && is_switch_name(box->modifiers[i].name, filter->name))
			return &box->modifiers[i];
	return NULL;
}

const struct pmu_modifier *filter_of_switch(const struct pmu_box *box,
					    const struct pmu_modifier *modifier)
{
	if (modifier->reg)
		return NULL;
	for (size_t i = 0; i < box->modifier_count; i++)
		if (box->modifiers[i].reg && is_switch_name(modifier->name, box->modifiers[i].name))
			return &box->modifiers[i];
	return NULL;
}
