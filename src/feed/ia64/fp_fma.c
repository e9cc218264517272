/* fma, fms, fnma: one rounding of the exact sum of product and addend; xma beside them. */
#include <stddef.h>

#include "feed/ia64/fp_round.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* What of the three forms is negated; NaNs keep their sign. */
struct form {
	bool product;
	bool addend;
};

static int clz128(u128 x)
{
	return x >> 64 ? __builtin_clzll((uint64_t)(x >> 64)) : 64 + __builtin_clzll((uint64_t)x);
}

static bool rounds_down(uint64_t fpsr, unsigned mode)
{
	return (ia64_fpsr_controls(fpsr, mode & 3) >> 4 & 3) == FP_DOWN;
}

/*
 * big and small have their top bit set and the exponents differ by apart >= 0, big being no less.
 * Bits of small below big's last one stand in lo. Only where apart is 0 or 1 can more than one
 * leading bit cancel, and there lo is exact; beyond, its last bit may be sticky.
 */
static inline uint32_t add(struct ia64_fr *f1, u128 big, u128 small, int32_t exp, int32_t apart,
			   bool sign, bool subtract, uint64_t fpsr, unsigned mode)
{
	uint64_t lo = 0;

	if (apart >= 128) {
		small = 0;
		lo = 1;
	} else if (apart) {
		u128 off = small << (128 - apart);

		small >>= apart;
		lo = (uint64_t)(off >> 64) | ((uint64_t)off != 0);
	}
	if (!subtract) {
		u128 sum = big + small;

		if (sum < big) {
			lo = (lo | (uint64_t)(sum & 1)) != 0;
			sum = sum >> 1 | (u128)1 << 127;
			exp++;
		}
		big = sum;
	} else {
		big -= small + (lo != 0);
		lo = -lo;
		if (!(big >> 127)) {
			int shift;

			if (!big) {
				*f1 = fr_zero(rounds_down(fpsr, mode));
				return 0;
			}
			shift = clz128(big);
			big = big << shift | (u128)lo << 64 >> (128 - shift);
			lo = shift < 64 ? lo << shift : 0;
			exp -= shift;
		}
	}
	return fp_round(f1, sign, exp, (uint64_t)(big >> 64), (uint64_t)big | (lo != 0), fpsr,
			mode);
}

/* All three finite; c is NULL where nothing is added. */
static inline uint32_t multiply_add(struct ia64_fr *f1, struct fp_num a, struct fp_num b,
				    const struct fp_num *c, uint64_t fpsr, unsigned mode)
{
	bool sign = a.sign ^ b.sign;
	u128 product = (u128)a.sig * b.sig, addend;
	int32_t exp = a.exp + b.exp - IA64_FR_BIAS + 1;
	int normal = !(product >> 127);

	if (__builtin_expect(!product, 0)) {
		if (!c)
			*f1 = fr_zero(sign);
		else if (!c->sig)
			*f1 = fr_zero(sign == c->sign ? sign : rounds_down(fpsr, mode));
		else
			return fp_round(f1, c->sign, c->exp, c->sig, 0, fpsr, mode);
		return 0;
	}
	product <<= normal;
	exp -= normal;
	if (!c || !c->sig)
		return fp_round(f1, sign, exp, (uint64_t)(product >> 64), (uint64_t)product, fpsr,
				mode);
	addend = (u128)c->sig << 64;
	if (exp > c->exp || (exp == c->exp && product >= addend))
		return add(f1, product, addend, exp, exp - c->exp, sign, sign != c->sign, fpsr,
			   mode);
	return add(f1, addend, product, c->exp, c->exp - exp, c->sign, sign != c->sign, fpsr, mode);
}

/* An operand is infinite, NaN or unsupported: in the order of their precedence. */
static uint32_t special(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
			const struct ia64_fr *f2, struct form form, uint64_t fpsr, unsigned mode)
{
	const struct ia64_fr *const by_priority[] = {f4, f2, f3};
	bool infinite = fr_is_infinity(f3) || fr_is_infinity(f4);
	bool sign = fr_sign(f3) ^ fr_sign(f4) ^ form.product, addend = fr_sign(f2) ^ form.addend;
	bool signalling = fr_is_signalling(f3) || fr_is_signalling(f4) || fr_is_signalling(f2);
	uint32_t status = 0;

	if (fr_is_unsupported(f3) || fr_is_unsupported(f4) || fr_is_unsupported(f2))
		goto invalid;
	if (signalling)
		status = fp_fault(IA64_FP_V, fpsr, mode);
	for (unsigned i = 0; i < 3; i++) {
		if (!fr_is_nan(by_priority[i]))
			continue;
		if (!(status & IA64_FP_FAULT))
			*f1 = fr_quiet(by_priority[i]);
		return status;
	}
	/* A pseudo-zero times infinity is infinity (Intel 245317 §5.1.3). */
	if (infinite && (fr_is_zero(f3) || fr_is_zero(f4)))
		goto invalid;
	if (infinite && fr_is_infinity(f2) && sign != addend)
		goto invalid;
	if (fr_is_unnormal(f3) || fr_is_unnormal(f4) || fr_is_unnormal(f2))
		status = fp_fault(IA64_FP_D, fpsr, mode);
	if (!(status & IA64_FP_FAULT))
		*f1 = fr_infinity(infinite ? sign : addend);
	return status;
invalid:
	status = fp_fault(IA64_FP_V, fpsr, mode);
	if (!(status & IA64_FP_FAULT))
		*f1 = IA64_FR_INDEFINITE;
	return status;
}

