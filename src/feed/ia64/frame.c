/* Signal frames: what a handler gets, and what sigreturn puts back. */
#include "feed/ia64/alat.h"
#include "feed/ia64/rse.h"
#include "feed/ia64/signal.h"
#include "feed/ia64/space.h"

#include <errno.h>
#include <string.h>

/* Linux/ia64's struct sigcontext (uapi/asm/sigcontext.h). */
struct context {
	uint64_t flags, nat;
	struct ia64_sigaltstack stack;
	uint64_t ip, cfm, um, rsc, bsp, rnat, ccv, unat, fpsr, pfs, lc, pr;
	uint64_t br[8];
	uint64_t gr[32];
	_Alignas(16) struct ia64_fr fr[128];
	uint64_t rbs_base, loadrs, csd, ssd;
	uint64_t ours[12]; /* reserved there */
	uint64_t mask;
};

struct frame {
	uint64_t signal, info_address, context_address, handler;
	siginfo_t info;
	struct context context;
};

_Static_assert(offsetof(struct frame, context) == 160, "as the kernel has it");
_Static_assert(offsetof(struct context, fr) == 464, "as the kernel has it");
_Static_assert(offsetof(struct context, mask) == 2640, "as the kernel has it");

#define FLAG_ONSTACK	1u
#define FLAG_IN_SYSCALL 2u
#define FLAG_FPH	4u

/* In ours[0]: the frame is complete. Programs that make one themselves have what the kernel reads.
 */
#define COMPLETE 0x6674346C756D7061u
enum { OURS_MAGIC, OURS_EC, OURS_BSPSTORE, OURS_RNAT };

static bool within(const struct ia64_sigaltstack *a, uint64_t address)
{
	return !(a->flags & SS_DISABLE) && address - a->sp < a->size;
}

/* All registers, those of the stacked frame apart, which is on the backing store. */
static void save(const struct ia64_cpu *c, struct context *x, uint64_t cfm)
{
	for (unsigned r = 1; r < 32; r++)
		x->nat |= (uint64_t)c->nat[r] << r;
	x->ip = c->ip;
	x->cfm = cfm;
	x->um = c->um;
	x->rsc = c->rsc;
	x->bsp = c->bsp;
	x->rnat = c->rnat;
	x->ccv = c->ccv;
	x->unat = c->unat;
	x->fpsr = c->fpsr;
	x->pfs = c->pfs;
	x->lc = c->lc;
	x->pr = ia64_predicates(c);
	memcpy(x->br, c->br, sizeof(x->br));
	memcpy(x->gr, c->gr, sizeof(x->gr));
	memcpy(x->fr, c->fr, sizeof(x->fr));
	x->csd = c->csd;
	x->ssd = c->ssd;
	x->ours[OURS_MAGIC] = COMPLETE;
	x->ours[OURS_EC] = c->ec;
}

/* The stacked registers to memory, which may not be there. */
static int flush(struct ia64_cpu *c)
{
	volatile bool failed = false;

	if (sigsetjmp(c->escape, 0))
		failed = true;
	else {
		c->running = true;
		ia64_rse_flush(c);
	}
	c->running = false;
	return failed ? -EFAULT : 0;
}

int ia64_frame_push(struct ia64_cpu *c, const struct ia64_sigaction *act, const siginfo_t *info,
		    uint64_t mask)
{
	const struct ia64_sigaltstack *alternate = &c->signals->alternate;
	bool switches = act->flags & SA_ONSTACK && !(alternate->flags & SS_DISABLE) &&
			!within(alternate, c->gr[12]);
	uint64_t top = switches ? alternate->sp + alternate->size : c->gr[12];
	uint64_t at = (top - sizeof(struct frame)) & ~15ull;
	uint64_t cfm = ia64_cfm(c), descriptor[2];
	struct frame frame;

	memset(&frame, 0, sizeof(frame));
	if (ia64_copy_in(c, descriptor, act->handler, sizeof(descriptor)) != 0)
		return -EFAULT;
	ia64_rse_cover(c);
	if (flush(c) != 0)
		return -EFAULT;
	save(c, &frame.context, cfm);
	frame.signal = info->si_signo;
	frame.info = *info;
	frame.info_address = at + offsetof(struct frame, info);
	frame.context_address = at + offsetof(struct frame, context);
	frame.handler = act->handler;
	frame.context.stack = *alternate;
	if (within(alternate, c->gr[12]))
		frame.context.stack.flags |= SS_ONSTACK;
	frame.context.flags = FLAG_FPH | (within(alternate, at) ? FLAG_ONSTACK : 0) |
			      (c->signals->in_syscall ? FLAG_IN_SYSCALL : 0);
	frame.context.mask = mask;
	if (switches && !within(alternate, c->bspstore)) {
		frame.context.rbs_base = (alternate->sp + 7) & ~7ull;
		ia64_rse_set_bspstore(c, frame.context.rbs_base);
		c->rnat = 0;
	}
	if (ia64_copy_out(c, at, &frame, sizeof(frame)) != 0)
		return -EFAULT;
	/* The handler starts as if called from the trampoline, with three arguments. */
	ia64_set_cfm(c, 3);
	memset(c->nat, 0, sizeof(c->nat));
	c->nats = false;
	c->gr[32] = frame.signal;
	c->gr[33] = frame.info_address;
	c->gr[34] = frame.context_address;
	c->gr[1] = descriptor[1];
	c->gr[12] = at - 16;
	c->br[0] = c->process->trampoline;
	c->br[6] = descriptor[0];
	c->pfs = 3ull << 62;
	c->fpsr = IA64_FPSR_RESET;
	c->ip = descriptor[0] & ~15ull;
	return 0;
}

