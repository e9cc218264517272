#include "cli/process_report.h"

#include <jansson.h>
#include <math.h>

#include "cli/program.h"
#include "cli/text.h"
#include "pmulab/host.h"

bool process_is_estimate(const struct pmu_process_count *count)
{
	return count->state == PMU_PROCESS_COUNTED && count->running_ns < count->enabled_ns;
}

uint64_t process_estimate(const struct pmu_process_count *count)
{
	/* A count that was whole is not turned into a floating point number. */
	return process_is_estimate(count) ? (uint64_t)(pmu_process_estimate(count) + 0.5)
					  : count->counted;
}

static const char *state_name(const struct pmu_process_count *count)
{
	static const char *const names[] = {
	    [PMU_PROCESS_COUNTED] = "counted",
	    [PMU_PROCESS_UNSUPPORTED] = "unsupported",
	    [PMU_PROCESS_NEVER_RAN] = "never ran",
	    [PMU_PROCESS_REFUSED] = "refused",
	};

	return names[count->state];
}

static double running_share(const struct pmu_process_count *count)
{
	return count->enabled_ns ? (double)count->running_ns / (double)count->enabled_ns : 0;
}

static json_t *count_json(const char *event, const struct pmu_process_count *count)
{
	bool counted = count->state == PMU_PROCESS_COUNTED;

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:f, s:b}", "event", event, "name",
			 count->event, "unit", count->unit, "state", state_name(count), "count",
			 counted ? cli_json_number(process_estimate(count)) : json_null(),
			 "counted", counted ? cli_json_number(count->counted) : json_null(),
			 "running", running_share(count), "user_only", count->user_only);
}

static json_t *runs_json(const struct process_run *run, const struct process_result *result)
{
	const unsigned runs = result->repeated;
	json_t *events = json_array();

	for (size_t i = 0; i < run->event_count; i++)
		json_array_append_new(events, mean_json(run->events[i], &result->means[i], runs));
	return json_pack("{s:i, s:o, s:o}", "count", runs, "events", events, "seconds",
			 mean_json("seconds", &result->seconds_mean, runs));
}

static int print_json(const struct cli *cli, const struct process_run *run,
		      const struct process_result *result, char **argv)
{
	json_t *json, *counts = json_array();

	for (size_t i = 0; i < run->event_count; i++)
		json_array_append_new(counts, count_json(run->events[i], &result->counts[i]));
	json = json_pack("{s:s, s:b, s:i, s:f, s:i, s:o}", "place", "perf_event", "ran", true,
			 "exit", result->exit, "seconds", result->seconds, "program_runs",
			 (int)result->runs, "counts", counts);
	if (run->delay_ms > 0)
		json_object_set_new(json, "counted_from", json_real(run->delay_ms * 1e-3));
	if (run->pid)
		json_object_set_new(json, "process", json_integer(run->pid));
	if (run->cpu_list)
		json_object_set_new(json, "cpus", json_string(run->cpu_list));
	if (result->repeated > 1)
		json_object_set_new(json, "runs", runs_json(run, result));
	return cli_print_json(cli, text_json_set(json, "command", argv));
}

static void count_cell(struct table *table, const struct pmu_process_count *count)
{
	if (count->state == PMU_PROCESS_COUNTED)
		table_number(table, process_estimate(count));
	else
		table_cell(table, "%s", "not counted");
}

static void note_cell(struct table *table, const char *event, const struct pmu_process_count *count)
{
	const char *unit = *count->unit ? "  [ns]" : "";
	const char *user =
	    count->user_only && count->state == PMU_PROCESS_COUNTED ? "  (user mode only)" : "";

	if (process_is_estimate(count))
		table_cell(table, "%s%s  (estimate: counted %.0f %% of the time, %llu)%s", event,
			   unit, 100 * running_share(count), (unsigned long long)count->counted,
			   user);
	else
		table_cell(table, "%s%s%s", event, unit, user);
}

static struct table *count_table(const struct cli *cli, const struct process_run *run,
				 const struct process_result *result)
{
	bool csv = cli->format == CLI_CSV;
	struct table *table = table_new(csv ? "rllr" : "rl");

	if (!table)
		return NULL;
	table_cell(table, "%s", csv ? "count" : "COUNT");
	table_cell(table, "%s", csv ? "event" : "EVENT");
	if (csv) {
		table_cell(table, "%s", "state");
		table_cell(table, "%s", "running");
	}
	for (size_t i = 0; i < run->event_count; i++) {
		const struct pmu_process_count *count = &result->counts[i];

		if (csv && count->state != PMU_PROCESS_COUNTED)
			table_cell(table, "%s", "");
		else
			count_cell(table, count);
		if (!csv) {
			note_cell(table, run->events[i], count);
			continue;
		}
		table_cell(table, "%s", run->events[i]);
		table_cell(table, "%s", state_name(count));
		table_cell(table, "%.6f", running_share(count));
	}
	return table;
}

