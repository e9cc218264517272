/*
 * Conversions to and from integers against exact arithmetic; formats of memory against the host's
 * own and known encodings: test_fp_convert [operations] [seed].
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fp_model.h"
#include "fp_random.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned long operations = 40000;
static uint64_t seed = 0xA0761D6478BD642Fu;

typedef uint32_t conversion(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			    unsigned mode);

static const struct {
	conversion *scalar, *parallel;
	bool is_signed, truncates;
} conversions[] = {
    {ia64_fcvt_fx, ia64_fpcvt_fx, true, false},
    {ia64_fcvt_fx_trunc, ia64_fpcvt_fx_trunc, true, true},
    {ia64_fcvt_fxu, ia64_fpcvt_fxu, false, false},
    {ia64_fcvt_fxu_trunc, ia64_fpcvt_fxu_trunc, false, true},
};

static int fixture_up(void **state)
{
	struct value *v = malloc(sizeof(*v));

	assert_non_null(v);
	value_init(v);
	*state = v;
	return 0;
}

static int fixture_down(void **state)
{
	value_clear(*state);
	free(*state);
	return 0;
}

/* Around the integers' limits as often as elsewhere. */
static struct ia64_fr random_operand(struct fp_random *r)
{
	struct ia64_fr f = random_register(r);

	if (random_below(r, 2))
		f = (struct ia64_fr){
		    random_significand(r),
		    (random_below(r, 2) ? IA64_FR_SIGN : 0) |
			(0xFFFF + (random_below(r, 2) ? 63 : 0) + random_below(r, 7) - 3)};
	if (!random_below(r, 8)) { /* fractions at the end of what rounds */
		unsigned exp = random_below(r, 64);

		f = (struct ia64_fr){random_bits(r) | 1ULL << 63,
				     (random_below(r, 2) ? IA64_FR_SIGN : 0) | (0xFFFF + exp)};
		f.sig &= ~0ULL << (62 - (exp > 62 ? 62 : exp));
	}
	return f;
}

static void to_integer(void **state)
{
	struct value *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r), want;
		unsigned sf = random_below(&r, 4), which = random_below(&r, COUNT(conversions));
		struct environment env = environment_of(fpsr, sf, 0, TO_REGISTER);
		struct ia64_fr f2 = random_operand(&r), f1;
		uint32_t status = conversions[which].scalar(&f1, &f2, fpsr, sf);
		struct outcome out;

		if (ia64_fr_is_natval(&f2)) {
			assert_int_equal(status, 0);
			assert_true(ia64_fr_is_natval(&f1));
			continue;
		}
		value_from_register(v, f2);
		out =
		    model_to_integer(&want, v, 64, conversions[which].is_signed,
				     conversions[which].truncates ? 3 : env.rounding, env.enabled);
		if (status != out.status ||
		    (!(status & IA64_FP_FAULT) && (f1.sig != want || f1.se != IA64_FR_EXP_INTEGER)))
			fail_msg("conversion %u of %05" PRIx64 " %016" PRIx64 ": %016" PRIx64
				 " not %016" PRIx64 ", status %x not %x",
				 which, f2.se, f2.sig, f1.sig, want, status, out.status);
	}
}

static void parallel_to_integer(void **state)
{
	struct value *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r), want[2];
		unsigned sf = random_below(&r, 4), which = random_below(&r, COUNT(conversions));
		struct environment env = environment_of(fpsr, sf, 0, TO_REGISTER);
		struct ia64_fr f2 = ia64_fr_from_integer((uint64_t)random_single(&r) << 32 |
							 random_single(&r)),
			       f1;
		uint32_t status = conversions[which].parallel(&f1, &f2, fpsr, sf), want_status[2];

		for (unsigned lane = 0; lane < 2; lane++) {
			value_from_single(v, (uint32_t)(f2.sig >> (32 * lane)));
			want_status[lane] =
			    model_to_integer(&want[lane], v, 32, conversions[which].is_signed,
					     conversions[which].truncates ? 3 : env.rounding,
					     env.enabled)
				.status;
		}
		assert_int_equal(status, model_pair_status(want_status[1], want_status[0]));
		if (!(status & IA64_FP_FAULT))
			assert_int_equal(f1.sig, want[1] << 32 | want[0]);
	}
}

