/*
 * The front end of an out-of-order core: where the micro-operations of a block come from.
 *
 *	loop buffer	a block that follows itself, if it has room there
 *	DSB		windows of code that were decoded lately
 *	decoders	the rest: MITE
 *	sequencer	instructions of more micro-operations than a decoder makes
 *
 * The first two deliver as many in a cycle as the core issues, so that nothing is done for them but
 * to find out that it is so: blocks of which the DSB has all are in a table. What decoders take
 * longer is time for the core, less what the decode queue holds.
 */
#ifndef MACHINE_FRONT_H
#define MACHINE_FRONT_H

#include "machine/plan.h"
#include "machine/state.h"

/** For a hart that is zeroed. */
void front_init(struct machine_hart *core);

/** Nothing is decoded any more. */
void front_forget(struct machine_hart *core);

/** L1I had not all lines of [@address, @last]: nor has the DSB. */
void front_drop(struct machine_hart *core, uint64_t address, uint64_t last);

/** Whether the DSB has the block at @address; false where it may have. */
static inline bool front_has(const struct machine_hart *core, uint64_t address)
{
	return core->front.blocks[address / MACHINE_FRONT_GRAIN % MACHINE_FRONT_BLOCKS] ==
	       (uint32_t)(address / MACHINE_FRONT_GRAIN);
}

/** Units in which the core took nothing in, for which the front end was not to blame. */
static inline void front_pass(struct machine_hart *core, uint64_t units)
{
	const uint64_t ahead = core->front.ahead + units;

	core->front.ahead = (uint32_t)(ahead < core->front.most ? ahead : core->front.most);
}

/**
 * The block, of which front_has() is not true, is to be issued next; the core's clock is what its
 * lags are relative to.
 * @return units for which the core waits
 */
uint32_t front_deliver(struct machine_hart *core, const struct machine_plan *plan);

/** The same of what the sequencer delivers, behind front_deliver(). */
uint32_t front_sequence(struct machine_hart *core, const struct machine_plan *plan);

/** The block follows itself in the loop buffer. */
bool front_loops(const struct machine_hart *core, const struct machine_plan *plan);

#endif
