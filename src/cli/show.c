#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/list.h"
#include "pmulab/hwrec.h"

#define UMASK_TEXT_MAX 24

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab show [--pmu PMU] NAME\n"
	    "\n"
	    "Prints everything about a PMU, box, event, register, metric, hardware record,\n"
	    "table of facts or machine. Write BOX.NAME or PMU/BOX.NAME if several have the name.\n"
	    "\n"
	    "Example: pmulab show TOR_INSERTS\n"
	    "\n"
	    "  --pmu PMU  only this PMU\n",
	    file);
}

/* Where a printing function puts its text, and how much it has found. */
struct show {
	const struct cli *cli;
	const char *name;
	int found;
};

static void line(const struct show *show, const char *label, const char *text)
{
	if (text && *text)
		fprintf(show->cli->out, "  %-12s %s\n", label, text);
}

/* Fields of other registers that select what is counted. */
static void show_fixed_fields(const struct show *show, const struct pmu_fixed_field *fixed_fields,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(show->cli->out, "  %-12s %s %u:%u = 0x%llX", i ? "" : "sets",
			fixed_fields[i].reg->name, fixed_fields[i].hi, fixed_fields[i].lo,
			(unsigned long long)fixed_fields[i].value);
		if (fixed_fields[i].copy != PMU_COPY_ALL)
			fprintf(show->cli->out, ", copy %u", fixed_fields[i].copy);
		fputc('\n', show->cli->out);
	}
}

/* Modifiers that go with a unit mask. */
static void show_given(const struct show *show, const struct pmu_umask *umask)
{
	if (umask->implied_count == 0)
		return;
	fprintf(show->cli->out, "  %-12s   with", "");
	for (size_t i = 0; i < umask->implied_count; i++)
		fprintf(show->cli->out, " %s=%llu", umask->implied[i].modifier->name,
			(unsigned long long)umask->implied[i].value);
	fputc('\n', show->cli->out);
}

/* Its value and bits; nothing where fields of other registers are what it selects. */
static void write_bits(const struct pmu_umask *umask, char text[UMASK_TEXT_MAX])
{
	char bits[9];

	*text = '\0';
	if (umask->fixed_field_count)
		return;
	for (int bit = 7; bit >= 0; bit--)
		bits[7 - bit] = !(umask->care >> bit & 1) ? 'x'
				: umask->value >> bit & 1 ? '1'
							  : '0';
	bits[8] = '\0';
	snprintf(text, UMASK_TEXT_MAX, " 0x%02X  b%s", umask->value, bits);
}

/* Names with ", " between them behind @label; nothing where there are none. */
static void show_words(const struct show *show, const char *label, const char *const *words)
{
	if (!words)
		return;
	fprintf(show->cli->out, "  %-12s %s", label, *words);
	while (*++words)
		fprintf(show->cli->out, ", %s", *words);
	fputc('\n', show->cli->out);
}

/* The names of a set of modifiers, comma separated, behind @before. */
static void show_modifiers(const struct show *show, const char *before, const struct pmu_box *box,
			   uint64_t modifiers)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		if (!(modifiers >> box->modifiers[i].number & 1))
			continue;
		fprintf(show->cli->out, "%s%s", before, box->modifiers[i].name);
		before = ", ";
	}
}

/* Unit masks that count as much together. */
static void show_sum(const struct show *show, const struct pmu_umask *umask)
{
	const char *before = "=";

	if (!umask->sum)
		return;
	fprintf(show->cli->out, "  %-12s  ", "");
	for (const char *const *name = umask->sum; *name; name++) {
		fprintf(show->cli->out, " %s %s", before, *name);
		before = "+";
	}
	fputc('\n', show->cli->out);
}

