/* What scalar and parallel conversions and approximations share. */
#ifndef FEED_IA64_FP_CONVERT_H
#define FEED_IA64_FP_CONVERT_H

#include "feed/ia64/fp_round.h"

/* An integer format. */
struct fp_integer {
	unsigned width;
	bool is_signed;
};

/**
 * A register, NaTVal aside, rounded to an integer; the format's indefinite, only its top bit, for
 * what does not fit.
 */
uint32_t ia64_fp_to_integer(uint64_t *result, const struct ia64_fr *f2, struct fp_integer format,
			    enum fp_rounding rounding, uint64_t fpsr, unsigned mode);

/** Rounding of a status field. */
static inline enum fp_rounding fp_rounding(uint64_t fpsr, unsigned mode)
{
	return ia64_fpsr_controls(fpsr, mode & 3) >> 4 & 3;
}

/** The table's approximations of 1/n and 1/sqrt(n), n not zero. */
struct ia64_fr ia64_fp_reciprocal(struct fp_num n);
struct ia64_fr ia64_fp_reciprocal_root(struct fp_num n);

/**
 * What the reciprocal (f2 / f3) has no use of the table for: NaNs, unsupported, infinities, zeros;
 * with their exceptions and D's. True where *f1 and *status are the whole answer.
 */
bool ia64_fp_quotient_special(struct ia64_fr *f1, uint32_t *status, const struct ia64_fr *f2,
			      const struct ia64_fr *f3, uint64_t fpsr, unsigned mode);

#endif
