#include <stdio.h>

#include "base/error.h"
#include "catalog/find.h"
#include "event/filter.h"
#include "event/settings.h"
#include "event/umask.h"
#include "pmulab/event.h"

static uint64_t place_value(unsigned hi, unsigned lo, uint64_t value)
{
	return value << lo & pmu_mask(hi, lo);
}

/* @value at the place of a field that may not be there. */
static uint64_t place_field(const struct pmu_field *field, uint64_t value)
{
	return field ? place_value(field->hi, field->lo, value) : 0;
}

static const struct pmu_register *control_of(const struct pmu_selection *selection,
					     unsigned counter)
{
	return selection->event ? pmu_box_register(selection->box, PMU_ROLE_COUNTER_CTL, counter)
				: pmu_box_register(selection->box, PMU_ROLE_FIXED_CTL, 0);
}

/* The control's part of a setting: its own field, or the bit that switches its filter on. */
static uint64_t setting_in_control(const struct pmu_setting *setting)
{
	const struct pmu_modifier *modifier = setting->modifier;
	const struct pmu_modifier *enable = modifier->enable_bit;

	if (!modifier->reg)
		return place_value(modifier->hi, modifier->lo, setting->value);
	return enable ? place_value(enable->hi, enable->lo, 1) : 0;
}

static uint64_t fixed_settings(const struct pmu_selection *selection)
{
	uint64_t value = 0;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_field *field =
		    settings_counter_field(selection, setting->modifier);

		value |= place_value(field->hi, field->lo, setting->value);
	}
	return value;
}

static uint64_t control_value(const struct pmu_selection *selection,
			      const struct pmu_register *control, unsigned counter)
{
	const struct pmu_event *event = selection->event;
	const struct pmu_selector *selector = &selection->box->selector;
	uint64_t value = control->ones;

	if (!event)
		return value | fixed_settings(selection);
	value |= place_field(selector->ev_sel, event->code + event_copy(event, counter));
	value |= place_field(selector->ev_sel_ext, event->ext);
	value |= place_field(selector->umask, selection->umask);
	/* Bits 7:6 of the PCU's unit masks (334291-001 tables 2-159, 2-165). */
	value |= place_field(selector->occ_sel, selection->umask >> 6);
	for (size_t i = 0; i < selection->setting_count; i++)
		value |= setting_in_control(&selection->settings[i]);
	return value;
}

uint64_t pmu_event_control(const struct pmu_selection *selection)
{
	const struct pmu_register *control = control_of(selection, 0);

	return control ? control_value(selection, control, 0) : selection->event->code;
}

/* What lets a control count, where the user has not said otherwise. */
static uint64_t enabling_bits(const struct pmu_selection *selection,
			      const struct pmu_register *control)
{
	uint64_t bits = control->enabled;

	for (size_t i = 0; selection->event && i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (!modifier->reg)
			bits &= ~pmu_mask(modifier->hi, modifier->lo);
	}
	return bits;
}

/* The one control of several fixed counters has fields for each. */
static uint64_t control_mask(const struct pmu_selection *selection,
			     const struct pmu_register *control)
{
	uint64_t mask = control->ones;

	if (selection->event || selection->box->fixed_count <= 1)
		return UINT64_MAX;
	for (size_t i = 0; i < control->field_count; i++)
		if (control->fields[i].role != PMU_FIELD_NONE &&
		    control->fields[i].counter == selection->fixed)
			mask |= pmu_mask(control->fields[i].hi, control->fields[i].lo);
	return mask;
}

static int refuse_instance(struct pmu_ctx *ctx, const struct pmu_selection *selection,
			   unsigned instance)
{
	char text[PMU_EVENT_TEXT_MAX];

	pmu_event_print(selection, text, sizeof(text));
	if (instance >= selection->box->instance_count)
		return error_set(ctx, PMU_E_RANGE, "%s has %zu instances: there is no number %u",
				 selection->box->name, selection->box->instance_count, instance);
	return error_set(ctx, PMU_E_CONFLICT, "%s is for instance %u, not %u", text,
			 selection->instance, instance);
}

