/* What a filter's bits let pass of a signal: see struct pmu_select. */
#ifndef CATALOG_SELECT_H
#define CATALOG_SELECT_H

#include "catalog/entries.h"

/** The field of a modifier's register that the modifier sets; NULL: it sets the counter's control.
 */
static inline const struct pmu_field *select_field(const struct pmu_modifier *modifier)
{
	const struct pmu_register *reg = modifier->reg;

	for (size_t i = 0; reg && i < reg->field_count; i++)
		if (reg->fields[i].lo == modifier->lo)
			return &reg->fields[i];
	return NULL;
}

/** Qualifiers that pass where the field holds @value. */
static inline uint32_t select_qualifiers(const struct pmu_select *select, uint64_t value)
{
	uint32_t qualifiers = 0;

	for (unsigned i = 0; i < select->count; i++)
		if (value >> (select->first + i) & 1)
			qualifiers |= select->qualifiers[i];
	return qualifiers;
}

#endif
