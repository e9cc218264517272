/* Floating point: FPSR, instructions on bits, integer multiply-add. */
#include <inttypes.h>

#include "feed/ia64/fp.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define INT 0x8000000000000000u
#define NEG 0x20000u
#define ONE 0xFFFFu

static void fpsr(void **state)
{
	uint64_t fpsr = IA64_FPSR_RESET;

	(void)state;
	assert_true(ia64_fpsr_valid(fpsr));
	assert_false(ia64_fpsr_valid(fpsr | 1ULL << 58));
	assert_false(ia64_fpsr_valid(fpsr | 1ULL << 12));		    /* sf0.td */
	assert_true(ia64_fpsr_valid(fpsr | 1ULL << 25));		    /* sf1.td */
	assert_false(ia64_fpsr_valid((fpsr & ~(3ULL << 34)) | 1ULL << 34)); /* sf2.pc 1 */
	assert_int_equal(ia64_fpsr_controls(fpsr, 0), 0x0C);
	assert_int_equal(ia64_fpsr_controls(fpsr, 1), 0x4E);
	assert_int_equal(ia64_fpsr_controls(fpsr, 2), 0x4C);
	assert_int_equal(ia64_fpsr_controls(fpsr, 3), 0x4C);

	/* sf2 from sf0: its pc cleared, rounding up and wre set */
	assert_true(ia64_fsetc(&fpsr, 2, 0x73, 0x22));
	assert_int_equal(fpsr, (IA64_FPSR_RESET & ~(0x7FULL << 32)) | 0x22ULL << 32);
	assert_false(ia64_fsetc(&fpsr, 0, 0x7F, IA64_SF_TD));
	assert_false(ia64_fsetc(&fpsr, 3, 0x73, 0x04));
	assert_int_equal(fpsr, (IA64_FPSR_RESET & ~(0x7FULL << 32)) | 0x22ULL << 32);

	fpsr = IA64_FPSR_RESET | 0x3FULL << 26 | 0x3FULL << 39;
	assert_int_equal(ia64_fclrf(fpsr, 1), IA64_FPSR_RESET | 0x3FULL << 39);
	assert_int_equal(ia64_fclrf(fpsr, 2), IA64_FPSR_RESET | 0x3FULL << 26);
}

/* Taken where a flag's trap is enabled or sf0 has not that flag. */
static void fchkf(void **state)
{
	(void)state;
	assert_false(ia64_fchkf(0x3F, 1));
	assert_true(ia64_fchkf(0x3F | 1ULL << 26, 1));
	assert_false(ia64_fchkf(0x3F | 1ULL << 26, 2));
	assert_false(ia64_fchkf(0x3F | 1ULL << 26 | 1ULL << 13, 1));
	assert_true(ia64_fchkf(0x3E | 1ULL << 26 | 1ULL << 13, 1));
	assert_true(ia64_fchkf(0x3F | 3ULL << 26 | 1ULL << 13, 1));
	assert_false(ia64_fchkf(0x3F | 3ULL << 13, 0));
}

typedef void bits_operation(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);

#define F2 0x8123456789ABCDEFu
#define F3 0x0FEDCBA9F6543210u

static const struct {
	const char *name;
	bits_operation *op;
	uint64_t sig;
} bit_rows[] = {
    {"fpmerge.s", ia64_fpmerge_s, 0x8FEDCBA9F6543210},
    {"fpmerge.ns", ia64_fpmerge_ns, 0x0FEDCBA976543210},
    {"fpmerge.se", ia64_fpmerge_se, 0x816DCBA989D43210},
    {"fmix.l", ia64_fmix_l, 0x812345670FEDCBA9},
    {"fmix.r", ia64_fmix_r, 0x89ABCDEFF6543210},
    {"fmix.lr", ia64_fmix_lr, 0x81234567F6543210},
    {"fsxt.l", ia64_fsxt_l, 0xFFFFFFFF0FEDCBA9},
    {"fsxt.r", ia64_fsxt_r, 0xFFFFFFFFF6543210},
    {"fswap", ia64_fswap, 0xF654321081234567},
    {"fswap.nl", ia64_fswap_nl, 0x7654321081234567},
    {"fswap.nr", ia64_fswap_nr, 0xF654321001234567},
    {"fand", ia64_fand, F2 &F3},
    {"fandcm", ia64_fandcm, F2 & ~F3},
    {"for", ia64_for, F2 | F3},
    {"fxor", ia64_fxor, F2 ^ F3},
};

