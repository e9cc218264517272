#include "cli/stat_turns.h"

#include <stdlib.h>

#include "cli/beside.h"
#include "cli/descriptors.h"
#include "cli/host.h"
#include "cli/program.h"
#include "cli/slices.h"
#include "cli/stat_multiplex.h"
#include "cli/stat_separate.h"

/* Everything of the session is done in one thread, which owns run->session until it ends. */
struct turns {
	struct beside beside;
	struct cli cli; /* with its context */
	struct stat_run *run;
	struct pmu_session *plan;
	const struct pmu_child *child;
	unsigned *events; /* of the group that counts: what they are in the plan */
	size_t group;	  /* that counts */
	size_t kept;	  /* rows of run->group_counts */
	double mark;	  /* when the turn before ended; of the first one, when it began */
	sem_t counting;
};

static void begin_turn(struct turns *turns)
{
	struct stat_run *run = turns->run;
	int error;

	run->session = NULL;
	error = stat_separate_open(&turns->cli, run, turns->plan, turns->group, turns->events);
	if (!error && run->options.force)
		pmu_session_force(run->session);
	if (!error)
		error = host_guard(&turns->cli, run, turns->child);
	if (!error)
		error = pmu_session_start(run->session, turns->cli.ctx);
	if (!error && !turns->mark)
		turns->mark = beside_now();
	beside_failed(&turns->beside, error);
}

/* The row of the whole run that a count is added to. */
static struct pmu_count *find_row(struct turns *turns, const struct pmu_count *count)
{
	struct stat_run *run = turns->run;
	const unsigned event = turns->events[count->event];
	struct pmu_count *row = run->group_counts;

	for (size_t i = 0; i < turns->kept; i++, row++)
		if (row->event == event && row->socket == count->socket &&
		    row->instance == count->instance)
			return row;
	row = realloc(run->group_counts, (turns->kept + 1) * sizeof(*row));
	if (!row)
		return NULL;
	run->group_counts = row;
	row += turns->kept++;
	*row = *count;
	row->event = event;
	row->count = 0;
	return row;
}

/* @param elapsed  seconds since the mark, of which the counters ran for a part */
static int keep_counts(struct turns *turns, double elapsed)
{
	struct stat_run *run = turns->run;
	double seconds = run->count_count ? (double)run->counts[0].enabled_ns * 1e-9 : 0;

	for (size_t i = 0; i < run->count_count; i++) {
		struct pmu_count *row = find_row(turns, &run->counts[i]);

		if (!row)
			return PMU_E_NOMEM;
		row->count += run->counts[i].count;
	}
	for (unsigned event = 0; event < pmu_session_events(turns->plan); event++) {
		const bool counted = (size_t)pmu_session_pmu_of(turns->plan, event) == turns->group;
		uint64_t count = 0;

		for (size_t i = 0; i < run->count_count && counted; i++)
			if (turns->events[run->counts[i].event] == event)
				count += run->counts[i].count;
		slices_add(&run->slices[event], counted, count, seconds);
		if (elapsed > seconds)
			slices_add_gap(&run->slices[event], elapsed - seconds);
	}
	return 0;
}

/* Registers are given back whatever fails. */
static void end_turn(struct turns *turns)
{
	struct stat_run *run = turns->run;
	const double ended = beside_now(); /* what stopping takes is of the next turn */
	int error = turns->beside.error ? turns->beside.error
					: pmu_session_stop(run->session, turns->cli.ctx);

	if (!error)
		error =
		    pmu_session_read(run->session, turns->cli.ctx, &run->counts, &run->count_count);
	if (!error)
		error = keep_counts(turns, ended - turns->mark);
	turns->mark = ended;
	beside_failed(&turns->beside, error);
	if (run->session)
		beside_failed(&turns->beside, pmu_session_end(run->session, turns->cli.ctx));
	pmu_session_free(run->session);
	run->session = turns->plan;
	run->counts = NULL;
	run->count_count = 0;
}

static void *take_turns(void *arg)
{
	struct turns *turns = arg;
	bool ended = false;

	turns->cli.ctx = turns->beside.ctx;
	begin_turn(turns);
	sem_post(&turns->counting);
	while (!ended && !turns->beside.error) {
		ended = beside_wait(&turns->beside,
				    beside_now() + turns->run->options.multiplex_ms * 1e-3);
		end_turn(turns);
		turns->group = (turns->group + 1) % turns->run->groups;
		if (!ended && !turns->beside.error)
			begin_turn(turns);
	}
	if (turns->run->session != turns->plan)
		end_turn(turns);
	return NULL;
}

/* What a group counted in its turns stands for the whole time. */
static void estimate(const struct turns *turns)
{
	struct stat_run *run = turns->run;

	for (size_t i = 0; i < turns->kept; i++) {
		struct pmu_count *row = &run->group_counts[i];
		const struct slices *slices = &run->slices[row->event];

		if (slices->counted_seconds < slices->seconds)
			row->count = (uint64_t)((double)row->count / slices_share(slices) + 0.5);
	}
	run->counts = run->group_counts;
	run->count_count = turns->kept;
}

static int run_counted(const struct cli *cli, struct turns *turns, struct pmu_child *child,
		       char **argv)
{
	struct pmu_program_result end = {.size = sizeof(end)};
	struct stat_run *run = turns->run;
	int error, told, code = 0;

	turns->child = child;
	error = beside_begin(&turns->beside, cli, "take turns", take_turns, turns);
	if (error)
		return error;
	while (sem_wait(&turns->counting))
		;
	if (!turns->beside.error) {
		error = program_run_timed(cli, child, run->options.timeout_ms, &end);
		code = program_said(cli, error, &end, argv);
	}
	beside_join(&turns->beside);
	run->ran = end.ran;
	run->seconds = end.seconds;
	run->exit = argv[0] ? end.exit : 0;
	told = beside_end(&turns->beside, cli);
	return told ? told : code;
}

int stat_turns_measure(const struct cli *cli, struct stat_run *run, char **argv)
{
	struct turns turns = {.cli = *cli, .run = run, .plan = run->session};
	struct pmu_child *child;
	int error, code = stat_multiplex_init(cli, run);

	if (code)
		return code;
	turns.events = calloc(pmu_session_events(run->session) + 1, sizeof(*turns.events));
	if (!turns.events)
		return cli_error(cli, EXIT_FAILED, "out of memory for groups of events");
	sem_init(&turns.counting, 0, 0);
	descriptors_close_on_exec(cli->inherited);
	error = program_start(cli, &child, argv, run->options.pid);
	code = error ? cli_fail(cli, error) : run_counted(cli, &turns, child, argv);
	if (!error)
		pmu_child_free(child);
	if (!code)
		estimate(&turns);
	sem_destroy(&turns.counting);
	free(turns.events);
	return code;
}
