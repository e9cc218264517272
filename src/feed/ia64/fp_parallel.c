/* Pairs of singles in a significand: each half by the scalar function, their status put together.
 */
#include <stddef.h>

#include "feed/ia64/fp_convert.h"

#define TRAP_CODES 0x7800u

struct lanes {
	struct ia64_fr hi, lo;
};

static struct lanes split(const struct ia64_fr *f)
{
	return (struct lanes){ia64_fr_from_single((uint32_t)(f->sig >> 32)),
			      ia64_fr_from_single((uint32_t)f->sig)};
}

/* ISR.code of the low half's faults and traps stands four bits from the high half's. */
static uint32_t both(uint32_t hi, uint32_t lo)
{
	unsigned code_hi = ia64_fp_isr_code(hi), code_lo = ia64_fp_isr_code(lo);
	uint32_t status =
	    (hi | lo) & (IA64_FP_FLAGS | IA64_FP_FLUSHED | IA64_FP_TINY | IA64_FP_UNSAFE);

	if ((hi | lo) & IA64_FP_FAULT)
		return IA64_FP_FAULT | ((hi & IA64_FP_FAULT ? code_hi : 0) |
					(lo & IA64_FP_FAULT ? code_lo << 4 : 0))
					   << IA64_FP_ISR_SHIFT;
	if ((hi | lo) & IA64_FP_TRAP)
		status |= IA64_FP_TRAP | ((code_hi & TRAP_CODES) | (code_lo & TRAP_CODES) >> 4 | 1)
					     << IA64_FP_ISR_SHIFT;
	return status;
}

static uint32_t write_bits(struct ia64_fr *f1, uint32_t hi, uint32_t lo, uint32_t status)
{
	if (!(status & IA64_FP_FAULT))
		*f1 = ia64_fr_from_integer((uint64_t)hi << 32 | lo);
	return status;
}

static uint32_t write_lanes(struct ia64_fr *f1, const struct lanes *r, uint32_t status)
{
	return write_bits(f1, ia64_fr_to_single(&r->hi), ia64_fr_to_single(&r->lo), status);
}

typedef uint32_t fma_like(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
			  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);

static uint32_t each_fma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
			 const struct ia64_fr *f2, uint64_t fpsr, unsigned mode, fma_like *op)
{
	struct lanes a, b, c = {{0, 0}, {0, 0}}, r = {{0, 0}, {0, 0}};
	uint32_t hi, lo;

	if (ia64_fr_is_natval(f3) || ia64_fr_is_natval(f4) || (f2 && ia64_fr_is_natval(f2))) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	mode = (mode & 3) | FP_PARALLEL << 2;
	a = split(f3);
	b = split(f4);
	if (f2)
		c = split(f2);
	hi = op(&r.hi, &a.hi, &b.hi, f2 ? &c.hi : NULL, fpsr, mode);
	lo = op(&r.lo, &a.lo, &b.lo, f2 ? &c.lo : NULL, fpsr, mode);
	return write_lanes(f1, &r, both(hi, lo));
}

uint32_t ia64_fpma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return each_fma(f1, f3, f4, f2, fpsr, mode, ia64_fma);
}

uint32_t ia64_fpms(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return each_fma(f1, f3, f4, f2, fpsr, mode, ia64_fms);
}

uint32_t ia64_fpnma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		    const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return each_fma(f1, f3, f4, f2, fpsr, mode, ia64_fnma);
}

typedef uint32_t choice(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
			uint64_t fpsr, unsigned mode);

static uint32_t each_choice(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
			    uint64_t fpsr, unsigned mode, choice *op)
{
	struct lanes a, b, r = {{0, 0}, {0, 0}};
	uint32_t hi, lo;

	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	a = split(f2);
	b = split(f3);
	hi = op(&r.hi, &a.hi, &b.hi, fpsr, mode);
	lo = op(&r.lo, &a.lo, &b.lo, fpsr, mode);
	return write_lanes(f1, &r, both(hi, lo));
}

uint32_t ia64_fpmin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode)
{
	return each_choice(f1, f2, f3, fpsr, mode, ia64_fmin);
}

uint32_t ia64_fpmax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode)
{
	return each_choice(f1, f2, f3, fpsr, mode, ia64_fmax);
}

uint32_t ia64_fpamin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		     uint64_t fpsr, unsigned mode)
{
	return each_choice(f1, f2, f3, fpsr, mode, ia64_famin);
}

uint32_t ia64_fpamax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		     uint64_t fpsr, unsigned mode)
{
	return each_choice(f1, f2, f3, fpsr, mode, ia64_famax);
}

uint32_t ia64_fpcmp(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    enum ia64_frel rel, uint64_t fpsr, unsigned mode)
{
	struct lanes a, b;
	bool hi, lo;
	uint32_t status_hi, status_lo;

	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	a = split(f2);
	b = split(f3);
	status_hi = ia64_fcmp(&hi, &a.hi, &b.hi, rel, fpsr, mode);
	status_lo = ia64_fcmp(&lo, &a.lo, &b.lo, rel, fpsr, mode);
	return write_bits(f1, hi ? UINT32_MAX : 0, lo ? UINT32_MAX : 0, both(status_hi, status_lo));
}

