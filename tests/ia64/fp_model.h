/*
 * IA-64 floating point by its definition, slowly: exact numbers (GMP) and one rounding, sharing
 * nothing with src/feed/ia64 but the layout of a register and of a status word.
 */
#ifndef TESTS_IA64_FP_MODEL_H
#define TESTS_IA64_FP_MODEL_H

#include <gmp.h>

#include "feed/ia64/fp.h"

enum kind {
	FINITE, /* zeros too */
	INFINITE,
	QUIET,
	SIGNALLING,
	UNSUPPORTED,
	NATVAL,
};

/* (-1)^sign * num / den * 2^exp */
struct value {
	enum kind kind;
	bool sign;
	bool unnormal;	  /* raises D; a pseudo-zero too */
	uint64_t payload; /* of a NaN, as a register's significand */
	mpz_t num;
	mpz_t den;
	long exp;
};

enum target {
	TO_REGISTER,
	TO_SINGLE, /* a half of a pair: 32 bits */
};

/* How an operation rounds: a status field and completers, taken apart by the test. */
struct environment {
	enum target target;
	long precision, emin, emax; /* unbiased */
	unsigned rounding;	    /* 0 nearest, 1 down, 2 up, 3 to zero */
	bool flush;
	unsigned enabled; /* traps */
};

struct outcome {
	struct ia64_fr fr; /* TO_REGISTER */
	uint32_t single;   /* TO_SINGLE */
	uint32_t status;
};

void value_init(struct value *v);
void value_clear(struct value *v);
void value_from_register(struct value *v, struct ia64_fr fr);
void value_from_single(struct value *v, uint32_t bits);

/** The environment of a status field; precision as in a mode, TO_SINGLE of parallel instructions.
 */
struct environment environment_of(uint64_t fpsr, unsigned sf, enum ia64_fp_precision precision,
				  enum target target);

struct outcome model_fma(const struct value *f3, const struct value *f4, const struct value *f2,
			 bool negate_product, bool negate_addend, const struct environment *env);
struct outcome model_quotient(const struct value *f2, const struct value *f3,
			      const struct environment *env);
/** Of a positive finite value. */
struct outcome model_root(const struct value *f3, const struct environment *env);
/** -1, 0 or 1 of two values that are not NaNs. */
int model_order(const struct value *a, const struct value *b);
/** Conversion to an integer: its low width bits and the status. */
struct outcome model_to_integer(uint64_t *result, const struct value *v, unsigned width,
				bool is_signed, unsigned rounding, unsigned enabled);
/**
 * NaTVal, unsupported operands and NaNs, these in the order in which they are given: true where
 * that decides.
 */
bool model_not_numbers(struct outcome *out, const struct value *const v[], unsigned n,
		       const struct environment *env);
struct outcome model_invalid(const struct environment *env);
struct outcome model_infinity(bool sign, uint32_t status, const struct environment *env);
struct outcome model_zero(bool sign, uint32_t status, const struct environment *env);
/** The status of V, D or Z. */
uint32_t model_fault(unsigned flag, unsigned enabled);
/** Puts the halves' status together. */
uint32_t model_pair_status(uint32_t hi, uint32_t lo);

#endif
