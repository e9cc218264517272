/* The first level of data: what each store does there. */
#ifndef MACHINE_EPIC_FIRST_H
#define MACHINE_EPIC_FIRST_H

#include "machine/epic/core.h"

/** A load that looks at it, in a cycle. */
void epic_first_load(struct epic_core *core, const struct access *a, uint64_t t,
		     struct access_time *time);
/** A prefetch, whose line comes in a cycle. */
void epic_first_prefetched(struct epic_core *core, const struct access *a, uint64_t ready);

/** The first cycle from t on that has room for a write, where not each has. */
uint64_t epic_first_write_later(struct epic_core *core, uint64_t t);
/**
 * A store that cannot go on in cycle t.
 * @param fills  its line comes in that cycle
 * @param full   until when the buffer is full
 * @return the cycle in which it goes on
 */
uint64_t epic_first_stall_store(struct epic_core *core, uint64_t t, bool fills, uint64_t full,
				struct access_time *time);

/* Stores do not change which line is the most recent. */
static inline const struct line *epic_first_find(const struct epic_core *core, uint64_t address)
{
	const struct cache *cache = &core->l1d;
	uint64_t number = epic_line(cache, address);
	const struct line *set = cache->lines + (number & (cache->sets - 1)) * cache->ways;

	return (set->tag & ~LINE_STATE) == (number + 1) * 4 ? set : epic_cache_peek(cache, number);
}

static inline uint64_t epic_first_write(struct epic_core *core, uint64_t t)
{
	struct first_level *f = &core->shared->first;

	if (__builtin_expect(t <= f->written || f->filled[t % FILLED_FIRST] == t, 0))
		return epic_first_write_later(core, t);
	f->writes = 1;
	f->written = t;
	return t;
}

/** A store. @return the cycle in which it goes on to the second level */
static inline uint64_t epic_first_store(struct epic_core *core, const struct access *a, uint64_t t,
					struct access_time *time)
{
	const struct line *line = epic_first_find(core, a->address);
	struct first_level *f = &core->shared->first;
	struct buffered *b = &f->stores[f->next];
	uint64_t part = 1ull << (a->address >> 4 & 63);

	/* A line that is on its way comes with what the second level was given meanwhile. */
	if (!line || line->ready > t)
		return t;
	if (__builtin_expect(line->ready == t || b->written > t, 0))
		t = epic_first_stall_store(core, t, line->ready == t, b->written, time);
	b->written = epic_first_write(core, t + core->params->store_write);
	b->first = a->address;
	b->last = a->address + a->bytes - 1;
	f->next = f->next + 1 == core->params->stores ? 0 : f->next + 1;
	if (__builtin_expect(a->address & (a->bytes - 1u), 0)) /* it may be in two */
		part = ~0ull;
	core->stored_parts = part | (core->stored_until > t ? core->stored_parts : 0);
	core->stored_until = b->written;
	return t;
}

#endif
