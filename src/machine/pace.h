/*
 * Skew control: cores that run in parallel stay close in time. Each publishes its clock
 * periodically. A core that is ahead waits for those that are behind, but only for a bounded time.
 */
#ifndef MACHINE_PACE_H
#define MACHINE_PACE_H

#include "machine/state.h"

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

/* Zeroed: waiting for another thread begins. */
struct pace_wait {
	unsigned rounds;
	uint64_t deadline; /* host, ns */
};
/** Gives the host's processor away for a moment. @return false where 2 ms have passed in all */
bool pace_wait_on(struct pace_wait *wait);

#endif
