#include "base/error.h"
#include "session/global_enable.h"
#include "session/registers.h"
#include "session/seats.h"
#include "session/session.h"

/* Whether anything has to be frozen that has no global enable of its own. */
bool session_uses_sockets(const struct pmu_session *session)
{
	bool own_only = session->unit_count > 0;

	for (size_t i = 0; i < session->unit_count && own_only; i++)
		own_only = global_enable_of(session->units[i].box) != NULL;
	return session->global_ctl && !own_only;
}

static int write_global_ctl(struct pmu_session *session, struct pmu_ctx *ctx,
			    enum pmu_field_role role)
{
	const struct pmu_register *ctl = session->global_ctl;
	uint64_t own, bit;
	int error = 0;

	if (!session_uses_sockets(session))
		return 0;
	bit = pmu_field_bits(ctl, role, 0);
	own = pmu_field_bits(ctl, PMU_FIELD_FREEZE, 0) | pmu_field_bits(ctl, PMU_FIELD_UNFREEZE, 0);
	/* A socket that fails does not keep the others from stopping or going on. */
	for (unsigned socket = 0; socket < session->sockets; socket++) {
		struct register_at at = {session->global_box, ctl, socket, 0};
		uint64_t others = (session->global_found[socket] & ~own) | register_must(ctl);

		if (!session_counts_on(session, socket))
			continue;
		if (session->global_box->quirks & PMU_QUIRK_FREEZE_PULSES)
			error = error_first(
			    error, register_write(session->bus, error ? NULL : ctx, &at, others));
		error = error_first(
		    error, register_write(session->bus, error ? NULL : ctx, &at, others | bit));
	}
	return error;
}

/* Writes the register of a role with the bits it demands and @set; boxes without it are left out.
 */
static int write_role(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct session_unit *unit, enum pmu_role role, unsigned index,
		      uint64_t set)
{
	const struct pmu_register *reg = pmu_box_register(unit->box, role, index);
	struct register_at at = {unit->box, reg, unit->socket, unit->instance};

	return reg ? register_write(session->bus, ctx, &at, register_must(reg) | set) : 0;
}

static uint64_t box_bits(const struct pmu_box *box, enum pmu_field_role role)
{
	const struct pmu_register *ctl = pmu_box_register(box, PMU_ROLE_BOX_CTL, 0);

	return ctl ? pmu_field_bits(ctl, role, 0) : 0;
}

/* Bits of a box's control that freeze it; a freeze may have an enable of its own. */
static uint64_t freeze_bits(const struct pmu_box *box)
{
	return box_bits(box, PMU_FIELD_FREEZE) | box_bits(box, PMU_FIELD_FREEZE_ENABLE);
}

/* What freezes a box in whatever is written to its control: its counters go on with a 0. */
static uint64_t freeze_level(const struct pmu_box *box)
{
	return box_bits(box, PMU_FIELD_UNFREEZE) ? 0 : freeze_bits(box);
}

bool session_freezes_box(const struct pmu_session *session, const struct pmu_box *box)
{
	return !session->global_ctl && !global_enable_of(box) && box_bits(box, PMU_FIELD_FREEZE);
}

bool session_disables_box(const struct pmu_session *session, const struct pmu_box *box)
{
	return !session->global_ctl && !global_enable_of(box) && !session_freezes_box(session, box);
}

/* Writes the controls of a unit: those of counters that others have beside them stay. */
static int write_control(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit, const struct pmu_write *write,
			 uint64_t value)
{
	struct register_at at = {unit->box, write->reg, unit->socket, unit->instance};
	uint64_t found;
	int error;

	if (write->mask == UINT64_MAX)
		return register_write(session->bus, ctx, &at, value);
	error = register_read(session->bus, ctx, &at, &found);
	found &= register_kept(write->reg) & ~write->mask;
	return error ? error
		     : register_write(session->bus, ctx, &at, found | (value & write->mask));
}

/* Counters that nothing freezes are disabled. */
static int disable_unit(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit)
{
	int error = 0;

	for (size_t i = 0; i < unit->write_count; i++) {
		const struct pmu_write *write = &unit->writes[i];
		struct register_at at = {unit->box, write->reg, unit->socket, unit->instance};

		if (session_is_control(write))
			error =
			    error_first(error, register_write(session->bus, error ? NULL : ctx, &at,
							      write->value & ~write->reg->enabled));
	}
	return error;
}

/* Box after box, where no register of the socket does it at once. */
static int freeze_units(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++) {
		const struct session_unit *unit = &session->units[i];
		struct pmu_ctx *told = error ? NULL : ctx;

		if (session_freezes_box(session, unit->box))
			error = error_first(error, write_role(session, told, unit, PMU_ROLE_BOX_CTL,
							      0, freeze_bits(unit->box)));
		else if (session_disables_box(session, unit->box))
			error = error_first(error, disable_unit(session, told, unit));
	}
	return error;
}

