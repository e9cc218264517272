/* Branches, speculation checks, and what changes the register frame. */
#include "feed/ia64/alat.h"
#include "feed/ia64/code.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/ops.h"
#include "feed/ia64/rse.h"

/* Leaves for the loop, which looks at what wants attention and goes on at ip. */
static struct ia64_op *attend(struct ia64_cpu *c, uint64_t ip)
{
	c->ip = ip;
	c->stop = IA64_STOP_ATTENTION;
	return &c->leave;
}

static inline __attribute__((always_inline)) struct ia64_op *find(struct ia64_cpu *c, uint64_t ip)
{
	const struct ia64_entry *e = ia64_code_entry(c, ip);

	if (e->ip == ip && e->mode == ia64_code_mode(c) && e->op)
		return c->ops + e->op - 1;
	return ia64_goto(c, ip);
}

/* Once the last NaT is gone, back to code that does not look for any. */
static inline void leave_nat_mode(struct ia64_cpu *c, const bool nats)
{
	if (nats && !ia64_any_nat(c))
		c->nats = false;
}

static struct ia64_op *link(struct ia64_cpu *c, struct ia64_op *o, uint64_t ip)
{
	uint32_t seen = c->flush_seen;
	struct ia64_op *target = ia64_goto(c, ip);

	if (target != &c->leave && seen == c->flush_seen) {
		o->link = target;
		o->r4 = ia64_code_mode(c);
	}
	return target;
}

/* To a target that is always the same; o->link is for the frame size and mode in o->r4. */
static inline __attribute__((always_inline)) struct ia64_op *
jump(struct ia64_cpu *c, struct ia64_op *o, uint64_t ip, const bool nats)
{
	leave_nat_mode(c, nats);
	if (UNLIKELY(c->attention))
		return attend(c, ip);
	if (o->link && o->r4 == ia64_code_mode(c))
		return o->link;
	return link(c, o, ip);
}

static inline __attribute__((always_inline)) struct ia64_op *jump_to(struct ia64_cpu *c,
								     uint64_t ip, const bool nats)
{
	leave_nat_mode(c, nats);
	if (UNLIKELY(c->attention))
		return attend(c, ip);
	return find(c, ip);
}

OP(br)
{
	(void)predicated;
	return jump(c, o, o->uimm, nats);
}

OP(br_ind)
{
	(void)predicated;
	return jump_to(c, c->br[o->r2] & ~15ull, nats);
}

/* Goes on behind the last operation of a piece of code. */
OP(continue)
{
	(void)predicated;
	(void)nats;
	if (o->link && o->r4 == ia64_code_mode(c))
		return o->link;
	return link(c, o, o->uimm);
}

static inline void call(struct ia64_cpu *c, struct ia64_op *o)
{
	uint64_t back = (ia64_ip_of(c, o) & ~15ull) + 16;

	c->pfs = ia64_cfm(c) | c->ec << 52 | 3ull << 62;
	ia64_rse_call(c);
	c->br[o->r1] = back;
}

OP(br_call)
{
	(void)predicated;
	call(c, o);
	return jump(c, o, o->uimm, nats);
}

OP(br_call_ind)
{
	uint64_t target = c->br[o->r2] & ~15ull;

	(void)predicated;
	call(c, o);
	return jump_to(c, target, nats);
}

/* A frame that alloc could not have made. */
static bool bad_frame(uint64_t pfm)
{
	unsigned sof = pfm & 0x7F, sol = pfm >> 7 & 0x7F, sor = pfm >> 14 & 0xF;

	return sof > IA64_STACKED || sol > sof || sor * 8 > sof;
}

OP(br_ret)
{
	uint64_t target = c->br[o->r2] & ~15ull, pfs = c->pfs;

	(void)predicated;
	if (UNLIKELY(bad_frame(pfs)))
		return ia64_raise(c, o, IA64_FAULT_ILLEGAL);
	ia64_may_fault(c, o);
	ia64_rse_return(c, pfs);
	c->ec = pfs >> 52 & 0x3F;
	if (!nats && UNLIKELY(c->nats)) /* it loaded one */
		return ia64_goto(c, target);
	return jump_to(c, target, nats);
}

OP(br_cloop)
{
	(void)predicated;
	if (!c->lc)
		return o + 1;
	c->lc--;
	return jump(c, o, o->uimm, nats);
}

