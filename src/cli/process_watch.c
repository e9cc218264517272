#include "cli/process_watch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/beside.h"
#include "cli/interval.h"
#include "cli/process_report.h"

struct process_watch {
	const struct cli *cli;
	const struct process_run *run;
	struct pmu_process *process;
	struct pmu_ctx *ctx;
	pthread_t thread;
	sem_t ended;
	double began;			     /* by beside_now() */
	double last;			     /* seconds from there, of the interval before */
	uint64_t before[PROCESS_EVENTS_MAX]; /* by event */
	bool counting;
	int error;
	char message[1024];
};

static double now(const struct process_watch *watch)
{
	return beside_now() - watch->began;
}

static bool failed(struct process_watch *watch, int error)
{
	if (error && !watch->error) {
		watch->error = error;
		snprintf(watch->message, sizeof(watch->message), "%s", pmu_message(watch->ctx));
	}
	return watch->error;
}

static void tell_interval(struct process_watch *watch, double time)
{
	const struct process_run *run = watch->run;
	struct pmu_process_count counts[PROCESS_EVENTS_MAX];
	struct interval_count rows[PROCESS_EVENTS_MAX];

	if (failed(watch, pmu_process_read(watch->process, watch->ctx, counts)))
		return;
	for (size_t i = 0; i < run->event_count; i++) {
		const uint64_t all = process_estimate(&counts[i]);
		const bool counted = counts[i].state == PMU_PROCESS_COUNTED;

		/* An estimate of all that there was may become smaller. */
		rows[i] = (struct interval_count){
		    .event = run->events[i],
		    .missing = counted ? NULL : "not counted",
		    .count = all > watch->before[i] ? all - watch->before[i] : 0,
		};
		watch->before[i] = all;
	}
	interval_print(watch->cli, time, time - watch->last, rows, run->event_count);
	watch->last = time;
}

static void *run_watch(void *arg)
{
	struct process_watch *watch = arg;
	const struct process_run *run = watch->run;
	double next = watch->began + run->delay_ms * 1e-3;

	if (run->delay_ms > 0 && beside_wait(&watch->ended, next))
		return NULL;
	if (run->delay_ms > 0 && failed(watch, pmu_process_begin(watch->process, watch->ctx)))
		return NULL;
	watch->counting = true;
	watch->last = run->delay_ms > 0 ? now(watch) : 0;
	if (!(run->interval_ms > 0))
		return NULL;
	for (;;) {
		next += run->interval_ms * 1e-3;
		if (beside_wait(&watch->ended, next) || watch->error)
			return NULL;
		tell_interval(watch, now(watch));
	}
}

static void watch_free(struct process_watch *watch)
{
	pmu_ctx_free(watch->ctx);
	sem_destroy(&watch->ended);
	free(watch);
}

int process_watch_begin(struct process_watch **out, const struct cli *cli,
			const struct process_run *run, struct pmu_process *process)
{
	struct process_watch *watch;
	int error;

	*out = NULL;
	if (!(run->interval_ms > 0) && !(run->delay_ms > 0))
		return 0;
	watch = calloc(1, sizeof(*watch));
	if (!watch || pmu_ctx_new(&watch->ctx)) {
		free(watch);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	watch->cli = cli;
	watch->run = run;
	watch->process = process;
	watch->began = beside_now();
	sem_init(&watch->ended, 0, 0);
	error = beside_start(&watch->thread, run_watch, watch);
	if (error) {
		watch_free(watch);
		return cli_error(cli, EXIT_FAILED, "cannot watch the program: %s", strerror(error));
	}
	*out = watch;
	return 0;
}

int process_watch_end(struct process_watch *watch)
{
	int code = 0;

	if (!watch)
		return 0;
	sem_post(&watch->ended);
	pthread_join(watch->thread, NULL);
	if (watch->counting && watch->run->interval_ms > 0 && !watch->error)
		tell_interval(watch, now(watch));
	if (watch->error)
		code = cli_error(watch->cli, EXIT_FAILED, "%s", watch->message);
	else if (!watch->counting && watch->run->delay_ms > 0)
		code = cli_error(watch->cli, EXIT_FAILED,
				 "the program ended before the delay of %.9g ms",
				 watch->run->delay_ms);
	watch_free(watch);
	return code;
}