/* What is off already is not switched off. */
static int freeze_at_start(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = write_global_ctl(session, ctx, PMU_FIELD_FREEZE);

	error = error_first(error, global_enable_off_at_start(session, error ? NULL : ctx));
	return error_first(error, freeze_units(session, error ? NULL : ctx));
}

int session_freeze(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = write_global_ctl(session, ctx, PMU_FIELD_FREEZE);

	error = error_first(error, global_enable_off(session, error ? NULL : ctx));
	return error_first(error, freeze_units(session, error ? NULL : ctx));
}

int session_unfreeze(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = global_enable_on(session, ctx);

	return error_first(error,
			   write_global_ctl(session, error ? NULL : ctx, PMU_FIELD_UNFREEZE));
}

int session_unfreeze_others(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = global_enable_restore(session, ctx);

	return error_first(error,
			   write_global_ctl(session, error ? NULL : ctx, PMU_FIELD_UNFREEZE));
}

static bool has_step(const struct pmu_session *session, enum pmu_step step)
{
	for (size_t i = 0; i < session->pmu->step_count; i++)
		if (session->pmu->steps[i] == step)
			return true;
	return false;
}

/* Whether all boxes are frozen at once, behind their reset. */
static bool freezes_after_reset(const struct pmu_session *session)
{
	for (size_t i = 0; i < session->pmu->step_count; i++)
		if (session->pmu->steps[i] == PMU_STEP_RESET)
			return true;
		else if (session->pmu->steps[i] == PMU_STEP_FREEZE)
			break;
	return false;
}

int session_unfreeze_units(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	if (!has_step(session, PMU_STEP_UNFREEZE_BOXES) && !freezes_after_reset(session))
		return 0;
	/* A write without frz lets the box go on (334291-001 §2.1.2), whether others do or not. */
	for (size_t i = 0; i < session->unit_count; i++)
		error = error_first(error, write_role(session, error ? NULL : ctx,
						      &session->units[i], PMU_ROLE_BOX_CTL, 0, 0));
	return error;
}

bool session_resets_counters(const struct pmu_box *box)
{
	return box_bits(box, PMU_FIELD_RESET_COUNTERS) | box_bits(box, PMU_FIELD_HOLD_COUNTERS);
}

bool session_writes(const struct session_unit *unit, const struct pmu_register *reg)
{
	bool control = reg->role == PMU_ROLE_COUNTER_CTL || reg->role == PMU_ROLE_FIXED_CTL;

	return (control && box_bits(unit->box, PMU_FIELD_RESET_CONTROLS)) ||
	       session_write_to(unit, reg);
}

/* Whether an earlier unit has the same box control, as ports of the Itanium's router have. */
static bool is_reset_already(const struct pmu_session *session, const struct session_unit *unit)
{
	for (const struct session_unit *other = session->units; other < unit; other++)
		if (other->box == unit->box && other->socket == unit->socket &&
		    seats_of(unit->box, other->instance) == seats_of(unit->box, unit->instance))
			return true;
	return false;
}

/* Gives a command to a box whose control holds settings too, which stay. */
static int command_box(struct pmu_session *session, struct pmu_ctx *ctx,
		       const struct session_unit *unit, uint64_t command)
{
	struct register_at at = {unit->box, pmu_box_register(unit->box, PMU_ROLE_BOX_CTL, 0),
				 unit->socket, unit->instance};
	uint64_t found;
	int error = register_read(session->bus, ctx, &at, &found);

	return error ? error
		     : register_write(session->bus, ctx, &at,
				      (found & register_kept(at.reg)) | register_must(at.reg) |
					  command);
}

/*
 * The manual's recipe resets the controls after it has programmed them; the reset comes first here.
 * The reset write itself lets the box go on, so that the freeze follows it.
 */
static int reset_unit(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct session_unit *unit)
{
	uint64_t reset = box_bits(unit->box, PMU_FIELD_RESET_CONTROLS) |
			 box_bits(unit->box, PMU_FIELD_RESET_COUNTERS);
	uint64_t hold = box_bits(unit->box, PMU_FIELD_HOLD_COUNTERS);
	uint64_t freeze = freeze_level(unit->box);
	int error = 0;

	if (is_reset_already(session, unit))
		return 0;
	if (hold)
		return write_role(session, ctx, unit, PMU_ROLE_BOX_CTL, 0, hold | freeze);
	if (reset && !freeze)
		return command_box(session, ctx, unit, reset);
	if (reset)
		error = write_role(session, ctx, unit, PMU_ROLE_BOX_CTL, 0, reset);
	if (freeze && !error && !freezes_after_reset(session))
		error = write_role(session, ctx, unit, PMU_ROLE_BOX_CTL, 0, freeze);
	return error;
}

