#include <getopt.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab list [pmus|boxes|events|encodings|settings|metrics|registers]\n"
	    "                   [--pmu PMU] [--box BOX] [--format table|json|csv] [--count] "
	    "[TEXT]\n\n"
	    "Lists the catalog, events if nothing else is said. TEXT keeps names that contain it.\n"
	    "Encodings are events with each of their unit masks, settings what may follow them.\n"
	    "--count prints how many of each there are, box by box.\n",
	    file);
}

/* What the user wants to see. */
struct choice {
	const struct pmu_pmu *pmu; /* NULL: all */
	const char *box;	   /* NULL: all */
	const char *text;	   /* NULL: all */
};

static bool chosen(const struct choice *choice, const char *name)
{
	return !choice->text || strcasestr(name, choice->text);
}

/* Calls @row for every chosen box. */
static void each_box(const struct choice *choice,
		     void (*row)(void *arg, const struct choice *choice, const struct pmu_box *box),
		     void *arg)
{
	size_t count;
	const struct pmu_pmu *pmus = pmu_catalog(&count);

	for (size_t i = 0; i < count; i++) {
		if (choice->pmu && choice->pmu != &pmus[i])
			continue;
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];

			if (!choice->box || !strcasecmp(choice->box, box->name))
				row(arg, choice, box);
		}
	}
}

/* "a,b" as an array of strings. */
static json_t *words_json(const char *words)
{
	json_t *array = json_array();

	while (*words) {
		size_t length = strcspn(words, ",");

		json_array_append_new(array, json_stringn(words, length));
		words += length + (words[length] == ',');
	}
	return array;
}

static json_t *counters_json(uint32_t counters)
{
	json_t *array = json_array();

	for (int i = 0; i < 32; i++)
		if (counters >> i & 1)
			json_array_append_new(array, json_integer(i));
	return array;
}

static json_t *event_json(const struct pmu_box *box, const struct pmu_event *event)
{
	json_t *umasks = json_array();

	for (size_t i = 0; i < event->umask_count; i++)
		json_array_append_new(umasks, json_pack("{s:s, s:i}", "name", event->umasks[i].name,
							"value", event->umasks[i].value));
	return json_pack("{s:s, s:s, s:s, s:i, s:b, s:o, s:i, s:o, s:o, s:s, s:s}", "pmu", box->pmu,
			 "box", box->name, "event", event->name, "code", event->code, "ext",
			 event->ext, "counters", counters_json(event->counters), "max_increment",
			 event->max_increment, "umasks", umasks, "filters",
			 words_json(event->filters), "model", cli_model_name(event->model),
			 "source", event->source);
}

static void events_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++)
		if (chosen(choice, box->events[i].name))
			json_array_append_new(arg, event_json(box, &box->events[i]));
}

static void events_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		char counters[40];

		if (!chosen(choice, event->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s.%s", box->name, event->name);
		table_cell(arg, "0x%02X%s", event->code, event->ext ? "+" : "");
		table_cell(arg, "%s", cli_counters(event->counters, counters));
		table_cell(arg, "%u", event->max_increment);
		table_cell(arg, "%zu", event->umask_count);
		table_cell(arg, "%s", cli_model_name(event->model));
		table_cell(arg, "%s", event->desc);
	}
}

/* Fields of other registers that have to hold a value. */
static void add_presets_json(json_t *array, const struct pmu_preset *presets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *preset = json_pack("{s:s, s:i, s:i, s:I}", "register", presets[i].reg, "hi",
					   presets[i].hi, "lo", presets[i].lo, "value",
					   (json_int_t)presets[i].value);

		if (presets[i].copy != PMU_COPY_ALL)
			json_object_set_new(preset, "copy", json_integer(presets[i].copy));
		json_array_append_new(array, preset);
	}
}

static json_t *given_json(const struct pmu_umask *umask)
{
	json_t *given = json_object();

	for (size_t i = 0; i < umask->given_count; i++)
		json_object_set_new(given, umask->given[i].modifier,
				    json_integer((json_int_t)umask->given[i].value));
	return given;
}

/* @umask: NULL for an event without named ones. */
static json_t *encoding_json(const struct pmu_box *box, const struct pmu_event *event,
			     const struct pmu_umask *umask)
{
	json_t *sets = json_array();

	add_presets_json(sets, event->presets, event->preset_count);
	if (umask)
		add_presets_json(sets, umask->presets, umask->preset_count);
	return json_pack("{s:s, s:s, s:s, s:i, s:b, s:s, s:i, s:i, s:b, s:s, s:o, s:o, s:o}", "pmu",
			 box->pmu, "box", box->name, "event", event->name, "code", event->code,
			 "ext", event->ext, "umask", umask ? umask->name : "", "value",
			 umask ? umask->value : event->umask, "care", umask ? umask->care : 0xff,
			 "alone", umask && umask->alone, "group", umask ? umask->group : "",
			 "given", umask ? given_json(umask) : json_object(), "sets", sets,
			 "attributes", words_json(event->attributes));
}

