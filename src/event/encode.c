#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "event/field.h"
#include "event/filter.h"
#include "event/settings.h"
#include "pmulab/event.h"

#define TEXT_MAX 512 /* characters of an expression in a message */

static uint64_t place_value(unsigned hi, unsigned lo, uint64_t value)
{
	return value << lo & pmu_mask(hi, lo);
}

/* @value at the place of the field that serves as @what; 0 where the register has none. */
static uint64_t place_field(const struct pmu_register *reg, const char *what, uint64_t value)
{
	const struct pmu_field *field = field_for(reg, what);

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

/* Which copy of the selecting fields a counter is given. */
static unsigned copy_of(const struct pmu_event *event, unsigned counter)
{
	return event->copies ? counter % event->copies : 0;
}

static uint64_t fixed_settings(const struct pmu_selection *selection)
{
	uint64_t value = 0;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_field *field = settings_fixed_field(selection, setting->modifier);

		value |= place_value(field->hi, field->lo, setting->value);
	}
	return value;
}

static uint64_t control_value(const struct pmu_selection *selection,
			      const struct pmu_register *control, unsigned counter)
{
	const struct pmu_event *event = selection->event;
	uint64_t value = bits_to_write_1(control);

	if (!event)
		return value | fixed_settings(selection);
	value |= place_field(control, "ev_sel", event->code + copy_of(event, counter));
	value |= place_field(control, "umask", selection->umask);
	/* Bits 7:6 of the PCU's unit masks (334291-001 tables 2-159, 2-165). */
	value |= place_field(control, "occ_sel", selection->umask >> 6);
	value |= place_field(control, "ev_sel_ext", event->ext);
	for (size_t i = 0; i < selection->setting_count; i++)
		value |= setting_in_control(selection->box, &selection->settings[i]);
	return value;
}

uint64_t pmu_event_control(const struct pmu_selection *selection)
{
	const struct pmu_register *control = control_of(selection, 0);

	return control ? control_value(selection, control, 0) : selection->event->code;
}

static bool is_set(const struct pmu_selection *selection, const char *reg, unsigned lo)
{
	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (modifier->lo == lo && !modifier->reg == !reg &&
		    (!reg || !strcmp(modifier->reg, reg)))
			return true;
	}
	return false;
}

/* What lets a control count, where the user has not said otherwise. */
static uint64_t enabling_bits(const struct pmu_selection *selection,
			      const struct pmu_register *control)
{
	uint64_t value = 0;

	for (size_t i = 0; i < control->field_count; i++) {
		const struct pmu_field *field = &control->fields[i];

		if (field->enabled && !is_set(selection, NULL, field->lo))
			value |= place_value(field->hi, field->lo, field->enabled);
	}
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

/* Settings that only some counters look at: .all of the Itanium's duplicated ones. */
static int check_settings(struct pmu_ctx *ctx, const struct pmu_selection *selection,
			  unsigned counter)
{
	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (modifier->counters && !(modifier->counters >> counter & 1))
			return error_set(ctx, PMU_E_CONFLICT, "counter %u of %s has no %s", counter,
					 selection->box->name, modifier->name);
	}
	return 0;
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
	return selection->event ? check_settings(ctx, selection, counter) : 0;
}

/* What of @presets lies in @reg, except for fields that the user has set. */
static bool add_presets(const struct pmu_selection *selection, const struct pmu_preset *presets,
			size_t count, unsigned copy, const struct pmu_register *reg,
			uint64_t *value)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct pmu_preset *preset = &presets[i];

		if (strcmp(preset->reg, reg->name) != 0 ||
		    (preset->copy != PMU_COPY_ALL && preset->copy != copy))
			continue;
		any = true;
		if (!is_set(selection, reg->name, preset->lo))
			*value |= place_value(preset->hi, preset->lo, preset->value);
	}
	return any;
}

/* The value of a register beside the control, and whether the selection sets any of its fields. */
static bool filter_value(const struct pmu_selection *selection, unsigned counter,
			 const struct pmu_register *reg, uint64_t *value)
{
	const struct pmu_event *event = selection->event;
	unsigned copy = copy_of(event, counter);
	bool any;

	*value = bits_to_write_1(reg);
	any = add_presets(selection, event->presets, event->preset_count, copy, reg, value);
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *umask = &event->umasks[i];

		if (umask->preset_count && umask->value == selection->umask)
			any |= add_presets(selection, umask->presets, umask->preset_count, copy,
					   reg, value);
	}
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
	    .space = reg->space,
	    .address = pmu_register_address(box, reg, instance),
	    .value = value,
	};
}

/* Whether the selection lies in any register but the control. */
static bool has_other_registers(const struct pmu_selection *selection)
{
	const struct pmu_event *event = selection->event;

	return event && (selection->setting_count || event->preset_count ||
			 (event->umask_count && event->umasks[0].preset_count));
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
	for (size_t i = 0; has_other_registers(selection) && i < box->register_count; i++) {
		const struct pmu_register *reg = &box->registers[i];

		if (reg->role == PMU_ROLE_COUNTER_CTL ||
		    !filter_value(selection, counter, reg, &value))
			continue;
		if (count == PMU_EVENT_WRITES - 2)
			return error_set(ctx, PMU_E_RANGE, "more than %d filter registers",
					 PMU_EVENT_WRITES - 2);
		writes[count++] = write_of(box, reg, instance, value);
	}
	control = control_of(selection, counter);
	if (!control)
		return count;
	value = control_value(selection, control, counter) | box->instances[instance].control;
	if (box->quirks & PMU_QUIRK_CONTROL_TWICE)
		writes[count++] = write_of(box, control, instance, value);
	value |= enabling_bits(selection, control);
	writes[count++] = write_of(box, control, instance, value);
	return count;
}
