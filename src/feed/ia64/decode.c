#include "feed/ia64/decode.h"

#include <string.h>

enum { M = IA64_UNIT_M, I = IA64_UNIT_I, B = IA64_UNIT_B, F = IA64_UNIT_F, X = IA64_UNIT_X };

#define NO_UNIT 7

/* Units of the slots and after which slots a stop stands, by template without its last bit, which
 * adds a stop at the end. Volume 3, table 4-4. */
static const struct {
	uint8_t unit[3], stops;
} templates[16] = {
    [0x00 / 2] = {{M, I, I}, 0},
    [0x02 / 2] = {{M, I, I}, 2},
    [0x04 / 2] = {{M, X, NO_UNIT}, 0},
    [0x06 / 2] = {{NO_UNIT, NO_UNIT, NO_UNIT}, 0},
    [0x08 / 2] = {{M, M, I}, 0},
    [0x0A / 2] = {{M, M, I}, 1},
    [0x0C / 2] = {{M, F, I}, 0},
    [0x0E / 2] = {{M, M, F}, 0},
    [0x10 / 2] = {{M, I, B}, 0},
    [0x12 / 2] = {{M, B, B}, 0},
    [0x14 / 2] = {{NO_UNIT, NO_UNIT, NO_UNIT}, 0},
    [0x16 / 2] = {{B, B, B}, 0},
    [0x18 / 2] = {{M, M, B}, 0},
    [0x1A / 2] = {{NO_UNIT, NO_UNIT, NO_UNIT}, 0},
    [0x1C / 2] = {{M, F, B}, 0},
    [0x1E / 2] = {{NO_UNIT, NO_UNIT, NO_UNIT}, 0},
};

static uint64_t bits(uint64_t word, unsigned hi, unsigned lo)
{
	return word >> lo & ((1ull << (hi - lo + 1)) - 1);
}

/* An immediate whose sign is bit `sign` of the word and stands above the low `width` bits. */
static int64_t with_sign(uint64_t word, unsigned sign, uint64_t low, unsigned width)
{
	return (int64_t)low - (int64_t)((word >> sign & 1) << width);
}

static uint64_t slot_bits(const struct ia64_bundle *b, unsigned slot)
{
	switch (slot) {
	case 0:
		return bits(b->low, 45, 5);
	case 1:
		return b->low >> 46 | bits(b->high, 22, 0) << 18;
	default:
		return b->high >> 23;
	}
}

/* Distance to a branch's target: 21 bits, in bundles. */
static int64_t distance(uint64_t w, uint64_t low20)
{
	return with_sign(w, 36, low20, 20) * 16;
}

static int64_t imm_long(enum ia64_format format, uint64_t w, uint64_t wide)
{
	uint64_t i = bits(w, 36, 36);

	switch (format) {
	case IA64_FORMAT_X2:
		return i << 63 | wide << 22 | bits(w, 21, 21) << 21 | bits(w, 26, 22) << 16 |
		       bits(w, 35, 27) << 7 | bits(w, 19, 13);
	case IA64_FORMAT_X3:
	case IA64_FORMAT_X4:
		return (i << 59 | bits(wide, 40, 2) << 20 | bits(w, 32, 13)) << 4;
	default:
		return wide << 21 | i << 20 | bits(w, 25, 6);
	}
}

