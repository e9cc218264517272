/*
 * Records: what the hardware captures together, in several registers (event address registers,
 * trace buffers, branch stacks) or in memory (samples). A layout is data of the catalog: each field
 * is a sum of bit ranges, each taken from a register or from a word in memory and shifted to its
 * place; which fields a record has may depend on the values of others.
 *
 * Values are untrusted: whatever they are, decoding refuses with a message or ends with what they
 * say.
 */
#ifndef PMULAB_HWREC_H
#define PMULAB_HWREC_H

#include "pmulab/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

enum pmu_hwrec_type {
	PMU_HWREC_NUMBER,
	PMU_HWREC_FLAG,
	PMU_HWREC_ADDRESS,
	PMU_HWREC_WORD, /* contents of a register */
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
	uint32_t size;			  /* bytes in memory; 0: in registers */
	struct pmu_hwrec_conditions when; /* registers hold this record and not another */
	const struct pmu_hwrec_kind *kinds;
	size_t kind_count;
	const struct pmu_hwrec_field *fields;
	size_t field_count;
	struct pmu_hwrec_ring ring;
	const struct pmu_hwrec_note *notes;
	size_t note_count;
};

/** The record of a box by name; NULL: none. */
const struct pmu_hwrec *pmu_find_hwrec(const struct pmu_box *box, const char *name);

/* A register of a dump. */
struct pmu_register_value {
	const struct pmu_box *box;
	unsigned instance; /* of the box */
	const struct pmu_register *reg;
	uint64_t value;
};

/* A field of a decoded record. */
struct pmu_hwrec_value {
	const struct pmu_hwrec_field *field;
	uint64_t value;
	bool least;			    /* the true value is this or more */
	const struct pmu_mnemonic *meaning; /* NULL: the value has no name */
};

/*
 * What decoding tells, in this order: the kind of the record, its fields, then each entry of a ring
 * from the youngest on with its fields, then notes. Members may be NULL.
 */
struct pmu_hwrec_visitor {
	/** @param kind  NULL where the record has but one
	 *  @param captured  false: it holds nothing, and nothing but notes follows */
	void (*record)(void *arg, const struct pmu_hwrec_kind *kind, bool captured);
	void (*entry)(void *arg, unsigned row, const struct pmu_hwrec_kind *kind);
	void (*value)(void *arg, const struct pmu_hwrec_value *value);
	void (*note)(void *arg, const char *text);
};

/**
 * Decodes a record of a box instance from registers.
 * @param kind    by name, where the values do not tell it; NULL: the values tell
 * @param values  one for each register, of this instance; others are ignored. Registers that share
 *                an address are one
 * @return 0; PMU_E_UNKNOWN where registers are missing or there is no such kind; PMU_E_CONFLICT
 *         where the values say that this is no such record
 */
int pmu_hwrec_decode(struct pmu_ctx *ctx, const struct pmu_hwrec *record, const char *kind,
		     const struct pmu_register_value *values, size_t count,
		     const struct pmu_hwrec_visitor *visitor, void *arg);

/** Decodes a record in memory from its @record->size bytes. @return as pmu_hwrec_decode() */
int pmu_hwrec_decode_bytes(struct pmu_ctx *ctx, const struct pmu_hwrec *record, const void *bytes,
			   const struct pmu_hwrec_visitor *visitor, void *arg);

/** Whether a dump holds the record: something that it captures in, and no word that it is another.
 */
bool pmu_hwrec_in_dump(const struct pmu_hwrec *record, const struct pmu_register_value *values,
		       size_t count);

/**
 * Whether the record reads a register, of whatever entry or kind.
 * @return the register as the record understands its bits; NULL: it does not
 */
const struct pmu_register *pmu_hwrec_register(const struct pmu_hwrec *record,
					      const struct pmu_register *reg);

/**
 * Reads a number as dumps have it, all of @length bytes of @text: decimal, or hexadecimal with 0x.
 * A leading 0 in front of other digits is refused: some tools pad hexadecimal numbers with it.
 * @return false where it is no such number, or needs more than 64 bits
 */
bool pmu_number_parse(const char *text, size_t length, uint64_t *value);

/**
 * Reads a line of a dump: "REGISTER VALUE", also with "=" or ":" between them. REGISTER is a name,
 * BOX.NAME, BOXn.NAME, any of them behind PMU/, or an address (MSR number; physical address or
 * offset in the socket's window of what is mapped into memory), also with its space: "msr 0xE35",
 * "pci D18:F1:0xD8", "mmio 0xC088", "pmc 4". VALUE is decimal, or hexadecimal
 * with 0x. "#" begins a comment.
 * @param pmu  where registers are looked up; NULL: in all
 * @return 1; 0 for a line without a register; PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_CONFLICT for a
 *         register that several PMUs have, PMU_E_RANGE for a value that does not fit
 */
int pmu_dump_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *line,
		   struct pmu_register_value *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
