/*
 * Whom to wait for. A thread that the host does not schedule is waited for, however long that
 * takes. One that is stopped, or sleeps in its emulator until the others stand still, is not: they
 * would wait for each other.
 */
#ifndef MACHINE_STALL_H
#define MACHINE_STALL_H

#include "machine/state.h"

#define STALL_LOOKS 2 /* that find the same as the one before */

/**
 * A look at a thread for which @self waits; to be repeated, milliseconds apart.
 * @return whether it cannot go on by itself: it has slept all along, while no thread of its process
 *         was awake but those that wait. From then on one look tells whether it still sleeps.
 */
bool stall_look(struct stall *stall, const struct machine *machine, uint32_t thread, uint32_t self);

/** Whether that was so at the last look. */
static inline bool stall_found(const struct stall *stall)
{
	return stall->looks == STALL_LOOKS;
}

/** Whether one of @thread's process that has a place is awake, or may be, and does not wait. */
bool stall_any_awake(const struct machine *machine, uint32_t thread, uint32_t self);

/**
 * Whether a thread of the core sleeps in vfork(): it may have a lock of its emulator, and is woken
 * by its child alone.
 */
bool stall_in_vfork(const struct core *core, uint32_t thread);

/** Whether one of @thread's process does: what it has of its emulator others may wait for. */
bool stall_by_vfork(const struct machine *machine, uint32_t thread);

/** Whether none of the threads that have a place on a core lives. */
bool stall_all_dead(const struct core *core);

#endif
