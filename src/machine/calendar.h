/*
 * The cycles at which a resource that serves one at a time (a data bus, a link) is taken, some
 * CALENDAR_CYCLES before the end of the latest use at most. A request that comes after others that
 * were stamped later finds the cycles that those have left free.
 */
#ifndef MACHINE_CALENDAR_H
#define MACHINE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_CYCLES	 8192 /* some times what cores may be apart; a power of two */
#define CALENDAR_WORDS	 (CALENDAR_CYCLES / 64)
#define CALENDAR_USE_MAX 63
#define CALENDAR_NONE	 UINT64_MAX

/* Valid when zeroed. */
struct calendar {
	uint64_t end;			/* of the latest use, cycle */
	uint64_t words;			/* that cycles before it are in */
	uint64_t taken[CALENDAR_WORDS]; /* a ring of bits, those before end */
};

/* The first cycle that is known. */
static inline uint64_t calendar_begin(const struct calendar *calendar)
{
	return calendar->words > CALENDAR_WORDS ? (calendar->words - CALENDAR_WORDS) * 64 : 0;
}

/* So that the calendar ends at @end, which is later than it did. */
static inline void calendar_extend(struct calendar *calendar, uint64_t end)
{
	const uint64_t words = (end + 63) / 64;
	uint64_t word = calendar->words;

	calendar->end = end;
	if (word == words)
		return;
	calendar->words = words;
	if (word + CALENDAR_WORDS < words)
		word = words - CALENDAR_WORDS;
	for (; word < words; word++)
		calendar->taken[word % CALENDAR_WORDS] = 0;
}

/** @param cycles  1 to CALENDAR_USE_MAX */
static inline void calendar_take(struct calendar *calendar, uint64_t from, uint32_t cycles)
{
	const uint64_t bits = (UINT64_C(1) << cycles) - 1;

	if (calendar->end < from + cycles)
		calendar_extend(calendar, from + cycles);
	else if (from < calendar_begin(calendar))
		return;
	calendar->taken[from / 64 % CALENDAR_WORDS] |= bits << from % 64;
	calendar->taken[(from / 64 + 1) % CALENDAR_WORDS] |= bits >> 1 >> (63 - from % 64);
}

/** @return the first of @cycles free ones from @from on; CALENDAR_NONE: not before the end */
static inline uint64_t calendar_find(const struct calendar *calendar, uint64_t from,
				     uint32_t cycles)
{
	uint64_t run = 0;

	if (from < calendar_begin(calendar))
		from = calendar_begin(calendar);
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
	return cycle < calendar->end && cycle >= calendar_begin(calendar) &&
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
