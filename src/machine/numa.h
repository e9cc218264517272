/*
 * Where pages are placed at first touch, as threads and ranges of addresses ask for it, and where
 * they are. Pages have numbers: virtual address / 4096. The machine's own policy
 * (machine_bind_memory()) holds where neither a thread nor a range has one.
 *
 * Threads that run go on with the frame that a page has had until they next call the system.
 */
#ifndef MACHINE_NUMA_H
#define MACHINE_NUMA_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

/** The node on which a page would be that the hart touches next; for MACHINE_MEMORY_INTERLEAVE. */
unsigned machine_hart_next_node(const struct machine_hart *core);

/** Sets the policy of a range; MACHINE_MEMORY_DEFAULT: none. @return false without memory */
bool machine_range_set(struct machine_address_space *space, uint64_t first, uint64_t count,
		       struct machine_memory_policy policy);
/** Pages get other addresses (mremap): their policy, which is one, goes along. @return as above */
bool machine_range_move(struct machine_address_space *space, uint64_t first, uint64_t count,
			uint64_t target, uint64_t target_count);
/** The policy that holds there; MACHINE_MEMORY_DEFAULT: none of a range. */
struct machine_memory_policy machine_range_at(struct machine_address_space *space, uint64_t page);

/** @return the node that a page is on; -1 where it has not been touched */
int machine_page_node(struct machine_address_space *space, uint64_t page);
/** As if the hart touched it. @return the node */
unsigned machine_page_touch(struct machine_hart *core, struct machine_address_space *space,
			    uint64_t page);
/** A page gets a frame of another node; if none is free there, one of the next. */
void machine_page_move(struct machine_address_space *space, uint64_t page, unsigned node);
/** They are not there any more: they are placed anew when they are touched again. */
void machine_pages_forget(struct machine_address_space *space, uint64_t first, uint64_t count);
/**
 * Pages are unmapped, or get other rights: threads find them in no TLB when they next come from the
 * system. Unmapped ones keep their frames until somebody forgets them, but where there are large
 * pages.
 */
void machine_pages_unmap(struct machine_address_space *space, uint64_t first, uint64_t count);
void machine_pages_protect(struct machine_address_space *space, uint64_t first, uint64_t count);
/**
 * Pages get other addresses (mremap) and keep their frames. What had a frame at @target goes to
 * where they were. TLBs as above.
 * @param core  that moves them
 */
void machine_pages_move(struct machine_hart *core, struct machine_address_space *space,
			uint64_t first, uint64_t count, uint64_t target);
/** They are of an anonymous mapping, or of none: where the machine has large pages. */
void machine_range_anonymous(struct machine_address_space *space, uint64_t first, uint64_t count,
			     bool is_anonymous);
bool machine_is_anonymous(struct machine_address_space *space, uint64_t page);
/* Pages of a file, from one of them on. */
struct machine_file_range {
	uint64_t file; /* as of machine_copy */
	uint64_t page;
	bool is_private; /* they are of it only until somebody can write to them */
};

/**
 * Pages are those of a file, and have the frames that those have in other address spaces, and at
 * other addresses.
 */
void machine_range_share(struct machine_address_space *space, uint64_t first, uint64_t count,
			 struct machine_file_range file);
/** Those of a file are so no more. */
void machine_range_unshare(struct machine_address_space *space, uint64_t first, uint64_t count);
/** They can be written from now on: private ones have frames of their own. */
void machine_range_writable(struct machine_address_space *space, uint64_t first, uint64_t count);
/** @return false where the page is of no file; else @file receives what there is from it on */
bool machine_range_file(struct machine_address_space *space, uint64_t page,
			struct machine_file_range *file);
/** Moves all pages of node n to @targets[n], where that is another. */
void machine_pages_migrate(struct machine_address_space *space, const uint8_t *targets);

#endif
