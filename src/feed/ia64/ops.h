/*
 * How operations are written.
 *
 * OP(name) { ... return o + 1; } makes four handlers of one body: with and without a qualifying
 * predicate, with and without NaT bits (`nats`, a constant in each). The body returns the operation
 * to go on with. OP_ALWAYS bodies run whatever the predicate is, and look at `predicated` and
 * pr[qp] themselves.
 *
 * Where the compiler makes tail calls, a handler jumps to the next; elsewhere it returns it to a
 * loop (ia64_execute).
 */
#ifndef FEED_IA64_OPS_H
#define FEED_IA64_OPS_H

#include "base/inline.h"
#include "feed/ia64/cpu.h"

#include <string.h>

#if defined(__OPTIMIZE__) && !INLINE_CHECKED
#define IA64_TAIL_CALLS 1
#else
#define IA64_TAIL_CALLS 0
#endif

static inline __attribute__((always_inline)) struct ia64_op *ia64_next(struct ia64_cpu *c,
								       struct ia64_op *o)
{
#if IA64_TAIL_CALLS
	return o->run(c, o);
#else
	(void)c;
	return o;
#endif
}

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A body is a part of each of its handlers; where that takes half a minute a file, it stays one
 * function. */
#if INLINE_CHECKED
#define OP_PART __attribute__((noinline))
#else
#define OP_PART INLINE_FORCED
#endif

#define OP_BODY(name)                                                                              \
	static OP_PART struct ia64_op *do_##name(struct ia64_cpu *c, struct ia64_op *o,            \
						 const bool nats, const bool predicated)

#define OP_VARIANT(name, suffix, nats, predicated, skip)                                           \
	static struct ia64_op *name##suffix(struct ia64_cpu *c, struct ia64_op *o)                 \
	{                                                                                          \
		if (skip)                                                                          \
			return ia64_next(c, o + 1);                                                \
		return ia64_next(c, do_##name(c, o, nats, predicated));                            \
	}

#define OP_TABLE(name)                                                                             \
	ia64_handler *const ia64_op_##name[4] = {name##_plain, name##_pred, name##_nat,            \
						 name##_nat_pred};

#define OP(name)                                                                                   \
	OP_BODY(name);                                                                             \
	OP_VARIANT(name, _plain, false, false, false)                                              \
	OP_VARIANT(name, _pred, false, true, !c->pr[o->qp])                                        \
	OP_VARIANT(name, _nat, true, false, false)                                                 \
	OP_VARIANT(name, _nat_pred, true, true, !c->pr[o->qp])                                     \
	OP_TABLE(name)                                                                             \
	OP_BODY(name)

#define OP_ALWAYS(name)                                                                            \
	OP_BODY(name);                                                                             \
	OP_VARIANT(name, _plain, false, false, false)                                              \
	OP_VARIANT(name, _pred, false, true, false)                                                \
	OP_VARIANT(name, _nat, true, false, false)                                                 \
	OP_VARIANT(name, _nat_pred, true, true, false)                                             \
	OP_TABLE(name)                                                                             \
	OP_BODY(name)

/* What a body may ignore. */
#define UNUSED_OP ((void)nats, (void)predicated, (void)o, (void)c)

static inline __attribute__((always_inline)) void set_gr(struct ia64_cpu *c, unsigned r,
							 uint64_t value, bool nat, const bool nats)
{
	c->gr[r] = value;
	if (nats)
		c->nat[r] = nat;
}

/* Before what may fault: the state so far is the state of the fault. */
static inline __attribute__((always_inline)) void ia64_may_fault(struct ia64_cpu *c,
								 struct ia64_op *o)
{
	c->at = o;
	__asm__ volatile("" ::: "memory");
}

#endif
