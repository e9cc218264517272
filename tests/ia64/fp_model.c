/*
 * The architecture's definitions: Intel 245317 §5.1 (formats), §5.4 (exceptions). Rounding takes
 * the unit of the last place, divides by it, and looks at the remainder.
 */
#include "fp_model.h"

#include <stdlib.h>

enum isr {
	ISR_O = 11,
	ISR_U = 12,
	ISR_I = 13,
	ISR_FPA = 14,
};

void value_init(struct value *v)
{
	mpz_init(v->num);
	mpz_init_set_ui(v->den, 1);
	v->exp = 0;
}

void value_clear(struct value *v)
{
	mpz_clear(v->num);
	mpz_clear(v->den);
}

static void set(struct value *v, bool sign, uint64_t num, long exp, bool unnormal)
{
	v->kind = FINITE;
	v->sign = sign;
	v->unnormal = unnormal;
	mpz_set_ui(v->num, num);
	mpz_set_ui(v->den, 1);
	v->exp = exp;
}

void value_from_register(struct value *v, struct ia64_fr fr)
{
	bool sign = fr.se >> 17 & 1, integer_bit = fr.sig >> 63;
	long field = fr.se & 0x1FFFF;

	if (field == 0x1FFFE && !fr.sig && !sign) {
		v->kind = NATVAL;
	} else if (field == 0x1FFFF) {
		v->sign = sign;
		v->payload = fr.sig;
		v->unnormal = false;
		if (!integer_bit)
			v->kind = UNSUPPORTED;
		else if (fr.sig << 1 == 0)
			v->kind = INFINITE;
		else
			v->kind = fr.sig & 1ULL << 62 ? QUIET : SIGNALLING;
	} else if (field == 0) {
		/* Double-extended denormals and pseudo-denormals have that format's least exponent.
		 */
		set(v, sign, fr.sig, -16382 - 63, fr.sig != 0);
	} else {
		set(v, sign, fr.sig, field - 65535 - 63, !integer_bit);
	}
}

void value_from_single(struct value *v, uint32_t bits)
{
	bool sign = bits >> 31;
	long field = bits >> 23 & 0xFF;
	uint64_t fraction = bits & 0x7FFFFF;

	if (field == 0xFF) {
		v->sign = sign;
		v->unnormal = false;
		v->payload = (1ULL << 23 | fraction) << 40;
		v->kind = !fraction ? INFINITE : fraction >> 22 ? QUIET : SIGNALLING;
	} else if (field == 0) {
		set(v, sign, fraction, -149, fraction != 0);
	} else {
		set(v, sign, fraction | 1 << 23, field - 150, false);
	}
}

struct environment environment_of(uint64_t fpsr, unsigned sf, enum ia64_fp_precision precision,
				  enum target target)
{
	static const long pc_bits[] = {24, 0, 53, 64};
	unsigned control = fpsr >> (6 + 13 * sf) & 0x7F;
	bool wide = control >> 1 & 1;
	struct environment env = {
	    .target = target, .rounding = control >> 4 & 3, .flush = control & 1};

	env.enabled = control >> 6 & 1 ? 0 : ~(unsigned)fpsr & 0x3F;
	if (target == TO_SINGLE || precision == IA64_FP_SINGLE) {
		env.precision = 24;
		env.emax = 127;
	} else if (precision == IA64_FP_DOUBLE) {
		env.precision = 53;
		env.emax = 1023;
	} else {
		env.precision = pc_bits[control >> 2 & 3];
		env.emax = 16383;
	}
	if (wide && target == TO_REGISTER)
		env.emax = 65535;
	env.emin = 1 - env.emax;
	return env;
}

uint32_t model_fault(unsigned flag, unsigned enabled)
{
	return flag & enabled ? IA64_FP_FAULT | flag << 16 : flag;
}

static struct outcome faulted(uint32_t status)
{
	return (struct outcome){.status = status};
}

static struct outcome special(bool sign, uint64_t sig, uint32_t status,
			      const struct environment *env)
{
	struct outcome out = {.status = status};

	if (env->target == TO_SINGLE)
		out.single = (uint32_t)sign << 31 | 0xFFu << 23 | (uint32_t)(sig << 1 >> 41);
	else
		out.fr = (struct ia64_fr){sig, (uint64_t)sign << 17 | 0x1FFFF};
	return out;
}

