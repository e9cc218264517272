/*
 * The way into and out of a core's L2: lines move one after the other, each for its time. What
 * comes from the LLC is booked when it is asked for. Only the thread that runs on the core does
 * this.
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

/** A modified line of L1 goes to L2, or one of L2 to the LLC, while another comes: nobody waits for
 * it but who is next. */
static inline void l2_move_back(const struct machine *machine, struct core *core)
{
	core->l2_free += machine->l2_moves.write;
}

static inline void l2_move_out(const struct machine *machine, struct core *core)
{
	core->l2_free += machine->l2_moves.evict;
}

/** Ticks that a line takes from L2 to L1. */
static inline uint32_t l2_to_l1(const struct machine *machine, enum signal_request request)
{
	return request >= REQUEST_READ_OWN ? machine->l2_moves.own : machine->l2_moves.load;
}

/** A line comes from the LLC. @param on  ticks that it takes on its way to L1, 0: it stays in L2 */
static inline void l2_move_in(struct machine_hart *core, uint32_t on)
{
	l2_move(core, core->machine->l2_moves.fill + on);
}

/** L1 asks at @issued for a line that L2 has. @return when it comes */
static inline uint64_t l2_give(struct machine_hart *core, enum signal_request request,
			       uint64_t issued)
{
	const uint64_t begin = machine_max(issued, l2_move(core, l2_to_l1(core->machine, request)));

	if (request != REQUEST_READ_CODE)
		core->core->late += begin - issued;
	return begin + core->l2_ticks;
}

#endif
