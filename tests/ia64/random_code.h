/* Code of no sense, run: what must hold whatever it is. */
#ifndef TESTS_IA64_RANDOM_CODE_H
#define TESTS_IA64_RANDOM_CODE_H

#include "fixture.h"

#define RANDOM_CODE_BYTES 2048
#define RANDOM_CODE_STEPS 3000

/** A fixture whose runs end after RANDOM_CODE_STEPS instructions. */
struct fixture *random_code_fixture(void);

/** Bundles: some of any bits, most of instructions with any operands. */
void random_code_make(unsigned char *code, uint64_t seed);

/**
 * Runs the code from a state that the seed gives, once as it is and once by the operations that
 * look at NaT bits. NULL, or what is wrong.
 */
const char *random_code_run(struct fixture *b, const unsigned char *code, size_t size,
			    uint64_t seed);

#endif
