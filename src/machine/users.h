/*
 * Threads that have a place on a core: see struct core_user. Where not said otherwise the machine's
 * lock is held.
 */
#ifndef MACHINE_USERS_H
#define MACHINE_USERS_H

#include "machine/state.h"

unsigned users_count(const struct core *shared);

/** Whether the machine has one thread. */
bool users_are_one(const struct machine *machine);

/**
 * Of the cores @cpus, a bit each, the one with the fewest threads.
 * @param thread  that asks, and is not looked at whether it lives
 * @return its number, -1 where all have as many threads as they can
 */
int users_choose_core(struct machine *machine, uint32_t thread, uint64_t cpus);

/**
 * Gives a thread that is to be made, by @thread, a place on a core that has room.
 * @return where its progress is kept
 */
struct machine_progress *users_list(struct core *shared, uint32_t thread);

/** The place is @thread's, or as long as it is @unnamed that of one that @thread makes. */
void users_name(struct core_user *user, uint32_t thread, bool unnamed);

void users_unlist(struct core_user *user);

/** The place of a thread, NULL if it has none. Without the lock. */
struct core_user *users_find(const struct machine *machine, uint32_t thread);

/** Whether the thread sleeps for the machine's lock. Without the lock. */
bool users_in_lock(const struct machine *machine, uint32_t thread);

/** Threads of the core that have died have no place there, but @caller. */
void users_forget_dead(struct machine *machine, unsigned number, uint32_t caller);

/** Whether a thread that lives was not yet on the core where it has its place. Without the lock. */
bool users_any_to_begin(const struct machine *machine);

#endif
