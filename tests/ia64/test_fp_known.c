/* Multiply-add: answers known by hand. */
#include <inttypes.h>

#include "feed/ia64/fp.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define INT  0x8000000000000000u
#define NEG  0x20000u
#define ONE  0xFFFFu
#define LAST 0x800u /* last place of a double's significand */

/* Controls of sf0. */
#define NEAREST 0x0Cu
#define DOWN	0x1Cu
#define UP	0x2Cu
#define ZERO	0x3Cu
#define FTZ	0x01u
#define WRE	0x02u

#define V	IA64_FP_V
#define D	IA64_FP_D
#define O	IA64_FP_O
#define U	IA64_FP_U
#define TINY	IA64_FP_TINY
#define FLUSHED IA64_FP_FLUSHED
#define UNSAFE	IA64_FP_UNSAFE
#define I	IA64_FP_I
/* ISR.code of traps. */
#define TRAP(code) (IA64_FP_TRAP | (uint32_t)(0x0001 | (code)) << 16)
#define ISR_O	   0x0800
#define ISR_U	   0x1000
#define ISR_I	   0x2000
#define ISR_FPA	   0x4000

#define SINGLE	IA64_FP_SINGLE
#define DOUBLE	IA64_FP_DOUBLE
#define DYNAMIC IA64_FP_DYNAMIC

