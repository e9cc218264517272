#include "session/busy.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bus/bus.h"

#define LISTED_MAX 6 /* controls in a message; the others are only counted */

void session_busy_note(struct pmu_session *session, const struct register_at *control,
		       uint64_t value)
{
	size_t used = strlen(session->busy);

	if (session->busy_count++ >= LISTED_MAX)
		return;
	snprintf(session->busy + used, sizeof(session->busy) - used,
		 "%s%s of %s%u on socket %u = 0x%llX", used ? ", " : "", control->reg->name,
		 control->box->name, control->instance, control->socket, (unsigned long long)value);
}

int session_busy_refuse(const struct pmu_session *session, struct pmu_ctx *ctx)
{
	char more[32] = "";

	if (session->busy_count == 0 || session->forced)
		return 0;
	if (session->busy_count > LISTED_MAX)
		snprintf(more, sizeof(more), " and %u more", session->busy_count - LISTED_MAX);
	return error_set(ctx, PMU_E_BUSY,
			 "somebody else's counters are enabled: %s%s; they are left alone",
			 session->busy, more);
}

static int check_row(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct session_unit *unit, const struct session_row *row)
{
	const struct session_event *event = &session->events[row->event];
	struct register_at at = {unit->box,
				 pmu_box_register(unit->box, PMU_ROLE_COUNTER_CTL, event->counter),
				 unit->socket, unit->instance};
	uint64_t written, value, mask;
	int error;

	/* The one control of several fixed counters: the fields of this one. */
	if (!event->selection.event && unit->box->fixed_count > 1) {
		at.reg = pmu_box_register(unit->box, PMU_ROLE_FIXED_CTL, 0);
		mask = register_bits_numbered(at.reg, event->counter);
	} else if (!event->selection.event || !at.reg) {
		return 0;
	} else {
		mask = register_kept(at.reg);
	}
	written = pmu_event_control(&event->selection) | register_bits(at.reg, "en");
	error = register_read(session->bus, ctx, &at, &value);
	if (error || !((value ^ written) & mask))
		return error;
	return error_set(
	    ctx, PMU_E_BUSY,
	    "somebody else changed %s of %s%u on socket %u from 0x%llX to 0x%llX while "
	    "it was counting: there are no counts",
	    at.reg->name, unit->box->name, unit->instance, unit->socket,
	    (unsigned long long)written, (unsigned long long)value);
}

int session_busy_check(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	if (session->bus->forgets)
		return 0;
	for (size_t u = 0; u < session->unit_count; u++)
		for (size_t r = session->units[u].first_row; r != SESSION_NONE && !error;
		     r = session->rows[r].next)
			error = check_row(session, ctx, &session->units[u], &session->rows[r]);
	return error;
}
