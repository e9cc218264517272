/* Pages of files and their frames, the same for all processes, which copy (copy.h) or map them. */
#ifndef MACHINE_FILE_PAGES_H
#define MACHINE_FILE_PAGES_H

#include "machine/state.h"

/**
 * The entry of a page, which has a frame then; of a new one it is on @node, or is that of the page
 * whose place it takes. The lock is held.
 * @param maps  a process has the page in its address space
 */
struct page_cache_entry *file_pages_get(struct machine *machine, uint64_t file, uint64_t page,
					unsigned node, bool maps);

#endif
