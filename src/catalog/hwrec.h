/* The catalog's hardware records: what is behind the accessors of pmulab/hwrec.h. */
#ifndef CATALOG_HWREC_H
#define CATALOG_HWREC_H

#include "catalog/entries.h"
#include "pmulab/hwrec.h"

/* Bits of a register or, in memory, of a little-endian word of 64 bits. */
struct pmu_hwrec_part {
	const struct pmu_register *reg; /* NULL: in memory */
	uint16_t offset;		/* bytes from the start of the record, in memory */
	uint8_t hi, lo;
	uint8_t shift; /* to the left, in the field's value */
	bool optional; /* of a register that a dump may lack */
};

/* Holds where bit v of @values is set, v being the part's value; bit 63 means 63 and more. */
struct pmu_hwrec_condition {
	struct pmu_hwrec_part part;
	uint64_t values;
};

struct pmu_hwrec_conditions {
	const struct pmu_hwrec_condition *all; /* of row r: from r * count on */
	size_t count;
};

/* A kind of record, or of entry in a ring: the first whose conditions hold. */
struct pmu_hwrec_kind {
	const char *name;
	const char *desc;
	struct pmu_hwrec_conditions when;
	struct pmu_hwrec_conditions captured; /* there is something in it */
	bool youngest;			      /* only the entry written last */
	bool empty;			      /* no field belongs to it */
};

/* Whose parts make the value of an entry's field. */
enum pmu_hwrec_of {
	PMU_HWREC_OF_ENTRY,
	PMU_HWREC_OF_YOUNGER,	  /* the entry written next; none for the youngest */
	PMU_HWREC_OF_ALL_YOUNGER, /* the sum over them */
};

struct pmu_hwrec_field {
	const char *name; /* several may have the same where no kind has both */
	const char *unit; /* "" for none */
	const char *desc;
	uint8_t type;			    /* enum pmu_hwrec_type */
	uint8_t of;			    /* enum pmu_hwrec_of */
	uint8_t role;			    /* enum pmu_hwrec_role */
	uint8_t sign;			    /* bit that is repeated above; 0: none */
	bool listed;			    /* mnemonics are all values that are documented */
	uint32_t kinds;			    /* bit i: kind i has it */
	const struct pmu_hwrec_part *parts; /* of row r: from r * part_count on */
	size_t part_count;
	struct pmu_hwrec_conditions when;  /* it is there */
	struct pmu_hwrec_conditions least; /* the true value is this or more */
	const struct pmu_mnemonic *mnemonics;
	size_t mnemonic_count;
	const struct pmu_register *like; /* whose fields its bits are; NULL: none */
};

/* What a reader must know where these values are found. */
struct pmu_hwrec_note {
	uint32_t kinds;
	struct pmu_hwrec_conditions when; /* does not hold where a register is not given */
	const char *desc;
};

/* A circular buffer: which of its entries was written last, and which hold something. */
struct pmu_hwrec_ring {
	unsigned count;		      /* 0: the record is none */
	const char *const *names;     /* of the entries */
	struct pmu_hwrec_part next;   /* the entry to be written next... */
	struct pmu_hwrec_part last;   /* ...or the one written last */
	struct pmu_hwrec_part filled; /* with next: every entry was written, if 1 */
	bool has_last;
	const struct pmu_hwrec_kind *kinds;
	size_t kind_count;
	const struct pmu_hwrec_field *fields;
	size_t field_count;
};

struct pmu_hwrec {
	const char *name;
	const char *title;
	const char *source;
	uint32_t size;			     /* bytes in memory; 0: in registers */
	struct pmu_hwrec_conditions when;    /* registers hold this record and not another */
	struct pmu_hwrec_conditions enabled; /* registers let it be captured */
	const struct pmu_hwrec_kind *kinds;
	size_t kind_count;
	const struct pmu_hwrec_field *fields;
	size_t field_count;
	struct pmu_hwrec_ring ring;
	const struct pmu_hwrec_note *notes;
	size_t note_count;
};

#endif
