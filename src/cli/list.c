#include <getopt.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/list.h"
#include "pmulab/hwrec.h"

static void usage(FILE *file)
{
	fputs("usage: pmulab list [KIND] [-M MACHINE] [--pmu PMU] [--box BOX] [--as TOOL]\n"
	      "                   [--count] [--format table|json|csv] [TEXT]\n"
	      "\n"
	      "Lists the catalog; default KIND: events. TEXT keeps the names that contain it.\n"
	      "\n"
	      "Example: pmulab list events --box imc cas\n"
	      "\n"
	      "KIND: pmus, boxes, events, metrics, registers, or\n"
	      "  encodings  events, each with all its unit masks\n"
	      "  groups     events and metrics by topic, for pmulab stat; show prints their text\n"
	      "  names      events as perf names them, or as --as says\n"
	      "  settings   what may follow an event: fields and filters\n"
	      "  records    hardware records: PEBS, branches, event address registers\n"
	      "  facts      tables of the manuals: queues, caches, latencies\n"
	      "\n"
	      "  -M, --machine MACHINE    only what this emulated machine can count\n"
	      "  --pmu PMU                only this PMU\n"
	      "  --box BOX                only this box\n"
	      "  --as TOOL                events as perf, likwid, libpfm4 or pcm names them\n"
	      "  --count                  print how many there are of each kind, per box\n"
	      "  --format table|json|csv  print in this format\n",
	      file);
}

bool list_chosen(const struct choice *choice, const char *name)
{
	if (choice->text && choice->exact)
		return !strcasecmp(name, choice->text);
	return !choice->text || strcasestr(name, choice->text);
}

/* As an expression that names no more than them, with what that sets by itself, such as user mode.
 * @return false: there is no such expression, as more has to be given */
static bool parse_named(const struct pmu_pmu *pmu, const struct pmu_box *box,
			const struct pmu_event *event, const struct pmu_umask *umask,
			struct pmu_selection *selection)
{
	char text[256];
	struct pmu_ctx *ctx;
	bool parsed;

	if (pmu_ctx_new(&ctx))
		return false;
	snprintf(text, sizeof(text), "%s.%s%s%s", pmu_box_name(box), pmu_event_name(event),
		 umask ? "." : "", umask ? pmu_umask_name(umask) : "");
	parsed = !pmu_event_parse(ctx, pmu, text, selection);
	pmu_ctx_free(ctx);
	return parsed;
}

enum pmu_model list_model(const struct pmu_machine *machine, const struct pmu_box *box,
			  const struct pmu_event *event, const struct pmu_umask *umask,
			  char why[LIST_WHY_MAX])
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_box_pmu_name(box));
	struct pmu_selection selection;

	if (!parse_named(pmu, box, event, umask, &selection))
		selection = (struct pmu_selection){
		    .pmu = pmu,
		    .box = box,
		    .event = event,
		    .umask = (uint8_t)(umask ? pmu_umask_value(umask) : pmu_event_unit_mask(event)),
		};
	return pmu_selection_model_on(&selection, machine, why, LIST_WHY_MAX);
}

bool list_chosen_umask(const struct choice *choice, const struct pmu_box *box,
		       const struct pmu_event *event, const struct pmu_umask *umask)
{
	if (choice->umask && (!umask || strcasecmp(pmu_umask_name(umask), choice->umask) != 0))
		return false;
	return !choice->machine ||
	       list_model(choice->machine, box, event, umask, NULL) != PMU_MODEL_ABSENT;
}

/* An event with at least one unit mask, or none at all. */
static bool chosen_event(const struct choice *choice, const struct pmu_box *box,
			 const struct pmu_event *event)
{
	if (!list_chosen(choice, pmu_event_name(event)))
		return false;
	if (!pmu_event_umasks(event))
		return list_chosen_umask(choice, box, event, NULL);
	for (size_t i = 0; i < pmu_event_umasks(event); i++)
		if (list_chosen_umask(choice, box, event, pmu_event_umask(event, i)))
			return true;
	return false;
}

/* Calls @row for every chosen box. */
static void each_box(const struct choice *choice,
		     void (*row)(void *arg, const struct choice *choice, const struct pmu_box *box),
		     void *arg)
{
	const struct pmu_pmu *pmu;
	const struct pmu_box *box;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++) {
		if (choice->pmu && choice->pmu != pmu)
			continue;
		for (size_t j = 0; (box = pmu_pmu_box(pmu, j)); j++)
			if (!choice->box || !strcasecmp(choice->box, pmu_box_name(box)))
				row(arg, choice, box);
	}
}

