/* Multimedia. */
#include "naive_elements.h"

enum saturation {
	MODULO,
	SSS,
	UUU,
	UUS,
};

static uint64_t sums(const struct naive_operands *o, unsigned bits, int sense,
		     enum saturation saturation)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++) {
		int64_t x =
		    saturation == SSS ? signed_at(o->r2, bits, i) : unsigned_at(o->r2, bits, i);
		int64_t y = saturation == SSS || saturation == UUS ? signed_at(o->r3, bits, i)
								   : unsigned_at(o->r3, bits, i);
		int64_t sum = x + sense * y;

		if (saturation == SSS)
			sum = saturate_signed(sum, bits);
		else if (saturation != MODULO)
			sum = saturate_unsigned(sum, bits);
		result |= at(sum, bits, i);
	}
	return result;
}

/* clang-format off */
OP(padd1, sums(o, 8, 1, MODULO))
OP(padd1_sss, sums(o, 8, 1, SSS))
OP(padd1_uuu, sums(o, 8, 1, UUU))
OP(padd1_uus, sums(o, 8, 1, UUS))
OP(padd2, sums(o, 16, 1, MODULO))
OP(padd2_sss, sums(o, 16, 1, SSS))
OP(padd2_uuu, sums(o, 16, 1, UUU))
OP(padd2_uus, sums(o, 16, 1, UUS))
OP(padd4, sums(o, 32, 1, MODULO))
OP(psub1, sums(o, 8, -1, MODULO))
OP(psub1_sss, sums(o, 8, -1, SSS))
OP(psub1_uuu, sums(o, 8, -1, UUU))
OP(psub1_uus, sums(o, 8, -1, UUS))
OP(psub2, sums(o, 16, -1, MODULO))
OP(psub2_sss, sums(o, 16, -1, SSS))
OP(psub2_uuu, sums(o, 16, -1, UUU))
OP(psub2_uus, sums(o, 16, -1, UUS))
OP(psub4, sums(o, 32, -1, MODULO))
/* clang-format on */

/*
 * Half of a sum or difference of one bit more; the bit that falls off is ORed into the last, or,
 * with raz, added before.
 */
static uint64_t averages(const struct naive_operands *o, unsigned bits, int sense, bool raz)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++) {
		int64_t sum = unsigned_at(o->r2, bits, i) + sense * unsigned_at(o->r3, bits, i);
		uint64_t wide = (uint64_t)(sum + raz) & mask(bits + 1);
		uint64_t half = wide >> 1;

		if (!raz)
			half |= wide & 1;
		result |= at((int64_t)half, bits, i);
	}
	return result;
}

/* clang-format off */
OP(pavg1, averages(o, 8, 1, false))
OP(pavg1_raz, averages(o, 8, 1, true))
OP(pavg2, averages(o, 16, 1, false))
OP(pavg2_raz, averages(o, 16, 1, true))
OP(pavgsub1, averages(o, 8, -1, false))
OP(pavgsub2, averages(o, 16, -1, false))
/* clang-format on */

static uint64_t psad1(const struct naive_operands *o)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 8; i++) {
		int64_t apart = unsigned_at(o->r2, 8, i) - unsigned_at(o->r3, 8, i);

		sum += (uint64_t)(apart < 0 ? -apart : apart);
	}
	return sum;
}

/* Where the shift saturates, that is the result. */
static uint64_t pshladd2(const struct naive_operands *o)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 4; i++) {
		int64_t shifted = signed_at(o->r2, 16, i) * (1 << o->imm);
		int64_t x = saturate_signed(shifted, 16);

		if (x == shifted)
			x = saturate_signed(x + signed_at(o->r3, 16, i), 16);
		result |= at(x, 16, i);
	}
	return result;
}

static uint64_t pshradd2(const struct naive_operands *o)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 4; i++) {
		int64_t x = shift_right_signed(signed_at(o->r2, 16, i), (uint64_t)o->imm);

		result |= at(saturate_signed(x + signed_at(o->r3, 16, i), 16), 16, i);
	}
	return result;
}

