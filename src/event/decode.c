#include <inttypes.h>

#include "base/error.h"
#include "event/umask.h"
#include "pmulab/event.h"

static uint64_t value_at(uint64_t value, unsigned hi, unsigned lo)
{
	return (value & pmu_mask(hi, lo)) >> lo;
}

static uint64_t field_value(const struct pmu_register *reg, const char *name, uint64_t value)
{
	const struct pmu_field *field = pmu_find_field(reg, name);

	return field ? value_at(value, field->hi, field->lo) : 0;
}

void pmu_register_decode(const struct pmu_register *reg, uint64_t value,
			 void (*field)(void *arg, const struct pmu_field *field, uint64_t value),
			 void *arg)
{
	for (size_t i = 0; i < reg->field_count; i++)
		field(arg, &reg->fields[i], value_at(value, reg->fields[i].hi, reg->fields[i].lo));
}

static const struct pmu_event *find_code(const struct pmu_box *box, uint64_t code, bool ext)
{
	for (size_t i = 0; i < box->event_count; i++)
		if (box->events[i].code == code && box->events[i].ext == ext)
			return &box->events[i];
	return NULL;
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

int pmu_event_decode(struct pmu_ctx *ctx, const struct pmu_box *box, uint64_t control,
		     struct pmu_selection *selection)
{
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_COUNTER_CTL, 0);
	const struct pmu_umask *rows[UMASK_ROWS];
	uint64_t code, umask;
	bool ext;

	if (!reg)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no counters", box->name);
	code = field_value(reg, "ev_sel", control);
	ext = field_value(reg, "ev_sel_ext", control);
	umask = field_value(reg, "umask", control) | field_value(reg, "occ_sel", control) << 6;
	*selection = (struct pmu_selection){
	    .pmu = pmu_of(box),
	    .box = box,
	    .event = find_code(box, code, ext),
	    .instance = -1,
	    .umask = (uint8_t)umask,
	};
	if (!selection->event)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no event of code 0x%02" PRIx64 "%s",
				 box->name, code, ext ? " with the extended select bit" : "");
	if (umask_rows(selection->event, selection->umask, rows) == 0 &&
	    (umask || selection->event->umask_count))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "%s.%s has no unit masks that make up 0x%02" PRIx64, box->name,
				 selection->event->name, umask);
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		uint64_t value = value_at(control, modifier->hi, modifier->lo);

		if (!modifier->reg && value && selection->setting_count < PMU_EVENT_SETTINGS)
			selection->settings[selection->setting_count++] =
			    (struct pmu_setting){modifier, value};
	}
	return 0;
}
