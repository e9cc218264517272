/* Caches, with sets in order of use, and TLBs. Exact least-recently-used replacement. */
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

			for (; way; way--)
				set[way] = set[way - 1];
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

/* @return where the page is; NULL: it is not there */
static struct tlb_entry *entry_of(const struct tlb *tlb, uint64_t page)
{
	struct tlb_entry *entry = tlb->pages->entries;

	for (; entry < tlb->pages->entries + tlb->entries; entry++)
		if (entry->page == page)
			return entry;
	return NULL;
}

static struct tlb_entry *least_recent(const struct tlb *tlb)
{
	struct tlb_entry *least = tlb->pages->entries;

	for (uint32_t i = 1; i < tlb->entries; i++)
		if (tlb->pages->entries[i].used < least->used)
			least = &tlb->pages->entries[i];
	return least;
}

bool epic_tlb_find_elsewhere(const struct tlb *tlb, uint64_t address)
{
	uint64_t page = (address >> tlb->page_log2) + 1;
	struct tlb_entry *entry = entry_of(tlb, page);
	bool found = entry;

	if (!found)
		entry = least_recent(tlb);
	*entry = (struct tlb_entry){page, ++tlb->pages->uses};
	tlb->pages->hints[page % TLB_HINTS] = (uint8_t)(entry - tlb->pages->entries);
	return found;
}

bool epic_tlb_peek(const struct tlb *tlb, uint64_t address)
{
	uint64_t page = (address >> tlb->page_log2) + 1;
	const struct tlb_pages *pages = tlb->pages;

	return pages->entries[pages->hints[page % TLB_HINTS]].page == page || entry_of(tlb, page);
}
