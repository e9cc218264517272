/*
 * Decoded code: made once from bundles, kept, found by address. Every processor thread has its own,
 * so that nothing in it is shared.
 */
#ifndef FEED_IA64_CODE_H
#define FEED_IA64_CODE_H

#include "feed/ia64/cpu.h"

/** cpuid[4]: brl, spontaneous deferral, 16-byte atomic operations. */
#define IA64_FEATURES 7u

int ia64_code_init(struct ia64_cpu *c);
void ia64_code_fini(struct ia64_cpu *c);

/** Code goes on elsewhere than a branch says. */
void ia64_code_resume(struct ia64_cpu *c);

/**
 * Tells the observer of the instructions up to o, as far as it does not know of them.
 * @param leaves  the program goes on elsewhere
 */
void ia64_code_until(struct ia64_cpu *c, const struct ia64_op *o, bool leaves);

/** Code changed, or may have: every processor thread drops what it has decoded. */
void ia64_code_changed(struct ia64_process *p, uint64_t address, uint64_t size);
void ia64_code_refresh(struct ia64_cpu *c);
uint32_t ia64_code_flushes(const struct ia64_process *p);

static inline uint32_t ia64_code_mode(const struct ia64_cpu *c)
{
	return c->sof | (c->nats ? IA64_MODE_NAT : 0);
}

static inline struct ia64_entry *ia64_code_entry(const struct ia64_cpu *c, uint64_t ip)
{
	uint64_t hash = (ip >> 4 ^ ip >> 20 ^ (ip & 3) << 13 ^ (uint64_t)c->sof << 9);

	return &c->entries[hash & ((1u << IA64_ENTRIES_LOG2) - 1)];
}

#endif
