/*
 * How many of a kind are there at once: the ticks with each number, and how often it rose to each.
 * Begins and ends are known ahead; what is counted is final up to a time that moves on.
 */
#ifndef MACHINE_LEVELS_H
#define MACHINE_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#define LEVELS_MAX    32  /* more count as so many */
#define LEVEL_CHANGES 160 /* that are to come, at most: of what begins beyond, nothing is known */

struct level_change {
	uint64_t time; /* tick */
	int32_t by;    /* 1, -1 */
};

/* Valid when zeroed. */
struct levels {
	uint64_t now;	  /* tick up to which it is final */
	uint32_t count;	  /* then */
	uint32_t pending; /* changes, by rising time */
	struct level_change changes[LEVEL_CHANGES];
	uint64_t ticks[LEVELS_MAX + 1]; /* with exactly so many */
	uint64_t rises[LEVELS_MAX + 1]; /* to so many or more, from fewer */
};

/** Nothing is there, from @now on. */
void level_reset(struct levels *level, uint64_t now);

/** One is there from @begin to @end, in ticks; what is final stays. */
void level_add(struct levels *level, uint64_t begin, uint64_t end);

/** Time passes. @param counts  the ticks do; else only the numbers follow */
void level_pass(struct levels *level, uint64_t until, bool counts);

#endif