struct outcome model_infinity(bool sign, uint32_t status, const struct environment *env)
{
	return special(sign, 1ULL << 63, status, env);
}

struct outcome model_zero(bool sign, uint32_t status, const struct environment *env)
{
	struct outcome out = {.status = status};

	if (env->target == TO_SINGLE)
		out.single = (uint32_t)sign << 31;
	else
		out.fr.se = (uint64_t)sign << 17;
	return out;
}

struct outcome model_invalid(const struct environment *env)
{
	uint32_t status = model_fault(IA64_FP_V, env->enabled);

	return status & IA64_FP_FAULT ? faulted(status) : special(true, 3ULL << 62, status, env);
}

static struct outcome nan_of(const struct value *v, uint32_t status, const struct environment *env)
{
	if (status & IA64_FP_FAULT)
		return faulted(status);
	return special(v->sign, v->payload | 1ULL << 62, status, env);
}

/* n * 2^unit, n of at most the precision; a denormal keeps the place of its unit. */
static struct outcome encode(bool sign, const mpz_t n, long unit, bool wrapped, uint32_t status,
			     const struct environment *env)
{
	struct outcome out = {.status = status};
	long bits, exp, least = env->emin - env->precision + 1;
	mpz_t sig;

	if (mpz_sgn(n) == 0)
		return model_zero(sign, status, env);
	mpz_init_set(sig, n);
	bits = (long)mpz_sizeinbase(sig, 2);
	exp = unit + bits - 1;
	if (bits > env->precision) { /* rounded up to the next power of two */
		mpz_fdiv_q_2exp(sig, sig, 1);
		unit++;
		bits--;
	}
	if (env->target == TO_SINGLE) {
		bool denormal = !wrapped && exp < env->emin;

		mpz_mul_2exp(sig, sig, (unsigned long)(denormal ? unit - least : 24 - bits));
		out.single = (uint32_t)sign << 31 | (mpz_get_ui(sig) & 0x7FFFFF);
		if (!denormal)
			out.single |= (uint32_t)((exp + 127) & 0xFF) << 23;
	} else if (!wrapped && exp < env->emin) {
		mpz_mul_2exp(sig, sig, (unsigned long)(unit - (env->emin - 63)));
		out.fr.sig = mpz_get_ui(sig);
		out.fr.se = (uint64_t)sign << 17 |
			    (env->emin == -16382 ? 0 : (uint64_t)(env->emin + 65535));
	} else {
		mpz_mul_2exp(sig, sig, (unsigned long)(64 - bits));
		out.fr.sig = mpz_get_ui(sig);
		out.fr.se = (uint64_t)sign << 17 | ((uint64_t)(exp + 65535) & 0x1FFFF);
	}
	mpz_clear(sig);
	return out;
}

/* A positive real number that can be divided into units: floor, and whether a rest is above half.
 */
struct real {
	const mpz_t *num, *den;
	long exp;
	bool root; /* of it */
};

/* n = floor(x / 2^unit); the return is twice the rest against the unit: -2 for none, else -1, 0, 1.
 */
static int divide(mpz_t n, const struct real *x, long unit)
{
	long shift = x->exp - (x->root ? 2 * unit : unit);
	mpz_t num, den, rest;
	int against;

	mpz_inits(num, den, rest, NULL);
	mpz_mul_2exp(num, *x->num, shift > 0 ? (unsigned long)shift : 0);
	mpz_mul_2exp(den, *x->den, shift < 0 ? (unsigned long)-shift : 0);
	if (x->root) {
		/* n <= sqrt(num / den) < n + 1; then (2n + 1)^2 den against 4 num */
		mpz_fdiv_q(n, num, den);
		mpz_sqrt(n, n);
		mpz_mul(rest, n, n);
		mpz_mul(rest, rest, den);
		if (mpz_cmp(rest, num) == 0) {
			against = -2;
		} else {
			mpz_mul_ui(rest, n, 2);
			mpz_add_ui(rest, rest, 1);
			mpz_mul(rest, rest, rest);
			mpz_mul(rest, rest, den);
			mpz_mul_2exp(num, num, 2);
			against = mpz_cmp(num, rest);
		}
	} else {
		mpz_fdiv_qr(n, rest, num, den);
		against = -2;
		if (mpz_sgn(rest)) {
			mpz_mul_2exp(rest, rest, 1);
			against = mpz_cmp(rest, den);
		}
	}
	mpz_clears(num, den, rest, NULL);
	return against == -2 ? -2 : (against > 0) - (against < 0);
}

