/* Registers of every instance of a box. */
#include "cli/cli.h"
#include "cli/list.h"

static json_t *register_json(const struct pmu_box *box, const struct pmu_register *reg,
			     unsigned instance)
{
	const uint64_t reset = pmu_register_reset(box, reg, instance);
	json_t *fields = json_array();

	for (size_t i = 0; i < pmu_register_fields(reg); i++) {
		const struct pmu_field *field = pmu_register_field(reg, i);

		json_array_append_new(
		    fields, json_pack("{s:s, s:i, s:i, s:s, s:o}", "name", pmu_field_name(field),
				      "hi", pmu_field_high(field), "lo", pmu_field_low(field),
				      "access", cli_access_name(pmu_field_access(field)), "reset",
				      cli_json_number(pmu_field_value(field, reset))));
	}
	return json_pack(
	    "{s:s, s:s, s:i, s:s, s:s, s:o, s:i, s:s, s:o, s:o}", "pmu", pmu_box_pmu_name(box),
	    "box", pmu_box_name(box), "instance", instance, "name", pmu_register_pattern(reg),
	    "space", pmu_space_name(pmu_register_space(reg)), "address",
	    cli_json_number(pmu_register_address(box, reg, instance)), "width",
	    pmu_register_width(reg), "access", cli_access_name(pmu_register_access(reg)), "reset",
	    cli_json_number(reset), "fields", fields);
}

void list_registers_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < pmu_box_instances(box); instance++)
		for (size_t i = 0; i < pmu_box_registers(box); i++)
			if (list_chosen(choice, pmu_register_pattern(pmu_box_register_at(box, i))))
				json_array_append_new(
				    arg, register_json(box, pmu_box_register_at(box, i), instance));
}

void list_registers_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < pmu_box_instances(box); instance++) {
		for (size_t i = 0; i < pmu_box_registers(box); i++) {
			const struct pmu_register *reg = pmu_box_register_at(box, i);
			uint32_t address = pmu_register_address(box, reg, instance);
			char text[CLI_ADDRESS_MAX];

			if (!list_chosen(choice, pmu_register_pattern(reg)) &&
			    !list_chosen(choice, pmu_register_name(reg, instance)))
				continue;
			table_cell(arg, "%s", pmu_box_pmu_name(box));
			table_cell(arg, "%s%u", pmu_box_name(box), instance);
			table_cell(arg, "%s", pmu_register_name(reg, instance));
			table_cell(arg, "%s", cli_address(text, pmu_register_space(reg), address));
			table_cell(arg, "%u", pmu_register_width(reg));
			table_cell(arg, "%s", cli_access_name(pmu_register_access(reg)));
			table_cell(arg, "0x%llX",
				   (unsigned long long)pmu_register_reset(box, reg, instance));
			table_cell(arg, "%s", pmu_register_source(reg));
		}
	}
}
