#include "session/selection.h"

#include "event/filter.h"
#include "event/umask.h"

static const struct pmu_setting *find_setting(const struct pmu_selection *selection,
					      const struct pmu_modifier *modifier)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier == modifier)
			return &selection->settings[i];
	return NULL;
}

bool selection_equal(const struct pmu_selection *a, const struct pmu_selection *b)
{
	if (a->box != b->box || a->event != b->event || a->instance != b->instance ||
	    a->fixed != b->fixed || a->umask != b->umask || a->setting_count != b->setting_count)
		return false;
	for (size_t i = 0; i < a->setting_count; i++) {
		const struct pmu_setting *other = find_setting(b, a->settings[i].modifier);

		if (!other || other->value != a->settings[i].value)
			return false;
	}
	return true;
}

bool selection_depends(const struct pmu_selection *selection, const struct pmu_modifier *filter,
		       uint64_t *value)
{
	const struct pmu_setting *setting = find_setting(selection, filter);
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t row_count;

	*value = setting ? setting->value : 0;
	if (setting)
		return true;
	/* A filter with a switch is off where it is not set; what counter 0 sees is filtered there.
	 */
	if (!selection->event || filter_switch(filter) || selection_follows_counter0(selection))
		return false;
	row_count = umask_rows(selection, rows);
	return filter_is_used(selection->event, rows, row_count, filter);
}

uint64_t selection_value(uint64_t value, const struct selection_nodes *nodes)
{
	if (value == PMU_VALUE_MY_NODE)
		return nodes->mine;
	if (value == PMU_VALUE_OTHER_NODES)
		return nodes->all & ~nodes->mine;
	return value;
}

bool selection_follows_counter0(const struct pmu_selection *selection)
{
	return selection->event && selection->event->measure == PMU_MEASURE_COUNTER0;
}