static const struct row {
	const char *what;
	struct ia64_fr f3, f4, f2;
	unsigned controls, traps; /* traps: enabled ones */
	enum ia64_fp_precision precision;
	struct ia64_fr f1;
	uint32_t status;
} rows[] = {
    /* clang-format off */
    {"1 + 2^-53 is halfway, to even", {INT, ONE}, {INT, ONE}, {INT, ONE - 53}, NEAREST, 0,
     DOUBLE, {INT, ONE}, I},
    {"up", {INT, ONE}, {INT, ONE}, {INT, ONE - 53}, UP, 0, DOUBLE, {INT + LAST, ONE}, I},
    {"more than halfway", {INT, ONE}, {INT, ONE}, {INT + 1, ONE - 53}, NEAREST, 0, DOUBLE, {INT
     + LAST, ONE}, I},
    {"halfway above an odd last place", {INT + LAST, ONE}, {INT, ONE}, {INT, ONE - 53}, NEAREST,
     0, DOUBLE, {INT + 2 * LAST, ONE}, I},
    {"all of a product but its last bit cancels", {INT + LAST, ONE}, {INT + LAST, ONE}, {INT + 2
     * LAST, NEG | ONE}, NEAREST, 0, DOUBLE, {INT, ONE - 104}, 0},
    {"a bit that a carry pushes out is inexact", {~0ULL, ONE}, {~0ULL, ONE}, {INT, ONE + 1},
     NEAREST, 0, DYNAMIC, {0xBFFFFFFFFFFFFFFFu, ONE + 2}, I},
    {"and rounds up", {~0ULL, ONE}, {~0ULL, ONE}, {INT, ONE + 1}, UP, 0, DYNAMIC,
     {0xC000000000000000u, ONE + 2}, I},
    {"far below, down", {INT, ONE}, {INT, ONE}, {INT, NEG | 1}, DOWN, 0, DYNAMIC, {~0ULL, ONE -
     1}, I},
    {"greatest double doubled", {-(uint64_t)LAST, 0x103FE}, {INT, ONE + 1}, {0, 0}, NEAREST, 0,
     DOUBLE, {INT, 0x1FFFF}, UNSAFE | O | I},
    {"to zero", {-(uint64_t)LAST, 0x103FE}, {INT, ONE + 1}, {0, 0}, ZERO, 0, DOUBLE,
     {-(uint64_t)LAST, 0x103FE}, UNSAFE | O | I},
    {"up, negative", {-(uint64_t)LAST, NEG | 0x103FE}, {INT, ONE + 1}, {0, 0}, UP, 0, DOUBLE,
     {-(uint64_t)LAST, NEG | 0x103FE}, UNSAFE | O | I},
    {"with wre", {-(uint64_t)LAST, 0x103FE}, {INT, ONE + 1}, {0, 0}, NEAREST | WRE, 0, DOUBLE,
     {-(uint64_t)LAST, 0x103FF}, 0},
    {"with its trap", {-(uint64_t)LAST, 0x103FE}, {INT, ONE + 1}, {0, 0}, NEAREST, O, DOUBLE,
     {-(uint64_t)LAST, 0x103FF}, UNSAFE | O | TRAP(ISR_O)},
    {"the register's own range, wrapped", {INT, 0x1FFFE}, {INT, 0x1FFFE}, {0, 0}, NEAREST | WRE,
     O, DYNAMIC, {INT, 0x0FFFD}, UNSAFE | O | TRAP(ISR_O)},
    {"inexact's trap on overflow", {INT, 0x103FE}, {INT, ONE + 1}, {0, 0}, NEAREST, I, DOUBLE,
     {INT, 0x1FFFF}, UNSAFE | O | I | TRAP(ISR_I | ISR_FPA)},
    {"inexact's trap, not grown", {INT, ONE}, {INT, ONE}, {INT, ONE - 53}, NEAREST, I, DOUBLE,
     {INT, ONE}, I | TRAP(ISR_I)},
    {"half the least normal double", {INT, 0xFC01}, {INT, ONE - 1}, {0, 0}, NEAREST, 0, DOUBLE,
     {INT >> 1, 0xFC01}, UNSAFE | TINY},
    {"with its trap", {INT, 0xFC01}, {INT, ONE - 1}, {0, 0}, NEAREST, U, DOUBLE, {INT, 0xFC00},
     UNSAFE | U | TRAP(ISR_U)},
    {"flushed", {INT, 0xFC01}, {INT, NEG | (ONE - 1)}, {0, 0}, NEAREST | FTZ, 0, DOUBLE, {0,
     NEG}, UNSAFE | FLUSHED | U | I},
    {"not flushed with the trap", {INT, 0xFC01}, {INT, ONE - 1}, {0, 0}, NEAREST | FTZ, U,
     DOUBLE, {INT, 0xFC00}, UNSAFE | U | TRAP(ISR_U)},
    {"half the least denormal double", {INT, ONE - 1074}, {INT, ONE - 1}, {0, 0}, NEAREST, 0,
     DOUBLE, {0, 0}, UNSAFE | TINY | U | I},
    {"up", {INT, ONE - 1074}, {INT, ONE - 1}, {0, 0}, UP, 0, DOUBLE, {LAST, 0xFC01}, UNSAFE | TINY | U | I},
    {"tiny before and after rounding, ends normal", {-(uint64_t)LAST, 0xFC00}, {INT, ONE}, {0,
     0}, NEAREST, 0, DOUBLE, {INT, 0xFC01}, UNSAFE | TINY | U | I},
    {"tiny before rounding only", {-(uint64_t)(LAST >> 1), 0xFC00}, {INT, ONE}, {0, 0}, NEAREST,
     0, DOUBLE, {INT, 0xFC01}, UNSAFE | I},
    {"half the least normal double-extended", {INT, 0xC001}, {INT, ONE - 1}, {0, 0}, NEAREST, 0,
     DYNAMIC, {INT >> 1, 0}, UNSAFE | TINY},
    {"half the least normal single", {INT, 0xFF81}, {INT, ONE - 1}, {0, 0}, NEAREST, 0, SINGLE,
     {INT >> 1, 0xFF81}, UNSAFE | TINY},
    {"half the least normal register", {INT, 1}, {INT, ONE - 1}, {0, 0}, NEAREST | WRE, 0,
     DYNAMIC, {INT >> 1, 1}, UNSAFE | TINY},
    {"a denormal operand", {1, 0}, {INT, ONE}, {0, 0}, NEAREST | WRE, 0, DYNAMIC, {INT, ONE -
     16382 - 63}, D},
    {"with its fault", {1, 0}, {INT, ONE}, {0, 0}, NEAREST, D, DYNAMIC, {5, 5}, IA64_FP_FAULT |
     2u << 16},
    {"an integer", {5, 0x1003E}, {INT, ONE}, {0, 0}, NEAREST, 0, DYNAMIC, {0xA000000000000000u,
     ONE + 2}, D},
    {"infinity times zero", {INT, 0x1FFFF}, {0, 0}, {INT, ONE}, NEAREST, 0, DYNAMIC,
     {0xC000000000000000u, NEG | 0x1FFFF}, V},
    {"its fault", {INT, 0x1FFFF}, {0, 0}, {INT, ONE}, NEAREST, V, DYNAMIC, {5, 5}, IA64_FP_FAULT
     | 1u << 16},
    {"infinity times pseudo-zero", {INT, 0x1FFFF}, {0, NEG | 1}, {INT, ONE}, NEAREST, 0,
     DYNAMIC, {INT, NEG | 0x1FFFF}, D},
    {"infinity less infinity", {INT, 0x1FFFF}, {INT, ONE}, {INT, NEG | 0x1FFFF}, NEAREST, 0,
     DYNAMIC, {0xC000000000000000u, NEG | 0x1FFFF}, V},
    {"a quiet NaN before infinity times zero", {INT, 0x1FFFF}, {0, 0}, {0xC000000000000123u,
     0x1FFFF}, NEAREST, 0, DYNAMIC, {0xC000000000000123u, 0x1FFFF}, 0},
    {"a signalling NaN becomes quiet", {INT + 7, NEG | 0x1FFFF}, {INT, ONE}, {INT, ONE},
     NEAREST, 0, DYNAMIC, {0xC000000000000007u, NEG | 0x1FFFF}, V},
    {"f4's NaN comes first", {0xC000000000000003u, 0x1FFFF}, {0xC000000000000004u, 0x1FFFF},
     {0xC000000000000002u, 0x1FFFF}, NEAREST, 0, DYNAMIC, {0xC000000000000004u, 0x1FFFF}, 0},
    {"then f2's", {0xC000000000000003u, 0x1FFFF}, {INT, ONE}, {INT + 2, 0x1FFFF}, NEAREST, 0,
     DYNAMIC, {0xC000000000000002u, 0x1FFFF}, V},
    {"an unsupported operand before NaNs", {1, 0x1FFFF}, {0xC000000000000004u, 0x1FFFF}, {0, 0},
     NEAREST, 0, DYNAMIC, {0xC000000000000000u, NEG | 0x1FFFF}, V},
    {"NaTVal before all", {1, 0x1FFFF}, {INT + 1, 0x1FFFF}, {0, 0x1FFFE}, NEAREST, V, DYNAMIC,
     {0, 0x1FFFE}, 0},
    {"-0 - 0", {0, NEG}, {INT, ONE}, {0, 0}, NEAREST, 0, DYNAMIC, {0, 0}, 0},
    {"-0 - 0, down", {0, NEG}, {INT, ONE}, {0, 0}, DOWN, 0, DYNAMIC, {0, NEG}, 0},
    {"1 - 1", {INT, ONE}, {INT, ONE}, {INT, NEG | ONE}, NEAREST, 0, DYNAMIC, {0, 0}, 0},
    {"1 - 1, down", {INT, ONE}, {INT, ONE}, {INT, NEG | ONE}, DOWN, 0, DYNAMIC, {0, NEG}, 0},
    /* clang-format on */
};

