#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bus/emulated.h"
#include "cli/run.h"
#include "cli/stat.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab stat -M MACHINE [-e EVENT,...] [-m METRIC,...] [--per-box]\n"
	    "                   [--format table|json|csv] [-o FILE] [--] PROGRAM [ARGUMENTS]\n\n"
	    "Runs a program on an emulated machine and counts. Without events and metrics: those\n"
	    "that the machine's description names. Counts are for each socket and in total;\n"
	    "--per-box shows each instance. The report goes to standard error, or to FILE.\n"
	    "Exit code: the program's.\n",
	    file);
}

/* Splits at commas outside braces and calls @each; text is changed. */
static int each_word(const struct cli *cli, struct stat_run *run, char *text,
		     int (*each)(const struct cli *, struct stat_run *, const char *))
{
	int depth = 0;

	for (char *start = text, *at = text;; at++) {
		bool last = !*at;

		depth += (*at == '{') - (*at == '}');
		if (!last && (*at != ',' || depth > 0))
			continue;
		*at = '\0';
		if (*start) {
			int code = each(cli, run, start);

			if (code)
				return code;
		}
		if (last)
			return 0;
		start = at + 1;
	}
}

static int add_event(const struct cli *cli, struct stat_run *run, const char *text)
{
	struct pmu_selection selection;
	int error = pmu_event_parse(cli->ctx, run->pmu, text, &selection);

	if (!error)
		error = pmu_session_add(run->session, cli->ctx, &selection);
	return error < 0 ? cli_fail(cli, error) : 0;
}

static int add_metric(const struct cli *cli, struct stat_run *run, const char *name)
{
	struct stat_metric *metric = &run->metrics[run->metric_count];
	const struct pmu_selection *selections;
	size_t count;
	int error;

	if (run->metric_count == STAT_METRICS_MAX)
		return cli_error(cli, EXIT_USAGE, "more than %d metrics", STAT_METRICS_MAX);
	error = pmu_formula_new(&metric->formula, cli->ctx, run->pmu, name);
	if (error)
		return cli_fail(cli, error);
	run->metric_count++;
	count = pmu_formula_selections(metric->formula, &selections);
	metric->events = calloc(count ? count : 1, sizeof(*metric->events));
	if (!metric->events)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int event = pmu_session_add(run->session, cli->ctx, &selections[i]);

		if (event < 0)
			return cli_fail(cli, event);
		metric->events[i] = (unsigned)event;
	}
	return 0;
}

static void warn_absent(const struct cli *cli, const struct stat_run *run)
{
	for (unsigned i = 0; i < pmu_session_events(run->session); i++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, i);

		char text[256];

		if (!stat_is_absent(selection))
			continue;
		pmu_event_print(selection, text, sizeof(text));
		cli_error(cli, 0, "warning: %s is not modelled on this machine%s%s", text,
			  selection->event->model == PMU_MODEL_ABSENT ? ": " : "",
			  selection->event->model == PMU_MODEL_ABSENT ? selection->event->model_note
								      : "");
	}
}

/* Programs, runs, reads. Everything that can be wrong in what the user wrote is found before. */
static int measure(const struct cli *cli, struct stat_run *run, const struct run *program)
{
	struct system *system = bus_emulated_system(run->bus);
	struct machine *machine = system_machine(system);
	uint64_t start;
	int error = pmu_session_start(run->session, cli->ctx);

	if (error)
		return cli_fail(cli, error);
	warn_absent(cli, run);
	start = machine_now(machine);
	run->exit = run_program(cli, program, system);
	machine_drain(machine);
	error = pmu_session_stop(run->session, cli->ctx);
	if (!error)
		error = pmu_session_read(run->session, cli->ctx, &run->counts, &run->count_count);
	if (error)
		return cli_fail(cli, error);
	run->seconds =
	    (double)(machine_now(machine) - start) / (double)machine_ticks_per_second(machine);
	machine_truth(machine, &run->truth);
	return 0;
}

