#include "event/filter.h"

bool filter_in(uint64_t set, const struct pmu_modifier *modifier)
{
	return set >> modifier->number & 1;
}

bool filter_is_used(const struct pmu_event *event, const struct pmu_umask *const *rows,
		    size_t row_count, const struct pmu_modifier *filter)
{
	/* What counter 0 sees goes through all filters of the box. */
	if (event->measure == PMU_MEASURE_COUNTER0)
		return true;
	for (size_t i = 0; i < row_count; i++)
		if (filter_in(rows[i]->filters | rows[i]->uses, filter))
			return true;
	/* What some unit masks ask for is nothing to the others. */
	for (size_t i = 0; i < event->umask_count; i++)
		if (filter_in(event->umasks[i].filters | event->umasks[i].uses, filter))
			return false;
	return filter_in(event->filters, filter);
}
