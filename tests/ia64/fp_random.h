/* Registers, singles and FPSRs at random, most of them near an edge of some format. */
#ifndef TESTS_IA64_FP_RANDOM_H
#define TESTS_IA64_FP_RANDOM_H

#include "feed/ia64/fp.h"

struct fp_random {
	uint64_t state; /* not 0 */
};

uint64_t random_bits(struct fp_random *r);
/** Below n. */
unsigned random_below(struct fp_random *r, unsigned n);
uint64_t random_significand(struct fp_random *r);
struct ia64_fr random_register(struct fp_random *r);
uint32_t random_single(struct fp_random *r);
/** Valid, all traps masked more often than not. */
uint64_t random_fpsr(struct fp_random *r);
/** Operands of f3 * f4 + f2 that often cancel, or end halfway between two results. */
void random_operands(struct fp_random *r, struct ia64_fr *f3, struct ia64_fr *f4,
		     struct ia64_fr *f2);

#endif