struct arguments {
	char *events[32], *metrics[32];
	size_t event_count, metric_count;
};

static int add_all(const struct cli *cli, struct stat_run *run, const struct arguments *arguments)
{
	int code = 0;

	for (size_t i = 0; i < arguments->event_count && !code; i++)
		code = each_word(cli, run, arguments->events[i], add_event);
	for (size_t i = 0; i < arguments->metric_count && !code; i++)
		code = each_word(cli, run, arguments->metrics[i], add_metric);
	if (!code && !arguments->event_count && !arguments->metric_count) {
		char *events = strdup(run->machine->events);

		code = events ? each_word(cli, run, events, add_event)
			      : cli_error(cli, EXIT_FAILED, "out of memory");
		free(events);
	}
	return code;
}

static int stat(struct cli *cli, struct stat_run *run, const struct arguments *arguments,
		char **argv)
{
	struct run program;
	int code, error = pmu_bus_emulated(&run->bus, cli->ctx, run->machine);

	if (!error)
		error = pmu_session_new(&run->session, cli->ctx, run->bus);
	if (error)
		return cli_fail(cli, error);
	code = add_all(cli, run, arguments);
	if (code)
		return code;
	code = run_prepare(cli, &program, argv);
	if (code)
		return code;
	if (run->output) {
		cli->out = fopen(run->output, "we");
		if (!cli->out) {
			run_release(&program);
			return cli_error(cli, EXIT_FAILED, "cannot write %s: %s", run->output,
					 strerror(errno));
		}
	}
	code = measure(cli, run, &program);
	if (!code)
		code = stat_report(cli, run, argv);
	if (run->output)
		fclose(cli->out);
	run_release(&program);
	return code ? code : run->exit;
}

static void stat_release(struct stat_run *run)
{
	for (size_t i = 0; i < run->metric_count; i++) {
		pmu_formula_free(run->metrics[i].formula);
		free(run->metrics[i].events);
	}
	pmu_session_free(run->session);
	pmu_bus_free(run->bus);
}

static int keep(const struct cli *cli, char **words, size_t *count, char *word)
{
	if (*count == 32)
		return cli_error(cli, EXIT_USAGE, "more than 32 options of a kind; use commas");
	words[(*count)++] = word;
	return 0;
}

int cli_stat(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'M'}, {"event", required_argument, NULL, 'e'},
	    {"metric", required_argument, NULL, 'm'},  {"per-box", no_argument, NULL, 'b'},
	    {"format", required_argument, NULL, 'f'},  {"output", required_argument, NULL, 'o'},
	    {"help", no_argument, NULL, 'h'},	       {0}};
	struct arguments arguments = {0};
	struct stat_run run = {0};
	int code;

	cli->out = stderr;
	for (int option; (option = getopt_long(argc, argv, "+M:e:m:o:h", options, NULL)) != -1;) {
		code = 0;
		switch (option) {
		case 'M':
			run.machine = cli_find_machine(cli, optarg);
			code = run.machine ? 0 : EXIT_USAGE;
			break;
		case 'e':
			code = keep(cli, arguments.events, &arguments.event_count, optarg);
			break;
		case 'm':
			code = keep(cli, arguments.metrics, &arguments.metric_count, optarg);
			break;
		case 'b':
			run.per_box = true;
			break;
		case 'f':
			code = cli_set_format(cli, optarg);
			break;
		case 'o':
			run.output = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			code = EXIT_USAGE;
		}
		if (code)
			return code;
	}
	if (!run.machine)
		return cli_error(cli, EXIT_USAGE,
				 "-M MACHINE is needed; pmulab machines shows them");
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "which PROGRAM? see pmulab stat --help");
	run.pmu = pmu_find_pmu(run.machine->pmu);
	code = stat(cli, &run, &arguments, argv + optind);
	stat_release(&run);
	return code;
}
