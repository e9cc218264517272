/* Caches and TLBs: sets in order of use. Exact least-recently-used replacement. */
#include "machine/epic/core.h"

#include <string.h>

static struct line *set_of(const struct cache *cache, uint64_t line)
{
	return cache->lines + (line & (cache->sets - 1)) * cache->ways;
}

struct line *epic_cache_find_older(struct cache *cache, uint64_t line)
{
	struct line *set = set_of(cache, line);
	uint64_t tag = (line + 1) * 4;

	for (uint32_t way = 1; way < cache->ways; way++) {
		if ((set[way].tag & ~LINE_STATE) == tag) {
			struct line found = set[way];

			memmove(set + 1, set, way * sizeof(*set));
			set[0] = found;
			return set;
		}
	}
	return NULL;
}

uint64_t epic_cache_fill(struct cache *cache, uint64_t line, uint64_t ready)
{
	struct line *set = set_of(cache, line);
	uint64_t gone = set[cache->ways - 1].tag;

	memmove(set + 1, set, (cache->ways - 1) * sizeof(*set));
	set[0] = (struct line){(line + 1) * 4, ready};
	return gone;
}

struct line *epic_cache_peek(const struct cache *cache, uint64_t line)
{
	struct line *set = set_of(cache, line);

	for (uint32_t way = 0; way < cache->ways; way++)
		if ((set[way].tag & ~LINE_STATE) == (line + 1) * 4)
			return &set[way];
	return NULL;
}

const struct line *epic_cache_last(const struct cache *cache, uint64_t line)
{
	return set_of(cache, line) + cache->ways - 1;
}

/* The way that is free now is filled next. */
void epic_cache_drop(struct cache *cache, uint64_t line)
{
	struct line *found = epic_cache_peek(cache, line);
	struct line *last = set_of(cache, line) + cache->ways - 1;

	if (!found)
		return;
	memmove(found, found + 1, (size_t)(last - found) * sizeof(*found));
	*last = (struct line){0, 0};
}

bool epic_tlb_find_older(struct tlb *tlb, uint64_t page)
{
	uint32_t i = 1;

	while (i < tlb->entries && tlb->pages[i] != page)
		i++;
	memmove(tlb->pages + 1, tlb->pages,
		(i < tlb->entries ? i : tlb->entries - 1) * sizeof(*tlb->pages));
	tlb->pages[0] = page;
	return i < tlb->entries;
}

bool epic_tlb_peek(const struct tlb *tlb, uint64_t address)
{
	uint64_t page = (address >> tlb->page_log2) + 1;

	for (uint32_t i = 0; i < tlb->entries; i++)
		if (tlb->pages[i] == page)
			return true;
	return false;
}