static void from_integer(void **state)
{
	struct value *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t x = random_bits(&r) >> random_below(&r, 64);
		struct ia64_fr f2 = ia64_fr_from_integer(random_below(&r, 2) ? x : -x), f1;
		mpz_t want;

		ia64_fcvt_xf(&f1, &f2);
		value_from_register(v, f1);
		assert_int_equal(v->kind, FINITE);
		assert_false(v->unnormal);
		if (v->sign)
			mpz_neg(v->num, v->num);
		mpz_init_set_si(want, (int64_t)f2.sig);
		if (v->exp < 0)
			mpz_mul_2exp(want, want, (unsigned long)-v->exp);
		else
			mpz_mul_2exp(v->num, v->num, (unsigned long)v->exp);
		assert_int_equal(mpz_cmp(want, v->num), 0);
		mpz_clear(want);
	}
}

/* The exponent is not looked at; zero is +0; the least integer has no positive counterpart. */
static void from_integer_known(void **state)
{
	static const struct {
		struct ia64_fr f2, f1;
	} rows[] = {
	    {{0, 0x1003E}, {0, 0}},
	    {{0, 0x2003E}, {0, 0}},
	    {{1, 0x1003E}, {1ULL << 63, 0xFFFF}},
	    {{~0ULL, 0x1003E}, {1ULL << 63, 0x2FFFF}},
	    {{1ULL << 63, 0x1003E}, {1ULL << 63, 0x3003E}},
	    {{~0ULL >> 1, 0x1003E}, {~1ULL, 0x1003D}},
	    {{3ULL << 62, 0x1FFFF}, {1ULL << 63, 0x3003D}}, /* a NaN's significand */
	    {{0, 0x1FFFE}, {0, 0x1FFFE}},
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct ia64_fr f1;

		ia64_fcvt_xf(&f1, &rows[i].f2);
		assert_memory_equal(&f1, &rows[i].f1, sizeof(f1));
	}
}

/* The register has the host's value: the host takes a number apart by frexp. */
static void check_value(struct ia64_fr f, double x)
{
	int exp;
	double fraction = frexp(x, &exp);
	long double value = ldexpl((long double)f.sig, (int)(f.se & IA64_FR_EXP) - 0xFFFF - 63);

	assert_int_equal(f.se >> 17, signbit(x) != 0);
	if (isnan(x) || isinf(x)) {
		assert_int_equal(f.se & IA64_FR_EXP, IA64_FR_EXP);
		assert_int_equal(f.sig << 1 == 0, isinf(x) != 0);
	} else {
		assert_true(value == fabsl(ldexpl(fraction, exp)));
	}
}

static void singles(void **state)
{
	(void)state;
	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 9973) {
		uint32_t word = (uint32_t)bits;
		struct ia64_fr f = ia64_fr_from_single(word);
		float x;

		memcpy(&x, &word, 4);
		check_value(f, (double)x);
		assert_int_equal(ia64_fr_to_single(&f), word);
	}
}

static void doubles(void **state)
{
	struct fp_random r = {seed};

	(void)state;
	for (unsigned long i = 0; i < operations; i++) {
		uint64_t word = random_bits(&r);
		struct ia64_fr f;
		double x;

		if (!random_below(&r, 4))
			word &= ~(0x7FFULL << 52);
		else if (!random_below(&r, 8))
			word |= 0x7FFULL << 52;
		if (!random_below(&r, 4))
			word &= ~(~0ULL >> 12) | 1ULL << random_below(&r, 52);
		f = ia64_fr_from_double(word);
		memcpy(&x, &word, 8);
		check_value(f, x);
		assert_int_equal(ia64_fr_to_double(&f), word);
	}
}