static uint32_t each_integer(struct ia64_fr *f1, const struct ia64_fr *f2, bool is_signed,
			     enum fp_rounding rounding, uint64_t fpsr, unsigned mode)
{
	struct fp_integer format = {32, is_signed};
	struct lanes a;
	uint64_t hi, lo;
	uint32_t status_hi, status_lo;

	if (ia64_fr_is_natval(f2)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	a = split(f2);
	status_hi = ia64_fp_to_integer(&hi, &a.hi, format, rounding, fpsr, mode);
	status_lo = ia64_fp_to_integer(&lo, &a.lo, format, rounding, fpsr, mode);
	return write_bits(f1, (uint32_t)hi, (uint32_t)lo, both(status_hi, status_lo));
}

uint32_t ia64_fpcvt_fx(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return each_integer(f1, f2, true, fp_rounding(fpsr, mode), fpsr, mode);
}

uint32_t ia64_fpcvt_fx_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			     unsigned mode)
{
	return each_integer(f1, f2, true, FP_TO_ZERO, fpsr, mode);
}

uint32_t ia64_fpcvt_fxu(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return each_integer(f1, f2, false, fp_rounding(fpsr, mode), fpsr, mode);
}

uint32_t ia64_fpcvt_fxu_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			      unsigned mode)
{
	return each_integer(f1, f2, false, FP_TO_ZERO, fpsr, mode);
}

/* Exponents of singles from which an iteration keeps its precision and range. */
#define EXP_LEAST  (IA64_FR_BIAS - 127 + 24)
#define EXP_LARGE  (IA64_FR_BIAS + 125)
#define EXP_NORMAL (IA64_FR_BIAS - 126)

/* Beyond the range of singles the half is infinity or zero, of the denominator's sign. */
static uint32_t reciprocal(struct ia64_fr *f1, bool *usable, const struct ia64_fr *f2,
			   const struct ia64_fr *f3, uint64_t fpsr, unsigned mode)
{
	struct fp_num num = fr_num(f2), den = fr_num(f3);
	int32_t apart = num.exp - den.exp;
	uint32_t status;

	*usable = false;
	if (ia64_fp_quotient_special(f1, &status, f2, f3, fpsr, mode))
		return status;
	if (den.exp < EXP_NORMAL) {
		*f1 = fr_infinity(den.sign);
	} else if (den.exp >= EXP_LARGE) {
		*f1 = fr_zero(den.sign);
	} else {
		*f1 = ia64_fp_reciprocal(den);
		*usable = apart < 127 && apart > 2 - 127 && num.exp > EXP_LEAST;
	}
	return status;
}

uint32_t ia64_fprcpa(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f2,
		     const struct ia64_fr *f3, uint64_t fpsr, unsigned mode)
{
	struct lanes a, b, r = {{0, 0}, {0, 0}};
	bool hi, lo;
	uint32_t status_hi, status_lo;

	*p2 = false;
	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	a = split(f2);
	b = split(f3);
	status_hi = reciprocal(&r.hi, &hi, &a.hi, &b.hi, fpsr, mode);
	status_lo = reciprocal(&r.lo, &lo, &a.lo, &b.lo, fpsr, mode);
	*p2 = hi && lo;
	return write_lanes(f1, &r, both(status_hi, status_lo));
}

/* The root's reciprocal of a zero is infinity, of infinity zero. */
static uint32_t reciprocal_root(struct ia64_fr *f1, bool *usable, const struct ia64_fr *f3,
				uint64_t fpsr, unsigned mode)
{
	struct fp_num n = fr_num(f3);

	*usable = false;
	if (fr_is_nan(f3)) {
		*f1 = fr_quiet(f3);
		return fr_is_signalling(f3) ? fp_fault(IA64_FP_V, fpsr, mode) : 0;
	}
	if (!n.sig) {
		*f1 = fr_infinity(n.sign);
		return 0;
	}
	if (n.sign) {
		*f1 = IA64_FR_INDEFINITE;
		return fp_fault(IA64_FP_V, fpsr, mode);
	}
	if (fr_is_infinity(f3)) {
		*f1 = IA64_FR_ZERO;
		return 0;
	}
	*f1 = ia64_fp_reciprocal_root(n);
	*usable = n.exp > EXP_LEAST;
	return fr_is_unnormal(f3) ? fp_fault(IA64_FP_D, fpsr, mode) : 0;
}

uint32_t ia64_fprsqrta(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f3, uint64_t fpsr,
		       unsigned mode)
{
	struct lanes a, r = {{0, 0}, {0, 0}};
	bool hi, lo;
	uint32_t status_hi, status_lo;

	*p2 = false;
	if (ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	a = split(f3);
	status_hi = reciprocal_root(&r.hi, &hi, &a.hi, fpsr, mode);
	status_lo = reciprocal_root(&r.lo, &lo, &a.lo, fpsr, mode);
	*p2 = hi && lo;
	return write_lanes(f1, &r, both(status_hi, status_lo));
}