static uint64_t fpsr_of(unsigned controls, unsigned enabled)
{
	return (IA64_FP_FLAGS & ~enabled) | (uint64_t)controls << 6;
}

static void fma_rows(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct ia64_fr f1 = {5, 5};
		uint32_t status =
		    ia64_fma(&f1, &row->f3, &row->f4, &row->f2, fpsr_of(row->controls, row->traps),
			     ia64_fp_mode(0, row->precision));

		if (status != row->status || f1.sig != row->f1.sig || f1.se != row->f1.se)
			fail_msg("%s: %05" PRIx64 " %016" PRIx64 ", status %x", row->what, f1.se,
				 f1.sig, status);
	}
}

/* Without an addend the product's sign stays; fms and fnma negate what they say. */
static void forms(void **state)
{
	const struct ia64_fr one = IA64_FR_ONE, zero = IA64_FR_ZERO, minus = {INT, NEG | ONE};
	uint64_t fpsr = fpsr_of(NEAREST, 0);
	struct ia64_fr f1;

	(void)state;
	ia64_fma(&f1, &minus, &zero, NULL, fpsr, 0);
	assert_int_equal(f1.se, NEG);
	ia64_fma(&f1, &minus, &zero, &zero, fpsr, 0);
	assert_int_equal(f1.se, 0);
	ia64_fnma(&f1, &one, &zero, NULL, fpsr, 0);
	assert_int_equal(f1.se, NEG);
	ia64_fms(&f1, &one, &one, &minus, fpsr, 0);
	assert_int_equal(f1.se, ONE + 1);
	ia64_fnma(&f1, &one, &one, &minus, fpsr, 0);
	assert_int_equal(f1.se, NEG | (ONE + 1));
}

/* Status fields are used and raised apart; td masks. */
static void status_fields(void **state)
{
	const struct ia64_fr one = IA64_FR_ONE, least = {INT, 1};

	(void)state;
	for (unsigned sf = 0; sf < 4; sf++) {
		uint64_t up = (uint64_t)UP << (6 + 13 * sf);
		struct ia64_fr f1;
		uint32_t status;

		status = ia64_fma(&f1, &one, &one, &least, up | 0x3F, ia64_fp_mode(sf, DOUBLE));
		assert_int_equal(f1.sig, INT + LAST);
		assert_int_equal(ia64_fpsr_raise(0, sf, status), (uint64_t)I << (13 + 13 * sf));
		status = ia64_fma(&f1, &one, &one, &least, up, ia64_fp_mode(sf, DOUBLE));
		assert_int_equal(status, I | TRAP(ISR_I | ISR_FPA));
		up |= (uint64_t)IA64_SF_TD << (6 + 13 * sf);
		status = ia64_fma(&f1, &one, &one, &least, up, ia64_fp_mode(sf, DOUBLE));
		assert_int_equal(status, I);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fma_rows),
	    cmocka_unit_test(forms),
	    cmocka_unit_test(status_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
