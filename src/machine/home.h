/* A home agent: every request for a line of its memory, snoops to the other socket. */
#ifndef MACHINE_HOME_H
#define MACHINE_HOME_H

#include "machine/state.h"

/* QPI opcodes of message class HOM0 (334291-001 table 2-266), and what they do not say. */
#define HOME_PARTIAL 0x100
enum home_kind {
	HOME_RD_CODE = 0x01,
	HOME_RD_DATA = 0x02,
	HOME_RD_INV_OWN = 0x04,
	HOME_INV_ITO_E = 0x08,
	HOME_WB_MTO_I = 0x0c,
	HOME_WB_MTO_I_PTL = HOME_WB_MTO_I | HOME_PARTIAL,
};

struct home_answer {
	uint64_t cycles;       /* uncore, from the slice and back to it */
	enum line_state state; /* reads: in which the slice fills the line */
};

/** A request of a slice of socket @requester, sent at uncore cycle @now. */
struct home_answer home_request(struct machine *machine, enum home_kind kind, unsigned requester,
				uint32_t line, uint64_t now);

#endif
