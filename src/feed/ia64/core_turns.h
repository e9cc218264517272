/*
 * Threads of a program drive their cores in turns, by the cores' cycles: one at a time, always the
 * one that is behind most, for a while. So threads meet in emulated time, whatever the host does
 * with them.
 *
 * A thread keeps its turn in a system call that ends by itself. In one that waits for another
 * thread it is blocked, until that one wakes it in its own cycle, or until a cycle. Only a call
 * that waits for something else leaves the order to the host: the thread is outside meanwhile.
 *
 * Of two threads on one core the one in the foreground can have the turn.
 */
#ifndef FEED_IA64_CORE_TURNS_H
#define FEED_IA64_CORE_TURNS_H

#include "machine/epic/epic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct core_turns;

struct core_turn {
	struct core_turns *turns;
	struct epic_core *core; /* NULL: the thread drives none */
	const uint64_t *clock;	/* its cycle */
	uint64_t until;		/* its turn ends in this cycle; 0: it has none */
	bool waits;		/* for its turn, whether it has arrived on the host or not */
	bool outside;
	uint64_t key; /* what it is blocked on; 0: it is not */
	uint32_t bits;
	uint64_t deadline;  /* cycle that ends that; UINT64_MAX: none does */
	uint64_t blockings; /* of all threads, when it began */
	bool timed_out;
	uint32_t awake; /* host's futex of a blocked thread: 1 when it is blocked no more */
	struct core_turn *next;
};

struct core_turns {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	struct core_turn *all, *now; /* now: whose turn it is; NULL: nobody's */
	uint64_t blockings;
	bool several;
	bool others; /* threads run that drive no core; the host alone knows them */
};

void core_turns_init(struct core_turns *turns);
/** A thread begins, in the cycle of the one that makes it, and that calls this. */
void core_turns_begin(struct core_turns *turns, struct core_turn *turn, struct epic_core *core);
/** Waits for the thread's turn, or goes on with it. */
void core_turns_take(struct core_turns *turns, struct core_turn *turn);
/** The thread goes outside until it takes its turn again. */
void core_turns_leave(struct core_turns *turns, struct core_turn *turn);
/** The thread has ended. */
void core_turns_finish(struct core_turns *turns, struct core_turn *turn);
/** Its core does nothing for so many cycles. @return false: others are outside, and the host's time
 * counts */
bool core_turns_sleep(struct core_turns *turns, struct core_turn *turn, uint64_t cycles);
/** In a forked process: the threads are not here. */
void core_turns_end(struct core_turns *turns);

/* What a thread waits for. */
struct core_wait {
	uint64_t key;	      /* not 0 */
	uint32_t bits;	      /* a waker's have to have one of them */
	uint64_t deadline;    /* cycle; UINT64_MAX: none */
	const uint32_t *word; /* that has to hold a value still */
	uint32_t value;
};

/** The thread is blocked from now on; it then sleeps on turn->awake. @return false: the word has
 * changed, and it is not */
bool core_turns_block(struct core_turns *turns, struct core_turn *turn,
		      const struct core_wait *wait);

enum core_unblocked {
	CORE_WOKEN,
	CORE_TIMED_OUT,
	CORE_INTERRUPTED, /* it was blocked still */
	CORE_BLOCKED,	  /* it is blocked still: the machine's time has not come */
};
/**
 * It sleeps no more.
 * @param expired  the host's time for it is over
 */
enum core_unblocked core_turns_unblock(struct core_turns *turns, struct core_turn *turn,
				       bool expired);

/**
 * Wakes up to @most that are blocked, those first that were first, in the cycle of the one whose
 * turn it is.
 * @return how many
 */
unsigned core_turns_wake(struct core_turns *turns, uint64_t key, uint64_t most, uint32_t bits);
/** Up to @most that are blocked on a key are so on another one. @return how many */
unsigned core_turns_move(struct core_turns *turns, uint64_t key, uint64_t to, uint64_t most);

#endif