static bool goes_up(const mpz_t n, int against, bool sign, unsigned rounding)
{
	if (against == -2)
		return false;
	if (rounding == 0)
		return against > 0 || (against == 0 && mpz_odd_p(n));
	return rounding == 1 ? sign : rounding == 2 ? !sign : false;
}

static struct outcome trapped(struct outcome out, unsigned flags, unsigned raised, bool grew)
{
	unsigned code = 1;

	out.status |= flags;
	if (!raised)
		return out;
	if (raised & IA64_FP_O)
		code |= 1u << ISR_O;
	if (raised & IA64_FP_U)
		code |= 1u << ISR_U;
	if (raised & IA64_FP_I)
		code |= 1u << ISR_I;
	if (grew)
		code |= 1u << ISR_FPA;
	out.status |= IA64_FP_TRAP | code << 16;
	return out;
}

/* floor(log2(x)), found by division: the unit where the quotient has the bits of the precision. */
static long unit_for(const struct real *x, long precision)
{
	long log = (long)mpz_sizeinbase(*x->num, 2) - (long)mpz_sizeinbase(*x->den, 2) + x->exp;
	long unit = (x->root ? (log >= 0 ? log / 2 : -((1 - log) / 2)) : log) - precision - 1;
	mpz_t n;

	mpz_init(n);
	divide(n, x, unit);
	unit += (long)mpz_sizeinbase(n, 2) - precision;
	mpz_clear(n);
	return unit;
}

static struct outcome round_real(bool sign, const struct real *x, uint32_t status,
				 const struct environment *env)
{
	long unit = unit_for(x, env->precision), exp;
	struct outcome out;
	unsigned inexact;
	bool up;
	int against;
	mpz_t n;

	mpz_init(n);
	against = divide(n, x, unit);
	up = goes_up(n, against, sign, env->rounding);
	mpz_add_ui(n, n, up);
	exp = unit + (long)mpz_sizeinbase(n, 2) - 1;
	inexact = against == -2 ? 0 : IA64_FP_I;
	status |= exp > env->emin && exp < env->emax ? 0 : IA64_FP_UNSAFE;
	if (exp > env->emax && env->enabled & IA64_FP_O) {
		out = trapped(encode(sign, n, unit, true, status, env), IA64_FP_O | inexact,
			      IA64_FP_O | inexact, up);
	} else if (exp > env->emax) {
		bool to_infinity = env->rounding == 0 || (env->rounding == 1 && sign) ||
				   (env->rounding == 2 && !sign);

		mpz_set_ui(n, 0);
		mpz_setbit(n, (unsigned long)env->precision);
		mpz_sub_ui(n, n, 1);
		out = to_infinity
			  ? model_infinity(sign, status, env)
			  : encode(sign, n, env->emax - env->precision + 1, false, status, env);
		out = trapped(out, IA64_FP_O | IA64_FP_I, env->enabled & IA64_FP_I, to_infinity);
	} else if (exp < env->emin && env->enabled & IA64_FP_U) {
		out = trapped(encode(sign, n, unit, true, status, env), IA64_FP_U | inexact,
			      IA64_FP_U | inexact, up);
	} else if (exp < env->emin && env->flush) {
		out = trapped(model_zero(sign, status | IA64_FP_FLUSHED, env),
			      IA64_FP_U | IA64_FP_I, env->enabled & IA64_FP_I, false);
	} else if (exp < env->emin) {
		unit = env->emin - env->precision + 1;
		against = divide(n, x, unit);
		up = goes_up(n, against, sign, env->rounding);
		mpz_add_ui(n, n, up);
		inexact = against == -2 ? 0 : IA64_FP_I;
		out = trapped(encode(sign, n, unit, false, status | IA64_FP_TINY, env),
			      inexact ? IA64_FP_U | IA64_FP_I : 0, env->enabled & inexact, up);
	} else {
		out = trapped(encode(sign, n, unit, false, status, env), inexact,
			      env->enabled & inexact, up);
	}
	mpz_clear(n);
	return out;
}

