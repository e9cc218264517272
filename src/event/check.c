#include "event/check.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "event/filter.h"
#include "event/settings.h"
#include "event/umask.h"
#include "event/valid.h"
#include "event/value.h"

/* The named unit masks of a selection. */
struct rows {
	const struct pmu_umask *row[UMASK_ROWS];
	size_t count;
};

/* Writes the event and its unit masks as they are named, for messages. */
static const char *event_text(const struct expression *expression, char text[PMU_EVENT_TEXT_MAX])
{
	struct pmu_selection bare = *expression->selection;

	bare.setting_count = 0;
	pmu_event_print(&bare, text, PMU_EVENT_TEXT_MAX);
	return text;
}

/* Unit masks */

static int refuse_no_umask(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	struct valid valid;

	valid_init(&valid, "");
	for (size_t i = 0; i < selection->event->umask_count; i++)
		valid_add(&valid, selection->event->umasks[i].name);
	return expression_refuse(expression, PMU_E_SYNTAX, expression->event,
				 "%s.%s needs a unit mask, for example %s.%s.%s; valid: %s",
				 selection->box->name, selection->event->name, selection->box->name,
				 selection->event->name, selection->event->umasks[0].name,
				 valid.list);
}

static int check_qualifiers(const struct expression *expression, const struct rows *rows)
{
	const struct pmu_event *event = expression->selection->event;
	const struct pmu_umask *main_row = NULL;

	if (rows->count == 0)
		return 0;
	for (size_t i = 0; i < rows->count; i++)
		if (!rows->row[i]->narrows)
			return 0;
	for (size_t i = event->umask_count; i-- > 0;)
		if (!event->umasks[i].narrows)
			main_row = &event->umasks[i];
	return expression_refuse(expression, PMU_E_SYNTAX, expression->event,
				 "%s only narrows other unit masks and counts nothing alone: add "
				 "one, for example %s.%s.%s+%s",
				 rows->row[0]->name, expression->selection->box->name, event->name,
				 main_row->name, rows->row[0]->name);
}

static bool has_group(const struct rows *rows, const char *group)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->row[i]->group, group))
			return true;
	return false;
}

static int refuse_lone(const struct expression *expression, const struct pmu_umask *row)
{
	const struct pmu_event *event = expression->selection->event;
	struct valid valid;

	valid_init(&valid, "");
	for (size_t i = 0; i < event->umask_count; i++)
		if (!strcmp(event->umasks[i].group, row->needs))
			valid_add(&valid, event->umasks[i].name);
	return expression_refuse(expression, PMU_E_SYNTAX, expression->event,
				 "%s of %s.%s counts nothing alone: add one or more of %s",
				 row->name, expression->selection->box->name, event->name,
				 valid.list);
}

static int check_groups(const struct expression *expression, const struct rows *rows)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < rows->count; i++) {
		const struct pmu_umask *first = rows->row[0], *row = rows->row[i];

		if (selection->event->combine == PMU_COMBINE_GROUP &&
		    strcmp(row->group, first->group) != 0)
			return expression_refuse(expression, PMU_E_CONFLICT, expression->event,
						 "%s and %s of %s.%s cannot be added", first->name,
						 row->name, selection->box->name,
						 selection->event->name);
		if (*row->needs && !has_group(rows, row->needs))
			return refuse_lone(expression, row);
	}
	return 0;
}

static int check_umasks(struct expression *expression, struct rows *rows)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_event *event = selection->event;
	int code;

	rows->count = 0;
	if (event->umask_count == 0) {
		selection->umask = event->umask;
		return 0;
	}
	if (expression->umask_count == 0) {
		if (event->umask_count > 1 || pmu_next_event(selection->box, event))
			return refuse_no_umask(expression);
		selection->umask = event->umasks[0].value;
	}
	rows->count = umask_rows(selection, rows->row);
	if (expression->umask_count > 1 && rows->row[0]->alone)
		return expression_refuse(expression, PMU_E_CONFLICT, expression->event,
					 "these unit masks of %s.%s cannot be added: together they "
					 "would mean %s",
					 selection->box->name, event->name, rows->row[0]->name);
	code = check_groups(expression, rows);
	return code ? code : check_qualifiers(expression, rows);
}

/* Filters */

/* A value to show for a filter: the first that has a name. */
static struct pmu_setting example_setting(const struct pmu_box *box,
					  const struct pmu_modifier *filter)
{
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (name_equal(box->mnemonics[i].field, filter->name))
			return (struct pmu_setting){.modifier = filter,
						    .value = box->mnemonics[i].value};
	if (name_equal(filter->name, VALUE_NODE_FILTER))
		return (struct pmu_setting){.modifier = filter, .nodes = PMU_NODES_MINE};
	return (struct pmu_setting){.modifier = filter, .value = 1};
}

