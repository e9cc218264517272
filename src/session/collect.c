#include "base/error.h"
#include "bus/bus.h"
#include "catalog/find.h"
#include "session/global_enable.h"
#include "session/registers.h"
#include "session/session.h"

static uint64_t field_value(const struct pmu_field *field, uint64_t value)
{
	return (value & pmu_mask(field->hi, field->lo)) >> field->lo;
}

#define READS_MAX 16 /* of a count that carries between its parts; one in 2^8 events does */

/*
 * A count in two registers: no read latches both (323602-001 §5.6.2, §5.7.3). While it goes on, the
 * upper part is read before and after the lower one until it stays.
 */
static int read_split(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct register_at *counter, unsigned index, uint64_t *raw)
{
	const struct pmu_field *low = pmu_field_by_role(counter->reg, PMU_FIELD_COUNT_LOW, 0);
	const struct pmu_field *high = pmu_field_by_role(counter->reg, PMU_FIELD_COUNT_HIGH, 0);
	struct register_at lower = *counter, upper = *counter;
	uint64_t before, after, part;
	int error;

	if (low)
		upper.reg = pmu_box_register(counter->box, PMU_ROLE_COUNTER_CTL, index);
	else
		lower.reg = pmu_box_register(counter->box, PMU_ROLE_COUNTER_CTL, index);
	low = pmu_field_by_role(lower.reg, PMU_FIELD_COUNT_LOW, 0);
	high = pmu_field_by_role(upper.reg, PMU_FIELD_COUNT_HIGH, 0);
	error = register_read(session->bus, ctx, &upper, &after);
	for (unsigned i = 0; i < READS_MAX && !error; i++) {
		before = after;
		error = register_read(session->bus, ctx, &lower, &part);
		if (error || session->state != SESSION_RUNNING)
			break;
		error = register_read(session->bus, ctx, &upper, &after);
		if (field_value(high, before) == field_value(high, after))
			break;
	}
	if (!error)
		*raw = field_value(high, after) << (low->hi - low->lo + 1) | field_value(low, part);
	return error;
}

static bool is_split(const struct pmu_register *counter)
{
	return pmu_field_by_role(counter, PMU_FIELD_COUNT_LOW, 0) ||
	       pmu_field_by_role(counter, PMU_FIELD_COUNT_HIGH, 0);
}

static const struct pmu_register *counter_of(const struct pmu_session *session,
					     const struct session_row *row)
{
	const struct pmu_selection *selection = &session->events[row->event].selection;

	return pmu_box_register(selection->box,
				selection->event ? PMU_ROLE_COUNTER : PMU_ROLE_FIXED_COUNTER,
				row->counter);
}

static int read_row(struct pmu_session *session, struct pmu_ctx *ctx,
		    const struct session_unit *unit, struct session_row *row, uint64_t *raw)
{
	struct register_at at = {unit->box, counter_of(session, row), unit->socket, unit->instance};
	int error = is_split(at.reg) ? read_split(session, ctx, &at, row->counter, raw)
				     : register_read(session->bus, ctx, &at, raw);

	*raw &= pmu_mask(counter_width(at.box, at.reg) - 1u, 0);
	return error;
}

static uint64_t row_status_bit(const struct pmu_session *session, const struct session_unit *unit,
			       const struct session_row *row)
{
	const struct pmu_register *status = status_of(unit->box);
	bool fixed = !session->events[row->event].selection.event;

	return status ? pmu_overflow_bit(unit->box, status, fixed, row->counter) : 0;
}

uint64_t session_status_bits(const struct pmu_session *session, const struct session_unit *unit)
{
	uint64_t bits = 0;

	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next)
		bits |= row_status_bit(session, unit, &session->rows[r]);
	return bits;
}

/* Counters without a status bit: one that fell has wrapped, once if it is read often enough. */
static int read_rows(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct session_unit *unit, uint64_t *watched)
{
	*watched = 0;
	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		struct session_row *row = &session->rows[r];
		uint64_t bit = row_status_bit(session, unit, row), raw;
		int error = read_row(session, ctx, unit, row, &raw);

		if (error)
			return error;
		if (!bit && raw < row->raw)
			row->wraps++;
		row->raw = raw;
		*watched |= bit;
	}
	return 0;
}

