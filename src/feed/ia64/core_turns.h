/*
 * Threads of a program drive their cores in turns, by the cores' cycles: one at a time, always the
 * one that is behind most, for a while. Who is in the system is left out. So threads meet in
 * emulated time, whatever the host does with them.
 */
#ifndef FEED_IA64_CORE_TURNS_H
#define FEED_IA64_CORE_TURNS_H

#include "machine/epic/epic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct core_turn {
	struct epic_core *core; /* NULL: the thread drives none */
	const uint64_t *clock;	/* its cycle */
	uint64_t until;		/* its turn ends in this cycle; 0: it has none */
	bool waits;		/* for its turn */
	bool rested;		/* since the time at which others went on */
	struct core_turn *next;
};

struct core_turns {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	struct core_turn *all, *now; /* now: whose turn it is; NULL: nobody's */
	uint64_t left;		     /* cycle in which a thread last went to the system */
	bool several;
};

void core_turns_init(struct core_turns *turns);
/** A thread begins, in the cycle of the one that made it. */
void core_turns_begin(struct core_turns *turns, struct core_turn *turn, struct epic_core *core);
/** Waits for the thread's turn, or goes on with it. */
void core_turns_take(struct core_turns *turns, struct core_turn *turn);
/** The thread goes to the system. @param rests  its core goes on in the cycle of those that ran */
void core_turns_leave(struct core_turns *turns, struct core_turn *turn, bool rests);
/** In a forked process: the threads are not here. */
void core_turns_end(struct core_turns *turns);

#endif
