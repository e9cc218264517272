/* Loads and stores of floating-point registers, and moves between them and general registers. */
#include "feed/ia64/alat.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/ops.h"

#define R2 (c->gr[o->r2])
#define R3 (c->gr[o->r3])

#define CONSUME(r)                                                                                 \
	do {                                                                                       \
		if (nats && UNLIKELY(c->nat[r]))                                                   \
			return ia64_raise(c, o, IA64_FAULT_NAT);                                   \
	} while (0)

static inline void set_fr(struct ia64_cpu *c, unsigned f, struct ia64_fr value)
{
	c->fr[ia64_fr_index(c, f)] = value;
	c->um |= f < 32 ? IA64_UM_MFL : IA64_UM_MFH;
}

static inline void increment(struct ia64_cpu *c, struct ia64_op *o, const bool nats)
{
	unsigned kind = o->c & IA64_INC_MASK;

	if (kind == IA64_INC_REG)
		set_gr(c, o->r3, R3 + R2, nats && (c->nat[o->r2] | c->nat[o->r3]), nats);
	else if (kind == IA64_INC_IMM)
		set_gr(c, o->r3, R3 + o->uimm, nats && c->nat[o->r3], nats);
}

/* By IA64_FSIZE_*, which are the encoding's. */
static const uint8_t bytes[] = {10, 8, 4, 8, 16};

static inline __attribute__((always_inline)) struct ia64_fr fetch(const struct ia64_cpu *c,
								  uint64_t address, unsigned size)
{
	const char *host = ia64_host(c, address);
	uint64_t low, high;
	uint32_t single;
	uint16_t se;

	switch (size) {
	case IA64_FSIZE_S:
		memcpy(&single, host, 4);
		return ia64_fr_from_single(single);
	case IA64_FSIZE_D:
		memcpy(&low, host, 8);
		return ia64_fr_from_double(low);
	case IA64_FSIZE_8:
		memcpy(&low, host, 8);
		return ia64_fr_from_integer(low);
	case IA64_FSIZE_E:
		memcpy(&low, host, 8);
		memcpy(&se, host + 8, 2);
		return ia64_fr_from_extended(low, se);
	default:
		memcpy(&low, host, 8);
		memcpy(&high, host + 8, 8);
		return (struct ia64_fr){low, high & (IA64_FR_SIGN | IA64_FR_EXP)};
	}
}

#define OP_LOAD_F(name, size)                                                                      \
	OP(name)                                                                                   \
	{                                                                                          \
		struct ia64_fr value;                                                              \
                                                                                                   \
		CONSUME(o->r3);                                                                    \
		ia64_may_fault(c, o);                                                              \
		value = fetch(c, R3, size);                                                        \
		set_fr(c, o->r1, value);                                                           \
		increment(c, o, nats);                                                             \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}

OP_LOAD_F(ldfs, IA64_FSIZE_S)
OP_LOAD_F(ldfd, IA64_FSIZE_D)
OP_LOAD_F(ldf8, IA64_FSIZE_8)
OP_LOAD_F(ldfe, IA64_FSIZE_E)
OP_LOAD_F(ldf_fill, IA64_FSIZE_FILL)

#define OP_STORE_F(name, size, code)                                                               \
	OP(name)                                                                                   \
	{                                                                                          \
		const struct ia64_fr *f = &c->fr[ia64_fr_index(c, o->r2)];                         \
		char *host = ia64_host(c, R3);                                                     \
                                                                                                   \
		CONSUME(o->r3);                                                                    \
		if (size != 16 && UNLIKELY(ia64_fr_is_natval(f)))                                  \
			return ia64_raise(c, o, IA64_FAULT_NAT);                                   \
		ia64_may_fault(c, o);                                                              \
		code;                                                                              \
		__asm__ volatile("" ::: "memory");                                                 \
		ia64_alat_store(c, R3, size);                                                      \
		increment(c, o, nats);                                                             \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}

