/* Fields that are set: by the user, by unit masks, or because one of several has to be. */
#ifndef EVENT_SETTINGS_H
#define EVENT_SETTINGS_H

#include "event/expression.h"

/** The setting of a modifier; NULL where it is not set. */
const struct pmu_setting *settings_of(const struct pmu_selection *selection,
				      const struct pmu_modifier *modifier);
/** As settings_of(), by the modifier's name. */
const struct pmu_setting *settings_find(const struct pmu_selection *selection, const char *name);

/** Sets a field. @return 0, PMU_E_CONFLICT where it is set already, PMU_E_RANGE for too many */
int settings_add(struct expression *expression, const struct pmu_setting *setting,
		 struct text_span span);
/** As settings_add(), but values of a field that holds a set come together. */
int settings_join(struct expression *expression, const struct pmu_setting *setting,
		  struct text_span span);

/** Whether it is set to something: not to 0, nor to an empty set. */
static inline bool settings_is_set(const struct pmu_setting *setting)
{
	return setting->value || setting->nodes;
}

/**
 * Sets what the named unit masks give and the user does not, and all of those modifiers of which
 * one has to be set (user and kernel mode) where the user chose none.
 * @return 0 or PMU_E_CONFLICT
 */
int settings_complete(struct expression *expression);

/** Whether settings_complete() would set this by itself: all modifiers of its kind are set. */
bool settings_are_all(const struct pmu_selection *selection, const struct pmu_modifier *modifier);

/**
 * The field of a fixed counter's control that stands for @modifier: the control of several fixed
 * counters has one for each, with the counter's number behind the name. NULL where there is none.
 */
const struct pmu_field *settings_counter_field(const struct pmu_selection *selection,
					       const struct pmu_modifier *modifier);

#endif
