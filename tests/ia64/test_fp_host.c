/*
 * What a compiler makes of double and float for IA-64, against the host's arithmetic in all four
 * roundings, flags too (both find tininess after rounding): test_fp_host [operations] [seed].
 */
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feed/ia64/fp.h"
#include "fp_random.h"
#include "support/cmocka.h"

#define D0 ia64_fp_mode(0, IA64_FP_DOUBLE)  /* .d.s0 */
#define S0 ia64_fp_mode(0, IA64_FP_SINGLE)  /* .s.s0 */
#define X1 ia64_fp_mode(1, IA64_FP_DYNAMIC) /* .s1: 64 bits, 17 bits of exponent, no traps */
#define D1 ia64_fp_mode(1, IA64_FP_DOUBLE)

static unsigned long operations = 20000;
static uint64_t seed = 0x8EBC6AF09C88C6E3u;

static const int host_roundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

typedef struct ia64_fr fr;

struct machine {
	uint64_t fpsr;
};

static fr run3(struct machine *m,
	       uint32_t op(fr *, const fr *, const fr *, const fr *, uint64_t, unsigned), fr a,
	       fr b, const fr *c, unsigned mode)
{
	fr f1;
	uint32_t status = op(&f1, &a, &b, c, m->fpsr, mode);

	assert_int_equal(status & ~(uint32_t)(IA64_FP_FLAGS | IA64_FP_TINY | IA64_FP_UNSAFE), 0);
	m->fpsr = ia64_fpsr_raise(m->fpsr, mode & 3, status);
	return f1;
}

static fr fma_of(struct machine *m, fr a, fr b, fr c, unsigned mode)
{
	return run3(m, ia64_fma, a, b, &c, mode);
}

static fr fnma_of(struct machine *m, fr a, fr b, fr c, unsigned mode)
{
	return run3(m, ia64_fnma, a, b, &c, mode);
}

static fr fmpy_of(struct machine *m, fr a, fr b, unsigned mode)
{
	return run3(m, ia64_fma, a, b, NULL, mode);
}

/* The quotient by three steps of Newton's iteration and a correction from the exact remainder. */
static fr divide(struct machine *m, fr a, fr b)
{
	const fr one = IA64_FR_ONE;
	fr y, q, e, r;
	bool p2;
	uint32_t status = ia64_frcpa(&y, &p2, &a, &b, m->fpsr, 0);

	m->fpsr = ia64_fpsr_raise(m->fpsr, 0, status);
	if (!p2)
		return y;
	q = fmpy_of(m, a, y, X1);
	e = fnma_of(m, b, y, one, X1);
	for (unsigned i = 0; i < 3; i++) {
		q = i < 2 ? fma_of(m, q, e, q, X1) : fma_of(m, q, e, q, D1);
		y = fma_of(m, y, e, y, X1);
		e = fmpy_of(m, e, e, X1);
	}
	r = fnma_of(m, b, q, a, D1);
	return fma_of(m, r, y, q, D0);
}

/* The root by three steps for g (the root) and h (half its reciprocal), and a correction. */
static fr square_root(struct machine *m, fr a)
{
	const fr half = {IA64_FR_INTEGER_BIT, IA64_FR_BIAS - 1};
	fr y, g, h, e, d;
	bool p2;
	uint32_t status = ia64_frsqrta(&y, &p2, &a, m->fpsr, 0);

	m->fpsr = ia64_fpsr_raise(m->fpsr, 0, status);
	if (!p2)
		return y;
	g = fmpy_of(m, a, y, X1);
	h = fmpy_of(m, half, y, X1);
	for (unsigned i = 0; i < 3; i++) {
		e = fnma_of(m, g, h, half, X1);
		g = fma_of(m, g, e, g, X1);
		h = fma_of(m, h, e, h, X1);
	}
	d = fnma_of(m, g, g, a, X1);
	return fma_of(m, d, h, g, D0);
}

