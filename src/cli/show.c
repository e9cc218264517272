#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/list.h"
#include "pmulab/hwrec.h"

#define UMASK_TEXT_MAX 24
#define CACHE_KEY_MAX  32

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab show [-M MACHINE] [--pmu PMU] [--format table|json] NAME\n"
	    "\n"
	    "Prints everything about a PMU, box, event, register, metric, hardware record,\n"
	    "table of facts or machine. Write BOX.NAME or PMU/BOX.NAME if several have the name,\n"
	    "and EVENT.UMASK for one unit mask.\n"
	    "\n"
	    "Example: pmulab show TOR_INSERTS\n"
	    "\n"
	    "  -M, --machine MACHINE  say what this emulated machine cannot count, and why\n"
	    "  --pmu PMU              only this PMU\n"
	    "  --format table|json    print in this format, as pmulab list does\n",
	    file);
}

/* Where a printing function puts its text, and how much it has found. */
struct show {
	const struct cli *cli;
	const char *name;
	const char *umask;		   /* of an event, only this one; NULL: all */
	const struct pmu_machine *machine; /* NULL: any */
	int found;
};

static void line(const struct show *show, const char *label, const char *text)
{
	if (text && *text)
		fprintf(show->cli->out, "  %-12s %s\n", label, text);
}

/* A field of another register that selects what is counted. @first: of several */
static void show_fixed_field(const struct show *show, bool first,
			     const struct pmu_fixed_field *fixed)
{
	unsigned copy;

	fprintf(show->cli->out, "  %-12s %s %u:%u = 0x%llX", first ? "sets" : "",
		pmu_register_pattern(pmu_fixed_field_register(fixed)), pmu_fixed_field_high(fixed),
		pmu_fixed_field_low(fixed), (unsigned long long)pmu_fixed_field_value(fixed));
	if (pmu_fixed_field_copy(fixed, &copy))
		fprintf(show->cli->out, ", copy %u", copy);
	fputc('\n', show->cli->out);
}

/* Modifiers that go with a unit mask. */
static void show_given(const struct show *show, const struct pmu_umask *umask)
{
	const struct pmu_implied *implied = pmu_umask_implied(umask, 0);

	if (!implied)
		return;
	fprintf(show->cli->out, "  %-12s   with", "");
	for (size_t i = 0; (implied = pmu_umask_implied(umask, i)); i++)
		fprintf(show->cli->out, " %s=%llu",
			pmu_modifier_name(pmu_implied_modifier(implied)),
			(unsigned long long)pmu_implied_value(implied));
	fputc('\n', show->cli->out);
}

/* Its value and bits; nothing where fields of other registers are what it selects. */
static void write_bits(const struct pmu_umask *umask, char text[UMASK_TEXT_MAX])
{
	char bits[9];

	*text = '\0';
	if (pmu_umask_fixed_fields(umask))
		return;
	for (int bit = 7; bit >= 0; bit--)
		bits[7 - bit] = !(pmu_umask_care(umask) >> bit & 1) ? 'x'
				: pmu_umask_value(umask) >> bit & 1 ? '1'
								    : '0';
	bits[8] = '\0';
	snprintf(text, UMASK_TEXT_MAX, " 0x%02X  b%s", pmu_umask_value(umask), bits);
}

/* What else the manual says of an event. */
static void show_attributes(const struct show *show, const struct pmu_event *event)
{
	const char *word = pmu_event_attribute(event, 0);

	if (!word)
		return;
	fprintf(show->cli->out, "  %-12s %s", "also", word);
	for (size_t i = 1; (word = pmu_event_attribute(event, i)); i++)
		fprintf(show->cli->out, ", %s", word);
	fputc('\n', show->cli->out);
}

/* Modifiers that a unit mask needs. */
static void show_needs(const struct show *show, const struct pmu_box *box,
		       const struct pmu_umask *umask)
{
	const struct pmu_modifier *modifier;
	const char *before = "  needs ";

	for (size_t i = 0; (modifier = pmu_box_modifier(box, i)); i++) {
		if (!pmu_umask_needs(umask, modifier))
			continue;
		fprintf(show->cli->out, "%s%s", before, pmu_modifier_name(modifier));
		before = ", ";
	}
}

