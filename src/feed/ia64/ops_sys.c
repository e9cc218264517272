/* Application registers, predicates, branch registers, user mask, cache and identification. */
#include "feed/ia64/alat.h"
#include "feed/ia64/code.h"
#include "feed/ia64/handlers.h"
#include "feed/ia64/observer.h"
#include "feed/ia64/ops.h"
#include "feed/ia64/process.h"
#include "feed/ia64/rse.h"
#include "feed/ia64/space.h"

#define R2 (c->gr[o->r2])
#define R3 (c->gr[o->r3])

#define CONSUME(r)                                                                                 \
	do {                                                                                       \
		if (nats && UNLIKELY(c->nat[r]))                                                   \
			return ia64_raise(c, o, IA64_FAULT_NAT);                                   \
	} while (0)

#define OP_GET(name, value)                                                                        \
	OP(name)                                                                                   \
	{                                                                                          \
		set_gr(c, o->r1, value, false, nats);                                              \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}

OP_GET(mov_from_br, c->br[o->r2])
OP_GET(mov_from_pr, ia64_predicates(c))
OP_GET(mov_from_lc, c->lc)
OP_GET(mov_from_pfs, c->pfs)
OP_GET(mov_from_unat, c->unat)
OP_GET(mov_from_um, c->um)

OP(mov_to_br)
{
	CONSUME(o->r2);
	UNUSED_OP;
	c->br[o->r1] = R2;
	return o + 1;
}

/* imm: the mask, whose top bit stands for all rotating predicates */
OP(mov_to_pr)
{
	CONSUME(o->r2);
	UNUSED_OP;
	ia64_set_predicates(c, R2, o->uimm);
	return o + 1;
}

OP(mov_to_rot)
{
	UNUSED_OP;
	ia64_set_predicates(c, o->uimm, ~0xFFFFull);
	return o + 1;
}

OP(mov_to_lc)
{
	CONSUME(o->r2);
	UNUSED_OP;
	c->lc = R2;
	return o + 1;
}

#define PFS_RESERVED 0x3C0FFFC000000000u /* 61:58, 51:38 */

OP(mov_to_pfs)
{
	CONSUME(o->r2);
	UNUSED_OP;
	if (UNLIKELY(R2 & PFS_RESERVED))
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	c->pfs = R2;
	return o + 1;
}

