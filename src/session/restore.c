#include <stdlib.h>

#include "base/error.h"
#include "session/registers.h"
#include "session/session.h"

static int keep_write(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct register_at *at, uint64_t value)
{
	if (session->found_count == session->found_capacity) {
		size_t capacity = 2 * session->found_capacity + 64;
		struct pmu_access_op *found =
		    realloc(session->found, capacity * sizeof(*session->found));

		if (!found)
			return error_set(ctx, PMU_E_NOMEM, "out of memory for register values");
		session->found = found;
		session->found_capacity = capacity;
	}
	session->found[session->found_count++] =
	    register_op(at, (value & register_kept(at->reg)) | register_must(at->reg));
	return 0;
}

/* Reads a register and keeps the write that restores it. */
static int keep_register(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct register_at *at, uint64_t *value)
{
	int error = register_read(session->bus, ctx, at, value);

	return error ? error : keep_write(session, ctx, at, *value);
}

/* A control, and the counter too if somebody else counts with it. */
static int keep_control(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit, const struct pmu_register *ctl)
{
	bool fixed = ctl->role == PMU_ROLE_FIXED_CTL;
	enum pmu_role role = fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER;
	struct register_at at = {unit->box, ctl, unit->socket, unit->instance};
	uint64_t value, en = register_bits(ctl, "en");
	int error = register_read(session->bus, ctx, &at, &value);

	if (!error && unit->box->quirks & PMU_QUIRK_CONTROL_TWICE)
		error = keep_write(session, ctx, &at, value & ~en);
	if (!error)
		error = keep_write(session, ctx, &at, value);
	if (error || !(value & en))
		return error;
	at.reg = pmu_box_register(unit->box, role, ctl->index);
	return keep_register(session, ctx, &at, &value);
}

static int keep_unit(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct session_unit *unit)
{
	const struct pmu_box *box = unit->box;
	int error = 0;

	for (size_t i = 0; i < box->register_count && !error; i++) {
		const struct pmu_register *reg = &box->registers[i];
		struct register_at at = {box, reg, unit->socket, unit->instance};
		uint64_t value;

		if (reg->role == PMU_ROLE_COUNTER_CTL || reg->role == PMU_ROLE_FIXED_CTL) {
			if (session_writes_control(session, unit, reg))
				error = keep_control(session, ctx, unit, reg);
		} else if (reg->role == PMU_ROLE_FILTER) {
			if (session_filter(session, unit, reg, &value))
				error = keep_register(session, ctx, &at, &value);
		}
	}
	return error;
}

int session_keep(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	session->found_count = 0;
	for (unsigned socket = 0; socket < session->sockets && !error; socket++) {
		struct register_at at = {session->global_box, session->global_ctl, socket, 0};
		uint64_t value;

		error = register_read(session->bus, ctx, &at, &value);
		session->global_found[socket] = value & register_kept(session->global_ctl);
	}
	for (size_t i = 0; i < session->unit_count && !error; i++)
		error = keep_unit(session, ctx, &session->units[i]);
	return error;
}

int session_restore(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = session_freeze(session, ctx);

	for (size_t i = 0; i < session->found_count && !error; i++)
		error = pmu_bus_write(session->bus, ctx, &session->found[i]);
	if (!error)
		error = session_unfreeze_units(session, ctx);
	if (!error)
		error = session_unfreeze(session, ctx);
	return error;
}
