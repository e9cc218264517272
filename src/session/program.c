#include "session/gate.h"
#include "session/registers.h"
#include "session/session.h"

/* Whether anything has to be frozen that has no gate of its own. */
bool session_uses_sockets(const struct pmu_session *session)
{
	bool gates_only = session->unit_count > 0;

	for (size_t i = 0; i < session->unit_count && gates_only; i++)
		gates_only = gate_of(session->units[i].box) != NULL;
	return session->global_ctl && !gates_only;
}

static int write_global_ctl(struct pmu_session *session, struct pmu_ctx *ctx, const char *field)
{
	const struct pmu_register *ctl = session->global_ctl;
	uint64_t set;
	int error = 0;

	if (!session_uses_sockets(session))
		return 0;
	set = register_must(ctl) | register_bits(ctl, field);
	/* A socket that fails does not keep the others from stopping or going on. */
	for (unsigned socket = 0; socket < session->sockets; socket++) {
		struct register_at at = {session->global_box, ctl, socket, 0};
		int failed = register_write(session->bus, error ? NULL : ctx, &at,
					    session->global_found[socket] | set);

		error = error ? error : failed;
	}
	return error;
}

bool session_freezes_box(const struct pmu_session *session, const struct pmu_box *box)
{
	const struct pmu_register *ctl = pmu_box_register(box, PMU_ROLE_BOX_CTL, 0);

	return !session->global_ctl && !gate_of(box) && ctl && register_bits(ctl, "frz");
}

/* Box after box, where no register of the socket does it at once. */
static int freeze_units(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++) {
		const struct session_unit *unit = &session->units[i];
		const struct pmu_register *ctl = pmu_box_register(unit->box, PMU_ROLE_BOX_CTL, 0);
		struct register_at at = {unit->box, ctl, unit->socket, unit->instance};
		int failed;

		if (!session_freezes_box(session, unit->box))
			continue;
		failed = register_write(session->bus, error ? NULL : ctx, &at,
					register_must(ctl) | register_bits(ctl, "frz"));
		error = error ? error : failed;
	}
	return error;
}

int session_freeze(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = write_global_ctl(session, ctx, "frz_all");
	int failed = gate_close(session, error ? NULL : ctx);

	error = error ? error : failed;
	failed = freeze_units(session, error ? NULL : ctx);
	return error ? error : failed;
}

int session_unfreeze(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = gate_open(session, ctx);
	int failed = write_global_ctl(session, error ? NULL : ctx, "unfrz_all");

	return error ? error : failed;
}

int session_unfreeze_others(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = gate_restore(session, ctx);
	int failed = write_global_ctl(session, error ? NULL : ctx, "unfrz_all");

	return error ? error : failed;
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

int session_unfreeze_units(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	/* A write without frz lets the box go on (334291-001 §2.1.2), whether others do or not. */
	for (size_t i = 0; i < session->unit_count; i++) {
		int failed = write_role(session, error ? NULL : ctx, &session->units[i],
					PMU_ROLE_BOX_CTL, 0, 0);

		error = error ? error : failed;
	}
	return error;
}

bool session_writes_control(const struct pmu_session *session, const struct session_unit *unit,
			    const struct pmu_register *ctl)
{
	bool fixed = ctl->role == PMU_ROLE_FIXED_CTL;

	/* Resetting a box clears all its controls. */
	if (pmu_box_register(unit->box, PMU_ROLE_BOX_CTL, 0))
		return true;
	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_event *event = &session->events[session->rows[r].event];

		if (fixed ? !event->selection.event
			  : event->selection.event && event->counter == ctl->index)
			return true;
	}
	return false;
}

bool session_filter(const struct pmu_session *session, const struct session_unit *unit,
		    const struct pmu_register *reg, uint64_t *value)
{
	bool used = false;

	*value = 0;
	for (size_t m = 0; m < unit->box->modifier_count; m++) {
		const struct pmu_modifier *filter = &unit->box->modifiers[m];

		if (filter->reg != reg)
			continue;
		for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
			const struct session_event *event =
			    &session->events[session->rows[r].event];
			uint64_t set;

			if (!selection_depends(&event->selection, filter, &set))
				continue;
			set = selection_value(set, &session->nodes[unit->socket]);
			*value |= set << filter->lo & pmu_mask(filter->hi, filter->lo);
			used = true;
		}
	}
	return used;
}

/*
 * The manual's recipe resets the controls after it has programmed them; the reset comes first here.
 * The reset write itself lets the box go on, so that the freeze follows it.
 */