static uint64_t compares(const struct naive_operands *o, unsigned bits, bool greater)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++) {
		int64_t x = signed_at(o->r2, bits, i), y = signed_at(o->r3, bits, i);

		result |= at((greater ? x > y : x == y) ? -1 : 0, bits, i);
	}
	return result;
}

/* clang-format off */
OP(pcmp1_eq, compares(o, 8, false))
OP(pcmp1_gt, compares(o, 8, true))
OP(pcmp2_eq, compares(o, 16, false))
OP(pcmp2_gt, compares(o, 16, true))
OP(pcmp4_eq, compares(o, 32, false))
OP(pcmp4_gt, compares(o, 32, true))
/* clang-format on */

/* Bytes are unsigned, halfwords signed. */
static uint64_t extremes(const struct naive_operands *o, unsigned bits, bool greatest)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++) {
		int64_t x = bits == 8 ? unsigned_at(o->r2, 8, i) : signed_at(o->r2, 16, i);
		int64_t y = bits == 8 ? unsigned_at(o->r3, 8, i) : signed_at(o->r3, 16, i);

		result |= at((x > y) == greatest ? x : y, bits, i);
	}
	return result;
}

/* clang-format off */
OP(pmax1_u, extremes(o, 8, true))
OP(pmax2, extremes(o, 16, true))
OP(pmin1_u, extremes(o, 8, false))
OP(pmin2, extremes(o, 16, false))
OP(pmpy2_l, at(signed_at(o->r2, 16, 3) * signed_at(o->r3, 16, 3), 32, 1) |
   at(signed_at(o->r2, 16, 1) * signed_at(o->r3, 16, 1), 32, 0))
OP(pmpy2_r, at(signed_at(o->r2, 16, 2) * signed_at(o->r3, 16, 2), 32, 1) |
   at(signed_at(o->r2, 16, 0) * signed_at(o->r3, 16, 0), 32, 0))
/* clang-format on */

static uint64_t pmpyshr2(const struct naive_operands *o)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 4; i++)
		result |= at(shift_right_signed(signed_at(o->r2, 16, i) * signed_at(o->r3, 16, i),
						(uint64_t)o->imm),
			     16, i);
	return result;
}

static uint64_t pmpyshr2_u(const struct naive_operands *o)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 4; i++)
		result |=
		    at(shift_right_signed(unsigned_at(o->r2, 16, i) * unsigned_at(o->r3, 16, i),
					  (uint64_t)o->imm),
		       16, i);
	return result;
}

static uint64_t shifts_left(uint64_t x, unsigned bits, uint64_t count)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++)
		result |=
		    at((int64_t)shift_left((uint64_t)unsigned_at(x, bits, i), count), bits, i);
	return result;
}

static uint64_t shifts_right(uint64_t x, unsigned bits, uint64_t count, bool is_signed)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i++)
		result |=
		    at(is_signed ? shift_right_signed(signed_at(x, bits, i), count)
				 : (int64_t)shift_right((uint64_t)unsigned_at(x, bits, i), count),
		       bits, i);
	return result;
}

/* clang-format off */
OP(pshl2, shifts_left(o->r2, 16, o->r3))
OP(pshl4, shifts_left(o->r2, 32, o->r3))
OP(pshl2_imm, shifts_left(o->r2, 16, (uint64_t)o->imm))
OP(pshl4_imm, shifts_left(o->r2, 32, (uint64_t)o->imm))
OP(pshr2, shifts_right(o->r3, 16, o->r2, true))
OP(pshr4, shifts_right(o->r3, 32, o->r2, true))
OP(pshr2_u, shifts_right(o->r3, 16, o->r2, false))
OP(pshr4_u, shifts_right(o->r3, 32, o->r2, false))
OP(pshr2_imm, shifts_right(o->r3, 16, (uint64_t)o->imm, true))
OP(pshr4_imm, shifts_right(o->r3, 32, (uint64_t)o->imm, true))
OP(pshr2_u_imm, shifts_right(o->r3, 16, (uint64_t)o->imm, false))
OP(pshr4_u_imm, shifts_right(o->r3, 32, (uint64_t)o->imm, false))
/* clang-format on */

