#include "cli/stat_watch.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/stat_multiplex.h"

/* Between two looks at the clock. */
#define LOOK_NS		 500000
#define LOOK_PROGRESS_NS 100000000 /* where only the progress line is wanted */
#define PROGRESS_SECONDS 2.0	   /* of this computer, before the first line */

struct stat_watch {
	const struct cli *cli;
	struct stat_run *run;
	struct pmu_ctx *ctx;
	pthread_t thread;
	sem_t ended;
	double began, told; /* of this computer */
	double start_ns;    /* of the machine */
	double last;	    /* seconds, of the interval before */
	uint64_t *before;   /* by event */
	bool shown;	    /* a progress line */
	int error;
	char message[1024];
};

/* Of this computer. */
static double clock_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds of the measurement: the machine's, or this computer's. */
static double now(const struct stat_watch *watch)
{
	if (watch->run->emul)
		return (pmu_emul_time_ns(watch->run->emul) - watch->start_ns) * 1e-9;
	return clock_seconds() - watch->began;
}

static void fail(struct stat_watch *watch, int error)
{
	if (!watch->error)
		snprintf(watch->message, sizeof(watch->message), "%s", pmu_message(watch->ctx));
	watch->error = watch->error ? watch->error : error;
}

static void print_interval_json(const struct stat_watch *watch, double time,
				const uint64_t *difference)
{
	const struct stat_run *run = watch->run;
	json_t *counts = json_array();

	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(selection, text, sizeof(text));
		json_array_append_new(counts, json_pack("{s:s, s:o}", "event", text, "count",
							stat_is_absent(run, selection)
							    ? json_null()
							    : cli_json_number(difference[event])));
	}
	cli_print_json(watch->cli, json_pack("{s:f, s:f, s:o}", "seconds", time, "interval",
					     time - watch->last, "counts", counts));
}

static void print_interval(const struct stat_watch *watch, double time, const uint64_t *difference)
{
	const struct stat_run *run = watch->run;
	FILE *out = watch->cli->out;

	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);
		const bool absent = stat_is_absent(run, selection);
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(selection, text, sizeof(text));
		if (watch->cli->format == CLI_CSV)
			fprintf(out, "%.9f%c%s%c", time, cli_separator(watch->cli), text,
				cli_separator(watch->cli));
		else
			fprintf(out, "%14.9f  ", time);
		if (watch->cli->format == CLI_CSV && !absent)
			fprintf(out, "%llu\n", (unsigned long long)difference[event]);
		else if (watch->cli->format == CLI_CSV)
			fputc('\n', out);
		else if (absent)
			fprintf(out, "%16s  %s\n", "not modelled", text);
		else
			fprintf(out, "%16llu  %s\n", (unsigned long long)difference[event], text);
	}
}

/* What was counted since the call before, by event. @return of the heap; NULL: it failed */
static uint64_t *take_counts(struct stat_watch *watch)
{
	struct stat_run *run = watch->run;
	size_t events = pmu_session_events(run->session);
	uint64_t *difference = calloc(events + 1, sizeof(*difference));
	int error = pmu_session_read(run->session, watch->ctx, &run->counts, &run->count_count);

	if (error || !difference) {
		fail(watch, error ? error : PMU_E_NOMEM);
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
	if (watch->cli->format == CLI_JSONL)
		print_interval_json(watch, time, difference);
	else
		print_interval(watch, time, difference);
	fflush(watch->cli->out);
	watch->last = time;
	free(difference);
}

static void tell_progress(struct stat_watch *watch)
{
	const double seconds = clock_seconds() - watch->began;
	struct pmu_emul_statistics statistics = {.size = sizeof(statistics)};

	if (seconds < PROGRESS_SECONDS || clock_seconds() - watch->told < 0.5)
		return;
	watch->told = clock_seconds();
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
	int error = pmu_session_start(watch->run->session, watch->ctx);

	watch->run->started = !error;
	if (watch->run->options.multiplex_ms > 0)
		watch->last = now(watch);
	if (error)
		fail(watch, error);
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

static struct timespec next_look(const struct stat_watch *watch)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += is_timed(watch->run) ? LOOK_NS : LOOK_PROGRESS_NS;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void *run_watch(void *arg)
{
	struct stat_watch *watch = arg;
	struct timespec next;

	do {
		look(watch);
		next = next_look(watch);
	} while (sem_clockwait(&watch->ended, CLOCK_MONOTONIC, &next));
	return NULL;
}

static void watch_free(struct stat_watch *watch)
{
	pmu_ctx_free(watch->ctx);
	sem_destroy(&watch->ended);
	free(watch->before);
	free(watch);
}

int stat_watch_begin(struct stat_watch **out, const struct cli *cli, struct stat_run *run)
{
	struct stat_watch *watch;
	sigset_t all, before;
	int error;

	*out = NULL;
	if (!is_timed(run) && !(run->emul && isatty(STDERR_FILENO)))
		return 0;
	watch = calloc(1, sizeof(*watch));
	if (!watch || pmu_ctx_new(&watch->ctx)) {
		free(watch);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	watch->cli = cli;
	watch->run = run;
	watch->began = clock_seconds();
	watch->start_ns = run->emul ? pmu_emul_time_ns(run->emul) : 0;
	watch->before = calloc(pmu_session_events(run->session) + 1, sizeof(*watch->before));
	sem_init(&watch->ended, 0, 0);
	/* Signals are for the thread that runs the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = watch->before ? pthread_create(&watch->thread, NULL, run_watch, watch) : ENOMEM;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		watch_free(watch);
		return cli_error(cli, EXIT_FAILED, "cannot watch the program: %s", strerror(error));
	}
	*out = watch;
	return 0;
}

int stat_watch_end(struct stat_watch *watch)
{
	int code = 0;

	if (!watch)
		return 0;
	sem_post(&watch->ended);
	pthread_join(watch->thread, NULL);
	if (watch->shown)
		fputs("\r\033[K", stderr);
	if (!watch->error && watch->run->started && watch->run->options.interval_ms > 0)
		tell_interval(watch, now(watch));
	if (!watch->error && watch->run->started && watch->run->options.multiplex_ms > 0)
		take_slice(watch, now(watch));
	if (watch->error)
		code = cli_error(watch->cli, EXIT_FAILED, "%s", watch->message);
	watch_free(watch);
	return code;
}
