/*
 * What others do to a core's private caches, and what leaves them: all runs under the machine's
 * lock. Times: @now is a tick of the core's clock.
 */
#ifndef MACHINE_PRIVATE_H
#define MACHINE_PRIVATE_H

#include "machine/private_near.h"

/*
 * The core's own lock keeps its caches together against snoops. Who has the machine's lock takes it
 * after that one; nobody who has it waits for anything.
 */
static inline void private_hold(struct machine *machine, struct core *core)
{
	lock_acquire(&core->caches, machine->holder);
}

static inline void private_release(struct machine *machine, struct core *core)
{
	lock_release(&core->caches, machine->holder);
}

/** REQUEST_WRITEBACK or _KEEP of a line that the core had modified. @return as slice_write() */
uint64_t private_write_back(struct machine *machine, unsigned number, enum signal_request request,
			    uint32_t line, uint64_t now);

/** Drops the core's own copies before a non-temporal store, writing back a modified one. */
void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now);

/** Snoops: takes the line away, or leaves S of M and E. @return the best state that it had */
enum line_state private_invalidate(struct machine *machine, unsigned number, uint32_t line);
enum line_state private_share(struct machine *machine, unsigned number, uint32_t line);
/** As private_invalidate(), with the core's caches held. */
enum line_state private_take(struct machine *machine, struct core *core, uint32_t line);
/** Whether a core has a line at all; its caches are held. */
static MACHINE_INLINE bool private_has(const struct machine *machine, const struct core *core,
				       uint32_t line)
{
	const unsigned first = line % L1_SETS * L1_WAYS;

	return cache_match8(core->l1d.words + first, l1_tag(line)) |
	       cache_match8(core->l1i.words + first, l1_tag(line)) |
	       cache_match8(core->l2 + l2_first(machine, line), l2_tag(machine, line));
}

#endif
