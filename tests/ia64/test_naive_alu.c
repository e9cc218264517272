/* The naive instructions themselves: answers known by hand, at least one of each kind. */
#include <inttypes.h>
#include <string.h>

#include "naive_alu.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define A 0x8123456789ABCDEFu
#define B 0x0FEDCBA9F6543210u

/* clang-format off */
static const struct row {
	const char *mnemonic;
	enum naive_form form;
	struct naive_operands o; /* r2, r3, imm, field, len */
	uint64_t r1;
} rows[] = {
    {"add", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x911111117FFFFFFF},
    {"add", NAIVE_R2_R3_1, {A, B, 1, 0, 0}, 0x9111111180000000},
    {"adds", NAIVE_IMM_R3, {0, 5, -6, 0, 0}, 0xFFFFFFFFFFFFFFFF},
    {"sub", NAIVE_R2_R3, {0, 1, 0, 0, 0}, 0xFFFFFFFFFFFFFFFF},
    {"sub", NAIVE_R2_R3_1, {0, 1, 1, 0, 0}, 0xFFFFFFFFFFFFFFFE},
    {"sub", NAIVE_IMM_R3, {0, 1, -128, 0, 0}, 0xFFFFFFFFFFFFFF7F},
    {"addp4", NAIVE_R2_R3, {0xFFFFFFFF, 0xC0000001, 0, 0, 0}, 0x60000000C0000000},
    {"addp4", NAIVE_IMM_R3, {0, 0x80000000, -1, 0, 0}, 0x400000007FFFFFFF},
    {"shladd", NAIVE_R2_IMM_R3, {3, 1, 4, 0, 0}, 49},
    {"shladdp4", NAIVE_R2_IMM_R3, {0x40000000, 0x40000001, 2, 0, 0}, 0x2000000040000001},
    {"andcm", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x8002044609ABCDEF},
    {"andcm", NAIVE_IMM_R3, {0, 1, -1, 0, 0}, 0xFFFFFFFFFFFFFFFE},
    {"sxt1", NAIVE_R3, {0, A, 0, 0, 0}, 0xFFFFFFFFFFFFFFEF},
    {"sxt2", NAIVE_R3, {0, B, 0, 0, 0}, 0x3210},
    {"sxt4", NAIVE_R3, {0, B, 0, 0, 0}, 0xFFFFFFFFF6543210},
    {"zxt4", NAIVE_R3, {0, B, 0, 0, 0}, 0xF6543210},
    {"popcnt", NAIVE_R3, {0, A, 0, 0, 0}, 33},
    {"czx1.l", NAIVE_R3, {0, 0x1100110011111111, 0, 0, 0}, 1},
    {"czx1.r", NAIVE_R3, {0, 0x1100110011111111, 0, 0, 0}, 4},
    {"czx2.l", NAIVE_R3, {0, 0x0001000100000001, 0, 0, 0}, 2},
    {"czx2.r", NAIVE_R3, {0, 0x0001000100010001, 0, 0, 0}, 4},
    {"shl", NAIVE_R2_R3, {A, 64, 0, 0, 0}, 0},
    {"shl", NAIVE_R2_R3, {A, 60, 0, 0, 0}, 0xF000000000000000},
    {"shr", NAIVE_R3_R2, {1ULL << 40, A, 0, 0, 0}, 0xFFFFFFFFFFFFFFFF},
    {"shr", NAIVE_R3_R2, {4, A, 0, 0, 0}, 0xF8123456789ABCDE},
    {"shr.u", NAIVE_R3_R2, {4, A, 0, 0, 0}, 0x08123456789ABCDE},
    {"shrp", NAIVE_R2_R3_IMM, {A, B, 8, 0, 0}, 0xEF0FEDCBA9F65432},
    {"shrp", NAIVE_R2_R3_IMM, {A, B, 0, 0, 0}, B},
    {"extr", NAIVE_R3_POS_LEN, {0, A, 4, 0, 8}, 0xFFFFFFFFFFFFFFDE},
    {"extr.u", NAIVE_R3_POS_LEN, {0, A, 4, 0, 8}, 0xDE},
    {"extr", NAIVE_R3_POS_LEN, {0, A, 60, 0, 20}, 0xFFFFFFFFFFFFFFF8},
    {"dep", NAIVE_R2_R3_POS_LEN, {A, B, 8, 0, 12}, 0x0FEDCBA9F65DEF10},
    {"dep", NAIVE_R2_R3_POS_LEN, {A, B, 60, 0, 16}, 0xFFEDCBA9F6543210},
    {"dep", NAIVE_IMM1_R3_POS_LEN, {0, B, 60, -1, 4}, 0xFFEDCBA9F6543210},
    {"dep", NAIVE_IMM1_R3_POS_LEN, {0, B, 0, 0, 64}, 0},
    {"dep.z", NAIVE_R2_POS_LEN, {A, 0, 8, 0, 8}, 0xEF00},
    {"dep.z", NAIVE_IMM8_POS_LEN, {0, 0, 8, -2, 16}, 0xFFFE00},
    {"padd1", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x901010107FFFFFFF},
    {"padd1.sss", NAIVE_R2_R3, {0x7F80, 0x01FF, 0, 0, 0}, 0x7F80},
    {"padd1.uuu", NAIVE_R2_R3, {0x7F80, 0x0180, 0, 0, 0}, 0x80FF},
    {"padd1.uus", NAIVE_R2_R3, {0xFF01, 0x01FE, 0, 0, 0}, 0xFF00},
    {"padd2.uus", NAIVE_R2_R3, {0xFFFF0001, 0x0001FFFE, 0, 0, 0}, 0xFFFF0000},
    {"padd4", NAIVE_R2_R3, {0xFFFFFFFF, 1, 0, 0, 0}, 0},
    {"psub1", NAIVE_R2_R3, {0x0100, 0x0001, 0, 0, 0}, 0x01FF},
    {"psub2.sss", NAIVE_R2_R3, {0x80007FFF, 0x0001FFFF, 0, 0, 0}, 0x80007FFF},
    {"psub2.uuu", NAIVE_R2_R3, {0x00010002, 0x00020001, 0, 0, 0}, 0x00000001},
    {"psub1.uus", NAIVE_R2_R3, {0xFE01, 0xFD02, 0, 0, 0}, 0xFF00},
    {"pavg1", NAIVE_R2_R3, {0xFF020103, 0xFF030002, 0, 0, 0}, 0xFF030103},
    {"pavg1.raz", NAIVE_R2_R3, {0xFF020103, 0xFF030002, 0, 0, 0}, 0xFF030103},
    {"pavg1", NAIVE_R2_R3, {0x04, 0x01, 0, 0, 0}, 0x03},
    {"pavg1", NAIVE_R2_R3, {0x06, 0x01, 0, 0, 0}, 0x03},
    {"pavg1.raz", NAIVE_R2_R3, {0x06, 0x01, 0, 0, 0}, 0x04},
    {"pavg2.raz", NAIVE_R2_R3, {0xFFFF, 0xFFFE, 0, 0, 0}, 0xFFFF},
    {"pavgsub1", NAIVE_R2_R3, {0x0500, 0x0201, 0, 0, 0}, 0x01FF},
    {"pavgsub2", NAIVE_R2_R3, {0x0000, 0x0004, 0, 0, 0}, 0xFFFE},
    {"psad1", NAIVE_R2_R3, {0xFF00000000000001, 0x0000000000000003, 0, 0, 0}, 0x101},
    {"pshladd2", NAIVE_R2_IMM_R3, {0x4000C0000001, 0xFFFF00010001, 1, 0, 0}, 0x7FFF80010003},
    {"pshradd2", NAIVE_R2_IMM_R3, {0x8000FFFF, 0x8000FFFF, 3, 0, 0}, 0x8000FFFE},
    {"pcmp1.eq", NAIVE_R2_R3, {0x0102, 0x0103, 0, 0, 0}, 0xFFFFFFFFFFFFFF00},
    {"pcmp2.gt", NAIVE_R2_R3, {0x00018000, 0xFFFF7FFF, 0, 0, 0}, 0xFFFF0000},
    {"pcmp4.gt", NAIVE_R2_R3, {0, 0x80000000, 0, 0, 0}, 0xFFFFFFFF},
    {"pmax1.u", NAIVE_R2_R3, {0x80FF, 0x7F00, 0, 0, 0}, 0x80FF},
    {"pmin1.u", NAIVE_R2_R3, {0x80FF, 0x7F00, 0, 0, 0}, 0x7F00},
    {"pmax2", NAIVE_R2_R3, {0x8000, 0x7FFF, 0, 0, 0}, 0x7FFF},
    {"pmin2", NAIVE_R2_R3, {0x8000, 0x7FFF, 0, 0, 0}, 0x8000},
    {"pmpy2.l", NAIVE_R2_R3, {0x0002FFFF0003FFFF, 0x0005FFFFFFFFFFFF, 0, 0, 0}, 0x0000000AFFFFFFFD},
    {"pmpy2.r", NAIVE_R2_R3, {0x0002FFFF0003FFFF, 0x0005FFFFFFFFFFFF, 0, 0, 0}, 0x0000000100000001},
    {"pmpyshr2", NAIVE_R2_R3_IMM, {0xFFFF8000, 0x00028000, 16, 0, 0}, 0xFFFF4000},
    {"pmpyshr2.u", NAIVE_R2_R3_IMM, {0xFFFF8000, 0xFFFF8000, 16, 0, 0}, 0xFFFE4000},
    {"pmpyshr2.u", NAIVE_R2_R3_IMM, {0xFFFF, 0xFFFF, 0, 0, 0}, 0x0001},
    {"pshl2", NAIVE_R2_R3, {A, 16, 0, 0, 0}, 0},
    {"pshl4", NAIVE_R2_IMM, {A, 0, 4, 0, 0}, 0x123456709ABCDEF0},
    {"pshr2", NAIVE_R3_R2, {1ULL << 32, 0x80007FFF, 0, 0, 0}, 0xFFFF0000},
    {"pshr4", NAIVE_R3_IMM, {0, A, 4, 0, 0}, 0xF8123456F89ABCDE},
    {"pshr4.u", NAIVE_R3_R2, {4, A, 0, 0, 0}, 0x08123456089ABCDE},
    {"mux1 @rev", NAIVE_R2, {0x0706050403020100, 0, 0, 0, 0}, 0x0001020304050607},
    {"mux1 @mix", NAIVE_R2, {0x0706050403020100, 0, 0, 0, 0}, 0x0703050106020400},
    {"mux1 @shuf", NAIVE_R2, {0x0706050403020100, 0, 0, 0, 0}, 0x0703060205010400},
    {"mux1 @alt", NAIVE_R2, {0x0706050403020100, 0, 0, 0, 0}, 0x0705030106040200},
    {"mux1 @brcst", NAIVE_R2, {A, 0, 0, 0, 0}, 0xEFEFEFEFEFEFEFEF},
    {"mux2", NAIVE_R2_IMM, {0x0003000200010000, 0, 0x1B, 0, 0}, 0x0000000100020003},
    {"mux2", NAIVE_R2_IMM, {0x0003000200010000, 0, 0xE4, 0, 0}, 0x0003000200010000},
    {"mix1.l", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x810F45CB89F6CD32},
    {"mix1.r", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x23ED67A9AB54EF10},
    {"mix2.l", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x81230FED89ABF654},
    {"mix4.r", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x89ABCDEFF6543210},
    {"unpack1.h", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x810F23ED45CB67A9},
    {"unpack1.l", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x89F6AB54CD32EF10},
    {"unpack2.h", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x81230FED4567CBA9},
    {"unpack4.l", NAIVE_R2_R3, {A, B, 0, 0, 0}, 0x89ABCDEFF6543210},
    {"pack2.sss", NAIVE_R2_R3, {0x007F0080FF80FF7F, 0x0001000280007FFF, 0, 0, 0}, 0x0102807F7F7F8080},
    {"pack2.uss", NAIVE_R2_R3, {0x00FF0100FFFF0001, 0, 0, 0, 0}, 0x00000000FFFF0001},
    {"pack4.sss", NAIVE_R2_R3, {0x000080007FFFFFFF, 0xFFFF8000FFFF7FFF, 0, 0, 0}, 0x800080007FFF7FFF},
};
/* clang-format on */