static void show_filters(const struct show *show, const struct pmu_box *box,
			 const struct pmu_event *event)
{
	const struct pmu_modifier *modifier;
	bool any = false;

	for (size_t i = 0; (modifier = pmu_box_modifier(box, i)); i++) {
		if (!pmu_event_takes(event, modifier))
			continue;
		if (any)
			fputs(", ", show->cli->out);
		else
			fprintf(show->cli->out, "  %-12s ", "filters");
		fputs(pmu_modifier_name(modifier), show->cli->out);
		any = true;
	}
	if (any)
		fputc('\n', show->cli->out);
}

/* Unit masks that count as much together. */
static void show_sum(const struct show *show, const struct pmu_umask *umask)
{
	const char *part = pmu_umask_part(umask, 0);

	if (!part)
		return;
	fprintf(show->cli->out, "  %-12s   = %s", "", part);
	for (size_t i = 1; (part = pmu_umask_part(umask, i)); i++)
		fprintf(show->cli->out, " + %s", part);
	fputc('\n', show->cli->out);
}

static void show_absence(const struct show *show, const struct pmu_box *box,
			 const struct pmu_event *event, const struct pmu_umask *umask)
{
	char why[LIST_WHY_MAX];

	if (pmu_event_model(event) == PMU_MODEL_ABSENT ||
	    list_model(show->machine, box, event, umask, why) != PMU_MODEL_ABSENT)
		return;
	fprintf(show->cli->out, "  not modelled%s%s%s", *why ? " (" : "", why, *why ? ")" : "");
}

static void show_umasks(const struct show *show, const struct pmu_box *box,
			const struct pmu_event *event)
{
	for (size_t i = 0; i < pmu_event_umasks(event); i++) {
		const struct pmu_umask *umask = pmu_event_umask(event, i);
		char bits[UMASK_TEXT_MAX];

		if (show->umask && umask != pmu_find_umask(event, show->umask))
			continue;
		write_bits(umask, bits);
		fprintf(show->cli->out, "  %-12s .%-20s%s", i ? "" : "unit masks",
			pmu_umask_name(umask), bits);
		show_needs(show, box, umask);
		fprintf(show->cli->out, "%s", pmu_umask_is_alone(umask) ? "  alone" : "");
		show_absence(show, box, event, umask);
		fprintf(show->cli->out, "  %s\n", pmu_umask_desc(umask));
		show_sum(show, umask);
		for (size_t j = 0; j < pmu_umask_fixed_fields(umask); j++)
			show_fixed_field(show, !j, pmu_umask_fixed_field(umask, j));
		show_given(show, umask);
	}
	if (pmu_event_unit_mask(event))
		fprintf(show->cli->out, "  %-12s 0x%02X\n", "unit mask",
			pmu_event_unit_mask(event));
	if (pmu_event_umasks(event) > 1)
		line(show, "combining",
		     pmu_event_combine(event) == PMU_COMBINE_ONE
			 ? "one unit mask at a time"
			 : "unit masks may be added with +");
}