static void show_umasks(const struct show *show, const struct pmu_box *box,
			const struct pmu_event *event)
{
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *umask = &event->umasks[i];
		char bits[UMASK_TEXT_MAX];

		write_bits(umask, bits);
		fprintf(show->cli->out, "  %-12s .%-20s%s", i ? "" : "unit masks", umask->name,
			bits);
		show_modifiers(show, "  needs ", box, umask->filters);
		fprintf(show->cli->out, "%s%s  %s\n", umask->alone ? "  alone" : "",
			umask->absent ? "  not modelled" : "", umask->desc);
		show_sum(show, umask);
		show_fixed_fields(show, umask->fixed_fields, umask->fixed_field_count);
		show_given(show, umask);
	}
	if (event->umask)
		fprintf(show->cli->out, "  %-12s 0x%02X\n", "unit mask", event->umask);
	if (event->umask_count > 1)
		line(show, "combining",
		     event->combine == PMU_COMBINE_ONE ? "one unit mask at a time"
						       : "unit masks may be added with +");
}

static void show_event(struct show *show, const struct pmu_box *box, const struct pmu_event *event)
{
	char counters[40], set[CLI_SET_MAX];

	fprintf(show->cli->out, "event %s/%s.%s\n", box->pmu, box->name, event->name);
	line(show, "title", event->title);
	line(show, "category", event->category);
	line(show, "counts", event->desc);
	fprintf(show->cli->out, "  %-12s 0x%02X%s\n", "code", event->code,
		event->ext ? " with the extended select bit" : "");
	line(show, "counters", cli_counters(event->counters, counters));
	if (event->max_increment)
		fprintf(show->cli->out, "  %-12s %u a cycle at most\n", "increment",
			event->max_increment);
	show_umasks(show, box, event);
	if (event->filters) {
		fprintf(show->cli->out, "  %-12s", "filters");
		show_modifiers(show, " ", box, event->filters);
		fputc('\n', show->cli->out);
	}
	line(show, "of set", cli_set_text(event, set));
	show_words(show, "also", event->attributes);
	show_fixed_fields(show, event->fixed_fields, event->fixed_field_count);
	fprintf(show->cli->out, "  %-12s %s%s%s\n", "emulated", cli_model_name(event->model),
		*event->model_note ? ": " : "", event->model_note);
	line(show, "source", event->source);
}

/* Whether instances hold different values after reset: PCI functions their device ids. */
static bool resets_differ(const struct pmu_box *box, const struct pmu_register *reg)
{
	return box->instance_count && pmu_register_reset(box, reg, 0) != reg->reset;
}

static void show_instance(const struct show *show, const struct pmu_box *box,
			  const struct pmu_register *reg, unsigned i)
{
	const struct pmu_instance *instance = &box->instances[i];
	char text[CLI_ADDRESS_MAX];

	fprintf(show->cli->out, "  %-12s %s%u%s%s%s%s: %s", i ? "" : "addresses", box->name, i,
		*instance->label ? ", " : "", instance->label, reg->names ? ", " : "",
		reg->names ? reg->names[i] : "",
		cli_address(text, reg->space, pmu_register_address(box, reg, i)));
	if (resets_differ(box, reg))
		fprintf(show->cli->out, ", reset 0x%llX",
			(unsigned long long)pmu_register_reset(box, reg, i));
	fputc('\n', show->cli->out);
}

static void show_register(struct show *show, const struct pmu_box *box,
			  const struct pmu_register *reg)
{
	fprintf(show->cli->out, "register %s/%s.%s\n", box->pmu, box->name, reg->name);
	fprintf(show->cli->out, "  %-12s %u bits, reset 0x%llX%s\n", "width", reg->width,
		(unsigned long long)reg->reset,
		resets_differ(box, reg) ? " beside the instance's device id" : "");
	for (unsigned i = 0; i < box->instance_count; i++)
		show_instance(show, box, reg, i);
	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];

		fprintf(show->cli->out, "  %-12s %2u:%-2u %-10s %-5s reset %llu%s  %s\n",
			i ? "" : "fields", field->hi, field->lo, field->name,
			cli_access_name(field->access), (unsigned long long)field->reset,
			field->must == PMU_MUST_WRITE_1	  ? ", must be written 1"
			: field->must == PMU_MUST_WRITE_0 ? ", must be written 0"
							  : "",
			field->desc);
	}
	line(show, "source", reg->source);
}