/* order: the source's element for each of the result's, the leftmost first. */
static uint64_t arrange(uint64_t x, unsigned bits, const unsigned order[])
{
	uint64_t result = 0;
	unsigned n = 64 / bits;

	for (unsigned i = 0; i < n; i++)
		result |= at(unsigned_at(x, bits, order[i]), bits, n - 1 - i);
	return result;
}

/* clang-format off */
OP(mux1_rev, arrange(o->r2, 8, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}))
OP(mux1_mix, arrange(o->r2, 8, (const unsigned[]){7, 3, 5, 1, 6, 2, 4, 0}))
OP(mux1_shuf, arrange(o->r2, 8, (const unsigned[]){7, 3, 6, 2, 5, 1, 4, 0}))
OP(mux1_alt, arrange(o->r2, 8, (const unsigned[]){7, 5, 3, 1, 6, 4, 2, 0}))
OP(mux1_brcst, arrange(o->r2, 8, (const unsigned[]){0, 0, 0, 0, 0, 0, 0, 0}))
/* clang-format on */

static uint64_t mux2(const struct naive_operands *o)
{
	unsigned order[4];

	for (unsigned i = 0; i < 4; i++)
		order[3 - i] = (unsigned)o->imm >> (2 * i) & 3;
	return arrange(o->r2, 16, order);
}

/* Of each pair of elements the left or the right one, from r2 and r3 in turn. */
static uint64_t mixed(const struct naive_operands *o, unsigned bits, unsigned odd)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64 / bits; i += 2)
		result |= at(unsigned_at(o->r2, bits, i + odd), bits, i + 1) |
			  at(unsigned_at(o->r3, bits, i + odd), bits, i);
	return result;
}

/* clang-format off */
OP(mix1_l, mixed(o, 8, 1))
OP(mix1_r, mixed(o, 8, 0))
OP(mix2_l, mixed(o, 16, 1))
OP(mix2_r, mixed(o, 16, 0))
OP(mix4_l, mixed(o, 32, 1))
OP(mix4_r, mixed(o, 32, 0))
/* clang-format on */

/* The upper or lower half's elements, from r2 and r3 in turn. */
static uint64_t unpacked(const struct naive_operands *o, unsigned bits, bool high)
{
	unsigned half = 32 / bits;
	uint64_t result = 0;

	for (unsigned i = 0; i < half; i++) {
		unsigned from = high ? half + i : i;

		result |= at(unsigned_at(o->r2, bits, from), bits, 2 * i + 1) |
			  at(unsigned_at(o->r3, bits, from), bits, 2 * i);
	}
	return result;
}

/* clang-format off */
OP(unpack1_h, unpacked(o, 8, true))
OP(unpack1_l, unpacked(o, 8, false))
OP(unpack2_h, unpacked(o, 16, true))
OP(unpack2_l, unpacked(o, 16, false))
OP(unpack4_h, unpacked(o, 32, true))
OP(unpack4_l, unpacked(o, 32, false))
/* clang-format on */

/* Elements of twice the width, saturated; r2's are the result's lower half. */
static uint64_t packed(const struct naive_operands *o, unsigned bits, bool to_signed)
{
	unsigned half = 32 / bits;
	uint64_t result = 0;

	for (unsigned i = 0; i < 2 * half; i++) {
		int64_t x =
		    i < half ? signed_at(o->r2, 2 * bits, i) : signed_at(o->r3, 2 * bits, i - half);

		x = to_signed ? saturate_signed(x, bits) : saturate_unsigned(x, bits);
		result |= at(x, bits, i);
	}
	return result;
}

