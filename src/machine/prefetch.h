/*
 * The prefetchers of L2, and the superqueue: what a core has outstanding below its L2, by itself
 * and by its prefetchers. Without prefetchers the fill buffers alone are the limit.
 *
 * The streamer follows the requests that L2 looks up, page by page. From the third line on in one
 * direction it asks for up to two lines a request, at most `stream_lines` ahead. They go into L2,
 * or into the LLC alone where they are far ahead or L2 has many misses of the core. The adjacent
 * line prefetcher completes pairs of lines that miss. Both ask only while the superqueue has room,
 * and never beyond the page (Intel 248966, data prefetch to L2 and LLC).
 */
#ifndef MACHINE_PREFETCH_H
#define MACHINE_PREFETCH_H

#include "machine/state.h"

static inline uint32_t prefetch_on(const struct core *core)
{
	return __atomic_load_n(&core->prefetch.on, __ATOMIC_RELAXED);
}

/** Under the machine's lock: the tick, from @now on, at which the superqueue has room. */
uint64_t prefetch_admit(const struct machine_hart *core, uint64_t now);

/**
 * Under the machine's lock: L2 missed a line of which a request at @now says that it is there at
 * @end. Enters it in the superqueue and prefetches. @return the tick at which it is there
 */
uint64_t prefetch_missed(struct machine_hart *core, uint32_t line, enum signal_request request,
			 uint64_t now, uint64_t end);
/** Without that lock: L2 has a line, which it looked up at @now. @return as above */
uint64_t prefetch_hit(struct machine_hart *core, uint32_t line, enum signal_request request,
		      uint64_t now);

#endif
