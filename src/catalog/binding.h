/*
 * Bindings: how signals reach a PMU's boxes, and which of them an event takes. Made from
 * catalog/PMU/bindings.json and the events' rows; catalog/FORMAT.md describes both.
 */
#ifndef CATALOG_BINDING_H
#define CATALOG_BINDING_H

#include "catalog/signal.h"

#define BINDING_NO_BOX	0xff
#define BINDING_EACH	0xff   /* unit n is the n-th instance of the box that the part has */
#define BINDING_NO_CODE 0xffff /* nothing that the PMU could tell it by */

/* The box whose instances are the units of a kind. Arrays have UNIT_COUNT of them. */
struct pmu_unit_binding {
	uint8_t box; /* by number in the PMU, or BINDING_NO_BOX */
	uint8_t instance;
};

/* What of a signal is compared. */
enum binding_attribute {
	ATTRIBUTE_REQUEST,
	ATTRIBUTE_STATE,
	ATTRIBUTE_NODE,
	ATTRIBUTE_THREAD, /* core and thread */
	ATTRIBUTE_ADDRESS,
	ATTRIBUTE_RANK,
	ATTRIBUTE_BANK,
	ATTRIBUTE_UNIT,
	ATTRIBUTE_MESSAGE,
};

/* How a filter field says which values of an attribute pass. */
struct pmu_encoding {
	uint8_t attribute;     /* enum binding_attribute */
	bool set;	       /* each bit is a value that passes; else the field is the value */
	bool empty;	       /* of a set: the empty one lets all pass */
	const uint16_t *codes; /* how the field tells each value, or its bit; NULL: as it is */
	uint8_t count;	       /* of the codes */
	/* ATTRIBUTE_THREAD: the field is core * threads + thread; those that agree with none_value
	 * in the bits of none_care, if there are any, mean what is of no core. */
	uint8_t threads, none_value, none_care;
	/* ATTRIBUTE_ADDRESS: the field's lowest bit is that of the address, compared from `from` on
	 */
	uint8_t bit, from;
	const char *mask; /* the modifier whose bits say which of the field are compared; NULL: all
			   */
};

enum row_term_kind {
	TERM_VALUES,  /* one of .values */
	TERM_PATTERN, /* the number that the unit mask has from bit .lo on */
	TERM_FIELD,   /* what the field of .modifier says by its encoding */
	TERM_IS,      /* the field of .modifier is .values; of no attribute */
};

struct pmu_row_term {
	uint8_t attribute; /* enum binding_attribute */
	uint8_t kind;	   /* enum row_term_kind */
	uint8_t lo, bits;
	uint32_t values; /* bit n: value n; of TERM_IS: a number */
	const struct pmu_modifier *modifier;
};

enum row_kind {
	ROW_ANY, /* an alternative: one of them has to hold */
	ROW_ALL, /* narrows: each of them has to hold */
};

/* A row is in force where the unit mask has .value in the bits of .care; all its terms must hold.
 */
struct pmu_row {
	uint8_t value, care;
	uint8_t kind; /* enum row_kind */
	uint8_t term_count;
	uint32_t qualifiers; /* one of them has to hold; 0: whatever they are */
	const struct pmu_row_term *terms;
};

#endif
