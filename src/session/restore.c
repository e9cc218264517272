#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/hardware.h"
#include "session/busy.h"
#include "session/global_enable.h"
#include "session/guardian.h"
#include "session/registers.h"
#include "session/session.h"

static int append(struct pmu_ctx *ctx, struct session_writes *writes,
		  const struct pmu_access_op *op)
{
	if (writes->count == writes->capacity) {
		size_t capacity = 2 * writes->capacity + 64;
		struct pmu_access_op *ops = realloc(writes->ops, capacity * sizeof(*ops));

		if (!ops)
			return error_set(ctx, PMU_E_NOMEM, "out of memory for register values");
		writes->ops = ops;
		writes->capacity = capacity;
	}
	writes->ops[writes->count++] = *op;
	return 0;
}

static int keep_write(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct register_at *at, uint64_t value)
{
	struct pmu_access_op op =
	    register_op(at, (value & register_kept(at->reg)) | register_must(at->reg));

	return append(ctx, &session->found, &op);
}

/* Reads a register and keeps the write that restores it. */
static int keep_register(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct register_at *at, uint64_t *value)
{
	int error = register_read(session->bus, ctx, at, value);

	return error ? error : keep_write(session, ctx, at, *value);
}

/*
 * A counter is restored where all its bits can be written; the low ones may stand in its control,
 * with a bit that lets them be written (323602-001 table 5-47).
 */
static int keep_counter(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit, const struct pmu_register *counter)
{
	bool fixed = counter->role == PMU_ROLE_FIXED_COUNTER;
	struct register_at at = {unit->box, counter, unit->socket, unit->instance};
	const struct pmu_register *alias, *ctl;
	uint64_t value, low;
	int error;

	alias = fixed ? NULL : pmu_box_register(at.box, PMU_ROLE_COUNTER_ALIAS, counter->index);
	ctl = fixed ? NULL : pmu_box_register(at.box, PMU_ROLE_COUNTER_CTL, counter->index);
	if (alias)
		at.reg = alias;
	error = keep_register(session, ctx, &at, &value);
	low = ctl ? pmu_field_bits(ctl, PMU_FIELD_COUNT_LOW_WRITE, 0) : 0;
	at.reg = ctl;
	if (error || !low)
		return error;
	error = register_read(session->bus, ctx, &at, &value);
	value &= pmu_field_bits(ctl, PMU_FIELD_COUNT_LOW, 0);
	return error ? error : keep_write(session, ctx, &at, value | low);
}

/* Whether the session writes this counter, or has it count. */
static bool uses_counter(const struct pmu_session *session, const struct session_unit *unit,
			 const struct pmu_register *counter)
{
	bool fixed = counter->role == PMU_ROLE_FIXED_COUNTER;

	if (session_resets_counters(unit->box))
		return true;
	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_row *row = &session->rows[r];

		if (!session->events[row->event].selection.event == fixed &&
		    row->counter == counter->index)
			return true;
	}
	return false;
}

/* Before the controls, which may let them count. */
static int keep_counters(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit)
{
	const struct pmu_box *box = unit->box;
	int error = 0;

	for (size_t i = 0; i < box->register_count && !error; i++) {
		const struct pmu_register *reg = &box->registers[i];

		if ((reg->role == PMU_ROLE_COUNTER || reg->role == PMU_ROLE_FIXED_COUNTER) &&
		    uses_counter(session, unit, reg))
			error = keep_counter(session, ctx, unit, reg);
	}
	return error;
}

/* The one control of several fixed counters. */
static int keep_shared_control(struct pmu_session *session, struct pmu_ctx *ctx,
			       const struct session_unit *unit, const struct pmu_register *ctl)
{
	struct register_at at = {unit->box, ctl, unit->socket, unit->instance};
	uint64_t value;
	int error = keep_register(session, ctx, &at, &value);
	bool busy = false;

	for (size_t r = unit->first_row; r != SESSION_NONE && !error; r = session->rows[r].next) {
		const struct session_event *event = &session->events[session->rows[r].event];

		busy |= !event->selection.event && value & register_fixed_bits(ctl, event->counter);
	}
	if (busy)
		session_busy_note(session, &at, value);
	return error;
}

