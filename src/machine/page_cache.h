/* Pages of files that the system keeps in memory, for all programs: see file_pages.h. */
#ifndef MACHINE_PAGE_CACHE_H
#define MACHINE_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_CACHE_PAGES                                                                           \
	131072 /* of all files; a new one takes the place of the oldest of its set */
#define PAGE_CACHE_WAYS 8

struct page_cache_entry {
	uint64_t file, page;
	uint32_t age;
	uint32_t frame; /* plus 1; 0: none yet */
	bool mapped;	/* the frame is this page's for good */
};

/* Valid when zeroed. Under the machine's lock. */
struct page_cache {
	bool on;
	uint32_t age;
	struct page_cache_entry entries[PAGE_CACHE_PAGES];
};

#endif
