/* Integer arithmetic, shifts, bit fields, compares, tests. */
#include "feed/ia64/handlers.h"
#include "feed/ia64/ops.h"

#define R2   (c->gr[o->r2])
#define R3   (c->gr[o->r3])
#define NAT2 (nats && c->nat[o->r2])
#define NAT3 (nats && c->nat[o->r3])

/* r1 = f(r2, r3), f(imm, r3), f(r2), f(r3): NaT if a source is. */
#define OP_RR(name, value)                                                                         \
	OP(name)                                                                                   \
	{                                                                                          \
		set_gr(c, o->r1, value, NAT2 || NAT3, nats);                                       \
		(void)predicated;                                                                  \
		return o + 1;                                                                      \
	}
#define OP_R2(name, value)                                                                         \
	OP(name)                                                                                   \
	{                                                                                          \
		set_gr(c, o->r1, value, NAT2, nats);                                               \
		(void)predicated;                                                                  \
		return o + 1;                                                                      \
	}
#define OP_R3(name, value)                                                                         \
	OP(name)                                                                                   \
	{                                                                                          \
		set_gr(c, o->r1, value, NAT3, nats);                                               \
		(void)predicated;                                                                  \
		return o + 1;                                                                      \
	}

/* A 32-bit pointer: the sum's low half, its region from bits 31:30 of the second operand. */
static inline uint64_t pointer(uint64_t sum, uint64_t base)
{
	return (sum & 0xFFFFFFFF) | (base >> 30 & 3) << 61;
}

static inline uint64_t shift_left(uint64_t v, uint64_t n)
{
	return n > 63 ? 0 : v << n;
}

static inline uint64_t shift_right(uint64_t v, uint64_t n)
{
	return n > 63 ? 0 : v >> n;
}

static inline uint64_t shift_signed(uint64_t v, uint64_t n)
{
	return (int64_t)v >> (n > 63 ? 63 : n);
}

/* Index of the first zero element of `width` bits from the right; elements if there is none. */
static inline uint64_t zero_from_right(uint64_t v, unsigned width)
{
	unsigned i = 0;

	while (i < 64 / width && v << (64 - width - i * width) >> (64 - width))
		i++;
	return i;
}

static inline uint64_t zero_from_left(uint64_t v, unsigned width)
{
	unsigned i = 0;

	while (i < 64 / width && v << (i * width) >> (64 - width))
		i++;
	return i;
}

OP_RR(add, R2 + R3)
OP_RR(add1, R2 + R3 + 1)
OP_RR(sub, R2 - R3)
OP_RR(sub1, R2 - R3 - 1)
OP_RR(addp4, pointer(R2 + R3, R3))
OP_RR(and, R2 &R3)
OP_RR(andcm, R2 & ~R3)
OP_RR(or, R2 | R3)
OP_RR(xor, R2 ^ R3)
OP_RR(shladd, (R2 << o->imm) + R3)
OP_RR(shladdp4, pointer((R2 << o->imm) + R3, R3))
OP_R3(addi, o->uimm + R3)
OP_R3(mov, R3)
OP_R3(subi, o->uimm - R3)
OP_R3(addp4i, pointer(o->uimm + R3, R3))
OP_R3(andi, o->uimm &R3)
OP_R3(andcmi, o->uimm & ~R3)
OP_R3(ori, o->uimm | R3)
OP_R3(xori, o->uimm ^ R3)
OP_RR(shl, shift_left(R2, R3))
OP_RR(shr, shift_signed(R3, R2))
OP_RR(shr_u, shift_right(R3, R2))
OP_RR(shrp, o->imm ? R3 >> o->imm | R2 << (64 - o->imm) : R3)
/* r4: position; imm: mask of the field at bit 0; p1: its length */
OP_R3(extr, (int64_t)(R3 << (64 - o->r4 - o->p1)) >> (64 - o->p1))
OP_R3(extr_u, R3 >> o->r4 & o->uimm)
OP_R2(dep_z, (R2 & o->uimm) << o->r4)
OP_RR(dep, (R3 & ~(o->uimm << o->r4)) | (R2 & o->uimm) << o->r4)
/* imm: the mask in place */
OP_R3(dep_ones, R3 | o->uimm)
OP_R3(dep_zeros, R3 & ~o->uimm)
OP_R3(zxt1, (uint8_t)R3)
OP_R3(zxt2, (uint16_t)R3)
OP_R3(zxt4, (uint32_t)R3)
OP_R3(sxt1, (uint64_t)(int8_t)R3)
OP_R3(sxt2, (uint64_t)(int16_t)R3)
OP_R3(sxt4, (uint64_t)(int32_t)R3)
OP_R3(popcnt, __builtin_popcountll(R3))
OP_R3(czx1l, zero_from_left(R3, 8))
OP_R3(czx1r, zero_from_right(R3, 8))
OP_R3(czx2l, zero_from_left(R3, 16))
OP_R3(czx2r, zero_from_right(R3, 16))

