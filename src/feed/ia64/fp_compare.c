/* fcmp, fclass and the minima and maxima. */
#include "feed/ia64/fp_round.h"

/* Below zero, zero or above it as a is less than, equal to or greater than b; neither is a NaN. */
static int order_magnitude(const struct ia64_fr *a, const struct ia64_fr *b)
{
	struct fp_num x = fr_num(a), y = fr_num(b); /* an infinity's exponent is above all others */

	if (!x.sig || !y.sig)
		return (x.sig != 0) - (y.sig != 0);
	if (x.exp != y.exp)
		return x.exp < y.exp ? -1 : 1;
	return (x.sig > y.sig) - (x.sig < y.sig);
}

static int order(const struct ia64_fr *a, const struct ia64_fr *b)
{
	bool zeros = !fr_num(a).sig && !fr_num(b).sig;

	if (zeros)
		return 0;
	if (fr_sign(a) != fr_sign(b))
		return fr_sign(a) ? -1 : 1;
	return fr_sign(a) ? -order_magnitude(a, b) : order_magnitude(a, b);
}

static bool unordered(const struct ia64_fr *a, const struct ia64_fr *b)
{
	return fr_is_nan(a) || fr_is_nan(b) || fr_is_unsupported(a) || fr_is_unsupported(b);
}

/* Of an ordered pair: D. */
static uint32_t ordered_status(const struct ia64_fr *f2, const struct ia64_fr *f3, uint64_t fpsr,
			       unsigned mode)
{
	return fr_is_unnormal(f2) || fr_is_unnormal(f3) ? fp_fault(IA64_FP_D, fpsr, mode) : 0;
}

/* lt and le find quiet NaNs invalid, eq and unord do not. */
static uint32_t unordered_status(const struct ia64_fr *f2, const struct ia64_fr *f3, bool quiet,
				 uint64_t fpsr, unsigned mode)
{
	if (quiet && !fr_is_signalling(f2) && !fr_is_signalling(f3) && !fr_is_unsupported(f2) &&
	    !fr_is_unsupported(f3))
		return 0;
	return fp_fault(IA64_FP_V, fpsr, mode);
}

uint32_t ia64_fcmp(bool *holds, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   enum ia64_frel rel, uint64_t fpsr, unsigned mode)
{
	enum ia64_frel base = rel & 3;
	bool negated = rel & 4, result;
	uint32_t status;

	*holds = false;
	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3))
		return 0;
	if (unordered(f2, f3)) {
		result = base == IA64_FREL_UNORD;
		status = unordered_status(f2, f3, base == IA64_FREL_EQ || base == IA64_FREL_UNORD,
					  fpsr, mode);
	} else {
		int sense = order(f2, f3);

		result = (base == IA64_FREL_EQ && sense == 0) ||
			 (base == IA64_FREL_LT && sense < 0) ||
			 (base == IA64_FREL_LE && sense <= 0);
		status = ordered_status(f2, f3, fpsr, mode);
	}
	*holds = result != negated;
	return status;
}

bool ia64_fclass(const struct ia64_fr *f2, unsigned fclass9)
{
	unsigned class;

	if (ia64_fr_is_natval(f2))
		return fclass9 & IA64_FCLASS_NATVAL;
	if (fr_is_unsupported(f2))
		return false;
	if (fr_is_nan(f2))
		return fclass9 & (fr_is_signalling(f2) ? IA64_FCLASS_SNAN : IA64_FCLASS_QNAN);
	if (fr_is_infinity(f2))
		class = IA64_FCLASS_INF;
	else if (fr_is_zero(f2))
		class = IA64_FCLASS_ZERO;
	else
		class = fr_is_unnormal(f2) ? IA64_FCLASS_UNORM : IA64_FCLASS_NORM;
	return fclass9 & class && fclass9 & (fr_sign(f2) ? IA64_FCLASS_NEG : IA64_FCLASS_POS);
}

enum choice {
	MIN,
	MAX,
	AMIN,
	AMAX,
};

/* f2 where it is strictly the less or the greater, f3 otherwise: with NaNs too, and as it is. */
static uint32_t choose(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		       enum choice choice, uint64_t fpsr, unsigned mode)
{
	bool second = false;
	uint32_t status;

	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		*f1 = IA64_FR_NATVAL;
		return 0;
	}
	if (unordered(f2, f3)) {
		status = unordered_status(f2, f3, false, fpsr, mode);
	} else {
		int sense =
		    choice == MIN || choice == MAX ? order(f2, f3) : order_magnitude(f2, f3);

		second = choice == MIN || choice == AMIN ? sense < 0 : sense > 0;
		status = ordered_status(f2, f3, fpsr, mode);
	}
	if (!(status & IA64_FP_FAULT))
		*f1 = second ? *f2 : *f3;
	return status;
}

uint32_t ia64_fmin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   uint64_t fpsr, unsigned mode)
{
	return choose(f1, f2, f3, MIN, fpsr, mode);
}

uint32_t ia64_fmax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   uint64_t fpsr, unsigned mode)
{
	return choose(f1, f2, f3, MAX, fpsr, mode);
}

uint32_t ia64_famin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode)
{
	return choose(f1, f2, f3, AMIN, fpsr, mode);
}

uint32_t ia64_famax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode)
{
	return choose(f1, f2, f3, AMAX, fpsr, mode);
}
