#include "pmon/core.h"

#include <string.h>

#include "catalog/find.h"
#include "catalog/select.h"
#include "catalog/threshold.h"
#include "pmon/branches.h"
#include "pmon/describe.h"
#include "pmon/registers.h"

static bool describe_general(struct pmon_core *core, struct pmon_box *desc, unsigned i)
{
	const struct pmu_register *registers = desc->box->registers;
	struct pmon_counter_desc *counter = &desc->counters[i];
	const struct pmu_register *control;

	counter->counter = pmon_find_register(desc->box, PMU_ROLE_COUNTER, i);
	counter->control = pmon_find_register(desc->box, PMU_ROLE_COUNTER_CTL, i);
	if (counter->counter == PMON_NO_REGISTER || counter->control == PMON_NO_REGISTER)
		return false;
	control = &registers[counter->control];
	counter->fields.ev_sel = pmon_find_field(control, PMU_FIELD_EVENT_SELECT);
	counter->fields.umask = pmon_find_field(control, PMU_FIELD_UNIT_MASK);
	counter->fields.thresh = pmon_find_field(control, PMU_FIELD_THRESHOLD);
	counter->fields.invert = pmon_find_field(control, PMU_FIELD_INVERT);
	counter->fields.edge_det = pmon_find_field(control, PMU_FIELD_EDGE);
	core->counters[i] = (struct pmon_core_counter){
	    .enable = pmu_field_bits(&registers[core->control], PMU_FIELD_ENABLE, i),
	    .status = pmu_overflow_bit(desc->box, &registers[core->status], false, i),
	    .counts = pmu_field_bits(control, PMU_FIELD_ENABLE, 0) |
		      pmu_field_bits(control, PMU_FIELD_USER, 0),
	    .interrupt = pmu_field_bits(control, PMU_FIELD_OVERFLOW_ENABLE, 0),
	};
	return true;
}

/* One register controls all fixed counters, with a field of each role for each. */
static bool describe_fixed(struct pmon_core *core, struct pmon_box *desc, unsigned i)
{
	const struct pmu_register *registers = desc->box->registers;
	struct pmon_counter_desc *counter = &desc->counters[desc->box->counter_count + i];
	const struct pmu_register *control;

	counter->fixed = true;
	counter->counter = pmon_find_register(desc->box, PMU_ROLE_FIXED_COUNTER, i);
	counter->control = pmon_find_register(desc->box, PMU_ROLE_FIXED_CTL, 0);
	if (counter->counter == PMON_NO_REGISTER || counter->control == PMON_NO_REGISTER)
		return false;
	control = &registers[counter->control];
	core->counters[desc->box->counter_count + i] = (struct pmon_core_counter){
	    .enable = pmu_field_bits(&registers[core->control], PMU_FIELD_FIXED_ENABLE, i),
	    .status = pmu_overflow_bit(desc->box, &registers[core->status], true, i),
	    .counts = pmu_field_bits(control, PMU_FIELD_USER, i),
	    .interrupt = pmu_field_bits(control, PMU_FIELD_OVERFLOW_ENABLE, i),
	    .signal = registers[counter->counter].signal,
	};
	return true;
}

static bool describe_others(struct pmon_core *core, const struct pmu_box *box)
{
	core->debug = PMON_NO_REGISTER;
	for (size_t r = 0; r < box->register_count; r++) {
		const struct pmu_register *reg = &box->registers[r];
		struct pmon_field freeze = pmon_find_field(reg, PMU_FIELD_FREEZE_ENABLE);

		if (reg->role == PMU_ROLE_SAMPLING && freeze.mask) {
			core->debug = (uint8_t)r;
			core->freeze_on_pmi = freeze;
		}
		if (reg->role != PMU_ROLE_FREE_COUNTER)
			continue;
		if (core->free_count == PMON_FREE_COUNTERS)
			return false;
		core->frees[core->free_count++] =
		    (struct pmon_free_counter){(uint8_t)r, reg->signal};
	}
	return pmon_describe_branches(&core->branches, box);
}

