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
