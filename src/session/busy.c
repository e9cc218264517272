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

static int check_control(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit, const struct pmu_write *write)
{
	struct register_at at = {unit->box, write->reg, unit->socket, unit->instance};
	uint64_t stopped = session_disables_box(session, unit->box) ? at.reg->enabled : 0;
	uint64_t value, written = write->value & ~stopped;
	int error = register_read(session->bus, ctx, &at, &value);

	/* In the one control of several fixed counters, the fields of those that are used. */
	if (error || !((value ^ written) & register_steady(at.reg) & write->mask))
		return error;
	return error_set(
	    ctx, PMU_E_BUSY,
	    "somebody else changed %s of %s%u on socket %u from 0x%llX to 0x%llX while "
	    "it was counting: there are no counts",
	    at.reg->name, unit->box->name, unit->instance, unit->socket,
	    (unsigned long long)written, (unsigned long long)value);
}

static int check_unit(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct session_unit *unit)
{
	int error = 0;

	/* Of a control that is written twice, the last write counts. */
	for (size_t i = 0; i < unit->write_count && !error; i++)
		if (session_is_control(&unit->writes[i]) &&
		    session_write_to(unit, unit->writes[i].reg) == &unit->writes[i])
			error = check_control(session, ctx, unit, &unit->writes[i]);
	return error;
}

int session_busy_check(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t u = 0; u < session->unit_count && !session->bus->write_only; u++) {
		int found = check_unit(session, error ? NULL : ctx, &session->units[u]);

		session->units[u].lost |= found != 0;
		error = error_first(error, found);
	}
	return error;
}
