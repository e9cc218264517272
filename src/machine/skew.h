/*
 * Skew control: cores that run in parallel stay close in time. Each publishes its clock
 * periodically. A core that is ahead waits for those that are behind, but only for a bounded time.
 */
#ifndef MACHINE_SKEW_H
#define MACHINE_SKEW_H

#include "machine/state.h"

#define SKEW_PATIENCE_NS 2000000 /* the host may have stopped the others */

/** Shows the core's clock to the others; hides it while nobody runs there. */
void skew_show(struct machine_hart *core);
void skew_hide(struct machine_hart *core);

/** Waits while a running core is more than @cycles core cycles behind. */
void skew_keep(struct machine_hart *core, uint64_t cycles);

/**
 * Waits for cores that are behind, before this one takes what they may still want earlier: queues
 * know one time, and who comes late is taken at that.
 */
void skew_synchronise(struct machine_hart *core);

/* Waiting for another thread; the rest is zero when it begins. */
struct skew_wait {
	uint64_t patience_ns; /* as in struct machine */
	unsigned rounds;
	uint64_t deadline; /* host, ns */
};
/** Gives the host's processor away for a moment. @return false where the patience is at its end */
bool skew_wait_on(struct skew_wait *wait);

#endif
