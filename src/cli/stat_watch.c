#include "cli/stat_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/beside.h"
#include "cli/interval.h"
#include "cli/stat_multiplex.h"

/* Between two looks at the clock. */
#define LOOK		 0.0005 /* seconds */
#define LOOK_PROGRESS	 0.1	/* where only the progress line is wanted */
#define PROGRESS_SECONDS 2.0	/* of this computer, before the first line */

struct stat_watch {
	const struct cli *cli;
	struct stat_run *run;
	struct beside beside;
	double told;	  /* of this computer */
	double start_ns;  /* of the machine */
	double last;	  /* seconds, of the interval before */
	uint64_t *before; /* by event */
	bool shown;	  /* a progress line */
};

/* Seconds of the measurement: the machine's, or this computer's. */
static double now(const struct stat_watch *watch)
{
	if (watch->run->emul)
		return (pmu_emul_time_ns(watch->run->emul) - watch->start_ns) * 1e-9;
	return beside_now() - watch->beside.began;
}

static void print_interval(const struct stat_watch *watch, double time, const uint64_t *difference)
{
	const struct stat_run *run = watch->run;
	const size_t events = pmu_session_events(run->session);
	struct interval_count *counts = calloc(events + 1, sizeof(*counts));
	char(*texts)[PMU_EVENT_TEXT_MAX] = calloc(events + 1, sizeof(*texts));

	for (unsigned event = 0; counts && texts && event < events; event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);

		pmu_event_print(selection, texts[event], sizeof(texts[event]));
		counts[event] = (struct interval_count){
		    .event = texts[event],
		    .missing = stat_is_absent(run, selection) ? "not modelled" : NULL,
		    .count = difference[event],
		};
	}
	if (counts && texts)
		interval_print(watch->cli, time, time - watch->last, counts, events);
	free(counts);
	free(texts);
}

/* What was counted since the call before, by event. @return of the heap; NULL: it failed */
static uint64_t *take_counts(struct stat_watch *watch)
{
	struct stat_run *run = watch->run;
	size_t events = pmu_session_events(run->session);
	uint64_t *difference = calloc(events + 1, sizeof(*difference));
	int error =
	    pmu_session_read(run->session, watch->beside.ctx, &run->counts, &run->count_count);

	if (error || !difference) {
		beside_failed(&watch->beside, error ? error : PMU_E_NOMEM);
		free(difference);
		return NULL;
	}
	for (unsigned event = 0; event < events; event++) {
		uint64_t count = stat_total(run, event, -1);

		difference[event] = count - watch->before[event];
		watch->before[event] = count;
	}
	return difference;
}

static void take_slice(struct stat_watch *watch, double time)
{
	uint64_t *difference = take_counts(watch);

	if (difference)
		stat_multiplex_add(watch->run, difference, time - watch->last);
	watch->last = time;
	free(difference);
}

static void tell_interval(struct stat_watch *watch, double time)
{
	uint64_t *difference = take_counts(watch);

	if (!difference)
		return;
	print_interval(watch, time, difference);
	watch->last = time;
	free(difference);
}

static void tell_progress(struct stat_watch *watch)
{
	const double seconds = beside_now() - watch->beside.began;
	struct pmu_emul_statistics statistics = {.size = sizeof(statistics)};

	if (seconds < PROGRESS_SECONDS || beside_now() - watch->told < 0.5)
		return;
	watch->told = beside_now();
	watch->shown = true;
	pmu_emul_statistics(watch->run->emul, &statistics);
	fprintf(stderr,
		"\r%.0f s: %.3f ms on the machine, %.0f million instructions, %.0f a second ",
		seconds, now(watch) * 1e3, (double)statistics.instructions * 1e-6,
		(double)statistics.instructions * 1e-6 / seconds);
}

/* The delay is over: what was assigned before is programmed. */
static void start_late(struct stat_watch *watch)
{
	struct stat_run *run = watch->run;
	int error = pmu_session_start(run->session, watch->beside.ctx);

	run->started = !error;
	run->counted_from = watch->last = now(watch);
	run->before_counting.size = sizeof(run->before_counting);
	if (run->emul)
		pmu_emul_statistics(run->emul, &run->before_counting);
	beside_failed(&watch->beside, error);
}

static void look(struct stat_watch *watch)
{
	struct stat_run *run = watch->run;
	const struct stat_options *options = &run->options;
	const double time = now(watch);

	if (!run->started && time * 1e3 >= options->delay_ms)
		start_late(watch);
	if (run->started && options->interval_ms > 0 &&
	    (time - watch->last) * 1e3 >= options->interval_ms)
		tell_interval(watch, time);
	if (run->started && options->multiplex_ms > 0 &&
	    (time - watch->last) * 1e3 >= options->multiplex_ms)
		take_slice(watch, time);
	if (options->timeout_ms > 0 && time * 1e3 >= options->timeout_ms && !run->timed_out) {
		run->timed_out = true;
		/* What this process gets is passed on to the program, unless kill() of its own
		 * sent it. */
		sigqueue(getpid(), SIGTERM, (union sigval){0});
	}
	if (run->emul && isatty(STDERR_FILENO) && !options->interval_ms)
		tell_progress(watch);
}

static bool is_timed(const struct stat_run *run)
{
	const struct stat_options *options = &run->options;

	return options->interval_ms > 0 || options->timeout_ms > 0 || options->delay_ms > 0 ||
	       options->multiplex_ms > 0;
}

static void *run_watch(void *arg)
{
	struct stat_watch *watch = arg;
	const double between = is_timed(watch->run) ? LOOK : LOOK_PROGRESS;

	do
		look(watch);
	while (!beside_wait(&watch->beside, beside_now() + between));
	return NULL;
}

static void watch_free(struct stat_watch *watch)
{
	if (watch)
		free(watch->before);
	free(watch);
}

int stat_watch_begin(struct stat_watch **out, const struct cli *cli, struct stat_run *run)
{
	struct stat_watch *watch;
	int code;

	*out = NULL;
	if (!is_timed(run) && !(run->emul && isatty(STDERR_FILENO)))
		return 0;
	watch = calloc(1, sizeof(*watch));
	if (watch)
		watch->before =
		    calloc(pmu_session_events(run->session) + 1, sizeof(*watch->before));
	if (!watch || !watch->before) {
		watch_free(watch);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	watch->cli = cli;
	watch->run = run;
	watch->start_ns = run->emul ? pmu_emul_time_ns(run->emul) : 0;
	if (run->options.interval_ms > 0)
		interval_begin(cli);
	code = beside_begin(&watch->beside, cli, "watch the program", run_watch, watch);
	if (code) {
		watch_free(watch);
		return code;
	}
	*out = watch;
	return 0;
}

int stat_watch_end(struct stat_watch *watch)
{
	int code;

	if (!watch)
		return 0;
	beside_join(&watch->beside);
	if (watch->shown)
		fputs("\r\033[K", stderr);
	if (!watch->beside.error && watch->run->started && watch->run->options.interval_ms > 0)
		tell_interval(watch, now(watch));
	if (watch->run->options.interval_ms > 0)
		interval_end(watch->cli);
	if (!watch->beside.error && watch->run->started && watch->run->options.multiplex_ms > 0)
		take_slice(watch, now(watch));
	code = beside_end(&watch->beside, watch->cli);
	watch_free(watch);
	return code;
}