/*
 * A status bit is one carry out of the counter since it was cleared; two carries look the same. The
 * counter is read again after the bit: the carry may have come between.
 */
static int account_wraps(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit, uint64_t watched)
{
	struct register_at at = {unit->box, status_of(unit->box), unit->socket, unit->instance};
	uint64_t wrapped;
	int error;

	if (!watched)
		return 0;
	error = register_read(session->bus, ctx, &at, &wrapped);
	wrapped &= watched;
	if (error || !wrapped)
		return error;
	at.reg = status_clear_of(unit->box);
	error = register_write(session->bus, ctx, &at, wrapped | register_must(at.reg));
	for (size_t r = unit->first_row; r != SESSION_NONE && !error; r = session->rows[r].next) {
		struct session_row *row = &session->rows[r];

		if (!(row_status_bit(session, unit, row) & wrapped))
			continue;
		row->wraps++;
		error = read_row(session, ctx, unit, row, &row->raw);
	}
	return error;
}

/* No counter of the session reports overflows, but those of others freeze it too (§2.1.1.1). */
static int check_frozen(struct pmu_session *session, struct pmu_ctx *ctx, unsigned socket)
{
	struct register_at at = {session->global_box, session->global_status, socket, 0};
	uint64_t status;
	int error;

	if (!session->global_status || !session_uses_sockets(session))
		return 0;
	error = register_read(session->bus, ctx, &at, &status);
	if (!error && status & register_clearing(session->global_status))
		error = error_set(ctx, PMU_E_CONFLICT,
				  "a counter that this session does not use overflowed and froze "
				  "all counters of socket %u (%s = 0x%llX): counts are incomplete",
				  socket, session->global_status->name, (unsigned long long)status);
	return error;
}

static void mark_lost(struct pmu_session *session, unsigned socket)
{
	for (size_t i = 0; i < session->unit_count; i++)
		if (session->units[i].socket == socket && !global_enable_of(session->units[i].box))
			session->units[i].lost = true;
}

/* All sockets, and their counts are read all the same. @return PMU_E_CONFLICT where one is frozen
 */
static int find_frozen(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (unsigned socket = 0; socket < session->sockets && session->unit_count; socket++) {
		int found = session_counts_on(session, socket)
				? check_frozen(session, error ? NULL : ctx, socket)
				: 0;

		if (found == PMU_E_CONFLICT)
			mark_lost(session, socket);
		error = error_first(error, found);
	}
	return error;
}

static void tell_counts(struct pmu_session *session, uint64_t now)
{
	for (size_t r = 0; r < session->row_count; r++) {
		const struct session_row *row = &session->rows[r];
		const struct pmu_box *box = session->events[row->event].selection.box;
		struct pmu_count *count = &session->counts[r];

		count->count =
		    row->raw + (row->wraps << counter_width(box, counter_of(session, row)));
		/* Every event has a counter of its own from start to stop. */
		count->enabled_ns = count->running_ns = now - session->started_ns;
	}
	for (size_t i = 0; i < session->unit_count; i++) {
		struct session_unit *unit = &session->units[i];

		if (!unit->lost)
			unit->ran_ns = now;
		for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
			session->counts[r].valid = !unit->lost;
			session->counts[r].running_ns = unit->ran_ns - session->started_ns;
		}
	}
}

int session_collect(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int frozen = find_frozen(session, ctx), error = frozen == PMU_E_CONFLICT ? 0 : frozen;

	for (size_t i = 0; i < session->unit_count && !error; i++) {
		uint64_t watched;

		error = read_rows(session, ctx, &session->units[i], &watched);
		if (!error)
			error = account_wraps(session, ctx, &session->units[i], watched);
	}
	if (error)
		return error;
	tell_counts(session, session->state == SESSION_RUNNING ? bus_time_ns(session->bus)
							       : session->stopped_ns);
	return frozen;
}