static const struct naive_op *find(const struct naive_op *table, size_t count,
				   const struct row *row)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(table[i].mnemonic, row->mnemonic) && table[i].form == row->form)
			return &table[i];
	return NULL;
}

static void known(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct naive_op *op = find(naive_integer, naive_integer_count, &rows[i]);
		uint64_t r1;

		if (!op)
			op = find(naive_multimedia, naive_multimedia_count, &rows[i]);
		if (!op)
			fail_msg("%s is not there", rows[i].mnemonic);
		r1 = op->compute(&rows[i].o);
		if (r1 != rows[i].r1)
			fail_msg("%s (row %zu): %016" PRIx64 " not %016" PRIx64, rows[i].mnemonic,
				 i, r1, rows[i].r1);
	}
}

static void compares(void **state)
{
	(void)state;
	assert_true(naive_cmp(NAIVE_LT, ~0ULL, 0));
	assert_false(naive_cmp(NAIVE_LTU, ~0ULL, 0));
	assert_true(naive_cmp4(NAIVE_EQ, A, A & 0xFFFFFFFF));
	assert_true(naive_cmp4(NAIVE_LT, 0x80000000, 0));
	assert_false(naive_cmp4(NAIVE_LTU, 0x80000000, 0x17FFFFFFF));
	assert_true(naive_cmp4(NAIVE_GEU, 0x80000000, 0x17FFFFFFF));
	assert_true(naive_tbit(A, 63));
	assert_false(naive_tbit(A, 62));
}

