/* Events with each of their unit masks, and what may follow them in an expression. */
#include <jansson.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/list.h"

/* A field of another register that has to hold a value. */
static json_t *fixed_field_json(const struct pmu_fixed_field *fixed)
{
	const struct pmu_register *reg = pmu_fixed_field_register(fixed);
	json_t *json =
	    json_pack("{s:s, s:i, s:i, s:o}", "register", pmu_register_pattern(reg), "hi",
		      pmu_fixed_field_high(fixed), "lo", pmu_fixed_field_low(fixed), "value",
		      cli_json_number(pmu_fixed_field_value(fixed)));
	unsigned copy;

	if (pmu_fixed_field_copy(fixed, &copy))
		json_object_set_new(json, "copy", json_integer(copy));
	return json;
}

/* What an event and its unit mask, if it has one, want of other registers. */
static json_t *fixed_fields_json(const struct pmu_event *event, const struct pmu_umask *umask)
{
	const struct pmu_fixed_field *fixed;
	json_t *array = json_array();

	for (size_t i = 0; (fixed = pmu_event_fixed_field(event, i)); i++)
		json_array_append_new(array, fixed_field_json(fixed));
	for (size_t i = 0; umask && (fixed = pmu_umask_fixed_field(umask, i)); i++)
		json_array_append_new(array, fixed_field_json(fixed));
	return array;
}

static json_t *attributes_json(const struct pmu_event *event)
{
	json_t *array = json_array();
	const char *word;

	for (size_t i = 0; (word = pmu_event_attribute(event, i)); i++)
		json_array_append_new(array, json_string(word));
	return array;
}

static json_t *sum_json(const struct pmu_umask *umask)
{
	json_t *array = json_array();
	const char *word;

	for (size_t i = 0; umask && (word = pmu_umask_part(umask, i)); i++)
		json_array_append_new(array, json_string(word));
	return array;
}

static json_t *implied_json(const struct pmu_umask *umask)
{
	const struct pmu_implied *one;
	json_t *implied = json_object();

	for (size_t i = 0; (one = pmu_umask_implied(umask, i)); i++)
		json_object_set_new(implied, pmu_modifier_name(pmu_implied_modifier(one)),
				    cli_json_number(pmu_implied_value(one)));
	return implied;
}

/* @umask: NULL for an event without named ones. */
static json_t *encoding_json(const struct choice *choice, const struct pmu_box *box,
			     const struct pmu_event *event, const struct pmu_umask *umask)
{
	char set[CLI_SET_MAX];

	return json_pack(
	    "{s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:s, s:i, s:i, s:b, s:s, s:o, s:o, s:o, s:s, s:o}",
	    "desc", umask ? pmu_umask_desc(umask) : pmu_event_desc(event), "model",
	    cli_model_name(list_model(choice->machine, box, event, umask, NULL)), "pmu",
	    pmu_box_pmu_name(box), "box", pmu_box_name(box), "event", pmu_event_name(event), "code",
	    pmu_event_code(event), "ext", pmu_event_ext(event), "umask",
	    umask ? pmu_umask_name(umask) : "", "value",
	    umask ? pmu_umask_value(umask) : pmu_event_unit_mask(event), "care",
	    umask ? pmu_umask_care(umask) : 0xff, "alone", umask && pmu_umask_is_alone(umask),
	    "group", umask ? pmu_umask_group(umask) : "", "implied",
	    umask ? implied_json(umask) : json_object(), "sum", sum_json(umask), "sets",
	    fixed_fields_json(event, umask), "set", cli_set_text(event, set), "attributes",
	    attributes_json(event));
}

void list_encodings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_events(box); i++) {
		const struct pmu_event *event = pmu_box_event(box, i);

		if (!list_chosen(choice, pmu_event_name(event)))
			continue;
		if (pmu_event_umasks(event) == 0 && list_chosen_umask(choice, box, event, NULL))
			json_array_append_new(arg, encoding_json(choice, box, event, NULL));
		for (size_t j = 0; j < pmu_event_umasks(event); j++)
			if (list_chosen_umask(choice, box, event, pmu_event_umask(event, j)))
				json_array_append_new(
				    arg,
				    encoding_json(choice, box, event, pmu_event_umask(event, j)));
	}
}

void list_encodings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_events(box); i++) {
		const struct pmu_event *event = pmu_box_event(box, i);
		size_t rows = pmu_event_umasks(event) ? pmu_event_umasks(event) : 1;

		for (size_t j = 0; j < rows && list_chosen(choice, pmu_event_name(event)); j++) {
			const struct pmu_umask *umask =
			    pmu_event_umasks(event) ? pmu_event_umask(event, j) : NULL;

			if (!list_chosen_umask(choice, box, event, umask))
				continue;
			table_cell(arg, "%s", pmu_box_pmu_name(box));
			table_cell(arg, "%s.%s%s%s", pmu_box_name(box), pmu_event_name(event),
				   umask ? "." : "", umask ? pmu_umask_name(umask) : "");
			table_cell(arg, "0x%02X%s", pmu_event_code(event),
				   pmu_event_ext(event) ? "+" : "");
			table_cell(arg, "0x%02X",
				   umask ? pmu_umask_value(umask) : pmu_event_unit_mask(event));
			table_cell(
			    arg, "%s",
			    cli_model_name(list_model(choice->machine, box, event, umask, NULL)));
			table_cell(arg, "%s%s%s", pmu_event_desc(event), umask ? " " : "",
				   umask ? pmu_umask_desc(umask) : "");
		}
	}
}

/* What may be written behind the = of @modifier, by name. */
static json_t *values_json(const struct pmu_box *box, const struct pmu_modifier *modifier)
{
	json_t *values = json_array();

	for (size_t i = 0; i < pmu_box_mnemonics(box); i++)
		if (!strcasecmp(pmu_mnemonic_field(pmu_box_mnemonic(box, i)),
				pmu_modifier_name(modifier)))
			json_array_append_new(
			    values, json_pack("{s:s, s:o}", "name",
					      pmu_mnemonic_name(pmu_box_mnemonic(box, i)), "value",
					      cli_json_number(
						  pmu_mnemonic_value(pmu_box_mnemonic(box, i)))));
	return values;
}

void list_settings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_modifiers(box); i++) {
		const struct pmu_modifier *modifier = pmu_box_modifier(box, i);

		if (list_chosen(choice, pmu_modifier_name(modifier)))
			json_array_append_new(
			    arg,
			    json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o}", "pmu",
				      pmu_box_pmu_name(box), "box", pmu_box_name(box), "setting",
				      pmu_modifier_name(modifier), "register",
				      pmu_modifier_register(modifier)
					  ? pmu_register_pattern(pmu_modifier_register(modifier))
					  : "",
				      "hi", pmu_modifier_high(modifier), "lo",
				      pmu_modifier_low(modifier), "set",
				      pmu_modifier_is_set(modifier), "values",
				      values_json(box, modifier)));
	}
}

void list_settings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_modifiers(box); i++) {
		const struct pmu_modifier *modifier = pmu_box_modifier(box, i);

		if (!list_chosen(choice, pmu_modifier_name(modifier)))
			continue;
		table_cell(arg, "%s", pmu_box_pmu_name(box));
		table_cell(arg, "%s", pmu_box_name(box));
		table_cell(arg, "%s", pmu_modifier_name(modifier));
		table_cell(arg, "%s",
			   pmu_modifier_register(modifier)
			       ? pmu_register_pattern(pmu_modifier_register(modifier))
			       : "the counter's control");
		table_cell(arg, "%u:%u", pmu_modifier_high(modifier), pmu_modifier_low(modifier));
	}
}
