#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "event/filter.h"
#include "pmulab/event.h"

#define TEXT_MAX 512 /* characters of an expression in a message */

static uint64_t place_value(unsigned hi, unsigned lo, uint64_t value)
{
	return value << lo & pmu_mask(hi, lo);
}

/* @value at a field's place; 0 where the register has no such field. */
static uint64_t place_field(const struct pmu_register *reg, const char *name, uint64_t value)
{
	const struct pmu_field *field = pmu_find_field(reg, name);

	return field ? place_value(field->hi, field->lo, value) : 0;
}

/* Reserved bits that software has to write as 1. */
static uint64_t bits_to_write_1(const struct pmu_register *reg)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].must == PMU_MUST_WRITE_1)
			bits |= pmu_mask(reg->fields[i].hi, reg->fields[i].lo);
	return bits;
}

static const struct pmu_register *control_of(const struct pmu_selection *selection,
					     unsigned counter)
{
	return selection->event ? pmu_box_register(selection->box, PMU_ROLE_COUNTER_CTL, counter)
				: pmu_box_register(selection->box, PMU_ROLE_FIXED_CTL, 0);
}

/* The control's part of a setting: its own field, or the bit that switches its filter on. */
static uint64_t setting_in_control(const struct pmu_box *box, const struct pmu_setting *setting)
{
	const struct pmu_modifier *modifier = setting->modifier;
	const struct pmu_modifier *enable = filter_switch(box, modifier);

	if (!modifier->reg)
		return place_value(modifier->hi, modifier->lo, setting->value);
	return enable ? place_value(enable->hi, enable->lo, 1) : 0;
}

uint64_t pmu_event_control(const struct pmu_selection *selection)
{
	const struct pmu_register *control = control_of(selection, 0);
	const struct pmu_event *event = selection->event;
	uint64_t value = bits_to_write_1(control);

	if (!event)
		return value;
	value |= place_field(control, "ev_sel", event->code);
	value |= place_field(control, "umask", selection->umask);
	/* Bits 7:6 of the PCU's unit masks (334291-001 tables 2-159, 2-165). */
	value |= place_field(control, "occ_sel", selection->umask >> 6);
	value |= place_field(control, "ev_sel_ext", event->ext);
	for (size_t i = 0; i < selection->setting_count; i++)
		value |= setting_in_control(selection->box, &selection->settings[i]);
	return value;
}

static int refuse_instance(struct pmu_ctx *ctx, const struct pmu_selection *selection,
			   unsigned instance)
{
	char text[TEXT_MAX];

	pmu_event_print(selection, text, sizeof(text));
	if (instance >= selection->box->instance_count)
		return error_set(ctx, PMU_E_RANGE, "%s has %zu instances: there is no number %u",
				 selection->box->name, selection->box->instance_count, instance);
	return error_set(ctx, PMU_E_CONFLICT, "%s is for instance %d, not %u", text,
			 selection->instance, instance);
}

static int refuse_counter(struct pmu_ctx *ctx, const struct pmu_selection *selection,
			  unsigned counter)
{
	char text[TEXT_MAX], valid[TEXT_MAX];
	int length = 0;

	pmu_event_print(selection, text, sizeof(text));
	for (unsigned i = 0; i < selection->box->counter_count; i++)
		if (selection->event->counters >> i & 1)
			length += snprintf(valid + length, sizeof(valid) - (size_t)length, "%s%u",
					   length ? ", " : "", i);
	return error_set(ctx, PMU_E_CONFLICT, "%s cannot be counted on counter %u; valid: %s", text,
			 counter, valid);
}

static int check_place(struct pmu_ctx *ctx, const struct pmu_selection *selection,
		       unsigned instance, unsigned counter)
{
	if (instance >= selection->box->instance_count ||
	    (selection->instance >= 0 && (unsigned)selection->instance != instance))
		return refuse_instance(ctx, selection, instance);
	if (selection->event && (counter >= selection->box->counter_count ||
				 !(selection->event->counters >> counter & 1)))
		return refuse_counter(ctx, selection, counter);
	return 0;
}

/* The value of a filter register, and whether the selection sets any of its fields. */
static bool filter_value(const struct pmu_selection *selection, const struct pmu_register *reg,
			 uint64_t *value)
{
	bool any = false;

	*value = bits_to_write_1(reg);
	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_modifier *modifier = setting->modifier;

		if (!modifier->reg || strcmp(modifier->reg, reg->name) != 0)
			continue;
		*value |= place_value(modifier->hi, modifier->lo, setting->value);
		any = true;
	}
	return any;
}

static bool names_a_node(const struct pmu_selection *selection)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].value >= PMU_VALUE_OTHER_NODES)
			return true;
	return false;
}

static struct pmu_write write_of(const struct pmu_box *box, const struct pmu_register *reg,
				 unsigned instance, uint64_t value)
{
	return (struct pmu_write){
	    .reg = reg,
	    .space = box->space,
	    .address = pmu_register_address(box, reg, instance),
	    .value = value,
	};
}

int pmu_event_encode(struct pmu_ctx *ctx, const struct pmu_selection *selection, unsigned instance,
		     unsigned counter, struct pmu_write *writes)
{
	const struct pmu_box *box = selection->box;
	const struct pmu_register *control;
	int count = check_place(ctx, selection, instance, counter);
	uint64_t value;

	if (count < 0)
		return count;
	if (names_a_node(selection))
		return error_set(
		    ctx, PMU_E_UNSUPPORTED,
		    "my_node and other_nodes differ from socket to socket: an encoding "
		    "needs the nodes themselves");
	for (size_t i = 0; selection->setting_count && i < box->register_count; i++) {
		const struct pmu_register *reg = &box->registers[i];

		if (reg->role != PMU_ROLE_FILTER || !filter_value(selection, reg, &value))
			continue;
		if (count == PMU_EVENT_WRITES - 2)
			return error_set(ctx, PMU_E_RANGE, "more than %d filter registers",
					 PMU_EVENT_WRITES - 2);
		writes[count++] = write_of(box, reg, instance, value);
	}
	control = control_of(selection, counter);
	value = pmu_event_control(selection);
	if (box->quirks & PMU_QUIRK_CONTROL_TWICE)
		writes[count++] = write_of(box, control, instance, value);
	value |= place_field(control, "en", 1);
	writes[count++] = write_of(box, control, instance, value);
	return count;
}
