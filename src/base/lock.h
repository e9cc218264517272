/*
 * A lock in memory that processes share. It knows its owner's thread, so that another thread can
 * take it from one that died with it. What the lock protects must survive being left half done.
 *
 * A lock can be biased to a thread, which takes and releases it by plain loads and stores. Another
 * thread revokes the bias: it makes that thread's stores visible by a system call (membarrier), and
 * from then on the lock is biased to nobody.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: free. */
struct lock {
	uint32_t word; /* thread id of the owner or of the thread that it is biased to, LOCK_WAITED,
			  LOCK_BIASED */
	uint32_t inside; /* thread id of who holds it because it is biased to that one */
};

#define LOCK_WAITED 0x80000000u /* somebody sleeps, or did: releasing must wake */
#define LOCK_BIASED 0x40000000u

/** Thread id of the caller, as the other functions want it: it asks once a thread, and after
 * fork(). */
uint32_t lock_thread(void);

/** Whether a thread of any process still runs; a zombie does not. */
bool lock_thread_lives(uint32_t thread);

/**
 * Whether nothing is left of a thread that ends with its process: who waits for that is awake. As
 * long as others of the process go on, the first is a zombie.
 */
bool lock_process_has_ended(uint32_t thread);

/**
 * Tells a thread that sleeps, or is stopped, from one that has or wants a processor of the host, or
 * waits for a disk. Reads /proc.
 * @param process  any thread of the process that @thread has to be one of
 * @return 0: it is awake; else the number of this sleep, which is another one whenever it has been
 *         awake in between; LOCK_GONE: the process has no such thread
 */
uint64_t lock_thread_sleep(uint32_t process, uint32_t thread);
#define LOCK_GONE UINT64_MAX

/**
 * Whether a thread that sleeps, by lock_thread_sleep(), is on no processor: one looks so, too, from
 * when it prepares to sleep, and while it sees in the system what it was woken for.
 * @param told  becomes true once the system is seen to tell; until then the thread is believed
 */
bool lock_thread_is_off(uint32_t thread, bool *told);

/** Whether a thread waits for a disk, or in vfork() for its child: no signal wakes it. */
bool lock_thread_sleeps_deep(uint32_t thread);

/** Once in a process: locks may be biased to its threads. @return whether the system can do that */
bool lock_may_bias(void);

void lock_acquire_fully(struct lock *lock, uint32_t thread);
void lock_release_fully(struct lock *lock);
/** Tries for @ns nanoseconds. @return whether the lock was taken */
bool lock_acquire_within(struct lock *lock, uint32_t thread, uint64_t ns);

/** The holder's: the lock is biased to it from now on, or no more. It stays taken. */
void lock_bias(struct lock *lock, uint32_t thread);
void lock_revoke(struct lock *lock, uint32_t thread);

/** Thread id of the owner or of the thread that it is biased to, 0 where it is free. */
static inline uint32_t lock_owner(const struct lock *lock)
{
	return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) & ~(LOCK_WAITED | LOCK_BIASED);
}

/** Whether a thread sleeps for the lock, or did so since it was taken. */
static inline bool lock_is_awaited(const struct lock *lock)
{
	return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) & LOCK_WAITED;
}

static inline bool lock_biased_to(const struct lock *lock, uint32_t thread)
{
	return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) == (thread | LOCK_BIASED);
}

/** Takes a lock that is biased to the thread, without waiting. @return whether it is, and was free
 */
static inline bool lock_acquire_biased(struct lock *lock, uint32_t thread)
{
	if (!lock_biased_to(lock, thread))
		return false;
	__atomic_store_n(&lock->inside, thread, __ATOMIC_RELAXED);
	/* Ordered before the next load by the membarrier of who takes it away. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(lock_biased_to(lock, thread), 1))
		return true;
	__atomic_store_n(&lock->inside, 0, __ATOMIC_RELEASE);
	return false;
}

static inline void lock_release_biased(struct lock *lock)
{
	__atomic_store_n(&lock->inside, 0, __ATOMIC_RELEASE);
}

static inline void lock_acquire(struct lock *lock, uint32_t thread)
{
	if (!lock_acquire_biased(lock, thread))
		lock_acquire_fully(lock, thread);
}

static inline void lock_release(struct lock *lock, uint32_t thread)
{
	if (__atomic_load_n(&lock->inside, __ATOMIC_RELAXED) == thread)
		lock_release_biased(lock);
	else
		lock_release_fully(lock);
}

#endif
