#include "event/field.h"

#include "base/name.h"

const struct pmu_field *field_for(const struct pmu_register *reg, const char *what)
{
	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].role && name_equal(reg->fields[i].role, what))
			return &reg->fields[i];
	return pmu_find_field(reg, what);
}