static void extendeds(void **state)
{
	static const struct {
		uint64_t sig;
		uint16_t se;
		uint64_t fr_se;
	} rows[] = {
	    {0, 0, 0},
	    {0, 0x8000, 0x20000},
	    {1, 0, 0},			   /* denormal */
	    {1ULL << 63, 0x8000, 0x20000}, /* pseudo-denormal */
	    {1ULL << 63, 1, 0xC001},	   /* the least normal */
	    {1ULL << 63, 0x3FFF, 0xFFFF},  /* one */
	    {~0ULL, 0x7FFE, 0x13FFE},	   /* the greatest */
	    {1ULL << 63, 0xFFFF, 0x3FFFF}, /* infinity */
	    {3ULL << 62, 0x7FFF, 0x1FFFF}, /* NaN */
	    {1, 0x7FFF, 0x1FFFF},	   /* pseudo-NaN */
	    {1ULL << 62, 0x3FFF, 0xFFFF},  /* unnormal */
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct ia64_fr f = ia64_fr_from_extended(rows[i].sig, rows[i].se);

		assert_int_equal(f.sig, rows[i].sig);
		assert_int_equal(f.se, rows[i].fr_se);
		assert_int_equal(ia64_fr_to_extended(&f), rows[i].se);
	}
	for (unsigned se = 0; se < 0x10000; se++) {
		struct ia64_fr f = ia64_fr_from_extended(1ULL << 63, (uint16_t)se);

		assert_int_equal(ia64_fr_to_extended(&f), se);
	}
}

/* What the format does not hold is cut to its fields; setf.exp and NaTVal. */
static void stores(void **state)
{
	static const struct {
		struct ia64_fr f;
		uint32_t single;
		uint64_t dbl;
		uint16_t extended;
	} rows[] = {
	    {{1ULL << 63, 0xFFFF}, 0x3F800000, 0x3FF0000000000000, 0x3FFF},
	    {{1ULL << 63, 0x2FFFF}, 0xBF800000, 0xBFF0000000000000, 0xBFFF},
	    {{~0ULL, 0xFFFF}, 0x3FFFFFFF, 0x3FFFFFFFFFFFFFFF, 0x3FFF},	     /* not rounded */
	    {{1ULL << 62, 0xFF81}, 0x00400000, 0x0008000000000000, 0x3F81},  /* denormal single */
	    {{1ULL << 62, 0xFC01}, 0x00400000, 0x0008000000000000, 0x3C01},  /* denormal double */
	    {{1ULL << 63, 0x10080}, 0x40000000, 0x4800000000000000, 0x4080}, /* 2^129 */
	    {{0, 0x1FFFE}, 0, 0, 0x7FFE},				     /* NaTVal */
	    {{1ULL << 63, 0x3FFFF}, 0xFF800000, 0xFFF0000000000000, 0xFFFF},
	    {{3ULL << 62, 0x3FFFF}, 0xFFC00000, 0xFFF8000000000000, 0xFFFF},
	    {{5, 0x1003E}, 0, 0, 0x403E}, /* an integer */
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		assert_int_equal(ia64_fr_to_single(&rows[i].f), rows[i].single);
		assert_int_equal(ia64_fr_to_double(&rows[i].f), rows[i].dbl);
		assert_int_equal(ia64_fr_to_extended(&rows[i].f), rows[i].extended);
	}
	assert_int_equal(ia64_fr_from_exponent(~0ULL).se, 0x3FFFF);
	assert_int_equal(ia64_fr_from_exponent(0x2FFFF).sig, 1ULL << 63);
	assert_int_equal(ia64_fr_from_integer(7).sig, 7);
	assert_int_equal(ia64_fr_from_integer(7).se, 0x1003E);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(to_integer, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(parallel_to_integer, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(from_integer, fixture_up, fixture_down),
	    cmocka_unit_test(from_integer_known),
	    cmocka_unit_test(singles),
	    cmocka_unit_test(doubles),
	    cmocka_unit_test(extendeds),
	    cmocka_unit_test(stores),
	};

	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