static void show_metric(struct show *show, const struct pmu_box *box,
			const struct pmu_metric *metric)
{
	fprintf(show->cli->out, "metric %s/%s.%s\n", box->pmu, box->name, metric->name);
	line(show, "is", metric->desc);
	line(show, "equation", metric->equation);
	line(show, "unit", metric->unit);
	line(show, "source", metric->source);
}

static void show_kinds(const struct show *show, const char *label,
		       const struct pmu_hwrec_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(show->cli->out, "  %-12s %-12s %s\n", i ? "" : label, kinds[i].name,
			kinds[i].desc);
}

static void show_record_fields(const struct show *show, const struct pmu_hwrec_field *fields,
			       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(show->cli->out, "  %-12s %-20s %s\n", i ? "" : "fields", fields[i].name,
			fields[i].desc);
		for (size_t j = 0; j < fields[i].mnemonic_count; j++)
			fprintf(show->cli->out, "  %-12s   %3llu %-18s %s\n", "",
				(unsigned long long)fields[i].mnemonics[j].value,
				fields[i].mnemonics[j].name, fields[i].mnemonics[j].desc);
	}
}

/* The registers that it reads, each once. */
static void show_record_registers(const struct show *show, const struct pmu_box *box,
				  const struct pmu_hwrec *record)
{
	const char *label = "registers";

	for (size_t i = 0; i < box->register_count; i++) {
		if (pmu_hwrec_register(record, &box->registers[i]) != &box->registers[i])
			continue;
		fprintf(show->cli->out, "  %-12s %s\n", label, box->registers[i].name);
		label = "";
	}
}

static void show_record(struct show *show, const struct pmu_box *box,
			const struct pmu_hwrec *record)
{
	fprintf(show->cli->out, "record %s/%s.%s\n", box->pmu, box->name, record->name);
	line(show, "is", record->title);
	if (record->size)
		fprintf(show->cli->out, "  %-12s %u bytes in memory\n", "size", record->size);
	show_record_registers(show, box, record);
	show_kinds(show, "kinds", record->kinds, record->kind_count);
	show_record_fields(show, record->fields, record->field_count);
	if (record->ring.count) {
		fprintf(show->cli->out, "  %-12s %u, the youngest first\n", "entries",
			record->ring.count);
		show_kinds(show, "of kinds", record->ring.kinds, record->ring.kind_count);
		show_record_fields(show, record->ring.fields, record->ring.field_count);
	}
	for (size_t i = 0; i < record->note_count; i++)
		line(show, i ? "" : "notes", record->notes[i].desc);
	line(show, "source", record->source);
}

static void show_mnemonics(const struct show *show, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->mnemonic_count; i++) {
		const struct pmu_mnemonic *mnemonic = &box->mnemonics[i];

		fprintf(show->cli->out, "  %-12s %s=%s%s%s 0x%llX  %s\n", i ? "" : "mnemonics",
			mnemonic->field, mnemonic->class_name ? mnemonic->class_name : "",
			mnemonic->class_name ? "." : "", mnemonic->name,
			(unsigned long long)mnemonic->value, mnemonic->desc);
	}
}

/* What goes with a modifier in the registers that its first copy uses. */
static void show_needed_fields(FILE *out, const struct pmu_modifier *modifier)
{
	const char *before = ", sets ";

	for (size_t i = 0; i < modifier->fixed_field_count; i++) {
		const struct pmu_fixed_field *fixed = &modifier->fixed_fields[i];

		if (fixed->copy != PMU_COPY_ALL && fixed->copy != 0)
			continue;
		fprintf(out, "%s%s[%u:%u]=0x%llX", before, fixed->reg->name, fixed->hi, fixed->lo,
			(unsigned long long)fixed->value);
		before = ", ";
	}
}

static void show_modifier(const struct show *show, const char *label,
			  const struct pmu_modifier *modifier)
{
	FILE *out = show->cli->out;
	char counters[40];

	fprintf(out, "  %-12s %s", label, modifier->name);
	if (modifier->reg)
		fprintf(out, " in %s%s", modifier->reg->name,
			modifier->copied ? " or that of the counter's copy" : "");
	if (modifier->counters)
		fprintf(out, ", of counters %s only", cli_counters(modifier->counters, counters));
	if (modifier->set)
		fputs(", a set of bits: values may be added with +, at least one", out);
	if (*modifier->any_of)
		fprintf(out, ", one of \"%s\": all if none is given", modifier->any_of);
	if (*modifier->needs)
		fprintf(out, ", needs %s", modifier->needs);
	show_needed_fields(out, modifier);
	fputc('\n', out);
}

