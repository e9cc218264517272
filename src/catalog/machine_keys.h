/* What a machine's description holds, key by key: for its reader and for the table's printer. */
#ifndef CATALOG_MACHINE_KEYS_H
#define CATALOG_MACHINE_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "catalog/description.h"

enum machine_key_kind {
	KEY_TEXT,
	KEY_NUMBER, /* 32 bits */
	KEY_LONG,   /* 64 bits */
	KEY_CACHE,
	KEY_POWER,
	KEY_PARTS,
	KEY_STRAPS,
	KEY_CPUID,
	KEY_MSRS,
	KEY_FUNCTIONS,
};

/* Whose description has a key. */
enum machine_family {
	MACHINE_X86 = 1,
	MACHINE_EPIC = 2, /* cores that issue in order: pmu_machine.core */
};

struct machine_key {
	const char *name;
	enum machine_key_kind kind;
	unsigned of;   /* enum machine_family */
	bool optional; /* a description may lack it */
	size_t offset; /* in struct pmu_machine; of lists, that of the pointer */
	size_t count;  /* of lists: that of the number of entries */
};

static inline enum machine_family machine_family_of(const struct pmu_machine *machine)
{
	return machine->core ? MACHINE_EPIC : MACHINE_X86;
}

extern const struct machine_key machine_keys[];
extern const size_t machine_key_count;

/* The source of a description that others can be based on. */
struct machine_source {
	const char *name;
	const char *text; /* JSON */
};

struct machine_sources {
	const struct machine_source *all;
	size_t count;
};

/* Generated: the sources of the built-in machines and of what they are based on. */
extern const struct machine_source machine_source_table[];
extern const size_t machine_source_count;

/**
 * Parses a description and lays it over what it is based on.
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN for a base that is not there, or PMU_E_NOMEM; *root is the
 *         caller's, also after an error
 */
int machine_source_load(json_t **root, struct pmu_ctx *ctx, const struct machine_sources *bases,
			const char *text, size_t length, const char *from);

/**
 * Reads a description and checks it against its PMU.
 * @param text  JSON; "base" in it names one of @bases, which it changes as RFC 7396 says
 * @param from  what messages call it
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_RANGE or PMU_E_NOMEM; free with
 *         pmu_machine_free()
 */
int machine_parse(struct pmu_machine **machine, struct pmu_ctx *ctx,
		  const struct machine_sources *bases, const char *text, size_t length,
		  const char *from);

#endif
