/*
 * The load and the store buffer of a planned core. A load has an entry from its issue until it
 * retires, a store from its issue until it is in L1D, in the order of the program. So a full buffer
 * is one that has taken in as many loads or stores as it has entries since a miss that has not
 * ended: of the miss it is known how many there were before it. Accesses that hit need no look.
 *
 * A load that misses holds up all loads and stores behind it, a store the stores.
 */
#ifndef MACHINE_BUFFERS_H
#define MACHINE_BUFFERS_H

#include "machine/state.h"

/** For a hart that is zeroed. */
void buffers_init(struct machine_hart *core);

/**
 * A miss until @end has been added, and holds: notes how many accesses there were before it. Its
 * own access is counted after that.
 */
MACHINE_OUTLINE void buffers_note(struct machine_hart *core, uint64_t end, bool is_load,
				  enum machine_miss_level level);

/**
 * Where that is due, lets the clock pass until the stores and loads so far have had an entry.
 * @param ticks  of the block that has been taken in since
 */
void buffers_settle(struct machine_hart *core, uint64_t ticks);

/** Lets the clock pass until there is an entry for one store more. */
void buffers_admit_store(struct machine_hart *core);

/** Whether machine_attend() is due because of the buffers alone, and there is nothing to do until
 * later. */
bool buffers_pass(struct machine_hart *core);
/** Finds out when machine_attend() is due, which it is for other reasons at @other. */
void buffers_attend(struct machine_hart *core, uint64_t other);

/** A block of so many instructions has a fence: what follows the block waits for all accesses. */
void buffers_fence(struct machine_hart *core, uint32_t instructions);

/** The tick at which the last store so far is in L1D, where misses have held it up; or the present.
 */
uint64_t buffers_drained(const struct machine_hart *core);

#endif