static bool is_true_zero(const struct value *v)
{
	return v->kind == FINITE && mpz_sgn(v->num) == 0 && !v->unnormal;
}

static bool any(const struct value *const v[], unsigned n, enum kind kind)
{
	for (unsigned i = 0; i < n; i++)
		if (v[i]->kind == kind)
			return true;
	return false;
}

/* NaTVal, unsupported operands and NaNs, in the order of the operands given: true where it is that.
 */
bool model_not_numbers(struct outcome *out, const struct value *const v[], unsigned n,
		       const struct environment *env)
{
	uint32_t status = any(v, n, SIGNALLING) ? model_fault(IA64_FP_V, env->enabled) : 0;

	if (any(v, n, NATVAL)) {
		*out = (struct outcome){.fr = {0, 0x1FFFE}};
		return true;
	}
	if (any(v, n, UNSUPPORTED)) {
		*out = model_invalid(env);
		return true;
	}
	for (unsigned i = 0; i < n; i++) {
		if (v[i]->kind == QUIET || v[i]->kind == SIGNALLING) {
			*out = nan_of(v[i], status, env);
			return true;
		}
	}
	return false;
}

struct outcome model_fma(const struct value *f3, const struct value *f4, const struct value *f2,
			 bool negate_product, bool negate_addend, const struct environment *env)
{
	struct value none;
	const struct value *const order[] = {f4, f2 ? f2 : f3, f3};
	bool product = f3->sign ^ f4->sign ^ negate_product;
	bool addend = f2 && f2->sign ^ negate_addend;
	bool infinite = f3->kind == INFINITE || f4->kind == INFINITE;
	uint32_t status = 0;
	struct outcome out;
	mpz_t a, b;
	long exp;

	if (model_not_numbers(&out, order, 3, env))
		return out;
	if (infinite && (is_true_zero(f3) || is_true_zero(f4)))
		return model_invalid(env);
	if (infinite && f2 && f2->kind == INFINITE && product != addend)
		return model_invalid(env);
	if (f3->unnormal || f4->unnormal || (f2 && f2->unnormal))
		status = model_fault(IA64_FP_D, env->enabled);
	if (status & IA64_FP_FAULT)
		return faulted(status);
	if (infinite || (f2 && f2->kind == INFINITE))
		return model_infinity(infinite ? product : addend, status, env);

	value_init(&none);
	mpz_inits(a, b, NULL);
	mpz_mul(a, f3->num, f4->num);
	exp = f3->exp + f4->exp;
	if (product)
		mpz_neg(a, a);
	if (f2) {
		mpz_set(b, f2->num);
		if (addend)
			mpz_neg(b, b);
		if (mpz_sgn(a) && f2->exp < exp) {
			mpz_mul_2exp(a, a, (unsigned long)(exp - f2->exp));
			exp = f2->exp;
		} else if (mpz_sgn(a)) {
			mpz_mul_2exp(b, b, (unsigned long)(f2->exp - exp));
		} else {
			exp = f2->exp;
		}
		mpz_add(b, a, b);
	} else {
		mpz_set(b, a);
	}
	if (mpz_sgn(b) == 0) {
		bool same = !f2 || product == addend;

		out = model_zero(same ? product : env->rounding == 1, status, env);
	} else {
		struct real x = {(const mpz_t *)&a, (const mpz_t *)&none.den, exp, false};

		mpz_abs(a, b);
		out = round_real(mpz_sgn(b) < 0, &x, status, env);
	}
	mpz_clears(a, b, NULL);
	value_clear(&none);
	return out;
}

