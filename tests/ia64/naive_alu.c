/* Integers, shifts, bit fields, compares. */
#include "naive_elements.h"

/* clang-format off */
OP(add, o->r2 + o->r3)
OP(add_1, o->r2 + o->r3 + 1)
OP(add_imm, (uint64_t)o->imm + o->r3)
OP(sub, o->r2 - o->r3)
OP(sub_1, o->r2 - o->r3 - 1)
OP(sub_imm, (uint64_t)o->imm - o->r3)
/* clang-format on */

/* A pointer of 32 bits: the region bits 31:30 of r3 go to 62:61. */
static uint64_t pointer(uint64_t sum, uint64_t r3)
{
	return (sum & mask(32)) | (r3 >> 30 & 3) << 61;
}

/* clang-format off */
OP(addp4, pointer(o->r2 + o->r3, o->r3))
OP(addp4_imm, pointer((uint64_t)o->imm + o->r3, o->r3))
OP(shladd, (o->r2 << o->imm) + o->r3)
OP(shladdp4, pointer((o->r2 << o->imm) + o->r3, o->r3))
OP(and_, o->r2 & o->r3)
OP(andcm, o->r2 & ~o->r3)
OP(or_, o->r2 | o->r3)
OP(xor_, o->r2 ^ o->r3)
OP(and_imm, (uint64_t)o->imm & o->r3)
OP(andcm_imm, (uint64_t)o->imm & ~o->r3)
OP(or_imm, (uint64_t)o->imm | o->r3)
OP(xor_imm, (uint64_t)o->imm ^ o->r3)
OP(sxt1, (uint64_t)sign_ext(o->r3, 8))
OP(sxt2, (uint64_t)sign_ext(o->r3, 16))
OP(sxt4, (uint64_t)sign_ext(o->r3, 32))
OP(zxt1, o->r3 & mask(8))
OP(zxt2, o->r3 & mask(16))
OP(zxt4, o->r3 & mask(32))
/* clang-format on */

static uint64_t popcnt(const struct naive_operands *o)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 64; i++)
		n += o->r3 >> i & 1;
	return n;
}

/* The place of the first zero element, from the left or the right; their number where none is. */
static uint64_t zero_index(uint64_t x, unsigned bits, bool from_left)
{
	unsigned n = 64 / bits;

	for (unsigned i = 0; i < n; i++)
		if (unsigned_at(x, bits, from_left ? n - 1 - i : i) == 0)
			return i;
	return n;
}

/* clang-format off */
OP(czx1_l, zero_index(o->r3, 8, true))
OP(czx1_r, zero_index(o->r3, 8, false))
OP(czx2_l, zero_index(o->r3, 16, true))
OP(czx2_r, zero_index(o->r3, 16, false))
OP(shl, shift_left(o->r2, o->r3))
OP(shr, (uint64_t)shift_right_signed((int64_t)o->r3, o->r2))
OP(shr_u, shift_right(o->r3, o->r2))
OP(shl_imm, shift_left(o->r2, (uint64_t)o->imm))
OP(shr_imm, (uint64_t)shift_right_signed((int64_t)o->r3, (uint64_t)o->imm))
OP(shr_u_imm, shift_right(o->r3, (uint64_t)o->imm))
/* clang-format on */

/* 64 bits of r2:r3 from bit imm on. */
static uint64_t shrp(const struct naive_operands *o)
{
	uint64_t result = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bit = i + (unsigned)o->imm;

		result |= (bit < 64 ? o->r3 >> bit & 1 : o->r2 >> (bit - 64) & 1) << i;
	}
	return result;
}

/* A field that would pass bit 63 ends there. */
static unsigned field_length(const struct naive_operands *o)
{
	unsigned pos = (unsigned)o->imm;

	return pos + o->len > 64 ? 64 - pos : o->len;
}

/* clang-format off */
OP(extr, (uint64_t)sign_ext(o->r3 >> o->imm, field_length(o)))
OP(extr_u, o->r3 >> o->imm & mask(field_length(o)))
/* clang-format on */

static uint64_t deposit(const struct naive_operands *o, uint64_t field, uint64_t into)
{
	uint64_t place = mask(field_length(o)) << o->imm;

	return (into & ~place) | (field << o->imm & place);
}

/* clang-format off */
OP(dep, deposit(o, o->r2, o->r3))
OP(dep_imm1, deposit(o, (uint64_t)o->field, o->r3))
OP(dep_z, deposit(o, o->r2, 0))
OP(dep_z_imm8, deposit(o, (uint64_t)o->field, 0))
/* clang-format on */

