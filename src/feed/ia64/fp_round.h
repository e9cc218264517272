/* From an exact value to a register: rounding, overflow, underflow; and the status of faults. */
#ifndef FEED_IA64_FP_ROUND_H
#define FEED_IA64_FP_ROUND_H

#include "feed/ia64/fp_value.h"

/* A fourth precision beside enum ia64_fp_precision: single in the range of the memory format. */
#define FP_PARALLEL 3

enum fp_rounding {
	FP_NEAREST,
	FP_DOWN,
	FP_UP,
	FP_TO_ZERO,
};

struct fp_format {
	int32_t precision; /* bits of significand */
	int32_t emin;	   /* of normal results, with the register's bias */
	int32_t emax;
};

/* By precision, then the status field's pc and wre: index in fp_format(). */
extern const struct fp_format ia64_fp_formats[32];

static inline const struct fp_format *fp_format(unsigned controls, unsigned mode)
{
	return &ia64_fp_formats[(mode >> 2 & 3) << 3 | (controls >> 1 & 7)];
}

/* Traps that a status field leaves enabled. */
static inline unsigned fp_enabled(uint64_t fpsr, unsigned controls)
{
	return controls & IA64_SF_TD ? 0 : ~fpsr & IA64_FP_FLAGS;
}

/* An operand's exception (V, D or Z): its flag, or the fault where it is enabled. */
static inline uint32_t fp_fault(unsigned flag, uint64_t fpsr, unsigned mode)
{
	if (fp_enabled(fpsr, ia64_fpsr_controls(fpsr, mode & 3)) & flag)
		return IA64_FP_FAULT | (uint32_t)flag << IA64_FP_ISR_SHIFT;
	return flag;
}

/*
 * Flags, and the trap of those that are raised: their ISR.code stands eight bits above the flags,
 * above them whether the magnitude grew (FPA), and bit 0 says that it is a floating-point trap.
 */
static inline uint32_t fp_trap(unsigned flags, unsigned raised, bool grew)
{
	if (!raised)
		return flags;
	return flags | IA64_FP_TRAP | (raised << 8 | (grew ? 0x4000u : 0) | 1) << IA64_FP_ISR_SHIFT;
}

/* rest: the bits below the last kept one, as a fraction of it in 64 bits, sticky in its last bit.
 */
static inline bool fp_rounds_up(unsigned rounding, bool sign, bool odd, uint64_t rest)
{
	switch (rounding) {
	case FP_NEAREST:
		return rest > IA64_FR_INTEGER_BIT - odd;
	case FP_DOWN:
		return sign && rest;
	case FP_UP:
		return !sign && rest;
	default:
		return false;
	}
}

/*
 * Writes (-1)^sign * (hi + lo * 2^-64) * 2^(exp - bias - 63), hi with its integer bit; bits below
 * lo are in its last bit (sticky). The second is the whole definition, the first the common case of
 * it.
 */
uint32_t ia64_fp_round_any(struct ia64_fr *f1, bool sign, int32_t exp, uint64_t hi, uint64_t lo,
			   uint64_t fpsr, unsigned mode);

static inline uint32_t fp_round(struct ia64_fr *f1, bool sign, int32_t exp, uint64_t hi,
				uint64_t lo, uint64_t fpsr, unsigned mode)
{
	unsigned controls = ia64_fpsr_controls(fpsr, mode & 3);
	const struct fp_format *format = fp_format(controls, mode);
	uint64_t ulp = 1ULL << (64 - format->precision);
	uint64_t rest = ulp == 1 ? lo : hi << format->precision | (lo != 0);
	uint64_t kept = hi & -ulp;
	int32_t kept_exp = exp;

	/* Without a branch: to the processor this is chance. */
	kept += ulp & -(uint64_t)fp_rounds_up(controls >> 4 & 3, sign, kept & ulp, rest);
	if (__builtin_expect(!kept, 0)) {
		kept = IA64_FR_INTEGER_BIT;
		kept_exp++;
	}
	if (__builtin_expect(kept_exp <= format->emin || kept_exp >= format->emax, 0) ||
	    __builtin_expect(rest && !(fpsr & IA64_FP_I), 0))
		return ia64_fp_round_any(f1, sign, exp, hi, lo, fpsr, mode);
	f1->sig = kept;
	f1->se = (sign ? IA64_FR_SIGN : 0) | (uint32_t)kept_exp;
	return rest ? IA64_FP_I : 0;
}

#endif
