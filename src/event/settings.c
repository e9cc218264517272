#include "event/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "event/umask.h"
#include "event/value.h"

const struct pmu_setting *settings_find(const struct pmu_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (name_equal(selection->settings[i].modifier->name, name))
			return &selection->settings[i];
	return NULL;
}

/* Keeps the settings in the catalog's order, so that equal selections are equal in every byte. */
int settings_add(struct expression *expression, const struct pmu_modifier *modifier, uint64_t value,
		 struct place place)
{
	struct pmu_selection *selection = expression->selection;
	size_t at = selection->setting_count;

	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier == modifier)
			return expression_refuse(expression, PMU_E_CONFLICT, place,
						 "%s is set twice", modifier->name);
	if (at == PMU_EVENT_SETTINGS)
		return expression_refuse(expression, PMU_E_RANGE, place,
					 "more than %d fields are set", PMU_EVENT_SETTINGS);
	for (; at > 0 && selection->settings[at - 1].modifier > modifier; at--) {
		selection->settings[at] = selection->settings[at - 1];
		expression->settings[at] = expression->settings[at - 1];
	}
	selection->settings[at] = (struct pmu_setting){modifier, value};
	expression->settings[at] = place;
	selection->setting_count++;
	return 0;
}

int settings_join(struct expression *expression, const struct pmu_modifier *modifier,
		  uint64_t value, struct place place)
{
	struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		struct pmu_setting *setting = &selection->settings[i];

		if (setting->modifier == modifier && value_is_set(selection->box, modifier)) {
			setting->value |= value;
			return 0;
		}
	}
	return settings_add(expression, modifier, value, place);
}

/* Sets what goes with a unit mask, unless @user has set it to something else. */
static int add_given(struct expression *expression, const struct pmu_selection *user,
		     const struct pmu_umask *umask)
{
	const struct pmu_selection *selection = expression->selection;
	int code = 0;

	for (size_t i = 0; i < umask->given_count && !code; i++) {
		const struct pmu_given *given = &umask->given[i];
		const struct pmu_setting *known = settings_find(selection, given->modifier);

		if (settings_find(user, given->modifier) || (known && known->value == given->value))
			continue;
		code = settings_join(expression, pmu_find_modifier(selection->box, given->modifier),
				     given->value, expression->event);
	}
	return code;
}

static bool is_usable(const struct pmu_selection *selection, const struct pmu_modifier *modifier)
{
	return selection->event || settings_fixed_field(selection, modifier);
}

/* Whether one of the modifiers with the same word is set. */
static bool is_any_set(const struct pmu_selection *selection, const char *any_of)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].value &&
		    !strcmp(selection->settings[i].modifier->any_of, any_of))
			return true;
	return false;
}

static int add_all(struct expression *expression)
{
	const struct pmu_selection user = *expression->selection;
	int code = 0;

	for (size_t i = 0; i < user.box->modifier_count && !code; i++) {
		const struct pmu_modifier *modifier = &user.box->modifiers[i];

		if (!*modifier->any_of || !is_usable(&user, modifier) ||
		    is_any_set(&user, modifier->any_of))
			continue;
		if (!settings_find(&user, modifier->name))
			code = settings_add(expression, modifier, 1, expression->event);
	}
	return code;
}

/* All of those are switched off of which one has to be set. */
static int check_any(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (*modifier->any_of && !is_any_set(selection, modifier->any_of))
			return expression_refuse(
			    expression, PMU_E_CONFLICT, expression->settings[i],
			    "the counter counts in no %s at all", modifier->any_of);
	}
	return 0;
}

int settings_complete(struct expression *expression)
{
	const struct pmu_selection user = *expression->selection;
	const struct pmu_event *event = user.event;
	int code = 0;

	for (size_t i = 0; i < expression->umask_count && i < UMASK_ROWS && !code; i++)
		code = add_given(expression, &user, expression->umasks[i]);
	if (!code && event && expression->umask_count == 0 && event->umask_count == 1)
		code = add_given(expression, &user, &event->umasks[0]);
	if (!code)
		code = add_all(expression);
	return code ? code : check_any(expression);
}

bool settings_are_all(const struct pmu_selection *selection, const struct pmu_modifier *modifier)
{
	const struct pmu_box *box = selection->box;

	if (!*modifier->any_of)
		return false;
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *other = &box->modifiers[i];
		const struct pmu_setting *setting = settings_find(selection, other->name);

		if (!strcmp(other->any_of, modifier->any_of) && !(setting && setting->value))
			return false;
	}
	return true;
}

const struct pmu_field *settings_fixed_field(const struct pmu_selection *selection,
					     const struct pmu_modifier *modifier)
{
	const struct pmu_register *control =
	    pmu_box_register(selection->box, PMU_ROLE_FIXED_CTL, 0);
	char name[WORD_MAX];

	snprintf(name, sizeof(name), "%s%u", modifier->name, selection->fixed);
	return control ? pmu_find_field(control, name) : NULL;
}
