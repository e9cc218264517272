/* Code of no sense, run: what must hold whatever it is. */
#ifndef TESTS_IA64_RANDOM_CODE_H
#define TESTS_IA64_RANDOM_CODE_H

#include "bench.h"

#define RANDOM_CODE_BYTES 2048
#define RANDOM_CODE_STEPS 3000

/** A bench whose runs end after RANDOM_CODE_STEPS instructions. */
struct bench *random_code_bench(void);

/** Bundles: some of any bits, most of instructions with any operands. */
void random_code_make(unsigned char *code, uint64_t seed);

/**
 * Runs the code from a state that the seed gives, once as it is and once by the operations that
 * look at NaT bits. NULL, or what is wrong.
 */
const char *random_code_run(struct bench *b, const unsigned char *code, size_t size, uint64_t seed);

#endif
