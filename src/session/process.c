#include "pmulab/process.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/name.h"
#include "bus/perf_event.h"

struct counted_event {
	struct perf_event_attr attr;
	char *name; /* libpfm4's full name */
	int fd;	    /* -1: nothing counts it */
	bool user_only, refused;
};

struct pmu_process {
	struct counted_event *events;
	size_t count;
};

int pmu_process_new(struct pmu_process **out, struct pmu_ctx *ctx)
{
	int result = pfm_initialize();

	if (result != PFM_SUCCESS)
		return error_set(ctx, PMU_E_UNSUPPORTED, "libpfm4 does not start: %s",
				 pfm_strerror(result));
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : error_set(ctx, PMU_E_NOMEM, "out of memory for counting a program");
}

static void stop(struct pmu_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		if (process->events[i].fd >= 0)
			close(process->events[i].fd);
		process->events[i].fd = -1;
	}
}

void pmu_process_free(struct pmu_process *process)
{
	if (!process)
		return;
	stop(process);
	for (size_t i = 0; i < process->count; i++)
		free(process->events[i].name);
	free(process->events);
	free(process);
}

static void offer_names(struct name_guess *guess)
{
	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) || !info.is_present)
			continue;
		for (int i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t event = {.size = sizeof(event)};

			if (!pfm_get_event_info(i, PFM_OS_NONE, &event))
				name_guess_offer(guess, event.name);
		}
	}
}

static int refuse_name(struct pmu_ctx *ctx, const char *event, int result)
{
	struct name_guess guess;

	if (result != PFM_ERR_NOTFOUND)
		return error_set(ctx, PMU_E_SYNTAX, "%s: libpfm4 says: %s", event,
				 pfm_strerror(result));
	name_guess_init(&guess, event);
	offer_names(&guess);
	return error_set(ctx, PMU_E_UNKNOWN,
			 "libpfm4 knows no event %s on this computer%s%s; valid are, among others, "
			 "CYCLES, INSTRUCTIONS, CACHE-MISSES, PAGE-FAULTS",
			 event, guess.best ? "; did you mean " : "", guess.best ? guess.best : "");
}

int pmu_process_add(struct pmu_process *process, struct pmu_ctx *ctx, const char *event)
{
	struct counted_event *events =
	    realloc(process->events, (process->count + 1) * sizeof(*events));
	struct counted_event *added;
	pfm_perf_encode_arg_t encode = {.size = sizeof(encode)};
	int result;

	if (!events)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for event %s", event);
	process->events = events;
	added = &events[process->count];
	*added = (struct counted_event){.fd = -1};
	encode.attr = &added->attr;
	encode.fstr = &added->name;
	result =
	    pfm_get_os_event_encoding(event, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &encode);
	if (result != PFM_SUCCESS)
		return refuse_name(ctx, event, result);
	added->attr.read_format = PERF_READ_FORMAT;
	added->attr.inherit = 1;
	added->attr.disabled = 1;
	added->attr.enable_on_exec = 1;
	return (int)process->count++;
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Done in kernel mode: where only user mode is counted, the kernel counts none. */
static bool is_scheduling(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static int open_event(struct pmu_ctx *ctx, struct counted_event *event, pid_t pid)
{
	int fd = perf_open(ctx, &event->attr, pid, -1, event->name);

	if (fd == PMU_E_RIGHTS && !event->attr.exclude_kernel) {
		event->refused = is_scheduling(&event->attr);
		if (event->refused)
			return 0;
		event->attr.exclude_kernel = event->attr.exclude_hv = 1;
		/* Clocks go on in the kernel all the same. */
		event->user_only = !is_clock(&event->attr);
		fd = perf_open(ctx, &event->attr, pid, -1, event->name);
	}
	if (fd < 0)
		return fd == PMU_E_UNSUPPORTED ? 0 : fd;
	event->fd = fd;
	return 0;
}

int pmu_process_start(struct pmu_process *process, struct pmu_ctx *ctx, pid_t pid)
{
	int error = 0;

	for (size_t i = 0; i < process->count && !error; i++)
		error = open_event(ctx, &process->events[i], pid);
	if (error)
		stop(process);
	return error;
}

static int read_event(struct pmu_ctx *ctx, const struct counted_event *event,
		      struct pmu_process_count *count)
{
	struct perf_reading reading;
	int error;

	*count = (struct pmu_process_count){
	    .event = event->name,
	    .unit = is_clock(&event->attr) ? "ns" : "",
	    .state = event->refused ? PMU_PROCESS_REFUSED : PMU_PROCESS_UNSUPPORTED,
	    .user_only = event->user_only,
	};
	if (event->fd < 0)
		return 0;
	error = perf_read(ctx, event->fd, event->name, &reading);
	if (error)
		return error;
	count->counted = reading.value;
	count->enabled_ns = reading.enabled_ns;
	count->running_ns = reading.running_ns;
	count->state = reading.running_ns ? PMU_PROCESS_COUNTED : PMU_PROCESS_NEVER_RAN;
	return 0;
}

int pmu_process_read(struct pmu_process *process, struct pmu_ctx *ctx,
		     struct pmu_process_count *counts)
{
	int error = 0;

	for (size_t i = 0; i < process->count && !error; i++)
		error = read_event(ctx, &process->events[i], &counts[i]);
	return error;
}

double pmu_process_estimate(const struct pmu_process_count *count)
{
	if (!count->running_ns)
		return 0;
	return (double)count->counted * ((double)count->enabled_ns / (double)count->running_ns);
}

size_t pmu_process_events(const struct pmu_process *process)
{
	return process->count;
}
