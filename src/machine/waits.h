/*
 * How many requests a core waits for at once, of each kind. It is followed only where somebody
 * subscribes to it: whoever sends a request looks at machine_hart.tracked, and says then when it
 * begins and ends.
 */
#ifndef MACHINE_WAITS_H
#define MACHINE_WAITS_H

#include "machine/state.h"

/** Finds out whether the hart is to say so from here on; each time it starts or looks up. */
void waits_look(struct machine_hart *core);

/* All times are ticks. */

/**
 * L2 gives a line to L1 at @given, which the core has asked for at @issued. Goes on as without the
 * note, and releases the core's caches, which are held.
 * @return when the line is there: later where it is on its way to L2
 */
uint64_t waits_get_line(struct machine_hart *core, enum signal_request request, uint32_t line,
			uint64_t issued, uint64_t given);

/* With the core's caches not held. */

/** A request beyond L2. @param prefetched  by L2 itself */
void waits_note_request(struct machine_hart *core, enum signal_request request, bool prefetched,
			uint64_t begin, uint64_t end);
/** A line that L1D has asked for. @param far  L2 has it not, or not yet */
void waits_note_line(struct machine_hart *core, enum signal_request request, uint64_t begin,
		     uint64_t end, bool far);
/** Loads that hit L1D. */
void waits_note_load(struct machine_hart *core, uint64_t begin, uint64_t end);
void waits_note_walk(struct machine_hart *core, enum tlb_use use, uint64_t begin, uint64_t end);

/** The clock is moved over time in which the thread does not run. */
void waits_skip(struct machine_hart *core, uint64_t from, uint64_t to);

/** Brings what is known up to the core's clock; under the machine's lock. */
void waits_catch_up(const struct machine *machine, unsigned core);

#endif