/* Any operands. */
static __attribute__((noinline)) uint32_t fma_any(struct ia64_fr *f1, const struct ia64_fr *f3,
						  const struct ia64_fr *f4,
						  const struct ia64_fr *f2, struct form form,
						  uint64_t fpsr, unsigned mode)
{
	static const struct ia64_fr zero = {0, 0};
	const struct ia64_fr *addend = f2 ? f2 : &zero;
	struct fp_num a, c;
	uint32_t status = 0;

	if (ia64_fr_is_natval(f3) || ia64_fr_is_natval(f4) || ia64_fr_is_natval(addend)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	if (fr_is_special(f3) || fr_is_special(f4) || fr_is_special(addend))
		return special(f1, f3, f4, addend, form, fpsr, mode);
	if (fr_is_unnormal(f3) || fr_is_unnormal(f4) || fr_is_unnormal(addend))
		status = fp_fault(IA64_FP_D, fpsr, mode);
	if (status & IA64_FP_FAULT)
		return status;
	a = fr_num(f3);
	a.sign ^= form.product;
	c = fr_num(addend);
	c.sign ^= form.addend;
	return status | multiply_add(f1, a, fr_num(f4), f2 ? &c : NULL, fpsr, mode);
}

/* Needs no look at its class, and no normalising; of zero's exponent nothing is asked. */
static inline bool is_plain(const struct ia64_fr *f)
{
	return fr_is_normal(f) || fr_is_zero(f);
}

static inline __attribute__((always_inline)) uint32_t
fma_form(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
	 const struct ia64_fr *f2, struct form form, uint64_t fpsr, unsigned mode)
{
	struct fp_num a, b, c;

	if (__builtin_expect(!is_plain(f3) || !is_plain(f4) || (f2 && !is_plain(f2)), 0))
		return fma_any(f1, f3, f4, f2, form, fpsr, mode);
	a = (struct fp_num){f3->sig, (int32_t)fr_exp(f3), fr_sign(f3) ^ form.product};
	b = (struct fp_num){f4->sig, (int32_t)fr_exp(f4), fr_sign(f4)};
	if (!f2)
		return multiply_add(f1, a, b, NULL, fpsr, mode);
	c = (struct fp_num){f2->sig, (int32_t)fr_exp(f2), fr_sign(f2) ^ form.addend};
	return multiply_add(f1, a, b, &c, fpsr, mode);
}

uint32_t ia64_fma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return fma_form(f1, f3, f4, f2, (struct form){false, false}, fpsr, mode);
}

uint32_t ia64_fms(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return fma_form(f1, f3, f4, f2, (struct form){false, true}, fpsr, mode);
}

uint32_t ia64_fnma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return fma_form(f1, f3, f4, f2, (struct form){true, false}, fpsr, mode);
}

/* f2 is taken as unsigned in all three. */
static void xma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		const struct ia64_fr *f2, uint64_t result)
{
	if (ia64_fr_is_natval(f3) || ia64_fr_is_natval(f4) || ia64_fr_is_natval(f2))
		*f1 = IA64_FR_NATVAL;
	else
		*f1 = ia64_fr_from_integer(result);
}

void ia64_xma_l(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		const struct ia64_fr *f2)
{
	xma(f1, f3, f4, f2, f3->sig * f4->sig + f2->sig);
}

void ia64_xma_h(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		const struct ia64_fr *f2)
{
	s128 product = (s128)(int64_t)f3->sig * (int64_t)f4->sig;

	xma(f1, f3, f4, f2, (uint64_t)(((u128)product + f2->sig) >> 64));
}

void ia64_xma_hu(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		 const struct ia64_fr *f2)
{
	xma(f1, f3, f4, f2, (uint64_t)(((u128)f3->sig * f4->sig + f2->sig) >> 64));
}