static int64_t imm_memory(enum ia64_format format, uint64_t w)
{
	static const int8_t increments[8] = {16, 8, 4, 1, -16, -8, -4, -1};

	switch (format) {
	case IA64_FORMAT_M3:
	case IA64_FORMAT_M8:
	case IA64_FORMAT_M15:
		return with_sign(w, 36, bits(w, 27, 27) << 7 | bits(w, 19, 13), 8);
	case IA64_FORMAT_M5:
	case IA64_FORMAT_M10:
		return with_sign(w, 36, bits(w, 27, 27) << 7 | bits(w, 12, 6), 8);
	case IA64_FORMAT_M17:
		return increments[bits(w, 15, 13)];
	case IA64_FORMAT_M20:
	case IA64_FORMAT_M21:
		return distance(w, bits(w, 32, 20) << 7 | bits(w, 12, 6));
	case IA64_FORMAT_M22:
	case IA64_FORMAT_M23:
		return distance(w, bits(w, 32, 13));
	case IA64_FORMAT_M30:
		return with_sign(w, 36, bits(w, 19, 13), 7);
	case IA64_FORMAT_M34: /* sof, sol, sor as they stand in CFM */
		return bits(w, 19, 13) | bits(w, 26, 20) << 7 | bits(w, 30, 27) << 14;
	case IA64_FORMAT_M37:
	case IA64_FORMAT_M48:
		return bits(w, 36, 36) << 20 | bits(w, 25, 6);
	case IA64_FORMAT_M39:
	case IA64_FORMAT_M40:
		return bits(w, 14, 13);
	case IA64_FORMAT_M44:
		return bits(w, 36, 36) << 23 | bits(w, 32, 31) << 21 | bits(w, 26, 6);
	default:
		return 0;
	}
}

static int64_t imm_integer(enum ia64_format format, uint64_t w)
{
	static const uint8_t multiply_shifts[4] = {0, 7, 15, 16};

	switch (format) {
	case IA64_FORMAT_A2:
	case IA64_FORMAT_A10:
		return bits(w, 28, 27) + 1;
	case IA64_FORMAT_A3:
	case IA64_FORMAT_A8:
	case IA64_FORMAT_I13:
	case IA64_FORMAT_I27:
		return with_sign(w, 36, bits(w, 19, 13), 7);
	case IA64_FORMAT_A4:
		return with_sign(w, 36, bits(w, 32, 27) << 7 | bits(w, 19, 13), 13);
	case IA64_FORMAT_A5:
		return with_sign(
		    w, 36, bits(w, 26, 22) << 16 | bits(w, 35, 27) << 7 | bits(w, 19, 13), 21);
	case IA64_FORMAT_I1:
		return multiply_shifts[bits(w, 31, 30)];
	case IA64_FORMAT_I3:
		return bits(w, 23, 20);
	case IA64_FORMAT_I4:
		return bits(w, 27, 20);
	case IA64_FORMAT_I6:
	case IA64_FORMAT_I30:
		return bits(w, 18, 14);
	case IA64_FORMAT_I8:
		return 31 - bits(w, 24, 20);
	case IA64_FORMAT_I10:
		return bits(w, 32, 27);
	case IA64_FORMAT_I14:
		return -(int64_t)bits(w, 36, 36);
	case IA64_FORMAT_I16:
		return bits(w, 19, 14);
	case IA64_FORMAT_I18:
	case IA64_FORMAT_I19:
		return bits(w, 36, 36) << 20 | bits(w, 25, 6);
	case IA64_FORMAT_I20:
		return distance(w, bits(w, 32, 20) << 7 | bits(w, 12, 6));
	case IA64_FORMAT_I23:
		return with_sign(w, 36, bits(w, 31, 24) << 8 | bits(w, 12, 6) << 1, 16);
	case IA64_FORMAT_I24:
		return with_sign(w, 36, bits(w, 32, 6) << 16, 43);
	default:
		return 0;
	}
}

static int64_t imm_other(enum ia64_format format, uint64_t w)
{
	switch (format) {
	case IA64_FORMAT_B1:
	case IA64_FORMAT_B2:
	case IA64_FORMAT_B3:
	case IA64_FORMAT_B6:
		return distance(w, bits(w, 32, 13));
	case IA64_FORMAT_F14:
		return distance(w, bits(w, 25, 6));
	case IA64_FORMAT_B9:
	case IA64_FORMAT_F15:
	case IA64_FORMAT_F16:
		return bits(w, 36, 36) << 20 | bits(w, 25, 6);
	case IA64_FORMAT_F5:
		return bits(w, 26, 20) << 2 | bits(w, 34, 33);
	case IA64_FORMAT_F12: /* amask7, omask7 above it */
		return bits(w, 19, 13) | bits(w, 26, 20) << 7;
	default:
		return 0;
	}
}