static void show_bank(const struct show *show, const char *label, const struct pmu_bank *bank)
{
	char counters[40];

	fprintf(show->cli->out,
		"  %-12s %s: counters %s count events of one set, which is that of ", label,
		bank->group, cli_counters(bank->counters, counters));
	fprintf(show->cli->out, "counter %u%s\n", bank->lead,
		bank->shared ? ", and so are bits of the control" : "");
}

static void show_box(struct show *show, const struct pmu_box *box)
{
	fprintf(show->cli->out, "box %s/%s\n", box->pmu, box->name);
	line(show, "is", box->title);
	fprintf(show->cli->out, "  %-12s %zu in %s space\n", "instances", box->instance_count,
		pmu_space_name(box->space));
	fprintf(show->cli->out, "  %-12s %u of %u bits, %u fixed\n", "counters", box->counter_count,
		box->counter_width, box->fixed_count);
	fprintf(show->cli->out, "  %-12s %zu events, %zu registers, %zu metrics, %zu records\n",
		"has", box->event_count, box->register_count, box->metric_count, box->record_count);
	for (size_t i = 0; i < box->modifier_count; i++)
		show_modifier(show, i ? "" : "settings", &box->modifiers[i]);
	for (size_t i = 0; i < box->bank_count; i++)
		show_bank(show, i ? "" : "sets", &box->banks[i]);
	show_mnemonics(show, box);
	for (size_t i = 0; i < box->fact_count; i++)
		fprintf(show->cli->out, "  %-12s %-14s %s\n", i ? "" : "facts", box->facts[i].name,
			box->facts[i].title);
	line(show, "source", box->source);
}

static void show_pmu(struct show *show, const struct pmu_pmu *pmu)
{
	fprintf(show->cli->out, "PMU %s\n", pmu->name);
	line(show, "is", pmu->title);
	if (pmu->window.size)
		fprintf(show->cli->out,
			"  %-12s at 0x%llX of the own socket, 0x%llX + N * 0x%X of socket N\n",
			"mmio", (unsigned long long)pmu->window.own,
			(unsigned long long)pmu->window.first, pmu->window.size);
	for (size_t i = 0; i < pmu->box_count; i++)
		fprintf(show->cli->out, "  %-12s %-6s %s\n", i ? "" : "boxes", pmu->boxes[i].name,
			pmu->boxes[i].title);
	line(show, "source", pmu->source);
}

static void show_cache(const struct show *show, const char *name, const struct pmu_cache *cache)
{
	fprintf(show->cli->out, "  %-12s %u KB, %u ways, %u sets, latency %u\n", name,
		cache->sets * cache->ways / 16, cache->ways, cache->sets, cache->latency);
}

