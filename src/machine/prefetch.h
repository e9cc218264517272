/*
 * The prefetchers of L2.
 *
 * The streamer follows the requests that L2 looks up, page by page. From the third line on in one
 * direction it asks for up to two lines a request, at most `stream_lines` ahead. They go into L2,
 * or into the LLC alone where they are far ahead or L2 has many misses of the core. The adjacent
 * line prefetcher completes pairs of lines that miss. Both ask only while the superqueue has room,
 * and never beyond the page (Intel 248966, data prefetch to L2 and LLC).
 */
#ifndef MACHINE_PREFETCH_H
#define MACHINE_PREFETCH_H

#include "machine/cache.h"
#include "machine/superqueue.h"

/* What L2 prefetches. */
struct prefetch_request {
	uint32_t line;
	enum signal_request
	    request; /* REQUEST_READ_*: into L2; REQUEST_PREFETCH_*: the LLC alone */
};

#define PREFETCH_REQUESTS_MAX 3 /* two of the streamer, and an adjacent line */

/* What a lookup makes L2 ask for. */
struct prefetch_plan {
	struct prefetch_request requests[PREFETCH_REQUESTS_MAX]; /* of lines that are absent */
	unsigned count, asked;					 /* asked: the others too */
};

static inline uint32_t prefetch_on(const struct core *core)
{
	return __atomic_load_n(&core->prefetch.on, __ATOMIC_RELAXED);
}

/**
 * The core's caches are held.
 * @return whether L2 neither has the line nor waits for it; where it has it, that is counted
 */
static MACHINE_INLINE bool prefetch_is_absent(const struct machine_hart *core, uint32_t line,
					      uint64_t now)
{
	const struct machine *machine = core->machine;
	struct core *shared = core->core;
	bool has;

	if (superqueue_arrival(&shared->prefetch.queue, machine->desc->superqueue_entries, line,
			       now) > now)
		return false;
	has = l2_find(machine, shared, line) >= 0;
	shared->l2_prefetch_hits += has;
	return !has;
}

/**
 * L2 missed a line of which a request at @now says that it is there at @end: enters it in the
 * superqueue. The core's caches are held, here and in the next.
 * @param plan  receives what is prefetched for it
 * @return the tick at which it is there
 */
uint64_t prefetch_missed(const struct machine_hart *core, uint32_t line,
			 enum signal_request request, uint64_t now, uint64_t end,
			 struct prefetch_plan *plan);
/** L2 has a line, which it looked up at @now. Lets go of the caches. @return as above */
uint64_t prefetch_hit(struct machine_hart *core, uint32_t line, enum signal_request request,
		      uint64_t now);
/** A line that L2 is to have, looked up at @now. Lets go of the caches. */
void prefetch_one(struct machine_hart *core, uint32_t line, uint64_t now);

#endif
