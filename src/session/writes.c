#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/matching.h"
#include "session/session.h"

#define ROWS_MAX (MATCHING_COUNTERS_MAX + 8) /* of a unit: general and fixed counters */

bool session_is_control(const struct pmu_write *write)
{
	return write->reg->role == PMU_ROLE_COUNTER_CTL || write->reg->role == PMU_ROLE_FIXED_CTL;
}

const struct pmu_write *session_write_to(const struct session_unit *unit,
					 const struct pmu_register *reg)
{
	for (size_t i = unit->write_count; i-- > 0;)
		if (unit->writes[i].reg == reg)
			return &unit->writes[i];
	return NULL;
}

static int encode_unit(const struct pmu_session *session, struct pmu_ctx *ctx,
		       struct session_unit *unit)
{
	struct pmu_write writes[ROWS_MAX * PMU_EVENT_WRITES];
	struct pmu_selection selections[ROWS_MAX];
	struct pmu_placed events[ROWS_MAX];
	size_t used = 0;
	int count;

	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_row *row = &session->rows[r];

		if (used == ROWS_MAX)
			return error_set(ctx, PMU_E_RANGE, "more than %d events in a %s", ROWS_MAX,
					 unit->box->name);
		selections[used] = selection_on(&session->events[row->event].selection,
						&session->nodes[unit->socket]);
		events[used] = (struct pmu_placed){.selection = &selections[used],
						   .instance = unit->instance,
						   .counter = row->counter};
		used++;
	}
	count = pmu_event_merge(ctx, events, used, writes, sizeof(writes) / sizeof(writes[0]));
	if (count < 0)
		return count;
	unit->writes = malloc((size_t)(count + 1) * sizeof(*unit->writes));
	if (!unit->writes)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for register writes");
	memcpy(unit->writes, writes, (size_t)count * sizeof(*unit->writes));
	unit->write_count = (size_t)count;
	return 0;
}

int session_encode(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count && !error; i++)
		error = encode_unit(session, ctx, &session->units[i]);
	return error;
}