OP_STORE_F(stfs, 4, uint32_t v = ia64_fr_to_single(f); memcpy(host, &v, 4))
OP_STORE_F(stfd, 8, uint64_t v = ia64_fr_to_double(f); memcpy(host, &v, 8))
OP_STORE_F(stf8, 8, memcpy(host, &f->sig, 8))
OP_STORE_F(stfe, 10, uint16_t v = ia64_fr_to_extended(f); memcpy(host, &f->sig, 8);
	   memcpy(host + 8, &v, 2))
OP_STORE_F(stf_spill, 16, memcpy(host, &f->sig, 8); memcpy(host + 8, &f->se, 8))

static bool is_pair(const struct ia64_op *o)
{
	return o->p1;
}

/* f1 and, of a pair, f2 become NaTVal. */
static struct ia64_op *defer_load(struct ia64_cpu *c, struct ia64_op *o)
{
	if (o->c >> IA64_LD_TYPE == IA64_LD_SA)
		ia64_alat_remove(c, ia64_alat_fr(c, o->r1));
	set_fr(c, o->r1, IA64_FR_NATVAL);
	if (is_pair(o))
		set_fr(c, o->r4, IA64_FR_NATVAL);
	increment(c, o, c->nats);
	return o + 1;
}

struct ia64_op *ia64_defer_fp(struct ia64_cpu *c, struct ia64_op *o)
{
	return defer_load(c, o);
}

/* Speculative, advanced and check loads, and all loads of pairs: p2 is the size, p1 set for a pair,
 * whose second register is r4. */
OP(ldfx)
{
	unsigned size = o->p2, type = o->c >> IA64_LD_TYPE, tag = ia64_alat_fr(c, o->r1);
	unsigned total = bytes[size] * (is_pair(o) ? 2u : 1u);
	bool defers = type == IA64_LD_S || type == IA64_LD_SA, checks = type >= IA64_LD_C_CLR;
	uint64_t address = R3;

	(void)predicated;
	if (nats && c->nat[o->r3]) {
		if (!defers)
			return ia64_raise(c, o, IA64_FAULT_NAT);
		return defer_load(c, o);
	}
	if (defers && !ia64_host_valid(c, address))
		return defer_load(c, o);
	if (checks && ia64_alat_matches(c, tag, address, total)) {
		if (type == IA64_LD_C_CLR)
			ia64_alat_remove(c, tag);
	} else {
		struct ia64_fr first, second = IA64_FR_ZERO;

		c->defer = defers;
		ia64_may_fault(c, o);
		first = fetch(c, address, size);
		if (is_pair(o))
			second = fetch(c, address + bytes[size], size);
		c->defer = false;
		set_fr(c, o->r1, first);
		if (is_pair(o))
			set_fr(c, o->r4, second);
		if (type == IA64_LD_A || type == IA64_LD_SA || type == IA64_LD_C_NC)
			ia64_alat_insert(c, tag, address, total);
		else if (checks)
			ia64_alat_remove(c, tag);
	}
	increment(c, o, nats);
	return o + 1;
}

#define OP_SETF(name, value)                                                                       \
	OP(name)                                                                                   \
	{                                                                                          \
		set_fr(c, o->r1, nats && c->nat[o->r2] ? IA64_FR_NATVAL : (value));                \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}

OP_SETF(setf_sig, ia64_fr_from_integer(R2))
OP_SETF(setf_exp, ia64_fr_from_exponent(R2))
OP_SETF(setf_s, ia64_fr_from_single(R2))
OP_SETF(setf_d, ia64_fr_from_double(R2))

#define OP_GETF(name, value)                                                                       \
	OP(name)                                                                                   \
	{                                                                                          \
		const struct ia64_fr *f = &c->fr[ia64_fr_index(c, o->r2)];                         \
                                                                                                   \
		set_gr(c, o->r1, value, false, nats);                                              \
		UNUSED_OP;                                                                         \
		if (UNLIKELY(ia64_fr_is_natval(f)))                                                \
			return ia64_write_nat(c, o, o->r1, c->gr[o->r1]);                          \
		return o + 1;                                                                      \
	}

OP_GETF(getf_sig, f->sig)
OP_GETF(getf_exp, f->se)
OP_GETF(getf_s, ia64_fr_to_single(f))
OP_GETF(getf_d, ia64_fr_to_double(f))
