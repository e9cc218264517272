/*
 * A core's private caches where they need others: all runs under the machine's lock. Times: @now is
 * a tick of the core's clock; what is returned are ticks until the data are there.
 */
#ifndef MACHINE_PRIVATE_H
#define MACHINE_PRIVATE_H

#include "machine/private_near.h"
#include "machine/tor.h"

/**
 * Gets a line that private_near() left.
 * @param look        what that found; receives the line's slot in L1
 * @param generation  of the caches at that time
 * @param entry       located
 */
uint64_t private_far(const struct private_want *want, struct private_look *look,
		     uint64_t generation, struct tor_entry *entry, unsigned number, uint64_t now);

/* What L2 prefetches. */
struct private_prefetch {
	uint32_t line;
	enum signal_request
	    request; /* REQUEST_READ_*: into L2; REQUEST_PREFETCH_*: the LLC alone */
};

/**
 * Has the LLC send a line to L2, or fetch it itself.
 * @return ticks until the data are there, 0: L2 has the line
 */
uint64_t private_prefetch(struct machine *machine, unsigned number,
			  const struct private_prefetch *prefetch, uint64_t now);

/** Drops the core's own copies before a non-temporal store, writing back a modified one. */
void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now);

/** Snoops: takes the line away, or leaves S of M and E. @return the best state that it had */
enum line_state private_invalidate(struct machine *machine, unsigned number, uint32_t line);
enum line_state private_share(struct machine *machine, unsigned number, uint32_t line);

#endif
