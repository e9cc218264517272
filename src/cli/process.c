#include "cli/process.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cli/program.h"
#include "cli/text.h"
#include "pmulab/host.h"
#include "pmulab/process.h"

/* libpfm4's names for what the kernel counts everywhere, if it counts at all. */
static const char *const everywhere[] = {
    "TASK-CLOCK",   "CONTEXT-SWITCHES", "CPU-MIGRATIONS", "PAGE-FAULTS",      "CYCLES",
    "INSTRUCTIONS", "BRANCHES",		"BRANCH-MISSES",  "CACHE-REFERENCES", "CACHE-MISSES",
};

#define RUNS_MAX (2 * ROUNDS_EVENTS_MAX) /* each ends an event, or halves their number */

struct result {
	struct pmu_process_count counts[PROCESS_EVENTS_MAX];
	struct pmu_process *processes[RUNS_MAX]; /* of each run, whose names the counts have */
	size_t runs;
	double seconds; /* mean of the runs */
	int exit;	/* the first that is not 0 */
};

/* What a run is asked for. */
struct wish {
	size_t which[ROUNDS_EVENTS_MAX]; /* of the events */
	size_t count;
};

static int add_events(const struct cli *cli, const struct process_run *run, const struct wish *wish,
		      struct pmu_process *process)
{
	for (size_t i = 0; i < wish->count; i++) {
		int index = pmu_process_add(process, cli->ctx, run->events[wish->which[i]]);

		if (index < 0)
			return cli_fail(cli, index);
	}
	return 0;
}

/* Whom the events are of. */
static int start_counting(const struct cli *cli, const struct process_run *run,
			  struct pmu_process *process, const struct pmu_child *child)
{
	if (run->cpu_count)
		return pmu_process_start_on(process, cli->ctx, run->cpus, run->cpu_count);
	if (run->pid)
		return pmu_process_attach(process, cli->ctx, run->pid);
	return pmu_process_start(process, cli->ctx, pmu_child_pid(child));
}

static int run_program(const struct cli *cli, const struct process_run *run,
		       struct pmu_process *process, char **argv, struct pmu_process_count *counts,
		       struct pmu_program_result *ended)
{
	struct pmu_child *child;
	int code, error = program_start(cli, &child, argv, run->pid);

	if (error)
		return cli_fail(cli, error);
	error = start_counting(cli, run, process, child);
	if (error) {
		code = cli_fail(cli, error);
		goto out;
	}
	error = program_run_timed(cli, child, run->timeout_ms, ended);
	code = program_said(cli, error, ended, argv);
	if (code)
		goto out;
	error = pmu_process_read(process, cli->ctx, counts);
	code = error ? cli_fail(cli, error) : 0;
out:
	pmu_child_free(child);
	return code;
}

/* One run. @param counts  receives those of the wish */
static int measure_once(const struct cli *cli, const struct process_run *run,
			const struct wish *wish, char **argv, struct result *result,
			struct pmu_process_count *counts)
{
	struct pmu_program_result ended = {.size = sizeof(ended)};
	struct pmu_process **process = &result->processes[result->runs];
	int code, error = pmu_process_new(process, cli->ctx);

	if (error)
		return cli_fail(cli, error);
	result->runs++;
	code = add_events(cli, run, wish, *process);
	if (!code)
		code = run_program(cli, run, *process, argv, counts, &ended);
	result->seconds += (ended.seconds - result->seconds) / (double)result->runs;
	/* What ends a wait is no failure. */
	if (argv[0] && !result->exit)
		result->exit = ended.exit;
	return code;
}

static bool is_estimate(const struct pmu_process_count *count)
{
	return count->state == PMU_PROCESS_COUNTED && count->running_ns < count->enabled_ns;
}

/* Others had its counter for a while, or always. */
static bool is_shared(const struct pmu_process_count *count)
{
	return is_estimate(count) || count->state == PMU_PROCESS_NEVER_RAN;
}

static int measure(const struct cli *cli, const struct process_run *run, char **argv,
		   struct result *result)
{
	struct rounds rounds;
	struct wish wish;
	int code = 0;

	rounds_init(&rounds, run->event_count);
	while (!code && (wish.count = rounds_next(&rounds, wish.which)) != 0) {
		struct pmu_process_count counts[PROCESS_EVENTS_MAX];
		bool whole[PROCESS_EVENTS_MAX];

		code = measure_once(cli, run, &wish, argv, result, counts);
		for (size_t i = 0; i < wish.count && !code; i++) {
			result->counts[wish.which[i]] = counts[i];
			whole[i] = !run->repeat_groups || !is_shared(&counts[i]);
		}
		if (!code)
			rounds_take(&rounds, wish.which, whole, wish.count);
	}
	return code;
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
	/* A count that was whole is not turned into a floating point number. */
	uint64_t estimate =
	    is_estimate(count) ? (uint64_t)(pmu_process_estimate(count) + 0.5) : count->counted;

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:f, s:b}", "event", event, "name",
			 count->event, "unit", count->unit, "state", state_name(count), "count",
			 counted ? cli_json_number(estimate) : json_null(), "counted",
			 counted ? cli_json_number(count->counted) : json_null(), "running",
			 running_share(count), "user_only", count->user_only);
}

