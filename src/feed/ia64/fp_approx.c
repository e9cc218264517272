/* frcpa and frsqrta: approximations, and the quotients and roots that need none. */
#include "feed/ia64/fp_convert.h"

__extension__ typedef unsigned __int128 u128;

/*
 * The architecture's tables need not be stored. An entry is the function at the middle of an
 * interval of the argument, rounded to nearest: 2^11 / x in 256 intervals of [1, 2); 2^11 / sqrt(x)
 * in 128 intervals of [1, 2) and 128 of [2, 4), where odd exponents put x. Its 11 bits lead the
 * result's significand.
 */

static uint64_t isqrt(u128 x)
{
	u128 root = 0, bit = (u128)1 << 126;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

struct ia64_fr ia64_fp_reciprocal(struct fp_num n)
{
	unsigned middle = 513 + 2 * (n.sig >> 55 & 0xFF); /* x * 2^9 */
	uint64_t entry = ((1u << 21) / middle + 1) / 2;

	return (struct ia64_fr){entry << 53, (n.sign ? IA64_FR_SIGN : 0) |
						 ((0x1FFFDu - (unsigned)n.exp) & IA64_FR_EXP)};
}

struct ia64_fr ia64_fp_reciprocal_root(struct fp_num n)
{
	bool odd = !(n.exp & 1);				   /* the bias is odd */
	unsigned middle = (257 + 2 * (n.sig >> 56 & 0x7F)) << odd; /* x * 2^8 */
	uint64_t entry = (isqrt((1ULL << 32) / middle) + 1) / 2;
	int half = (n.exp - IA64_FR_BIAS - odd) / 2;

	return (struct ia64_fr){entry << 53, (unsigned)(IA64_FR_BIAS - 1 - half) & IA64_FR_EXP};
}

static uint32_t indefinite(struct ia64_fr *f1, uint64_t fpsr, unsigned mode)
{
	*f1 = IA64_FR_INDEFINITE;
	return fp_fault(IA64_FP_V, fpsr, mode);
}

bool ia64_fp_quotient_special(struct ia64_fr *f1, uint32_t *status, const struct ia64_fr *f2,
			      const struct ia64_fr *f3, uint64_t fpsr, unsigned mode)
{
	bool sign = fr_sign(f2) ^ fr_sign(f3);
	bool infinite2 = fr_is_infinity(f2), infinite3 = fr_is_infinity(f3);
	bool zero2 = !f2->sig, zero3 = !f3->sig; /* pseudo-zeros too */

	*status = 0;
	if (fr_is_unsupported(f2) || fr_is_unsupported(f3)) {
		*status = indefinite(f1, fpsr, mode);
		return true;
	}
	if (fr_is_nan(f2) || fr_is_nan(f3)) {
		if (fr_is_signalling(f2) || fr_is_signalling(f3))
			*status = fp_fault(IA64_FP_V, fpsr, mode);
		*f1 = fr_quiet(fr_is_nan(f2) ? f2 : f3);
		return true;
	}
	if ((infinite2 && infinite3) || (zero2 && zero3)) {
		*status = indefinite(f1, fpsr, mode);
		return true;
	}
	if (zero3 && !infinite2) {
		*status = fp_fault(IA64_FP_Z, fpsr, mode);
		*f1 = fr_infinity(sign);
		return true;
	}
	if (fr_is_unnormal(f2) || fr_is_unnormal(f3))
		*status = fp_fault(IA64_FP_D, fpsr, mode);
	if (*status & IA64_FP_FAULT)
		return true;
	if (infinite2)
		*f1 = fr_infinity(sign);
	else if (zero2 || infinite3)
		*f1 = fr_zero(sign);
	else
		return false;
	return true;
}

/* Where an iteration from the table could leave the range of 17-bit exponents. */
static bool quotient_needs_software(struct fp_num num, struct fp_num den)
{
	int32_t apart = num.exp - den.exp;

	return den.exp <= 0 || den.exp >= 0x1FFFC || apart <= 2 - 0xFFFF || apart >= 0xFFFF ||
	       num.exp <= 64;
}

static uint32_t quotient(struct ia64_fr *f1, struct fp_num num, struct fp_num den, uint64_t fpsr,
			 unsigned mode)
{
	bool less = num.sig < den.sig;
	u128 dividend = (u128)num.sig << (63 + less);
	uint64_t hi = (uint64_t)(dividend / den.sig);
	u128 rest = dividend % den.sig << 64;
	uint64_t lo = (uint64_t)(rest / den.sig) | (rest % den.sig != 0);

	return fp_round(f1, num.sign ^ den.sign, num.exp - den.exp + IA64_FR_BIAS - less, hi, lo,
			fpsr, mode);
}

uint32_t ia64_frcpa(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f2,
		    const struct ia64_fr *f3, uint64_t fpsr, unsigned mode)
{
	struct ia64_fr result;
	struct fp_num num, den;
	uint32_t status;

	*p2 = false;
	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	if (ia64_fp_quotient_special(&result, &status, f2, f3, fpsr, mode)) {
		if (!(status & IA64_FP_FAULT))
			*f1 = result;
		return status;
	}
	num = fr_num(f2);
	den = fr_num(f3);
	if (quotient_needs_software(num, den))
		return status | quotient(f1, num, den, fpsr, mode);
	*f1 = ia64_fp_reciprocal(den);
	*p2 = true;
	return status;
}

static uint32_t root(struct ia64_fr *f1, struct fp_num n, uint64_t fpsr, unsigned mode)
{
	bool odd = !(n.exp & 1);
	u128 radicand = (u128)n.sig << (63 + odd), rest;
	uint64_t hi = isqrt(radicand), lo;

	/* The root is irrational or hi: more or less than half of its last place above hi. */
	rest = radicand - (u128)hi * hi;
	lo = rest ? (rest > hi ? IA64_FR_INTEGER_BIT | 1 : 1) : 0;
	return fp_round(f1, false, (n.exp - IA64_FR_BIAS - odd) / 2 + IA64_FR_BIAS, hi, lo, fpsr,
			mode);
}

uint32_t ia64_frsqrta(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f3, uint64_t fpsr,
		      unsigned mode)
{
	struct ia64_fr result;
	struct fp_num n = fr_num(f3);
	uint32_t status = 0;

	*p2 = false;
	if (ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	if (fr_is_unsupported(f3)) {
		status = indefinite(&result, fpsr, mode);
	} else if (fr_is_nan(f3)) {
		if (fr_is_signalling(f3))
			status = fp_fault(IA64_FP_V, fpsr, mode);
		result = fr_quiet(f3);
	} else if (n.sign && n.sig) {
		status = indefinite(&result, fpsr, mode);
	} else if (fr_is_infinity(f3)) {
		result = *f3;
	} else {
		if (fr_is_unnormal(f3))
			status = fp_fault(IA64_FP_D, fpsr, mode);
		if (status & IA64_FP_FAULT)
			return status;
		if (n.sig && n.exp <= 64)
			return status | root(f1, n, fpsr, mode);
		*p2 = n.sig != 0;
		result = n.sig ? ia64_fp_reciprocal_root(n) : fr_zero(n.sign);
	}
	if (!(status & IA64_FP_FAULT))
		*f1 = result;
	return status;
}