/* From p1 = 0, p2 = 1: what each type leaves, for false, true, false with NaT, true with NaT. */
static void predicates(void **state)
{
	static const char *const left[] = {
	    [NAIVE_NORMAL] = "01 10 00 00",   [NAIVE_UNC] = "01 10 00 00",
	    [NAIVE_AND] = "00 01 00 00",      [NAIVE_OR] = "01 11 01 01",
	    [NAIVE_OR_ANDCM] = "01 10 01 01", [NAIVE_ORCM] = "11 01 01 01",
	    [NAIVE_ANDCM] = "01 00 00 00",    [NAIVE_AND_ORCM] = "01 01 01 01",
	};

	(void)state;
	for (unsigned type = 0; type < COUNT(left); type++) {
		for (unsigned i = 0; i < 4; i++) {
			bool p[2] = {false, true};

			naive_predicates(p, true, type, i & 1, i & 2);
			assert_int_equal(p[0], left[type][3 * i] == '1');
			assert_int_equal(p[1], left[type][3 * i + 1] == '1');
			p[0] = true;
			p[1] = true;
			naive_predicates(p, false, type, i & 1, i & 2);
			assert_int_equal(p[0], type != NAIVE_UNC);
			assert_int_equal(p[1], type != NAIVE_UNC);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known),
	    cmocka_unit_test(compares),
	    cmocka_unit_test(predicates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