bool pmon_describe_core(struct pmon_core *core, struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;
	bool whole = true;

	core->control = pmon_find_register(box, PMU_ROLE_GLOBAL_CTL, 0);
	core->status = pmon_find_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	core->clear = pmon_find_register(box, PMU_ROLE_GLOBAL_CLEAR, 0);
	if (core->control == PMON_NO_REGISTER || core->status == PMON_NO_REGISTER ||
	    core->clear == PMON_NO_REGISTER)
		return false;
	for (unsigned i = 0; i < box->counter_count && whole; i++)
		whole = describe_general(core, desc, i);
	for (unsigned i = 0; i < box->fixed_count && whole; i++)
		whole = describe_fixed(core, desc, i);
	return whole && describe_others(core, box);
}

/* What a counter adds up. */
struct selected {
	unsigned signal; /* SIGNAL_NONE: the machine has none for it */
	/* Any of each; 0: whatever they are. */
	uint32_t qualifiers[PMON_CORE_SELECTS];
	uint8_t least; /* as struct pmon_counter has them */
	bool rise, rest;
};

static const struct selected nothing = {.signal = SIGNAL_NONE};

/* @return whether anything passes what the filters of the event are set to */
static bool add_filters(struct selected *selected, const struct pmu_box *box,
			const struct pmu_event *event, const uint64_t *regs)
{
	unsigned count = 0;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const struct pmu_field *field;
		uint64_t value;

		field = event->filters >> i & 1 ? select_field(modifier) : NULL;
		if (!field)
			continue;
		value = (regs[modifier->reg - box->registers] & pmu_mask(field->hi, field->lo)) >>
			field->lo;
		for (size_t s = 0; s < field->select_count && !(value & field->any); s++) {
			selected->qualifiers[count] = select_qualifiers(&field->selects[s], value);
			if (!selected->qualifiers[count++])
				return false;
		}
	}
	return true;
}

/* What a control asks of each cycle. */
static struct threshold asked_by(const struct pmon_control *fields, uint64_t control)
{
	return (struct threshold){
	    .least = pmon_field_get(fields->thresh, control),
	    .invert = control & fields->invert.mask,
	    .edge = control & fields->edge_det.mask,
	};
}

/* Of an event without named unit masks. */
static struct selected filtered_signal(const struct pmon_box *box, const struct pmu_event *event,
				       struct threshold asked, const uint64_t *regs)
{
	struct selected selected = {.signal = event->signal};
	struct threshold_count count;

	if (threshold_asks(asked)) {
		if (!threshold_find(event, event->umask, asked, &count))
			return nothing;
		selected.rest = count.rest;
		selected.signal = count.signal;
	}
	return add_filters(&selected, box->box, event, regs) ? selected : nothing;
}

static struct selected selected_signal(const struct pmon_box *box, unsigned index, uint64_t control,
				       const uint64_t *regs)
{
	const struct pmon_control *fields = &box->counters[index].fields;
	const struct threshold asked = asked_by(fields, control);
	struct threshold_count count;
	uint64_t code = pmon_field_get(fields->ev_sel, control);
	uint64_t umask = pmon_field_get(fields->umask, control);

	for (const struct pmu_event *event = NULL;
	     (event = find_coded_event(box->box, event, index, code, false));) {
		if (!(event->counters >> index & 1))
			continue;
		if (!event->umask_count && event->umask == umask)
			return filtered_signal(box, event, asked, regs);
		if (threshold_find(event, (unsigned)umask, asked, &count))
			return (struct selected){.signal = count.signal,
						 .qualifiers = {count.qualifiers},
						 .least = count.least,
						 .rise = count.rise,
						 .rest = count.rest};
	}
	return nothing;
}

