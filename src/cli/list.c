#include <getopt.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/list.h"
#include "pmulab/hwrec.h"

static void usage(FILE *file)
{
	fputs("usage: pmulab list [KIND] [--pmu PMU] [--box BOX] [--format table|json|csv]\n"
	      "                   [--count] [TEXT]\n"
	      "\n"
	      "Lists the catalog; default KIND: events. TEXT keeps the names that contain it.\n"
	      "\n"
	      "Example: pmulab list events --box imc cas\n"
	      "\n"
	      "KIND: pmus, boxes, events, metrics, registers, or\n"
	      "  encodings  events, each with all its unit masks\n"
	      "  settings   what may follow an event: fields and filters\n"
	      "  records    hardware records: PEBS, branches, event address registers\n"
	      "  facts      tables of the manuals: queues, caches, latencies\n"
	      "\n"
	      "  --pmu PMU                only this PMU\n"
	      "  --box BOX                only this box\n"
	      "  --count                  print how many there are of each kind, per box\n"
	      "  --format table|json|csv  print in this format\n",
	      file);
}

bool list_chosen(const struct choice *choice, const char *name)
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

json_t *list_words_json(const char *const *words)
{
	json_t *array = json_array();

	for (; words && *words; words++)
		json_array_append_new(array, json_string(*words));
	return array;
}

json_t *list_modifiers_json(const struct pmu_box *box, uint64_t modifiers)
{
	json_t *array = json_array();

	for (size_t i = 0; i < box->modifier_count; i++)
		if (modifiers >> box->modifiers[i].number & 1)
			json_array_append_new(array, json_string(box->modifiers[i].name));
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
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:o, s:i, s:o, s:o, s:s, s:s}", "pmu",
			 box->pmu, "box", box->name, "event", event->name, "title", event->title,
			 "category", event->category, "code", event->code, "ext", event->ext,
			 "counters", counters_json(event->counters), "max_increment",
			 event->max_increment, "umasks", umasks, "filters",
			 list_modifiers_json(box, event->filters), "model",
			 cli_model_name(event->model), "source", event->source);
}

static void events_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++)
		if (list_chosen(choice, box->events[i].name))
			json_array_append_new(arg, event_json(box, &box->events[i]));
}

static void events_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		char counters[40];

		if (!list_chosen(choice, event->name))
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

static json_t *register_json(const struct pmu_box *box, const struct pmu_register *reg,
			     unsigned instance)
{
	const uint64_t reset = pmu_register_reset(box, reg, instance);
	json_t *fields = json_array();

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];

		json_array_append_new(fields,
				      json_pack("{s:s, s:i, s:i, s:s, s:o}", "name", field->name,
						"hi", field->hi, "lo", field->lo, "access",
						cli_access_name(field->access), "reset",
						cli_json_number(pmu_field_value(field, reset))));
	}
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:o, s:i, s:s, s:o, s:o}", "pmu", box->pmu,
			 "box", box->name, "instance", instance, "name", reg->name, "space",
			 pmu_space_name(reg->space), "address",
			 cli_json_number(pmu_register_address(box, reg, instance)), "width",
			 reg->width, "access", cli_access_name(reg->access), "reset",
			 cli_json_number(reset), "fields", fields);
}

static void registers_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (unsigned instance = 0; instance < box->instance_count; instance++)
		for (size_t i = 0; i < box->register_count; i++)
			if (list_chosen(choice, box->registers[i].name))
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

			if (!list_chosen(choice, reg->name) &&
			    !list_chosen(choice, pmu_register_name(reg, instance)))
				continue;
			table_cell(arg, "%s", box->pmu);
			table_cell(arg, "%s%u", box->name, instance);
			table_cell(arg, "%s", pmu_register_name(reg, instance));
			table_cell(arg, "%s", cli_address(text, reg->space, address));
			table_cell(arg, "%u", reg->width);
			table_cell(arg, "%s", cli_access_name(reg->access));
			table_cell(arg, "0x%llX",
				   (unsigned long long)pmu_register_reset(box, reg, instance));
			table_cell(arg, "%s", reg->source);
		}
	}
}

static void metrics_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->metric_count; i++) {
		const struct pmu_metric *metric = &box->metrics[i];

		if (list_chosen(choice, metric->name))
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

		if (!list_chosen(choice, metric->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s.%s", box->name, metric->name);
		table_cell(arg, "%s", metric->unit);
		table_cell(arg, "%s", metric->desc);
	}
}

static json_t *kinds_json(const struct pmu_hwrec *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->kind_count; i++)
		json_array_append_new(array, json_string(record->kinds[i].name));
	return array;
}

static void records_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->record_count; i++) {
		const struct pmu_hwrec *record = &box->records[i];

		if (list_chosen(choice, record->name))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:s}", "pmu",
					   box->pmu, "box", box->name, "name", record->name,
					   "title", record->title, "bytes", (int)record->size,
					   "entries", (int)record->ring.count, "kinds",
					   kinds_json(record), "source", record->source));
	}
}

static void records_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->record_count; i++) {
		const struct pmu_hwrec *record = &box->records[i];

		if (!list_chosen(choice, record->name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s.%s", box->name, record->name);
		table_cell(arg, "%s", record->size ? "memory" : "registers");
		table_number(arg, record->size);
		table_number(arg, record->ring.count);
		table_cell(arg, "%s", record->title);
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
	if (list_chosen(choice, box->name))
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
	if (!list_chosen(choice, box->name))
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

	if (box == pmu->boxes && list_chosen(choice, pmu->name))
		json_array_append_new(arg, json_pack("{s:s, s:s, s:i, s:s}", "pmu", pmu->name,
						     "title", pmu->title, "boxes",
						     (int)pmu->box_count, "source", pmu->source));
}

static void pmus_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(box->pmu);

	if (box != pmu->boxes || !list_chosen(choice, pmu->name))
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
     list_encodings_json,
     list_encodings_table,
     "llrrl",
     {"PMU", "NAME", "CODE", "UMASK", "WHAT IT COUNTS"}},
    {"settings",
     list_settings_json,
     list_settings_table,
     "llllr",
     {"PMU", "BOX", "SETTING", "REGISTER", "BITS"}},
    {"metrics", metrics_json, metrics_table, "llll", {"PMU", "METRIC", "UNIT", "WHAT IT IS"}},
    {"registers",
     registers_json,
     registers_table,
     "llllrlrl",
     {"PMU", "BOX", "REGISTER", "ADDRESS", "BITS", "ACCESS", "RESET", "SOURCE"}},
    {"records",
     records_json,
     records_table,
     "lllrrl",
     {"PMU", "RECORD", "IN", "BYTES", "ENTRIES", "WHAT IT IS"}},
    {"facts", list_facts_json, list_facts_table, "llrl", {"PMU", "FACTS", "ROWS", "WHAT THEY ARE"}},
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
		return cli_error(cli, EXIT_USAGE, "no box \"%s\"; pmulab list boxes lists them",
				 choice.box);
	if (optind < argc && subject_of(argv[optind]) >= 0) {
		if (subject == 0)
			subject = subject_of(argv[optind]);
		optind++;
	}
	if (optind < argc)
		choice.text = argv[optind++];
	if (optind < argc)
		return cli_error(cli, EXIT_USAGE, "at most one TEXT: unexpected argument \"%s\"",
				 argv[optind]);
	return print(cli, &choice, subject);
}