/* clang-format off */
OP(pack2_sss, packed(o, 8, true))
OP(pack2_uss, packed(o, 8, false))
OP(pack4_sss, packed(o, 16, true))
/* clang-format on */

const int64_t naive_pmpyshr_counts[4] = {0, 7, 15, 16};

/* clang-format off */
const struct naive_op naive_multimedia[] = {
    {"padd1", NAIVE_R2_R3, 0, 0, 0, padd1},
    {"padd1.sss", NAIVE_R2_R3, 0, 0, 0, padd1_sss},
    {"padd1.uuu", NAIVE_R2_R3, 0, 0, 0, padd1_uuu},
    {"padd1.uus", NAIVE_R2_R3, 0, 0, 0, padd1_uus},
    {"padd2", NAIVE_R2_R3, 0, 0, 0, padd2},
    {"padd2.sss", NAIVE_R2_R3, 0, 0, 0, padd2_sss},
    {"padd2.uuu", NAIVE_R2_R3, 0, 0, 0, padd2_uuu},
    {"padd2.uus", NAIVE_R2_R3, 0, 0, 0, padd2_uus},
    {"padd4", NAIVE_R2_R3, 0, 0, 0, padd4},
    {"psub1", NAIVE_R2_R3, 0, 0, 0, psub1},
    {"psub1.sss", NAIVE_R2_R3, 0, 0, 0, psub1_sss},
    {"psub1.uuu", NAIVE_R2_R3, 0, 0, 0, psub1_uuu},
    {"psub1.uus", NAIVE_R2_R3, 0, 0, 0, psub1_uus},
    {"psub2", NAIVE_R2_R3, 0, 0, 0, psub2},
    {"psub2.sss", NAIVE_R2_R3, 0, 0, 0, psub2_sss},
    {"psub2.uuu", NAIVE_R2_R3, 0, 0, 0, psub2_uuu},
    {"psub2.uus", NAIVE_R2_R3, 0, 0, 0, psub2_uus},
    {"psub4", NAIVE_R2_R3, 0, 0, 0, psub4},
    {"pavg1", NAIVE_R2_R3, 0, 0, 0, pavg1},
    {"pavg1.raz", NAIVE_R2_R3, 0, 0, 0, pavg1_raz},
    {"pavg2", NAIVE_R2_R3, 0, 0, 0, pavg2},
    {"pavg2.raz", NAIVE_R2_R3, 0, 0, 0, pavg2_raz},
    {"pavgsub1", NAIVE_R2_R3, 0, 0, 0, pavgsub1},
    {"pavgsub2", NAIVE_R2_R3, 0, 0, 0, pavgsub2},
    {"psad1", NAIVE_R2_R3, 0, 0, 0, psad1},
    {"pshladd2", NAIVE_R2_IMM_R3, 1, 3, 0, pshladd2},
    {"pshradd2", NAIVE_R2_IMM_R3, 1, 3, 0, pshradd2},
    {"pcmp1.eq", NAIVE_R2_R3, 0, 0, 0, pcmp1_eq},
    {"pcmp1.gt", NAIVE_R2_R3, 0, 0, 0, pcmp1_gt},
    {"pcmp2.eq", NAIVE_R2_R3, 0, 0, 0, pcmp2_eq},
    {"pcmp2.gt", NAIVE_R2_R3, 0, 0, 0, pcmp2_gt},
    {"pcmp4.eq", NAIVE_R2_R3, 0, 0, 0, pcmp4_eq},
    {"pcmp4.gt", NAIVE_R2_R3, 0, 0, 0, pcmp4_gt},
    {"pmax1.u", NAIVE_R2_R3, 0, 0, 0, pmax1_u},
    {"pmax2", NAIVE_R2_R3, 0, 0, 0, pmax2},
    {"pmin1.u", NAIVE_R2_R3, 0, 0, 0, pmin1_u},
    {"pmin2", NAIVE_R2_R3, 0, 0, 0, pmin2},
    {"pmpy2.l", NAIVE_R2_R3, 0, 0, 0, pmpy2_l},
    {"pmpy2.r", NAIVE_R2_R3, 0, 0, 0, pmpy2_r},
    {"pmpyshr2", NAIVE_R2_R3_IMM, 0, 16, 0, pmpyshr2},
    {"pmpyshr2.u", NAIVE_R2_R3_IMM, 0, 16, 0, pmpyshr2_u},
    {"pshl2", NAIVE_R2_R3, 0, 0, 0, pshl2},
    {"pshl4", NAIVE_R2_R3, 0, 0, 0, pshl4},
    {"pshl2", NAIVE_R2_IMM, 0, 31, 0, pshl2_imm},
    {"pshl4", NAIVE_R2_IMM, 0, 31, 0, pshl4_imm},
    {"pshr2", NAIVE_R3_R2, 0, 0, 0, pshr2},
    {"pshr4", NAIVE_R3_R2, 0, 0, 0, pshr4},
    {"pshr2.u", NAIVE_R3_R2, 0, 0, 0, pshr2_u},
    {"pshr4.u", NAIVE_R3_R2, 0, 0, 0, pshr4_u},
    {"pshr2", NAIVE_R3_IMM, 0, 31, 0, pshr2_imm},
    {"pshr4", NAIVE_R3_IMM, 0, 31, 0, pshr4_imm},
    {"pshr2.u", NAIVE_R3_IMM, 0, 31, 0, pshr2_u_imm},
    {"pshr4.u", NAIVE_R3_IMM, 0, 31, 0, pshr4_u_imm},
    {"mux1 @rev", NAIVE_R2, 0, 0, 0, mux1_rev}, /* mux1 r1 = r2, @rev */
    {"mux1 @mix", NAIVE_R2, 0, 0, 0, mux1_mix},
    {"mux1 @shuf", NAIVE_R2, 0, 0, 0, mux1_shuf},
    {"mux1 @alt", NAIVE_R2, 0, 0, 0, mux1_alt},
    {"mux1 @brcst", NAIVE_R2, 0, 0, 0, mux1_brcst},
    {"mux2", NAIVE_R2_IMM, 0, 255, 0, mux2},
    {"mix1.l", NAIVE_R2_R3, 0, 0, 0, mix1_l},
    {"mix1.r", NAIVE_R2_R3, 0, 0, 0, mix1_r},
    {"mix2.l", NAIVE_R2_R3, 0, 0, 0, mix2_l},
    {"mix2.r", NAIVE_R2_R3, 0, 0, 0, mix2_r},
    {"mix4.l", NAIVE_R2_R3, 0, 0, 0, mix4_l},
    {"mix4.r", NAIVE_R2_R3, 0, 0, 0, mix4_r},
    {"unpack1.h", NAIVE_R2_R3, 0, 0, 0, unpack1_h},
    {"unpack1.l", NAIVE_R2_R3, 0, 0, 0, unpack1_l},
    {"unpack2.h", NAIVE_R2_R3, 0, 0, 0, unpack2_h},
    {"unpack2.l", NAIVE_R2_R3, 0, 0, 0, unpack2_l},
    {"unpack4.h", NAIVE_R2_R3, 0, 0, 0, unpack4_h},
    {"unpack4.l", NAIVE_R2_R3, 0, 0, 0, unpack4_l},
    {"pack2.sss", NAIVE_R2_R3, 0, 0, 0, pack2_sss},
    {"pack2.uss", NAIVE_R2_R3, 0, 0, 0, pack2_uss},
    {"pack4.sss", NAIVE_R2_R3, 0, 0, 0, pack4_sss},
};
/* clang-format on */

const size_t naive_multimedia_count = sizeof(naive_multimedia) / sizeof(naive_multimedia[0]);
