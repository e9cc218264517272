#include <math.h>
#include <stdio.h>

#include "cli/program.h"
#include "cli/report.h"
#include "cli/stat_metric.h"

/* What is no count, in the place of one. */
static void csv_fact(const struct stat_run *run, struct table *table, const char *name,
		     const char *format, double value, const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	table_cell(table, "%s", name);
	for (int column = 1; column < 5; column++)
		table_cell(table, "%s", column == 1 ? pmu_pmu_name(run->pmu) : "");
	table_cell(table, "%s", text);
	table_cell(table, "%s", unit);
}

/* In the columns of an event: the program, how often it ran, and why it is not counted. */
static void csv_natives(const struct stat_run *run, struct table *table)
{
	struct pmu_native natives[PROGRAM_NATIVES_MAX];
	size_t count = stat_natives(run, natives);

	for (size_t i = 0; i < count; i++) {
		table_cell(table, "%s", natives[i].path);
		for (int column = 1; column < 5; column++)
			table_cell(table, "%s", "");
		table_number(table, natives[i].times);
		table_cell(table, "outside the machine: %s", natives[i].why);
	}
}

static const char *box_of(const struct stat_metric *metric)
{
	return metric->box ? pmu_box_name(metric->box) : "";
}

/* Means are of values as they are shown. */
static const char *unit_of(const struct stat_run *run, const struct stat_metric *metric)
{
	double value = 0;

	return stat_metric_show(run, metric, &value);
}

static void mean_cells(const struct stat_run *run, struct table *table, const struct mean *mean)
{
	if (isfinite(mean->mean)) {
		table_cell(table, "%.17g", mean->mean);
		table_cell(table, "%.17g", mean_deviation(mean, run->runs));
	} else {
		table_cell(table, "%s", "");
		table_cell(table, "%s", "");
	}
}

/* @param box  "" where it is of none */
static void mean_row(const struct stat_run *run, struct table *table, const char *name,
		     const char *box, const struct mean *mean, const char *unit)
{
	table_cell(table, "%s", name);
	table_cell(table, "%s", pmu_pmu_name(run->pmu));
	table_cell(table, "%s", box);
	mean_cells(run, table, mean);
	table_cell(table, "%s", unit);
}

/* Of several runs: means over all boxes, and standard deviations. */
static int print_means(const struct cli *cli, const struct stat_run *run)
{
	static const char *const heading[] = {"event", "pmu", "box", "mean", "deviation", "unit"};
	struct table *table = table_new("llllll");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (int i = 0; i < 6; i++)
		table_cell(table, "%s", heading[i]);
	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(selection, text, sizeof(text));
		mean_row(run, table, text, pmu_box_name(selection->box), &run->event_means[event],
			 "");
	}
	for (size_t i = 0; i < run->metric_count; i++)
		mean_row(run, table, run->metrics[i].name, box_of(&run->metrics[i]),
			 &run->metric_means[i], unit_of(run, &run->metrics[i]));
	table_cell(table, "exit");
	table_cell(table, "%s", pmu_pmu_name(run->pmu));
	table_cell(table, "%s", "");
	table_cell(table, "%d", run->exit);
	table_cell(table, "%s", "");
	table_cell(table, "%s", "");
	mean_row(run, table, "seconds", "", &run->seconds_mean, "s");
	return cli_print_table(cli, table);
}

static int print_counts(const struct cli *cli, const struct stat_run *run)
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
		char event[PMU_EVENT_TEXT_MAX];

		pmu_event_print(selection, event, sizeof(event));
		table_cell(table, "%s", event);
		table_cell(table, "%s", pmu_pmu_name(selection->pmu));
		table_cell(table, "%s", pmu_box_name(selection->box));
		table_number(table, count->socket);
		table_number(table, count->instance);
		if (stat_is_absent(run, selection))
			table_cell(table, "%s", "");
		else
			table_number(table, count->count);
		table_cell(table, "%s", cli_model_name(stat_model(run, selection)));
	}
	for (size_t i = 0; i < run->metric_count; i++) {
		const struct stat_metric *metric = &run->metrics[i];
		double value = stat_metric_value(run, metric);
		const char *unit = stat_metric_show(run, metric, &value);

		table_cell(table, "%s", metric->name);
		table_cell(table, "%s", pmu_pmu_name(run->pmu));
		table_cell(table, "%s", box_of(metric));
		table_cell(table, "%s", "");
		table_cell(table, "%s", "");
		if (isfinite(value))
			table_cell(table, "%.17g", value);
		else
			table_cell(table, "%s", "");
		table_cell(table, "%s", unit);
	}
	if (run->counted_from > 0)
		csv_fact(run, table, "counted_from", "%.9f", run->counted_from, "s");
	if (run->ran) {
		csv_fact(run, table, "exit", "%.0f", run->exit, "");
		if (isfinite(run->seconds))
			csv_fact(run, table, "seconds", "%.9f", run->seconds, "s");
	}
	csv_natives(run, table);
	return cli_print_table(cli, table);
}

int stat_report_csv(const struct cli *cli, const struct stat_run *run)
{
	return run->runs > 1 ? print_means(cli, run) : print_counts(cli, run);
}
