/*
 * frcpa, frsqrta and their parallel forms against their definition: test_fp_approx [operations]
 * [seed].
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "fp_model.h"
#include "fp_random.h"
#include "support/cmocka.h"

static unsigned long operations = 40000;
static uint64_t seed = 0xE7037ED1A0B428DBu;

struct pair {
	struct value f2, f3;
};

static int fixture_up(void **state)
{
	struct pair *v = malloc(sizeof(*v));

	assert_non_null(v);
	value_init(&v->f2);
	value_init(&v->f3);
	*state = v;
	return 0;
}

static int fixture_down(void **state)
{
	struct pair *v = *state;

	value_clear(&v->f2);
	value_clear(&v->f3);
	free(v);
	return 0;
}

static double value_of(struct ia64_fr f)
{
	return ldexp((double)f.sig, (int)(f.se & IA64_FR_EXP) - 0xFFFF - 63);
}

/* Nearest integer to 2^11 over the middle of the interval. */
static unsigned reciprocal_entry(unsigned index)
{
	return (unsigned)lround(2048 / (1 + (index + 0.5) / 256));
}

/* Intervals of [2, 4) come first: of odd exponents. */
static unsigned root_entry(unsigned index)
{
	double middle = 1 + ((index & 127) + 0.5) / 128;

	return (unsigned)lround(2048 / sqrt(index < 128 ? 2 * middle : middle));
}

/* Every interval at both ends: the entry, and the error that the architecture promises. */
static void reciprocals(void **state)
{
	static const uint64_t ends[] = {0, ~0ULL >> 9};
	const struct ia64_fr one = IA64_FR_ONE;

	(void)state;
	for (unsigned i = 0; i < 512; i++) {
		struct ia64_fr f3 = {1ULL << 63 | (uint64_t)(i & 255) << 55 | ends[i >> 8], 0xFFFF},
			       f1;
		bool p2;

		assert_int_equal(ia64_frcpa(&f1, &p2, &one, &f3, IA64_FPSR_RESET, 0), 0);
		assert_true(p2);
		assert_int_equal(f1.sig, (uint64_t)reciprocal_entry(i & 255) << 53);
		assert_int_equal(f1.se, 0xFFFE);
		assert_true(fabs(1 - value_of(f1) * value_of(f3)) < exp2(-8.886));
	}
}

static void roots(void **state)
{
	static const uint64_t ends[] = {0, ~0ULL >> 8};

	(void)state;
	for (unsigned i = 0; i < 512; i++) {
		unsigned even = i >> 7 & 1; /* exponent 0 or 1 */
		struct ia64_fr f3 = {1ULL << 63 | (uint64_t)(i & 127) << 56 | ends[i >> 8],
				     even ? 0xFFFF : 0x10000},
			       f1;
		bool p2;

		assert_int_equal(ia64_frsqrta(&f1, &p2, &f3, IA64_FPSR_RESET, 0), 0);
		assert_true(p2);
		assert_int_equal(f1.sig, (uint64_t)root_entry(i & 255) << 53);
		assert_int_equal(f1.se, 0xFFFE);
		assert_true(fabs(1 - value_of(f1) * sqrt(value_of(f3))) < exp2(-8.831));
	}
}

/* Entries that anyone can compute by hand. */
static void known(void **state)
{
	(void)state;
	assert_int_equal(reciprocal_entry(0), 0x7FC);	/* 2048 / 1.001953125 = 2044.008 */
	assert_int_equal(reciprocal_entry(255), 0x401); /* 2048 / 1.998046875 = 1025.001 */
	assert_int_equal(root_entry(0), 0x5A5);		/* 2048 / sqrt(2.0078125) = 1445.335 */
	assert_int_equal(root_entry(127), 0x401);	/* 2048 / sqrt(3.9921875) = 1025.001 */
	assert_int_equal(root_entry(128), 0x7FC);	/* 2048 / sqrt(1.00390625) = 2044.012 */
	assert_int_equal(root_entry(255), 0x5AA);	/* 2048 / sqrt(1.99609375) = 1449.570 */
}

