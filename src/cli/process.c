#include "cli/process.h"

#include <math.h>
#include <string.h>

#include "cli/process_report.h"
#include "cli/process_watch.h"
#include "cli/program.h"

/* libpfm4's names for what the kernel counts everywhere, if it counts at all. */
static const char *const everywhere[] = {
    "TASK-CLOCK",   "CONTEXT-SWITCHES", "CPU-MIGRATIONS", "PAGE-FAULTS",      "CYCLES",
    "INSTRUCTIONS", "BRANCHES",		"BRANCH-MISSES",  "CACHE-REFERENCES", "CACHE-MISSES",
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
	struct process_watch *watch = NULL;
	struct pmu_child *child;
	int code, watched, error = program_start(cli, &child, argv, run->pid);

	if (error)
		return cli_fail(cli, error);
	if (run->delay_ms > 0)
		pmu_process_hold(process);
	error = start_counting(cli, run, process, child);
	code = error ? cli_fail(cli, error) : process_watch_begin(&watch, cli, run, process);
	if (code)
		goto out;
	error = program_run_timed(cli, child, run->timeout_ms, ended);
	watched = process_watch_end(watch);
	code = program_said(cli, error, ended, argv);
	code = code ? code : watched;
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
			const struct wish *wish, char **argv, struct process_result *result,
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

/* Others had its counter for a while, or always. */
static bool is_shared(const struct pmu_process_count *count)
{
	return process_is_estimate(count) || count->state == PMU_PROCESS_NEVER_RAN;
}

static int measure(const struct cli *cli, const struct process_run *run, char **argv,
		   struct process_result *result)
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

static void forget_runs(struct process_result *result)
{
	while (result->runs)
		pmu_process_free(result->processes[--result->runs]);
	result->seconds = 0;
}

static void add_to_means(const struct process_run *run, struct process_result *result)
{
	result->repeated++;
	for (size_t i = 0; i < run->event_count; i++) {
		const struct pmu_process_count *count = &result->counts[i];

		mean_add(&result->means[i],
			 count->state == PMU_PROCESS_COUNTED ? (double)process_estimate(count)
							     : NAN,
			 result->repeated);
	}
	mean_add(&result->seconds_mean, result->seconds, result->repeated);
}

static int measure_all(const struct cli *cli, const struct process_run *run, char **argv,
		       struct process_result *result)
{
	int code = 0;

	if (!run->repeat)
		return measure(cli, run, argv, result);
	for (unsigned i = 0; i < run->repeat && !code; i++) {
		forget_runs(result);
		code = measure(cli, run, argv, result);
		if (!code)
			add_to_means(run, result);
	}
	return code;
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
	struct process_result result = {0};
	int code;

	if (!run->event_count) {
		run->event_count = sizeof(everywhere) / sizeof(everywhere[0]);
		memcpy(run->events, everywhere, sizeof(everywhere));
	}
	code = check_events(cli, run);
	if (!code)
		code = cli_open_output(cli, run->output);
	if (!code)
		code = measure_all(cli, run, argv, &result);
	if (!code)
		code = process_report(cli, run, &result, argv);
	code = cli_close_output(cli, code);
	forget_runs(&result);
	return code ? code : result.exit;
}
