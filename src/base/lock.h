/*
 * A lock in memory that processes share. It knows its owner's thread, so that it can be taken from
 * one that died with it; what it protects must bear having been left half done.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: free. */
struct lock {
	uint32_t word; /* thread id of the owner, LOCK_WAITED */
};

/** Thread id of the caller, as the other functions want it. A system call: keep it. */
uint32_t lock_thread(void);

/** Whether a thread of any process still runs; a zombie does not. */
bool lock_thread_lives(uint32_t thread);

void lock_acquire(struct lock *lock, uint32_t thread);
/** Tries for @ns nanoseconds. @return whether the lock was taken */
bool lock_acquire_within(struct lock *lock, uint32_t thread, uint64_t ns);
void lock_release(struct lock *lock);
/** Thread id of the owner, 0 where it is free. */
uint32_t lock_owner(const struct lock *lock);

#endif
