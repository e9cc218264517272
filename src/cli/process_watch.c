#include "cli/process_watch.h"

#include <stdlib.h>

#include "cli/beside.h"
#include "cli/interval.h"
#include "cli/process_report.h"

struct process_watch {
	const struct cli *cli;
	const struct process_run *run;
	struct pmu_process *process;
	struct beside beside;
	double last;			     /* seconds from its begin, of the interval before */
	uint64_t before[PROCESS_EVENTS_MAX]; /* by event */
	bool counting;
};

static double now(const struct process_watch *watch)
{
	return beside_now() - watch->beside.began;
}

static void tell_interval(struct process_watch *watch, double time)
{
	const struct process_run *run = watch->run;
	struct pmu_process_count counts[PROCESS_EVENTS_MAX];
	struct interval_count rows[PROCESS_EVENTS_MAX];

	if (beside_failed(&watch->beside,
			  pmu_process_read(watch->process, watch->beside.ctx, counts)))
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
	double next = watch->beside.began + run->delay_ms * 1e-3;

	if (run->delay_ms > 0 && beside_wait(&watch->beside, next))
		return NULL;
	if (run->delay_ms > 0 &&
	    beside_failed(&watch->beside, pmu_process_begin(watch->process, watch->beside.ctx)))
		return NULL;
	watch->counting = true;
	watch->last = run->delay_ms > 0 ? now(watch) : 0;
	if (!(run->interval_ms > 0))
		return NULL;
	for (;;) {
		next += run->interval_ms * 1e-3;
		if (beside_wait(&watch->beside, next) || watch->beside.error)
			return NULL;
		tell_interval(watch, now(watch));
	}
}

int process_watch_begin(struct process_watch **out, const struct cli *cli,
			const struct process_run *run, struct pmu_process *process)
{
	struct process_watch *watch;
	int code;

	*out = NULL;
	if (!(run->interval_ms > 0) && !(run->delay_ms > 0))
		return 0;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	watch->cli = cli;
	watch->run = run;
	watch->process = process;
	if (run->interval_ms > 0)
		interval_begin(cli);
	code = beside_begin(&watch->beside, cli, "watch the program", run_watch, watch);
	if (code) {
		free(watch);
		return code;
	}
	*out = watch;
	return 0;
}

int process_watch_end(struct process_watch *watch)
{
	int code;

	if (!watch)
		return 0;
	beside_join(&watch->beside);
	if (watch->counting && watch->run->interval_ms > 0 && !watch->beside.error)
		tell_interval(watch, now(watch));
	if (watch->run->interval_ms > 0)
		interval_end(watch->cli);
	code = beside_end(&watch->beside, watch->cli);
	if (!code && !watch->counting && watch->run->delay_ms > 0)
		code = cli_error(watch->cli, EXIT_FAILED,
				 "the program ended before the delay of %.9g ms",
				 watch->run->delay_ms);
	free(watch);
	return code;
}
