#include "pmon/registers.h"

#include <limits.h>
#include <string.h>

#include "catalog/address.h"
#include "catalog/find.h"
#include "pmon/core.h"
#include "pmon/count.h"
#include "pmon/overflow.h"
#include "pmon/select.h"
#include "pmon/strict.h"
#include "pmon/taps.h"
#include "pmon/totals.h"

/* Bits of a register that a write reaches. */
static uint64_t written_by(const struct pmon_access *access, unsigned shift)
{
	uint64_t bits = access->width == 32 ? UINT32_MAX : UINT64_MAX;

	for (unsigned byte = 0; access->bytes && byte < access->width / 8; byte++)
		if (!(access->bytes >> byte & 1))
			bits &= ~(UINT64_C(0xff) << byte * 8);
	return bits << shift;
}

int pmon_find(const struct pmon *pmon, const struct pmon_access *access,
	      struct pmon_register_ref *ref)
{
	const struct pmu_address *found;
	const struct pmon_box *box;
	unsigned instance;

	if (access->socket >= pmon->config.sockets || (access->width != 32 && access->width != 64))
		return PMU_E_UNKNOWN;
	found = access->found
		    ? access->found
		    : catalog_address_find(pmon->config.pmu, access->space, access->address);
	if (!found)
		return PMU_E_UNKNOWN;
	box = &pmon->boxes[found->box];
	instance = pmon_is_core(box) ? access->core : found->instance;
	if (instance >= box->box->instance_count)
		return PMU_E_UNKNOWN;
	/* An upper half is reached as a dword; a PCI register takes no more than it has. */
	if (box->box->space == PMU_SPACE_PCI &&
	    access->width > (found->shift ? 32 : box->box->registers[found->reg].width))
		return PMU_E_UNKNOWN;
	*ref = (struct pmon_register_ref){
	    .unit = pmon_socket_units(pmon, access->socket) + box->first_unit + instance,
	    .reg = found->reg,
	    .shift = found->shift,
	    .width = (uint8_t)access->width,
	    .present = box->present >> instance & 1,
	    .written = written_by(access, found->shift),
	};
	return 0;
}

const struct pmu_register *pmon_register_of(const struct pmon *pmon,
					    const struct pmon_register_ref *ref)
{
	return &pmon_box(pmon, ref->unit)->box->registers[ref->reg];
}

uint64_t pmon_register_value(const struct pmon *pmon, const struct pmon_unit *unit, unsigned reg)
{
	int counter = pmon_box(pmon, unit)->counter_of[reg];

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
		unit->counters[k].limit =
		    1ull << counter_width(box->box, &box->box->registers[box->counters[k].counter]);
}

static void write_box_control(const struct pmon_box *box, struct pmon_unit *unit, uint64_t value,
			      uint64_t written)
{
	/* Every write of frz sets the freeze or ends it, a write that resets too (§2.1.2 f). */
	unit->box_control = (unit->box_control & ~written) | (value & written);
	unit->frozen = (unit->box_control & box->frz.mask) &&
		       (!box->frz_en.mask || (unit->box_control & box->frz_en.mask));
	for (unsigned k = 0; k < box->counter_count; k++) {
		if (value & box->rst_ctrs.mask)
			unit->counters[k].value = 0;
		if (value & box->rst_ctrl.mask) {
			unit->regs[box->counters[k].control] = unit->counters[k].ev_sel = 0;
			unit->counters[k].held = false;
		}
	}
}

