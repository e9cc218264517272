/*
 * The advanced load address table: which registers hold what an advanced load read, as long as no
 * store touched it.
 */
#ifndef FEED_IA64_ALAT_H
#define FEED_IA64_ALAT_H

#include "feed/ia64/cpu.h"

/* Entries are by physical register, so that a call does not mix up frames. */
static inline unsigned ia64_alat_gr(const struct ia64_cpu *c, unsigned r)
{
	unsigned n = r - 32;

	if (r < 32)
		return 1 + r;
	if (n < c->sor * 8u)
		n = (n + c->rrb_gr) % (c->sor * 8u);
	return 1 + 32 + (c->bof + n) % IA64_SAVED;
}

static inline unsigned ia64_alat_fr(const struct ia64_cpu *c, unsigned f)
{
	return 256 + ia64_fr_index(c, f);
}

void ia64_alat_insert(struct ia64_cpu *c, unsigned tag, uint64_t address, unsigned size);
void ia64_alat_remove(struct ia64_cpu *c, unsigned tag);
void ia64_alat_clear(struct ia64_cpu *c);
/** A store happened: removes what it touched. */
void ia64_alat_stored(struct ia64_cpu *c, uint64_t address, unsigned size);
/** chk.a: the register has an entry. */
bool ia64_alat_has(const struct ia64_cpu *c, unsigned tag);
/** ld.c: it has one of this access. */
bool ia64_alat_matches(const struct ia64_cpu *c, unsigned tag, uint64_t address, unsigned size);

static inline uint64_t ia64_alat_bits(uint64_t address, unsigned size)
{
	return 1ull << (address >> 3 & 63) | 1ull << ((address + size - 1) >> 3 & 63);
}

static inline void ia64_alat_store(struct ia64_cpu *c, uint64_t address, unsigned size)
{
	if (__builtin_expect((c->alat_filter & ia64_alat_bits(address, size)) != 0, 0))
		ia64_alat_stored(c, address, size);
}

#endif
