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

enum pmu_hwrec_type {
	PMU_HWREC_NUMBER,
	PMU_HWREC_FLAG,
	PMU_HWREC_ADDRESS,
	PMU_HWREC_WORD, /* contents of a register */
};

/* What a field is to who looks at records of any kind. */
enum pmu_hwrec_role {
	PMU_HWREC_ROLE_NONE,
	PMU_HWREC_ROLE_INSTRUCTION, /* address of the bundle, or instruction, that was captured */
	PMU_HWREC_ROLE_SLOT,	    /* added to that, gives the instruction in its bundle */
	PMU_HWREC_ROLE_DATA,	    /* address that it accessed */
	PMU_HWREC_ROLE_LATENCY,	    /* cycles that it took */
	/* Of the entries of a ring: */
	PMU_HWREC_ROLE_BRANCH_FROM, /* address of a branch */
	PMU_HWREC_ROLE_BRANCH_TO,   /* where it went; not there where it was not taken */
	PMU_HWREC_ROLE_MISPREDICTED,
	PMU_HWREC_ROLE_RETIRED,	       /* address of what retired */
	PMU_HWREC_ROLE_RETIRED_CYCLES, /* since what retired before that */
};

struct pmu_hwrec_kind;
struct pmu_hwrec_field;

/* Names, texts and entries are constant; an index beyond the end gives NULL. */

/** As in expressions of the command: lbr, pebs. */
const char *pmu_hwrec_name(const struct pmu_hwrec *record);
/** What it is, in a few words. */
const char *pmu_hwrec_title(const struct pmu_hwrec *record);
/** Document and section. */
const char *pmu_hwrec_source(const struct pmu_hwrec *record);
/** Bytes in memory; 0: in registers. */
size_t pmu_hwrec_size(const struct pmu_hwrec *record);
/** Kinds of which a record is one; none where there is but one. */
size_t pmu_hwrec_kinds(const struct pmu_hwrec *record);
const struct pmu_hwrec_kind *pmu_hwrec_kind(const struct pmu_hwrec *record, size_t index);
/** Fields of the record, beside those of its entries. */
size_t pmu_hwrec_fields(const struct pmu_hwrec *record);
const struct pmu_hwrec_field *pmu_hwrec_field(const struct pmu_hwrec *record, size_t index);
/** What a reader must know of it, a sentence each. */
const char *pmu_hwrec_note(const struct pmu_hwrec *record, size_t index);
/** Entries of a record that is a circular buffer; 0: it is none. */
size_t pmu_hwrec_entries(const struct pmu_hwrec *record);
/** The manual's name of an entry. */
const char *pmu_hwrec_entry_name(const struct pmu_hwrec *record, size_t index);
/** The kinds and fields of its entries. */
size_t pmu_hwrec_entry_kinds(const struct pmu_hwrec *record);
const struct pmu_hwrec_kind *pmu_hwrec_entry_kind(const struct pmu_hwrec *record, size_t index);
size_t pmu_hwrec_entry_fields(const struct pmu_hwrec *record);
const struct pmu_hwrec_field *pmu_hwrec_entry_field(const struct pmu_hwrec *record, size_t index);

/** What a record or entry can be, and that in a sentence. */
const char *pmu_hwrec_kind_name(const struct pmu_hwrec_kind *kind);
const char *pmu_hwrec_kind_desc(const struct pmu_hwrec_kind *kind);

/** Several fields may have the same name where no kind has both. */
const char *pmu_hwrec_field_name(const struct pmu_hwrec_field *field);
/** "" for none. */
const char *pmu_hwrec_field_unit(const struct pmu_hwrec_field *field);
/** What it says, in a sentence. */
const char *pmu_hwrec_field_desc(const struct pmu_hwrec_field *field);
enum pmu_hwrec_role pmu_hwrec_field_role(const struct pmu_hwrec_field *field);
/** How its value is to be shown. */
enum pmu_hwrec_type pmu_hwrec_field_type(const struct pmu_hwrec_field *field);
/** Names of its values. */
size_t pmu_hwrec_field_mnemonics(const struct pmu_hwrec_field *field);
const struct pmu_mnemonic *pmu_hwrec_field_mnemonic(const struct pmu_hwrec_field *field,
						    size_t index);
/** Whether these are all values that are documented. */
bool pmu_hwrec_field_is_listed(const struct pmu_hwrec_field *field);
/** The register whose fields its bits are; NULL: none. */
const struct pmu_register *pmu_hwrec_field_register(const struct pmu_hwrec_field *field);

/** The record of a box by name; NULL: none. */
const struct pmu_hwrec *pmu_find_hwrec(const struct pmu_box *box, const char *name);

/* A register of a dump. */
struct pmu_register_value {
	const struct pmu_box *box;
	unsigned instance; /* of the box */
	const struct pmu_register *reg;
	uint64_t value;
	uint64_t reserved; /* 0 */
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
	size_t size; /* of this struct, set by the caller */
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

/** Whether the registers, among others in a dump, let the record be captured. */
bool pmu_hwrec_is_enabled(const struct pmu_hwrec *record, const struct pmu_register_value *values,
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