/* What a counter adds up now. */
static struct selected counted_signal(const struct pmon *pmon, const struct pmon_unit *unit,
				      unsigned index)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_core_counter *counter = &pmon->core.counters[index];
	uint64_t control = unit->regs[box->counters[index].control];

	if (!(unit->regs[pmon->core.control] & counter->enable) ||
	    (control & counter->counts) != counter->counts)
		return nothing;
	if (box->counters[index].fixed)
		return (struct selected){.signal = counter->signal};
	return selected_signal(box, index, control, unit->regs);
}

static void select_signal(struct pmon_counter *counter, const struct selected *selected)
{
	memcpy(counter->qualifiers, selected->qualifiers, sizeof(counter->qualifiers));
	counter->least = selected->least;
	counter->rise = selected->rise;
	counter->rest = selected->rest;
}

uint64_t pmon_core_configure(const struct pmon *pmon, struct pmon_unit *unit)
{
	uint16_t subscribed[PMON_SLOTS] = {0};
	uint64_t changed = 0;

	for (unsigned k = 0; k < pmon_box(pmon, unit)->counter_count; k++) {
		const struct selected selected = counted_signal(pmon, unit, k);

		select_signal(&unit->counters[k], &selected);
		if (selected.signal != SIGNAL_NONE)
			subscribed[pmon->routes[selected.signal].slot] |= (uint16_t)(1u << k);
		if (selected.rest)
			subscribed[pmon->routes[pmon->core_clock].slot] |= (uint16_t)(1u << k);
	}
	if (pmon_branches_on(pmon, unit))
		subscribed[pmon->routes[pmon->core.branches.signal].slot] |= PMON_RECORDS;
	for (unsigned slot = 0; slot < PMON_SLOTS; slot++)
		changed |= (uint64_t)(subscribed[slot] != unit->subscribed[slot]) << slot;
	memcpy(unit->subscribed, subscribed, sizeof(subscribed));
	return changed;
}

static void overflow(struct pmon *pmon, struct pmon_unit *unit, unsigned index)
{
	const struct pmon_core *core = &pmon->core;
	uint64_t control = unit->regs[pmon_box(pmon, unit)->counters[index].control];

	unit->regs[core->status] |= core->counters[index].status;
	if (!(control & core->counters[index].interrupt))
		return;
	eventcount_advance(&pmon->state->sockets[unit->socket].interrupts[unit->instance]);
	if (pmon_branches_interrupt(pmon, unit))
		unit->unrecorded = true;
	if (core->debug != PMON_NO_REGISTER && unit->regs[core->debug] & core->freeze_on_pmi.mask)
		unit->frozen = true;
}

static bool passes(const struct pmon_counter *counter, const struct signal *signal)
{
	if (signal->least != counter->least || signal->rise != counter->rise)
		return false;
	for (unsigned i = 0; i < PMON_CORE_SELECTS; i++)
		if (counter->qualifiers[i] && !(counter->qualifiers[i] & signal->qualifiers))
			return false;
	return true;
}

/* Of all cycles what is left of those that have been told before. */
static uint64_t rest_of(struct pmon_counter *counter, uint64_t cycles)
{
	const uint64_t missed = counter->missed < cycles ? counter->missed : cycles;

	counter->missed -= missed;
	return cycles - missed;
}

/* What a counter adds up of a signal. */
static uint64_t increase(const struct pmon *pmon, struct pmon_counter *counter,
			 const struct signal *signal)
{
	if (counter->rest && signal->id == pmon->core_clock)
		return rest_of(counter, signal->duration);
	if (!passes(counter, signal))
		return 0;
	if (!counter->rest)
		return signal->duration;
	counter->missed += signal->duration;
	return 0;
}