OP(movl)
{
	set_gr(c, o->r1, o->uimm, false, nats);
	UNUSED_OP;
	return o + 1;
}

/* Compares. Operand a is a register or an immediate; a NaT source clears both predicates. */
#define OP_CMP(name, a, nat, relation)                                                             \
	OP(name)                                                                                   \
	{                                                                                          \
		uint64_t x = a, y = R3;                                                            \
		bool holds = relation;                                                             \
		bool known = !(nat);                                                               \
                                                                                                   \
		c->pr[o->p1] = holds && known;                                                     \
		c->pr[o->p2] = !holds && known;                                                    \
		(void)predicated;                                                                  \
		return o + 1;                                                                      \
	}                                                                                          \
	OP_ALWAYS(name##_unc)                                                                      \
	{                                                                                          \
		uint64_t x = a, y = R3;                                                            \
		bool holds = relation;                                                             \
		bool on = (!predicated || c->pr[o->qp]) && !(nat);                                 \
                                                                                                   \
		c->pr[o->p1] = holds && on;                                                        \
		c->pr[o->p2] = !holds && on;                                                       \
		return o + 1;                                                                      \
	}
#define OP_CMPS(name, relation)                                                                    \
	OP_CMP(name, R2, NAT2 || NAT3, relation)                                                   \
	OP_CMP(name##_i, o->uimm, NAT3, relation)

OP_CMPS(cmp_lt, (int64_t)x < (int64_t)y)
OP_CMPS(cmp_ltu, x < y)
OP_CMPS(cmp_eq, x == y)
OP_CMPS(cmp4_lt, (int32_t)x < (int32_t)y)
OP_CMPS(cmp4_ltu, (uint32_t)x < (uint32_t)y)
OP_CMPS(cmp4_eq, (uint32_t)x == (uint32_t)y)

/* Parallel compares: o->c is the relation, with IA64_REL_4 of the low halves. */
static inline bool related(unsigned rel, uint64_t a, uint64_t b)
{
	int64_t x = rel & IA64_REL_4 ? (int32_t)a : (int64_t)a;
	int64_t y = rel & IA64_REL_4 ? (int32_t)b : (int64_t)b;

	switch (rel & ~IA64_REL_4) {
	case IA64_REL_EQ:
		return x == y;
	case IA64_REL_NE:
		return x != y;
	case IA64_REL_GT:
		return x > y;
	case IA64_REL_LE:
		return x <= y;
	case IA64_REL_GE:
		return x >= y;
	default:
		return x < y;
	}
}

static inline void parallel_and(struct ia64_cpu *c, const struct ia64_op *o, bool holds)
{
	if (!holds)
		c->pr[o->p1] = c->pr[o->p2] = 0;
}

static inline void parallel_or(struct ia64_cpu *c, const struct ia64_op *o, bool holds)
{
	if (holds)
		c->pr[o->p1] = c->pr[o->p2] = 1;
}

static inline void parallel_andcm(struct ia64_cpu *c, const struct ia64_op *o, bool holds)
{
	if (holds) {
		c->pr[o->p1] = 1;
		c->pr[o->p2] = 0;
	}
}

#define OP_PARALLEL(kind, name, nat, test)                                                         \
	OP(name)                                                                                   \
	{                                                                                          \
		parallel_##kind(c, o, !(nat) && (test));                                           \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}
#define OP_PARALLELS(kind)                                                                         \
	OP_PARALLEL(kind, cmp_##kind, NAT2 || NAT3, related(o->c, R2, R3))                         \
	OP_PARALLEL(kind, cmp_##kind##_i, NAT3, related(o->c, o->uimm, R3))                        \
	/* c: the value of the bit that makes it true */                                           \
	OP_PARALLEL(kind, tbit_##kind, NAT3, (R3 >> o->imm & 1) == o->c)                           \
	OP_PARALLEL(kind, tnat_##kind, false, (nats && c->nat[o->r3]) == o->c)                     \
	/* imm: the feature's bit */                                                               \
	OP_PARALLEL(kind, tf_##kind, false, o->imm == o->c)

OP_PARALLELS(and)
OP_PARALLELS(or)
OP_PARALLELS(andcm)

/* p1 if the bit is 0, p2 if it is 1; c: .unc */
#define OP_TEST(name, nat, bit)                                                                    \
	OP_ALWAYS(name)                                                                            \
	{                                                                                          \
		if (!predicated || c->pr[o->qp]) {                                                 \
			bool one = bit;                                                            \
			bool known = !(nat);                                                       \
                                                                                                   \
			c->pr[o->p1] = !one && known;                                              \
			c->pr[o->p2] = one && known;                                               \
		} else if (o->c) {                                                                 \
			c->pr[o->p1] = c->pr[o->p2] = 0;                                           \
		}                                                                                  \
		(void)nats;                                                                        \
		return o + 1;                                                                      \
	}

OP_TEST(tbit, NAT3, R3 >> o->imm & 1)
OP_TEST(tnat, false, nats && c->nat[o->r3])
OP_TEST(tf, false, o->imm)
