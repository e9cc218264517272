#include "perf/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/error.h"
#include "emul/perf_request.h"
#include "perf/counting.h"

#define PERF_EVENTS_GROUP_MAX 256 /* values that one read gives */

struct perf_event {
	struct perf_event *next;
	struct counting *counting; /* NULL: no event yet */
	struct perf_event *leader; /* of its group: itself, or another */
	uint64_t id;
	int32_t pid;
	int socket, unit;	   /* -1: all */
	uint64_t format;	   /* read_format */
	bool on_exec;		   /* is enabled when its task executes */
	bool enabled;		   /* counts while its leader is enabled too, */
	bool counts;		   /* and does */
	uint64_t total, base;	   /* counted before; the counting's count when it began to count */
	uint64_t passed_ns, since; /* as those, of time */
	uint64_t counted_ns;	   /* of passed_ns: with a counter */
};

struct perf {
	pthread_mutex_t lock; /* of all of it */
	struct countings countings;
	struct pmu_ctx *ctx;
	struct perf_event *events;
	uint64_t last_id;
};

struct perf_event *perf_descriptor_new(struct perf *perf)
{
	struct perf_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->leader = event;
	pthread_mutex_lock(&perf->lock);
	event->id = ++perf->last_id;
	event->next = perf->events;
	perf->events = event;
	pthread_mutex_unlock(&perf->lock);
	return event;
}

static uint64_t count_of(struct perf *perf, const struct perf_event *event)
{
	return counting_read(&perf->countings, event->counting, event->socket, event->unit);
}

static bool has_counter(const struct perf_event *event)
{
	return event->counting->bank >= 0;
}

/* Takes up what happened since it began to count, and begins anew. */
static void catch_up(struct perf *perf, struct perf_event *event)
{
	uint64_t count = count_of(perf, event), now = clock_ns();

	if (event->counts) {
		event->total += count - event->base;
		event->passed_ns += now - event->since;
		event->counted_ns += has_counter(event) ? now - event->since : 0;
	}
	event->base = count;
	event->since = now;
}

static void bank_stops(void *arg, int bank)
{
	struct perf *perf = arg;

	for (struct perf_event *event = perf->events; event; event = event->next)
		if (event->counting && event->counting->bank == bank)
			catch_up(perf, event);
}

static void bank_started(void *arg, int bank)
{
	struct perf *perf = arg;

	for (struct perf_event *event = perf->events; event; event = event->next)
		if (event->counting && event->counting->bank == bank)
			event->base = count_of(perf, event);
}

int perf_new(struct perf **out, struct pmu_ctx *ctx, struct emul *emul)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	int error;

	if (!perf || pmu_ctx_new(&perf->ctx)) {
		free(perf);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for perf_event");
	}
	pthread_mutex_init(&perf->lock, NULL);
	error = countings_init(&perf->countings, perf->ctx, emul);
	perf->countings.stops = bank_stops;
	perf->countings.started = bank_started;
	perf->countings.arg = perf;
	if (error) {
		error_set(ctx, error, "%s", pmu_message(perf->ctx));
		perf_free(perf);
		return error;
	}
	*out = perf;
	return 0;
}

void perf_free(struct perf *perf)
{
	if (!perf)
		return;
	while (perf->events) {
		struct perf_event *event = perf->events;

		perf->events = event->next;
		free(event);
	}
	countings_fini(&perf->countings);
	pthread_mutex_destroy(&perf->lock);
	pmu_ctx_free(perf->ctx);
	free(perf);
}

static void update(struct perf *perf, struct perf_event *event)
{
	bool counts = event->counting && event->enabled && event->leader->enabled;

	if (counts == event->counts)
		return;
	if (counts && !has_counter(event))
		countings_start(&perf->countings);
	catch_up(perf, event);
	event->counts = counts;
}

static void enable(struct perf *perf, struct perf_event *event, bool enabled)
{
	event->enabled = enabled;
	update(perf, event);
	if (event->leader == event)
		for (struct perf_event *other = perf->events; other; other = other->next)
			if (other->leader == event)
				update(perf, other);
}

void perf_descriptor_free(struct perf *perf, struct perf_event *event)
{
	struct perf_event **at = &perf->events;

	pthread_mutex_lock(&perf->lock);
	while (*at != event)
		at = &(*at)->next;
	*at = event->next;
	for (struct perf_event *other = perf->events; other; other = other->next)
		if (other->leader == event) {
			other->leader = other;
			update(perf, other);
		}
	if (event->counting)
		counting_put(&perf->countings, event->counting);
	pthread_mutex_unlock(&perf->lock);
	free(event);
}

static struct perf_event *find(const struct perf *perf, uint64_t id)
{
	struct perf_event *event = perf->events;

	while (event && event->id != id)
		event = event->next;
	return event;
}

/* What only the kernel of a real computer could do. */
static int check_attr(const struct perf_event_attr *attr)
{
	if (attr->sample_period || attr->precise_ip || attr->exclude_user)
		return -EOPNOTSUPP;
	if (attr->read_format &
	    ~(uint64_t)(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_ID | PERF_FORMAT_GROUP))
		return -EINVAL;
	return 0;
}

