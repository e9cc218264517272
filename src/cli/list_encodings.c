/* Events with each of their unit masks, and what may follow them in an expression. */
#include <jansson.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/list.h"

/* Fields of other registers that have to hold a value. */
static void add_fixed_fields_json(json_t *array, const struct pmu_fixed_field *fixed_fields,
				  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *fixed =
		    json_pack("{s:s, s:i, s:i, s:o}", "register", fixed_fields[i].reg->name, "hi",
			      fixed_fields[i].hi, "lo", fixed_fields[i].lo, "value",
			      cli_json_number(fixed_fields[i].value));

		if (fixed_fields[i].copy != PMU_COPY_ALL)
			json_object_set_new(fixed, "copy", json_integer(fixed_fields[i].copy));
		json_array_append_new(array, fixed);
	}
}

static json_t *implied_json(const struct pmu_umask *umask)
{
	json_t *implied = json_object();

	for (size_t i = 0; i < umask->implied_count; i++)
		json_object_set_new(implied, umask->implied[i].modifier->name,
				    cli_json_number(umask->implied[i].value));
	return implied;
}

/* @umask: NULL for an event without named ones. */
static json_t *encoding_json(const struct pmu_box *box, const struct pmu_event *event,
			     const struct pmu_umask *umask)
{
	json_t *sets = json_array();
	char set[CLI_SET_MAX];

	add_fixed_fields_json(sets, event->fixed_fields, event->fixed_field_count);
	if (umask)
		add_fixed_fields_json(sets, umask->fixed_fields, umask->fixed_field_count);
	return json_pack(
	    "{s:s, s:s, s:s, s:i, s:b, s:s, s:i, s:i, s:b, s:s, s:o, s:o, s:o, s:s, s:o}", "pmu",
	    box->pmu, "box", box->name, "event", event->name, "code", event->code, "ext",
	    event->ext, "umask", umask ? umask->name : "", "value",
	    umask ? umask->value : event->umask, "care", umask ? umask->care : 0xff, "alone",
	    umask && umask->alone, "group", umask ? umask->group : "", "implied",
	    umask ? implied_json(umask) : json_object(), "sum",
	    list_words_json(umask ? umask->sum : NULL), "sets", sets, "set",
	    cli_set_text(event, set), "attributes", list_words_json(event->attributes));
}

void list_encodings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];

		if (!list_chosen(choice, event->name))
			continue;
		if (event->umask_count == 0)
			json_array_append_new(arg, encoding_json(box, event, NULL));
		for (size_t j = 0; j < event->umask_count; j++)
			json_array_append_new(arg, encoding_json(box, event, &event->umasks[j]));
	}
}

void list_encodings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		size_t rows = event->umask_count ? event->umask_count : 1;

		for (size_t j = 0; j < rows && list_chosen(choice, event->name); j++) {
			const struct pmu_umask *umask =
			    event->umask_count ? &event->umasks[j] : NULL;

			table_cell(arg, "%s", box->pmu);
			table_cell(arg, "%s.%s%s%s", box->name, event->name, umask ? "." : "",
				   umask ? umask->name : "");
			table_cell(arg, "0x%02X%s", event->code, event->ext ? "+" : "");
			table_cell(arg, "0x%02X", umask ? umask->value : event->umask);
			table_cell(arg, "%s%s%s", event->desc, umask ? " " : "",
				   umask ? umask->desc : "");
		}
	}
}

/* What may be written behind the = of @modifier, by name. */
static json_t *values_json(const struct pmu_box *box, const struct pmu_modifier *modifier)
{
	json_t *values = json_array();

	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (!strcasecmp(box->mnemonics[i].field, modifier->name))
			json_array_append_new(
			    values, json_pack("{s:s, s:o}", "name", box->mnemonics[i].name, "value",
					      cli_json_number(box->mnemonics[i].value)));
	return values;
}

void list_settings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (list_chosen(choice, modifier->name))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o}", "pmu",
					   box->pmu, "box", box->name, "setting", modifier->name,
					   "register", modifier->reg ? modifier->reg->name : "",
					   "hi", modifier->hi, "lo", modifier->lo, "set",
					   modifier->set, "values", values_json(box, modifier)));
	}
}

void list_settings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (!list_chosen(choice, modifier->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s", box->name);
		table_cell(arg, "%s", modifier->name);
		table_cell(arg, "%s",
			   modifier->reg ? modifier->reg->name : "the counter's control");
		table_cell(arg, "%u:%u", modifier->hi, modifier->lo);
	}
}