static void bits(void **state)
{
	/* Signs and exponents are of no account; these are NaNs. */
	const struct ia64_fr f2 = {F2, 0x3FFFF}, f3 = {F3, 0x1FFFF}, natval = IA64_FR_NATVAL;
	struct ia64_fr f1;

	(void)state;
	for (unsigned i = 0; i < COUNT(bit_rows); i++) {
		bit_rows[i].op(&f1, &f2, &f3);
		if (f1.sig != bit_rows[i].sig || f1.se != IA64_FR_EXP_INTEGER)
			fail_msg("%s: %016" PRIx64, bit_rows[i].name, f1.sig);
		bit_rows[i].op(&f1, &f2, &natval);
		assert_true(ia64_fr_is_natval(&f1));
		bit_rows[i].op(&f1, &natval, &f3);
		assert_true(ia64_fr_is_natval(&f1));
	}
	ia64_fsxt_l(&f1, &f3, &f2); /* a positive sign */
	assert_int_equal(f1.sig, 0x0000000081234567);
	ia64_fselect(&f1, &f3, &f2, &(struct ia64_fr){0xFFFF0000FF00FF00u, 0});
	assert_int_equal(f1.sig, 0x0FED4567F6AB32EF);
	ia64_fselect(&f1, &f3, &f2, &natval);
	assert_true(ia64_fr_is_natval(&f1));
}

static void merges(void **state)
{
	const struct ia64_fr f2 = {1, NEG | 0x123}, f3 = {2, 0x1FFFF}, natval = IA64_FR_NATVAL;
	struct ia64_fr f1;

	(void)state;
	ia64_fmerge_s(&f1, &f2, &f3);
	assert_memory_equal(&f1, (&(struct ia64_fr){2, NEG | 0x1FFFF}), sizeof(f1));
	ia64_fmerge_ns(&f1, &f2, &f3);
	assert_memory_equal(&f1, (&(struct ia64_fr){2, 0x1FFFF}), sizeof(f1));
	ia64_fmerge_se(&f1, &f2, &f3);
	assert_memory_equal(&f1, (&(struct ia64_fr){2, NEG | 0x123}), sizeof(f1));
	ia64_fmerge_s(&f1, &natval, &f3);
	assert_true(ia64_fr_is_natval(&f1));
	ia64_fmerge_se(&f1, &f2, &natval);
	assert_true(ia64_fr_is_natval(&f1));
	ia64_fpack(&f1, &(struct ia64_fr){INT, NEG | ONE}, &(struct ia64_fr){INT, 0x1FFFF});
	assert_int_equal(f1.sig, 0xBF8000007F800000);
}

/* The addend is unsigned also where the product is signed. */
static void xma(void **state)
{
	const struct ia64_fr minus1 = {~0ULL, 0x1003E}, two = {2, 0x1003E}, zero = IA64_FR_ZERO;
	const struct ia64_fr natval = IA64_FR_NATVAL;
	struct ia64_fr f1;

	(void)state;
	ia64_xma_l(&f1, &minus1, &two, &two); /* -2 + 2 */
	assert_int_equal(f1.sig, 0);
	assert_int_equal(f1.se, 0x1003E);
	ia64_xma_h(&f1, &minus1, &two, &zero);
	assert_int_equal(f1.sig, ~0ULL);
	ia64_xma_h(&f1, &minus1, &two, &two);
	assert_int_equal(f1.sig, 0);
	ia64_xma_h(&f1, &zero, &zero, &minus1);
	assert_int_equal(f1.sig, 0);
	ia64_xma_h(&f1, &minus1, &minus1, &minus1); /* 1 + (2^64 - 1) */
	assert_int_equal(f1.sig, 1);
	ia64_xma_hu(&f1, &minus1, &two, &zero);
	assert_int_equal(f1.sig, 1);
	ia64_xma_hu(&f1, &minus1, &minus1, &minus1);
	assert_int_equal(f1.sig, ~0ULL);
	ia64_xma_l(&f1, &minus1, &two, &natval);
	assert_true(ia64_fr_is_natval(&f1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fpsr),   cmocka_unit_test(fchkf), cmocka_unit_test(bits),
	    cmocka_unit_test(merges), cmocka_unit_test(xma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
