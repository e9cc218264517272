#include "pmon/strict.h"

#include "base/name.h"
#include "catalog/umask.h"
#include "pmon/select.h"
#include "pmon/state.h"

static void report(const struct pmon *pmon, const struct pmon_unit *unit, unsigned reg,
		   uint64_t value, const char *rule, const char *source)
{
	const struct pmu_register *desc = &pmon_box(pmon, unit)->box->registers[reg];
	struct pmon_violation violation = {
	    .reg = desc->name,
	    .socket = unit->socket,
	    .instance = unit->instance,
	    .value = value,
	    .rule = rule,
	    .source = source ? source : desc->source,
	};

	pmon->report(pmon->report_arg, &violation);
}

/* Where a rule stands; in the PMU's manual at least. */
static const char *source_of(const struct pmon *pmon, const char *rule)
{
	return *rule ? rule : pmon->config.pmu->source;
}

/* The event of an enabled counter, and with which unit mask. */
struct programmed {
	const struct pmu_event *event;
	uint64_t control;
	unsigned umask;
	bool enabled;
};

static struct programmed decode(const struct pmon_box *box, unsigned index, uint64_t control)
{
	const struct pmon_control *fields = &box->counters[index].fields;

	return (struct programmed){
	    .event = pmon_event(box, index, control),
	    .control = control,
	    .umask = pmon_umask(fields, control),
	    .enabled = control & fields->en.mask,
	};
}

/* Enabled at every level, with something selected: an event or a fixed counter's clock. */
static bool runs(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	struct programmed now = decode(box, index, unit->regs[box->counters[index].control]);

	return now.enabled && (now.event || box->counters[index].fixed) &&
	       pmon_is_governed_to_count(box, unit, index) && pmon_stop(pmon, unit) == PMON_NEVER;
}

static bool needs_filter(const struct programmed *now, const struct pmu_modifier *filter)
{
	const struct pmu_modifier *on = filter->enable_bit;

	if (!now->event)
		return false;
	if (on)
		return now->control & pmu_mask(on->hi, on->lo);
	for (size_t i = 0; i < now->event->umask_count; i++) {
		const struct pmu_umask *entry = &now->event->umasks[i];

		if (entry->filters >> filter->number & 1 &&
		    (now->umask & entry->care) == entry->value)
			return true;
	}
	return false;
}

static void check_reserved(const struct pmon *pmon, const struct pmon_register_ref *place,
			   uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	const struct pmon_register *desc = &box->registers[place->reg];
	const struct pmu_register *reg = &box->box->registers[place->reg];

	if (~value & desc->must_1 & place->written)
		report(pmon, place->unit, place->reg, value,
		       "reserved bits that have to be written as 1 are 0", NULL);
	if (value & desc->must_0)
		report(pmon, place->unit, place->reg, value,
		       "reserved bits that have to be written as 0 are 1", NULL);
	if (value & desc->reserved || (reg->width < 64 && value >> reg->width))
		report(pmon, place->unit, place->reg, value, "reserved bits are set", NULL);
	if (reg->access == PMU_ACCESS_RO || reg->role == PMU_ROLE_DISCOVERY)
		report(pmon, place->unit, place->reg, value, "this register is read only", NULL);
}

static void check_event(const struct pmon *pmon, const struct pmon_register_ref *place,
			unsigned index, uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	struct programmed next = decode(box, index, value);
	const struct pmu_event *event = next.event;

	if (!event) {
		/* Code 0 without an event of its own is how the UBox is kept idle (§2.1.2). */
		if (pmon_field_get(fields->ev_sel, value) || next.umask)
			report(pmon, place->unit, place->reg, value,
			       "the box has no event of this code", NULL);
		return;
	}
	if (!(event->counters >> index & 1))
		report(pmon, place->unit, place->reg, value,
		       "this counter cannot count the event it is given", event->source);
	if (!umask_defined(event, next.umask))
		report(pmon, place->unit, place->reg, value,
		       "the event does not define this unit mask", event->source);
	if (!(value & fields->thresh.mask) &&
	    (value & (fields->invert.mask | fields->edge_det.mask | fields->occ_invert.mask |
		      fields->occ_edge_det.mask)))
		report(pmon, place->unit, place->reg, value,
		       "invert and edge detection need a threshold that is not 0", NULL);
}

