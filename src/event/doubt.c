#include <stdbool.h>
#include <stdio.h>

#include "pmulab/event.h"

static uint64_t setting_of(const struct pmu_selection *selection, enum pmu_field_role role)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier->role == role)
			return selection->settings[i].value;
	return 0;
}

int pmu_event_doubt(const struct pmu_selection *selection, char *text, size_t size)
{
	uint64_t threshold = setting_of(selection, PMU_FIELD_THRESHOLD);
	unsigned most = selection->event ? selection->event->max_increment : 0;
	bool inverted = setting_of(selection, PMU_FIELD_INVERT) ||
			setting_of(selection, PMU_FIELD_OCCUPANCY_INVERT);

	/* 0: the manual does not say how much a cycle can add. */
	if (!most || threshold <= most)
		return 0;
	return snprintf(text, size,
			"a cycle adds %u at most, below the threshold of %llu: it counts %s", most,
			(unsigned long long)threshold, inverted ? "every cycle" : "nothing");
}