static void add_example(struct pmu_selection *example, const struct pmu_modifier *modifier)
{
	if (example->setting_count < PMU_EVENT_SETTINGS)
		example->settings[example->setting_count++] =
		    example_setting(example->box, modifier);
}

/* Filters that have to be given: those of the unit masks, sets, and one of those of the event. */
static uint64_t needed_filters(const struct pmu_selection *selection, const struct rows *rows)
{
	const uint64_t one_of = selection->event->needs;
	uint64_t needed = 0, given = 0;

	for (size_t i = 0; i < selection->setting_count; i++)
		given |= UINT64_C(1) << selection->settings[i].modifier->number;
	if (!(one_of & given))
		needed |= one_of & (~one_of + 1); /* the first */
	for (size_t i = 0; i < rows->count; i++)
		needed |= rows->row[i]->filters;
	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &selection->box->modifiers[i];

		if (modifier->set && filter_in(selection->event->filters, modifier))
			needed |= UINT64_C(1) << modifier->number;
	}
	return needed;
}

static int check_needed_filters(const struct expression *expression, const struct rows *rows)
{
	const struct pmu_selection *selection = expression->selection;
	const uint64_t needed = needed_filters(selection, rows);
	const struct pmu_modifier *missing = NULL;
	struct pmu_selection example;
	char name[PMU_EVENT_TEXT_MAX], text[PMU_EVENT_TEXT_MAX];

	if (!needed)
		return 0;
	example = *selection;
	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &selection->box->modifiers[i];

		if (!filter_in(needed, modifier) || settings_of(&example, modifier))
			continue;
		if (!missing)
			missing = modifier;
		add_example(&example, modifier);
	}
	if (!missing)
		return 0;
	pmu_event_print(&example, text, sizeof(text));
	return expression_refuse(expression, PMU_E_SYNTAX, expression->event,
				 "%s needs the filter %s, for example %s",
				 event_text(expression, name), missing->name, text);
}

/* Names what could be filtered by @filter instead. */
static void list_users(struct valid *valid, const struct pmu_event *event,
		       const struct pmu_modifier *filter)
{
	for (size_t i = 0; i < event->umask_count; i++)
		if (filter_in(event->umasks[i].filters | event->umasks[i].uses, filter))
			valid_add(valid, event->umasks[i].name);
}

static void list_filters(struct valid *valid, const struct pmu_selection *selection,
			 const struct rows *rows)
{
	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &selection->box->modifiers[i];

		if (modifier->filter &&
		    filter_is_used(selection->event, rows->row, rows->count, modifier))
			valid_add(valid, modifier->name);
	}
}

static int refuse_filter(const struct expression *expression, const struct rows *rows, size_t index)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_modifier *filter = selection->settings[index].modifier;
	char name[PMU_EVENT_TEXT_MAX];
	struct valid valid;

	valid_init(&valid, "");
	list_users(&valid, selection->event, filter);
	if (*valid.list)
		return expression_refuse(
		    expression, PMU_E_CONFLICT, expression->settings[index],
		    "%s does not look at the filter %s; unit masks that do: %s",
		    event_text(expression, name), filter->name, valid.list);
	list_filters(&valid, selection, rows);
	return expression_refuse(expression, PMU_E_CONFLICT, expression->settings[index],
				 "%s does not look at the filter %s; it can be filtered by %s",
				 event_text(expression, name), filter->name,
				 *valid.list ? valid.list : "nothing");
}

static int check_used_filters(const struct expression *expression, const struct rows *rows)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (modifier->filter &&
		    !filter_is_used(selection->event, rows->row, rows->count, modifier))
			return refuse_filter(expression, rows, i);
	}
	return 0;
}

/* A set of states or nodes with nothing in it: a counter that waits for it counts nothing. */
static int check_empty_sets(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];

		if (setting->modifier->filter && !settings_is_set(setting) &&
		    value_is_set(selection->box, setting->modifier))
			return expression_refuse(
			    expression, PMU_E_CONFLICT, expression->settings[i],
			    "%s is a set, and with nothing in it the event counts nothing",
			    setting->modifier->name);
	}
	return 0;
}

/* Control bits */

static int check_switches(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_modifier *filter = setting->modifier->enables;

		if (!filter)
			continue;
		if (setting->value && !settings_of(selection, filter))
			return expression_refuse(expression, PMU_E_SYNTAX, expression->settings[i],
						 "%s without a value to filter by: give %s, which "
						 "sets %s by itself",
						 setting->modifier->name, filter->name,
						 setting->modifier->name);
		if (!setting->value && settings_of(selection, filter))
			return expression_refuse(expression, PMU_E_CONFLICT,
						 expression->settings[i],
						 "%s=0 switches off the filter %s, which is given",
						 setting->modifier->name, filter->name);
	}
	return 0;
}

