/* Which events the kernel is asked for in which run of a program, until each was counted whole. */
#ifndef CLI_ROUNDS_H
#define CLI_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#define ROUNDS_EVENTS_MAX 64

struct rounds {
	size_t events, size;	      /* size: most events that a run is asked for */
	bool done[ROUNDS_EVENTS_MAX]; /* by event */
};

/** @param events  up to ROUNDS_EVENTS_MAX */
void rounds_init(struct rounds *rounds, size_t events);

/**
 * Chooses the events of the next run.
 * @param which  receives them, ROUNDS_EVENTS_MAX at most
 * @return how many; 0: all are done
 */
size_t rounds_next(const struct rounds *rounds, size_t *which);

/**
 * Takes what became of a run. Where no event was counted all the time, the next asks for half as
 * many; one that is not counted whole even alone is done.
 * @param whole  of each of @which, whether it was counted all the time, or will never be
 */
void rounds_take(struct rounds *rounds, const size_t *which, const bool *whole, size_t count);

#endif