static uint64_t time_stamp(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* Read as 0, writes have no effect. */
static bool is_ignored(unsigned ar)
{
	return (ar >= 48 && ar < 64) || ar >= 112;
}

/* A fault, or -1. */
static int read_ar(struct ia64_cpu *c, unsigned ar, uint64_t *value)
{
	if (ar <= IA64_AR_KR7) {
		*value = c->kr[ar];
		return -1;
	}
	if (is_ignored(ar)) {
		*value = 0;
		return -1;
	}
	switch (ar) {
	case IA64_AR_RSC:
		*value = c->rsc;
		return -1;
	case IA64_AR_BSP:
		*value = c->bsp;
		return -1;
	case IA64_AR_BSPSTORE:
		*value = c->bspstore;
		return -1;
	case IA64_AR_RNAT:
		*value = c->rnat;
		return c->rsc & 3 ? IA64_FAULT_ILLEGAL : -1;
	case IA64_AR_FCR:
		*value = c->fcr;
		return -1;
	case IA64_AR_EFLAG:
		*value = c->eflag;
		return -1;
	case IA64_AR_CSD:
		*value = c->csd;
		return -1;
	case IA64_AR_SSD:
		*value = c->ssd;
		return -1;
	case IA64_AR_CFLG:
		*value = c->cflg;
		return -1;
	case IA64_AR_FSR:
		*value = c->fsr;
		return -1;
	case IA64_AR_FIR:
		*value = c->fir;
		return -1;
	case IA64_AR_FDR:
		*value = c->fdr;
		return -1;
	case IA64_AR_CCV:
		*value = c->ccv;
		return -1;
	case IA64_AR_UNAT:
		*value = c->unat;
		return -1;
	case IA64_AR_FPSR:
		*value = c->fpsr;
		return -1;
	case IA64_AR_ITC:
	case IA64_AR_RUC:
		*value = time_stamp();
		return -1;
	case IA64_AR_PFS:
		*value = c->pfs;
		return -1;
	case IA64_AR_LC:
		*value = c->lc;
		return -1;
	case IA64_AR_EC:
		*value = c->ec;
		return -1;
	default:
		return IA64_FAULT_ILLEGAL;
	}
}

#define RSC_RESERVED 0xFFFFFFFFC000FFE0u
#define RSC_BE	     0x10u
#define RSC_PL	     0x0Cu

static int write_ar(struct ia64_cpu *c, unsigned ar, uint64_t value)
{
	if (ar <= IA64_AR_KR7)
		return IA64_FAULT_PRIVILEGED;
	if (is_ignored(ar))
		return -1;
	switch (ar) {
	case IA64_AR_CFLG:
	case IA64_AR_ITC:
	case IA64_AR_RUC:
		return IA64_FAULT_PRIVILEGED;
	case IA64_AR_RSC: /* big-endian spilling is not modelled */
		if (value & (RSC_RESERVED | RSC_BE))
			return IA64_FAULT_RESERVED;
		c->rsc = value | RSC_PL;
		return -1;
	case IA64_AR_BSPSTORE:
	case IA64_AR_RNAT:
		if (c->rsc & 3)
			return IA64_FAULT_ILLEGAL;
		if (ar == IA64_AR_RNAT)
			c->rnat = value & INT64_MAX;
		else
			ia64_rse_set_bspstore(c, value);
		return -1;
	case IA64_AR_FCR:
		c->fcr = value;
		return -1;
	case IA64_AR_EFLAG:
		c->eflag = value;
		return -1;
	case IA64_AR_CSD:
		c->csd = value;
		return -1;
	case IA64_AR_SSD:
		c->ssd = value;
		return -1;
	case IA64_AR_FSR:
		c->fsr = value;
		return -1;
	case IA64_AR_FIR:
		c->fir = value;
		return -1;
	case IA64_AR_FDR:
		c->fdr = value;
		return -1;
	case IA64_AR_CCV:
		c->ccv = value;
		return -1;
	case IA64_AR_UNAT:
		c->unat = value;
		return -1;
	case IA64_AR_FPSR:
		if (!ia64_fpsr_valid(value))
			return IA64_FAULT_RESERVED;
		c->fpsr = value;
		return -1;
	case IA64_AR_PFS:
		if (value & PFS_RESERVED)
			return IA64_FAULT_RESERVED;
		c->pfs = value;
		return -1;
	case IA64_AR_LC:
		c->lc = value;
		return -1;
	case IA64_AR_EC:
		c->ec = value & 0x3F;
		return -1;
	default: /* bsp too is only read */
		return IA64_FAULT_ILLEGAL;
	}
}

/* r3: the application register */
OP(mov_from_ar)
{
	uint64_t value = 0;
	int fault = read_ar(c, o->r3, &value);

	UNUSED_OP;
	if (UNLIKELY(fault >= 0))
		return ia64_raise(c, o, fault);
	set_gr(c, o->r1, value, false, nats);
	return o + 1;
}

OP(mov_to_ar)
{
	int fault;

	CONSUME(o->r2);
	UNUSED_OP;
	fault = write_ar(c, o->r3, R2);
	if (UNLIKELY(fault >= 0))
		return ia64_raise(c, o, fault);
	return o + 1;
}

OP(mov_to_ari)
{
	int fault = write_ar(c, o->r3, o->uimm);

	UNUSED_OP;
	if (UNLIKELY(fault >= 0))
		return ia64_raise(c, o, fault);
	return o + 1;
}

/* User mask: reserved bits fault; big-endian data is not modelled, which faults the same way. */
#define UM_WRITABLE (IA64_UM_UP | IA64_UM_AC | IA64_UM_MFL | IA64_UM_MFH)

OP(sum)
{
	UNUSED_OP;
	if (o->uimm & ~(uint64_t)UM_WRITABLE)
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	c->um |= o->uimm;
	return o + 1;
}

OP(rum)
{
	UNUSED_OP;
	if (o->uimm & ~(uint64_t)(UM_WRITABLE | IA64_UM_BE))
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	c->um &= ~o->uimm;
	return o + 1;
}

OP(mov_to_um)
{
	CONSUME(o->r2);
	UNUSED_OP;
	if (R2 & ~(uint64_t)UM_WRITABLE)
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	c->um = R2;
	return o + 1;
}

/* fc: code may have changed there. */
OP(fc)
{
	CONSUME(o->r3);
	UNUSED_OP;
	ia64_code_changed(c->process, R3 & ~127ull, 128);
	return o + 1;
}

OP(srlz_i)
{
	UNUSED_OP;
	if (c->changes_seen != ia64_code_flushes(c->process)) {
		uint64_t ip = ia64_ip_behind(c, o);

		ia64_code_refresh(c);
		ia64_code_resume(c);
		return ia64_goto(c, ip);
	}
	return o + 1;
}

/* cpuid: an Itanium 9300, family 32, model 2, revision 4; features brl, spontaneous deferral,
 * 16-byte atomic operations. */
static const uint64_t identity[5] = {
    0x49656E69756E6547, /* "GenuineI" */
    0x6C65746E,		/* "ntel" */
    0,
    32ull << 24 | 2 << 16 | 4 << 8 | 4,
    IA64_FEATURES,
};

OP(mov_from_cpuid)
{
	unsigned n = R3 & 0xFF;

	CONSUME(o->r3);
	UNUSED_OP;
	if (n >= sizeof(identity) / sizeof(identity[0]))
		return ia64_raise(c, o, IA64_FAULT_RESERVED);
	set_gr(c, o->r1, identity[n], false, nats);
	return o + 1;
}

OP(mov_from_pmd)
{
	const struct ia64_observer *w = c->process->observer;
	uint64_t value = 0;

	CONSUME(o->r3);
	UNUSED_OP;
	if (w && w->monitor)
		value = w->monitor(c->observer_own, R3 & 0xFF);
	set_gr(c, o->r1, value, false, nats);
	return o + 1;
}

/* c: 1 reads, 2 writes, 3 both. r1 says whether the page allows it. */
OP(probe)
{
	CONSUME(o->r3);
	UNUSED_OP;
	set_gr(c, o->r1, ia64_space_allows(c->process->space, R3, o->c), false, nats);
	return o + 1;
}

OP(probe_fault)
{
	CONSUME(o->r3);
	UNUSED_OP;
	if (!ia64_space_allows(c->process->space, R3, o->c)) {
		c->fault_address = R3;
		c->fault_write = o->c & 2;
		c->fault_denied = ia64_space_allows(c->process->space, R3, 0);
		return ia64_raise(c, o, IA64_FAULT_DATA);
	}
	return o + 1;
}

/* Without a hashed page table walker, any value that depends on the address is right. */
OP_GET(thash, R3)
