#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bus/emulated.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "pmulab/metric.h"
#include "pmulab/session.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab stat -M MACHINE [-e EVENT,...] [-m METRIC,...] [--per-box]\n"
	    "                   [--format table|json|csv] [-o FILE] [--] PROGRAM [ARGUMENTS]\n\n"
	    "Runs a program on an emulated machine and counts. Without events and metrics: memory\n"
	    "reads and writes, LLC lookups and misses. Counts are for each socket and in total;\n"
	    "--per-box shows each instance. The report goes to standard error, or to FILE.\n"
	    "Exit code: the program's.\n",
	    file);
}

#define METRICS_MAX 64

struct stat_metric {
	struct pmu_formula *formula;
	unsigned *events; /* of the session, in the order of the formula's selections */
};

struct stat_run {
	const struct pmu_machine *machine;
	const struct pmu_pmu *pmu;
	bool per_box;
	const char *output; /* NULL: standard error */
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct stat_metric metrics[METRICS_MAX];
	size_t metric_count;
	/* Results. */
	const struct pmu_count *counts;
	size_t count_count;
	struct machine_truth truth;
	double seconds;
	int exit;
};

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

	if (run->metric_count == METRICS_MAX)
		return cli_error(cli, EXIT_USAGE, "more than %d metrics", METRICS_MAX);
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

static bool is_absent(const struct pmu_selection *selection)
{
	return pmu_event_model(selection) == PMU_MODEL_ABSENT;
}

static const char *model_of(const struct pmu_selection *selection)
{
	return cli_model_name(pmu_event_model(selection));
}

static uint64_t sum(const struct stat_run *run, unsigned event, int socket)
{
	uint64_t total = 0;

	for (size_t i = 0; i < run->count_count; i++)
		if (run->counts[i].event == event &&
		    (socket < 0 || run->counts[i].socket == (unsigned)socket))
			total += run->counts[i].count;
	return total;
}

static size_t rows(const struct stat_run *run, unsigned event)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count_count; i++)
		count += run->counts[i].event == event;
	return count;
}

/* Counts are summed over all instances, and so are the cycles that they are held against. */
static double sample_cycles(const struct stat_run *run, const struct stat_metric *metric,
			    const struct pmu_box *box)
{
	double mhz = box->clock == PMU_CLOCK_DCLK ? run->machine->dclk_mhz : run->machine->uclk_mhz;

	return run->seconds * mhz * 1e6 * (double)rows(run, metric->events[0]);
}

static double evaluate(const struct stat_run *run, const struct stat_metric *metric)
{
	const struct pmu_selection *selections;
	size_t count = pmu_formula_selections(metric->formula, &selections);
	double *counts = calloc(count ? count : 1, sizeof(*counts)), value;
	struct pmu_terms terms = {
	    .seconds = run->seconds,
	    .tsc_mhz = run->machine->core_mhz,
	    .uncore_mhz = run->machine->uclk_mhz,
	    .core_cycles = (double)run->truth.cycles,
	    .uncore_cycles = count ? sample_cycles(run, metric, selections[0].box) : NAN,
	    .instructions = (double)run->truth.instructions,
	};

	if (!counts)
		return NAN;
	for (size_t i = 0; i < count; i++)
		counts[i] =
		    is_absent(&selections[i]) ? NAN : (double)sum(run, metric->events[i], -1);
	value = pmu_formula_evaluate(metric->formula, counts, &terms);
	free(counts);
	return value;
}

static json_t *count_json(const struct stat_run *run, const struct pmu_count *count)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, count->event);
	char event[256];

	pmu_event_print(selection, event, sizeof(event));
	return json_pack(
	    "{s:s, s:s, s:s, s:i, s:i, s:o, s:s}", "event", event, "pmu", selection->pmu->name,
	    "box", selection->box->name, "socket", count->socket, "instance", count->instance,
	    "count", is_absent(selection) ? json_null() : json_integer((json_int_t)count->count),
	    "model", model_of(selection));
}

static int print_json(const struct cli *cli, struct stat_run *run, char **argv)
{
	json_t *command = json_array(), *counts = json_array(), *metrics = json_array();

	for (; *argv; argv++)
		json_array_append_new(command, json_string(*argv));
	for (size_t i = 0; i < run->count_count; i++)
		json_array_append_new(counts, count_json(run, &run->counts[i]));
	for (size_t i = 0; i < run->metric_count; i++) {
		const struct pmu_metric *metric = pmu_formula_metric(run->metrics[i].formula);
		double value = evaluate(run, &run->metrics[i]);

		json_array_append_new(metrics,
				      json_pack("{s:s, s:o, s:s}", "name", metric->name, "value",
						isfinite(value) ? json_real(value) : json_null(),
						"unit", metric->unit));
	}
	return cli_print_json(cli, json_pack("{s:s, s:o, s:i, s:f, s:I, s:I, s:o, s:o}", "machine",
					     run->machine->name, "command", command, "exit",
					     run->exit, "seconds", run->seconds, "instructions",
					     (json_int_t)run->truth.instructions, "cycles",
					     (json_int_t)run->truth.cycles, "counts", counts,
					     "metrics", metrics));
}

static void count_cell(struct table *table, bool absent, uint64_t count)
{
	if (absent)
		table_cell(table, "not modelled");
	else
		table_number(table, count);
}

