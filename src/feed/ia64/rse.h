/*
 * The register stack and its engine (volume 2, chapter 6). The engine is lazy: it stores what a
 * frame needs room for and loads what a return needs, nothing else, and keeps no clean registers.
 * Registers below the frame that are not in memory ("dirty") stand in cpu->saved.
 */
#ifndef FEED_IA64_RSE_H
#define FEED_IA64_RSE_H

#include "feed/ia64/cpu.h"

/** The address `n` registers above (below, if negative): every 64th word is a NaT collection. */
static inline uint64_t ia64_rse_skip(uint64_t address, int n)
{
	int slot = (int)(address >> 3 & 63) + n;

	if (n < 0)
		slot -= 62;
	return address + ((int64_t)n + slot / 63) * 8;
}

/** How many registers lie between two addresses. */
int ia64_rse_count(uint64_t from, uint64_t to);

/* These may fault: what they change until then is consistent, and they can be done again. */
void ia64_rse_call(struct ia64_cpu *c);
/** Returns to the frame that pfs describes: its locals come back, the outputs stay. */
void ia64_rse_return(struct ia64_cpu *c, uint64_t pfm);
void ia64_rse_alloc(struct ia64_cpu *c, unsigned sof, unsigned sol, unsigned sor);
void ia64_rse_cover(struct ia64_cpu *c);
void ia64_rse_flush(struct ia64_cpu *c);
/** Makes exactly `bytes` of backing store below bsp dirty. */
void ia64_rse_load(struct ia64_cpu *c, unsigned bytes);
void ia64_rse_set_bspstore(struct ia64_cpu *c, uint64_t address);

/** br.ctop and its kind: every rotating register moves up by one. */
void ia64_rotate(struct ia64_cpu *c);
void ia64_clear_rrb(struct ia64_cpu *c);
void ia64_clear_rrb_pr(struct ia64_cpu *c);

bool ia64_any_nat(const struct ia64_cpu *c);

#endif
