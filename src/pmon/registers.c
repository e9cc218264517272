#include "pmon/registers.h"

#include <string.h>

#include "pmon/core.h"
#include "pmon/count.h"
#include "pmon/overflow.h"
#include "pmon/select.h"
#include "pmon/strict.h"
#include "pmon/taps.h"

bool pmon_find_register_ref(const struct pmon *pmon, const struct pmon_access *access,
			    struct pmon_register_ref *place)
{
	const struct pmon_address *found;
	const struct pmon_box *box;
	unsigned instance;

	if (access->socket >= pmon->config.sockets || (access->width != 32 && access->width != 64))
		return false;
	found = pmon_addresses_find(&pmon->addresses, access->space, access->address);
	if (!found)
		return false;
	box = &pmon->boxes[found->box];
	instance = pmon_is_core(box) ? access->core : found->instance;
	if (instance >= box->box->instance_count)
		return false;
	/* An upper half is reached as a dword; a PCI register takes no more than it has. */
	if (box->box->space == PMU_SPACE_PCI &&
	    access->width > (found->shift ? 32 : box->box->registers[found->reg].width))
		return false;
	*place = (struct pmon_register_ref){
	    .unit = pmon_socket_units(pmon, access->socket) + box->first_unit + instance,
	    .reg = found->reg,
	    .shift = found->shift,
	    .width = access->width,
	    .present = box->present >> instance & 1,
	};
	return true;
}

int pmon_counter_of(const struct pmon_box *box, unsigned reg)
{
	for (unsigned k = 0; k < box->counter_count; k++)
		if (box->counters[k].counter == reg)
			return (int)k;
	if (box->box->registers[reg].role == PMU_ROLE_COUNTER_ALIAS)
		return box->box->registers[reg].index;
	return -1;
}

int pmon_control_of(const struct pmon_box *box, unsigned reg)
{
	for (unsigned k = 0; k < box->counter_count; k++)
		if (box->counters[k].control == reg)
			return (int)k;
	return -1;
}

uint64_t pmon_register_value(const struct pmon *pmon, const struct pmon_unit *unit, unsigned reg)
{
	int counter = pmon_counter_of(pmon_box(pmon, unit), reg);

	return counter < 0
		   ? unit->regs[reg]
		   : unit->counters[counter].value - pmon_ahead(pmon, unit, (unsigned)counter);
}

/* What a part reads as at the registers that identify it. */
static uint64_t discovery_value(const struct pmon *pmon, const struct pmon_unit *unit,
				const struct pmu_register *reg)
{
	const struct pmu_field *node_id = pmu_field_by_role(reg, PMU_FIELD_NODE_ID, 0);

	for (size_t i = 0; i < pmon->config.strap_count; i++)
		if (!strcmp(reg->name, pmon->config.straps[i].reg))
			return pmon->config.straps[i].value;
	if (node_id)
		return (uint64_t)unit->socket << node_id->lo;
	return pmu_register_reset(pmon_box(pmon, unit)->box, reg, unit->instance);
}

void pmon_reset_unit(const struct pmon *pmon, struct pmon_unit *unit)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	for (unsigned r = 0; r < box->box->register_count; r++) {
		const struct pmu_register *reg = &box->box->registers[r];

		unit->regs[r] =
		    reg->role == PMU_ROLE_DISCOVERY ? discovery_value(pmon, unit, reg) : reg->reset;
	}
	for (unsigned k = 0; k < box->counter_count; k++)
		unit->counters[k].limit = 1ull << box->box->counter_width;
}

/* Of the numbers that its signal holds, what the counter wants and all. */
static struct pmon_change held_levels(const struct pmon *pmon, const struct pmon_unit *unit,
				      const struct pmon_subscription *subscription)
{
	struct pmon_change held = {0, 0};

	for (unsigned id = 1; subscription->level && id < SIGNAL_COUNT; id++) {
		const struct pmon_route *route = &pmon->routes[id];

		if (route->slot != subscription->slot || route->kind != SIGNAL_LEVEL ||
		    !route->instances || pmon->units[route->first_unit].box != unit->box)
			continue;
		for (unsigned i = 0; i <= signal_table[id].qualifier_count; i++) {
			const struct pmon_level *level = &unit->levels[route->first_level + i];
			struct signal as_emitted = {.qualifiers = i ? 1u << (i - 1) : 0};

			held.open += level->value;
			if (pmon_matches(subscription, &as_emitted))
				held.level += level->value;
		}
	}
	return held;
}