/* Normalised exponent, unbiased, and the eight bits that follow the first; not of zero. */
static long exponent_of(const struct value *v, unsigned *bits)
{
	size_t size = mpz_sizeinbase(v->num, 2);
	mpz_t top;

	mpz_init(top);
	if (size > 9)
		mpz_fdiv_q_2exp(top, v->num, size - 9);
	else
		mpz_mul_2exp(top, v->num, 9 - size);
	*bits = mpz_get_ui(top) & 0xFF;
	mpz_clear(top);
	return v->exp + (long)size - 1;
}

/* A power of two times an entry of eleven bits. */
static struct outcome entry(bool sign, unsigned bits, long exp, uint32_t status,
			    const struct environment *env)
{
	struct outcome out = {.status = status};

	out.fr = (struct ia64_fr){(uint64_t)bits << 53,
				  (uint64_t)sign << 17 | ((uint64_t)(exp + 65535) & 0x1FFFF)};
	if (env->target == TO_SINGLE)
		out.single =
		    (uint32_t)sign << 31 | (uint32_t)(exp + 127) << 23 | (bits & 0x3FF) << 13;
	return out;
}

static bool is_zero(const struct value *v)
{
	return v->kind == FINITE && !mpz_sgn(v->num);
}

/* Of scalars: exponents that hardware leaves to software. */
static bool left_to_software(long num, long den)
{
	return den <= -65535 || den >= 65533 || num - den <= -65533 || num - den >= 65535 ||
	       num <= -65471;
}

static struct outcome model_reciprocal(const struct pair *v, const struct environment *env,
				       bool *p2)
{
	const struct value *const order[] = {&v->f2, &v->f3};
	bool sign = v->f2.sign ^ v->f3.sign, infinite = v->f2.kind == INFINITE;
	unsigned index, unused;
	struct outcome out;
	uint32_t status = 0;
	long num, den;

	*p2 = false;
	if (model_not_numbers(&out, order, 2, env))
		return out;
	if ((infinite && v->f3.kind == INFINITE) || (is_zero(&v->f2) && is_zero(&v->f3)))
		return model_invalid(env);
	if (!infinite && is_zero(&v->f3))
		return model_infinity(sign, model_fault(IA64_FP_Z, env->enabled), env);
	if (v->f2.unnormal || v->f3.unnormal)
		status = model_fault(IA64_FP_D, env->enabled);
	if (status & IA64_FP_FAULT)
		return (struct outcome){.status = status};
	if (infinite)
		return model_infinity(sign, status, env);
	if (is_zero(&v->f2) || v->f3.kind == INFINITE)
		return model_zero(sign, status, env);
	num = exponent_of(&v->f2, &unused);
	den = exponent_of(&v->f3, &index);
	if (env->target == TO_REGISTER && left_to_software(num, den))
		return model_quotient(&v->f2, &v->f3, env);
	if (env->target == TO_SINGLE && den < -126)
		return model_infinity(v->f3.sign, status, env);
	if (env->target == TO_SINGLE && den >= 125)
		return model_zero(v->f3.sign, status, env);
	*p2 = env->target == TO_REGISTER || (num - den < 127 && num - den > -125 && num > -103);
	return entry(v->f3.sign, reciprocal_entry(index), -1 - den, status, env);
}

static struct outcome model_reciprocal_root(const struct value *v, const struct environment *env,
					    bool *p2)
{
	bool single = env->target == TO_SINGLE;
	uint32_t status;
	struct outcome out;
	unsigned index;
	long exp, half;

	*p2 = false;
	if (model_not_numbers(&out, &v, 1, env))
		return out;
	status = v->unnormal ? model_fault(IA64_FP_D, env->enabled) : 0;
	if (v->sign && !is_zero(v))
		return model_invalid(env);
	if (status & IA64_FP_FAULT)
		return (struct outcome){.status = status};
	if (is_zero(v))
		return single ? model_infinity(v->sign, status, env)
			      : model_zero(v->sign, status, env);
	if (v->kind == INFINITE)
		return single ? model_zero(false, 0, env) : model_infinity(false, 0, env);
	exp = exponent_of(v, &index);
	if (!single && exp <= -65471)
		return model_root(v, env);
	half = exp >= 0 ? exp / 2 : -((1 - exp) / 2);
	*p2 = !single || exp > -103;
	return entry(false, root_entry((exp & 1 ? 0 : 128) | index >> 1), -1 - half, status, env);
}

