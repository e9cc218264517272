/*
 * Threads in turns, for a deterministic machine: one thread runs at a time, the one that is
 * furthest behind in emulated time; of those with one time the one made first. Who is given the
 * next turn is decided only when it is settled which threads can have it: every thread that was
 * made has begun, and each that is in a system call sleeps there or has come back. So it does not
 * matter how long the host takes to wake a thread that another has woken.
 *
 * But for turns_join() these functions are for threads that take turns.
 */
#ifndef MACHINE_TURNS_H
#define MACHINE_TURNS_H

#include "machine/state.h"

static inline bool turns_are_taken(const struct machine_hart *core)
{
	return core->member;
}

/** The thread has been placed; the machine's lock is held. */
void turns_join(struct machine_hart *core);

/**
 * Waits for the thread's turn, which it has until its clock comes to core->skew_due.
 * @return the tick that its clock shows at least: where it came from a system call, that until
 * which others have run meanwhile
 */
uint64_t turns_take(struct machine_hart *core);

/** Whether it is still the thread's turn: another goes on while this one sleeps in the emulator. */
bool turns_have(const struct machine_hart *core);

/**
 * Waits until all threads that were made have begun, and wait for their turn. An emulator that
 * stops all threads for a moment after it has made one then always finds them at the same point.
 */
void turns_await_placed(struct machine_hart *core);

/** The turn ends: the thread's process becomes another program, whose first thread is @heir. */
void turns_hand_on(struct machine_hart *core, uint32_t heir);
/** In that thread: it is the member that was handed on. @return false where there is none */
bool turns_continue(struct machine_hart *core);

/** It calls the system without waiting for anybody, and keeps its turn. */
void turns_call(struct machine_hart *core);

/** See machine_hart_halt_others(). */
void turns_halt(struct machine_hart *core);
void turns_release(struct machine_hart *core);

/** The turn ends: the thread calls the system, or goes for ever. */
void turns_pause(struct machine_hart *core);
/** It comes back, and may sleep for locks before turns_take(): it sleeps in the system no more. */
void turns_come_back(struct machine_hart *core);
void turns_leave(struct machine_hart *core);

#endif
