/*
 * Skew control: cores that run in parallel stay close in time. Each publishes its clock
 * periodically. A core that is ahead waits for those that are behind, but only for a bounded time.
 */
#ifndef MACHINE_PACE_H
#define MACHINE_PACE_H

#include "machine/state.h"

#define PACE_PATIENCE_NS 2000000 /* the host may have stopped the others */

/** Shows the core's clock to the others; hides it while nobody runs there. */
void pace_show(struct machine_core *core);
void pace_hide(struct machine_core *core);

/** Waits while a running core is more than @cycles core cycles behind. */
void pace_keep(struct machine_core *core, uint64_t cycles);

/**
 * Waits for cores that are behind, before this one takes what they may still want earlier: queues
 * know one time, and who comes late is taken at that.
 */
void pace_meet(struct machine_core *core);

/* Waiting for another thread; the rest is zero when it begins. */
struct pace_wait {
	uint64_t patience_ns; /* as in struct machine */
	unsigned rounds;
	uint64_t deadline; /* host, ns */
};
/** Gives the host's processor away for a moment. @return false where the patience is at its end */
bool pace_wait_on(struct pace_wait *wait);

#endif
