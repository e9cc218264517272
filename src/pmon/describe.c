#include "pmon/describe.h"

#include "base/error.h"
#include "pmon/core.h"
#include "pmon/state.h"

struct pmon_field pmon_find_field(const struct pmu_register *reg, enum pmu_field_role role)
{
	const struct pmu_field *field = pmu_field_by_role(reg, role, 0);

	if (!field)
		return (struct pmon_field){0};
	return (struct pmon_field){.mask = pmu_mask(field->hi, field->lo), .lo = field->lo};
}

uint8_t pmon_find_register(const struct pmu_box *box, enum pmu_role role, unsigned index)
{
	const struct pmu_register *reg = pmu_box_register(box, role, index);

	return reg ? (uint8_t)(reg - box->registers) : PMON_NO_REGISTER;
}

static struct pmon_switch find_switch(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (modifier->enables && modifier->enables->encoding)
			return (struct pmon_switch){pmu_mask(modifier->hi, modifier->lo),
						    modifier->enables};
	}
	return (struct pmon_switch){0};
}

static struct pmon_register describe_register(const struct pmu_register *reg)
{
	struct pmon_register desc = {0};

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];
		uint64_t mask = pmu_mask(field->hi, field->lo);

		switch (field->access) {
		case PMU_ACCESS_RW:
		case PMU_ACCESS_RWV:
		case PMU_ACCESS_RWS:
			desc.stored |= mask;
			break;
		case PMU_ACCESS_RW1C:
			desc.cleared |= mask;
			break;
		case PMU_ACCESS_WO:
			desc.commands |= mask;
			break;
		case PMU_ACCESS_RV:
			if (field->must == PMU_MUST_NOTHING)
				desc.reserved |= mask;
			break;
		}
		if (field->must == PMU_MUST_WRITE_1)
			desc.must_1 |= mask;
		if (field->must == PMU_MUST_WRITE_0)
			desc.must_0 |= mask;
	}
	return desc;
}

static struct pmon_control describe_control(const struct pmu_register *reg)
{
	return (struct pmon_control){
	    .ev_sel = pmon_find_field(reg, PMU_FIELD_EVENT_SELECT),
	    .ev_sel_ext = pmon_find_field(reg, PMU_FIELD_EVENT_SELECT_EXT),
	    .umask = pmon_find_field(reg, PMU_FIELD_UNIT_MASK),
	    .thresh = pmon_find_field(reg, PMU_FIELD_THRESHOLD),
	    .invert = pmon_find_field(reg, PMU_FIELD_INVERT),
	    .edge_det = pmon_find_field(reg, PMU_FIELD_EDGE),
	    .occ_sel = pmon_find_field(reg, PMU_FIELD_OCCUPANCY_SELECT),
	    .occ_invert = pmon_find_field(reg, PMU_FIELD_OCCUPANCY_INVERT),
	    .occ_edge_det = pmon_find_field(reg, PMU_FIELD_OCCUPANCY_EDGE),
	    .en = pmon_find_field(reg, PMU_FIELD_ENABLE),
	    .ov_en = pmon_find_field(reg, PMU_FIELD_OVERFLOW_ENABLE),
	    .rst = pmon_find_field(reg, PMU_FIELD_RESET_COUNTER),
	};
}

static void describe_counters(struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;
	for (unsigned i = 0; i < desc->counter_count; i++) {
		bool fixed = i >= box->counter_count;
		unsigned index = fixed ? i - box->counter_count : i;
		struct pmon_counter_desc *counter = &desc->counters[i];

		counter->fixed = fixed;
		counter->counter = pmon_find_register(
		    box, fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER, index);
		counter->control = pmon_find_register(
		    box, fixed ? PMU_ROLE_FIXED_CTL : PMU_ROLE_COUNTER_CTL, index);
		if (desc->status != PMON_NO_REGISTER)
			counter->status =
			    pmu_overflow_bit(box, &box->registers[desc->status], fixed, index);
		counter->fields = describe_control(&box->registers[counter->control]);
	}
}

static void describe_common(struct pmon_box *desc, const struct pmu_box *box, uint32_t present)
{
	desc->box = box;
	desc->present = present;
	desc->counter_count = (uint8_t)(box->counter_count + box->fixed_count);
	desc->control = desc->status = desc->governor = PMON_NO_REGISTER;
	for (size_t i = 0; i < box->register_count; i++)
		desc->registers[i] = describe_register(&box->registers[i]);
}

static void describe_box(struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;

	desc->control = pmon_find_register(box, PMU_ROLE_BOX_CTL, 0);
	desc->status = pmon_find_register(box, PMU_ROLE_BOX_STATUS, 0);
	if (desc->control != PMON_NO_REGISTER) {
		const struct pmu_register *control = &box->registers[desc->control];

		desc->frz = pmon_find_field(control, PMU_FIELD_FREEZE);
		desc->frz_en = pmon_find_field(control, PMU_FIELD_FREEZE_ENABLE);
		desc->rst_ctrl = pmon_find_field(control, PMU_FIELD_RESET_CONTROLS);
		desc->rst_ctrs = pmon_find_field(control, PMU_FIELD_RESET_COUNTERS);
	}
	desc->filter_switch = find_switch(box);
	describe_counters(desc);
}

static void describe_overflows(struct pmon_box *desc)
{
	for (size_t i = 0; i < desc->box->instance_count; i++) {
		desc->global_status[i] = desc->box->instances[i].overflow;
		desc->global_status_fixed[i] = desc->box->instances[i].fixed_overflow;
	}
}

/* One field, or one for each core. */
static struct pmon_field find_cores(const struct pmu_register *control)
{
	struct pmon_field found = pmon_find_field(control, PMU_FIELD_INTERRUPT_CORES);