static void encodings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];

		if (!chosen(choice, event->name))
			continue;
		if (event->umask_count == 0)
			json_array_append_new(arg, encoding_json(box, event, NULL));
		for (size_t j = 0; j < event->umask_count; j++)
			json_array_append_new(arg, encoding_json(box, event, &event->umasks[j]));
	}
}

static void encodings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		size_t rows = event->umask_count ? event->umask_count : 1;

		for (size_t j = 0; j < rows && chosen(choice, event->name); j++) {
			const struct pmu_umask *umask =
			    event->umask_count ? &event->umasks[j] : NULL;

			table_cell(arg, "%s", box->pmu);
			table_cell(arg, "%s.%s%s%s", box->name, event->name, umask ? "." : "",
				   umask ? umask->name : "");
			table_cell(arg, "0x%02X%s", event->code, event->ext ? "+" : "");
			table_cell(arg, "0x%02X", umask ? umask->value : event->umask);
			table_cell(arg, "%s", umask ? umask->desc : event->desc);
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
			    values, json_pack("{s:s, s:I}", "name", box->mnemonics[i].name, "value",
					      (json_int_t)box->mnemonics[i].value));
	return values;
}

static void settings_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (chosen(choice, modifier->name))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o}", "pmu",
					   box->pmu, "box", box->name, "setting", modifier->name,
					   "register", modifier->reg ? modifier->reg : "", "hi",
					   modifier->hi, "lo", modifier->lo, "set", modifier->set,
					   "values", values_json(box, modifier)));
	}
}

static void settings_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (!chosen(choice, modifier->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s", box->name);
		table_cell(arg, "%s", modifier->name);
		table_cell(arg, "%s", modifier->reg ? modifier->reg : "the counter's control");
		table_cell(arg, "%u:%u", modifier->hi, modifier->lo);
	}
}

static json_t *register_json(const struct pmu_box *box, const struct pmu_register *reg,
			     unsigned instance)
{
	json_t *fields = json_array();

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];

		json_array_append_new(fields,
				      json_pack("{s:s, s:i, s:i, s:s, s:I}", "name", field->name,
						"hi", field->hi, "lo", field->lo, "access",
						cli_access_name(field->access), "reset",
						(json_int_t)field->reset));
	}
	return json_pack(
	    "{s:s, s:s, s:i, s:s, s:s, s:I, s:i, s:s, s:I, s:o}", "pmu", box->pmu, "box", box->name,
	    "instance", instance, "name", reg->name, "space", cli_space_name(reg->space), "address",
	    (json_int_t)pmu_register_address(box, reg, instance), "width", reg->width, "access",
	    cli_access_name(reg->access), "reset", (json_int_t)reg->reset, "fields", fields);
}

static void registers_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < box->instance_count; instance++)
		for (size_t i = 0; i < box->register_count; i++)
			if (chosen(choice, box->registers[i].name))
				json_array_append_new(
				    arg, register_json(box, &box->registers[i], instance));
}

static void registers_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < box->instance_count; instance++) {
		for (size_t i = 0; i < box->register_count; i++) {
			const struct pmu_register *reg = &box->registers[i];
			uint32_t address = pmu_register_address(box, reg, instance);
			char text[CLI_ADDRESS_MAX];

			if (!chosen(choice, reg->name))
				continue;
			table_cell(arg, "%s", box->pmu);
			table_cell(arg, "%s%u", box->name, instance);
			table_cell(arg, "%s", reg->name);
			table_cell(arg, "%s", cli_address(text, reg->space, address));
			table_cell(arg, "%u", reg->width);
			table_cell(arg, "%s", cli_access_name(reg->access));
			table_cell(arg, "0x%llX", (unsigned long long)reg->reset);
			table_cell(arg, "%s", reg->source);
		}
	}
}

static void metrics_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->metric_count; i++) {
		const struct pmu_metric *metric = &box->metrics[i];

		if (chosen(choice, metric->name))
			json_array_append_new(arg, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}",
							     "pmu", box->pmu, "box", box->name,
							     "name", metric->name, "equation",
							     metric->equation, "unit", metric->unit,
							     "source", metric->source));
	}
}

static void metrics_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->metric_count; i++) {
		const struct pmu_metric *metric = &box->metrics[i];

		if (!chosen(choice, metric->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s.%s", box->name, metric->name);
		table_cell(arg, "%s", metric->unit);
		table_cell(arg, "%s", metric->desc);
	}
}

static size_t umask_count(const struct pmu_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < box->event_count; i++)
		count += box->events[i].umask_count;
	return count;
}

static size_t field_count(const struct pmu_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < box->register_count; i++)
		count += box->registers[i].field_count;
	return count;
}

static void boxes_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	if (chosen(choice, box->name))
		json_array_append_new(
		    arg,
		    json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s}", "pmu",
			      box->pmu, "box", box->name, "title", box->title, "instances",
			      (int)box->instance_count, "counters", box->counter_count, "events",
			      (int)box->event_count, "umasks", (int)umask_count(box), "registers",
			      (int)box->register_count, "fields", (int)field_count(box), "metrics",
			      (int)box->metric_count, "source", box->source));
}