/* Both bits at once are not described: the freeze wins (decided). */
static void write_global_control(const struct pmon *pmon, unsigned socket, uint64_t value,
				 const struct pmon_time *now)
{
	struct pmon_socket *state = &pmon->state->sockets[socket];

	for (unsigned clock = 0; clock < PMON_CLOCKS; clock++) {
		if (value & pmon->global.frz_all.mask) {
			if (now->cycles[clock] < state->stop[clock])
				state->stop[clock] = now->cycles[clock];
		} else if (value & (pmon->global.unfrz_all.mask | pmon->global.enables)) {
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
			  uint64_t value, uint64_t written)
{
	const struct pmon_counter_desc *desc = &box->counters[index];
	struct pmon_counter *counter = &unit->counters[index];
	bool rst = value & desc->fields.rst.mask;
	bool again = unit->last_control == index + 1 &&
		     !((value ^ unit->regs[desc->control]) & desc->fields.ev_sel.mask);

	if (rst)
		counter->value = 0;
	if (written & desc->fields.rst.mask)
		counter->held = rst && (box->box->quirks & PMU_QUIRK_RST_STAYS);
	if (again)
		counter->ev_sel = (uint8_t)pmon_field_get(desc->fields.ev_sel, value);
}

static void write_uncore(struct pmon *pmon, const struct pmon_register_ref *ref, uint64_t value,
			 const struct pmon_time *now)
{
	struct pmon_unit *unit = ref->unit;
	const unsigned reg = ref->reg;
	const struct pmon_box *box = pmon_box(pmon, unit);
	uint64_t cycle = now->cycles[pmon_clock(pmon, unit)];
	int counter = box->counter_of[reg], control = box->control_of[reg];

	if (counter >= 0) {
		if (!unit->counters[counter].held)
			unit->counters[counter].value = value & (unit->counters[counter].limit - 1);
		unit->last_control = 0;
		return;
	}
	if (control >= 0)
		write_control(box, unit, (unsigned)control, value, ref->written);
	unit->last_control = (uint8_t)(control + 1);
	store(box, unit, reg, value);
	switch (box->box->registers[reg].role) {
	case PMU_ROLE_COUNTER_CTL:
	case PMU_ROLE_FIXED_CTL:
		pmon_configure_counter(pmon, unit, (unsigned)control, cycle);
		break;
	case PMU_ROLE_BOX_CTL:
		write_box_control(box, unit, value, ref->written);
		if (value & box->rst_ctrl.mask)
			pmon_configure(pmon, unit, cycle);
		break;
	case PMU_ROLE_BOX_STATUS:
		unit->sent &= unit->regs[reg];
		break;
	case PMU_ROLE_GLOBAL_CTL:
		write_global_control(pmon, unit->socket, value, now);
		if (box->governor != PMON_NO_REGISTER)
			pmon_configure(pmon, unit, cycle);
		break;
	case PMU_ROLE_GLOBAL_STATUS:
		break;
	case PMU_ROLE_GLOBAL_CLEAR:
		unit->regs[pmon->global.status] &= ~(value & box->registers[reg].commands);
		break;
	default:
		pmon_configure(pmon, unit, cycle);
	}
}

/* What an access has to be up to date with. */
enum pmon_depends {
	DEPENDS_NOTHING, /* the register holds what was written */
	DEPENDS_COUNTER,
	DEPENDS_UNIT,
	DEPENDS_SOCKET,
};

static enum pmon_depends read_depends(const struct pmon_box *box,
				      const struct pmon_register_ref *ref)
{
	int counter = box->counter_of[ref->reg];

	if (pmon_is_core(box))
		return DEPENDS_UNIT;
	if (counter >= 0)
		return ref->unit->subscribing >> counter & 1 ? DEPENDS_COUNTER : DEPENDS_NOTHING;
	/* Of a box that governs itself, overflows change the global registers. */
	switch (box->box->registers[ref->reg].role) {
	case PMU_ROLE_BOX_STATUS:
		return DEPENDS_UNIT;
	case PMU_ROLE_GLOBAL_CTL:
	case PMU_ROLE_GLOBAL_STATUS:
		return box->governor != PMON_NO_REGISTER ? DEPENDS_UNIT : DEPENDS_NOTHING;
	default:
		return DEPENDS_NOTHING;
	}
}

/*
 * What a PCI register holds after a write of some of its bytes; bits that act when they are written
 * are 0 in the others.
 */
static uint64_t whole_value(const struct pmon *pmon, const struct pmon_register_ref *ref,
			    uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, ref->unit);
	uint64_t kept = 0;

	if (box->box->space == PMU_SPACE_PCI)
		kept = box->counter_of[ref->reg] >= 0
			   ? pmon_register_value(pmon, ref->unit, ref->reg)
			   : ref->unit->regs[ref->reg] & box->registers[ref->reg].stored;
	return (value << ref->shift & ref->written) | (kept & ~ref->written);
}

/* Whether the write makes an overflow of the unit freeze the socket, which then is told all. */
static bool begins_reports(const struct pmon *pmon, const struct pmon_register_ref *ref,
			   uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, ref->unit);
	const int control = box->control_of[ref->reg];

	if (control >= 0)
		return whole_value(pmon, ref, value) & box->counters[control].fields.ov_en.mask;
	for (unsigned k = 0; k < box->counter_count; k++)
		if (ref->unit->regs[box->counters[k].control] & box->counters[k].fields.ov_en.mask)
			return true;
	return false;
}