static bool is_occupancy_comparison(const struct pmu_modifier *modifier)
{
	return modifier->role == PMU_FIELD_OCCUPANCY_EDGE ||
	       modifier->role == PMU_FIELD_OCCUPANCY_INVERT;
}

static bool is_comparison(const struct pmu_modifier *modifier)
{
	return modifier->role == PMU_FIELD_EDGE || modifier->role == PMU_FIELD_INVERT ||
	       is_occupancy_comparison(modifier);
}

/* Bit 7 of the code says which pair of bits an event goes through (334291-001 table 2-159). */
static int check_occupancy(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	bool occupancy = selection->event->code & EVENT_CODE_OCCUPANCY;

	if (!(selection->box->quirks & PMU_QUIRK_OCC_CONTROLS))
		return 0;
	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (selection->settings[i].value && is_comparison(modifier) &&
		    is_occupancy_comparison(modifier) != occupancy)
			return expression_refuse(
			    expression, PMU_E_CONFLICT, expression->settings[i],
			    "%s has no effect on %s.%s; it goes through %s", modifier->name,
			    selection->box->name, selection->event->name,
			    occupancy ? "occ_edge_det and occ_invert" : "edge_det and invert");
	}
	return 0;
}

/* The largest value of a comparison that an event of this increment can meet; 0: none. */
static unsigned highest_met(const struct pmu_modifier *modifier, unsigned max_increment)
{
	return modifier->threshold == PMU_THRESHOLD_EXCEED ? max_increment - 1 : max_increment;
}

static bool is_inverted(const struct pmu_selection *selection)
{
	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];

		if (setting->value && (setting->modifier->role == PMU_FIELD_INVERT ||
				       setting->modifier->role == PMU_FIELD_OCCUPANCY_INVERT))
			return true;
	}
	return false;
}

/* A comparison that no increment of the event meets: it would count nothing, or every cycle. */
static int check_threshold(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_event *event = selection->event;

	for (size_t i = 0; event->max_increment && i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_modifier *modifier = setting->modifier;
		unsigned highest = highest_met(modifier, event->max_increment);
		char others[24] = "";

		if (!modifier->threshold || setting->value <= highest)
			continue;
		if (highest)
			snprintf(others, sizeof(others), " to %u", highest);
		return expression_refuse(
		    expression, PMU_E_RANGE, expression->settings[i],
		    "%s.%s adds at most %u a cycle (%s), so %s=%llu is never met and the counter "
		    "would count %s; valid: 0%s",
		    selection->box->name, event->name, event->max_increment, event->source,
		    modifier->name, (unsigned long long)setting->value,
		    is_inverted(selection) ? "every cycle" : "nothing", others);
	}
	return 0;
}

/* Modifiers that do nothing without another one. */
static int check_needs(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;
		const struct pmu_setting *needed;

		if (!settings_is_set(&selection->settings[i]) || !*modifier->needs)
			continue;
		needed = settings_find(selection, modifier->needs);
		if (!needed || !settings_is_set(needed))
			return expression_refuse(expression, PMU_E_SYNTAX, expression->settings[i],
						 "%s needs a %s other than 0", modifier->name,
						 modifier->needs);
	}
	return 0;
}

/* Leaves out what says nothing: values that hold anyway, switches that follow from their filter. */
static void drop_defaults(struct pmu_selection *selection)
{
	uint8_t kept = 0;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting setting = selection->settings[i];

		if (setting.modifier->reg ||
		    (setting.value != setting.modifier->enabled && !setting.modifier->enables))
			selection->settings[kept++] = setting;
	}
	for (size_t i = kept; i < selection->setting_count; i++)
		selection->settings[i] = (struct pmu_setting){0};
	selection->setting_count = kept;
}

int check_selection(struct expression *expression)
{
	struct rows rows;
	int code;

	if (!expression->selection->event) {
		drop_defaults(expression->selection);
		return 0;
	}
	code = check_umasks(expression, &rows);
	if (!code)
		code = check_used_filters(expression, &rows);
	if (!code)
		code = check_needed_filters(expression, &rows);
	if (!code)
		code = check_empty_sets(expression);
	if (!code)
		code = check_switches(expression);
	if (!code)
		code = check_occupancy(expression);
	if (!code)
		code = check_needs(expression);
	if (!code)
		code = check_threshold(expression);
	if (!code)
		drop_defaults(expression->selection);
	return code;
}
