/* Page placement: virtual pages of a process on physical frames. For the sources of this layer. */
#ifndef MACHINE_ADDRESS_SPACE_H
#define MACHINE_ADDRESS_SPACE_H

#include "machine/memory_ranges.h"
#include "machine/state.h"

#define ADDRESS_DIGIT_LOG2 12 /* three levels of 4096: page numbers of 48-bit addresses */
#define ADDRESS_DIGITS	   (1u << ADDRESS_DIGIT_LOG2)

/* Frames plus 1; 0: not touched yet. */
struct address_leaf {
	uint32_t frames[ADDRESS_DIGITS];
};

struct address_branch {
	struct address_leaf *leaves[ADDRESS_DIGITS];
};

struct machine_address_space {
	struct machine *machine;
	struct memory_ranges *ranges; /* under the machine's lock; NULL: none */
	uint64_t moves;		      /* of pages from their frames */
	struct address_branch *branches[ADDRESS_DIGITS];
};

/** Frame of a virtual page; at first touch one where the policy says, or where there is room. */
uint32_t address_space_frame(struct machine_address_space *space, uint64_t page,
			     struct machine_hart *core);
/** Where a page's frame is noted; NULL: it was never touched. */
uint32_t *address_space_find(struct machine_address_space *space, uint64_t page);
/** A frame that was not given yet, on the node or on the next with room. The lock is held. */
uint32_t address_space_next_frame(struct machine *machine, unsigned node);
static inline unsigned address_space_node(const struct machine *machine, uint32_t frame)
{
	return frame / (machine->lines_per_node >> (PAGE_LOG2 - LINE_LOG2));
}

#endif
