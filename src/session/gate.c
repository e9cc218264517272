#include "session/gate.h"

#include "base/error.h"

/* Bits of the counters of a gate that stops them one by one; 0: it stops them all. */
static uint64_t counter_bit(const struct pmu_register *gate, bool fixed, unsigned index)
{
	return pmu_field_bits(gate, fixed ? PMU_FIELD_FIXED_ENABLE : PMU_FIELD_ENABLE, index);
}

const struct pmu_register *gate_of(const struct pmu_box *box)
{
	const struct pmu_register *gate = pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0);

	if (gate && (counter_bit(gate, false, 0) | counter_bit(gate, true, 0)))
		return gate;
	/* The freeze bit beside the overflow bits of an Itanium (323602-001 table 3-7). */
	gate = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	return gate && pmu_field_bits(gate, PMU_FIELD_FREEZE, 0) ? gate : NULL;
}

/* Bits of the counters that the session uses. */
static uint64_t own_bits(const struct pmu_session *session, const struct session_unit *unit)
{
	const struct pmu_register *gate = gate_of(unit->box);
	uint64_t bits = 0;

	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_row *row = &session->rows[r];

		bits |=
		    counter_bit(gate, !session->events[row->event].selection.event, row->counter);
	}
	return bits;
}

int gate_keep(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count && !error; i++) {
		struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, gate_of(unit->box), unit->socket,
					 unit->instance};

		if (at.reg)
			error = register_read(session->bus, ctx, &at, &unit->gate_found);
	}
	return error;
}

/* What is to become of a gate. */
enum gate_state {
	GATE_OPEN,
	GATE_CLOSED,
	GATE_AS_FOUND,
};

static uint64_t gate_value(const struct pmu_session *session, const struct session_unit *unit,
			   enum gate_state state)
{
	uint64_t freeze = pmu_field_bits(gate_of(unit->box), PMU_FIELD_FREEZE, 0);

	if (state == GATE_AS_FOUND)
		return unit->gate_found;
	/* Overflow bits beside it are cleared. */
	if (freeze)
		return state == GATE_CLOSED ? freeze : 0;
	if (state == GATE_CLOSED)
		return unit->gate_found & ~own_bits(session, unit);
	return unit->gate_found | own_bits(session, unit);
}

/* One that fails does not keep the others from being written. */
static int write_gates(struct pmu_session *session, struct pmu_ctx *ctx, enum gate_state state)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++) {
		const struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, gate_of(unit->box), unit->socket,
					 unit->instance};

		if (at.reg)
			error =
			    error_first(error, register_write(session->bus, error ? NULL : ctx, &at,
							      gate_value(session, unit, state)));
	}
	return error;
}

int gate_open(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, GATE_OPEN);
}

int gate_close(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, GATE_CLOSED);
}

int gate_restore(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, GATE_AS_FOUND);
}