struct outcome model_quotient(const struct value *f2, const struct value *f3,
			      const struct environment *env)
{
	struct real x = {(const mpz_t *)&f2->num, (const mpz_t *)&f3->num, f2->exp - f3->exp,
			 false};
	uint32_t status = f2->unnormal || f3->unnormal ? model_fault(IA64_FP_D, env->enabled) : 0;

	if (status & IA64_FP_FAULT)
		return faulted(status);
	return round_real(f2->sign ^ f3->sign, &x, status, env);
}

struct outcome model_root(const struct value *f3, const struct environment *env)
{
	struct real x = {(const mpz_t *)&f3->num, (const mpz_t *)&f3->den, f3->exp, true};
	uint32_t status = f3->unnormal ? model_fault(IA64_FP_D, env->enabled) : 0;

	if (status & IA64_FP_FAULT)
		return faulted(status);
	return round_real(false, &x, status, env);
}

int model_order(const struct value *a, const struct value *b)
{
	int sign_a = a->sign ? -1 : 1, sign_b = b->sign ? -1 : 1, sense;
	long least = a->exp < b->exp ? a->exp : b->exp;
	mpz_t x, y;

	if (a->kind == INFINITE || b->kind == INFINITE) {
		int rank_a = a->kind == INFINITE ? sign_a : 0;
		int rank_b = b->kind == INFINITE ? sign_b : 0;

		return (rank_a > rank_b) - (rank_a < rank_b);
	}
	mpz_inits(x, y, NULL);
	mpz_mul_2exp(x, a->num, (unsigned long)(a->exp - least));
	mpz_mul_2exp(y, b->num, (unsigned long)(b->exp - least));
	mpz_mul_si(x, x, sign_a);
	mpz_mul_si(y, y, sign_b);
	sense = mpz_cmp(x, y);
	mpz_clears(x, y, NULL);
	return (sense > 0) - (sense < 0);
}

struct outcome model_to_integer(uint64_t *result, const struct value *v, unsigned width,
				bool is_signed, unsigned rounding, unsigned enabled)
{
	struct outcome out = {.status = 0};
	struct real x = {(const mpz_t *)&v->num, (const mpz_t *)&v->den, v->exp, false};
	mpz_t n, least, greatest, modulus;
	int against;
	bool up;

	*result = 1ULL << (width - 1);
	if (v->kind != FINITE) {
		out.status = model_fault(IA64_FP_V, enabled);
		return out;
	}
	mpz_inits(n, least, greatest, modulus, NULL);
	mpz_setbit(modulus, width);
	mpz_setbit(greatest, is_signed ? width - 1 : width);
	if (is_signed)
		mpz_neg(least, greatest);
	mpz_sub_ui(greatest, greatest, 1);
	against = divide(n, &x, 0);
	up = goes_up(n, against, v->sign, rounding);
	mpz_add_ui(n, n, up);
	if (v->sign)
		mpz_neg(n, n);
	if (mpz_cmp(n, least) < 0 || mpz_cmp(n, greatest) > 0) {
		out.status = model_fault(IA64_FP_V, enabled);
	} else {
		unsigned inexact = against == -2 ? 0 : IA64_FP_I;

		if (v->unnormal)
			out.status = model_fault(IA64_FP_D, enabled);
		if (!(out.status & IA64_FP_FAULT))
			out = trapped(out, inexact, inexact & enabled, up);
		mpz_mod(n, n, modulus);
		*result = mpz_get_ui(n);
	}
	mpz_clears(n, least, greatest, modulus, NULL);
	return out;
}

uint32_t model_pair_status(uint32_t hi, uint32_t lo)
{
	uint32_t code_hi = hi >> 16, code_lo = lo >> 16;

	if ((hi | lo) & IA64_FP_FAULT) {
		code_hi = hi & IA64_FP_FAULT ? code_hi & 0xF : 0;
		code_lo = lo & IA64_FP_FAULT ? code_lo & 0xF : 0;
		return IA64_FP_FAULT | (code_hi | code_lo << 4) << 16;
	}
	if ((hi | lo) & IA64_FP_TRAP)
		return ((hi | lo) & 0x1C3F) | IA64_FP_TRAP |
		       ((code_hi & 0x7800) | (code_lo & 0x7800) >> 4 | 1) << 16;
	return (hi | lo) & 0x1C3F;
}
