#include "cli/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/annotate.h"
#include "cli/program.h"
#include "cli/stat_metric.h"
#include "cli/stat_multiplex.h"
#include "cli/text.h"

#define SOCKETS_MAX 8 /* with a column each */

/* What is counted for real is exact. */
enum pmu_model stat_model(const struct stat_run *run, const struct pmu_selection *selection)
{
	return pmu_bus_is_emulated(run->bus)
		   ? pmu_selection_model_on(selection, pmu_bus_machine(run->bus), NULL, 0)
		   : PMU_MODEL_EXACT;
}

bool stat_is_absent(const struct stat_run *run, const struct pmu_selection *selection)
{
	return stat_model(run, selection) == PMU_MODEL_ABSENT;
}

bool stat_turns_if_needed(const struct stat_run *run)
{
	const struct stat_options *options = &run->options;

	return !run->machine && !options->dry_run && !options->replay && !options->repeat_groups &&
	       options->multiplex_ms <= 0 && options->interval_ms <= 0 && options->delay_ms <= 0 &&
	       !options->repeat;
}

bool stat_divides(const struct stat_run *run)
{
	return run->options.repeat_groups || run->options.multiplex_ms > 0 ||
	       stat_turns_if_needed(run);
}

double stat_counted_seconds(const struct stat_run *run)
{
	return run->seconds - run->counted_from;
}

uint64_t stat_sum(const struct stat_run *run, unsigned event, int socket)
{
	uint64_t total = 0;

	for (size_t i = 0; i < run->count_count; i++)
		if (run->counts[i].event == event &&
		    (socket < 0 || run->counts[i].socket == (unsigned)socket))
			total += run->counts[i].count;
	return total;
}

/* Instances that are counted in a socket, or below 0 in all. */
static size_t instances_on(const struct stat_run *run, unsigned event, int socket)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count_count; i++)
		count += run->counts[i].event == event &&
			 (socket < 0 || run->counts[i].socket == (unsigned)socket);
	return count;
}

size_t stat_instances(const struct stat_run *run, unsigned event)
{
	return instances_on(run, event, -1);
}

static json_t *count_json(const struct stat_run *run, const struct pmu_count *count)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, count->event);
	char event[PMU_EVENT_TEXT_MAX];

	pmu_event_print(selection, event, sizeof(event));
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:s}", "event", event, "pmu",
			 pmu_pmu_name(selection->pmu), "box", pmu_box_name(selection->box),
			 "socket", count->socket, "instance", count->instance, "count",
			 stat_is_absent(run, selection) ? json_null()
							: cli_json_number(count->count),
			 "model", cli_model_name(stat_model(run, selection)));
}

static json_t *metric_json(const struct stat_run *run, const struct stat_metric *metric)
{
	double value = stat_metric_value(run, metric), shown = value;
	const char *unit = stat_metric_show(run, metric, &shown);
	char why[STAT_WHY_MAX];

	stat_metric_why(run, metric, why);
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:s, s:o}", "name", metric->name, "box",
			 metric->box ? json_string(pmu_box_name(metric->box)) : json_null(),
			 "value", isfinite(value) ? json_real(value) : json_null(), "unit",
			 metric->unit, "shown_value",
			 isfinite(shown) ? json_real(shown) : json_null(), "shown_unit", unit,
			 "unknown_because", *why ? json_string(why) : json_null());
}

static json_t *known(bool known, json_t *value)
{
	if (known)
		return value;
	json_decref(value);
	return json_null();
}

static json_t *runs_json(const struct stat_run *run)
{
	json_t *events = json_array(), *metrics = json_array();

	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(pmu_session_event(run->session, event), text, sizeof(text));
		json_array_append_new(events, mean_json(text, &run->event_means[event], run->runs));
	}
	for (size_t i = 0; i < run->metric_count; i++)
		json_array_append_new(
		    metrics, mean_json(run->metrics[i].name, &run->metric_means[i], run->runs));
	return json_pack("{s:i, s:o, s:o, s:o}", "count", run->runs, "events", events, "metrics",
			 metrics, "seconds", mean_json("seconds", &run->seconds_mean, run->runs));
}