static void check(const char *name, struct ia64_fr got, uint32_t status, bool p2,
		  const struct outcome *want, bool want_p2)
{
	if (status == want->status && p2 == want_p2 &&
	    (status & IA64_FP_FAULT || (got.sig == want->fr.sig && got.se == want->fr.se)))
		return;
	fail_msg("%s: %05" PRIx64 " %016" PRIx64 " not %05" PRIx64 " %016" PRIx64
		 ", status %x not %x, p2 %d not %d",
		 name, got.se, got.sig, want->fr.se, want->fr.sig, status, want->status, p2,
		 want_p2);
}

/* As often as not where software has to help. */
static struct ia64_fr random_operand(struct fp_random *r)
{
	struct ia64_fr f = random_register(r);

	if (!random_below(r, 3) && f.sig && (f.se & IA64_FR_EXP) != IA64_FR_EXP) {
		unsigned exp = 1 + random_below(r, 140);

		f.se = (f.se & IA64_FR_SIGN) | (random_below(r, 2) ? exp : 0x1FFFF - exp);
	}
	return f;
}

static void frcpa(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4);
		struct environment env = environment_of(fpsr, sf, 0, TO_REGISTER);
		struct ia64_fr f2 = random_operand(&r), f3 = random_operand(&r), f1;
		struct outcome want;
		uint32_t status;
		bool p2, want_p2;

		value_from_register(&v->f2, f2);
		value_from_register(&v->f3, f3);
		status = ia64_frcpa(&f1, &p2, &f2, &f3, fpsr, sf);
		want = model_reciprocal(v, &env, &want_p2);
		check("frcpa", f1, status, p2, &want, want_p2);

		f3.se &= random_below(&r, 4) ? ~(uint64_t)IA64_FR_SIGN : ~0ULL;
		value_from_register(&v->f3, f3);
		status = ia64_frsqrta(&f1, &p2, &f3, fpsr, sf);
		want = model_reciprocal_root(&v->f3, &env, &want_p2);
		check("frsqrta", f1, status, p2, &want, want_p2);
	}
}

static void fprcpa(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4);
		struct environment env = environment_of(fpsr, sf, 0, TO_SINGLE);
		struct outcome lane[2], want;
		struct ia64_fr f2, f3, f1;
		uint32_t status;
		bool p2, lane_p2[2];

		f2 = ia64_fr_from_integer((uint64_t)random_single(&r) << 32 | random_single(&r));
		f3 = ia64_fr_from_integer((uint64_t)random_single(&r) << 32 | random_single(&r));
		for (unsigned k = 0; k < 2; k++) {
			value_from_single(&v->f2, (uint32_t)(f2.sig >> (32 * k)));
			value_from_single(&v->f3, (uint32_t)(f3.sig >> (32 * k)));
			lane[k] = model_reciprocal(v, &env, &lane_p2[k]);
		}
		status = ia64_fprcpa(&f1, &p2, &f2, &f3, fpsr, sf);
		want = (struct outcome){
		    {(uint64_t)lane[1].single << 32 | lane[0].single, IA64_FR_EXP_INTEGER},
		    0,
		    model_pair_status(lane[1].status, lane[0].status)};
		check("fprcpa", f1, status, p2, &want, lane_p2[1] && lane_p2[0]);

		f3.sig &= random_below(&r, 4) ? 0x7FFFFFFF7FFFFFFFu : ~0ULL;
		for (unsigned k = 0; k < 2; k++) {
			value_from_single(&v->f3, (uint32_t)(f3.sig >> (32 * k)));
			lane[k] = model_reciprocal_root(&v->f3, &env, &lane_p2[k]);
		}
		status = ia64_fprsqrta(&f1, &p2, &f3, fpsr, sf);
		want = (struct outcome){
		    {(uint64_t)lane[1].single << 32 | lane[0].single, IA64_FR_EXP_INTEGER},
		    0,
		    model_pair_status(lane[1].status, lane[0].status)};
		check("fprsqrta", f1, status, p2, &want, lane_p2[1] && lane_p2[0]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known),
	    cmocka_unit_test(reciprocals),
	    cmocka_unit_test(roots),
	    cmocka_unit_test_setup_teardown(frcpa, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(fprcpa, fixture_up, fixture_down),
	};

	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