static struct table *mean_table(const struct process_run *run, const struct process_result *result)
{
	struct table *table = table_new("rl");

	if (!table)
		return NULL;
	table_cell(table, "COUNT");
	table_cell(table, "EVENT");
	for (size_t i = 0; i < run->event_count; i++) {
		const struct mean *mean = &result->means[i];
		char spread[MEAN_DEVIATION_MAX];

		if (isfinite(mean->mean))
			table_number(table, (unsigned long long)(mean->mean + 0.5));
		else
			table_cell(table, "not counted");
		table_cell(table, "%s%s%s", run->events[i], *result->counts[i].unit ? "  [ns]" : "",
			   mean_deviation_text(mean, result->repeated, spread));
	}
	return table;
}

static struct table *mean_csv(const struct process_run *run, const struct process_result *result)
{
	struct table *table = table_new("llll");

	for (int i = 0; table && i < 4; i++)
		table_cell(table, "%s",
			   (const char *const[]){"mean", "deviation", "event", "state"}[i]);
	for (size_t i = 0; table && i < run->event_count; i++) {
		const struct mean *mean = &result->means[i];
		const bool known = isfinite(mean->mean);

		for (int column = 0; column < 2; column++)
			if (known)
				table_cell(table, "%.17g",
					   column ? mean_deviation(mean, result->repeated)
						  : mean->mean);
			else
				table_cell(table, "%s", "");
		table_cell(table, "%s", run->events[i]);
		table_cell(table, "%s", state_name(&result->counts[i]));
	}
	return table;
}

static struct table *any_table(const struct cli *cli, const struct process_run *run,
			       const struct process_result *result)
{
	if (result->repeated < 2)
		return count_table(cli, run, result);
	return cli->format == CLI_CSV ? mean_csv(run, result) : mean_table(run, result);
}

static size_t count_state(const struct process_run *run, const struct process_result *result,
			  enum pmu_process_state state)
{
	size_t found = 0;

	for (size_t i = 0; i < run->event_count; i++)
		found += result->counts[i].state == state;
	return found;
}

/* Says once why counts are missing. */
static void explain_missing(const struct cli *cli, const struct process_run *run,
			    const struct process_result *result)
{
	struct pmu_host *host = NULL;

	if (count_state(run, result, PMU_PROCESS_REFUSED))
		fprintf(cli->out,
			"\nNot counted: context switches and migrations are the kernel's doing; "
			"counting there needs CAP_PERFMON (sudo), or sysctl -w "
			"kernel.perf_event_paranoid=1.\n");
	if (!count_state(run, result, PMU_PROCESS_UNSUPPORTED))
		return;
	pmu_host_new(&host, NULL, NULL);
	fprintf(cli->out, "\nNot counted: nothing on this computer counts these events%s.\n",
		host && pmu_host_is_virtual(host)
		    ? "; it is a virtual machine, and its host gives it no PMU for them"
		    : "");
	fprintf(cli->out, "An emulated machine has one: pmulab stat -M MACHINE -- PROGRAM\n");
	pmu_host_free(host);
}

static void print_head(const struct cli *cli, const struct process_run *run,
		       const struct process_result *result, char **argv)
{
	char stead[PROGRAM_STEAD_MAX];
	const char *what = "the program and its children";

	if (run->cpu_count)
		what = "all that ran on these CPUs";
	else if (run->pid)
		what = "the process, and children that it has since";
	if (argv[0])
		text_print(cli->out, "%s on this computer, exit code %d\n", argv[0], result->exit);
	else
		text_print(cli->out, "%s on this computer\n",
			   program_stead(stead, sizeof(stead), run->pid, run->cpu_list));
	if (run->delay_ms > 0)
		fprintf(cli->out, "counted from %.6g ms on\n", run->delay_ms);
	fprintf(cli->out, "%.6f s, counted through perf_event, %s\n\n",
		result->repeated ? result->seconds_mean.mean : result->seconds, what);
	if (result->repeated > 1)
		fprintf(cli->out, "means of %u runs, with the standard deviation\n\n",
			result->repeated);
}

static int print_table(const struct cli *cli, const struct process_run *run,
		       const struct process_result *result, char **argv)
{
	struct table *table = any_table(cli, run, result);
	int code;

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	if (cli->format == CLI_CSV)
		return cli_print_table(cli, table);
	print_head(cli, run, result, argv);
	if (result->runs > 1)
		fprintf(cli->out, "run %zu times, until each event was counted all the time\n\n",
			result->runs);
	code = cli_print_table(cli, table);
	explain_missing(cli, run, result);
	return code;
}

int process_report(struct cli *cli, const struct process_run *run,
		   const struct process_result *result, char **argv)
{
	int code = cli_is_json(cli) ? print_json(cli, run, result, argv)
				    : print_table(cli, run, result, argv);

	return code ? code : cli_end_report(cli);
}
