/*
 * The way of a miss: what a core asks its slice for, and how the line comes into L2 and L1. It is
 * compiled twice (totals.h), and in each has two forms: in one the core's requests may meet those
 * of others; in the other nobody else runs, and what nobody else can change is looked at once.
 */
#ifndef MACHINE_MISS_H
#define MACHINE_MISS_H

#include "machine/mshr.h"
#include "machine/prefetch.h"
#include "machine/private_near.h"

/* What an access met. */
struct found {
	enum private_level level;
	int slot;     /* of L1; < 0: the line is on its way already */
	uint64_t end; /* tick at which the line is there; not of hits in L1 */
};

/* When a miss can be issued, whose address the @registers form. */
static inline uint64_t miss_issue(struct machine_hart *core, enum signal_request request,
				  uint32_t registers)
{
	/* Instructions have buffers of their own. */
	if (request == REQUEST_READ_CODE)
		return core->progress->time;
	if (request >= REQUEST_READ_OWN && core->miss_count)
		return mshr_issue_store(core, registers);
	return mshr_issue(core, registers);
}

/**
 * Gets a line that private_beyond_l1() left, and releases the core's caches. The quiet one is for
 * machine_is_quiet(), as below.
 * @param registers  that form the address
 * @param look       what was found
 */
struct found miss_get(struct machine_hart *core, struct machine_l1 *l1, enum signal_request request,
		      uint32_t line, uint32_t registers, struct private_look look);
struct found miss_get_quiet(struct machine_hart *core, struct machine_l1 *l1,
			    enum signal_request request, uint32_t line, uint32_t registers,
			    struct private_look look);

/**
 * A load of a line that neither L1 nor L2 has, to its end. For machine_is_quiet() where nobody else
 * runs and nothing is prefetched; the machine's lock is held as one that is biased, and released.
 * @param line      virtual
 * @param physical  the same line
 */
void miss_load(struct machine_hart *core, uint64_t line, uint32_t physical,
	       struct machine_insn insn);

/**
 * Sends what a lookup of @request at @now makes L2 ask for to the LLC, and lets go of the core's
 * caches, which are held.
 */
void miss_prefetch(struct machine_hart *core, const struct prefetch_plan *plan,
		   enum signal_request request, uint64_t now);
void miss_prefetch_quiet(struct machine_hart *core, const struct prefetch_plan *plan,
			 enum signal_request request, uint64_t now);

#endif
