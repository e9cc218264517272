#include "session/selection.h"

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
	if (a->box != b->box || a->event != b->event || a->one_instance != b->one_instance ||
	    a->instance != b->instance || a->fixed != b->fixed || a->umask != b->umask ||
	    a->setting_count != b->setting_count)
		return false;
	for (size_t i = 0; i < a->setting_count; i++) {
		const struct pmu_setting *other = find_setting(b, a->settings[i].modifier);

		if (!other || other->value != a->settings[i].value ||
		    other->nodes != a->settings[i].nodes)
			return false;
	}
	return true;
}

static uint64_t value_on(const struct pmu_setting *setting, const struct selection_nodes *nodes)
{
	uint64_t value = setting->value;

	if (setting->nodes & PMU_NODES_MINE)
		value |= nodes->mine;
	if (setting->nodes & PMU_NODES_OTHERS)
		value |= nodes->all & ~nodes->mine;
	return value;
}

struct pmu_selection selection_on(const struct pmu_selection *selection,
				  const struct selection_nodes *nodes)
{
	struct pmu_selection own = *selection;

	for (size_t i = 0; i < own.setting_count; i++) {
		own.settings[i].value = value_on(&own.settings[i], nodes);
		own.settings[i].nodes = 0;
	}
	return own;
}

bool selection_follows_counter0(const struct pmu_selection *selection)
{
	return selection->event && selection->event->measure == PMU_MEASURE_COUNTER0;
}
