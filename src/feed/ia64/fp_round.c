/*
 * Rounding by its definition: tininess is found after rounding as if exponents had no bounds; a
 * masked underflow rounds the exact value once, at the denormal's last place (Intel 245317 §5.4).
 */
#include "feed/ia64/fp_round.h"

/* Ranges, with the register's bias. */
#define RANGE_SINGLE   0xFF81, 0x1007E
#define RANGE_DOUBLE   0xFC01, 0x103FE
#define RANGE_EXTENDED 0xC001, 0x13FFE
#define RANGE_REGISTER 0x0001, 0x1FFFE

/* pc 1 is reserved: FPSR cannot hold it. */
const struct fp_format ia64_fp_formats[32] = {
    /* pc.wre: 0.0, 0.1; 1.0, 1.1; 2.0, 2.1; 3.0, 3.1 */
    {24, RANGE_EXTENDED},
    {24, RANGE_REGISTER},
    {24, RANGE_EXTENDED},
    {24, RANGE_REGISTER},
    {53, RANGE_EXTENDED},
    {53, RANGE_REGISTER},
    {64, RANGE_EXTENDED},
    {64, RANGE_REGISTER},
    /* .s */
    {24, RANGE_SINGLE},
    {24, RANGE_REGISTER},
    {24, RANGE_SINGLE},
    {24, RANGE_REGISTER},
    {24, RANGE_SINGLE},
    {24, RANGE_REGISTER},
    {24, RANGE_SINGLE},
    {24, RANGE_REGISTER},
    /* .d */
    {53, RANGE_DOUBLE},
    {53, RANGE_REGISTER},
    {53, RANGE_DOUBLE},
    {53, RANGE_REGISTER},
    {53, RANGE_DOUBLE},
    {53, RANGE_REGISTER},
    {53, RANGE_DOUBLE},
    {53, RANGE_REGISTER},
    /* parallel */
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
    {24, RANGE_SINGLE},
};

struct rounded {
	uint64_t sig; /* 0 or with its integer bit, unless rounded at a denormal's place */
	int32_t exp;
	bool inexact;
	bool up; /* magnitude grew */
};

static struct rounded round_at(const struct fp_format *format, unsigned rounding, bool sign,
			       int32_t exp, uint64_t hi, uint64_t lo)
{
	uint64_t ulp = 1ULL << (64 - format->precision);
	uint64_t rest = ulp == 1 ? lo : hi << format->precision | (lo != 0);
	struct rounded r = {hi & -ulp, exp, rest != 0, false};

	r.up = fp_rounds_up(rounding, sign, r.sig & ulp, rest);
	if (r.up) {
		r.sig += ulp;
		if (!r.sig) {
			r.sig = IA64_FR_INTEGER_BIT;
			r.exp++;
		}
	}
	return r;
}

/* hi and lo shifted right, bits that fall off in lo's last. */
static void shift_right(uint64_t *hi, uint64_t *lo, unsigned by)
{
	if (by >= 128) {
		*lo = (*hi | *lo) != 0;
		*hi = 0;
	} else if (by >= 64) {
		uint64_t off = *lo | (by > 64 ? *hi << (128 - by) : 0);

		*lo = (by > 64 ? *hi >> (by - 64) : *hi) | (off != 0);
		*hi = 0;
	} else if (by) {
		uint64_t off = *lo << (64 - by);

		*lo = *hi << (64 - by) | *lo >> by | (off != 0);
		*hi >>= by;
	}
}

static uint64_t sign_exp(bool sign, int32_t exp)
{
	return (sign ? IA64_FR_SIGN : 0) | (uint32_t)exp;
}

/* Overflow or underflow with its trap enabled: the exponent's low bits, as many as the format has.
 */
static uint32_t wrapped(struct ia64_fr *f1, bool sign, const struct rounded *r, unsigned flag,
			unsigned mode)
{
	unsigned flags = flag | (r->inexact ? IA64_FP_I : 0);
	int32_t exp = r->exp & (int32_t)IA64_FR_EXP;

	if (mode >> 2 == FP_PARALLEL) /* in eight bits */
		exp = ((r->exp - 0xFF80) & 0xFF) + 0xFF80;
	f1->sig = r->sig;
	f1->se = sign_exp(sign, exp);
	return fp_trap(flags, flags, r->up);
}

static uint32_t overflow(struct ia64_fr *f1, bool sign, const struct fp_format *format,
			 unsigned rounding, unsigned enabled)
{
	bool up = fp_rounds_up(rounding, sign, true, UINT64_MAX);

	if (up)
		*f1 = fr_infinity(sign);
	else
		*f1 = (struct ia64_fr){-(1ULL << (64 - format->precision)),
				       sign_exp(sign, format->emax)};
	return fp_trap(IA64_FP_O | IA64_FP_I, enabled & IA64_FP_I, up);
}

/* Rounded at the denormal's last place. */
static uint32_t denormal(struct ia64_fr *f1, bool sign, int32_t exp, uint64_t hi, uint64_t lo,
			 const struct fp_format *format, unsigned rounding, unsigned enabled)
{
	struct rounded r;
	unsigned flags;

	shift_right(&hi, &lo, (unsigned)(format->emin - exp));
	r = round_at(format, rounding, sign, format->emin, hi, lo);
	if (!r.sig)
		r.exp = 0;
	else if (!(r.sig >> 63) && r.exp == FP_EXP_DENORMAL_EXTENDED)
		r.exp = 0;
	f1->sig = r.sig;
	f1->se = sign_exp(sign, r.exp);
	flags = r.inexact ? IA64_FP_U | IA64_FP_I : 0;
	return fp_trap(flags, flags & enabled & IA64_FP_I, r.up);
}

uint32_t ia64_fp_round_any(struct ia64_fr *f1, bool sign, int32_t exp, uint64_t hi, uint64_t lo,
			   uint64_t fpsr, unsigned mode)
{
	unsigned controls = ia64_fpsr_controls(fpsr, mode & 3);
	unsigned enabled = fp_enabled(fpsr, controls);
	unsigned rounding = controls >> 4 & 3;
	const struct fp_format *format = fp_format(controls, mode);
	struct rounded r = round_at(format, rounding, sign, exp, hi, lo);
	unsigned flags = r.inexact ? IA64_FP_I : 0;
	uint32_t unsafe = r.exp <= format->emin || r.exp >= format->emax ? IA64_FP_UNSAFE : 0;

	if (r.exp > format->emax) {
		if (enabled & IA64_FP_O)
			return unsafe | wrapped(f1, sign, &r, IA64_FP_O, mode);
		return unsafe | overflow(f1, sign, format, rounding, enabled);
	}
	if (r.exp < format->emin) {
		if (enabled & IA64_FP_U)
			return unsafe | wrapped(f1, sign, &r, IA64_FP_U, mode);
		if (controls & IA64_SF_FTZ) {
			*f1 = fr_zero(sign);
			return unsafe | IA64_FP_FLUSHED |
			       fp_trap(IA64_FP_U | IA64_FP_I, enabled & IA64_FP_I, false);
		}
		return unsafe | IA64_FP_TINY |
		       denormal(f1, sign, exp, hi, lo, format, rounding, enabled);
	}
	f1->sig = r.sig;
	f1->se = sign_exp(sign, r.exp);
	return unsafe | fp_trap(flags, flags & enabled, r.up);
}
