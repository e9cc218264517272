#include "pmon/overflow.h"

#include "pmon/core.h"
#include "pmon/count.h"

uint64_t pmon_convert(const struct pmon *pmon, uint64_t cycle, unsigned from, unsigned to)
{
	uint64_t to_mhz = pmon->config.clock_mhz[to], from_mhz = pmon->config.clock_mhz[from];

	if (from == to)
		return cycle;
	if (!to_mhz)
		return PMON_NEVER;
	return (cycle * to_mhz + from_mhz - 1) / from_mhz;
}

/*
 * A freeze comes only when every overflow that was sent before has been cleared, in its box and in
 * the global status (334291-001 §2.2.1.1, §2.5.1.1, §2.6.2.1).
 */
static bool all_cleared(const struct pmon *pmon, unsigned socket)
{
	const struct pmon_unit *units = pmon_socket_units(pmon, socket);
	const struct pmon_unit *global = &units[pmon->global.unit];

	if (global->regs[pmon->global.status])
		return false;
	for (unsigned i = 0; i < pmon->units_per_socket; i++)
		if (units[i].sent)
			return false;
	return true;
}

static void freeze(struct pmon *pmon, unsigned socket, unsigned clock, uint64_t cycle)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];

	for (unsigned i = 0; i < PMON_CLOCKS; i++) {
		uint64_t stop = pmon_convert(pmon, cycle, clock, i);

		if (stop < state->stop[i])
			state->stop[i] = stop;
	}
}

static void interrupt(struct pmon *pmon, unsigned socket)
{
	const struct pmon_unit *global = pmon_socket_units(pmon, socket) + pmon->global.unit;
	uint64_t cores =
	    pmon_field_get(pmon->global.pmi_core_sel, global->regs[pmon->global.control]);

	for (; cores; cores &= cores - 1)
		eventcount_advance(
		    &pmon->state->sockets[socket].interrupts[__builtin_ctzll(cores)]);
}

/* Of a box that governs itself: the status has a bit of each counter (253669 §18.8.2.1). */
static void overflow_governed(struct pmon *pmon, struct pmon_unit *unit,
			      const struct pmon_counter_desc *desc, uint64_t cycle)
{
	const struct pmon_global *global = &pmon->global;
	uint64_t *status = &unit->regs[global->status], *control = &unit->regs[global->control];

	*status |= desc->status | global->changed;
	if (!(unit->regs[desc->control] & desc->fields.ov_en.mask))
		return;
	*status |= global->interrupted;
	interrupt(pmon, unit->socket);
	if (!(*control & global->pmi_frz))
		return;
	*control &= ~global->enables;
	freeze(pmon, unit->socket, pmon_clock(pmon, unit), cycle + 1);
}

void pmon_overflow(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t cycle)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_counter_desc *desc = &box->counters[index];
	struct pmon_unit *global = pmon_socket_units(pmon, unit->socket) + pmon->global.unit;
	uint64_t message = desc->fixed ? box->global_status_fixed[unit->instance]
				       : box->global_status[unit->instance];
	bool freezes;

	if (box->governor != PMON_NO_REGISTER) {
		overflow_governed(pmon, unit, desc, cycle);
		return;
	}
	/* The box's own bit does not depend on ov_en (§2.2.1.1; field texts differ). */
	if (desc->status)
		unit->regs[box->status] |= desc->status;
	if (!message || !(unit->regs[desc->control] & desc->fields.ov_en.mask))
		return;
	freezes = all_cleared(pmon, unit->socket);
	unit->sent |= desc->status;
	global->regs[pmon->global.status] |= message;
	if (!freezes)
		return;
	freeze(pmon, unit->socket, pmon_clock(pmon, unit), cycle + 1);
	interrupt(pmon, unit->socket);
}

static bool adds_every_cycle(const struct pmon_counter *counter)
{
	if (counter->subscription.measure != PMU_MEASURE_CLOCK)
		return false;
	return counter->thresh == 0 || (counter->thresh == 1 && !counter->invert && !counter->edge);
}

void pmon_schedule(struct pmon *pmon, unsigned socket)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];
	struct pmon_unit *units = pmon_socket_units(pmon, socket);

	for (unsigned clock = 0; clock < PMON_CLOCKS; clock++)
		state->deadline[clock] = PMON_NEVER;
	for (unsigned i = 0; i < pmon->units_per_socket; i++) {
		struct pmon_unit *unit = &units[i];
		const struct pmon_box *box = pmon_box(pmon, unit);
		unsigned clock = box->box->clock;

		if (!unit->clocked || pmon_stop(pmon, unit) != PMON_NEVER)
			continue;
		for (unsigned k = 0; k < box->counter_count; k++) {
			const struct pmon_counter *counter = &unit->counters[k];
			const struct pmon_counter_desc *desc = &box->counters[k];

			if (!adds_every_cycle(counter) ||
			    !(unit->regs[desc->control] & desc->fields.ov_en.mask))
				continue;
			for (unsigned to = 0; to < PMON_CLOCKS; to++) {
				uint64_t due = pmon_convert(
				    pmon, counter->now + counter->limit - counter->value, clock,
				    to);

				if (due < state->deadline[to])
					state->deadline[to] = due;
			}
		}
	}
}

void pmon_due(struct pmon *pmon, unsigned socket, unsigned clock, uint64_t time)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];
	struct pmon_unit *units = pmon_socket_units(pmon, socket);

	while (time >= state->deadline[clock]) {
		for (unsigned i = 0; i < pmon->units_per_socket; i++) {
			unsigned own = pmon_clock(pmon, &units[i]);

			for (unsigned mask = units[i].clocked; mask; mask &= mask - 1)
				pmon_settle(pmon, &units[i], (unsigned)__builtin_ctz(mask),
					    state->deadline[own]);
		}
		pmon_schedule(pmon, socket);
	}
}

void pmon_settle_unit(struct pmon *pmon, struct pmon_unit *unit, const struct pmon_time *now)
{
	if (pmon_is_core(pmon_box(pmon, unit))) {
		pmon_core_settle(pmon, unit);
		return;
	}
	for (unsigned timed = unit->timed; timed; timed &= timed - 1)
		pmon_settle(pmon, unit, (unsigned)__builtin_ctz(timed),
			    now->cycles[pmon_clock(pmon, unit)]);
}

void pmon_settle_socket(struct pmon *pmon, unsigned socket, const struct pmon_time *now)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];
	struct pmon_unit *units = pmon_socket_units(pmon, socket);

	for (unsigned clock = 0; clock < PMON_CLOCKS; clock++) {
		pmon_due(pmon, socket, clock, now->cycles[clock]);
		if (now->cycles[clock] > state->floor[clock])
			state->floor[clock] = now->cycles[clock];
	}
	for (unsigned i = 0; i < pmon->units_per_socket; i++)
		pmon_settle_unit(pmon, &units[i], now);
}
