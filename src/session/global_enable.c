#include "session/global_enable.h"

#include "base/error.h"

/* Bits of the counters of a global enable that stops them one by one; 0: it stops them all. */
static uint64_t counter_bit(const struct pmu_register *control, bool fixed, unsigned index)
{
	return pmu_field_bits(control, fixed ? PMU_FIELD_FIXED_ENABLE : PMU_FIELD_ENABLE, index);
}

const struct pmu_register *global_enable_of(const struct pmu_box *box)
{
	const struct pmu_register *control = pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0);

	if (control && (counter_bit(control, false, 0) | counter_bit(control, true, 0)))
		return control;
	/* The freeze bit beside the overflow bits of an Itanium (323602-001 table 3-7). */
	control = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	return control && pmu_field_bits(control, PMU_FIELD_FREEZE, 0) ? control : NULL;
}

/* Bits of the counters that the session uses. */
static uint64_t own_bits(const struct pmu_session *session, const struct session_unit *unit)
{
	const struct pmu_register *control = global_enable_of(unit->box);
	uint64_t bits = 0;

	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_row *row = &session->rows[r];

		bits |= counter_bit(control, !session->events[row->event].selection.event,
				    row->counter);
	}
	return bits;
}

int global_enable_keep(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count && !error; i++) {
		struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, global_enable_of(unit->box), unit->socket,
					 unit->instance};

		if (at.reg)
			error = register_read(session->bus, ctx, &at, &unit->enable_found);
	}
	return error;
}

/* What is to become of a global enable. */
enum enable_state {
	ENABLE_ON,
	ENABLE_OFF,
	ENABLE_OFF_AT_START,
	ENABLE_AS_FOUND,
};

static uint64_t value_for(const struct pmu_session *session, const struct session_unit *unit,
			  enum enable_state state)
{
	uint64_t freeze = pmu_field_bits(global_enable_of(unit->box), PMU_FIELD_FREEZE, 0);

	if (state == ENABLE_AS_FOUND)
		return unit->enable_found;
	/* Overflow bits beside it are cleared. */
	if (state == ENABLE_ON)
		return freeze ? 0 : unit->enable_found | own_bits(session, unit);
	return freeze ? freeze : unit->enable_found & ~own_bits(session, unit);
}

/* Before the start: one that is off already is left as it is. */
static bool is_needless(const struct session_unit *unit, uint64_t value, enum enable_state state)
{
	return state == ENABLE_OFF_AT_START && value == unit->enable_found;
}

/* One that fails does not keep the others from being written. */
static int write_all(struct pmu_session *session, struct pmu_ctx *ctx, enum enable_state state)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++) {
		const struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, global_enable_of(unit->box), unit->socket,
					 unit->instance};

		uint64_t value = at.reg ? value_for(session, unit, state) : 0;

		if (at.reg && !is_needless(unit, value, state))
			error = error_first(
			    error, register_write(session->bus, error ? NULL : ctx, &at, value));
	}
	return error;
}

int global_enable_off_at_start(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_all(session, ctx, ENABLE_OFF_AT_START);
}

int global_enable_on(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_all(session, ctx, ENABLE_ON);
}

int global_enable_off(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_all(session, ctx, ENABLE_OFF);
}

int global_enable_restore(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_all(session, ctx, ENABLE_AS_FOUND);
}