/* Position and length of the bit fields: position in r4, length in p1. */
static void fields(struct ia64_insn *n, uint64_t w)
{
	switch (n->format) {
	case IA64_FORMAT_I11:
		n->r4 = bits(w, 19, 14);
		n->p1 = bits(w, 32, 27) + 1;
		break;
	case IA64_FORMAT_I12:
	case IA64_FORMAT_I13:
		n->r4 = 63 - bits(w, 25, 20);
		n->p1 = bits(w, 32, 27) + 1;
		break;
	case IA64_FORMAT_I14:
		n->r4 = 63 - bits(w, 19, 14);
		n->p1 = bits(w, 32, 27) + 1;
		break;
	case IA64_FORMAT_I15:
		n->r4 = 63 - bits(w, 36, 31);
		n->p1 = bits(w, 30, 27) + 1;
		break;
	default:
		break;
	}
}

static void operands(struct ia64_insn *n, uint64_t w, uint64_t wide)
{
	enum ia64_format f = n->format;

	n->qp = bits(w, 5, 0);
	n->r1 = bits(w, 12, 6);
	n->r2 = bits(w, 19, 13);
	n->r3 = bits(w, 26, 20);
	n->r4 = bits(w, 33, 27);
	n->p1 = bits(w, 11, 6);
	n->p2 = bits(w, 32, 27);
	if (f >= IA64_FORMAT_A1 && f <= IA64_FORMAT_I30)
		n->imm = imm_integer(f, w);
	else if (f >= IA64_FORMAT_M1 && f <= IA64_FORMAT_M48)
		n->imm = imm_memory(f, w);
	else if (f >= IA64_FORMAT_X1)
		n->imm = imm_long(f, w, wide);
	else
		n->imm = imm_other(f, w);
	if (f == IA64_FORMAT_A5)
		n->r3 &= 3;
	if (f == IA64_FORMAT_I21 || f == IA64_FORMAT_B3 || f == IA64_FORMAT_B5 ||
	    f == IA64_FORMAT_X4)
		n->r1 &= 7;
	if (f == IA64_FORMAT_I22 || f == IA64_FORMAT_B4 || f == IA64_FORMAT_B5)
		n->r2 &= 7;
	if (f == IA64_FORMAT_B6 || f == IA64_FORMAT_B7 || f == IA64_FORMAT_B8 ||
	    f == IA64_FORMAT_B2 || f == IA64_FORMAT_M25)
		n->qp = 0;
	fields(n, w);
}

unsigned ia64_slots(const struct ia64_bundle *bundle)
{
	return templates[bits(bundle->low, 4, 0) / 2].unit[1] == X ? 2 : 3;
}

bool ia64_decode(struct ia64_insn *n, const struct ia64_bundle *bundle, uint64_t ip, unsigned slot)
{
	unsigned t = bits(bundle->low, 4, 0);
	unsigned unit = templates[t / 2].unit[slot];
	uint64_t w = slot_bits(bundle, unit == X ? 2 : slot);
	uint64_t wide = slot_bits(bundle, 1);
	const uint16_t *list;

	memset(n, 0, sizeof(*n));
	n->ip = ip;
	n->slot = slot;
	n->qp = bits(w, 5, 0);
	if (unit == NO_UNIT) {
		n->qp = 0;
		return false;
	}
	n->stop = slot + 1 == ia64_slots(bundle) ? t & 1 : templates[t / 2].stops == slot + 1;
	list = ia64_by_major[unit][bits(w, 40, 37)];
	while (*list && (w & ia64_encodings[*list].mask) != ia64_encodings[*list].value)
		list++;
	n->encoding = *list;
	n->op = ia64_encodings[*list].op;
	n->format = ia64_encodings[*list].format;
	memcpy(n->c, ia64_encodings[*list].c, sizeof(n->c));
	if (!*list) /* reserved: which opcodes of the B unit fault whatever qp, table 4-2 */
		n->qp = unit == B && bits(w, 40, 37) == 0 ? 0 : n->qp;
	else
		operands(n, w, wide);
	if (n->format == IA64_FORMAT_M25 && bits(w, 5, 0)) { /* flushrs, loadrs need qp 0 */
		n->encoding = 0;
		n->op = IA64_ILLEGAL;
	}
	return n->encoding != 0;
}
