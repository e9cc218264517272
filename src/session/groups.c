#include "session/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bus/bus.h"

struct session_part {
	struct pmu_session *session;
	struct pmu_bus *bus; /* NULL: that of the whole */
	char *reason;	     /* why its first events have no room before; NULL: it is the first */
};

static struct session_part *new_part(struct pmu_session *whole, struct pmu_ctx *ctx, int *error)
{
	struct session_part *parts =
	    realloc(whole->parts, (whole->part_count + 1) * sizeof(*whole->parts));
	struct session_part *part;

	if (!parts) {
		*error = error_set(ctx, PMU_E_NOMEM, "out of memory for a group of events");
		return NULL;
	}
	whole->parts = parts;
	part = &parts[whole->part_count];
	*part = (struct session_part){0};
	*error = pmu_session_new(&part->session, ctx, whole->bus);
	if (*error)
		return NULL;
	whole->part_count++;
	return part;
}

/* Which events are placed at once: a group, or one that is in none. */
static bool is_member(const struct session_event *first, const struct session_event *event)
{
	return event == first || (first->group && event->group == first->group);
}

/* Adds the members of what begins with event @first. @return 0 or an error of pmu_session_add() */
static int add_members(struct pmu_session *whole, struct pmu_ctx *ctx, size_t first, size_t number)
{
	for (size_t i = first; i < whole->event_count; i++) {
		struct session_event *event = &whole->events[i];
		int added;

		if (!is_member(&whole->events[first], event))
			continue;
		added = pmu_session_add(whole->parts[number].session, ctx, &event->selection);
		if (added < 0)
			return added;
		event->part = number;
		event->part_event = (unsigned)added;
	}
	return 0;
}

/* @return 0; PMU_E_CONFLICT where the part has no room for them, and is as it was */
static int place_in(struct pmu_session *whole, struct pmu_ctx *ctx, size_t first, size_t number)
{
	struct pmu_session *part = whole->parts[number].session;
	const size_t before = part->event_count;
	int error = add_members(whole, ctx, first, number);

	for (size_t i = before; i < part->event_count && !error; i++)
		error = session_assign_box(part, ctx, part->events[i].selection.box);
	if (error)
		part->event_count = before;
	return error;
}

/* Without the advice, which does not hold here. */
static char *reason_of(const char *message)
{
	const char *advice = strstr(message, SESSION_SEPARATELY);

	return advice ? strndup(message, (size_t)(advice - message)) : strdup(message);
}

static int place(struct pmu_session *whole, struct pmu_ctx *ctx, size_t first)
{
	struct session_part *part;
	int error = PMU_E_CONFLICT;
	char *reason;

	for (size_t p = 0; p < whole->part_count && error == PMU_E_CONFLICT; p++)
		error = place_in(whole, ctx, first, p);
	if (error != PMU_E_CONFLICT)
		return error;
	reason = whole->part_count && ctx ? reason_of(pmu_message(ctx)) : NULL;
	part = new_part(whole, ctx, &error);
	if (!part) {
		free(reason);
		return error;
	}
	part->reason = reason;
	return place_in(whole, ctx, first, whole->part_count - 1);
}

static bool is_first(const struct pmu_session *whole, size_t event)
{
	for (size_t i = 0; i < event; i++)
		if (is_member(&whole->events[i], &whole->events[event]) && whole->events[i].group)
			return false;
	return true;
}

/* An event that repeats what counter 0 sees goes where counter 0 has its event already. */
static int place_all(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	int error = 0;

	for (int followers = 0; followers <= 1; followers++)
		for (size_t i = 0; i < whole->event_count && !error; i++) {
			const struct session_event *event = &whole->events[i];
			bool follows =
			    !event->group && selection_follows_counter0(&event->selection);

			if (follows == followers && is_first(whole, i))
				error = place(whole, ctx, i);
		}
	return error;
}

int groups_make(struct pmu_session *whole, struct pmu_ctx *ctx)
{
	int error = place_all(whole, ctx);

	for (size_t p = 0; p < whole->part_count && !error; p++) {
		struct session_part *part = &whole->parts[p];

		if (p)
			error = whole->bus->ops->another(&part->bus, ctx, whole->bus);
		if (!error && part->bus)
			part->session->bus = part->bus;
		if (!error)
			error = pmu_session_assign(part->session, ctx);
	}
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
