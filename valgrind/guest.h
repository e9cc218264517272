/* The guest: its process on the machine, and what its code tells the machine. */
#ifndef VALGRIND_GUEST_H
#define VALGRIND_GUEST_H

#include "feed/causes.h"

struct guest {
	struct feed_thread *current; /* of the guest thread that runs: one at a time does */
	struct machine_hart *hart;   /* its own; NULL: it is on no core */
	void *state;		     /* Valgrind's of it: VexGuestAMD64State */
	struct feed_process process;
	struct feed_decoder decoder;
	struct feed_causes causes; /* of what is counted, where somebody asks */
};

extern struct guest guest;

/** The thread that runs enters a core with its first block. */
void guest_enter(void);

/** Its slice ends before its next superblock: others may be behind. */
void guest_end_slice(void);

#endif
