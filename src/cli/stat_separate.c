#include "cli/stat_separate.h"

#include <stdlib.h>
#include <string.h>

#include "cli/host.h"
#include "cli/stat_cpus.h"

int stat_separate_plan(const struct cli *cli, struct stat_run *run)
{
	int error;

	if (run->emul)
		return run->options.repeat_groups && !run->runs
			   ? cli_error(cli, 0,
				       "--repeat-groups is not needed: an emulated machine counts "
				       "all events in one run")
			   : 0;
	if (stat_turns_if_needed(run)) {
		/* Counts that are estimates have no columns in CSV. */
		if (cli->format == CLI_CSV)
			return 0;
		error = pmu_session_assign(run->session, cli->ctx);
		if (error != PMU_E_CONFLICT)
			return error ? cli_fail(cli, error) : 0;
		run->options.multiplex_ms = STAT_TURN_MS;
	}
	error = pmu_session_divide(run->session, cli->ctx);
	if (error)
		return cli_fail(cli, error);
	run->groups = pmu_session_pmus(run->session);
	return 0;
}

int stat_separate_open(const struct cli *cli, struct stat_run *run, struct pmu_session *plan,
		       size_t group, unsigned *events)
{
	int error = pmu_session_new(&run->session, cli->ctx, run->bus);

	/* They were there for the plan. */
	if (!error && stat_cpus_limit(cli, run))
		error = PMU_E_RANGE;
	for (unsigned event = 0; event < pmu_session_events(plan) && !error; event++) {
		int added;

		if ((size_t)pmu_session_pmu_of(plan, event) != group)
			continue;
		added = pmu_session_add(run->session, cli->ctx, pmu_session_event(plan, event));
		if (added < 0)
			error = added;
		else
			events[added] = event;
	}
	return error;
}

/* Those of the group that has run, beside those of the groups before. */
static int keep_counts(const struct cli *cli, struct stat_run *run, size_t *kept,
		       const unsigned *events)
{
	struct pmu_count *all =
	    realloc(run->group_counts, (*kept + run->count_count + 1) * sizeof(*all));

	if (!all)
		return cli_error(cli, EXIT_FAILED, "out of memory for counts");
	run->group_counts = all;
	for (size_t i = 0; i < run->count_count; i++) {
		all[*kept] = run->counts[i];
		all[(*kept)++].event = events[run->counts[i].event];
	}
	return 0;
}

static int measure_group(const struct cli *cli, struct stat_run *run, struct pmu_session *plan,
			 size_t group, size_t *kept, char **argv)
{
	unsigned *events = calloc(pmu_session_events(plan) + 1, sizeof(*events));
	int error, code = EXIT_FAILED;

	run->session = NULL;
	run->started = run->ran = false;
	if (!events)
		cli_error(cli, 0, "out of memory for a group of events");
	error = events ? stat_separate_open(cli, run, plan, group, events) : 0;
	if (events)
		code = error ? cli_fail(cli, error) : 0;
	if (!code)
		code = host_measure(cli, run, argv);
	if (!code)
		code = keep_counts(cli, run, kept, events);
	pmu_session_free(run->session);
	run->counts = NULL;
	run->count_count = 0;
	run->session = plan;
	free(events);
	return code;
}

int stat_separate_measure(const struct cli *cli, struct stat_run *run, char **argv)
{
	struct pmu_session *plan = run->session;
	double seconds = 0, counted_from = 0;
	size_t kept = 0;
	int exit = 0, code = 0;

	for (size_t group = 0; group < run->groups && !code; group++) {
		code = measure_group(cli, run, plan, group, &kept, argv);
		exit = exit ? exit : run->exit;
		seconds += run->seconds;
		counted_from += run->counted_from;
	}
	if (code)
		return code;
	run->exit = exit;
	run->seconds = seconds / (double)run->groups;
	run->counted_from = counted_from / (double)run->groups;
	run->counts = run->group_counts;
	run->count_count = kept;
	return 0;
}
