/*
 * A way that one packet at a time takes: which cycles are taken. Transactions are told one after
 * the other, each with times ahead of the next one's beginning, so a free gap may lie between taken
 * cycles. It remembers the last LANE_CYCLES; what is older than these waits for nothing.
 */
#ifndef MACHINE_FABRIC_LANE_H
#define MACHINE_FABRIC_LANE_H

#include <stdint.h>

#define LANE_WORDS  64u
#define LANE_CYCLES (LANE_WORDS * 64u)

struct lane {
	uint64_t first; /* cycle of the oldest bit; a multiple of 64 */
	uint64_t taken[LANE_WORDS];
};

/** When so many cycles in a row, 1 to 64, are free, from a time on. */
uint64_t lane_find(struct lane *lane, uint64_t time, unsigned cycles);
void lane_take(struct lane *lane, uint64_t time, unsigned cycles);
/** Takes cycles that may be taken already. @return those that were free */
unsigned lane_join(struct lane *lane, uint64_t time, unsigned cycles);

#endif
