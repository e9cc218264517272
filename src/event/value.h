/* Values of filter and control fields: numbers, the manual's mnemonics, sums of those. */
#ifndef EVENT_VALUE_H
#define EVENT_VALUE_H

#include "event/expression.h"

/* What node filters are called: a set of nodes, whose value may be my_node or other_nodes. */
#define VALUE_NODE_FILTER "nid"

/** Whether a field holds a set of bits, of which 0 is the empty one. */
bool value_is_set(const struct pmu_box *box, const struct pmu_modifier *modifier);

/** A named value of a field; NULL where there is none. */
const struct pmu_mnemonic *value_find(const struct pmu_box *box,
				      const struct pmu_modifier *modifier, const char *name);

/**
 * Reads the value of a field into its setting.
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_RANGE
 */
int value_read(struct expression *expression, const struct pmu_modifier *modifier,
	       struct pmu_setting *setting);

/** Writes the name of a value, as snprintf(). @return 0 and no text where it has none */
int value_name(const struct pmu_box *box, const struct pmu_modifier *modifier, uint64_t value,
	       char *text, size_t size);

/** Writes a value as value_read() understands it, as snprintf(). */
int value_print(const struct pmu_box *box, const struct pmu_setting *setting, char *text,
		size_t size);

#endif
