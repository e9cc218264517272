/* System calls of threads that drive cores in turns: which of them end a turn, and how. */
#ifndef FEED_IA64_CORE_SYSTEM_H
#define FEED_IA64_CORE_SYSTEM_H

#include "feed/ia64/core_turns.h"
#include "feed/ia64/cpu.h"

/**
 * A thread is about to make a system call.
 * @param number  as in r15
 * @param a       its arguments
 * @return whether it is done; then *result is its result, else the host has to do it
 */
bool core_system_call(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
		      uint64_t number, const uint64_t *a, int64_t *result);

#endif