static double random_double(struct fp_random *r)
{
	fr f = random_register(r);
	uint64_t bits = ia64_fr_to_double(&f);
	double x;

	if (!random_below(r, 4)) /* a denormal, or near one */
		bits = (bits & ~(0x7FFULL << 52)) | (uint64_t)random_below(r, 3) << 52;
	else if (!random_below(r, 4)) /* as far from 1 as products may be */
		bits = (bits & ~(0x7FFULL << 52)) | (uint64_t)(500 + random_below(r, 50)) << 52;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static fr load(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(x));
	return ia64_fr_from_double(bits);
}

static double store(fr f)
{
	uint64_t bits = ia64_fr_to_double(&f);
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* C's flags of sf0; D, which C has not, aside. */
static int flags_of(const struct machine *m)
{
	unsigned flags = ia64_fpsr_flags(m->fpsr, 0);

	return (flags & IA64_FP_V ? FE_INVALID : 0) | (flags & IA64_FP_Z ? FE_DIVBYZERO : 0) |
	       (flags & IA64_FP_O ? FE_OVERFLOW : 0) | (flags & IA64_FP_U ? FE_UNDERFLOW : 0) |
	       (flags & IA64_FP_I ? FE_INEXACT : 0);
}

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof(a)) == 0;
}

enum operation {
	ADD,
	SUBTRACT,
	MULTIPLY,
	MULTIPLY_ADD,
	DIVIDE,
	ROOT,
	NARROW,
	OPERATIONS,
};

/* Not inlined: its arithmetic stays between the changes of rounding. */
static __attribute__((noinline)) double on_host(enum operation op, volatile double a,
						volatile double b, volatile double c)
{
	switch (op) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	case MULTIPLY_ADD:
		return fma(a, b, c);
	case DIVIDE:
		return a / b;
	case ROOT:
		return sqrt(a);
	default:
		return (double)(float)a;
	}
}

static double on_ia64(struct machine *m, enum operation op, double a, double b, double c)
{
	const fr one = IA64_FR_ONE;
	fr x = load(a), y = load(b), z = load(c);

	switch (op) {
	case ADD:
		return store(fma_of(m, x, one, y, D0));
	case SUBTRACT:
		return store(run3(m, ia64_fms, x, one, &y, D0));
	case MULTIPLY:
		return store(fmpy_of(m, x, y, D0));
	case MULTIPLY_ADD:
		return store(fma_of(m, x, y, z, D0));
	case DIVIDE:
		return store(divide(m, x, y));
	case ROOT:
		return store(square_root(m, x));
	default:
		x = fmpy_of(m, x, one, S0);
		return (double)(union {
			       uint32_t u;
			       float f;
		       }){ia64_fr_to_single(&x)}
		    .f;
	}
}

static void arithmetic(void **state)
{
	struct fp_random r = {seed};

	(void)state;
	for (unsigned long i = 0; i < operations * OPERATIONS; i++) {
		enum operation op = i % OPERATIONS;
		unsigned rounding = random_below(&r, 4);
		struct machine m = {IA64_FPSR_RESET | (uint64_t)rounding << 10};
		double a = random_double(&r), b = random_double(&r), c = random_double(&r);
		double want, got;
		int flags;

		if (op == MULTIPLY_ADD && !random_below(&r, 2))
			c = -a * b;
		feclearexcept(FE_ALL_EXCEPT);
		fesetround(host_roundings[rounding]);
		want = on_host(op, a, b, c);
		flags = fetestexcept(FE_ALL_EXCEPT) &
			(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
		fesetround(FE_TONEAREST);
		got = on_ia64(&m, op, a, b, c);
		/* C leaves open what fma says of infinity times zero plus a quiet NaN. */
		if (op == MULTIPLY_ADD && isnan(c) && (isinf(a) || isinf(b)))
			continue;
		if (!same(want, got) || flags != flags_of(&m))
			fail_msg(
			    "operation %d rounding %u of %a, %a, %a: %a not %a, flags %x not %x",
			    op, rounding, a, b, c, got, want, flags_of(&m), flags);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arithmetic),
	};

	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