static void boxes_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	if (!chosen(choice, box->name))
		return;
	table_cell(arg, "%s", box->pmu);
	table_cell(arg, "%s", box->name);
	table_number(arg, box->instance_count);
	table_number(arg, box->counter_count);
	table_number(arg, box->event_count);
	table_number(arg, umask_count(box));
	table_number(arg, box->register_count);
	table_number(arg, field_count(box));
	table_number(arg, box->metric_count);
	table_cell(arg, "%s", box->title);
}

static void pmus_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(box->pmu);

	if (box == pmu->boxes && chosen(choice, pmu->name))
		json_array_append_new(arg, json_pack("{s:s, s:s, s:i, s:s}", "pmu", pmu->name,
						     "title", pmu->title, "boxes",
						     (int)pmu->box_count, "source", pmu->source));
}

static void pmus_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(box->pmu);

	if (box != pmu->boxes || !chosen(choice, pmu->name))
		return;
	table_cell(arg, "%s", pmu->name);
	table_number(arg, pmu->box_count);
	table_cell(arg, "%s", pmu->source);
	table_cell(arg, "%s", pmu->title);
}

typedef void row_function(void *arg, const struct choice *choice, const struct pmu_box *box);

static const struct {
	const char *name;
	row_function *json, *table;
	const char *columns;
	const char *headings[11];
} subjects[] = {
    {"events",
     events_json,
     events_table,
     "llrrrrll",
     {"PMU", "EVENT", "CODE", "COUNTERS", "MAX", "UMASKS", "MODEL", "WHAT IT COUNTS"}},
    {"encodings",
     encodings_json,
     encodings_table,
     "llrrl",
     {"PMU", "NAME", "CODE", "UMASK", "WHAT IT COUNTS"}},
    {"settings",
     settings_json,
     settings_table,
     "llllr",
     {"PMU", "BOX", "SETTING", "REGISTER", "BITS"}},
    {"metrics", metrics_json, metrics_table, "llll", {"PMU", "METRIC", "UNIT", "WHAT IT IS"}},
    {"registers",
     registers_json,
     registers_table,
     "llllrlrl",
     {"PMU", "BOX", "REGISTER", "ADDRESS", "BITS", "ACCESS", "RESET", "SOURCE"}},
    {"boxes",
     boxes_json,
     boxes_table,
     "llrrrrrrrl",
     {"PMU", "BOX", "INSTANCES", "COUNTERS", "EVENTS", "UMASKS", "REGISTERS", "FIELDS", "METRICS",
      "WHAT IT IS"}},
    {"pmus", pmus_json, pmus_table, "lrll", {"PMU", "BOXES", "SOURCE", "WHAT IT IS"}},
};

#define SUBJECT_COUNT (sizeof(subjects) / sizeof(subjects[0]))

static int subject_of(const char *name)
{
	for (size_t i = 0; i < SUBJECT_COUNT; i++)
		if (!strcasecmp(subjects[i].name, name))
			return (int)i;
	return -1;
}

static int print(const struct cli *cli, const struct choice *choice, int subject)
{
	struct table *table;

	if (cli->format == CLI_JSON) {
		json_t *array = json_array();

		if (!array)
			return cli_error(cli, EXIT_FAILED, "out of memory");
		each_box(choice, subjects[subject].json, array);
		return cli_print_json(cli, array);
	}
	table = table_new(subjects[subject].columns);
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (const char *const *heading = subjects[subject].headings; *heading; heading++)
		table_cell(table, "%s", *heading);
	each_box(choice, subjects[subject].table, table);
	return cli_print_table(cli, table);
}

static bool box_exists(const struct choice *choice)
{
	size_t count;
	const struct pmu_pmu *pmus = pmu_catalog(&count);

	for (size_t i = 0; i < count; i++)
		if ((!choice->pmu || choice->pmu == &pmus[i]) &&
		    pmu_find_box(&pmus[i], choice->box))
			return true;
	return false;
}

int cli_list(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"pmu", required_argument, NULL, 'p'},    {"box", required_argument, NULL, 'b'},
	    {"format", required_argument, NULL, 'f'}, {"count", no_argument, NULL, 'c'},
	    {"help", no_argument, NULL, 'h'},	      {0}};
	struct choice choice = {0};
	int subject = 0;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			choice.pmu = cli_find_pmu(cli, optarg);
			if (!choice.pmu)
				return EXIT_USAGE;
			break;
		case 'b':
			choice.box = optarg;
			break;
		case 'f':
			if (cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'c':
			subject = subject_of("boxes");
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (choice.box && !box_exists(&choice))
		return cli_error(cli, EXIT_USAGE, "no box \"%s\"; pmulab list boxes shows them",
				 choice.box);
	if (optind < argc && subject_of(argv[optind]) >= 0) {
		if (subject == 0)
			subject = subject_of(argv[optind]);
		optind++;
	}
	if (optind < argc)
		choice.text = argv[optind++];
	if (optind < argc)
		return cli_error(cli, EXIT_USAGE, "one TEXT at most, \"%s\" is another",
				 argv[optind]);
	return print(cli, &choice, subject);
}
