#include "machine/fabric/lane.h"

#include <string.h>

static uint64_t *word_of(struct lane *lane, uint64_t cycle)
{
	return &lane->taken[cycle / 64 % LANE_WORDS];
}

/* A cycle is within what it remembers, which goes on with time. */
static void reach(struct lane *lane, uint64_t cycle)
{
	if (cycle >= lane->first + 2 * LANE_CYCLES) {
		memset(lane->taken, 0, sizeof(lane->taken));
		lane->first = cycle - cycle % 64;
	}
	while (cycle >= lane->first + LANE_CYCLES) {
		*word_of(lane, lane->first) = 0;
		lane->first += 64;
	}
}

uint64_t lane_find(struct lane *lane, uint64_t time, unsigned cycles)
{
	uint64_t start = time;

	for (uint64_t cycle = time; cycle < start + cycles; cycle++) {
		reach(lane, cycle);
		if (cycle >= lane->first && *word_of(lane, cycle) >> cycle % 64 & 1)
			start = cycle + 1;
	}
	return start;
}

void lane_take(struct lane *lane, uint64_t time, unsigned cycles)
{
	for (uint64_t cycle = time; cycle < time + cycles; cycle++) {
		reach(lane, cycle);
		if (cycle >= lane->first)
			*word_of(lane, cycle) |= 1ull << cycle % 64;
	}
}