static void instance_rows(const struct stat_run *run, struct table *table, unsigned event)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, event);

	for (size_t i = 0; i < run->count_count; i++) {
		const struct pmu_count *count = &run->counts[i];

		if (count->event != event)
			continue;
		table_cell(table, "socket %u %s%u", count->socket, selection->box->name,
			   count->instance);
		count_cell(table, is_absent(selection), count->count);
		table_cell(table, "%s", "");
	}
}

static void event_rows(const struct stat_run *run, struct table *table, unsigned event)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, event);
	bool absent = is_absent(selection);
	char text[256];

	pmu_event_print(selection, text, sizeof(text));
	table_cell(table, "%s", run->machine->sockets > 1 || run->per_box ? "all sockets" : "");
	count_cell(table, absent, sum(run, event, -1));
	table_cell(table, "%s%s", text,
		   pmu_event_model(selection) == PMU_MODEL_APPROXIMATE ? "  (approximate)" : "");
	for (unsigned socket = 0; run->machine->sockets > 1 && socket < run->machine->sockets;
	     socket++) {
		table_cell(table, "socket %u", socket);
		count_cell(table, absent, sum(run, event, (int)socket));
		table_cell(table, "%s", "");
	}
	if (run->per_box)
		instance_rows(run, table, event);
}

static void metric_row(const struct stat_run *run, struct table *table,
		       const struct stat_metric *wanted)
{
	const struct pmu_metric *metric = pmu_formula_metric(wanted->formula);
	double value = evaluate(run, wanted);

	table_cell(table, "%s", "metric");
	if (!isfinite(value))
		table_cell(table, "not known");
	else if (fabs(value) >= 1e6 && floor(value) == value && fabs(value) < 1e18)
		table_number(table, (unsigned long long)value);
	else
		table_cell(table, "%.6g", value);
	table_cell(table, "%s  [%s]", metric->name, metric->unit);
}

static int print_table(const struct cli *cli, struct stat_run *run, char **argv)
{
	struct table *table = table_new("rrl");
	int code;

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	fprintf(cli->out, "\n%s on %s, exit code %d\n", argv[0], run->machine->name, run->exit);
	fprintf(cli->out, "%.6f s on the machine, ", run->seconds);
	fprintf(cli->out, "%llu instructions, %llu core cycles\n\n",
		(unsigned long long)run->truth.instructions, (unsigned long long)run->truth.cycles);
	table_cell(table, "%s", "");
	table_cell(table, "COUNT");
	table_cell(table, "EVENT");
	for (unsigned event = 0; event < pmu_session_events(run->session); event++)
		event_rows(run, table, event);
	for (size_t i = 0; i < run->metric_count; i++)
		metric_row(run, table, &run->metrics[i]);
	code = cli_print_table(cli, table);
	if (run->truth.outside)
		fprintf(cli->out,
			"\n%llu programs that it started ran outside the machine and are not "
			"counted.\n",
			(unsigned long long)run->truth.outside);
	return code;
}

static int print_csv(const struct cli *cli, struct stat_run *run)
{
	struct table *table = table_new("lllllll");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (int i = 0; i < 7; i++)
		table_cell(table, "%s",
			   (const char *const[]){"event", "pmu", "box", "socket", "instance",
						 "count", "model"}[i]);
	for (size_t i = 0; i < run->count_count; i++) {
		const struct pmu_count *count = &run->counts[i];
		const struct pmu_selection *selection =
		    pmu_session_event(run->session, count->event);
		char event[256];

		pmu_event_print(selection, event, sizeof(event));
		table_cell(table, "%s", event);
		table_cell(table, "%s", selection->pmu->name);
		table_cell(table, "%s", selection->box->name);
		table_number(table, count->socket);
		table_number(table, count->instance);
		if (is_absent(selection))
			table_cell(table, "%s", "");
		else
			table_number(table, count->count);
		table_cell(table, "%s", model_of(selection));
	}
	for (size_t i = 0; i < run->metric_count; i++) {
		const struct pmu_metric *metric = pmu_formula_metric(run->metrics[i].formula);
		double value = evaluate(run, &run->metrics[i]);

		table_cell(table, "%s", metric->name);
		for (int column = 1; column < 5; column++)
			table_cell(table, "%s", column == 1 ? run->pmu->name : "");
		if (isfinite(value))
			table_cell(table, "%.17g", value);
		else
			table_cell(table, "%s", "");
		table_cell(table, "%s", metric->unit);
	}
	return cli_print_table(cli, table);
}

static int report(struct cli *cli, struct stat_run *run, char **argv)
{
	int code;

	if (cli->format == CLI_JSON)
		code = print_json(cli, run, argv);
	else if (cli->format == CLI_CSV)
		code = print_csv(cli, run);
	else
		code = print_table(cli, run, argv);
	if (!code && fflush(cli->out))
		code = cli_error(cli, EXIT_FAILED, "cannot write the report: %s", strerror(errno));
	return code;
}

static void warn_absent(const struct cli *cli, const struct stat_run *run)
{
	for (unsigned i = 0; i < pmu_session_events(run->session); i++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, i);

		char text[256];

		if (!is_absent(selection))
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

static const char default_events[] =
    "imc.CAS_COUNT.RD,imc.CAS_COUNT.WR,cbo.LLC_LOOKUP.ANY:state=any,cbo.LLC_VICTIMS.M_STATE";

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
		char events[sizeof(default_events)];

		memcpy(events, default_events, sizeof(events));
		code = each_word(cli, run, events, add_event);
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
		code = report(cli, run, argv);
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
