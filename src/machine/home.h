/* A home agent: every request for a line of its memory, snoops to the other socket. */
#ifndef MACHINE_HOME_H
#define MACHINE_HOME_H

#include "machine/state.h"

struct home_answer {
	uint64_t cycles;       /* uncore, from the slice and back to it */
	enum line_state state; /* reads: in which the slice fills the line */
};

/** A request of a slice of socket @requester, sent at uncore cycle @now. */
struct home_answer home_request(struct machine *machine, enum signal_request request,
				unsigned requester, uint32_t line, uint64_t now);

#endif
