/* Page placement: virtual pages of a process on physical frames. For the sources of this layer. */
#ifndef MACHINE_ADDRESS_SPACE_H
#define MACHINE_ADDRESS_SPACE_H

#include "machine/memory_ranges.h"
#include "machine/state.h"

#define ADDRESS_DIGIT_LOG2 12 /* three levels of 4096: page numbers of 48-bit addresses */
#define ADDRESS_DIGITS	   (1u << ADDRESS_DIGIT_LOG2)

#define ADDRESS_TABLE_LOG2 9 /* entries of a page table of the processor's */

/*
 * Of an entry: until it is written the frame is another process's, of which this one is a fork, or
 * the one of zeros.
 */
#define ADDRESS_INHERITED (UINT32_C(1) << 31)

/* Frames plus 1; 0: not touched yet. So are those of the processor's page tables. */
struct address_leaf {
	uint32_t frames[ADDRESS_DIGITS];
	uint32_t tables[ADDRESS_DIGITS >> ADDRESS_TABLE_LOG2];
	uint8_t large; /* bit: so many pages together are a large one */
};

struct address_branch {
	struct address_leaf *leaves[ADDRESS_DIGITS];
	uint32_t directories[1u << (2 * ADDRESS_DIGIT_LOG2 - 2 * ADDRESS_TABLE_LOG2)];
};

#define ADDRESS_UNMAPPED 16 /* ranges of pages that are remembered */

struct address_unmapped {
	uint64_t first, count;
};

struct machine_address_space {
	struct machine *machine;
	struct memory_ranges *ranges;	 /* under the machine's lock; NULL: none */
	struct memory_ranges *anonymous; /* where pages can be large; as ranges */
	struct memory_ranges *shared;	 /* where pages are of a file, or of other processes too */
	uint64_t moves;			 /* of pages from their frames */
	/* What was unmapped, of which no TLB is to know: under the lock, the last ones of so many.
	 */
	uint64_t unmapped_count;
	struct address_unmapped unmapped[ADDRESS_UNMAPPED];
	bool has_large;
	uint32_t root, upper[1u << (3 * ADDRESS_DIGIT_LOG2 - 3 * ADDRESS_TABLE_LOG2)];
	struct address_branch *branches[ADDRESS_DIGITS];
};

/*
 * Where the system has all frames, in order: beyond what programs can address. A file's are in the
 * order in which they were first asked for, whatever its number.
 */
#define ADDRESS_SYSTEM_PAGE (UINT64_C(1) << (47 - PAGE_LOG2))

/* Frames that the system fills before a program sees them. */
struct address_fill {
	uint32_t count; /* 0: none */
	uint32_t first;
	bool copies;   /* else it stores zeros */
	uint32_t from; /* the frame that it copies */
};

/** Frame of a virtual page; at first touch one where the policy says, or where there is room. */
uint32_t address_space_frame(struct machine_address_space *space, uint64_t page,
			     struct machine_hart *core);
/**
 * The same for an access: what is inherited gets a frame of its own when it is written.
 * @param fill  set where machine_has_kernel_io() and the page has got a frame; else left as it is
 * @return the frame, and ADDRESS_INHERITED where it is still another's
 */
uint32_t address_space_access(struct machine_address_space *space, uint64_t page,
			      struct machine_hart *core, bool writes, struct address_fill *fill);
/** Where a page's frame is noted; NULL: it was never touched. */
uint32_t *address_space_find(struct machine_address_space *space, uint64_t page);
/**
 * Goes to the first page from *@page on, before @end, that may have been touched.
 * @return where its frame is noted; NULL: there is none
 */
uint32_t *address_space_next(struct machine_address_space *space, uint64_t *page, uint64_t end);
/** Notes the frame of a page that has one already. The lock is held. */
void address_space_set(struct machine_address_space *space, uint64_t page, uint32_t frame);
/** A frame that was not given yet, on the node or on the next with room. The lock is held. */
uint32_t address_space_next_frame(struct machine *machine, unsigned node);
/**
 * Physical line of an entry of a page table that has been touched, by level: 0: of the page itself.
 * @return -1 where the host had no memory for it
 */
int64_t address_space_table_line(struct machine_address_space *space, uint64_t page,
				 unsigned level);
/** The large page of which a page is one, if it is, becomes small ones. The lock is held. */
void address_space_split(struct machine_address_space *space, uint64_t page);
/** A page has no frame any more, nor is the large page one of which it was. The lock is held. */
void address_space_forget(struct machine_address_space *space, uint64_t page);
/**
 * A page gets the frame of another, which gets what it had: the frame of a page that is not mapped,
 * or none. Those behind follow, so that a large page of which all @count pages go stays one where
 * both are aligned. The lock is held.
 * @param core  that moves them: page tables are where it is
 */
void address_space_swap(struct machine_address_space *space, uint64_t page, uint64_t target,
			uint64_t count, const struct machine_hart *core);
/** Pages are not there any more, or elsewhere: for TLBs. The lock is held. */
void address_space_unmap(struct machine_address_space *space, uint64_t first, uint64_t count);
/** Whether a page that has been touched is one of a large page. */
bool address_space_is_large(struct machine_address_space *space, uint64_t page);

/* The frame of an entry that is not 0. */
static inline uint32_t address_frame(uint32_t entry)
{
	return (entry & ~ADDRESS_INHERITED) - 1;
}

static inline unsigned address_space_node(const struct machine *machine, uint32_t frame)
{
	return frame / (machine->lines_per_node >> (PAGE_LOG2 - LINE_LOG2));
}

#endif
