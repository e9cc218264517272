#include <inttypes.h>

#include "base/error.h"
#include "event/filter.h"
#include "event/umask.h"
#include "event/value.h"
#include "pmulab/event.h"

static uint64_t value_at(uint64_t value, unsigned hi, unsigned lo)
{
	return (value & pmu_mask(hi, lo)) >> lo;
}

static uint64_t field_value(const struct pmu_field *field, uint64_t value)
{
	return field ? value_at(value, field->hi, field->lo) : 0;
}

void pmu_register_decode(const struct pmu_register *reg, uint64_t value,
			 void (*field)(void *arg, const struct pmu_field *field, uint64_t value),
			 void *arg)
{
	for (size_t i = 0; i < reg->field_count; i++)
		field(arg, &reg->fields[i], value_at(value, reg->fields[i].hi, reg->fields[i].lo));
}

static bool is_of_modifier(const struct pmu_modifier *modifier, const struct pmu_register *reg,
			   const struct pmu_field *field)
{
	if (modifier->hi != field->hi || modifier->lo != field->lo)
		return false;
	if (!modifier->reg)
		return reg->role == PMU_ROLE_COUNTER_CTL;
	/* The registers of the copies follow the first. */
	return reg == modifier->reg || (modifier->copied && reg == modifier->reg + 1);
}

int pmu_field_value_name(const struct pmu_box *box, const struct pmu_register *reg,
			 const struct pmu_field *field, uint64_t value, char *text, size_t size)
{
	const struct pmu_modifier found = {.name = field->name, .hi = field->hi, .lo = field->lo};
	const struct pmu_modifier *modifier = reg->role == PMU_ROLE_DISCOVERY ? &found : NULL;

	for (size_t i = 0; i < box->modifier_count && !modifier; i++)
		if (is_of_modifier(&box->modifiers[i], reg, field))
			modifier = &box->modifiers[i];
	if (size)
		*text = '\0';
	return modifier ? value_name(box, modifier, value, text, size) : 0;
}

/*
 * Whether the event has these unit masks; where it takes one at a time, @umask loses the bits that
 * this one does not care about.
 */
static bool find_umask(const struct pmu_event *event, uint8_t *umask)
{
	const struct pmu_selection selection = {.event = event, .umask = *umask};
	const struct pmu_umask *rows[UMASK_ROWS];

	if (event->umask_count == 0)
		return *umask == event->umask;
	if (umask_rows(&selection, rows))
		return true;
	for (size_t i = 0; event->combine == PMU_COMBINE_ONE && i < event->umask_count; i++) {
		if ((*umask & event->umasks[i].care) == event->umasks[i].value) {
			*umask = event->umasks[i].value;
			return true;
		}
	}
	return false;
}

/* The event of a code; of those that share it, the first that has the unit mask. */
static const struct pmu_event *find_code(const struct pmu_box *box, uint64_t code, bool ext,
					 uint8_t umask)
{
	const struct pmu_event *found = NULL;

	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];

		if (event->code != code || event->ext != ext)
			continue;
		if (find_umask(event, &umask))
			return event;
		if (!found)
			found = event;
	}
	return found;
}

static bool shares_code(const struct pmu_box *box, const struct pmu_event *event)
{
	for (size_t i = 0; i < box->event_count; i++)
		if (&box->events[i] != event && box->events[i].code == event->code &&
		    box->events[i].ext == event->ext)
			return true;
	return false;
}

/* Whether fields of other registers say what is counted. */
static bool is_selected_elsewhere(const struct pmu_box *box, const struct pmu_event *event)
{
	return (event->preset_count && shares_code(box, event)) ||
	       (event->umask_count && event->umasks[0].preset_count);
}

static const struct pmu_pmu *pmu_of(const struct pmu_box *box)
{
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = pmu_catalog(&count);
	for (size_t i = 0; i < count; i++)
		if (box >= pmus[i].boxes && box < pmus[i].boxes + pmus[i].box_count)
			return &pmus[i];
	return NULL;
}

/* Whether the event looks at a field of its control: what it ignores says nothing. */
static bool looks_at(const struct pmu_selection *selection, const struct pmu_modifier *modifier)
{
	const struct pmu_umask *rows[UMASK_ROWS];

	return !modifier->filter ||
	       filter_is_used(selection->event, rows, umask_rows(selection, rows), modifier);
}

int pmu_event_decode(struct pmu_ctx *ctx, const struct pmu_box *box, uint64_t control,
		     struct pmu_selection *selection)
{
	const struct pmu_selector *selector = &box->selector;
	uint64_t code, umask;
	bool ext;

	if (!selector->ev_sel)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no counter controls", box->name);
	code = field_value(selector->ev_sel, control);
	ext = field_value(selector->ev_sel_ext, control);
	umask = field_value(selector->umask, control) | field_value(selector->occ_sel, control)
							    << 6;
	*selection = (struct pmu_selection){
	    .pmu = pmu_of(box),
	    .box = box,
	    .event = find_code(box, code, ext, (uint8_t)umask),
	    .instance = -1,
	    .umask = (uint8_t)umask,
	};
	if (!selection->event)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no event of code 0x%02" PRIx64 "%s",
				 box->name, code, ext ? " with the extended select bit" : "");
	if (is_selected_elsewhere(box, selection->event))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "which event of %s this is stands in other registers too, not in "
				 "the control alone",
				 box->name);
	if (!find_umask(selection->event, &selection->umask))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "%s.%s has no unit masks that make up 0x%02" PRIx64, box->name,
				 selection->event->name, umask);
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		uint64_t value = value_at(control, modifier->hi, modifier->lo);

		if (!modifier->reg && value != modifier->enabled && looks_at(selection, modifier) &&
		    selection->setting_count < PMU_EVENT_SETTINGS)
			selection->settings[selection->setting_count++] =
			    (struct pmu_setting){modifier, value};
	}
	return 0;
}
