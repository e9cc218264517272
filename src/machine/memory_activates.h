/*
 * When a rank can have another activate: apart from the one before, by more within a bank group,
 * and four at most in a window. Requests of several cores ask for theirs in any order, so the
 * latest are kept in the order of their cycles.
 */
#ifndef MACHINE_MEMORY_ACTIVATES_H
#define MACHINE_MEMORY_ACTIVATES_H

#include <stdbool.h>
#include <stdint.h>

/* A power of two. Requests that come before all of these wait: fewer would slow down many cores. */
#define ACTIVATES_KEPT	 32
#define ACTIVATES_WINDOW 4

/* DRAM cycles between activates of a rank. */
struct activate_limits {
	uint32_t group;	 /* of one bank group; not less than other */
	uint32_t other;	 /* of two, one at least */
	uint32_t window; /* from one to the fourth after it */
};

/* Valid when zeroed. */
struct memory_activates {
	uint32_t next;		     /* a ring index, modulo ACTIVATES_KEPT; the latest before it */
	uint32_t count;		     /* that are kept */
	uint64_t at[ACTIVATES_KEPT]; /* rising */
	uint8_t group[ACTIVATES_KEPT];
};

/* Ring index of the one that has @newer ones after it. */
static inline uint32_t activates_slot(const struct memory_activates *kept, uint32_t newer)
{
	return (kept->next - 1 - newer) % ACTIVATES_KEPT;
}

static inline uint64_t activates_cycle(const struct memory_activates *kept, uint32_t newer)
{
	return kept->at[activates_slot(kept, newer)];
}

/* @return the first cycle from @at on that is far enough from each of them */
static inline uint64_t activates_apart(const struct memory_activates *kept,
				       const struct activate_limits *limits, uint8_t group,
				       uint64_t at)
{
	uint32_t newer = 0;

	/* Those before are far enough. */
	while (newer < kept->count && activates_cycle(kept, newer) + limits->group > at)
		newer++;
	while (newer--) {
		const uint32_t slot = activates_slot(kept, newer);
		const uint64_t other = kept->at[slot];
		const uint32_t limit = kept->group[slot] == group ? limits->group : limits->other;

		if (other < at + limit && at < other + limit)
			at = other + limit;
	}
	return at;
}

/*
 * Of five in a row, one of which is at @at, the last is no sooner than the window after the first.
 * @return @at, or a later cycle to try
 */
static inline uint64_t activates_spread(const struct memory_activates *kept, uint32_t window,
					uint64_t at)
{
	uint32_t newer = 0; /* than @at */

	while (newer < kept->count && activates_cycle(kept, newer) > at)
		newer++;
	for (uint32_t after = 0; after <= ACTIVATES_WINDOW && after <= newer; after++) {
		const uint32_t before = ACTIVATES_WINDOW - after;
		uint64_t first = at, last = at;

		if (newer + before > kept->count)
			continue;
		if (before)
			first = activates_cycle(kept, newer + before - 1);
		if (after)
			last = activates_cycle(kept, newer - after);
		if (last < first + window)
			return after ? activates_cycle(kept, newer - 1) + 1 : first + window;
	}
	return at;
}

static inline bool activates_are_before(const struct memory_activates *kept,
					const struct activate_limits *limits, uint64_t at)
{
	return (!kept->count || activates_cycle(kept, 0) + limits->group <= at) &&
	       (kept->count < ACTIVATES_WINDOW ||
		activates_cycle(kept, ACTIVATES_WINDOW - 1) + limits->window <= at);
}

/** @return the first cycle from @at on at which the rank can have an activate of @group */
static inline uint64_t activates_find(const struct memory_activates *kept,
				      const struct activate_limits *limits, uint8_t group,
				      uint64_t at)
{
	uint64_t tried;

	if (activates_are_before(kept, limits, at))
		return at;
	/* What was before the oldest one is forgotten, and may have been in one window with this.
	 */
	if (kept->count == ACTIVATES_KEPT &&
	    at < activates_cycle(kept, ACTIVATES_KEPT - ACTIVATES_WINDOW))
		at = activates_cycle(kept, ACTIVATES_KEPT - ACTIVATES_WINDOW);
	do {
		tried = at;
		at = activates_apart(kept, limits, group, at);
		at = activates_spread(kept, limits->window, at);
	} while (at != tried);
	return at;
}

static inline void activates_take(struct memory_activates *kept, uint8_t group, uint64_t at)
{
	uint32_t slot = kept->next++ % ACTIVATES_KEPT;

	if (kept->count < ACTIVATES_KEPT)
		kept->count++;
	for (uint32_t newer = 1; newer < kept->count && activates_cycle(kept, newer) > at;
	     newer++) {
		const uint32_t before = activates_slot(kept, newer);

		kept->at[slot] = kept->at[before];
		kept->group[slot] = kept->group[before];
		slot = before;
	}
	kept->at[slot] = at;
	kept->group[slot] = group;
}

#endif
