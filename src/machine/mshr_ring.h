/* The outstanding misses of a core, one by one, and the time that they make it wait. */
#ifndef MACHINE_MSHR_RING_H
#define MACHINE_MSHR_RING_H

#include "machine/state.h"

#define MSHR_NO_INSTRUCTION UINT64_MAX

/* By position, from the miss that ends first. */
static inline struct machine_mshr *mshr_at(struct machine_hart *core, uint32_t position)
{
	return &core->misses[(core->first_miss + position) % MACHINE_MISSES_MAX];
}

/** Lets the clock pass until @end; why is noted. */
static inline void mshr_stall(struct machine_hart *core, enum machine_stall why, uint64_t end)
{
	struct machine_progress *progress = core->progress;

	if (progress->time >= end)
		return;
	progress->stalls[why] += end - progress->time;
	progress->time = end;
}

/** Why who waits for a load's line waits. */
static inline enum machine_stall mshr_stall_of(const struct machine_mshr *miss)
{
	return miss->level == MISS_NEAR ? STALL_NEAR : STALL_FAR;
}

#endif