static int print_json(const struct cli *cli, const struct process_run *run,
		      const struct result *result, char **argv)
{
	json_t *json, *counts = json_array();

	for (size_t i = 0; i < run->event_count; i++)
		json_array_append_new(counts, count_json(run->events[i], &result->counts[i]));
	json = json_pack("{s:s, s:b, s:i, s:f, s:i, s:o}", "place", "perf_event", "ran", true,
			 "exit", result->exit, "seconds", result->seconds, "program_runs",
			 (int)result->runs, "counts", counts);
	if (run->pid)
		json_object_set_new(json, "process", json_integer(run->pid));
	if (run->cpu_list)
		json_object_set_new(json, "cpus", json_string(run->cpu_list));
	return cli_print_json(cli, text_json_set(json, "command", argv));
}

static void count_cell(struct table *table, const struct pmu_process_count *count)
{
	if (is_estimate(count))
		table_number(table, (unsigned long long)(pmu_process_estimate(count) + 0.5));
	else if (count->state == PMU_PROCESS_COUNTED)
		table_number(table, count->counted);
	else
		table_cell(table, "%s", "not counted");
}

static void note_cell(struct table *table, const char *event, const struct pmu_process_count *count)
{
	const char *unit = *count->unit ? "  [ns]" : "";
	const char *user =
	    count->user_only && count->state == PMU_PROCESS_COUNTED ? "  (user mode only)" : "";

	if (is_estimate(count))
		table_cell(table, "%s%s  (estimate: counted %.0f %% of the time, %llu)%s", event,
			   unit, 100 * running_share(count), (unsigned long long)count->counted,
			   user);
	else
		table_cell(table, "%s%s%s", event, unit, user);
}

static struct table *count_table(const struct cli *cli, const struct process_run *run,
				 const struct result *result)
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

static size_t count_state(const struct process_run *run, const struct result *result,
			  enum pmu_process_state state)
{
	size_t found = 0;

	for (size_t i = 0; i < run->event_count; i++)
		found += result->counts[i].state == state;
	return found;
}

/* Says once why counts are missing. */
static void explain_missing(const struct cli *cli, const struct process_run *run,
			    const struct result *result)
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
		       const struct result *result, char **argv)
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
	fprintf(cli->out, "%.6f s, counted through perf_event, %s\n\n", result->seconds, what);
}

static int print_table(const struct cli *cli, const struct process_run *run,
		       const struct result *result, char **argv)
{
	struct table *table = count_table(cli, run, result);
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

static int report(struct cli *cli, const struct process_run *run, const struct result *result,
		  char **argv)
{
	int code;

	code = cli_is_json(cli) ? print_json(cli, run, result, argv)
				: print_table(cli, run, result, argv);
	return code ? code : cli_end_report(cli);
}

static int open_output(struct cli *cli, const struct process_run *run)
{
	if (!run->output)
		return 0;
	cli->out = strcmp(run->output, "-") ? fopen(run->output, "we") : stdout;
	return cli->out ? 0
			: cli_error(cli, EXIT_FAILED, "cannot write %s: %s", run->output,
				    strerror(errno));
}

/* Whether all names are known, before anything runs. */
static int check_events(const struct cli *cli, const struct process_run *run)
{
	struct wish all = {.count = run->event_count};
	struct pmu_process *process;
	int code, error = pmu_process_new(&process, cli->ctx);

	if (error)
		return cli_fail(cli, error);
	for (size_t i = 0; i < all.count; i++)
		all.which[i] = i;
	code = add_events(cli, run, &all, process);
	pmu_process_free(process);
	return code;
}

int process_stat(struct cli *cli, struct process_run *run, char **argv)
{
	struct result result = {0};
	int code;

	if (!run->event_count) {
		run->event_count = sizeof(everywhere) / sizeof(everywhere[0]);
		memcpy(run->events, everywhere, sizeof(everywhere));
	}
	code = check_events(cli, run);
	if (!code)
		code = open_output(cli, run);
	if (!code)
		code = measure(cli, run, argv, &result);
	if (!code)
		code = report(cli, run, &result, argv);
	if (run->output && cli->out && cli->out != stdout && cli->out != stderr)
		fclose(cli->out);
	for (size_t i = 0; i < result.runs; i++)
		pmu_process_free(result.processes[i]);
	return code ? code : result.exit;
}
