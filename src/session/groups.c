#include "session/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bus/bus.h"
#include "session/divide.h"

struct session_part {
	struct pmu_session *session;
	struct pmu_bus *bus; /* NULL: that of the whole */
	char *reason; /* why not all its events are in the part before; NULL: it is the first */
};

static int new_part(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	struct session_part *parts =
	    realloc(whole->parts, (whole->part_count + 1) * sizeof(*whole->parts));
	struct session_part *part;
	int error;

	if (!parts)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a group of events");
	whole->parts = parts;
	part = &parts[whole->part_count];
	*part = (struct session_part){0};
	error = session_new_for(&part->session, ctx, whole);
	whole->part_count += !error;
	return error;
}

/* Without the advice, which does not hold here. */
static char *reason_of(const char *message)
{
	const char *advice = strstr(message, SESSION_SEPARATELY);

	return advice ? strndup(message, (size_t)(advice - message)) : strdup(message);
}

/* Adds an event to its part. @return 0 or an error of pmu_session_add() */
static int add_to_part(struct pmu_session *whole, struct pmu_ctx *ctx, struct session_event *event)
{
	int added = pmu_session_add(whole->parts[event->part].session, ctx, &event->selection);

	if (added < 0)
		return added;
	event->part_event = (unsigned)added;
	return 0;
}

/* Why not all events of part @number are in the part before it. @return of the heap; or NULL */
static char *find_reason(struct pmu_session *whole, struct pmu_ctx *ctx, size_t number)
{
	const struct pmu_session *part = whole->parts[number].session;
	struct pmu_session *before = whole->parts[number - 1].session;
	const size_t count = before->event_count;
	char *reason = NULL;

	for (size_t i = 0; i < part->event_count && !reason; i++) {
		const struct pmu_selection *selection = &part->events[i].selection;

		if (pmu_session_add(before, NULL, selection) >= 0 &&
		    session_assign_box(before, ctx, selection->box) == PMU_E_CONFLICT && ctx)
			reason = reason_of(pmu_message(ctx));
		before->event_count = count;
	}
	return reason ? reason : strdup("not all of its events have room beside those before");
}

static int open_part(struct pmu_session *whole, struct pmu_ctx *ctx, size_t number)
{
	struct session_part *part = &whole->parts[number];
	int error = 0;

	if (number) {
		part->reason = find_reason(whole, ctx, number);
		if (!whole->divided)
			error = whole->bus->ops->another(&part->bus, ctx, whole->bus);
	}
	if (!error && part->bus)
		part->session->bus = part->bus;
	return error;
}

int groups_make(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	size_t parts = 0;
	int error = divide_events(whole, ctx, &parts);

	for (size_t p = 0; p < parts && !error; p++)
		error = new_part(whole, ctx);
	for (size_t i = 0; i < whole->event_count && !error; i++)
		error = add_to_part(whole, ctx, &whole->events[i]);
	for (size_t p = 0; p < parts && !error; p++)
		error = open_part(whole, ctx, p);
	for (size_t p = 0; p < parts && !error; p++)
		error = pmu_session_assign(whole->parts[p].session, ctx);
	if (error)
		groups_free(whole);
	return error;
}

void groups_free(struct pmu_session *whole)
{
	for (size_t p = 0; p < whole->part_count; p++) {
		pmu_session_free(whole->parts[p].session);
		pmu_bus_free(whole->parts[p].bus);
		free(whole->parts[p].reason);
	}
	free(whole->parts);
	free(whole->part_counts);
	whole->parts = NULL;
	whole->part_counts = NULL;
	whole->part_count = 0;
}

/* All parts, whatever becomes of the others. @return the first error */
static int each(struct pmu_session *whole, struct pmu_ctx *ctx,
		int (*act)(struct pmu_session *, struct pmu_ctx *))
{
	int error = 0;

	for (size_t p = 0; p < whole->part_count; p++)
		error = error_first(error, act(whole->parts[p].session, error ? NULL : ctx));
	return error;
}

int groups_start(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	return each(whole, ctx, pmu_session_start);
}

int groups_stop(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	return each(whole, ctx, pmu_session_stop);
}

int groups_end(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	return each(whole, ctx, pmu_session_end);
}

static size_t take_counts(struct pmu_session *whole, unsigned event, struct pmu_count *into)
{
	const struct session_event *where = &whole->events[event];
	const struct pmu_session *part = whole->parts[where->part].session;
	size_t taken = 0;

	for (size_t i = 0; i < part->row_count; i++) {
		if (part->counts[i].event != where->part_event)
			continue;
		if (into) {
			into[taken] = part->counts[i];
			into[taken].event = event;
		}
		taken++;
	}
	return taken;
}

int groups_read(struct pmu_session *whole, struct pmu_ctx *ctx, const struct pmu_count **counts,
		size_t *count)
{
	size_t rows = 0, used = 0;
	int error = 0;

	for (size_t p = 0; p < whole->part_count && (!error || error == PMU_E_CONFLICT); p++) {
		int found =
		    pmu_session_read(whole->parts[p].session, error ? NULL : ctx, counts, count);

		error = found && found != PMU_E_CONFLICT ? found : error_first(error, found);
	}
	if (error && error != PMU_E_CONFLICT)
		return error;
	for (unsigned event = 0; event < whole->event_count; event++)
		rows += take_counts(whole, event, NULL);
	if (!whole->part_counts)
		whole->part_counts = calloc(rows ? rows : 1, sizeof(*whole->part_counts));
	if (!whole->part_counts)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for counts");
	for (unsigned event = 0; event < whole->event_count; event++)
		used += take_counts(whole, event, whole->part_counts + used);
	*counts = whole->part_counts;
	*count = rows;
	return error;
}

const char *groups_reason(const struct pmu_session *whole, size_t number)
{
	const char *reason = number < whole->part_count ? whole->parts[number].reason : NULL;

	return reason ? reason : "";
}

int groups_counter(const struct pmu_session *whole, unsigned event, unsigned instance)
{
	const struct session_event *where = &whole->events[event];

	return pmu_session_counter(whole->parts[where->part].session, where->part_event, instance);
}
