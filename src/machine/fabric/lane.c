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

/* Taken ones of up to 64 cycles, the first in bit 0; those before what it remembers are free. */
static uint64_t taken(struct lane *lane, uint64_t time, unsigned cycles)
{
	unsigned bit = time % 64;
	uint64_t found;

	if (time < lane->first) {
		uint64_t before = lane->first - time;

		return before < cycles
			   ? taken(lane, lane->first, cycles - (unsigned)before) << before
			   : 0;
	}
	found = *word_of(lane, time) >> bit;
	if (bit + cycles > 64)
		found |= *word_of(lane, time + 63) << (64 - bit);
	return cycles < 64 ? found & ((1ull << cycles) - 1) : found;
}

uint64_t lane_find(struct lane *lane, uint64_t time, unsigned cycles)
{
	uint64_t found;

	for (;; time += 64u - (unsigned)__builtin_clzll(found)) {
		reach(lane, time + cycles - 1);
		found = taken(lane, time, cycles);
		if (!found)
			return time;
	}
}

void lane_take(struct lane *lane, uint64_t time, unsigned cycles)
{
	uint64_t end = time + cycles, start;

	reach(lane, end - 1);
	for (start = time < lane->first ? lane->first : time; start < end;) {
		unsigned bit = start % 64, rest = (unsigned)(end - start);
		unsigned count = rest < 64 - bit ? rest : 64 - bit;

		*word_of(lane, start) |= (count < 64 ? (1ull << count) - 1 : ~0ull) << bit;
		start += count;
	}
}

unsigned lane_join(struct lane *lane, uint64_t time, unsigned cycles)
{
	unsigned count = 0;

	while (cycles) {
		unsigned some = cycles < 64 ? cycles : 64;

		reach(lane, time + some - 1);
		count += some - (unsigned)__builtin_popcountll(taken(lane, time, some));
		lane_take(lane, time, some);
		time += some;
		cycles -= some;
	}
	return count;
}
