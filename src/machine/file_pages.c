#include "machine/file_pages.h"

#include "machine/address_space.h"

static unsigned first_of_set(uint64_t file, uint64_t page)
{
	const uint64_t mixed = (file + page) * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)(mixed >> 40) % (PAGE_CACHE_PAGES / PAGE_CACHE_WAYS) * PAGE_CACHE_WAYS;
}

/* The page's entry, or the oldest of its set. */
static struct page_cache_entry *find(struct page_cache *cache, uint64_t file, uint64_t page)
{
	const unsigned first = first_of_set(file, page);
	struct page_cache_entry *oldest = &cache->entries[first];

	for (unsigned i = first; i < first + PAGE_CACHE_WAYS; i++) {
		struct page_cache_entry *entry = &cache->entries[i];

		if (entry->frame && entry->file == file && entry->page == page)
			return entry;
		if (cache->age - entry->age > cache->age - oldest->age)
			oldest = entry;
	}
	return oldest;
}

struct page_cache_entry *file_pages_get(struct machine *machine, uint64_t file, uint64_t page,
					unsigned node, bool maps)
{
	struct page_cache *cache = &machine->state->page_cache;
	struct page_cache_entry *entry;

	cache->age++;
	entry = find(cache, file, page);
	if (entry->file != file || entry->page != page) {
		entry->file = file;
		entry->page = page;
		if (entry->mapped)
			entry->frame = 0;
		entry->mapped = false;
	}
	entry->age = cache->age;
	entry->mapped |= maps;
	if (!entry->frame)
		entry->frame = 1 + address_space_next_frame(machine, node);
	return entry;
}