	for (unsigned core = 1; core < PMON_CORES; core++)
		found.mask |= pmu_field_bits(control, PMU_FIELD_INTERRUPT_CORES, core);
	return found;
}

/* A box whose global registers have bits for each of its counters. */
static void describe_governor(struct pmon_global *global, struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;
	const struct pmu_register *control = &box->registers[global->control];
	const struct pmu_register *status = &box->registers[global->status];

	for (unsigned i = 0; i < desc->counter_count; i++) {
		struct pmon_counter_desc *counter = &desc->counters[i];
		unsigned index = counter->fixed ? i - box->counter_count : i;

		counter->enable = pmu_field_bits(
		    control, counter->fixed ? PMU_FIELD_FIXED_ENABLE : PMU_FIELD_ENABLE, index);
		if (!counter->enable)
			continue;
		counter->status = pmu_overflow_bit(box, status, counter->fixed, index);
		global->enables |= counter->enable;
		desc->governor = global->control;
	}
	global->pmi_frz = pmu_field_bits(control, PMU_FIELD_FREEZE_ENABLE, 0);
	global->interrupted = pmu_field_bits(status, PMU_FIELD_INTERRUPTED, 0);
	global->changed = pmu_field_bits(status, PMU_FIELD_CHANGED, 0);
}

static bool describe_global(struct pmon_global *global, struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;

	global->control = pmon_find_register(box, PMU_ROLE_GLOBAL_CTL, 0);
	global->status = pmon_find_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	if (global->control == PMON_NO_REGISTER || global->status == PMON_NO_REGISTER)
		return false;
	global->unit = desc->first_unit;
	global->frz_all = pmon_find_field(&box->registers[global->control], PMU_FIELD_FREEZE);
	global->unfrz_all = pmon_find_field(&box->registers[global->control], PMU_FIELD_UNFREEZE);
	global->pmi_core_sel = find_cores(&box->registers[global->control]);
	describe_governor(global, desc);
	return true;
}

static void index_registers(struct pmon_box *desc)
{
	for (size_t r = 0; r < desc->box->register_count; r++) {
		const struct pmu_register *reg = &desc->box->registers[r];

		desc->control_of[r] = -1;
		desc->counter_of[r] =
		    reg->role == PMU_ROLE_COUNTER_ALIAS ? (int8_t)reg->index : (int8_t)-1;
	}
	/* From the last on: of counters that share a control the first is its own. */
	for (unsigned k = desc->counter_count; k-- > 0;) {
		desc->counter_of[desc->counters[k].counter] = (int8_t)k;
		desc->control_of[desc->counters[k].control] = (int8_t)k;
	}
}

/* Of events of one code the first; without copies of their fields, every counter has the same. */
static bool index_events(struct pmon_box *desc)
{
	for (size_t i = desc->box->event_count; i-- > 0;) {
		const struct pmu_event *event = &desc->box->events[i];

		if (event->copies)
			return false;
		if (event->code < PMON_CODES)
			desc->event_of[event->ext][event->code] = (uint16_t)(i + 1);
	}
	return true;
}

static bool fits(const struct pmu_box *box)
{
	unsigned counters = box->counter_count + box->fixed_count;

	return box->instance_count <= PMON_INSTANCES && box->register_count <= PMON_REGISTERS &&
	       counters <= PMON_COUNTERS;
}

static bool has_counters(const struct pmu_box *box)
{
	for (unsigned i = 0; i < box->counter_count; i++)
		if (!pmu_box_register(box, PMU_ROLE_COUNTER, i) ||
		    !pmu_box_register(box, PMU_ROLE_COUNTER_CTL, i))
			return false;
	for (unsigned i = 0; i < box->fixed_count; i++)
		if (!pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i) ||
		    !pmu_box_register(box, PMU_ROLE_FIXED_CTL, i))
			return false;
	return true;
}

int pmon_describe(struct pmu_ctx *ctx, const struct pmon_config *config, struct pmon_box *boxes,
		  struct pmon_global *global, struct pmon_core *core, unsigned *units,
		  unsigned *counters)
{
	const struct pmu_pmu *pmu = config->pmu;
	bool governed = false;

	*units = *counters = 0;
	if (pmu->box_count > PMON_BOXES)
		return error_set(ctx, PMU_E_UNSUPPORTED, "PMU %s has %zu boxes, more than %d",
				 pmu->name, pmu->box_count, PMON_BOXES);
	for (size_t i = 0; i < pmu->box_count; i++) {
		const struct pmu_box *box = &pmu->boxes[i];
		bool whole = fits(box);

		boxes[i] = (struct pmon_box){.first_unit = (uint16_t)*units,
					     .first_counter = (uint16_t)*counters};
		if (whole)
			describe_common(&boxes[i], box, config->present[i]);
		if (whole && box->scope == PMU_SCOPE_CORE)
			whole = pmon_describe_core(core, &boxes[i]);
		else if (whole && (whole = has_counters(box)))
			describe_box(&boxes[i]);
		if (!whole || !index_events(&boxes[i]))
			return error_set(ctx, PMU_E_UNSUPPORTED,
					 "box %s of %s is beyond what can be emulated", box->name,
					 pmu->name);
		index_registers(&boxes[i]);
		*units += (unsigned)box->instance_count;
		*counters += (unsigned)box->instance_count * pmon_timed_counters(box);
		/* A PMU without one has boxes that overflow and freeze by themselves. */
		if (!governed && box->scope == PMU_SCOPE_SOCKET)
			governed = describe_global(global, &boxes[i]);
	}
	if (*units > PMON_UNITS)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "PMU %s has %u box instances, more than %d", pmu->name, *units,
				 PMON_UNITS);
	for (size_t i = 0; i < pmu->box_count; i++)
		describe_overflows(&boxes[i]);
	return 0;
}
