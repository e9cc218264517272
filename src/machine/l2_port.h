/*
 * The way into and out of a core's L2: lines move one after the other, each for its time. What
 * comes from the LLC is booked when it is asked for. Who runs on the core has this to himself.
 */
#ifndef MACHINE_L2_PORT_H
#define MACHINE_L2_PORT_H

#include "machine/state.h"

/** A line moves, for @ticks, as soon as those before have. @return the tick from which it does */
static inline uint64_t l2_move(struct machine_hart *core, uint32_t ticks)
{
	struct core *shared = core->core;
	const uint64_t begin = machine_max(shared->l2_free, core->progress->time);

	shared->l2_free = begin + ticks;
	return begin;
}

/** A modified line of L1 goes to L2 while another one comes: for it nobody waits but who is next.
 */
static inline void l2_move_back(const struct machine *machine, struct core *core)
{
	core->l2_free += machine->l2_moves.write;
}

/** A line comes from the LLC, for L1 too or for L2 alone. */
static inline void l2_move_in(struct machine_hart *core, bool own, bool l1)
{
	const struct l2_moves *moves = &core->machine->l2_moves;

	l2_move(core, moves->fill + (l1 ? own ? moves->own : moves->load : 0));
}

/** L1 asks at @issued for a line that L2 has. @return when it comes */
static inline uint64_t l2_give(struct machine_hart *core, enum signal_request request,
			       uint64_t issued)
{
	const struct l2_moves *moves = &core->machine->l2_moves;
	const uint64_t begin = machine_max(
	    issued, l2_move(core, request >= REQUEST_READ_OWN ? moves->own : moves->load));

	if (request != REQUEST_READ_CODE)
		core->core->late += begin - issued;
	return begin + core->l2_ticks;
}

#endif
