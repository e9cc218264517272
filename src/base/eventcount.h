/*
 * A number in memory that processes share, which only rises, and which can be waited for (Reed and
 * Kanodia's eventcount). Raising it is a system call only where somebody has said that it waits
 * since it last rose.
 */
#ifndef BASE_EVENTCOUNT_H
#define BASE_EVENTCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing has happened, nobody waits. */
struct eventcount {
	uint64_t count; /* its low half is the futex of those that sleep */
	uint32_t waited;
	uint32_t reserved;
};

static inline uint64_t eventcount_read(const struct eventcount *event)
{
	return __atomic_load_n(&event->count, __ATOMIC_ACQUIRE);
}

/** Adds 1 and wakes all that wait. */
void eventcount_advance(struct eventcount *event);

/**
 * Sleeps until the number is not @seen, for @ns nanoseconds at most. Signals do not end it.
 * @return whether the number differs
 */
bool eventcount_await(struct eventcount *event, uint64_t seen, uint64_t ns);

#endif
