/* A slice of the LLC: requests of the socket's cores, snoops of the other socket, victims. */
#ifndef MACHINE_SLICE_H
#define MACHINE_SLICE_H

#include "machine/home.h"
#include "machine/state.h"

/* IDI opcodes (334291-001 table 2-20). */
enum slice_opcode {
	SLICE_RFO = 0x180,
	SLICE_CRD = 0x181,
	SLICE_DRD = 0x182,
	SLICE_WCILF = 0x18c,
	SLICE_WCIL = 0x18d,
	SLICE_WB_MTO_I = 0x1c4,
	SLICE_WB_MTO_E = 0x1c5,
};

/* Times: uncore cycles. @now is when the core sends; the answer counts until it is back there. */
struct slice_answer {
	uint64_t cycles;
	enum line_state granted; /* reads */
	bool missed;		 /* reads: the line was in I */
};

/** DRd, CRd or RFO. */
struct slice_answer slice_read(struct machine *machine, unsigned core, enum slice_opcode opcode,
			       uint32_t line, uint64_t now);
/** WbMtoI, WbMtoE, WCiLF or WCiL. @return cycles until it is complete */
uint64_t slice_write(struct machine *machine, unsigned core, enum slice_opcode opcode,
		     uint32_t line, uint64_t now);

enum snoop_response {
	SNOOP_RSP_I,
	SNOOP_RSP_S,
	SNOOP_RSP_S_FWD,
	SNOOP_RSP_I_FWD,
	SNOOP_RSP_S_WB,
	SNOOP_RSP_I_WB,
};

struct snoop_answer {
	uint64_t cycles; /* from arrival to response */
	enum snoop_response response;
	bool modified; /* the data that are forwarded */
};

/** A home agent's snoop for a request of kind @kind, arriving at @now. */
struct snoop_answer slice_snoop(struct machine *machine, unsigned socket, enum home_kind kind,
				uint32_t line, uint64_t now);

#endif
