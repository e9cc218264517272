/* Floating-point instructions: register numbers, predicates, status and traps around fp.h. */
#include "feed/ia64/code.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/observer.h"
#include "feed/ia64/ops.h"
#include "feed/ia64/process.h"

#define FR(n) (&c->fr[ia64_fr_index(c, n)])

static inline void wrote(struct ia64_cpu *c, unsigned f)
{
	c->um |= f < 32 ? IA64_UM_MFL : IA64_UM_MFH;
}

static void tell_unsafe(struct ia64_cpu *c, const struct ia64_op *o, uint32_t status)
{
	const struct ia64_observer *w = c->process->observer;

	if (!w)
		return;
	ia64_code_until(c, o, false);
	if (w->tiny && status & (IA64_FP_FLUSHED | IA64_FP_TINY))
		w->tiny(c->observer_own, status & IA64_FP_FLUSHED);
	if (w->unsafe)
		w->unsafe(c->observer_own, status & (IA64_FP_TRAP | IA64_FP_TINY));
}

/* What is rare in the status word of an operation: a fault, a trap after it, a tiny result. */
static struct ia64_op *signalled(struct ia64_cpu *c, struct ia64_op *o, uint32_t status)
{
	if (status & IA64_FP_FAULT) {
		c->fault_isr = ia64_fp_isr_code(status);
		return ia64_raise(c, o, IA64_FAULT_FP);
	}
	if (status & IA64_FP_UNSAFE)
		tell_unsafe(c, o, status);
	c->fpsr = ia64_fpsr_raise(c->fpsr, o->c & 3, status);
	wrote(c, o->r1);
	if (!(status & IA64_FP_TRAP))
		return o + 1;
	ia64_code_until(c, o, true);
	c->fault_isr = ia64_fp_isr_code(status);
	c->fault = IA64_FAULT_FP;
	c->ip = ia64_ip_behind(c, o);
	c->stop = IA64_STOP_TRAP;
	return &c->leave;
}

static inline __attribute__((always_inline)) struct ia64_op *
finish(struct ia64_cpu *c, struct ia64_op *o, uint32_t status)
{
	if (UNLIKELY(status & (IA64_FP_FAULT | IA64_FP_TRAP | IA64_FP_UNSAFE)))
		return signalled(c, o, status);
	c->fpsr = ia64_fpsr_raise(c->fpsr, o->c & 3, status);
	wrote(c, o->r1);
	return o + 1;
}

/* o->c: the mode, status field in its low bits. f2 is f0: it only multiplies. */
#define OP_FMA(name)                                                                               \
	OP(name)                                                                                   \
	{                                                                                          \
		UNUSED_OP;                                                                         \
		return finish(c, o,                                                                \
			      ia64_##name(FR(o->r1), FR(o->r3), FR(o->r4),                         \
					  o->r2 ? FR(o->r2) : NULL, c->fpsr, o->c));               \
	}