static void check_control(const struct pmon *pmon, const struct pmon_register_ref *place,
			  unsigned index, uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t old = place->unit->regs[place->reg];
	uint64_t changed = (old ^ value) & box->registers[place->reg].stored & ~fields->ov_en.mask;

	/* Turning it off is how an agent may stop it. */
	if (changed && (value & fields->en.mask) && runs(pmon, place->unit, index))
		report(pmon, place->unit, place->reg, value,
		       "the control changes while its counter counts",
		       source_of(pmon, pmon->config.pmu->rules.running));
	if ((value & fields->en.mask) && (box->box->quirks & PMU_QUIRK_CONTROL_TWICE) &&
	    place->unit->last_control != index + 1)
		report(pmon, place->unit, place->reg, value,
		       "this control has to be written twice in a row, first with en = 0", NULL);
	if ((value & fields->en.mask) && !box->counters[index].fixed)
		check_event(pmon, place, index, value);
}

/* Whether the counters' events look at bits of the register that change. */
static bool is_in_use(const struct pmu_box *box, const struct pmu_register *reg, uint64_t changed,
		      const struct programmed *now)
{
	for (size_t m = 0; m < box->modifier_count; m++) {
		const struct pmu_modifier *filter = &box->modifiers[m];

		if (filter->reg == reg && (changed & pmu_mask(filter->hi, filter->lo)) &&
		    needs_filter(now, filter))
			return true;
	}
	return false;
}

static void check_filter(const struct pmon *pmon, const struct pmon_register_ref *place,
			 uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	const struct pmu_register *reg = &box->box->registers[place->reg];
	uint64_t changed =
	    (place->unit->regs[place->reg] ^ value) & box->registers[place->reg].stored;

	for (unsigned k = 0; k < box->counter_count; k++) {
		struct programmed now = decode(box, k, place->unit->regs[box->counters[k].control]);

		if (!runs(pmon, place->unit, k) || !is_in_use(box->box, reg, changed, &now))
			continue;
		report(pmon, place->unit, place->reg, value,
		       "the filter changes while a counter that uses it counts",
		       source_of(pmon, pmon->config.pmu->rules.running));
		return;
	}
}

static void check_box_control(const struct pmon *pmon, const struct pmon_register_ref *place,
			      uint64_t value)
{
	const struct pmon_unit *unit = place->unit;
	const struct pmon_box *box = pmon_box(pmon, unit);
	const uint64_t any = box->frz.mask | box->rst_ctrl.mask | box->rst_ctrs.mask;
	const bool ends = (place->written & box->frz.mask) && !(value & any);

	if (unit->frozen && ends && box->status != PMON_NO_REGISTER && unit->regs[box->status])
		report(pmon, unit, box->status, unit->regs[box->status],
		       "overflow bits are not cleared before counting goes on",
		       source_of(pmon, pmon->config.pmu->rules.overflow));
	if (!(value & box->rst_ctrl.mask))
		return;
	for (unsigned k = 0; k < box->counter_count; k++) {
		if (unit->regs[box->counters[k].control] & box->counters[k].fields.en.mask) {
			report(pmon, unit, place->reg, value,
			       "resetting the controls wipes one that is enabled",
			       source_of(pmon, pmon->config.pmu->rules.running));
			return;
		}
	}
}

static void check_global_control(const struct pmon *pmon, unsigned socket, uint64_t value)
{
	const struct pmon_unit *units = pmon_socket_units(pmon, socket);
	const struct pmon_unit *global = &units[pmon->global.unit];

	if (!(value & pmon->global.unfrz_all.mask) || (value & pmon->global.frz_all.mask))
		return;
	if (global->regs[pmon->global.status])
		report(pmon, global, pmon->global.status, global->regs[pmon->global.status],
		       "overflow bits are not cleared before counting goes on",
		       source_of(pmon, pmon->config.pmu->rules.overflow));
	for (unsigned i = 0; i < pmon->units_per_socket; i++) {
		const struct pmon_box *box = pmon_box(pmon, &units[i]);

		if (box->status != PMON_NO_REGISTER && units[i].regs[box->status])
			report(pmon, &units[i], box->status, units[i].regs[box->status],
			       "overflow bits are not cleared before counting goes on",
			       source_of(pmon, pmon->config.pmu->rules.overflow));
	}
}

