/* Loads, stores and semaphores of general registers, and moves between register files. */
#include "feed/ia64/alat.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/ops.h"

#include <emmintrin.h>

#define R2 (c->gr[o->r2])
#define R3 (c->gr[o->r3])

/* A NaT as an address, and what is consumed rather than passed on. */
#define CONSUME(r)                                                                                 \
	do {                                                                                       \
		if (nats && UNLIKELY(c->nat[r]))                                                   \
			return ia64_raise(c, o, IA64_FAULT_NAT);                                   \
	} while (0)

static inline __attribute__((always_inline)) uint64_t peek(const struct ia64_cpu *c,
							   uint64_t address, unsigned size)
{
	const void *host = ia64_host(c, address);
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 1:
		return *(const volatile uint8_t *)host;
	case 2:
		memcpy(&v2, host, 2);
		return v2;
	case 4:
		memcpy(&v4, host, 4);
		return v4;
	default:
		memcpy(&v8, host, 8);
		return v8;
	}
}

static inline __attribute__((always_inline)) void poke(struct ia64_cpu *c, uint64_t address,
						       uint64_t value, unsigned size)
{
	memcpy(ia64_host(c, address), &value, size);
	__asm__ volatile("" ::: "memory");
}

static struct ia64_op *unaligned(struct ia64_cpu *c, struct ia64_op *o, uint64_t address)
{
	c->fault_address = address;
	return ia64_raise(c, o, IA64_FAULT_UNALIGNED);
}

/* Where r3 goes on: kinds of operation by the low bits of o->c. */
static inline __attribute__((always_inline)) void increment(struct ia64_cpu *c, struct ia64_op *o,
							    unsigned kind, const bool nats)
{
	if (kind == IA64_INC_REG)
		set_gr(c, o->r3, R3 + R2, nats && (c->nat[o->r2] | c->nat[o->r3]), nats);
	else if (kind == IA64_INC_IMM)
		set_gr(c, o->r3, R3 + o->uimm, nats && c->nat[o->r3], nats);
}

#define OP_LOAD(name, size, kind)                                                                  \
	OP(name)                                                                                   \
	{                                                                                          \
		uint64_t value;                                                                    \
                                                                                                   \
		CONSUME(o->r3);                                                                    \
		ia64_may_fault(c, o);                                                              \
		value = peek(c, R3, size);                                                         \
		set_gr(c, o->r1, value, false, nats);                                              \
		increment(c, o, kind, nats);                                                       \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}