size_t stat_natives(const struct stat_run *run, struct pmu_native natives[PROGRAM_NATIVES_MAX])
{
	return run->program ? pmu_program_natives(run->program, natives, PROGRAM_NATIVES_MAX) : 0;
}

static bool hints_ignored(const struct stat_run *run)
{
	return run->program && pmu_program_hints_ignored(run->program);
}

static json_t *natives_json(const struct stat_run *run)
{
	struct pmu_native natives[PROGRAM_NATIVES_MAX];
	size_t count = stat_natives(run, natives);
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    all, json_pack("{s:o, s:s, s:i}", "program", text_json(natives[i].path),
				   "reason", natives[i].why, "times", (int)natives[i].times));
	return all;
}

static int print_json(const struct cli *cli, const struct stat_run *run, char **argv)
{
	json_t *report, *counts = json_array(), *metrics = json_array();
	bool emulated = run->machine && run->ran;

	for (size_t i = 0; i < run->count_count; i++)
		json_array_append_new(counts, count_json(run, &run->counts[i]));
	for (size_t i = 0; i < run->metric_count && run->counts; i++) {
		json_array_append_new(metrics, metric_json(run, &run->metrics[i]));
	}
	report = json_pack(
	    "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "machine", text_json(run->target),
	    "way", pmu_bus_transport(run->bus), "ran",
	    known(argv[0] || run->ran, json_boolean(run->ran)), "exit",
	    known(run->ran, json_integer(run->exit)), "seconds",
	    known(run->ran && isfinite(run->seconds), json_real(run->seconds)), "instructions",
	    known(emulated, cli_json_number(run->statistics.instructions)), "cycles",
	    known(emulated, cli_json_number(run->statistics.cycles)), "counts", counts, "metrics",
	    metrics, "not_emulated", known(emulated, natives_json(run)));
	if (run->options.pid)
		json_object_set_new(report, "process", json_integer(run->options.pid));
	if (run->options.cpu_list)
		json_object_set_new(report, "cpus", json_string(run->options.cpu_list));
	if (run->counted_from > 0)
		json_object_set_new(report, "counted_from", json_real(run->counted_from));
	if (run->groups)
		json_object_set_new(report, "groups", json_integer((json_int_t)run->groups));
	if (hints_ignored(run))
		json_object_set_new(report, "hints_ignored", json_true());
	if (run->runs > 1)
		json_object_set_new(report, "runs", runs_json(run));
	if (run->attribution && run->ran)
		json_object_set_new(report, "attribution", attribution_json(run));
	if (run->slices && run->ran)
		json_object_set_new(report, "multiplexed", stat_multiplex_json(run));
	return cli_print_json(cli, text_json_set(report, "command", argv));
}

static void count_cell(struct table *table, bool absent, uint64_t count)
{
	if (absent)
		table_cell(table, "not modelled");
	else
		table_number(table, count);
}

/* Columns: the total, where there is more than one socket, and each socket. */
static unsigned column_count(const struct stat_run *run)
{
	unsigned sockets = pmu_bus_sockets(run->bus);

	/* Means are of totals. */
	return sockets > 1 && sockets <= SOCKETS_MAX && run->runs < 2 ? 1 + sockets : 1;
}

static uint64_t sum_instance(const struct stat_run *run, unsigned event, int socket,
			     unsigned instance)
{
	uint64_t total = 0;

	for (size_t i = 0; i < run->count_count; i++)
		if (run->counts[i].event == event && run->counts[i].instance == instance &&
		    (socket < 0 || run->counts[i].socket == (unsigned)socket))
			total += run->counts[i].count;
	return total;
}

static bool is_counted(const struct stat_run *run, unsigned event, int socket, unsigned instance)
{
	for (size_t i = 0; i < run->count_count; i++)
		if (run->counts[i].event == event && run->counts[i].instance == instance &&
		    (socket < 0 || run->counts[i].socket == (unsigned)socket))
			return true;
	return false;
}