/* What the kernel restores: the rest is the trampoline's, which here is not in the program. */
static void restore_scratch(struct ia64_cpu *c, const struct context *x)
{
	static const uint8_t always[] = {1, 8, 9, 10, 11, 12, 13, 15};
	static const uint8_t outside_syscall[] = {2,  3,  14, 16, 17, 18, 19, 20, 21, 22,
						  23, 24, 25, 26, 27, 28, 29, 30, 31};

	c->br[0] = x->br[0];
	c->br[6] = x->br[6];
	for (unsigned i = 0; i < sizeof(always); i++)
		c->gr[always[i]] = x->gr[always[i]];
	if (x->flags & FLAG_FPH)
		memcpy(c->fr + 32, x->fr + 32, 96 * sizeof(x->fr[0]));
	if (x->flags & FLAG_IN_SYSCALL)
		return;
	c->ccv = x->ccv;
	c->br[7] = x->br[7];
	c->csd = x->csd;
	c->ssd = x->ssd;
	for (unsigned i = 0; i < sizeof(outside_syscall); i++)
		c->gr[outside_syscall[i]] = x->gr[outside_syscall[i]];
}

static void restore_all(struct ia64_cpu *c, const struct context *x)
{
	memcpy(c->br, x->br, sizeof(c->br));
	memcpy(c->gr + 1, x->gr + 1, 31 * sizeof(c->gr[0]));
	memcpy(c->fr + 2, x->fr + 2, 126 * sizeof(c->fr[0]));
	c->ccv = x->ccv;
	c->csd = x->csd;
	c->ssd = x->ssd;
	c->lc = x->lc;
	c->ec = x->ours[OURS_EC] & 0x3F;
	c->bspstore = x->bsp;
	c->bsp = x->bsp;
	c->rnat = x->rnat;
	c->dirty = 0;
}

static bool bad_frame(uint64_t cfm)
{
	unsigned sof = cfm & 0x7F, sol = cfm >> 7 & 0x7F, sor = cfm >> 14 & 0xF;

	return sof > IA64_STACKED || sol > sof || sor * 8 > sof;
}

/* The interrupted frame, from the backing store: as a return to one that is all local. */
static bool restore_stacked(struct ia64_cpu *c, uint64_t cfm)
{
	unsigned sof = cfm & 0x7F;

	if (sigsetjmp(c->escape, 0)) {
		c->running = false;
		return false;
	}
	c->running = true;
	ia64_rse_return(c, sof | sof << 7);
	c->running = false;
	ia64_set_cfm(c, cfm);
	return true;
}

bool ia64_frame_pop(struct ia64_cpu *c, uint64_t *mask, struct ia64_sigaltstack *alternate)
{
	uint64_t at = c->gr[12] + 16;
	struct frame frame;
	const struct context *x = &frame.context;

	if (ia64_copy_in(c, &frame, at, sizeof(frame)) != 0 || bad_frame(x->cfm))
		return false;
	if (x->ours[OURS_MAGIC] == COMPLETE)
		restore_all(c, x);
	else
		restore_scratch(c, x);
	c->nats = false;
	memset(c->nat, 0, sizeof(c->nat));
	for (unsigned r = 1; r < 32; r++) {
		c->nat[r] = x->nat >> r & 1;
		c->nats |= c->nat[r];
	}
	c->um = x->um & 0x3C;
	c->rsc = (x->rsc & 0x3FFF0003) | 0xC;
	c->unat = x->unat;
	c->fpsr = x->fpsr;
	c->pfs = x->pfs;
	c->ip = x->ip & ~0xCull;
	ia64_clear_rrb(c);
	ia64_set_predicates(c, x->pr, ~0ull);
	*mask = x->mask;
	*alternate = x->stack;
	ia64_alat_clear(c);
	return restore_stacked(c, x->cfm);
}