#define OP_F23(name)                                                                               \
	OP(name)                                                                                   \
	{                                                                                          \
		UNUSED_OP;                                                                         \
		return finish(c, o, ia64_##name(FR(o->r1), FR(o->r2), FR(o->r3), c->fpsr, o->c));  \
	}
#define OP_F2(name)                                                                                \
	OP(name)                                                                                   \
	{                                                                                          \
		UNUSED_OP;                                                                         \
		return finish(c, o, ia64_##name(FR(o->r1), FR(o->r2), c->fpsr, o->c));             \
	}
#define OP_BITS23(name)                                                                            \
	OP(name)                                                                                   \
	{                                                                                          \
		UNUSED_OP;                                                                         \
		ia64_##name(FR(o->r1), FR(o->r2), FR(o->r3));                                      \
		wrote(c, o->r1);                                                                   \
		return o + 1;                                                                      \
	}
#define OP_BITS342(name)                                                                           \
	OP(name)                                                                                   \
	{                                                                                          \
		UNUSED_OP;                                                                         \
		ia64_##name(FR(o->r1), FR(o->r3), FR(o->r4), FR(o->r2));                           \
		wrote(c, o->r1);                                                                   \
		return o + 1;                                                                      \
	}

OP_FMA(fma)
OP_FMA(fms)
OP_FMA(fnma)
OP_FMA(fpma)
OP_FMA(fpms)
OP_FMA(fpnma)
OP_BITS342(xma_l)
OP_BITS342(xma_h)
OP_BITS342(xma_hu)
OP_BITS342(fselect)
OP_F23(fmin)
OP_F23(fmax)
OP_F23(famin)
OP_F23(famax)
OP_F23(fpmin)
OP_F23(fpmax)
OP_F23(fpamin)
OP_F23(fpamax)
OP_BITS23(fmerge_s)
OP_BITS23(fmerge_ns)
OP_BITS23(fmerge_se)
OP_BITS23(fpmerge_s)
OP_BITS23(fpmerge_ns)
OP_BITS23(fpmerge_se)
OP_BITS23(fmix_l)
OP_BITS23(fmix_r)
OP_BITS23(fmix_lr)
OP_BITS23(fsxt_l)
OP_BITS23(fsxt_r)
OP_BITS23(fpack)
OP_BITS23(fswap)
OP_BITS23(fswap_nl)
OP_BITS23(fswap_nr)
OP_BITS23(fand)
OP_BITS23(fandcm)
OP_BITS23(for)
OP_BITS23(fxor)
OP_F2(fcvt_fx)
OP_F2(fcvt_fxu)
OP_F2(fcvt_fx_trunc)
OP_F2(fcvt_fxu_trunc)
OP_F2(fpcvt_fx)
OP_F2(fpcvt_fxu)
OP_F2(fpcvt_fx_trunc)
OP_F2(fpcvt_fxu_trunc)

OP(fcvt_xf)
{
	UNUSED_OP;
	ia64_fcvt_xf(FR(o->r1), FR(o->r2));
	wrote(c, o->r1);
	return o + 1;
}

/* imm: the relation */
OP(fpcmp)
{
	UNUSED_OP;
	return finish(c, o, ia64_fpcmp(FR(o->r1), FR(o->r2), FR(o->r3), o->imm, c->fpsr, o->c));
}

/* imm: the relation, with 8 for .unc */
OP_ALWAYS(fcmp)
{
	const struct ia64_fr *f2 = FR(o->r2), *f3 = FR(o->r3);
	bool holds = false;
	uint32_t status;

	(void)nats;
	if (predicated && !c->pr[o->qp]) {
		if (o->imm & 8)
			c->pr[o->p1] = c->pr[o->p2] = 0;
		return o + 1;
	}
	if (ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3)) {
		c->pr[o->p1] = c->pr[o->p2] = 0;
		return o + 1;
	}
	status = ia64_fcmp(&holds, f2, f3, o->imm & 7, c->fpsr, o->c);
	if (UNLIKELY(status & IA64_FP_FAULT))
		return signalled(c, o, status);
	c->fpsr = ia64_fpsr_raise(c->fpsr, o->c & 3, status);
	c->pr[o->p1] = holds;
	c->pr[o->p2] = !holds;
	return o + 1;
}

/* imm: the classes; c: .unc */
OP_ALWAYS(fclass)
{
	const struct ia64_fr *f2 = FR(o->r2);
	bool on = !predicated || c->pr[o->qp];
	bool holds = ia64_fclass(f2, o->imm);

	(void)nats;
	if (!on && !o->c)
		return o + 1;
	on = on && (holds || !ia64_fr_is_natval(f2));
	c->pr[o->p1] = holds && on;
	c->pr[o->p2] = !holds && on;
	return o + 1;
}

/* p2 is cleared where the predicate is false. */
#define OP_APPROXIMATE(name, ...)                                                                  \
	OP_ALWAYS(name)                                                                            \
	{                                                                                          \
		bool p2 = false;                                                                   \
		uint32_t status;                                                                   \
                                                                                                   \
		(void)nats;                                                                        \
		if (predicated && !c->pr[o->qp]) {                                                 \
			c->pr[o->p2] = 0;                                                          \
			return o + 1;                                                              \
		}                                                                                  \
		status = ia64_##name(FR(o->r1), &p2, __VA_ARGS__, c->fpsr, o->c);                  \
		if (!(status & IA64_FP_FAULT))                                                     \
			c->pr[o->p2] = p2;                                                         \
		return finish(c, o, status);                                                       \
	}

OP_APPROXIMATE(frcpa, FR(o->r2), FR(o->r3))
OP_APPROXIMATE(fprcpa, FR(o->r2), FR(o->r3))
OP_APPROXIMATE(frsqrta, FR(o->r3))
OP_APPROXIMATE(fprsqrta, FR(o->r3))

/* imm: amask7, omask7 above it */
OP(fsetc)
{
	UNUSED_OP;
	if (!ia64_fsetc(&c->fpsr, o->c, o->uimm & 0x7F, o->uimm >> 7 & 0x7F))
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	return o + 1;
}

OP(fclrf)
{
	UNUSED_OP;
	c->fpsr = ia64_fclrf(c->fpsr, o->c);
	return o + 1;
}