static int clear_overflow(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct session_unit *unit)
{
	const struct pmu_register *status = pmu_box_register(unit->box, PMU_ROLE_BOX_STATUS, 0);
	struct register_at clear = {unit->box, status_clear_of(unit->box), unit->socket,
				    unit->instance};

	if (status)
		return write_role(session, ctx, unit, PMU_ROLE_BOX_STATUS, 0,
				  register_clearing(status));
	if (!clear.reg)
		return 0;
	return register_write(session->bus, ctx, &clear, session_status_bits(session, unit));
}

static int write_filters(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit)
{
	int error = 0;

	for (size_t i = 0; i < unit->write_count && !error; i++) {
		const struct pmu_write *write = &unit->writes[i];
		struct register_at at = {unit->box, write->reg, unit->socket, unit->instance};
		uint64_t frozen =
		    write->reg->role == PMU_ROLE_BOX_CTL ? freeze_level(unit->box) : 0;

		if (!session_is_control(write))
			error = register_write(session->bus, ctx, &at, write->value | frozen);
	}
	return error;
}

/* Of a count in two registers, the low bits stand in the control, with a bit that lets them be
 * written (323602-001 table 5-47), or the control brings zeros for the high ones. */
static int zero_counter(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit, bool fixed, unsigned counter)
{
	const struct pmu_register *ctl = pmu_box_register(unit->box, PMU_ROLE_COUNTER_CTL, counter);
	uint64_t low = ctl && !fixed ? pmu_field_bits(ctl, PMU_FIELD_COUNT_LOW_WRITE, 0) : 0;
	int error = write_role(session, ctx, unit,
			       fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER, counter, 0);

	if (low && !error)
		error = write_role(session, ctx, unit, PMU_ROLE_COUNTER_CTL, counter, low);
	return error;
}

static int write_counters(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct session_unit *unit)
{
	bool reset = session_resets_counters(unit->box);
	int error = 0;

	for (size_t r = unit->first_row; r != SESSION_NONE && !error; r = session->rows[r].next) {
		const struct session_row *row = &session->rows[r];
		bool fixed = !session->events[row->event].selection.event;

		/* The box's reset does not say that it clears fixed counters (334291-001 table
		 * 2-113). */
		if (fixed || !reset)
			error = zero_counter(session, ctx, unit, fixed, row->counter);
	}
	return error;
}

static int write_controls(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct session_unit *unit)
{
	int error = 0;

	for (size_t i = 0; i < unit->write_count && !error; i++)
		if (session_is_control(&unit->writes[i]))
			error = write_control(session, ctx, unit, &unit->writes[i],
					      unit->writes[i].value);
	return error;
}

static int clear_global_status(struct pmu_session *session, struct pmu_ctx *ctx)
{
	const struct pmu_register *status = session->global_status;
	int error = 0;

	if (!status || !session_uses_sockets(session))
		return 0;
	for (unsigned socket = 0; socket < session->sockets && !error; socket++) {
		struct register_at at = {session->global_box, status, socket, 0};

		if (session_counts_on(session, socket))
			error = register_write(session->bus, ctx, &at, register_clearing(status));
	}
	return error;
}

typedef int unit_step(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct session_unit *unit);

static unit_step *const unit_steps[] = {
    [PMU_STEP_RESET] = reset_unit,	  [PMU_STEP_CLEAR_OVERFLOW] = clear_overflow,
    [PMU_STEP_FILTERS] = write_filters,	  [PMU_STEP_COUNTERS] = write_counters,
    [PMU_STEP_CONTROLS] = write_controls, [PMU_STEP_UNFREEZE] = NULL,
};

/* Steps @from to @to, box by box. */
static int program_units(struct pmu_session *session, struct pmu_ctx *ctx, size_t from, size_t to)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++)
		for (size_t s = from; s < to && !error; s++)
			error =
			    unit_steps[session->pmu->steps[s]](session, ctx, &session->units[i]);
	return error;
}

static int program_all(struct pmu_session *session, struct pmu_ctx *ctx, enum pmu_step step)
{
	switch (step) {
	case PMU_STEP_FREEZE:
		return freeze_at_start(session, ctx);
	case PMU_STEP_CLEAR_GLOBAL:
		return clear_global_status(session, ctx);
	case PMU_STEP_UNFREEZE_BOXES:
		return session_unfreeze_units(session, ctx);
	default:
		return session_unfreeze(session, ctx);
	}
}

int session_program(struct pmu_session *session, struct pmu_ctx *ctx)
{
	const struct pmu_pmu *pmu = session->pmu;
	int error = 0;

	for (size_t r = 0; r < session->row_count; r++)
		session->rows[r].raw = session->rows[r].wraps = 0;
	for (size_t s = 0; s < pmu->step_count && !error;) {
		size_t end = s;

		while (end < pmu->step_count && unit_steps[pmu->steps[end]])
			end++;
		if (end == s)
			error = program_all(session, ctx, pmu->steps[s++]);
		else
			error = program_units(session, ctx, s, end);
		s = end > s ? end : s;
	}
	return error;
}
