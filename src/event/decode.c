#include "base/error.h"
#include "event/settings.h"
#include "event/value.h"
#include "pmulab/event.h"

void pmu_register_decode(const struct pmu_register *reg, uint64_t value,
			 void (*field)(void *arg, const struct pmu_field *field, uint64_t value),
			 void *arg)
{
	for (size_t i = 0; i < reg->field_count; i++)
		field(arg, &reg->fields[i], pmu_field_value(&reg->fields[i], value));
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

/* Whether one of the modifiers has to be set of which none is. */
static bool is_off(const struct pmu_selection *selection)
{
	uint64_t wanted = 0, set = 0;

	for (size_t i = 0; i < selection->box->modifier_count; i++)
		if (settings_counter_field(selection, &selection->box->modifiers[i]))
			wanted |= selection->box->modifiers[i].mode_group;
	for (size_t i = 0; i < selection->setting_count; i++)
		set |= UINT64_C(1) << selection->settings[i].modifier->number;
	return wanted && !(wanted & set);
}

int pmu_fixed_decode(struct pmu_ctx *ctx, const struct pmu_box *box, unsigned fixed,
		     uint64_t control, struct pmu_selection *selection)
{
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_CTL, 0);
	uint64_t enable = reg ? pmu_field_bits(reg, PMU_FIELD_ENABLE, fixed) : 0;

	*selection = (struct pmu_selection){
	    .pmu = pmu_find_pmu(box->pmu), .box = box, .fixed = (uint8_t)fixed};
	for (size_t i = 0; reg && i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const struct pmu_field *field = settings_counter_field(selection, modifier);
		uint64_t value = field ? pmu_field_value(field, control) : 0;

		if (value && selection->setting_count < PMU_EVENT_SETTINGS)
			selection->settings[selection->setting_count++] =
			    (struct pmu_setting){.modifier = modifier, .value = value};
	}
	if (!reg || (enable && !(control & enable)) || is_off(selection))
		return error_set(ctx, PMU_E_UNKNOWN, "fixed counter %u of %s is off", fixed,
				 box->name);
	return 0;
}