static void show_machine(struct show *show, const struct pmu_machine *m)
{
	FILE *out = show->cli->out;

	fprintf(out, "machine %s\n", m->name);
	line(show, "is", m->title);
	line(show, "PMU", m->pmu);
	fprintf(out, "  %-12s %u of %u cores, %u LLC slices, %u home agents with %u channels\n",
		"sockets", m->sockets, m->cores, m->slices, m->home_agents, m->channels);
	fprintf(out, "  %-12s core %u, uncore %u, DRAM %u MHz\n", "clocks", m->core_mhz,
		m->uclk_mhz, m->dclk_mhz);
	show_cache(show, "L1I", &m->l1i);
	show_cache(show, "L1D", &m->l1d);
	show_cache(show, "L2", &m->l2);
	show_cache(show, "LLC slice", &m->llc);
	fprintf(out, "  %-12s %llu GB a socket, %u ranks of %u banks a channel, %u KB rows\n",
		"memory", (unsigned long long)(m->memory_bytes >> 30), m->ranks, m->banks,
		m->row_bytes >> 10);
	fprintf(out, "  %-12s issue %u a cycle, reorder window %u, %u fill buffers\n", "core",
		m->issue_width, m->reorder_window, m->fill_buffers);
	fprintf(out, "  %-12s IRQ %u, TOR %u, tracker %u, RPQ %u, WPQ %u (drains from %u to %u)\n",
		"queues", m->irq_entries, m->tor_entries, m->tracker_entries, m->rpq_entries,
		m->wpq_entries, m->wpq_high, m->wpq_low);
	fprintf(out, "  %-12s ring %u, home agent %u, link %u (line %u), snoop %u uncore cycles\n",
		"latencies", m->ring_hop, m->ha_cycles, m->link_cycles, m->link_line_cycles,
		m->snoop_cycles);
	fprintf(out,
		"  %-12s CL %u, CWL %u, RCD %u, RP %u, RAS %u, burst %u, REFI %u, RFC %u, WR %u, "
		"WTR %u DRAM cycles\n",
		"DRAM", m->t_cl, m->t_cwl, m->t_rcd, m->t_rp, m->t_ras, m->t_burst, m->t_refi,
		m->t_rfc, m->t_wr, m->t_wtr);
	line(show, "source", m->source);
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

static void show_in_box(struct show *show, const struct pmu_box *box, const char *name)
{
	const struct pmu_event *event = pmu_find_event(box, name);
	const struct pmu_register *reg = find_register(box, name);
	const struct pmu_metric *metric = pmu_find_metric(box, name);
	const struct pmu_hwrec *record = pmu_find_hwrec(box, name);

	for (; event; event = pmu_next_event(box, event))
		SHOW(event, box, event);
	if (reg)
		SHOW(register, box, reg);
	if (metric)
		SHOW(metric, box, metric);
	if (record)
		SHOW(record, box, record);
	for (size_t i = 0; i < box->fact_count; i++)
		if (!strcasecmp(box->facts[i].name, name))
			SHOW(facts, box, &box->facts[i]);
}

static void show_all(struct show *show, const struct pmu_pmu *only)
{
	const struct pmu_machine *machine = pmu_find_machine(show->name);
	const char *dot = strchr(show->name, '.');
	size_t count;
	const struct pmu_pmu *pmus = pmu_catalog(&count);

	if (machine)
		SHOW(machine, machine);
	for (size_t i = 0; i < count; i++) {
		const struct pmu_pmu *pmu = &pmus[i];

		if (only && only != pmu)
			continue;
		if (!strcasecmp(pmu->name, show->name))
			SHOW(pmu, pmu);
		for (size_t j = 0; j < pmu->box_count; j++) {
			const struct pmu_box *box = &pmu->boxes[j];
			size_t length = strlen(box->name);

			if (!strcasecmp(box->name, show->name))
				SHOW(box, box);
			if (!dot)
				show_in_box(show, box, show->name);
			else if (length == (size_t)(dot - show->name) &&
				 !strncasecmp(box->name, show->name, length))
				show_in_box(show, box, dot + 1);
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
		cli_error(show->cli, 0, "%s does not belong to %s", show->name, (*pmu)->name);
		return false;
	}
	*pmu = named;
	show->name = slash + 1;
	return named;
}

int cli_show(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"pmu", required_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}, {0}};
	const struct pmu_pmu *pmu = NULL;
	struct show show = {.cli = cli};

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h')
			usage(stdout);
		if (option != 'p')
			return option == 'h' ? EXIT_DONE : EXIT_USAGE;
		pmu = cli_find_pmu(cli, optarg);
		if (!pmu)
			return EXIT_USAGE;
	}
	if (optind + 1 != argc)
		return cli_error(cli, EXIT_USAGE, "one NAME is needed; see pmulab show --help");
	show.name = argv[optind];
	if (!take_pmu(&show, &pmu))
		return EXIT_USAGE;
	show_all(&show, pmu);
	if (show.found)
		return EXIT_DONE;
	return cli_error(cli, EXIT_USAGE,
			 "nothing is called \"%s\"; pmulab list events %s searches", show.name,
			 show.name);
}
