/* A home agent: every request for a line of its memory, snoops to the other socket. */
#ifndef MACHINE_HOME_H
#define MACHINE_HOME_H

#include "machine/state.h"
#include "machine/tor.h"

struct home_answer {
	uint64_t cycles;       /* uncore, from the slice and back to it */
	enum line_state state; /* reads: in which the slice fills the line */
};

/** A request for the line of a slice's transaction, sent after what that has spent so far. */
struct home_answer home_request(struct machine *machine, enum signal_request request,
				const struct tor_entry *from);

#endif
