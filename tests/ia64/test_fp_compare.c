/* fcmp, fclass, minima and maxima against exact arithmetic: test_fp_compare [operations] [seed]. */
#include <inttypes.h>
#include <stdlib.h>

#include "fp_model.h"
#include "fp_random.h"
#include "support/cmocka.h"

static unsigned long operations = 30000;
static uint64_t seed = 0xD1B54A32D192ED03u;

typedef uint32_t choice(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
			uint64_t fpsr, unsigned mode);

static const struct {
	choice *scalar, *parallel;
	int sense; /* of f2 against f3, for f2 to be taken */
	bool magnitudes;
} choices[] = {
    {ia64_fmin, ia64_fpmin, -1, false},
    {ia64_fmax, ia64_fpmax, 1, false},
    {ia64_famin, ia64_fpamin, -1, true},
    {ia64_famax, ia64_fpamax, 1, true},
};

/* By enum ia64_frel: truth of less, equal, greater, unordered; whether a quiet NaN is invalid. */
static const struct {
	const char *truth;
	bool quiet_invalid;
} relations[] = {
    [IA64_FREL_EQ] = {"0100", false},  [IA64_FREL_LT] = {"1000", true},
    [IA64_FREL_LE] = {"1100", true},   [IA64_FREL_UNORD] = {"0001", false},
    [IA64_FREL_NEQ] = {"1011", false}, [IA64_FREL_NLT] = {"0111", true},
    [IA64_FREL_NLE] = {"0011", true},  [IA64_FREL_ORD] = {"1110", false},
};

struct pair {
	struct value a, b;
};

static int fixture_up(void **state)
{
	struct pair *v = malloc(sizeof(*v));

	assert_non_null(v);
	value_init(&v->a);
	value_init(&v->b);
	*state = v;
	return 0;
}

static int fixture_down(void **state)
{
	struct pair *v = *state;

	value_clear(&v->a);
	value_clear(&v->b);
	free(v);
	return 0;
}

static bool is_nan(const struct value *v)
{
	return v->kind == QUIET || v->kind == SIGNALLING || v->kind == UNSUPPORTED;
}

static bool signals(const struct value *v)
{
	return v->kind == SIGNALLING || v->kind == UNSUPPORTED;
}

/* -1, 0, 1, or 2 for unordered; and the status. */
static int compare(const struct pair *v, bool quiet_invalid, unsigned enabled, uint32_t *status)
{
	*status = 0;
	if (is_nan(&v->a) || is_nan(&v->b)) {
		if (quiet_invalid || signals(&v->a) || signals(&v->b))
			*status = model_fault(IA64_FP_V, enabled);
		return 2;
	}
	if (v->a.unnormal || v->b.unnormal)
		*status = model_fault(IA64_FP_D, enabled);
	return model_order(&v->a, &v->b);
}

/* Often of about the same value, or the same. */
static void random_pair(struct fp_random *r, struct ia64_fr *f2, struct ia64_fr *f3)
{
	*f2 = random_register(r);
	*f3 = random_register(r);
	if (!random_below(r, 3))
		*f3 = *f2;
	if (!random_below(r, 4))
		f3->sig = f2->sig + random_below(r, 3) - 1;
	if (!random_below(r, 4))
		f3->se ^= IA64_FR_SIGN;
	if (!random_below(r, 8) && f3->sig) { /* the same value, not normalised */
		*f3 = (struct ia64_fr){f2->sig >> 1, f2->se + 1};
		f3->se &= IA64_FR_SIGN | IA64_FR_EXP;
	}
}

static uint32_t related_single(struct fp_random *r, uint32_t bits)
{
	switch (random_below(r, 4)) {
	case 0:
		return bits;
	case 1:
		return bits + random_below(r, 3) - 1;
	case 2:
		return bits ^ 1u << 31;
	default:
		return random_single(r);
	}
}

static void fcmp(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4), rel = random_below(&r, 8);
		unsigned enabled = environment_of(fpsr, sf, 0, TO_REGISTER).enabled;
		struct ia64_fr f2, f3;
		uint32_t want_status, status;
		bool holds, want;

		random_pair(&r, &f2, &f3);
		value_from_register(&v->a, f2);
		value_from_register(&v->b, f3);
		status = ia64_fcmp(&holds, &f2, &f3, rel, fpsr, sf);
		if (v->a.kind == NATVAL || v->b.kind == NATVAL) {
			assert_int_equal(status, 0);
			assert_false(holds);
			continue;
		}
		want = relations[rel].truth[1 + compare(v, relations[rel].quiet_invalid, enabled,
							&want_status)] == '1';
		if (status != want_status || (!(status & IA64_FP_FAULT) && holds != want))
			fail_msg("rel %u of %05" PRIx64 " %016" PRIx64 ", %05" PRIx64 " %016" PRIx64
				 ": %d, status %x not %x",
				 rel, f2.se, f2.sig, f3.se, f3.sig, holds, status, want_status);
	}
}

static void fpcmp(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4), rel = random_below(&r, 8);
		unsigned enabled = environment_of(fpsr, sf, 0, TO_REGISTER).enabled;
		uint32_t a[2], b[2], status[2], got, want = 0;
		uint64_t sig = 0;
		struct ia64_fr f2, f3, f1;

		for (unsigned lane = 0; lane < 2; lane++) {
			a[lane] = random_single(&r);
			b[lane] = related_single(&r, a[lane]);
			value_from_single(&v->a, a[lane]);
			value_from_single(&v->b, b[lane]);
			if (relations[rel].truth[1 + compare(v, relations[rel].quiet_invalid,
							     enabled, &status[lane])] == '1')
				sig |= (uint64_t)UINT32_MAX << (32 * lane);
		}
		want = model_pair_status(status[1], status[0]);
		f2 = ia64_fr_from_integer((uint64_t)a[1] << 32 | a[0]);
		f3 = ia64_fr_from_integer((uint64_t)b[1] << 32 | b[0]);
		got = ia64_fpcmp(&f1, &f2, &f3, rel, fpsr, sf);
		assert_int_equal(got, want);
		if (!(got & IA64_FP_FAULT)) {
			assert_int_equal(f1.sig, sig);
			assert_int_equal(f1.se, IA64_FR_EXP_INTEGER);
		}
	}
}

