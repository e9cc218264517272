/*
 * The cycles at which a resource that serves one at a time (a data bus, a link) is taken, as far as
 * CALENDAR_CYCLES before the end of the latest use. A request that comes after others that were
 * stamped later finds the cycles that those have left free.
 */
#ifndef MACHINE_CALENDAR_H
#define MACHINE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_CYCLES 8192 /* some times what cores may be apart; a power of two */
#define CALENDAR_WORDS	(CALENDAR_CYCLES / 64)
#define CALENDAR_NONE	UINT64_MAX

/* Valid when zeroed. */
struct calendar {
	uint64_t end;			/* of the latest use, cycle */
	uint64_t taken[CALENDAR_WORDS]; /* a ring of bits, those before end */
};

static inline void calendar_take(struct calendar *calendar, uint64_t from, uint32_t cycles)
{
	uint64_t end = from + cycles, cleared = calendar->end;

	if (end > cleared + CALENDAR_CYCLES)
		cleared = end - CALENDAR_CYCLES;
	while (cleared < end) {
		if (!(cleared % 64) && end - cleared >= 64) {
			calendar->taken[cleared / 64 % CALENDAR_WORDS] = 0;
			cleared += 64;
			continue;
		}
		calendar->taken[cleared / 64 % CALENDAR_WORDS] &= ~(1ull << cleared % 64);
		cleared++;
	}
	if (calendar->end < end)
		calendar->end = end;
	for (; from < end; from++)
		calendar->taken[from / 64 % CALENDAR_WORDS] |= 1ull << from % 64;
}

/** @return the first of @cycles free ones from @from on; CALENDAR_NONE: not before the end */
static inline uint64_t calendar_find(const struct calendar *calendar, uint64_t from,
				     uint32_t cycles)
{
	uint64_t run = 0;

	if (from + CALENDAR_CYCLES < calendar->end)
		from = calendar->end - CALENDAR_CYCLES;
	while (from < calendar->end) {
		const uint64_t word = calendar->taken[from / 64 % CALENDAR_WORDS] >> from % 64;
		uint64_t left = 64 - from % 64;

		if (word & 1) {
			from += ~word ? (uint64_t)__builtin_ctzll(~word) : left;
			run = 0;
			continue;
		}
		if (word)
			left = (uint64_t)__builtin_ctzll(word);
		if (left > calendar->end - from)
			left = calendar->end - from;
		if (run + left >= cycles)
			return from - run;
		run += left;
		from += left;
	}
	return CALENDAR_NONE;
}

/* Of cycles that are known no more, it is not. */
static inline bool calendar_is_taken(const struct calendar *calendar, uint64_t cycle)
{
	return cycle < calendar->end && cycle + CALENDAR_CYCLES >= calendar->end &&
	       calendar->taken[cycle / 64 % CALENDAR_WORDS] >> cycle % 64 & 1;
}

/** @return cycles to put off a use at @from, so that before it one of @cycles has room, or nothing
 */
static inline uint32_t calendar_fragment(const struct calendar *calendar, uint64_t from,
					 uint32_t cycles)
{
	uint32_t free = 0;

	while (free < cycles && from > free && !calendar_is_taken(calendar, from - free - 1))
		free++;
	return free % cycles ? cycles - free : 0;
}

#endif
