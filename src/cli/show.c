#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/list.h"
#include "cli/locale.h"
#include "cli/show.h"
#include "pmulab/group.h"
#include "pmulab/hwrec.h"

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

void show_line(const struct show *show, const char *label, const char *text)
{
	char *shown = text && *text ? locale_text(text) : NULL;

	if (shown)
		fprintf(show->cli->out, "  %-12s %s\n", label, shown);
	free(shown);
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

/* As a file that stat -g reads. */
static void show_group(const struct show *show, const struct pmu_group *group)
{
	fputs(pmu_group_text(group), show->cli->out);
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
		if (pmu_find_group(pmu, show->name))
			SHOW(group, pmu_find_group(pmu, show->name));
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
			if (cli_set_format_to(cli, optarg, CLI_JSON))
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
