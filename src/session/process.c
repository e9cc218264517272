#include "pmulab/process.h"

#include <dirent.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/name.h"
#include "bus/perf_event.h"

struct counted_event {
	struct perf_event_attr attr;
	char *name; /* libpfm4's full name */
	int *fds;   /* one a thread, or a CPU, that is counted */
	size_t fd_count;
	bool user_only, refused;
};

struct pmu_process {
	struct counted_event *events;
	size_t count;
	bool held; /* until pmu_process_begin() */
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
		struct counted_event *event = &process->events[i];

		while (event->fd_count)
			close(event->fds[--event->fd_count]);
		free(event->fds);
		event->fds = NULL;
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
	*added = (struct counted_event){0};
	encode.attr = &added->attr;
	encode.fstr = &added->name;
	result =
	    pfm_get_os_event_encoding(event, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &encode);
	if (result != PFM_SUCCESS)
		return refuse_name(ctx, event, result);
	added->attr.read_format = PERF_READ_FORMAT;
	added->attr.inherit = 1;
	added->attr.disabled = 1;
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

/* Whom to count: a thread, or a CPU. */
struct target {
	pid_t pid; /* -1: everybody */
	int cpu;   /* -1: wherever it runs */
};

static int keep_descriptor(struct pmu_ctx *ctx, struct counted_event *event, int fd)
{
	int *fds = realloc(event->fds, (event->fd_count + 1) * sizeof(*fds));

	if (!fds) {
		close(fd);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for event %s", event->name);
	}
	event->fds = fds;
	fds[event->fd_count++] = fd;
	return 0;
}

static int open_event(struct pmu_ctx *ctx, struct counted_event *event, struct target target)
{
	int fd = perf_open(ctx, &event->attr, target.pid, target.cpu, event->name);

	/* Of a CPU the kernel is counted, or nothing. */
	if (fd == PMU_E_RIGHTS && target.cpu < 0 && !event->attr.exclude_kernel) {
		event->refused = is_scheduling(&event->attr);
		if (event->refused)
			return 0;
		event->attr.exclude_kernel = event->attr.exclude_hv = 1;
		/* Clocks go on in the kernel all the same. */
		event->user_only = !is_clock(&event->attr);
		fd = perf_open(ctx, &event->attr, target.pid, target.cpu, event->name);
	}
	if (fd < 0)
		return fd == PMU_E_UNSUPPORTED ? 0 : fd;
	return keep_descriptor(ctx, event, fd);
}

static int open_all(struct pmu_process *process, struct pmu_ctx *ctx, struct target target)
{
	int error = 0;

	for (size_t i = 0; i < process->count && !error; i++)
		if (!process->events[i].refused)
			error = open_event(ctx, &process->events[i], target);
	return error;
}

void pmu_process_hold(struct pmu_process *process)
{
	process->held = true;
}

int pmu_process_begin(struct pmu_process *process, struct pmu_ctx *ctx)
{
	for (size_t i = 0; i < process->count; i++)
		for (size_t f = 0; f < process->events[i].fd_count; f++)
			if (ioctl(process->events[i].fds[f], PERF_EVENT_IOC_ENABLE, 0))
				return error_set(ctx, PMU_E_IO, "cannot count %s: %s",
						 process->events[i].name, strerror(errno));
	return 0;
}

int pmu_process_start(struct pmu_process *process, struct pmu_ctx *ctx, pid_t pid)
{
	int error;

	for (size_t i = 0; i < process->count; i++)
		process->events[i].attr.enable_on_exec = !process->held;
	error = open_all(process, ctx, (struct target){pid, -1});
	if (error)
		stop(process);
	return error;
}

static int no_process(struct pmu_ctx *ctx, pid_t pid)
{
	return error_set(ctx, PMU_E_UNKNOWN, "there is no process %ld", (long)pid);
}

static bool is_anothers(const char *path)
{
	struct stat owner;

	return !stat(path, &owner) && owner.st_uid != geteuid();
}

int pmu_process_attach(struct pmu_process *process, struct pmu_ctx *ctx, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int error = 0;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	threads = pid > 0 ? opendir(path) : NULL;
	if (!threads)
		return no_process(ctx, pid);
	while (!error && (entry = readdir(threads))) {
		const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0)
			continue;
		errno = 0;
		error = open_all(process, ctx, (struct target){thread, -1});
		/* A thread may end before it is counted. */
		if (error == PMU_E_IO && kill(thread, 0) && errno == ESRCH)
			error = thread == pid ? no_process(ctx, pid) : 0;
	}
	closedir(threads);
	if (error == PMU_E_RIGHTS && is_anothers(path))
		error =
		    error_set(ctx, error,
			      "process %ld is another user's: counting it needs CAP_PERFMON (sudo)",
			      (long)pid);
	if (!error && !process->held)
		error = pmu_process_begin(process, ctx);
	if (error)
		stop(process);
	return error;
}

int pmu_process_start_on(struct pmu_process *process, struct pmu_ctx *ctx, const unsigned *cpus,
			 size_t count)
{
	const long all = sysconf(_SC_NPROCESSORS_CONF);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		if (cpus[i] >= (unsigned long)all)
			error = error_set(ctx, PMU_E_RANGE, "there is no CPU %u", cpus[i]);
		else
			error = open_all(process, ctx, (struct target){-1, (int)cpus[i]});
	}
	if (!error && !process->held)
		error = pmu_process_begin(process, ctx);
	if (error)
		stop(process);
	return error;
}

static int read_event(struct pmu_ctx *ctx, const struct counted_event *event,
		      struct pmu_process_count *count)
{
	*count = (struct pmu_process_count){
	    .event = event->name,
	    .unit = is_clock(&event->attr) ? "ns" : "",
	    .state = event->refused ? PMU_PROCESS_REFUSED : PMU_PROCESS_UNSUPPORTED,
	    .user_only = event->user_only,
	};
	for (size_t i = 0; i < event->fd_count; i++) {
		struct perf_reading reading;
		int error = perf_read(ctx, event->fds[i], event->name, &reading);

		if (error)
			return error;
		count->counted += reading.value;
		count->enabled_ns += reading.enabled_ns;
		count->running_ns += reading.running_ns;
	}
	/* A thread that slept all the time was never enabled, and has done nothing. */
	if (event->fd_count)
		count->state = count->running_ns || !count->enabled_ns ? PMU_PROCESS_COUNTED
								       : PMU_PROCESS_NEVER_RAN;
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
