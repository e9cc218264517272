#include "cli/show.h"

/* Whether instances hold different values after reset: PCI functions their device ids. */
static bool resets_differ(const struct pmu_box *box, const struct pmu_register *reg)
{
	return pmu_box_instances(box) &&
	       pmu_register_reset(box, reg, 0) != pmu_register_common_reset(reg);
}

static void show_instance(const struct show *show, const struct pmu_box *box,
			  const struct pmu_register *reg, unsigned i)
{
	const char *label = pmu_box_instance_label(box, i);
	bool named = pmu_register_has_instance_names(reg);
	char text[CLI_ADDRESS_MAX];

	fprintf(show->cli->out, "  %-12s %s%u%s%s%s%s: %s", i ? "" : "addresses", pmu_box_name(box),
		i, *label ? ", " : "", label, named ? ", " : "",
		named ? pmu_register_name(reg, i) : "",
		cli_address(text, pmu_register_space(reg), pmu_register_address(box, reg, i)));
	if (resets_differ(box, reg))
		fprintf(show->cli->out, ", reset 0x%llX",
			(unsigned long long)pmu_register_reset(box, reg, i));
	fputc('\n', show->cli->out);
}

void show_register(const struct show *show, const struct pmu_box *box,
		   const struct pmu_register *reg)
{
	fprintf(show->cli->out, "register %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_register_pattern(reg));
	fprintf(show->cli->out, "  %-12s %u bits, reset 0x%llX%s\n", "width",
		pmu_register_width(reg), (unsigned long long)pmu_register_common_reset(reg),
		resets_differ(box, reg) ? " beside the instance's device id" : "");
	for (unsigned i = 0; i < pmu_box_instances(box); i++)
		show_instance(show, box, reg, i);
	for (size_t i = 0; i < pmu_register_fields(reg); i++) {
		const struct pmu_field *field = pmu_register_field(reg, i);

		fprintf(show->cli->out, "  %-12s %2u:%-2u %-10s %-5s reset %llu%s  %s\n",
			i ? "" : "fields", pmu_field_high(field), pmu_field_low(field),
			pmu_field_name(field), cli_access_name(pmu_field_access(field)),
			(unsigned long long)pmu_field_reset(field),
			pmu_field_must(field) == PMU_MUST_WRITE_1   ? ", must be written 1"
			: pmu_field_must(field) == PMU_MUST_WRITE_0 ? ", must be written 0"
								    : "",
			pmu_field_desc(field));
	}
	if (*pmu_register_model_note(reg))
		fprintf(show->cli->out, "  %-12s %s: %s\n", "model",
			cli_model_name(PMU_MODEL_ABSENT), pmu_register_model_note(reg));
	show_line(show, "source", pmu_register_source(reg));
}

void show_metric(const struct show *show, const struct pmu_box *box,
		 const struct pmu_metric *metric)
{
	fprintf(show->cli->out, "metric %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_metric_name(metric));
	show_line(show, "is", pmu_metric_desc(metric));
	show_line(show, "equation", pmu_metric_equation(metric));
	show_line(show, "unit", pmu_metric_unit(metric));
	show_line(show, "source", pmu_metric_source(metric));
}

static void show_mnemonics(const struct show *show, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_mnemonics(box); i++) {
		const struct pmu_mnemonic *mnemonic = pmu_box_mnemonic(box, i);

		const char *class = pmu_mnemonic_class(mnemonic);

		fprintf(show->cli->out, "  %-12s %s=%s%s%s 0x%llX  %s\n", i ? "" : "mnemonics",
			pmu_mnemonic_field(mnemonic), class ? class : "", class ? "." : "",
			pmu_mnemonic_name(mnemonic),
			(unsigned long long)pmu_mnemonic_value(mnemonic),
			pmu_mnemonic_desc(mnemonic));
	}
}

/* What goes with a modifier in the registers that its first copy uses. */
static void show_needed_fields(FILE *out, const struct pmu_modifier *modifier)
{
	const char *before = ", sets ";
	unsigned copy;

	for (size_t i = 0; i < pmu_modifier_fixed_fields(modifier); i++) {
		const struct pmu_fixed_field *fixed = pmu_modifier_fixed_field(modifier, i);

		if (pmu_fixed_field_copy(fixed, &copy) && copy)
			continue;
		fprintf(out, "%s%s[%u:%u]=0x%llX", before,
			pmu_register_pattern(pmu_fixed_field_register(fixed)),
			pmu_fixed_field_high(fixed), pmu_fixed_field_low(fixed),
			(unsigned long long)pmu_fixed_field_value(fixed));
		before = ", ";
	}
}

static void show_modifier(const struct show *show, const char *label,
			  const struct pmu_modifier *modifier)
{
	FILE *out = show->cli->out;
	char counters[40];

	fprintf(out, "  %-12s %s", label, pmu_modifier_name(modifier));
	if (pmu_modifier_register(modifier))
		fprintf(out, " in %s%s", pmu_register_pattern(pmu_modifier_register(modifier)),
			pmu_modifier_is_copied(modifier) ? " or that of the counter's copy" : "");
	if (pmu_modifier_counters(modifier))
		fprintf(out, ", of counters %s only",
			cli_counters(pmu_modifier_counters(modifier), counters));
	if (pmu_modifier_is_set(modifier))
		fputs(", a set of bits: values may be added with +, at least one", out);
	if (*pmu_modifier_any_of(modifier))
		fprintf(out, ", one of \"%s\": all if none is given",
			pmu_modifier_any_of(modifier));
	if (*pmu_modifier_needs(modifier))
		fprintf(out, ", needs %s", pmu_modifier_needs(modifier));
	show_needed_fields(out, modifier);
	fputc('\n', out);
}

static void show_bank(const struct show *show, const char *label, const struct pmu_bank *bank)
{
	char counters[40];

	fprintf(show->cli->out,
		"  %-12s %s: counters %s count events of one set, which is that of ", label,
		pmu_bank_group(bank), cli_counters(pmu_bank_counters(bank), counters));
	fprintf(show->cli->out, "counter %u%s\n", pmu_bank_lead(bank),
		pmu_bank_shared(bank) ? ", and so are bits of the control" : "");
}

static void show_counters(const struct show *show, const struct pmu_box *box)
{
	const struct pmu_register *fixed = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, 0);

	fprintf(show->cli->out, "  %-12s %u of %u bits, %u fixed", "counters",
		pmu_box_counters(box), pmu_box_counter_width(box), pmu_box_fixed_counters(box));
	if (fixed)
		fprintf(show->cli->out, " of %u bits",
			pmu_field_high(pmu_field_by_role(fixed, PMU_FIELD_COUNT, 0)) + 1);
	fputc('\n', show->cli->out);
}

