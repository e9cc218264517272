#include "event/settings.h"

#include <stdio.h>

#include "base/name.h"
#include "event/value.h"

const struct pmu_setting *settings_of(const struct pmu_selection *selection,
				      const struct pmu_modifier *modifier)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier == modifier)
			return &selection->settings[i];
	return NULL;
}

const struct pmu_setting *settings_find(const struct pmu_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (name_equal(selection->settings[i].modifier->name, name))
			return &selection->settings[i];
	return NULL;
}

/* Keeps the settings in the catalog's order, so that equal selections are equal in every byte. */
int settings_add(struct expression *expression, const struct pmu_setting *setting,
		 struct text_span span)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_modifier *modifier = setting->modifier;
	size_t at = selection->setting_count;

	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier == modifier)
			return expression_refuse(expression, PMU_E_CONFLICT, span,
						 "%s is set twice", modifier->name);
	if (at == PMU_EVENT_SETTINGS)
		return expression_refuse(expression, PMU_E_RANGE, span,
					 "more than %d fields are set", PMU_EVENT_SETTINGS);
	for (; at > 0 && selection->settings[at - 1].modifier > modifier; at--) {
		selection->settings[at] = selection->settings[at - 1];
		expression->settings[at] = expression->settings[at - 1];
	}
	selection->settings[at] = *setting;
	expression->settings[at] = span;
	selection->setting_count++;
	return 0;
}

int settings_join(struct expression *expression, const struct pmu_setting *more,
		  struct text_span span)
{
	struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		struct pmu_setting *setting = &selection->settings[i];

		if (setting->modifier == more->modifier &&
		    value_is_set(selection->box, more->modifier)) {
			setting->value |= more->value;
			setting->nodes |= more->nodes;
			return 0;
		}
	}
	return settings_add(expression, more, span);
}

static uint64_t bit_of(const struct pmu_box *box, const struct pmu_modifier *modifier)
{
	return UINT64_C(1) << (modifier - box->modifiers);
}

/* Bit n: modifier n of the box is set. */
static uint64_t set_modifiers(const struct pmu_selection *selection)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < selection->setting_count; i++)
		bits |= bit_of(selection->box, selection->settings[i].modifier);
	return bits;
}

/* Those of them that are not set to 0. */
static uint64_t raised_modifiers(const struct pmu_selection *selection)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < selection->setting_count; i++)
		if (settings_is_set(&selection->settings[i]))
			bits |= bit_of(selection->box, selection->settings[i].modifier);
	return bits;
}

/* Sets what goes with a unit mask, unless it is one of those that the @user has set. */
static int add_given(struct expression *expression, uint64_t user, const struct pmu_umask *umask)
{
	const struct pmu_selection *selection = expression->selection;
	int code = 0;

	for (size_t i = 0; i < umask->implied_count && !code; i++) {
		const struct pmu_implied *implied = &umask->implied[i];
		const struct pmu_setting *known = settings_of(selection, implied->modifier);

		if (user & bit_of(selection->box, implied->modifier) ||
		    (known && known->value == implied->value))
			continue;
		code = settings_join(
		    expression,
		    &(struct pmu_setting){.modifier = implied->modifier, .value = implied->value},
		    expression->event);
	}
	return code;
}

static bool is_usable(const struct pmu_selection *selection, const struct pmu_modifier *modifier)
{
	return selection->event || settings_counter_field(selection, modifier);
}

static int add_all(struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_box *box = selection->box;
	const uint64_t set = set_modifiers(selection), raised = raised_modifiers(selection);
	int code = 0;

	for (size_t i = 0; i < box->modifier_count && !code; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (modifier->mode_group && !(modifier->mode_group & raised) && !(set >> i & 1) &&
		    is_usable(selection, modifier))
			code = settings_add(expression,
					    &(struct pmu_setting){.modifier = modifier, .value = 1},
					    expression->event);
	}
	return code;
}

/* All of those are switched off of which one has to be set. */
static int check_any(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	const uint64_t raised = raised_modifiers(selection);

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (modifier->mode_group && !(modifier->mode_group & raised))
			return expression_refuse(
			    expression, PMU_E_CONFLICT, expression->settings[i],
			    "the counter counts in no %s at all", modifier->any_of);
	}
	return 0;
}

int settings_complete(struct expression *expression)
{
	const struct pmu_event *event = expression->selection->event;
	const uint64_t user = set_modifiers(expression->selection);
	int code = 0;

	for (size_t i = 0; i < expression->umask_count && i < UMASK_ROWS && !code; i++)
		code = add_given(expression, user, expression->umasks[i]);
	if (!code && event && expression->umask_count == 0 && event->umask_count == 1)
		code = add_given(expression, user, &event->umasks[0]);
	if (!code)
		code = add_all(expression);
	return code ? code : check_any(expression);
}

bool settings_are_all(const struct pmu_selection *selection, const struct pmu_modifier *modifier)
{
	return modifier->mode_group && !(modifier->mode_group & ~raised_modifiers(selection));
}

const struct pmu_field *settings_counter_field(const struct pmu_selection *selection,
					       const struct pmu_modifier *modifier)
{
	const struct pmu_register *control =
	    pmu_box_register(selection->box, PMU_ROLE_FIXED_CTL, 0);
	char name[WORD_MAX];

	snprintf(name, sizeof(name), "%s%u", modifier->name, selection->fixed);
	return control ? pmu_find_field(control, name) : NULL;
}
