#include <stdlib.h>

#include "base/error.h"
#include "session/seats.h"
#include "session/session.h"

static bool event_in_unit(const struct pmu_session *session, const struct session_event *event,
			  const struct pmu_box *box, unsigned socket, unsigned instance)
{
	return event->selection.box == box && selection_covers(&event->selection, instance) &&
	       *session_present(session, socket, box) & 1u << instance;
}

static bool unit_used(const struct pmu_session *session, const struct pmu_box *box, unsigned socket,
		      unsigned instance)
{
	for (size_t i = 0; i < session->event_count; i++)
		if (session->events[i].counted &&
		    event_in_unit(session, &session->events[i], box, socket, instance))
			return true;
	return false;
}

/* Makes the units that are used, or only counts them. */
static size_t make_units(const struct pmu_session *session, struct session_unit *units)
{
	size_t count = 0;

	for (unsigned socket = 0; socket < session->sockets; socket++)
		for (size_t b = 0; b < session->pmu->box_count; b++) {
			const struct pmu_box *box = &session->pmu->boxes[b];

			for (unsigned i = 0; i < box->instance_count; i++) {
				if (!unit_used(session, box, socket, i))
					continue;
				if (units)
					units[count] =
					    (struct session_unit){.box = box,
								  .socket = socket,
								  .instance = i,
								  .first_row = SESSION_NONE};
				count++;
			}
		}
	return count;
}

static struct session_unit *find_unit(const struct pmu_session *session, const struct pmu_box *box,
				      unsigned socket, unsigned instance)
{
	for (size_t i = 0; i < session->unit_count; i++) {
		struct session_unit *unit = &session->units[i];

		if (unit->box == box && unit->socket == socket && unit->instance == instance)
			return unit;
	}
	return NULL;
}

static void append(struct pmu_session *session, struct session_unit *unit, size_t row)
{
	size_t *last = &unit->first_row;

	while (*last != SESSION_NONE)
		last = &session->rows[*last].next;
	*last = row;
}

uint8_t session_counter_of(const struct session_event *event, unsigned instance)
{
	bool shared = event->selection.event && seats_shared(event->selection.box);

	return shared ? event->counters[instance] : event->counter;
}

static void make_row(struct pmu_session *session, size_t row, unsigned event, unsigned socket,
		     unsigned instance)
{
	const struct session_event *counted = &session->events[event];

	session->rows[row] = (struct session_row){
	    .event = event,
	    .counter = session_counter_of(counted, instance),
	    .next = SESSION_NONE,
	};
	session->counts[row] = (struct pmu_count){
	    .event = event,
	    .socket = socket,
	    .instance = instance,
	    .valid = counted->counted,
	    .counter = session->rows[row].counter,
	};
	if (counted->counted)
		append(session, find_unit(session, counted->selection.box, socket, instance), row);
}

/* Makes the rows, by event, socket and instance, or only counts them. */
static size_t make_rows(struct pmu_session *session, bool only_count)
{
	size_t count = 0;

	for (unsigned e = 0; e < session->event_count; e++) {
		const struct pmu_box *box = session->events[e].selection.box;

		for (unsigned socket = 0; socket < session->sockets; socket++)
			for (unsigned i = 0; i < box->instance_count; i++) {
				if (!event_in_unit(session, &session->events[e], box, socket, i))
					continue;
				if (!only_count)
					make_row(session, count, e, socket, i);
				count++;
			}
	}
	return count;
}

void session_layout_free(struct pmu_session *session)
{
	for (size_t i = 0; session->units && i < session->unit_count; i++)
		free(session->units[i].writes);
	free(session->units);
	free(session->rows);
	free(session->counts);
	session->units = NULL;
	session->rows = NULL;
	session->counts = NULL;
}

int session_lay_out(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error;

	/* One more than needed: an empty session has tables too. */
	session->unit_count = make_units(session, NULL);
	session->units = calloc(session->unit_count + 1, sizeof(*session->units));
	session->row_count = make_rows(session, true);
	session->rows = calloc(session->row_count + 1, sizeof(*session->rows));
	session->counts = calloc(session->row_count + 1, sizeof(*session->counts));
	if (!session->units || !session->rows || !session->counts) {
		session_layout_free(session);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %zu counts",
				 session->row_count);
	}
	make_units(session, session->units);
	make_rows(session, false);
	error = session_encode(session, ctx);
	if (error)
		session_layout_free(session);
	return error;
}