/* clang-format off */
const struct naive_op naive_integer[] = {
    {"add", NAIVE_R2_R3, 0, 0, 0, add},
    {"add", NAIVE_R2_R3_1, 1, 1, 0, add_1},
    {"adds", NAIVE_IMM_R3, -8192, 8191, 0, add_imm},
    {"addl", NAIVE_IMM_R3, -2097152, 2097151, 0, add_imm}, /* r3: r0 to r3 only */
    {"sub", NAIVE_R2_R3, 0, 0, 0, sub},
    {"sub", NAIVE_R2_R3_1, 1, 1, 0, sub_1},
    {"sub", NAIVE_IMM_R3, -128, 127, 0, sub_imm},
    {"addp4", NAIVE_R2_R3, 0, 0, 0, addp4},
    {"addp4", NAIVE_IMM_R3, -8192, 8191, 0, addp4_imm},
    {"shladd", NAIVE_R2_IMM_R3, 1, 4, 0, shladd},
    {"shladdp4", NAIVE_R2_IMM_R3, 1, 4, 0, shladdp4},
    {"and", NAIVE_R2_R3, 0, 0, 0, and_},
    {"andcm", NAIVE_R2_R3, 0, 0, 0, andcm},
    {"or", NAIVE_R2_R3, 0, 0, 0, or_},
    {"xor", NAIVE_R2_R3, 0, 0, 0, xor_},
    {"and", NAIVE_IMM_R3, -128, 127, 0, and_imm},
    {"andcm", NAIVE_IMM_R3, -128, 127, 0, andcm_imm},
    {"or", NAIVE_IMM_R3, -128, 127, 0, or_imm},
    {"xor", NAIVE_IMM_R3, -128, 127, 0, xor_imm},
    {"sxt1", NAIVE_R3, 0, 0, 0, sxt1},
    {"sxt2", NAIVE_R3, 0, 0, 0, sxt2},
    {"sxt4", NAIVE_R3, 0, 0, 0, sxt4},
    {"zxt1", NAIVE_R3, 0, 0, 0, zxt1},
    {"zxt2", NAIVE_R3, 0, 0, 0, zxt2},
    {"zxt4", NAIVE_R3, 0, 0, 0, zxt4},
    {"popcnt", NAIVE_R3, 0, 0, 0, popcnt},
    {"czx1.l", NAIVE_R3, 0, 0, 0, czx1_l},
    {"czx1.r", NAIVE_R3, 0, 0, 0, czx1_r},
    {"czx2.l", NAIVE_R3, 0, 0, 0, czx2_l},
    {"czx2.r", NAIVE_R3, 0, 0, 0, czx2_r},
    {"shl", NAIVE_R2_R3, 0, 0, 0, shl},
    {"shr", NAIVE_R3_R2, 0, 0, 0, shr},
    {"shr.u", NAIVE_R3_R2, 0, 0, 0, shr_u},
    {"shl", NAIVE_R2_IMM, 0, 63, 0, shl_imm}, /* forms of dep.z and extr */
    {"shr", NAIVE_R3_IMM, 0, 63, 0, shr_imm},
    {"shr.u", NAIVE_R3_IMM, 0, 63, 0, shr_u_imm},
    {"shrp", NAIVE_R2_R3_IMM, 0, 63, 0, shrp},
    {"extr", NAIVE_R3_POS_LEN, 0, 63, 64, extr},
    {"extr.u", NAIVE_R3_POS_LEN, 0, 63, 64, extr_u},
    {"dep", NAIVE_R2_R3_POS_LEN, 0, 63, 16, dep},
    {"dep", NAIVE_IMM1_R3_POS_LEN, 0, 63, 64, dep_imm1},
    {"dep.z", NAIVE_R2_POS_LEN, 0, 63, 64, dep_z},
    {"dep.z", NAIVE_IMM8_POS_LEN, 0, 63, 64, dep_z_imm8},
};
/* clang-format on */

const size_t naive_integer_count = sizeof(naive_integer) / sizeof(naive_integer[0]);

bool naive_cmp(enum naive_relation relation, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (relation) {
	case NAIVE_EQ:
		return a == b;
	case NAIVE_NE:
		return a != b;
	case NAIVE_LT:
		return x < y;
	case NAIVE_LE:
		return x <= y;
	case NAIVE_GT:
		return x > y;
	case NAIVE_GE:
		return x >= y;
	case NAIVE_LTU:
		return a < b;
	case NAIVE_LEU:
		return a <= b;
	case NAIVE_GTU:
		return a > b;
	default:
		return a >= b;
	}
}

bool naive_cmp4(enum naive_relation relation, uint64_t a, uint64_t b)
{
	if (relation >= NAIVE_LTU)
		return naive_cmp(relation, a & mask(32), b & mask(32));
	return naive_cmp(relation, (uint64_t)sign_ext(a, 32), (uint64_t)sign_ext(b, 32));
}

bool naive_tbit(uint64_t r3, unsigned pos)
{
	return r3 >> pos & 1;
}

/* Both at once, but only unc without qp. A NaT fails every kind of and, and does nothing to or. */
void naive_predicates(bool p[2], bool qp, enum naive_ctype ctype, bool result, bool nat)
{
	if (!qp) {
		if (ctype == NAIVE_UNC)
			p[0] = p[1] = false;
		return;
	}
	switch (ctype) {
	case NAIVE_NORMAL:
	case NAIVE_UNC:
		p[0] = result && !nat;
		p[1] = !result && !nat;
		break;
	case NAIVE_AND:
		if (nat || !result)
			p[0] = p[1] = false;
		break;
	case NAIVE_ANDCM:
		if (nat || result)
			p[0] = p[1] = false;
		break;
	case NAIVE_OR:
		if (!nat && result)
			p[0] = p[1] = true;
		break;
	case NAIVE_ORCM:
		if (!nat && !result)
			p[0] = p[1] = true;
		break;
	case NAIVE_OR_ANDCM:
		if (!nat && result) {
			p[0] = true;
			p[1] = false;
		}
		break;
	case NAIVE_AND_ORCM:
		if (!nat && !result) {
			p[0] = false;
			p[1] = true;
		}
		break;
	}
}