/* Counted loops: whether the loop goes on; rotates unless it was over before. */
static inline bool count(struct ia64_cpu *c)
{
	bool more = c->lc || c->ec > 1;

	if (c->lc) {
		c->lc--;
		c->pr[63] = 1;
	} else {
		c->pr[63] = 0;
		if (!c->ec)
			return false;
		c->ec--;
	}
	ia64_rotate(c);
	return more;
}

OP(br_ctop)
{
	(void)predicated;
	return count(c) ? jump(c, o, o->uimm, nats) : o + 1;
}

OP(br_cexit)
{
	(void)predicated;
	return count(c) ? o + 1 : jump(c, o, o->uimm, nats);
}

/* While loops: the qualifying predicate is the loop's condition. */
static inline bool condition(struct ia64_cpu *c, bool holds)
{
	bool more = holds || c->ec > 1;

	c->pr[63] = 0;
	if (!holds) {
		if (!c->ec)
			return false;
		c->ec--;
	}
	ia64_rotate(c);
	return more;
}

OP_ALWAYS(br_wtop)
{
	return condition(c, !predicated || c->pr[o->qp]) ? jump(c, o, o->uimm, nats) : o + 1;
}

OP_ALWAYS(br_wexit)
{
	return condition(c, !predicated || c->pr[o->qp]) ? o + 1 : jump(c, o, o->uimm, nats);
}

OP(chk_s)
{
	UNUSED_OP;
	if (nats && c->nat[o->r2])
		return jump(c, o, o->uimm, nats);
	return o + 1;
}

OP(chk_sf)
{
	(void)predicated;
	if (UNLIKELY(ia64_fr_is_natval(&c->fr[ia64_fr_index(c, o->r2)])))
		return jump(c, o, o->uimm, nats);
	return o + 1;
}

/* c: the entry goes */
static inline __attribute__((always_inline)) struct ia64_op *
check(struct ia64_cpu *c, struct ia64_op *o, unsigned tag, const bool nats)
{
	if (!ia64_alat_has(c, tag))
		return jump(c, o, o->uimm, nats);
	if (o->c)
		ia64_alat_remove(c, tag);
	return o + 1;
}

OP(chk_a)
{
	(void)predicated;
	return check(c, o, ia64_alat_gr(c, o->r1), nats);
}

OP(chk_af)
{
	(void)predicated;
	return check(c, o, ia64_alat_fr(c, o->r1), nats);
}

OP(fchkf)
{
	(void)predicated;
	return ia64_fchkf(c->fpsr, o->c) ? jump(c, o, o->uimm, nats) : o + 1;
}

OP(alloc)
{
	unsigned sof = o->uimm & 0x7F, sol = o->uimm >> 7 & 0x7F, sor = o->uimm >> 14 & 0xF;

	UNUSED_OP;
	if (UNLIKELY(sor != c->sor && (c->rrb_gr | c->rrb_fr | c->rrb_pr)))
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	ia64_may_fault(c, o);
	ia64_rse_alloc(c, sof, sol, sor);
	set_gr(c, o->r1, c->pfs, false, nats);
	return o + 1;
}

OP(cover)
{
	UNUSED_OP;
	ia64_rse_cover(c);
	return o + 1;
}

OP(clrrrb)
{
	UNUSED_OP;
	ia64_clear_rrb(c);
	return o + 1;
}

OP(clrrrb_pr)
{
	UNUSED_OP;
	ia64_clear_rrb_pr(c);
	return o + 1;
}

OP(flushrs)
{
	UNUSED_OP;
	ia64_may_fault(c, o);
	ia64_rse_flush(c);
	return o + 1;
}

OP(loadrs)
{
	unsigned bytes = c->rsc >> 16 & 0x3FF8;

	UNUSED_OP;
	if (c->rsc & 3 || (bytes && c->sof))
		return ia64_raise(c, o, IA64_FAULT_ILLEGAL);
	ia64_may_fault(c, o);
	ia64_rse_load(c, bytes);
	if (!nats && UNLIKELY(c->nats))
		return ia64_again(c, o);
	return o + 1;
}

OP(break)
{
	UNUSED_OP;
	c->stop = IA64_STOP_BREAK;
	c->ip = ia64_ip_of(c, o);
	c->fault_imm = o->uimm;
	return &c->leave;
}

/* What the decoder found wrong: c is the fault. */
OP(illegal)
{
	UNUSED_OP;
	return ia64_raise(c, o, o->c);
}
