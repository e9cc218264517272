/* Floating point to integer, and back. */
#include "feed/ia64/fp_convert.h"

uint32_t ia64_fp_to_integer(uint64_t *result, const struct ia64_fr *f2, struct fp_integer format,
			    enum fp_rounding rounding, uint64_t fpsr, unsigned mode)
{
	struct fp_num n = fr_num(f2);
	int shift = IA64_FR_BIAS + 63 - n.exp;
	uint64_t whole = 0, rest = n.sig != 0, limit = UINT64_MAX >> (64 - format.width);
	uint32_t status = 0;
	bool up;

	if (fr_is_special(f2) || (n.sig && shift < 64 - (int)format.width))
		goto invalid;
	if (n.sig && shift < 64) {
		whole = n.sig >> shift;
		rest = shift ? n.sig << (64 - shift) : 0;
	} else if (n.sig && shift == 64) {
		rest = n.sig;
	}
	up = fp_rounds_up(rounding, n.sign, whole & 1, rest);
	whole += up;
	if (format.is_signed)
		limit = (limit >> 1) + n.sign;
	else if (n.sign)
		limit = 0;
	if (whole > limit)
		goto invalid;
	*result = (n.sign ? -whole : whole) & UINT64_MAX >> (64 - format.width);
	if (fr_is_unnormal(f2))
		status = fp_fault(IA64_FP_D, fpsr, mode);
	if (status & IA64_FP_FAULT)
		return status;
	if (!rest)
		return status;
	return status |
	       fp_trap(IA64_FP_I, fp_enabled(fpsr, ia64_fpsr_controls(fpsr, mode & 3)) & IA64_FP_I,
		       up);
invalid:
	*result = 1ULL << (format.width - 1);
	return fp_fault(IA64_FP_V, fpsr, mode);
}

static uint32_t convert(struct ia64_fr *f1, const struct ia64_fr *f2, bool is_signed,
			enum fp_rounding rounding, uint64_t fpsr, unsigned mode)
{
	struct fp_integer format = {64, is_signed};
	uint64_t result;
	uint32_t status;

	if (ia64_fr_is_natval(f2)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	status = ia64_fp_to_integer(&result, f2, format, rounding, fpsr, mode);
	if (!(status & IA64_FP_FAULT))
		*f1 = ia64_fr_from_integer(result);
	return status;
}

uint32_t ia64_fcvt_fx(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return convert(f1, f2, true, fp_rounding(fpsr, mode), fpsr, mode);
}

uint32_t ia64_fcvt_fx_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			    unsigned mode)
{
	return convert(f1, f2, true, FP_TO_ZERO, fpsr, mode);
}

uint32_t ia64_fcvt_fxu(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode)
{
	return convert(f1, f2, false, fp_rounding(fpsr, mode), fpsr, mode);
}

uint32_t ia64_fcvt_fxu_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			     unsigned mode)
{
	return convert(f1, f2, false, FP_TO_ZERO, fpsr, mode);
}

void ia64_fcvt_xf(struct ia64_fr *f1, const struct ia64_fr *f2)
{
	bool sign = f2->sig >> 63;
	uint64_t magnitude = sign ? -f2->sig : f2->sig;
	int shift;

	if (ia64_fr_is_natval(f2)) {
		*f1 = IA64_FR_NATVAL;
	} else if (!magnitude) {
		*f1 = IA64_FR_ZERO;
	} else {
		shift = __builtin_clzll(magnitude);
		f1->sig = magnitude << shift;
		f1->se = (sign ? IA64_FR_SIGN : 0) | (IA64_FR_EXP_INTEGER - (unsigned)shift);
	}
}