static int keep_control(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit, const struct pmu_register *ctl)
{
	struct register_at at = {unit->box, ctl, unit->socket, unit->instance};
	uint64_t value;
	int error = register_read(session->bus, ctx, &at, &value);

	if (!error && unit->box->quirks & PMU_QUIRK_CONTROL_TWICE)
		error = keep_write(session, ctx, &at, value & ~ctl->enabled);
	if (!error)
		error = keep_write(session, ctx, &at, value);
	if (!error && register_enables(ctl, value))
		session_busy_note(session, &at, value);
	return error;
}

static int keep_unit(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct session_unit *unit)
{
	const struct pmu_box *box = unit->box;
	int error = keep_counters(session, ctx, unit);

	for (size_t i = 0; i < box->register_count && !error; i++) {
		const struct pmu_register *reg = &box->registers[i];
		struct register_at at = {box, reg, unit->socket, unit->instance};
		uint64_t value = 0;

		if (!session_writes(unit, reg))
			continue;
		if (reg->role == PMU_ROLE_FIXED_CTL && box->fixed_count > 1)
			error = keep_shared_control(session, ctx, unit, reg);
		else if (reg->role == PMU_ROLE_COUNTER_CTL || reg->role == PMU_ROLE_FIXED_CTL)
			error = keep_control(session, ctx, unit, reg);
		else
			error = keep_register(session, ctx, &at, &value);
		/* One register enables all counters of the box. */
		if (!error && reg->role == PMU_ROLE_BOX_CTL && register_enables(reg, value))
			session_busy_note(session, &at, value);
	}
	return error;
}

static int keep_all(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	session->found.count = session->busy_count = 0;
	session->busy[0] = '\0';
	for (unsigned socket = 0;
	     socket < session->sockets && session_uses_sockets(session) && !error; socket++) {
		struct register_at at = {session->global_box, session->global_ctl, socket, 0};
		uint64_t value;

		if (!session_counts_on(session, socket))
			continue;
		error = register_read(session->bus, ctx, &at, &value);
		session->global_found[socket] = value & register_kept(session->global_ctl);
	}
	if (!error)
		error = global_enable_keep(session, ctx);
	for (size_t i = 0; i < session->unit_count && !error; i++)
		error = keep_unit(session, ctx, &session->units[i]);
	return error ? error : session_busy_refuse(session, ctx);
}

/* In the place of the session's bus: a write to it becomes one of the plan. */
struct planner {
	struct pmu_bus bus;
	struct pmu_session *session;
};

static int planner_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	(void)ref;
	return append(ctx, &((struct planner *)bus)->session->plan, op);
}

static const struct bus_ops planner_ops = {.write = planner_write};

static int restore_in_order(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = session_freeze(session, ctx);

	for (size_t i = 0; i < session->found.count && !error; i++)
		error = pmu_bus_write(session->bus, ctx, &session->found.ops[i]);
	if (!error)
		error = session_unfreeze_units(session, ctx);
	return error ? error : session_unfreeze_others(session, ctx);
}

/*
 * All writes that restore, before the first register changes: what restores has nothing left to
 * find out or to allocate, and can be left to another process or to a later run.
 */
static int plan(struct pmu_session *session, struct pmu_ctx *ctx)
{
	struct pmu_bus *bus = session->bus;
	struct planner planner = {.bus = *bus, .session = session};
	int error;

	planner.bus.ops = &planner_ops;
	session->plan.count = 0;
	session->bus = &planner.bus;
	error = restore_in_order(session, ctx);
	session->bus = bus;
	return error;
}

int session_keep(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = keep_all(session, ctx);

	if (!error)
		error = plan(session, ctx);
	if (!error && session->guardian)
		error = guardian_start(session->guardian, ctx, bus_untraced(session->bus),
				       session->plan.ops, session->plan.count);
	return error;
}

int session_restore(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return bus_write_all(session->bus, ctx, session->plan.ops, session->plan.count);
}
