/* A dump of registers to fill, and what decoding reported, to look into. */
#ifndef TESTS_HWREC_FIXTURE_H
#define TESTS_HWREC_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/hwrec.h"
#include "support/cmocka.h"

#define VALUES_MAX   64
#define REPORTED_MAX 512
#define OF_RECORD    (-1) /* age of what is no entry's */

/* Registers of a box, and a decoding of them. */
struct fixture {
	struct pmu_ctx *ctx;
	const struct pmu_box *box;
	struct pmu_register_value values[VALUES_MAX];
	size_t count;

	bool captured;
	const char *kind;
	int entries;
	struct {
		unsigned row;
		const char *kind;
	} entry[16];
	struct {
		int age;
		struct pmu_hwrec_value value;
	} reported[REPORTED_MAX];
	size_t reported_count;
	const char *notes[8];
	size_t note_count;
};

/** cmocka's set-up and tear-down; the first is told what of. */
int fixture_up_for(void **state, const char *pmu, const char *box);
int fixture_down(void **state);
/** Gives a register, in place of what it had. */
void dump_put(struct fixture *dump, const char *name, uint64_t value);
void dump_remove(struct fixture *dump, const char *name);

/** Decodes and keeps what was reported. @return as the library */
int dump_decode(struct fixture *dump, const char *name, const char *kind);
int dump_decode_bytes(struct fixture *dump, const char *name, const void *bytes);

/** What was reported of a field of an entry, or OF_RECORD; NULL: nothing. */
const struct pmu_hwrec_value *reported(const struct fixture *dump, int age, const char *name);
/** Its value; fails where nothing was reported. */
uint64_t value_of(const struct fixture *dump, int age, const char *name);
/** The name of its value, "" for none. */
const char *meaning_of(const struct fixture *dump, int age, const char *name);
bool noted(const struct fixture *dump, const char *word);
/** Fails unless the message has all the words; the last is NULL. */
void assert_says(const struct fixture *dump, ...);

/** xorshift64*: the same numbers every time. */
uint64_t next_random(uint64_t *state);

#endif