void pmon_core_receive(struct pmon *pmon, struct pmon_unit *unit, unsigned slot,
		       const struct signal *signal)
{
	const uint64_t amount = signal->duration;
	const struct pmon_core *core = &pmon->core;

	for (unsigned i = 0; i < core->free_count; i++)
		if (core->frees[i].signal == signal->id)
			unit->regs[core->frees[i].reg] += amount;
	if (signal->id == core->branches.signal && !pmon_branches_take(pmon, unit, signal))
		return;
	for (unsigned subscribed = unit->subscribed[slot] & ~PMON_RECORDS; subscribed;
	     subscribed &= subscribed - 1) {
		unsigned index = (unsigned)__builtin_ctz(subscribed);
		struct pmon_counter *counter = &unit->counters[index];
		const uint64_t more = increase(pmon, counter, signal);
		uint64_t sum = counter->value + more;

		if (!more)
			continue;
		pmon_tell(pmon, counter, more);
		counter->value = sum & (counter->limit - 1);
		if (sum >= counter->limit)
			overflow(pmon, unit, index);
	}
}

/*
 * The freeze is the PMI's clearing of the global control (325384, IA32_DEBUGCTL). It waits until
 * all accumulators of the access have arrived, so that all counters of the core stop at the same
 * point.
 */
void pmon_core_settle(struct pmon *pmon, struct pmon_unit *unit)
{
	if (!unit->frozen && !unit->unrecorded)
		return;
	if (unit->frozen)
		unit->regs[pmon->core.control] = 0;
	unit->frozen = unit->unrecorded = false;
	pmon_configure(pmon, unit, 0);
}

bool pmon_core_always_subscribes(const struct pmon_core *core, unsigned signal)
{
	for (unsigned i = 0; i < core->free_count; i++)
		if (core->frees[i].signal == signal)
			return true;
	return false;
}

bool pmon_core_is_clock(const struct pmon_core *core, unsigned reg)
{
	for (unsigned i = 0; i < core->free_count; i++)
		if (core->frees[i].reg == reg)
			return core->frees[i].signal == SIGNAL_NONE;
	return false;
}

uint64_t pmon_core_value(const struct pmon *pmon, unsigned reg, uint64_t value,
			 const struct pmon_time *now)
{
	/* A clock's register holds by how much writes have moved it. */
	return pmon_core_is_clock(&pmon->core, reg) ? value + now->cycles[PMU_CLOCK_CORE] : value;
}

int pmon_core_check(const struct pmon_box *box, unsigned reg, uint64_t value)
{
	const struct pmu_register *desc = &box->box->registers[reg];

	if (!(box->box->quirks & PMU_QUIRK_FAULTS))
		return 0;
	if (desc->access == PMU_ACCESS_RO)
		return PMU_E_RIGHTS;
	return value & box->registers[reg].must_0 ? PMU_E_RANGE : 0;
}

static uint64_t counter_value(const struct pmu_box *box, unsigned reg, uint64_t value)
{
	bool narrow =
	    box->quirks & PMU_QUIRK_SIGN_EXTENDS && box->registers[reg].role == PMU_ROLE_COUNTER;

	return narrow ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* A counter that is stopped and goes on has as much to take off as before. */
static void write_plain(const struct pmon *pmon, struct pmon_unit *unit, unsigned reg,
			uint64_t value)
{
	const int index = pmon_box(pmon, unit)->control_of[reg];

	if (index >= 0 && (value ^ unit->regs[reg]) & ~pmon->core.counters[index].counts)
		unit->counters[index].missed = 0;
	unit->regs[reg] = value;
}

void pmon_core_write(const struct pmon *pmon, struct pmon_unit *unit, unsigned reg, uint64_t value,
		     const struct pmon_time *now)
{
	const struct pmon_core *core = &pmon->core;
	const struct pmon_box *box = pmon_box(pmon, unit);
	int counter = box->counter_of[reg];

	if (counter >= 0)
		unit->counters[counter].value =
		    counter_value(box->box, reg, value) & (unit->counters[counter].limit - 1);
	else if (reg == core->clear)
		unit->regs[core->status] &= ~(value & box->registers[reg].commands);
	else if (pmon_core_is_clock(core, reg))
		unit->regs[reg] = value - now->cycles[PMU_CLOCK_CORE];
	else
		write_plain(pmon, unit, reg, value & box->registers[reg].stored);
}
