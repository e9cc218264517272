/* What a register holds: classes, and finite values taken apart. */
#ifndef FEED_IA64_FP_VALUE_H
#define FEED_IA64_FP_VALUE_H

#include "feed/ia64/fp.h"

/* A finite value: (-1)^sign * sig * 2^(exp - bias - 63); sig is 0 or has its integer bit. */
struct fp_num {
	uint64_t sig;
	int32_t exp;
	bool sign;
};

/* Exponent that a zero exponent field stands for: that of double-extended denormals. */
#define FP_EXP_DENORMAL_EXTENDED 0xC001

#define FP_QUIET_BIT 0x4000000000000000u

static inline unsigned fr_exp(const struct ia64_fr *f)
{
	return f->se & IA64_FR_EXP;
}

static inline bool fr_sign(const struct ia64_fr *f)
{
	return f->se & IA64_FR_SIGN;
}

/* Normalised, finite, not zero: what nearly all operands are. */
static inline bool fr_is_normal(const struct ia64_fr *f)
{
	return fr_exp(f) - 1 < IA64_FR_EXP - 1 && f->sig >> 63;
}

static inline bool fr_is_zero(const struct ia64_fr *f)
{
	return fr_exp(f) == 0 && f->sig == 0;
}

/* Infinity, NaN or unsupported. */
static inline bool fr_is_special(const struct ia64_fr *f)
{
	return fr_exp(f) == IA64_FR_EXP;
}

static inline bool fr_is_infinity(const struct ia64_fr *f)
{
	return fr_is_special(f) && f->sig == IA64_FR_INTEGER_BIT;
}

static inline bool fr_is_nan(const struct ia64_fr *f)
{
	return fr_is_special(f) && f->sig > IA64_FR_INTEGER_BIT;
}

static inline bool fr_is_signalling(const struct ia64_fr *f)
{
	return fr_is_nan(f) && !(f->sig & FP_QUIET_BIT);
}

/* Pseudo-NaNs and pseudo-infinities. */
static inline bool fr_is_unsupported(const struct ia64_fr *f)
{
	return fr_is_special(f) && !(f->sig >> 63);
}

/* Denormals, pseudo-denormals, unnormals, pseudo-zeros: they raise D. NaTVal is not asked about. */
static inline bool fr_is_unnormal(const struct ia64_fr *f)
{
	return !fr_is_special(f) && !fr_is_zero(f) && !(fr_exp(f) && f->sig >> 63);
}

/* The value of a finite register. */
static inline struct fp_num fr_num(const struct ia64_fr *f)
{
	struct fp_num n = {f->sig, (int32_t)fr_exp(f), fr_sign(f)};

	if (n.exp == 0)
		n.exp = FP_EXP_DENORMAL_EXTENDED;
	if (n.sig && !(n.sig >> 63)) {
		int shift = __builtin_clzll(n.sig);

		n.sig <<= shift;
		n.exp -= shift;
	}
	return n;
}

static inline struct ia64_fr fr_infinity(bool sign)
{
	return (struct ia64_fr){IA64_FR_INTEGER_BIT, (sign ? IA64_FR_SIGN : 0) | IA64_FR_EXP};
}

static inline struct ia64_fr fr_zero(bool sign)
{
	return (struct ia64_fr){0, sign ? IA64_FR_SIGN : 0};
}

static inline struct ia64_fr fr_quiet(const struct ia64_fr *nan)
{
	return (struct ia64_fr){nan->sig | FP_QUIET_BIT, nan->se};
}

#endif
