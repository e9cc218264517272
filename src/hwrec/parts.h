/* Bits that records are made of: where they come from, and the conditions on them. */
#ifndef HWREC_PARTS_H
#define HWREC_PARTS_H

#include "catalog/hwrec.h"

/* What a record is read from: a dump of registers or bytes in memory. */
struct record_input {
	const struct pmu_register_value *values;
	size_t count;
	const unsigned char *bytes;
};

/** Whether two registers of a box are one, seen with two layouts. */
bool record_same_register(const struct pmu_register *a, const struct pmu_register *b);

/** Whether the dump has the part; always so in memory. */
bool record_given(const struct record_input *input, const struct pmu_hwrec_part *part);
/** The part's bits, not shifted: as after reset where the dump does not have them. */
uint64_t record_bits(const struct record_input *input, const struct pmu_hwrec_part *part);

/** Whether all conditions of a row hold; true for none. */
bool record_holds(const struct record_input *input, const struct pmu_hwrec_conditions *when,
		  unsigned row);
/** Whether the dump has all that the conditions of a row look at. */
bool record_known(const struct record_input *input, const struct pmu_hwrec_conditions *when,
		  unsigned row);

/** The conditions among those of row 0 that the values break, NULL if none. */
const struct pmu_hwrec_condition *record_broken(const struct record_input *input,
						const struct pmu_hwrec_conditions *when);

/** Writes "REGISTER.FIELD" of a part, as snprintf(). */
int record_part_name(const struct pmu_hwrec_part *part, char *text, size_t size);
/** Writes "REGISTER.FIELD = 2, 3", as snprintf(). */
int record_condition_text(const struct pmu_hwrec_condition *condition, char *text, size_t size);

/** Called for a part of a record; true ends the search. */
typedef bool record_part_function(void *arg, const struct pmu_hwrec_part *part);

/** Calls @visit for every part that the fields are made of, whatever their kind. @return its last
 */
bool record_each_field_part(const struct pmu_hwrec *record, record_part_function *visit, void *arg);
/** The same for every part that the record looks at. */
bool record_each_part(const struct pmu_hwrec *record, record_part_function *visit, void *arg);

#endif