void pmon_strict_before(const struct pmon *pmon, struct pmon_strict *strict,
			const struct pmon_register_ref *place, uint64_t value)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	const struct pmon_unit *units = pmon_socket_units(pmon, place->unit->socket);
	int control = box->control_of[place->reg];

	for (unsigned i = 0; i < pmon->units_per_socket; i++) {
		strict->counting[i] = 0;
		if (pmon_is_core(pmon_box(pmon, &units[i])))
			continue;
		for (unsigned k = 0; k < pmon_box(pmon, &units[i])->counter_count; k++)
			strict->counting[i] |= (uint16_t)(runs(pmon, &units[i], k) << k);
	}
	check_reserved(pmon, place, value);
	if (pmon_is_core(box))
		return;
	if (control >= 0)
		check_control(pmon, place, (unsigned)control, value);
	switch (box->box->registers[place->reg].role) {
	case PMU_ROLE_FILTER:
		check_filter(pmon, place, value);
		break;
	case PMU_ROLE_BOX_CTL:
		check_box_control(pmon, place, value);
		break;
	case PMU_ROLE_GLOBAL_CTL:
		check_global_control(pmon, place->unit->socket, value);
		break;
	}
}

/* An address of 0 may be meant, and a code of 0 that has a name. */
static bool zero_may_be_meant(const struct pmu_box *box, const struct pmu_modifier *filter)
{
	if (filter->encoding->attribute == ATTRIBUTE_ADDRESS)
		return true;
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (!filter->encoding->set && box->mnemonics[i].value == 0 &&
		    name_equal(box->mnemonics[i].field, filter->name))
			return true;
	return false;
}

/*
 * A set that is empty lets nothing pass. A code or address of 0 may be meant, unless all that is
 * matched is 0.
 */
static void check_filters_set(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	struct programmed now = decode(box, index, unit->regs[box->counters[index].control]);
	unsigned needed = 0, missing = 0, missing_reg = 0;
	bool meant = true;

	for (size_t m = 0; m < box->box->modifier_count; m++) {
		const struct pmu_modifier *filter = &box->box->modifiers[m];
		unsigned reg;

		if (!filter->reg || !filter->encoding ||
		    filter->encoding->attribute == ATTRIBUTE_THREAD || !needs_filter(&now, filter))
			continue;
		reg = (unsigned)(filter->reg - box->box->registers);
		needed++;
		if (!(unit->regs[reg] & pmu_mask(filter->hi, filter->lo))) {
			missing++;
			missing_reg = reg;
			meant &= zero_may_be_meant(box->box, filter);
		}
	}
	if (missing && (!meant || missing == needed))
		report(pmon, unit, missing_reg, unit->regs[missing_reg],
		       "a counter starts whose unit mask needs a filter field that is 0",
		       now.event->source);
}

void pmon_strict_after(const struct pmon *pmon, const struct pmon_strict *strict,
		       const struct pmon_register_ref *place)
{
	const struct pmon_unit *units = pmon_socket_units(pmon, place->unit->socket);

	for (unsigned i = 0; i < pmon->units_per_socket; i++) {
		if (pmon_is_core(pmon_box(pmon, &units[i])))
			continue;
		for (unsigned k = 0; k < pmon_box(pmon, &units[i])->counter_count; k++)
			if (!(strict->counting[i] >> k & 1) && runs(pmon, &units[i], k))
				check_filters_set(pmon, &units[i], k);
	}
}

void pmon_strict_absent(const struct pmon *pmon, const struct pmon_register_ref *place,
			uint64_t value)
{
	report(pmon, place->unit, place->reg, value, "the part does not have this box",
	       source_of(pmon, pmon->config.pmu->rules.absent));
}

void pmon_strict_read(const struct pmon *pmon, const struct pmon_register_ref *place)
{
	const struct pmon_box *box = pmon_box(pmon, place->unit);
	int counter = box->counter_of[place->reg];

	/* Looking whether a box is there is how it is found out. */
	if (!place->present && box->box->registers[place->reg].role != PMU_ROLE_DISCOVERY)
		pmon_strict_absent(pmon, place, 0);
	if (place->present && counter >= 0 && place->width == 32 &&
	    box->box->space == PMU_SPACE_PCI && runs(pmon, place->unit, (unsigned)counter))
		report(
		    pmon, place->unit, place->reg, 0,
		    "half of a counter is read while it counts: the halves may not belong together",
		    source_of(pmon, pmon->config.pmu->rules.halves));
}