void pmon_configure(struct pmon *pmon, struct pmon_unit *unit, uint64_t now)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	if (pmon_is_core(box)) {
		pmon_core_configure(pmon, unit);
		return;
	}
	memset(unit->subscribed, 0, sizeof(unit->subscribed));
	unit->clocked = unit->timed = 0;
	pmon->state->sockets[unit->socket].reporting -= unit->reporting;
	unit->reporting = 0;
	for (unsigned k = 0; k < box->counter_count; k++) {
		const struct pmon_control *fields = &box->counters[k].fields;
		uint64_t control = pmon_control_in_effect(box, unit, k);
		bool occ = (box->box->quirks & PMU_QUIRK_OCC_CONTROLS) &&
			   (pmon_field_get(fields->ev_sel, control) & 0x80);
		struct pmon_counter *counter = &unit->counters[k];
		struct pmon_subscription subscription;
		bool was_plain = counter->plain, same;

		pmon_select(pmon, unit, k, &subscription);
		counter->thresh = (uint8_t)pmon_field_get(fields->thresh, control);
		/* Both come behind the threshold (§1.4) and do nothing without one. */
		counter->invert = control & (occ ? fields->occ_invert : fields->invert).mask;
		counter->edge = control & (occ ? fields->occ_edge_det : fields->edge_det).mask;
		counter->plain = subscription.measure == PMU_MEASURE_COUNT && !counter->thresh;
		same = !memcmp(&subscription, &counter->subscription, sizeof(subscription)) &&
		       counter->plain == was_plain;
		counter->subscription = subscription;
		if (!same)
			pmon_restart(pmon, unit, k, now, held_levels(pmon, unit, &subscription));
		pmon_compare(counter);
		unit->reporting +=
		    subscription.measure != PMU_MEASURE_NONE && control & fields->ov_en.mask;
		if (subscription.measure != PMU_MEASURE_NONE && !counter->plain)
			unit->timed |= (uint16_t)(1u << k);
		if (subscription.measure == PMU_MEASURE_CLOCK)
			unit->clocked |= (uint16_t)(1u << k);
		else if (subscription.measure != PMU_MEASURE_NONE)
			unit->subscribed[subscription.slot] |= (uint16_t)(1u << k);
	}
	pmon->state->sockets[unit->socket].reporting += unit->reporting;
}

void pmon_enable(struct pmon *pmon, const struct pmon_box *box)
{
	for (unsigned id = 1; id < SIGNAL_COUNT; id++) {
		const struct pmon_route *route = &pmon->routes[id];
		uint8_t enabled;

		if (box && route->first_unit != box->first_unit)
			continue;
		/* Numbers are remembered for counters that are enabled later. */
		enabled = route->instances && (route->kind == SIGNAL_LEVEL ||
					       pmon_core_always_subscribes(&pmon->core, id));

		for (unsigned s = 0; s < pmon->config.sockets && !enabled; s++) {
			const struct pmon_unit *units =
			    pmon_socket_units(pmon, s) + route->first_unit;

			for (unsigned i = 0; i < route->instances && !enabled; i++)
				enabled = units[i].subscribed[route->slot] != 0;
		}
		pmon->state->enabled[id] = enabled;
	}
}

static void write_box_control(const struct pmon *pmon, struct pmon_unit *unit, uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	/* Every write sets the freeze or ends it, a write that resets too (§2.1.2 f). */
	unit->frozen = (value & box->frz.mask) && (!box->frz_en.mask || (value & box->frz_en.mask));
	for (unsigned k = 0; k < box->counter_count; k++) {
		if (value & box->rst_ctrs.mask)
			unit->counters[k].value = 0;
		if (value & box->rst_ctrl.mask)
			unit->regs[box->counters[k].control] = unit->counters[k].ev_sel = 0;
	}
}

/* Both bits at once are not described: the freeze wins (decided). */
static void write_global_control(const struct pmon *pmon, unsigned socket, uint64_t value,
				 const struct pmon_time *now)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];

	for (unsigned clock = 0; clock < 2; clock++) {
		if (value & pmon->global.frz_all.mask) {
			if (now->cycles[clock] < state->stop[clock])
				state->stop[clock] = now->cycles[clock];
		} else if (value & pmon->global.unfrz_all.mask) {
			state->stop[clock] = PMON_NEVER;
		}
	}
}

static void store(const struct pmon_box *box, struct pmon_unit *unit, unsigned reg, uint64_t value)
{
	const struct pmon_register *desc = &box->registers[reg];
	uint64_t old = unit->regs[reg];

	unit->regs[reg] = (old & ~desc->stored & ~(value & desc->cleared)) | (value & desc->stored);
}