void show_box(const struct show *show, const struct pmu_box *box)
{
	fprintf(show->cli->out, "box %s/%s\n", pmu_box_pmu_name(box), pmu_box_name(box));
	show_line(show, "is", pmu_box_title(box));
	fprintf(show->cli->out, "  %-12s %zu in %s space\n", "instances", pmu_box_instances(box),
		pmu_space_name(pmu_box_space(box)));
	show_counters(show, box);
	fprintf(show->cli->out, "  %-12s %zu events, %zu registers, %zu metrics, %zu records\n",
		"has", pmu_box_events(box), pmu_box_registers(box), pmu_box_metrics(box),
		pmu_box_hwrecs(box));
	for (size_t i = 0; i < pmu_box_modifiers(box); i++)
		show_modifier(show, i ? "" : "settings", pmu_box_modifier(box, i));
	for (size_t i = 0; i < pmu_box_banks(box); i++)
		show_bank(show, i ? "" : "sets", pmu_box_bank(box, i));
	show_mnemonics(show, box);
	for (size_t i = 0; i < pmu_box_fact_tables(box); i++)
		fprintf(show->cli->out, "  %-12s %-14s %s\n", i ? "" : "facts",
			pmu_facts_name(pmu_box_facts(box, i)),
			pmu_facts_title(pmu_box_facts(box, i)));
	show_line(show, "source", pmu_box_source(box));
}

void show_pmu(const struct show *show, const struct pmu_pmu *pmu)
{
	uint64_t own, first;
	uint32_t size;

	fprintf(show->cli->out, "PMU %s\n", pmu_pmu_name(pmu));
	show_line(show, "is", pmu_pmu_title(pmu));
	if (pmu_pmu_window(pmu, &own, &first, &size))
		fprintf(show->cli->out,
			"  %-12s at 0x%llX of the own socket, 0x%llX + N * 0x%X of socket N\n",
			"mmio", (unsigned long long)own, (unsigned long long)first, size);
	for (size_t i = 0; i < pmu_pmu_boxes(pmu); i++)
		fprintf(show->cli->out, "  %-12s %-6s %s\n", i ? "" : "boxes",
			pmu_box_name(pmu_pmu_box(pmu, i)), pmu_box_title(pmu_pmu_box(pmu, i)));
	show_line(show, "source", pmu_pmu_source(pmu));
}