static json_t *counters_json(uint32_t counters)
{
	json_t *array = json_array();

	for (int i = 0; i < 32; i++)
		if (counters >> i & 1)
			json_array_append_new(array, json_integer(i));
	return array;
}

static json_t *filters_json(const struct pmu_box *box, const struct pmu_event *event)
{
	const struct pmu_modifier *modifier;
	json_t *array = json_array();

	for (size_t i = 0; (modifier = pmu_box_modifier(box, i)); i++)
		if (pmu_event_takes(event, modifier))
			json_array_append_new(array, json_string(pmu_modifier_name(modifier)));
	return array;
}

static json_t *umask_json(const struct choice *choice, const struct pmu_box *box,
			  const struct pmu_event *event, const struct pmu_umask *umask)
{
	return json_pack("{s:s, s:i, s:s, s:s}", "name", pmu_umask_name(umask), "value",
			 pmu_umask_value(umask), "desc", pmu_umask_desc(umask), "model",
			 cli_model_name(list_model(choice->machine, box, event, umask, NULL)));
}

static json_t *event_json(const struct choice *choice, const struct pmu_box *box,
			  const struct pmu_event *event)
{
	json_t *umasks = json_array();

	for (size_t i = 0; i < pmu_event_umasks(event); i++)
		if (list_chosen_umask(choice, box, event, pmu_event_umask(event, i)))
			json_array_append_new(
			    umasks, umask_json(choice, box, event, pmu_event_umask(event, i)));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:o, s:i, s:o, s:o, s:s, "
			 "s:s}",
			 "desc", pmu_event_desc(event), "model_note", pmu_event_model_note(event),
			 "pmu", pmu_box_pmu_name(box), "box", pmu_box_name(box), "event",
			 pmu_event_name(event), "title", pmu_event_title(event), "category",
			 pmu_event_category(event), "code", pmu_event_code(event), "ext",
			 pmu_event_ext(event), "counters", counters_json(pmu_event_counters(event)),
			 "max_increment", pmu_event_max_increment(event), "umasks", umasks,
			 "filters", filters_json(box, event), "model",
			 cli_model_name(pmu_event_model(event)), "source", pmu_event_source(event));
}

static void events_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_events(box); i++)
		if (chosen_event(choice, box, pmu_box_event(box, i)))
			json_array_append_new(arg, event_json(choice, box, pmu_box_event(box, i)));
}

static void events_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_events(box); i++) {
		const struct pmu_event *event = pmu_box_event(box, i);
		char counters[40];

		if (!chosen_event(choice, box, event))
			continue;
		table_cell(arg, "%s", pmu_box_pmu_name(box));
		table_cell(arg, "%s.%s", pmu_box_name(box), pmu_event_name(event));
		table_cell(arg, "0x%02X%s", pmu_event_code(event), pmu_event_ext(event) ? "+" : "");
		table_cell(arg, "%s", cli_counters(pmu_event_counters(event), counters));
		table_cell(arg, "%u", pmu_event_max_increment(event));
		table_cell(arg, "%zu", pmu_event_umasks(event));
		table_cell(arg, "%s", cli_model_name(pmu_event_model(event)));
		table_cell(arg, "%s", pmu_event_desc(event));
	}
}

static void metrics_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_metrics(box); i++) {
		const struct pmu_metric *metric = pmu_box_metric(box, i);

		if (list_chosen(choice, pmu_metric_name(metric)))
			json_array_append_new(
			    arg, json_pack(
				     "{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "desc",
				     pmu_metric_desc(metric), "pmu", pmu_box_pmu_name(box), "box",
				     pmu_box_name(box), "name", pmu_metric_name(metric), "equation",
				     pmu_metric_equation(metric), "unit", pmu_metric_unit(metric),
				     "source", pmu_metric_source(metric)));
	}
}

static void metrics_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_metrics(box); i++) {
		const struct pmu_metric *metric = pmu_box_metric(box, i);

		if (!list_chosen(choice, pmu_metric_name(metric)))
			continue;
		table_cell(arg, "%s", pmu_box_pmu_name(box));
		table_cell(arg, "%s.%s", pmu_box_name(box), pmu_metric_name(metric));
		table_cell(arg, "%s", pmu_metric_unit(metric));
		table_cell(arg, "%s", pmu_metric_desc(metric));
	}
}

