#include "pmon/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "pmon/core.h"
#include "pmon/pmon.h"

struct pmon_field pmon_find_field(const struct pmu_register *reg, const char *name)
{
	const struct pmu_field *field = pmu_find_field(reg, name);

	if (!field)
		return (struct pmon_field){0};
	return (struct pmon_field){.mask = pmu_mask(field->hi, field->lo), .lo = field->lo};
}

static uint8_t find_register(const struct pmu_box *box, enum pmu_role role, unsigned index)
{
	const struct pmu_register *reg = pmu_box_register(box, role, index);

	return reg ? (uint8_t)(reg - box->registers) : PMON_NO_REGISTER;
}

static struct pmon_switch find_switch(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (!modifier->reg && modifier->partner && modifier->partner->encoding)
			return (struct pmon_switch){pmu_mask(modifier->hi, modifier->lo),
						    modifier->partner};
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
	    .ev_sel = pmon_find_field(reg, "ev_sel"),
	    .ev_sel_ext = pmon_find_field(reg, "ev_sel_ext"),
	    .umask = pmon_find_field(reg, "umask"),
	    .thresh = pmon_find_field(reg, "thresh"),
	    .invert = pmon_find_field(reg, "invert"),
	    .edge_det = pmon_find_field(reg, "edge_det"),
	    .occ_sel = pmon_find_field(reg, "occ_sel"),
	    .occ_invert = pmon_find_field(reg, "occ_invert"),
	    .occ_edge_det = pmon_find_field(reg, "occ_edge_det"),
	    .en = pmon_find_field(reg, "en"),
	    .ov_en = pmon_find_field(reg, "ov_en"),
	    .rst = pmon_find_field(reg, "rst"),
	};
}

/*
 * Bit n of the box status is counter n. Where the field has room for the fixed counter too, that
 * one has bit 0 and counter n bit n + 1 (iMC, table 2-114: five bits for four counters and the
 * fixed one); where it has not, the fixed counter shows in the global status only (UBox, table
 * 2-6).
 */
static uint64_t status_bit(const struct pmu_box *box, struct pmon_field ov, unsigned index,
			   bool fixed)
{
	unsigned width = (unsigned)__builtin_popcountll(ov.mask);
	bool fixed_too = width > box->counter_count;

	if (!ov.mask || (fixed && !fixed_too))
		return 0;
	return 1ull << (ov.lo + (fixed_too && !fixed ? box->fixed_count + index : index));
}

static void describe_counters(struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;
	struct pmon_field ov = {0};

	if (desc->status != PMON_NO_REGISTER)
		ov = pmon_find_field(&box->registers[desc->status], "ov");
	for (unsigned i = 0; i < desc->counter_count; i++) {
		bool fixed = i >= box->counter_count;
		unsigned index = fixed ? i - box->counter_count : i;
		struct pmon_counter_desc *counter = &desc->counters[i];

		counter->fixed = fixed;
		counter->counter =
		    find_register(box, fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER, index);
		counter->control =
		    find_register(box, fixed ? PMU_ROLE_FIXED_CTL : PMU_ROLE_COUNTER_CTL, index);
		counter->status = status_bit(box, ov, index, fixed);
		counter->fields = describe_control(&box->registers[counter->control]);
	}
}

static void describe_common(struct pmon_box *desc, const struct pmu_box *box, uint32_t present)
{
	desc->box = box;
	desc->present = present;
	desc->counter_count = (uint8_t)(box->counter_count + box->fixed_count);
	desc->control = desc->status = PMON_NO_REGISTER;
	for (size_t i = 0; i < box->register_count; i++)
		desc->registers[i] = describe_register(&box->registers[i]);
}

static void describe_box(struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;

	desc->control = find_register(box, PMU_ROLE_BOX_CTL, 0);
	desc->status = find_register(box, PMU_ROLE_BOX_STATUS, 0);
	if (desc->control != PMON_NO_REGISTER) {
		const struct pmu_register *control = &box->registers[desc->control];

		desc->frz = pmon_find_field(control, "frz");
		desc->rst_ctrl = pmon_find_field(control, "rst_ctrl");
		desc->rst_ctrs = pmon_find_field(control, "rst_ctrs");
	}
	desc->filter_switch = find_switch(box);
	describe_counters(desc);
}

/* An instance's field of the global status; a fixed counter's has _fixed behind its name. */
static void describe_overflows(struct pmon_box *desc, const struct pmu_register *global_status)
{
	for (size_t i = 0; i < desc->box->instance_count; i++) {
		const char *status = desc->box->instances[i].status;
		char fixed[32];

		if (!status)
			continue;
		snprintf(fixed, sizeof(fixed), "%s_fixed", status);
		desc->global_status[i] = pmon_find_field(global_status, status).mask;
		desc->global_status_fixed[i] = pmon_find_field(global_status, fixed).mask;
		if (!desc->global_status_fixed[i])
			desc->global_status_fixed[i] = desc->global_status[i];
	}
}

static bool describe_global(struct pmon_global *global, const struct pmon_box *desc)
{
	const struct pmu_box *box = desc->box;

	global->control = find_register(box, PMU_ROLE_GLOBAL_CTL, 0);
	global->status = find_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	if (global->control == PMON_NO_REGISTER || global->status == PMON_NO_REGISTER)
		return false;
	global->unit = desc->first_unit;
	global->frz_all = pmon_find_field(&box->registers[global->control], "frz_all");
	global->unfrz_all = pmon_find_field(&box->registers[global->control], "unfrz_all");
	global->pmi_core_sel = pmon_find_field(&box->registers[global->control], "pmi_core_sel");
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
	const struct pmu_register *global_status = NULL;

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
		if (!whole)
			return error_set(ctx, PMU_E_UNSUPPORTED,
					 "box %s of %s is beyond what can be emulated", box->name,
					 pmu->name);
		*units += (unsigned)box->instance_count;
		*counters += (unsigned)box->instance_count * pmon_timed_counters(box);
		if (!global_status && box->scope == PMU_SCOPE_SOCKET &&
		    describe_global(global, &boxes[i]))
			global_status = &box->registers[global->status];
	}
	if (!global_status)
		return error_set(ctx, PMU_E_UNSUPPORTED, "PMU %s has no global control", pmu->name);
	if (*units > PMON_UNITS)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "PMU %s has %u box instances, more than %d", pmu->name, *units,
				 PMON_UNITS);
	for (size_t i = 0; i < pmu->box_count; i++)
		describe_overflows(&boxes[i], global_status);
	return 0;
}