static int reset_unit(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct session_unit *unit)
{
	const struct pmu_register *ctl = pmu_box_register(unit->box, PMU_ROLE_BOX_CTL, 0);
	const struct pmu_register *status = pmu_box_register(unit->box, PMU_ROLE_BOX_STATUS, 0);
	struct register_at clear = {unit->box, status_clear_of(unit->box), unit->socket,
				    unit->instance};
	int error = 0;

	if (ctl)
		error = write_role(session, ctx, unit, PMU_ROLE_BOX_CTL, 0,
				   register_bits(ctl, "rst_ctrl") | register_bits(ctl, "rst_ctrs"));
	if (ctl && !error)
		error =
		    write_role(session, ctx, unit, PMU_ROLE_BOX_CTL, 0, register_bits(ctl, "frz"));
	if (status && !error)
		error = write_role(session, ctx, unit, PMU_ROLE_BOX_STATUS, 0,
				   register_clearing(status));
	if (!status && clear.reg && !error)
		error =
		    register_write(session->bus, ctx, &clear, session_status_bits(session, unit));
	return error;
}

static int write_filters(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit)
{
	int error = 0;

	for (size_t i = 0; i < unit->box->register_count && !error; i++) {
		const struct pmu_register *reg = &unit->box->registers[i];
		struct register_at at = {unit->box, reg, unit->socket, unit->instance};
		uint64_t value;

		if (reg->role == PMU_ROLE_FILTER && session_filter(session, unit, reg, &value))
			error = register_write(session->bus, ctx, &at, value | register_must(reg));
	}
	return error;
}

/* The one control of several fixed counters keeps the fields of the others. */
static int write_fixed_fields(struct pmu_session *session, struct pmu_ctx *ctx,
			      const struct session_unit *unit, const struct session_event *event,
			      uint64_t control)
{
	struct register_at at = {unit->box, pmu_box_register(unit->box, PMU_ROLE_FIXED_CTL, 0),
				 unit->socket, unit->instance};
	uint64_t value;
	int error = register_read(session->bus, ctx, &at, &value);

	if (error)
		return error;
	value &= register_kept(at.reg) & ~register_bits_numbered(at.reg, event->counter);
	return register_write(session->bus, ctx, &at, value | control);
}

static int write_counter(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct session_unit *unit, const struct session_event *event)
{
	bool fixed = !event->selection.event;
	enum pmu_role ctl_role = fixed ? PMU_ROLE_FIXED_CTL : PMU_ROLE_COUNTER_CTL;
	enum pmu_role counter_role = fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER;
	unsigned index = fixed ? 0 : event->counter;
	const struct pmu_register *ctl = pmu_box_register(unit->box, ctl_role, index);
	const struct pmu_register *box_ctl = pmu_box_register(unit->box, PMU_ROLE_BOX_CTL, 0);
	bool shared = fixed && unit->box->fixed_count > 1;
	uint64_t control = pmu_event_control(&event->selection);
	int error = 0;

	/* The box's reset does not say that it clears fixed counters (334291-001 table 2-113). */
	if (fixed || !box_ctl || !register_bits(box_ctl, "rst_ctrs"))
		error = write_role(session, ctx, unit, counter_role, event->counter, 0);
	if (unit->box->quirks & PMU_QUIRK_CONTROL_TWICE && !error)
		error = write_role(session, ctx, unit, ctl_role, index, control);
	if (error)
		return error;
	if (shared)
		return write_fixed_fields(session, ctx, unit, event, control);
	return write_role(session, ctx, unit, ctl_role, index, control | register_bits(ctl, "en"));
}

static int program_unit(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct session_unit *unit)
{
	int error = reset_unit(session, ctx, unit);

	if (!error)
		error = write_filters(session, ctx, unit);
	for (size_t r = unit->first_row; r != SESSION_NONE && !error; r = session->rows[r].next)
		error = write_counter(session, ctx, unit, &session->events[session->rows[r].event]);
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

		error = register_write(session->bus, ctx, &at, register_clearing(status));
	}
	return error;
}

int session_program(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = session_freeze(session, ctx);

	for (size_t i = 0; i < session->unit_count && !error; i++)
		error = program_unit(session, ctx, &session->units[i]);
	if (!error)
		error = clear_global_status(session, ctx);
	if (!error)
		error = session_unfreeze_units(session, ctx);
	for (size_t r = 0; r < session->row_count; r++)
		session->rows[r].raw = session->rows[r].wraps = 0;
	return error ? error : session_unfreeze(session, ctx);
}