/* Where it counts. A task's event does so wherever programs run; the uncore's belong to no task. */
static int place(const struct perf *perf, struct perf_event *event,
		 const struct perf_device_of *device, const struct perf_request *request)
{
	const struct pmu_machine *machine = perf->countings.machine;
	const bool is_core = device->box->scope == PMU_SCOPE_CORE;
	const int cpus = (int)(machine->sockets * machine->cores);

	if (request->cpu >= cpus)
		return -ENODEV;
	if (request->cpu < 0 && (!is_core || request->pid < 0))
		return -EINVAL;
	if (!is_core && request->pid >= 0)
		return -EINVAL;
	event->pid = request->pid;
	event->socket = request->cpu < 0 ? -1 : request->cpu / (int)machine->cores;
	event->unit = is_core ? request->cpu : (int)device->instance;
	if (is_core && request->cpu >= 0)
		event->unit = request->cpu % (int)machine->cores;
	return 0;
}

static int open_event(struct perf *perf, struct perf_event *event,
		      const struct perf_request *request)
{
	struct perf_event *leader = request->leader ? find(perf, request->leader) : event;
	struct perf_device_of device = {.box = NULL};
	struct perf_event_attr attr;
	char text[PERF_TEXT_BYTES];
	int error;

	memcpy(&attr, request->attr, sizeof(attr));
	if (event->counting || !leader || leader->leader != leader ||
	    (leader != event && !leader->counting) || request->flags & PERF_FLAG_PID_CGROUP)
		return -EINVAL;
	error = check_attr(&attr);
	if (!error)
		error = perf_attr_text(perf->countings.machine, &attr, &device, text);
	if (!error)
		error = place(perf, event, &device, request);
	if (!error)
		error = counting_get(&perf->countings, text, &event->counting);
	if (error)
		return error;
	event->leader = leader;
	event->format = attr.read_format;
	event->on_exec = attr.enable_on_exec;
	enable(perf, event, !attr.disabled);
	return 0;
}

static void reset(struct perf *perf, struct perf_event *event)
{
	catch_up(perf, event);
	event->total = 0;
}

static int control_one(struct perf *perf, struct perf_event *event, uint64_t command)
{
	switch (command) {
	case PERF_EVENT_IOC_ENABLE:
		enable(perf, event, true);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		enable(perf, event, false);
		return 0;
	case PERF_EVENT_IOC_RESET:
		reset(perf, event);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int control(struct perf *perf, struct perf_event *event, const struct perf_request *request)
{
	int error;

	if (!event->counting)
		return -EINVAL;
	if (!(request->argument & PERF_IOC_FLAG_GROUP))
		return control_one(perf, event, request->command);
	event = event->leader;
	error = control_one(perf, event, request->command);
	for (struct perf_event *other = perf->events; other && !error; other = other->next)
		if (other->leader == event && other != event)
			error = control_one(perf, other, request->command);
	return error;
}

static int executes(struct perf *perf, int32_t pid)
{
	for (struct perf_event *event = perf->events; event; event = event->next)
		if (event->counting && event->on_exec && event->pid == pid) {
			event->on_exec = false;
			enable(perf, event, true);
		}
	return 0;
}

ssize_t perf_descriptor_request(struct perf *perf, struct perf_event *event, const void *bytes,
				size_t size)
{
	struct perf_request request;
	int error = -EINVAL;

	if (size != sizeof(request))
		return -EINVAL;
	memcpy(&request, bytes, sizeof(request));
	pthread_mutex_lock(&perf->lock);
	if (request.kind == PERF_REQUEST_OPEN)
		error = open_event(perf, event, &request);
	else if (request.kind == PERF_REQUEST_CONTROL)
		error = control(perf, event, &request);
	else if (request.kind == PERF_REQUEST_EXEC)
		error = executes(perf, request.pid);
	pthread_mutex_unlock(&perf->lock);
	return error ? error : (ssize_t)size;
}

/* The members of a group in the order in which they were opened. */
static size_t members(const struct perf *perf, struct perf_event *leader, struct perf_event **found)
{
	size_t count = 0;

	for (struct perf_event *event = perf->events; event; event = event->next)
		if (event->leader == leader && event->counting && count < PERF_EVENTS_GROUP_MAX) {
			size_t at = count++;

			for (; at && found[at - 1]->id > event->id; at--)
				found[at] = found[at - 1];
			found[at] = event;
		}
	return count;
}

/* As perf_event_open(2) lays it out. @return words */
static size_t read_values(struct perf *perf, struct perf_event *event, uint64_t *words)
{
	struct perf_event *group[PERF_EVENTS_GROUP_MAX] = {event};
	const bool is_group = event->format & PERF_FORMAT_GROUP;
	size_t count = is_group ? members(perf, event->leader, group) : 1, used = 0;

	for (size_t i = 0; i < count; i++)
		catch_up(perf, group[i]);
	words[used++] = is_group ? count : event->total;
	if (event->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[used++] = event->passed_ns;
	if (event->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[used++] = event->counted_ns;
	for (size_t i = 0; i < count; i++) {
		if (is_group)
			words[used++] = group[i]->total;
		if (event->format & PERF_FORMAT_ID)
			words[used++] = group[i]->id;
	}
	return used;
}

ssize_t perf_descriptor_read(struct perf *perf, struct perf_event *event, void *buffer, size_t size,
			     off_t position)
{
	uint64_t words[3 + 2 * PERF_EVENTS_GROUP_MAX] = {event->id};
	size_t bytes = sizeof(words[0]);

	pthread_mutex_lock(&perf->lock);
	if (position < PERF_ID_POSITION)
		bytes = event->counting ? read_values(perf, event, words) * sizeof(words[0]) : 0;
	pthread_mutex_unlock(&perf->lock);
	if (!bytes)
		return -EINVAL;
	if (size < bytes)
		return -ENOSPC;
	memcpy(buffer, words, bytes);
	return (ssize_t)bytes;
}