static json_t *kinds_json(const struct pmu_hwrec *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < pmu_hwrec_kinds(record); i++)
		json_array_append_new(array,
				      json_string(pmu_hwrec_kind_name(pmu_hwrec_kind(record, i))));
	return array;
}

static void records_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_hwrecs(box); i++) {
		const struct pmu_hwrec *record = pmu_box_hwrec(box, i);

		if (list_chosen(choice, pmu_hwrec_name(record)))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:s}", "pmu",
					   pmu_box_pmu_name(box), "box", pmu_box_name(box), "name",
					   pmu_hwrec_name(record), "title", pmu_hwrec_title(record),
					   "bytes", (int)pmu_hwrec_size(record), "entries",
					   (int)pmu_hwrec_entries(record), "kinds",
					   kinds_json(record), "source", pmu_hwrec_source(record)));
	}
}

static void records_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_hwrecs(box); i++) {
		const struct pmu_hwrec *record = pmu_box_hwrec(box, i);

		if (!list_chosen(choice, pmu_hwrec_name(record)))
			continue;
		table_cell(arg, "%s", pmu_box_pmu_name(box));
		table_cell(arg, "%s.%s", pmu_box_name(box), pmu_hwrec_name(record));
		table_cell(arg, "%s", pmu_hwrec_size(record) ? "memory" : "registers");
		table_number(arg, pmu_hwrec_size(record));
		table_number(arg, pmu_hwrec_entries(record));
		table_cell(arg, "%s", pmu_hwrec_title(record));
	}
}

static size_t umask_count(const struct pmu_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < pmu_box_events(box); i++)
		count += pmu_event_umasks(pmu_box_event(box, i));
	return count;
}

static size_t field_count(const struct pmu_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < pmu_box_registers(box); i++)
		count += pmu_register_fields(pmu_box_register_at(box, i));
	return count;
}

static void boxes_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	if (list_chosen(choice, pmu_box_name(box)))
		json_array_append_new(
		    arg,
		    json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s}", "pmu",
			      pmu_box_pmu_name(box), "box", pmu_box_name(box), "title",
			      pmu_box_title(box), "instances", (int)pmu_box_instances(box),
			      "counters", pmu_box_counters(box), "events", (int)pmu_box_events(box),
			      "umasks", (int)umask_count(box), "registers",
			      (int)pmu_box_registers(box), "fields", (int)field_count(box),
			      "metrics", (int)pmu_box_metrics(box), "source", pmu_box_source(box)));
}

static void boxes_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	if (!list_chosen(choice, pmu_box_name(box)))
		return;
	table_cell(arg, "%s", pmu_box_pmu_name(box));
	table_cell(arg, "%s", pmu_box_name(box));
	table_number(arg, pmu_box_instances(box));
	table_number(arg, pmu_box_counters(box));
	table_number(arg, pmu_box_events(box));
	table_number(arg, umask_count(box));
	table_number(arg, pmu_box_registers(box));
	table_number(arg, field_count(box));
	table_number(arg, pmu_box_metrics(box));
	table_cell(arg, "%s", pmu_box_title(box));
}

static void pmus_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_box_pmu_name(box));

	if (box == pmu_pmu_box(pmu, 0) && list_chosen(choice, pmu_pmu_name(pmu)))
		json_array_append_new(arg, json_pack("{s:s, s:s, s:i, s:s}", "pmu",
						     pmu_pmu_name(pmu), "title", pmu_pmu_title(pmu),
						     "boxes", (int)pmu_pmu_boxes(pmu), "source",
						     pmu_pmu_source(pmu)));
}

static void pmus_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_box_pmu_name(box));

	if (box != pmu_pmu_box(pmu, 0) || !list_chosen(choice, pmu_pmu_name(pmu)))
		return;
	table_cell(arg, "%s", pmu_pmu_name(pmu));
	table_number(arg, pmu_pmu_boxes(pmu));
	table_cell(arg, "%s", pmu_pmu_source(pmu));
	table_cell(arg, "%s", pmu_pmu_title(pmu));
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
     "llrrll",
     {"PMU", "NAME", "CODE", "UMASK", "MODEL", "WHAT IT COUNTS"}},
    {"settings",
     list_settings_json,
     list_settings_table,
     "llllr",
     {"PMU", "BOX", "SETTING", "REGISTER", "BITS"}},
    {"metrics", metrics_json, metrics_table, "llll", {"PMU", "METRIC", "UNIT", "WHAT IT IS"}},
    {"registers",
     list_registers_json,
     list_registers_table,
     "llllrlrl",
     {"PMU", "BOX", "REGISTER", "ADDRESS", "BITS", "ACCESS", "RESET", "SOURCE"}},
    {"groups", list_groups_json, list_groups_table, "lll", {"PMU", "GROUP", "WHAT IT IS ABOUT"}},
    {"names", list_names_json, list_names_table, "ll", {"EVENT", "NAME"}},
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