static void show_event(struct show *show, const struct pmu_box *box, const struct pmu_event *event)
{
	char counters[40], set[CLI_SET_MAX];

	fprintf(show->cli->out, "event %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_event_name(event));
	line(show, "title", pmu_event_title(event));
	line(show, "category", pmu_event_category(event));
	line(show, "counts", pmu_event_desc(event));
	fprintf(show->cli->out, "  %-12s 0x%02X%s\n", "code", pmu_event_code(event),
		pmu_event_ext(event) ? " with the extended select bit" : "");
	line(show, "counters", cli_counters(pmu_event_counters(event), counters));
	if (pmu_event_max_increment(event))
		fprintf(show->cli->out, "  %-12s %u a cycle at most\n", "increment",
			pmu_event_max_increment(event));
	show_umasks(show, box, event);
	show_filters(show, box, event);
	line(show, "of set", cli_set_text(event, set));
	show_attributes(show, event);
	for (size_t i = 0; i < pmu_event_fixed_fields(event); i++)
		show_fixed_field(show, !i, pmu_event_fixed_field(event, i));
	fprintf(show->cli->out, "  %-12s %s%s%s\n", "emulated",
		cli_model_name(pmu_event_model(event)), *pmu_event_model_note(event) ? ": " : "",
		pmu_event_model_note(event));
	line(show, "source", pmu_event_source(event));
}

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

static void show_register(struct show *show, const struct pmu_box *box,
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
	line(show, "source", pmu_register_source(reg));
}

static void show_metric(struct show *show, const struct pmu_box *box,
			const struct pmu_metric *metric)
{
	fprintf(show->cli->out, "metric %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_metric_name(metric));
	line(show, "is", pmu_metric_desc(metric));
	line(show, "equation", pmu_metric_equation(metric));
	line(show, "unit", pmu_metric_unit(metric));
	line(show, "source", pmu_metric_source(metric));
}

static void show_kind(const struct show *show, const char *label, const struct pmu_hwrec_kind *kind)
{
	fprintf(show->cli->out, "  %-12s %-12s %s\n", label, pmu_hwrec_kind_name(kind),
		pmu_hwrec_kind_desc(kind));
}

static void show_record_field(const struct show *show, const char *label,
			      const struct pmu_hwrec_field *field)
{
	const struct pmu_mnemonic *mnemonic;

	fprintf(show->cli->out, "  %-12s %-20s %s\n", label, pmu_hwrec_field_name(field),
		pmu_hwrec_field_desc(field));
	for (size_t i = 0; (mnemonic = pmu_hwrec_field_mnemonic(field, i)); i++)
		fprintf(show->cli->out, "  %-12s   %3llu %-18s %s\n", "",
			(unsigned long long)pmu_mnemonic_value(mnemonic),
			pmu_mnemonic_name(mnemonic), pmu_mnemonic_desc(mnemonic));
}

/* The entries of a circular buffer. */
static void show_entries(const struct show *show, const struct pmu_hwrec *record)
{
	const struct pmu_hwrec_field *field;
	const struct pmu_hwrec_kind *kind;

	fprintf(show->cli->out, "  %-12s %zu, the youngest first\n", "entries",
		pmu_hwrec_entries(record));
	for (size_t i = 0; (kind = pmu_hwrec_entry_kind(record, i)); i++)
		show_kind(show, i ? "" : "of kinds", kind);
	for (size_t i = 0; (field = pmu_hwrec_entry_field(record, i)); i++)
		show_record_field(show, i ? "" : "fields", field);
}

/* The registers that it reads, each once. */
static void show_record_registers(const struct show *show, const struct pmu_box *box,
				  const struct pmu_hwrec *record)
{
	const char *label = "registers";

	for (size_t i = 0; i < pmu_box_registers(box); i++) {
		if (pmu_hwrec_register(record, pmu_box_register_at(box, i)) !=
		    pmu_box_register_at(box, i))
			continue;
		fprintf(show->cli->out, "  %-12s %s\n", label,
			pmu_register_pattern(pmu_box_register_at(box, i)));
		label = "";
	}
}

static void show_record(struct show *show, const struct pmu_box *box,
			const struct pmu_hwrec *record)
{
	const struct pmu_hwrec_field *field;
	const struct pmu_hwrec_kind *kind;
	const char *note;

	fprintf(show->cli->out, "record %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_hwrec_name(record));
	line(show, "is", pmu_hwrec_title(record));
	if (pmu_hwrec_size(record))
		fprintf(show->cli->out, "  %-12s %zu bytes in memory\n", "size",
			pmu_hwrec_size(record));
	show_record_registers(show, box, record);
	for (size_t i = 0; (kind = pmu_hwrec_kind(record, i)); i++)
		show_kind(show, i ? "" : "kinds", kind);
	for (size_t i = 0; (field = pmu_hwrec_field(record, i)); i++)
		show_record_field(show, i ? "" : "fields", field);
	if (pmu_hwrec_entries(record))
		show_entries(show, record);
	for (size_t i = 0; (note = pmu_hwrec_note(record, i)); i++)
		line(show, i ? "" : "notes", note);
	line(show, "source", pmu_hwrec_source(record));
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

static void show_box(struct show *show, const struct pmu_box *box)
{
	fprintf(show->cli->out, "box %s/%s\n", pmu_box_pmu_name(box), pmu_box_name(box));
	line(show, "is", pmu_box_title(box));
	fprintf(show->cli->out, "  %-12s %zu in %s space\n", "instances", pmu_box_instances(box),
		pmu_space_name(pmu_box_space(box)));
	fprintf(show->cli->out, "  %-12s %u of %u bits, %u fixed\n", "counters",
		pmu_box_counters(box), pmu_box_counter_width(box), pmu_box_fixed_counters(box));
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
	line(show, "source", pmu_box_source(box));
}

static void show_pmu(struct show *show, const struct pmu_pmu *pmu)
{
	uint64_t own, first;
	uint32_t size;

	fprintf(show->cli->out, "PMU %s\n", pmu_pmu_name(pmu));
	line(show, "is", pmu_pmu_title(pmu));
	if (pmu_pmu_window(pmu, &own, &first, &size))
		fprintf(show->cli->out,
			"  %-12s at 0x%llX of the own socket, 0x%llX + N * 0x%X of socket N\n",
			"mmio", (unsigned long long)own, (unsigned long long)first, size);
	for (size_t i = 0; i < pmu_pmu_boxes(pmu); i++)
		fprintf(show->cli->out, "  %-12s %-6s %s\n", i ? "" : "boxes",
			pmu_box_name(pmu_pmu_box(pmu, i)), pmu_box_title(pmu_pmu_box(pmu, i)));
	line(show, "source", pmu_pmu_source(pmu));
}

static unsigned cache_number(const struct pmu_machine *machine, const char *cache, const char *what)
{
	char key[CACHE_KEY_MAX];

	snprintf(key, sizeof(key), "%s.%s", cache, what);
	return cli_machine_number(machine, key);
}

static void show_cache(const struct show *show, const char *label,
		       const struct pmu_machine *machine, const char *cache)
{
	unsigned sets = cache_number(machine, cache, "sets");
	unsigned ways = cache_number(machine, cache, "ways");

	fprintf(show->cli->out, "  %-12s %u KB, %u ways, %u sets, latency %u\n", label,
		sets * ways / 16, ways, sets, cache_number(machine, cache, "latency"));
}

static void show_x86(struct show *show, const struct pmu_machine *m, uint64_t bytes)
{
	FILE *out = show->cli->out;

	fprintf(out, "  %-12s %u of %u cores, %u LLC slices, %u home agents with %u channels\n",
		"sockets", cli_machine_number(m, "sockets"), cli_machine_number(m, "cores"),
		cli_machine_number(m, "slices"), cli_machine_number(m, "home_agents"),
		cli_machine_number(m, "channels"));
	fprintf(out, "  %-12s core %u, uncore %u, DRAM %u, PCU %u, QPI %u MHz\n", "clocks",
		cli_machine_number(m, "core_mhz"), cli_machine_number(m, "uclk_mhz"),
		cli_machine_number(m, "dclk_mhz"), cli_machine_number(m, "pclk_mhz"),
		cli_machine_number(m, "qfclk_mhz"));
	show_cache(show, "L1I", m, "l1i");
	show_cache(show, "L1D", m, "l1d");
	show_cache(show, "L2", m, "l2");
	show_cache(show, "LLC slice", m, "llc");
	fprintf(out, "  %-12s %llu GB a socket, %u ranks of %u banks a channel, %u KB rows\n",
		"memory", (unsigned long long)(bytes >> 30), cli_machine_number(m, "ranks"),
		cli_machine_number(m, "banks"), cli_machine_number(m, "row_bytes") >> 10);
	fprintf(out,
		"  %-12s issue %u a cycle, reorder window %u, %u fill buffers, locked access %u "
		"cycles\n",
		"core", cli_machine_number(m, "issue_width"),
		cli_machine_number(m, "reorder_window"), cli_machine_number(m, "fill_buffers"),
		cli_machine_number(m, "locked_cycles"));
	fprintf(out, "  %-12s IRQ %u, TOR %u, tracker %u, RPQ %u, WPQ %u (drains from %u to %u)\n",
		"queues", cli_machine_number(m, "irq_entries"),
		cli_machine_number(m, "tor_entries"), cli_machine_number(m, "tracker_entries"),
		cli_machine_number(m, "rpq_entries"), cli_machine_number(m, "wpq_entries"),
		cli_machine_number(m, "wpq_high"), cli_machine_number(m, "wpq_low"));
	fprintf(out, "  %-12s ring %u, home agent %u, link %u (line %u), snoop %u uncore cycles\n",
		"latencies", cli_machine_number(m, "ring_hop"), cli_machine_number(m, "ha_cycles"),
		cli_machine_number(m, "link_cycles"), cli_machine_number(m, "link_line_cycles"),
		cli_machine_number(m, "snoop_cycles"));
	fprintf(out,
		"  %-12s CL %u, CWL %u, RCD %u, RP %u, RAS %u, burst %u, REFI %u, RFC %u, WR %u, "
		"WTR %u DRAM cycles\n",
		"DRAM", cli_machine_number(m, "t_cl"), cli_machine_number(m, "t_cwl"),
		cli_machine_number(m, "t_rcd"), cli_machine_number(m, "t_rp"),
		cli_machine_number(m, "t_ras"), cli_machine_number(m, "t_burst"),
		cli_machine_number(m, "t_refi"), cli_machine_number(m, "t_rfc"),
		cli_machine_number(m, "t_wr"), cli_machine_number(m, "t_wtr"));
}

static void show_ia64(struct show *show, const struct pmu_machine *m, uint64_t bytes)
{
	FILE *out = show->cli->out;

	fprintf(out, "  %-12s %u of %u cores\n", "sockets", cli_machine_number(m, "sockets"),
		cli_machine_number(m, "cores"));
	fprintf(out, "  %-12s %s, %u MHz\n", "core", pmu_machine_core(m),
		cli_machine_number(m, "core_mhz"));
	fprintf(out, "  %-12s %llu GB a socket\n", "memory", (unsigned long long)(bytes >> 30));
}

static void show_machine(struct show *show, const struct pmu_machine *m)
{
	uint64_t bytes = 0;

	pmu_machine_number(m, "memory_bytes", &bytes);
	fprintf(show->cli->out, "machine %s\n", pmu_machine_name(m));
	line(show, "is", pmu_machine_title(m));
	line(show, "PMU", pmu_machine_pmu_name(m));
	if (pmu_machine_core(m))
		show_ia64(show, m, bytes);
	else
		show_x86(show, m, bytes);
	line(show, "source", pmu_machine_source(m));
}

static void blank(const struct show *show)
{
	if (show->found)
		fputc('\n', show->cli->out);
}

#define SHOW(what, ...)                                                                            \
	do {                                                                                       \
		blank(show);                                                                       \
		show_##what(show, __VA_ARGS__);                                                    \
		show->found++;                                                                     \
	} while (0)

/* By the name that all instances have, or by that of one. */
static const struct pmu_register *find_register(const struct pmu_box *box, const char *name)
{
	const struct pmu_register *reg = pmu_find_register(box, name);
	unsigned instance;

	return reg ? reg : pmu_find_instance_register(box, name, &instance);
}

static void show_facts(struct show *show, const struct pmu_box *box, const struct pmu_facts *facts)
{
	list_show_facts(show->cli, box, facts);
}

/* EVENT.UMASK */
static void show_one_umask(struct show *show, const struct pmu_box *box, const char *name)
{
	const char *dot = strchr(name, '.');
	char *event_name = dot ? strndup(name, (size_t)(dot - name)) : NULL;
	const struct pmu_event *event = event_name ? pmu_find_event(box, event_name) : NULL;

	for (; event; event = pmu_next_event(box, event)) {
		show->umask = dot + 1;
		if (pmu_find_umask(event, show->umask))
			SHOW(event, box, event);
		show->umask = NULL;
	}
	free(event_name);
}

static void show_in_box(struct show *show, const struct pmu_box *box, const char *name)
{
	const struct pmu_event *event = pmu_find_event(box, name);
	const struct pmu_register *reg = find_register(box, name);
	const struct pmu_metric *metric = pmu_find_metric(box, name);
	const struct pmu_hwrec *record = pmu_find_hwrec(box, name);

	for (; event; event = pmu_next_event(box, event))
		SHOW(event, box, event);
	show_one_umask(show, box, name);
	if (reg)
		SHOW(register, box, reg);
	if (metric)
		SHOW(metric, box, metric);
	if (record)
		SHOW(record, box, record);
	for (size_t i = 0; i < pmu_box_fact_tables(box); i++)
		if (!strcasecmp(pmu_facts_name(pmu_box_facts(box, i)), name))
			SHOW(facts, box, pmu_box_facts(box, i));
}

static void show_all(struct show *show, const struct pmu_pmu *only)
{
	const struct pmu_machine *machine = pmu_find_machine(show->name);
	const char *dot = strchr(show->name, '.');
	const struct pmu_pmu *pmu;
	const struct pmu_box *box;

	if (machine)
		SHOW(machine, machine);
	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++) {
		if (only && only != pmu)
			continue;
		if (!strcasecmp(pmu_pmu_name(pmu), show->name))
			SHOW(pmu, pmu);
		for (size_t j = 0; (box = pmu_pmu_box(pmu, j)); j++) {
			size_t length = strlen(pmu_box_name(box));

			if (!strcasecmp(pmu_box_name(box), show->name))
				SHOW(box, box);
			if (dot && length == (size_t)(dot - show->name) &&
			    !strncasecmp(pmu_box_name(box), show->name, length))
				show_in_box(show, box, dot + 1);
			else
				show_in_box(show, box, show->name);
		}
	}
}

/* Takes "PMU/" off a name. @return false after a message */
static bool take_pmu(struct show *show, const struct pmu_pmu **pmu)
{
	const char *slash = strchr(show->name, '/');
	const struct pmu_pmu *named;
	char *name;

	if (!slash)
		return true;
	name = strndup(show->name, (size_t)(slash - show->name));
	named = name ? cli_find_pmu(show->cli, name) : NULL;
	free(name);
	if (named && *pmu && *pmu != named) {
		cli_error(show->cli, 0, "%s does not belong to %s", show->name,
			  pmu_pmu_name((*pmu)));
		return false;
	}
	*pmu = named;
	show->name = slash + 1;
	return named;
}

static const char *nearest_in_box(const struct pmu_box *box, const char *wanted,
				  const char *nearest)
{
	for (size_t i = 0; i < pmu_box_events(box); i++)
		nearest = pmu_nearest_name(wanted, nearest, pmu_event_name(pmu_box_event(box, i)));
	for (size_t i = 0; i < pmu_box_metrics(box); i++)
		nearest =
		    pmu_nearest_name(wanted, nearest, pmu_metric_name(pmu_box_metric(box, i)));
	for (size_t i = 0; i < pmu_box_registers(box); i++)
		nearest = pmu_nearest_name(wanted, nearest,
					   pmu_register_pattern(pmu_box_register_at(box, i)));
	return pmu_nearest_name(wanted, nearest, pmu_box_name(box));
}

static int refuse_unknown(const struct show *show, const struct pmu_pmu *only)
{
	const char *dot = strchr(show->name, '.'), *wanted = dot ? dot + 1 : show->name;
	const char *nearest = NULL;
	const struct pmu_pmu *pmu;
	const struct pmu_box *box;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++)
		for (size_t j = 0; (!only || only == pmu) && (box = pmu_pmu_box(pmu, j)); j++)
			nearest = nearest_in_box(box, wanted, nearest);
	if (nearest)
		return cli_error(show->cli, EXIT_USAGE,
				 "nothing is called \"%s\"; did you mean %s?", show->name, nearest);
	return cli_error(show->cli, EXIT_USAGE,
			 "nothing is called \"%s\"; pmulab list events %s searches", show->name,
			 show->name);
}

/* As pmulab list prints it: [BOX.]NAME[.UMASK] */
static int show_json(const struct show *show, const struct pmu_pmu *pmu)
{
	char *name = strdup(show->name), *dot = name ? strchr(name, '.') : NULL, *umask;
	struct choice choice = {.pmu = pmu, .text = name, .exact = true, .machine = show->machine};
	bool boxed = false;
	int code;

	for (size_t i = 0; dot && i < pmu_pmu_count(); i++) {
		const struct pmu_box *box;

		for (size_t j = 0; (box = pmu_pmu_box(pmu_pmu_at(i), j)); j++)
			boxed |= strlen(pmu_box_name(box)) == (size_t)(dot - name) &&
				 !strncasecmp(pmu_box_name(box), name, (size_t)(dot - name));
	}
	if (boxed) {
		*dot = '\0';
		choice.box = name;
		choice.text = dot + 1;
	}
	umask = name ? strchr(choice.text, '.') : NULL;
	if (umask) {
		*umask = '\0';
		choice.umask = umask + 1;
	}
	code = name ? list_print_named(show->cli, &choice)
		    : cli_error(show->cli, EXIT_FAILED, "out of memory");
	free(name);
	return code < 0 ? refuse_unknown(show, pmu) : code;
}

int cli_show(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"pmu", required_argument, NULL, 'p'},
						{"machine", required_argument, NULL, 'M'},
						{"format", required_argument, NULL, 'f'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const struct pmu_pmu *pmu = NULL;
	struct show show = {.cli = cli};

	for (int option; (option = getopt_long(argc, argv, "hM:", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			pmu = cli_find_pmu(cli, optarg);
			if (!pmu)
				return EXIT_USAGE;
			break;
		case 'M':
			show.machine = cli_find_machine(cli, optarg);
			if (!show.machine)
				return EXIT_USAGE;
			break;
		case 'f':
			if (cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (show.machine && !pmu)
		pmu = pmu_find_pmu(pmu_machine_pmu_name(show.machine));
	if (optind + 1 != argc)
		return cli_error(cli, EXIT_USAGE, "one NAME is needed; see pmulab show --help");
	show.name = argv[optind];
	if (!take_pmu(&show, &pmu))
		return EXIT_USAGE;
	if (cli->format == CLI_JSON)
		return show_json(&show, pmu);
	show_all(&show, pmu);
	return show.found ? EXIT_DONE : refuse_unknown(&show, pmu);
}