/* Before it is stored. */
static void write_control(const struct pmon_box *box, struct pmon_unit *unit, unsigned index,
			  uint64_t value)
{
	const struct pmon_counter_desc *desc = &box->counters[index];
	struct pmon_counter *counter = &unit->counters[index];
	bool rst = value & desc->fields.rst.mask;
	bool again = unit->last_control == index + 1 &&
		     !((value ^ unit->regs[desc->control]) & desc->fields.ev_sel.mask);

	if (rst)
		counter->value = 0;
	counter->held = rst && (box->box->quirks & PMU_QUIRK_RST_STAYS);
	if (again)
		counter->ev_sel = (uint8_t)pmon_field_get(desc->fields.ev_sel, value);
}

static void write_register(struct pmon *pmon, struct pmon_unit *unit, unsigned reg, uint64_t value,
			   const struct pmon_time *now)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	int counter = pmon_counter_of(box, reg), control = pmon_control_of(box, reg);

	if (counter >= 0) {
		if (!unit->counters[counter].held)
			unit->counters[counter].value = value & (unit->counters[counter].limit - 1);
		unit->last_control = 0;
		return;
	}
	if (control >= 0)
		write_control(box, unit, (unsigned)control, value);
	unit->last_control = (uint8_t)(control + 1);
	store(box, unit, reg, value);
	switch (box->box->registers[reg].role) {
	case PMU_ROLE_BOX_CTL:
		write_box_control(pmon, unit, value);
		break;
	case PMU_ROLE_BOX_STATUS:
		unit->sent &= unit->regs[reg];
		break;
	case PMU_ROLE_GLOBAL_CTL:
		write_global_control(pmon, unit->socket, value, now);
		break;
	}
}

int pmon_read(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	      uint64_t *value)
{
	struct pmon_register_ref place;

	if (!pmon_find_register_ref(pmon, access, &place))
		return PMU_E_UNKNOWN;
	if (pmon->report)
		pmon_strict_read(pmon, &place);
	if (!place.present)
		return PMU_E_UNKNOWN;
	pmon_settle_socket(pmon, access->socket, now);
	*value = pmon_register_value(pmon, place.unit, place.reg) >> place.shift;
	if (pmon_is_core(pmon_box(pmon, place.unit)))
		*value = pmon_core_value(pmon, place.reg, *value, now);
	if (access->width == 32)
		*value &= UINT32_MAX;
	return 0;
}

/* The other half of a counter keeps what it holds; nothing else is written by halves. */
static uint64_t whole_value(const struct pmon *pmon, const struct pmon_register_ref *place,
			    uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	uint64_t written = place->width == 32 ? UINT32_MAX : UINT64_MAX, kept = 0;

	written <<= place->shift;
	if (box->box->space == PMU_SPACE_PCI && pmon_counter_of(box, place->reg) >= 0)
		kept = pmon_register_value(pmon, place->unit, place->reg) & ~written;
	return (value << place->shift & written) | kept;
}

int pmon_write(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	       uint64_t value)
{
	struct pmon_register_ref place;
	struct pmon_strict strict;
	bool core, all;
	uint32_t *reporting = &pmon->state->sockets[access->socket].reporting;

	if (!pmon_find_register_ref(pmon, access, &place))
		return PMU_E_UNKNOWN;
	if (!place.present) {
		if (pmon->report)
			pmon_strict_absent(pmon, &place, value);
		return PMU_E_UNKNOWN;
	}
	core = pmon_is_core(pmon_box(pmon, place.unit));
	pmon_settle_socket(pmon, access->socket, now);
	/* What a freeze or its end changes, it changes for all. */
	all = pmon_box(pmon, place.unit)->box->registers[place.reg].role == PMU_ROLE_GLOBAL_CTL ||
	      *reporting;
	if (all)
		pmon_taps_end_all(pmon, access->socket);
	else
		pmon_taps_end(pmon, place.unit);
	value = whole_value(pmon, &place, value);
	if (pmon->report)
		pmon_strict_before(pmon, &strict, &place, value);
	if (core) {
		int error = pmon_core_check(pmon_box(pmon, place.unit), place.reg, value);

		if (error)
			return error;
		pmon_core_write(pmon, place.unit, place.reg, value, now);
	} else {
		write_register(pmon, place.unit, place.reg, value, now);
	}
	pmon_configure(pmon, place.unit, now->cycles[pmon_clock(pmon, place.unit)]);
	pmon_enable(pmon, pmon_box(pmon, place.unit));
	pmon_schedule(pmon, access->socket);
	if (!all && *reporting)
		pmon_taps_end_all(pmon, access->socket);
	if (all || *reporting)
		pmon_taps_begin_all(pmon, access->socket);
	else
		pmon_taps_begin(pmon, place.unit);
	if (pmon->report)
		pmon_strict_after(pmon, &strict, &place);
	return 0;
}