static enum pmon_depends access_depends(const struct pmon *pmon,
					const struct pmon_register_ref *ref,
					const uint64_t *written)
{
	const struct pmon_box *box = pmon_box(pmon, ref->unit);

	if (!ref->present)
		return DEPENDS_NOTHING;
	if (pmon_is_core(box))
		return DEPENDS_UNIT;
	if (pmon_may_freeze(&pmon->state->sockets[ref->unit->socket]))
		return DEPENDS_SOCKET;
	if (!written)
		return read_depends(box, ref);
	return box->box->registers[ref->reg].role == PMU_ROLE_GLOBAL_CTL ||
		       begins_reports(pmon, ref, *written)
		   ? DEPENDS_SOCKET
		   : DEPENDS_UNIT;
}

/* Whether the access shows or stores times. */
static bool takes_time(const struct pmon *pmon, const struct pmon_register_ref *ref, bool write)
{
	const struct pmon_box *box = pmon_box(pmon, ref->unit);

	switch ((enum pmon_depends)ref->depends) {
	case DEPENDS_NOTHING:
		return false;
	case DEPENDS_COUNTER:
		return ref->unit->timed >> box->counter_of[ref->reg] & 1;
	case DEPENDS_UNIT:
		return pmon_is_core(box) ? pmon_core_is_clock(&pmon->core, ref->reg)
					 : write || ref->unit->timed;
	case DEPENDS_SOCKET:
		break;
	}
	return true;
}

void pmon_find_needs(const struct pmon *pmon, struct pmon_register_ref *ref,
		     const uint64_t *written, struct pmon_needs *needs)
{
	const uint32_t *sources = pmon->uncore_sources;

	*needs = (struct pmon_needs){0};
	ref->depends = (uint8_t)access_depends(pmon, ref, written);
	if (ref->depends == DEPENDS_NOTHING)
		return;
	if (ref->depends != DEPENDS_SOCKET)
		sources = pmon->sources[pmon_unit_number(pmon, ref->unit)];
	needs->slices = sources[UNIT_SLICE];
	needs->homes = sources[UNIT_HOME];
	needs->channels = sources[UNIT_CHANNEL];
	needs->cores = sources[UNIT_CORE];
	needs->time = takes_time(pmon, ref, written);
}

static void settle(struct pmon *pmon, const struct pmon_register_ref *ref,
		   const struct pmon_time *now)
{
	struct pmon_unit *unit = ref->unit;
	int counter = pmon_box(pmon, unit)->counter_of[ref->reg];

	switch ((enum pmon_depends)ref->depends) {
	case DEPENDS_NOTHING:
		break;
	case DEPENDS_COUNTER:
		if (unit->timed >> counter & 1)
			pmon_settle(pmon, unit, (unsigned)counter,
				    now->cycles[pmon_clock(pmon, unit)]);
		break;
	case DEPENDS_UNIT:
		pmon_settle_unit(pmon, unit, now);
		break;
	case DEPENDS_SOCKET:
		pmon_settle_socket(pmon, unit->socket, now);
		break;
	}
}