static int refuse_counter(struct pmu_ctx *ctx, const struct pmu_selection *selection,
			  unsigned counter)
{
	char text[PMU_EVENT_TEXT_MAX], valid[PMU_EVENT_TEXT_MAX];
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
	    (selection->one_instance && selection->instance != instance))
		return refuse_instance(ctx, selection, instance);
	if (selection->event && (counter >= selection->box->counter_count ||
				 !(selection->event->counters >> counter & 1)))
		return refuse_counter(ctx, selection, counter);
	return selection->event ? check_settings(ctx, selection, counter) : 0;
}

static bool names_a_node(const struct pmu_selection *selection)
{
	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].nodes)
			return true;
	return false;
}

static struct pmu_write write_of(const struct pmu_box *box, const struct pmu_register *reg,
				 unsigned instance, uint64_t value, uint64_t mask)
{
	return (struct pmu_write){
	    .reg = reg,
	    .space = reg->space,
	    .address = pmu_register_address(box, reg, instance),
	    .value = value,
	    .mask = mask,
	};
}

/* Writes of registers beside the control, in the catalog's order. What comes later holds. */
struct filters {
	const struct pmu_selection *selection;
	unsigned instance, copy;
	struct pmu_write *writes;
	int count; /* more than FILTERS_MAX: the last ones found no room */
};
#define FILTERS_MAX (PMU_EVENT_WRITES - 2)

/* What a register holds where nothing is said of its fields: filters let everything pass. */
static uint64_t unset_value(const struct pmu_register *reg)
{
	return reg->ones | (reg->role == PMU_ROLE_FILTER ? 0 : reg->reset);
}

/* Sets the bits of @mask in a register to those of @bits. */
static void set_bits(struct filters *filters, const struct pmu_register *reg, uint64_t mask,
		     uint64_t bits)
{
	struct pmu_write *writes = filters->writes;
	int at = filters->count < FILTERS_MAX ? filters->count : FILTERS_MAX;

	while (at > 0 && writes[at - 1].reg > reg)
		at--;
	if (at > 0 && writes[at - 1].reg == reg) {
		writes[at - 1].value = (writes[at - 1].value & ~mask) | bits;
		writes[at - 1].mask |= mask;
		return;
	}
	if (filters->count++ >= FILTERS_MAX)
		return;
	for (int i = filters->count - 1; i > at; i--)
		writes[i] = writes[i - 1];
	writes[at] = write_of(filters->selection->box, reg, filters->instance,
			      (unset_value(reg) & ~mask) | bits, mask);
}

static bool is_of_copy(const struct filters *filters, const struct pmu_fixed_field *fixed)
{
	return fixed->copy == PMU_COPY_ALL || fixed->copy == filters->copy;
}

static void add_fixed_fields(struct filters *filters, const struct pmu_fixed_field *fixed_fields,
			     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pmu_fixed_field *fixed = &fixed_fields[i];

		if (is_of_copy(filters, fixed))
			set_bits(filters, fixed->reg, pmu_mask(fixed->hi, fixed->lo),
				 place_value(fixed->hi, fixed->lo, fixed->value));
	}
}

/* Bits that have to hold what they hold where nothing is said of them. */
static void unset_bits(struct filters *filters, const struct pmu_register *reg, unsigned hi,
		       unsigned lo)
{
	set_bits(filters, reg, pmu_mask(hi, lo), unset_value(reg) & pmu_mask(hi, lo));
}

/*
 * Whether a register can keep an event from being counted. What is captured does not; registers of
 * another file than the box's are lent by the system, and what switches them on stands elsewhere.
 */
static bool restricts(const struct filters *filters, const struct pmu_register *reg)
{
	return (reg->role == PMU_ROLE_FILTER || reg->role == PMU_ROLE_MATCH) &&
	       reg->space == filters->selection->box->space;
}

/* A filter that nobody has named lets everything pass: off where it has to be switched on. */
static void pass_all(struct filters *filters, const struct pmu_modifier *filter)
{
	const struct pmu_register *reg = filter->reg + (filter->copied ? filters->copy : 0);

	if (filter->fixed_field_count == 0 && restricts(filters, reg))
		unset_bits(filters, reg, filter->hi, filter->lo);
	for (size_t i = 0; i < filter->fixed_field_count; i++) {
		const struct pmu_fixed_field *fixed = &filter->fixed_fields[i];

		if (is_of_copy(filters, fixed) && restricts(filters, fixed->reg))
			unset_bits(filters, fixed->reg, fixed->hi, fixed->lo);
	}
}

