/*
 * Accesses to a line that is on its way. A core's request may have been granted, and the line been
 * taken again by another's that is behind it: until the line comes, what the core does there waits
 * in the same fill buffer and needs no request. Not so where it touches bytes that others have
 * asked for since: what the program reads then is newer than what comes.
 */
#ifndef MACHINE_GATHER_H
#define MACHINE_GATHER_H

#include "machine/state.h"

static inline struct gather_line *gather_of(const struct machine *machine, uint32_t line)
{
	return &machine->state->gather[line % GATHER_LINES];
}

/** Under the lock: @core asks for a line, for those of its bytes whose bits are set. */
static inline void gather_note(const struct machine *machine, uint32_t line, unsigned core,
			       uint64_t bytes)
{
	struct gather_line *gather = gather_of(machine, line);

	if (gather->line != line)
		*gather = (struct gather_line){.line = line};
	gather->requests[gather->count++ % GATHER_REQUESTS] =
	    (struct gather_request){.bytes = bytes, .core = core};
}

/** Under the lock: whether others have asked for other bytes only since the core's last request. */
static inline bool gather_may(const struct machine *machine, uint32_t line, unsigned core,
			      uint64_t bytes)
{
	const struct gather_line *gather = gather_of(machine, line);

	if (gather->line != line)
		return false;
	for (uint32_t i = 1; i <= GATHER_REQUESTS && i <= gather->count; i++) {
		const struct gather_request *request =
		    &gather->requests[(gather->count - i) % GATHER_REQUESTS];

		if (request->core == core)
			return true;
		if (request->bytes & bytes)
			return false;
	}
	return false;
}

#endif
