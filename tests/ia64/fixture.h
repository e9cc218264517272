/* A processor with some memory, code from the assembler, and a run of it. */
#ifndef TESTS_IA64_FIXTURE_H
#define TESTS_IA64_FIXTURE_H

#include "feed/ia64/run.h"

#include <stddef.h>
#include <stdint.h>

#define FIXTURE_CODE  0x4000000000000000u
#define FIXTURE_DATA  0x6000000000000000u
#define FIXTURE_STORE 0x6000000000100000u /* register backing store */
#define FIXTURE_SIZE  (1u << 18)	  /* of each */

struct fixture {
	struct ia64_process *process;
	struct ia64_cpu *c;
	unsigned char *code, *data, *store; /* on the host */
};

/** There is one at a time: the host's fault handler is the process's. */
struct fixture *fixture_up(const struct ia64_observer *observer);
void fixture_down(struct fixture *b);

/** Copies code to FIXTURE_CODE, and drops what was decoded. */
void fixture_load(struct fixture *b, const void *code, size_t size);

/** Runs from the address until something stops it; b->c tells what. Attention of this value stops
 * it too. */
#define FIXTURE_ENOUGH 2
void fixture_run(struct fixture *b, uint64_t ip);

/**
 * The text's bytes, or NULL if the assembler is not there (then missing is set) or refuses the
 * text. Freed by the caller.
 */
unsigned char *fixture_assemble(const char *text, size_t *size, bool *missing);

uint64_t fixture_random(uint64_t *state);
/** Numbers at which things change, or any. */
uint64_t fixture_operand(uint64_t *state);

#endif