/* The event counts only what passes all filters that it looks at, named or not. */
static void add_unnamed(struct filters *filters)
{
	const struct pmu_selection *selection = filters->selection;
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t row_count = umask_rows(selection, rows);

	/* What counter 0 sees is filtered there. */
	if (selection->event->measure == PMU_MEASURE_COUNTER0)
		return;
	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_modifier *filter = &selection->box->modifiers[i];

		/* One with a switch is off where it is not set. */
		if (filter->reg && !filter->enable_bit && !settings_of(selection, filter) &&
		    filter_is_used(selection->event, rows, row_count, filter))
			pass_all(filters, filter);
	}
}

/* Whether there is one of the register for each copy of the selecting fields. */
static bool is_copied(const struct filters *filters, const struct pmu_register *reg,
		      const struct pmu_fixed_field *fixed, size_t count)
{
	bool own = false;

	for (size_t i = 0; i < count; i++) {
		if (fixed[i].reg != reg)
			continue;
		if (!is_of_copy(filters, &fixed[i]))
			return false;
		own |= fixed[i].copy != PMU_COPY_ALL;
	}
	return own;
}

/*
 * What an event captures is whole, and so is its copy of a register, which counts whatever is
 * selected in it: another cannot have the rest.
 */
static void claim(struct filters *filters, const struct pmu_fixed_field *fixed, size_t count)
{
	for (int i = 0; i < filters->count && i < FILTERS_MAX; i++) {
		struct pmu_write *write = &filters->writes[i];

		if (write->reg->role == PMU_ROLE_CAPTURE_CTL ||
		    is_copied(filters, write->reg, fixed, count))
			write->mask = UINT64_MAX;
	}
}

static void add_setting(struct filters *filters, const struct pmu_setting *setting)
{
	const struct pmu_modifier *modifier = setting->modifier;

	if (modifier->reg)
		set_bits(filters, modifier->reg + (modifier->copied ? filters->copy : 0),
			 pmu_mask(modifier->hi, modifier->lo),
			 place_value(modifier->hi, modifier->lo, setting->value));
}

/* What lets all pass, the event's needs, those of what the user sets, then what the user sets. */
static void add_filters(struct filters *filters)
{
	const struct pmu_selection *selection = filters->selection;
	const struct pmu_event *event = selection->event;

	add_unnamed(filters);
	add_fixed_fields(filters, event->fixed_fields, event->fixed_field_count);
	claim(filters, event->fixed_fields, event->fixed_field_count);
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *umask = &event->umasks[i];

		if (umask->value != selection->umask)
			continue;
		add_fixed_fields(filters, umask->fixed_fields, umask->fixed_field_count);
		claim(filters, umask->fixed_fields, umask->fixed_field_count);
	}
	for (size_t i = 0; i < selection->setting_count; i++)
		add_fixed_fields(filters, selection->settings[i].modifier->fixed_fields,
				 selection->settings[i].modifier->fixed_field_count);
	for (size_t i = 0; i < selection->setting_count; i++)
		add_setting(filters, &selection->settings[i]);
}

int pmu_event_encode(struct pmu_ctx *ctx, const struct pmu_selection *selection, unsigned instance,
		     unsigned counter, struct pmu_write *writes)
{
	const struct pmu_box *box = selection->box;
	const struct pmu_register *control;
	struct filters filters = {.selection = selection, .instance = instance, .writes = writes};
	int count = check_place(ctx, selection, instance, counter);
	uint64_t value, mask;

	if (count < 0)
		return count;
	if (names_a_node(selection))
		return error_set(
		    ctx, PMU_E_UNSUPPORTED,
		    "my_node and other_nodes differ from socket to socket: an encoding "
		    "needs the nodes themselves");
	if (selection->event) {
		filters.copy = event_copy(selection->event, counter);
		add_filters(&filters);
	}
	count = filters.count;
	if (count > FILTERS_MAX)
		return error_set(ctx, PMU_E_RANGE, "more than %d filter registers", FILTERS_MAX);
	control = control_of(selection, counter);
	if (!control)
		return count;
	mask = control_mask(selection, control);
	value = control_value(selection, control, counter) | box->instances[instance].control;
	if (box->quirks & PMU_QUIRK_CONTROL_TWICE)
		writes[count++] = write_of(box, control, instance, value, mask);
	value |= enabling_bits(selection, control);
	writes[count++] = write_of(box, control, instance, value, mask);
	return count;
}