#define OP_LOADS(size)                                                                             \
	OP_LOAD(ld##size, size, IA64_INC_NONE)                                                     \
	OP_LOAD(ld##size##_r, size, IA64_INC_REG)                                                  \
	OP_LOAD(ld##size##_i, size, IA64_INC_IMM)

OP_LOADS(1)
OP_LOADS(2)
OP_LOADS(4)
OP_LOADS(8)

#define OP_STORE(name, size, kind)                                                                 \
	OP(name)                                                                                   \
	{                                                                                          \
		CONSUME(o->r3);                                                                    \
		CONSUME(o->r2);                                                                    \
		ia64_may_fault(c, o);                                                              \
		poke(c, R3, R2, size);                                                             \
		ia64_alat_store(c, R3, size);                                                      \
		increment(c, o, kind, nats);                                                       \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}
#define OP_STORES(size)                                                                            \
	OP_STORE(st##size, size, IA64_INC_NONE)                                                    \
	OP_STORE(st##size##_i, size, IA64_INC_IMM)

OP_STORES(1)
OP_STORES(2)
OP_STORES(4)
OP_STORES(8)

/* Writes a NaT; without NaT bits so far, code is run from now on that looks at them. */
struct ia64_op *ia64_write_nat(struct ia64_cpu *c, struct ia64_op *o, unsigned r, uint64_t value)
{
	c->gr[r] = value;
	c->nat[r] = 1;
	if (c->nats)
		return o + 1;
	c->nats = true;
	return ia64_again(c, o);
}

static struct ia64_op *defer_load(struct ia64_cpu *c, struct ia64_op *o)
{
	const bool nats = true;

	if (o->c >> IA64_LD_TYPE == IA64_LD_SA)
		ia64_alat_remove(c, ia64_alat_gr(c, o->r1));
	increment(c, o, o->c & IA64_INC_MASK, nats);
	return ia64_write_nat(c, o, o->r1, 0);
}

static inline bool reachable(const struct ia64_cpu *c, uint64_t address)
{
	return ia64_host_valid(c, address);
}

/* Speculative, advanced and check loads. */
static inline __attribute__((always_inline)) struct ia64_op *
speculative(struct ia64_cpu *c, struct ia64_op *o, const bool nats)
{
	unsigned size = 1u << (o->c >> IA64_LD_SIZE & 3), type = o->c >> IA64_LD_TYPE;
	bool defers = type == IA64_LD_S || type == IA64_LD_SA;
	bool checks = type >= IA64_LD_C_CLR;
	uint64_t address = R3, value;

	if (nats && c->nat[o->r3]) {
		if (!defers)
			return ia64_raise(c, o, IA64_FAULT_NAT);
		return defer_load(c, o);
	}
	if (defers && !reachable(c, address))
		return defer_load(c, o);
	if (checks && ia64_alat_matches(c, ia64_alat_gr(c, o->r1), address, size)) {
		if (type != IA64_LD_C_NC)
			ia64_alat_remove(c, ia64_alat_gr(c, o->r1));
	} else {
		c->defer = defers;
		ia64_may_fault(c, o);
		value = peek(c, address, size);
		c->defer = false;
		set_gr(c, o->r1, value, false, nats);
		if (type == IA64_LD_A || type == IA64_LD_SA || type == IA64_LD_C_NC)
			ia64_alat_insert(c, ia64_alat_gr(c, o->r1), address, size);
		else if (checks)
			ia64_alat_remove(c, ia64_alat_gr(c, o->r1));
	}
	increment(c, o, o->c & IA64_INC_MASK, nats);
	return o + 1;
}

OP(lds)
{
	(void)predicated;
	return speculative(c, o, nats);
}

/* What the loop calls when such a load faulted on the host. */
struct ia64_op *ia64_defer(struct ia64_cpu *c, struct ia64_op *o)
{
	c->defer = false;
	return o->run == ia64_op_lds[0] || o->run == ia64_op_lds[1] || o->run == ia64_op_lds[2] ||
		       o->run == ia64_op_lds[3]
		   ? defer_load(c, o)
		   : ia64_defer_fp(c, o);
}

OP(ld8_fill)
{
	uint64_t address = R3, value;
	unsigned bit = address >> 3 & 63;

	CONSUME(o->r3);
	ia64_may_fault(c, o);
	value = peek(c, address, 8);
	(void)predicated;
	increment(c, o, o->c & IA64_INC_MASK, nats);
	if (UNLIKELY(c->unat >> bit & 1))
		return ia64_write_nat(c, o, o->r1, value);
	set_gr(c, o->r1, value, false, nats);
	return o + 1;
}

OP(st8_spill)
{
	uint64_t address = R3, bit = 1ull << (address >> 3 & 63);

	CONSUME(o->r3);
	ia64_may_fault(c, o);
	poke(c, address, R2, 8);
	ia64_alat_store(c, address, 8);
	c->unat = nats && c->nat[o->r2] ? c->unat | bit : c->unat & ~bit;
	increment(c, o, o->c & IA64_INC_MASK, nats);
	UNUSED_OP;
	return o + 1;
}

/* 16 bytes at once: an aligned vector access, which processors with AVX do in one piece. */
OP(ld16)
{
	uint64_t pair[2], address = R3;

	CONSUME(o->r3);
	(void)predicated;
	if (address % 16)
		return unaligned(c, o, address);
	ia64_may_fault(c, o);
	_mm_storeu_si128((__m128i *)pair, _mm_load_si128(ia64_host(c, address)));
	set_gr(c, o->r1, pair[0], false, nats);
	c->csd = pair[1];
	return o + 1;
}

OP(st16)
{
	uint64_t address = R3;

	CONSUME(o->r3);
	CONSUME(o->r2);
	(void)predicated;
	if (address % 16)
		return unaligned(c, o, address);
	ia64_may_fault(c, o);
	_mm_store_si128(ia64_host(c, address), _mm_set_epi64x((int64_t)c->csd, (int64_t)R2));
	ia64_alat_store(c, address, 16);
	return o + 1;
}

#define OP_SEMAPHORE(name, size, type, action)                                                     \
	OP(name)                                                                                   \
	{                                                                                          \
		uint64_t address = R3;                                                             \
		type *host = ia64_host(c, address), old;                                           \
                                                                                                   \
		CONSUME(o->r3);                                                                    \
		(void)predicated;                                                                  \
		if (address % size)                                                                \
			return unaligned(c, o, address);                                           \
		ia64_may_fault(c, o);                                                              \
		action;                                                                            \
		__asm__ volatile("" ::: "memory");                                                 \
		ia64_alat_store(c, address, size);                                                 \
		set_gr(c, o->r1, old, false, nats);                                                \
		return o + 1;                                                                      \
	}

/* Memory is compared zero-extended with all of ar.ccv. */
#define COMPARE_EXCHANGE(type)                                                                     \
	CONSUME(o->r2);                                                                            \
	if (c->ccv == (type)c->ccv) {                                                              \
		old = (type)c->ccv;                                                                \
		__atomic_compare_exchange_n(host, &old, (type)R2, false, __ATOMIC_SEQ_CST,         \
					    __ATOMIC_SEQ_CST);                                     \
	} else {                                                                                   \
		old =                                                                              \
		    __atomic_fetch_add(host, 0, __ATOMIC_SEQ_CST); /* needs the right to write */  \
	}
#define EXCHANGE(type)                                                                             \
	CONSUME(o->r2);                                                                            \
	old = __atomic_exchange_n(host, (type)R2, __ATOMIC_SEQ_CST)

OP_SEMAPHORE(cmpxchg1, 1, uint8_t, COMPARE_EXCHANGE(uint8_t))
OP_SEMAPHORE(cmpxchg2, 2, uint16_t, COMPARE_EXCHANGE(uint16_t))
OP_SEMAPHORE(cmpxchg4, 4, uint32_t, COMPARE_EXCHANGE(uint32_t))
OP_SEMAPHORE(cmpxchg8, 8, uint64_t, COMPARE_EXCHANGE(uint64_t))
OP_SEMAPHORE(xchg1, 1, uint8_t, EXCHANGE(uint8_t))
OP_SEMAPHORE(xchg2, 2, uint16_t, EXCHANGE(uint16_t))
OP_SEMAPHORE(xchg4, 4, uint32_t, EXCHANGE(uint32_t))
OP_SEMAPHORE(xchg8, 8, uint64_t, EXCHANGE(uint64_t))
OP_SEMAPHORE(fetchadd4, 4, uint32_t, old = __atomic_fetch_add(host, o->imm, __ATOMIC_SEQ_CST))
OP_SEMAPHORE(fetchadd8, 8, uint64_t, old = __atomic_fetch_add(host, o->imm, __ATOMIC_SEQ_CST))

__extension__ typedef unsigned __int128 two_words;

/* Compares 8 bytes; if equal, writes 16 at the address rounded down. */
static uint64_t __attribute__((target("cx16"), noinline))
compare8_exchange16(void *host, uint64_t compare, uint64_t low, uint64_t high)
{
	two_words *pair = (void *)((uintptr_t)host & ~(uintptr_t)15);
	two_words old = *pair, seen;
	unsigned shift = (uintptr_t)host & 8 ? 64 : 0;

	for (;;) {
		bool equal = (uint64_t)(old >> shift) == compare;
		two_words new = equal ? (two_words)high << 64 | low : old;

		seen = __sync_val_compare_and_swap(pair, old, new);
		if (seen == old)
			return old >> shift;
		old = seen;
	}
}

OP(cmp8xchg16)
{
	uint64_t address = R3, old;

	CONSUME(o->r3);
	CONSUME(o->r2);
	(void)predicated;
	if (address % 8)
		return unaligned(c, o, address);
	ia64_may_fault(c, o);
	old = compare8_exchange16(ia64_host(c, address), c->ccv, R2, c->csd);
	ia64_alat_store(c, address & ~15ull, 16);
	set_gr(c, o->r1, old, false, nats);
	return o + 1;
}

OP(mf)
{
	UNUSED_OP;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return o + 1;
}

/* lfetch moves no data; .fault (c's type) is a load. */
OP(lfetch)
{
	if (o->c >> IA64_LD_TYPE) {
		CONSUME(o->r3);
		ia64_may_fault(c, o);
		(void)peek(c, R3, 1);
	}
	increment(c, o, o->c & IA64_INC_MASK, nats);
	UNUSED_OP;
	return o + 1;
}

OP(invala)
{
	UNUSED_OP;
	ia64_alat_clear(c);
	return o + 1;
}

OP(invala_e)
{
	UNUSED_OP;
	ia64_alat_remove(c, ia64_alat_gr(c, o->r1));
	return o + 1;
}

OP(invala_ef)
{
	UNUSED_OP;
	ia64_alat_remove(c, ia64_alat_fr(c, o->r1));
	return o + 1;
}