static void instance_rows(const struct stat_run *run, struct table *table, unsigned event)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, event);

	for (unsigned instance = 0; instance < pmu_box_instances(selection->box); instance++) {
		if (!is_counted(run, event, -1, instance))
			continue;
		for (unsigned column = 0; column < column_count(run); column++)
			if (is_counted(run, event, (int)column - 1, instance))
				count_cell(table, stat_is_absent(run, selection),
					   sum_instance(run, event, (int)column - 1, instance));
			else
				table_cell(table, "%s", "");
		table_cell(table, "  %s%u", pmu_box_name(selection->box), instance);
	}
}

/* Cycles of one clock, which each instance counts, are not added up. */
static bool is_mean(const struct stat_run *run, unsigned event)
{
	return pmu_selection_is_clock(pmu_session_event(run->session, event)) &&
	       stat_instances(run, event) > 1;
}

uint64_t stat_total(const struct stat_run *run, unsigned event, int socket)
{
	uint64_t sum = stat_sum(run, event, socket), instances = instances_on(run, event, socket);

	return is_mean(run, event) && instances ? sum / instances : sum;
}

/* Over several runs the mean. */
static uint64_t shown_total(const struct stat_run *run, unsigned event, int socket)
{
	if (run->runs < 2)
		return stat_total(run, event, socket);
	return isfinite(run->event_means[event].mean)
		   ? (uint64_t)(run->event_means[event].mean + 0.5)
		   : 0;
}

/* @param means  NULL where there was one run */
static const char *deviation(const struct stat_run *run, const struct mean *means, size_t which,
			     char text[MEAN_DEVIATION_MAX])
{
	*text = '\0';
	return run->runs > 1 ? mean_deviation_text(&means[which], run->runs, text) : text;
}

static void event_rows(const struct stat_run *run, struct table *table, unsigned event)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, event);
	char text[PMU_EVENT_TEXT_MAX], spread[MEAN_DEVIATION_MAX];

	pmu_event_print(selection, text, sizeof(text));
	for (unsigned column = 0; column < column_count(run); column++)
		if (!instances_on(run, event, (int)column - 1))
			table_cell(table, "%s", column ? "" : "not counted");
		else
			count_cell(table, stat_is_absent(run, selection),
				   shown_total(run, event, (int)column - 1));
	table_cell(table, "%s%s%s%s", text, deviation(run, run->event_means, event, spread),
		   stat_model(run, selection) == PMU_MODEL_APPROXIMATE ? "  (approximate)" : "",
		   is_mean(run, event) ? "  (mean of the instances)" : "");
	if (run->per_box)
		instance_rows(run, table, event);
}

static void metric_row(const struct stat_run *run, struct table *table,
		       const struct stat_metric *metric)
{
	double value = stat_metric_value(run, metric);
	const char *unit = stat_metric_show(run, metric, &value);
	const size_t which = (size_t)(metric - run->metrics);
	char why[STAT_WHY_MAX], spread[MEAN_DEVIATION_MAX];

	if (run->runs > 1)
		value = run->metric_means[which].mean;
	stat_metric_why(run, metric, why);
	if (!isfinite(value))
		table_cell(table, "not known");
	else if (value >= 0 && floor(value) == value && value < 1e18)
		table_number(table, (unsigned long long)value);
	else
		table_cell(table, "%.6g", value);
	for (unsigned column = 1; column < column_count(run); column++)
		table_cell(table, "%s", "");
	table_cell(table, "%s%s%s%s%s%s%s%s", metric->name, *unit ? "  [" : "", unit,
		   *unit ? "]" : "", deviation(run, run->metric_means, which, spread),
		   *why ? "  (" : "", why, *why ? ")" : "");
}

static void heading(const struct stat_run *run, struct table *table)
{
	table_cell(table, "%s", column_count(run) > 1 ? "TOTAL" : "COUNT");
	for (unsigned column = 1; column < column_count(run); column++)
		table_cell(table, "SOCKET %u", column - 1);
	table_cell(table, "EVENT");
}