static bool takes_first(struct pair *v, unsigned which, unsigned enabled, uint32_t *status)
{
	if (choices[which].magnitudes)
		v->a.sign = v->b.sign = false;
	return compare(v, true, enabled, status) == choices[which].sense;
}

static void min_max(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r);
		unsigned sf = random_below(&r, 4), which = random_below(&r, 4);
		unsigned enabled = environment_of(fpsr, sf, 0, TO_REGISTER).enabled;
		struct ia64_fr f2, f3, f1, want;
		uint32_t want_status, status;

		random_pair(&r, &f2, &f3);
		value_from_register(&v->a, f2);
		value_from_register(&v->b, f3);
		status = choices[which].scalar(&f1, &f2, &f3, fpsr, sf);
		if (v->a.kind == NATVAL || v->b.kind == NATVAL) {
			want = IA64_FR_NATVAL;
			want_status = 0;
		} else {
			want = takes_first(v, which, enabled, &want_status) ? f2 : f3;
		}
		assert_int_equal(status, want_status);
		if (!(status & IA64_FP_FAULT))
			assert_memory_equal(&f1, &want, sizeof(f1));
	}
}

static void parallel_min_max(void **state)
{
	struct pair *v = *state;
	struct fp_random r = {seed};

	for (unsigned long i = 0; i < operations; i++) {
		uint64_t fpsr = random_fpsr(&r), sig = 0;
		unsigned sf = random_below(&r, 4), which = random_below(&r, 4);
		unsigned enabled = environment_of(fpsr, sf, 0, TO_REGISTER).enabled;
		uint32_t a[2], b[2], status[2], got;
		struct ia64_fr f2, f3, f1;

		for (unsigned lane = 0; lane < 2; lane++) {
			a[lane] = random_single(&r);
			b[lane] = related_single(&r, a[lane]);
			value_from_single(&v->a, a[lane]);
			value_from_single(&v->b, b[lane]);
			sig |= (uint64_t)(takes_first(v, which, enabled, &status[lane]) ? a[lane]
											: b[lane])
			       << (32 * lane);
		}
		f2 = ia64_fr_from_integer((uint64_t)a[1] << 32 | a[0]);
		f3 = ia64_fr_from_integer((uint64_t)b[1] << 32 | b[0]);
		got = choices[which].parallel(&f1, &f2, &f3, fpsr, sf);
		assert_int_equal(got, model_pair_status(status[1], status[0]));
		if (!(got & IA64_FP_FAULT))
			assert_int_equal(f1.sig, sig);
	}
}

/* Each class has registers that are in it and in no other. */
static void fclass(void **state)
{
	static const struct {
		struct ia64_fr f;
		unsigned class; /* without its sign */
		bool sign_counts;
	} rows[] = {
	    {{0, 0}, IA64_FCLASS_ZERO, true},
	    {{1, 0}, IA64_FCLASS_UNORM, true},
	    {{1ULL << 63, 0}, IA64_FCLASS_UNORM, true}, /* pseudo-denormal */
	    {{0, 1}, IA64_FCLASS_UNORM, true},		/* pseudo-zero */
	    {{0, 0x1003E}, IA64_FCLASS_UNORM, true},	/* the integer 0 */
	    {{~0ULL >> 1, 0xFFFF}, IA64_FCLASS_UNORM, true},
	    {{1ULL << 63, 1}, IA64_FCLASS_NORM, true},
	    {{1ULL << 63, 0x1FFFE}, IA64_FCLASS_NORM, true},
	    {{~0ULL, 0x1003E}, IA64_FCLASS_NORM, true},
	    {{1ULL << 63, 0x1FFFF}, IA64_FCLASS_INF, true},
	    {{1ULL << 63 | 1, 0x1FFFF}, IA64_FCLASS_SNAN, false},
	    {{0xBFFFFFFFFFFFFFFFu, 0x1FFFF}, IA64_FCLASS_SNAN, false},
	    {{3ULL << 62, 0x1FFFF}, IA64_FCLASS_QNAN, false},
	    {{0, 0x1FFFF}, 0, false}, /* unsupported */
	    {{~0ULL >> 1, 0x1FFFF}, 0, false},
	};
	struct ia64_fr natval = IA64_FR_NATVAL;

	(void)state;
	for (unsigned mask = 0; mask < 512; mask++) {
		for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			for (unsigned sign = 0; sign < 2; sign++) {
				struct ia64_fr f = {rows[i].f.sig, rows[i].f.se | sign << 17};
				unsigned by_sign = sign ? IA64_FCLASS_NEG : IA64_FCLASS_POS;
				bool want = mask & rows[i].class &&
					    (!rows[i].sign_counts || mask & by_sign);

				assert_int_equal(ia64_fclass(&f, mask), want);
			}
		}
		assert_int_equal(ia64_fclass(&natval, mask), mask >> 8);
	}
	/* With its sign set, NaTVal's encoding is a pseudo-zero. */
	natval.se |= IA64_FR_SIGN;
	assert_true(ia64_fclass(&natval, IA64_FCLASS_UNORM | IA64_FCLASS_NEG));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(fcmp, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(fpcmp, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(min_max, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(parallel_min_max, fixture_up, fixture_down),
	    cmocka_unit_test(fclass),
	};

	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