int pmon_read_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		    const struct pmon_time *now, uint64_t *value)
{
	if (pmon->report)
		pmon_strict_read(pmon, ref);
	if (!ref->present)
		return PMU_E_UNKNOWN;
	settle(pmon, ref, now);
	*value = pmon_register_value(pmon, ref->unit, ref->reg) >> ref->shift;
	if (pmon_is_core(pmon_box(pmon, ref->unit)))
		*value = pmon_core_value(pmon, ref->reg, *value, now);
	if (ref->width == 32)
		*value &= UINT32_MAX;
	return 0;
}

static int write_core(struct pmon *pmon, const struct pmon_register_ref *ref,
		      const struct pmon_time *now, uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, ref->unit);
	int error = pmon_core_check(box, ref->reg, value);

	if (error)
		return error;
	pmon_core_write(pmon, ref->unit, ref->reg, value, now);
	if (box->counter_of[ref->reg] < 0)
		pmon_configure(pmon, ref->unit, 0);
	return 0;
}

/* The counters that a write to the register may change. */
static unsigned changed_by(const struct pmon_box *box, const struct pmon_unit *unit, unsigned reg)
{
	int counter = box->counter_of[reg], control = box->control_of[reg];

	if (counter >= 0)
		return 1u << counter;
	if (control >= 0)
		return 1u << control | (control == 0 ? unit->followers : 0u);
	return UINT_MAX;
}

/* What a freeze or its end changes, it changes for the socket. */
static void write_untapped(struct pmon *pmon, const struct pmon_register_ref *ref,
			   const struct pmon_time *now, uint64_t value)
{
	struct pmon_unit *unit = ref->unit;
	const struct pmon_socket *socket = &pmon->state->sockets[unit->socket];
	bool may_freeze = pmon_may_freeze(socket), all = ref->depends == DEPENDS_SOCKET;

	if (all)
		pmon_taps_end_all(pmon, unit->socket);
	else
		pmon_taps_end(pmon, unit, changed_by(pmon_box(pmon, unit), unit, ref->reg));
	write_uncore(pmon, ref, value, now);
	if (may_freeze || pmon_may_freeze(socket))
		pmon_schedule(pmon, unit->socket);
	if (all)
		pmon_totals_update_all(pmon, unit->socket);
	else
		pmon_totals_update(pmon, unit);
}

int pmon_write_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		     const struct pmon_time *now, uint64_t value)
{
	struct pmon_strict strict;

	if (!ref->present) {
		if (pmon->report)
			pmon_strict_absent(pmon, ref, value);
		return PMU_E_UNKNOWN;
	}
	settle(pmon, ref, now);
	value = whole_value(pmon, ref, value);
	if (pmon->report)
		pmon_strict_before(pmon, &strict, ref, value);
	if (pmon_is_core(pmon_box(pmon, ref->unit))) {
		int error = write_core(pmon, ref, now, value);

		if (error)
			return error;
	} else {
		write_untapped(pmon, ref, now, value);
	}
	if (pmon->report)
		pmon_strict_after(pmon, &strict, ref);
	return 0;
}

int pmon_read(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	      uint64_t *value)
{
	struct pmon_register_ref ref;
	struct pmon_needs needs;

	if (pmon_find(pmon, access, &ref))
		return PMU_E_UNKNOWN;
	pmon_find_needs(pmon, &ref, NULL, &needs);
	return pmon_read_found(pmon, &ref, now, value);
}

int pmon_write(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	       uint64_t value)
{
	struct pmon_register_ref ref;
	struct pmon_needs needs;

	if (pmon_find(pmon, access, &ref))
		return PMU_E_UNKNOWN;
	pmon_find_needs(pmon, &ref, &value, &needs);
	return pmon_write_found(pmon, &ref, now, value);
}