int list_print_named(const struct cli *cli, const struct choice *choice)
{
	static const char *const kinds[] = {"pmus",	 "boxes",   "events", "metrics",
					    "registers", "records", "facts",  "groups"};
	json_t *array = json_array();

	for (size_t i = 0; array && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		each_box(choice, subjects[subject_of(kinds[i])].json, array);
	if (!array)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	if (!json_array_size(array)) {
		json_decref(array);
		return PMU_E_UNKNOWN;
	}
	return cli_print_json(cli, array);
}

/* A word that is no kind, though it may have been meant as one. */
static int refuse_kind(const struct cli *cli, const char *word)
{
	struct cli_names valid;

	cli_names_init(&valid, word);
	for (size_t i = 0; i < SUBJECT_COUNT; i++)
		cli_names_add(&valid, subjects[i].name);
	return cli_error(cli, EXIT_USAGE, "no kind \"%s\" to list; %s", word,
			 cli_names_text(&valid));
}

static bool is_near_kind(const char *word)
{
	const char *nearest = NULL;

	for (size_t i = 0; i < SUBJECT_COUNT; i++)
		nearest = pmu_nearest_name(word, nearest, subjects[i].name);
	return nearest;
}

/* Whether anything would be listed. Memory running out is said by what prints. */
static bool has_any(const struct choice *choice, int subject)
{
	json_t *array = json_array();
	bool any = true;

	if (array) {
		each_box(choice, subjects[subject].json, array);
		any = json_array_size(array) > 0;
	}
	json_decref(array);
	return any;
}

static bool box_exists(const struct choice *choice)
{
	const struct pmu_pmu *pmu;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++)
		if ((!choice->pmu || choice->pmu == pmu) && pmu_find_box(pmu, choice->box))
			return true;
	return false;
}

int cli_list(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"pmu", required_argument, NULL, 'p'},     {"box", required_argument, NULL, 'b'},
	    {"format", required_argument, NULL, 'f'},  {"count", no_argument, NULL, 'c'},
	    {"machine", required_argument, NULL, 'M'}, {"as", required_argument, NULL, 'a'},
	    {"help", no_argument, NULL, 'h'},	       {0}};
	struct choice choice = {0};
	int subject = 0;
	bool kind;

	for (int option; (option = getopt_long(argc, argv, "hM:", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			choice.pmu = cli_find_pmu(cli, optarg);
			if (!choice.pmu)
				return EXIT_USAGE;
			break;
		case 'M':
			choice.machine = cli_find_machine(cli, optarg);
			if (!choice.machine)
				return EXIT_USAGE;
			choice.pmu = pmu_find_pmu(pmu_machine_pmu_name(choice.machine));
			break;
		case 'b':
			choice.box = optarg;
			break;
		case 'f':
			if (cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'a':
			if (list_set_tool(cli, &choice, optarg))
				return EXIT_USAGE;
			subject = subject_of("names");
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
	kind = optind < argc && subject_of(argv[optind]) >= 0;
	if (kind) {
		if (subject == 0)
			subject = subject_of(argv[optind]);
		optind++;
	}
	if (optind < argc)
		choice.text = argv[optind++];
	/* "list evnts": one that nothing has, and that may have been meant as a kind. */
	if (choice.text && !kind && is_near_kind(choice.text) && !has_any(&choice, subject))
		return refuse_kind(cli, choice.text);
	/* "list evnts cas": the first of two words can only be a kind. */
	if (optind < argc && !kind)
		return refuse_kind(cli, argv[optind - 1]);
	if (optind < argc)
		return cli_error(cli, EXIT_USAGE, "at most one TEXT: unexpected argument \"%s\"",
				 argv[optind]);
	return print(cli, &choice, subject);
}