static void print_head(const struct cli *cli, const struct stat_run *run, char **argv)
{
	char stead[PROGRAM_STEAD_MAX];

	if (!run->machine && !argv[0] && run->ran) {
		text_print(
		    cli->out, "\n%s on %s\n",
		    program_stead(stead, sizeof(stead), run->options.pid, run->options.cpu_list),
		    run->target);
	} else if (!run->machine && !argv[0]) {
		text_print(cli->out, "\nCounts from %s\n\n", run->target);
		return;
	} else
		text_print(cli->out, "\n%s on %s, exit code %d\n", argv[0], run->target, run->exit);
	if (run->timed_out)
		fprintf(cli->out, "ended after %.9g ms, as --timeout says\n",
			run->options.timeout_ms);
	if (run->counted_from > 0)
		fprintf(cli->out, "counted from %.6g ms on\n", run->counted_from * 1e3);
	if (run->groups > 1 && run->slices)
		fprintf(cli->out,
			"estimates: %zu groups of events counted by turns of %.9g ms; --why lists "
			"them\n",
			run->groups, run->options.multiplex_ms);
	else if (run->groups > 1)
		fprintf(cli->out,
			"run %zu times, once for each group of events; --why lists them\n",
			run->groups);
	if (run->runs > 1)
		fprintf(cli->out, "means of %u runs, with the standard deviation\n", run->runs);
	if (!run->machine) {
		fprintf(cli->out, "%.6f s, counted through %s, with everything else that ran%s\n\n",
			run->seconds, pmu_bus_transport(run->bus),
			run->options.cpu_list ? " there" : "");
		return;
	}
	fprintf(cli->out, "%.6f s on the machine, ", run->seconds);
	fprintf(cli->out, "%llu instructions, %llu core cycles\n\n",
		(unsigned long long)run->statistics.instructions,
		(unsigned long long)run->statistics.cycles);
}

static void print_natives(const struct cli *cli, const struct stat_run *run)
{
	struct pmu_native natives[PROGRAM_NATIVES_MAX];
	size_t count = stat_natives(run, natives);

	if (count)
		fputs("\nThese programs ran outside the machine and are not counted:\n\n",
		      cli->out);
	for (size_t i = 0; i < count; i++) {
		text_print(cli->out, "%8u  %s", natives[i].times, natives[i].path);
		text_print(cli->out, "  (%s)\n", natives[i].why);
	}
}

static void print_hints(const struct cli *cli, const struct stat_run *run)
{
	if (hints_ignored(run))
		fputs("\nPrefetch instructions and clflush did nothing: QEMU does not tell them; "
		      "--feed valgrind does.\n",
		      cli->out);
}

static int print_table(const struct cli *cli, const struct stat_run *run, char **argv)
{
	char columns[SOCKETS_MAX + 3] = "";
	struct table *table;
	int code;

	memset(columns, 'r', column_count(run));
	columns[column_count(run)] = 'l';
	table = table_new(columns);
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	print_head(cli, run, argv);
	heading(run, table);
	for (unsigned event = 0; event < pmu_session_events(run->session); event++)
		event_rows(run, table, event);
	for (size_t i = 0; i < run->metric_count; i++)
		metric_row(run, table, &run->metrics[i]);
	code = cli_print_table(cli, table);
	if (!code && run->attribution)
		code = run->options.by == STAT_BY_SOURCE ? annotate_print(cli, run)
							 : attribution_print(cli, run);
	print_natives(cli, run);
	print_hints(cli, run);
	if (run->machine && run->statistics.threads_not_measured)
		fprintf(cli->out,
			"\n%llu more threads or processes ran and are not counted: the machine "
			"executes one thread.\n",
			(unsigned long long)run->statistics.threads_not_measured);
	return code;
}

int stat_report(const struct cli *cli, const struct stat_run *run, char **argv)
{
	int code;

	if (cli_is_json(cli))
		code = print_json(cli, run, argv);
	else if (cli->format == CLI_CSV && run->attribution)
		code = attribution_print_csv(cli, run);
	else if (cli->format == CLI_CSV)
		code = stat_report_csv(cli, run);
	else
		code = print_table(cli, run, argv);
	return code ? code : cli_end_report(cli);
}
