/* A slice of the LLC: requests of the socket's cores, snoops of the other socket, victims. */
#ifndef MACHINE_SLICE_H
#define MACHINE_SLICE_H

#include "machine/state.h"
#include "machine/tor.h"

/* Times: uncore cycles. @now is when the core sends; the answer counts until it is back there. */
struct slice_answer {
	uint64_t cycles;
	enum line_state granted; /* reads */
	unsigned source;	 /* reads: enum machine_source */
};

/**
 * REQUEST_READ_DATA, _CODE or _OWN of a core.
 * @param entry  located; the request's from now on
 * @param core   its number in the socket
 */
MACHINE_PATH struct slice_answer slice_read(struct machine *machine, struct tor_entry *entry,
					    unsigned core, enum signal_request request,
					    uint64_t now);
/** Whether reads of data and code by @core need nobody else: no other core can have the line. */
MACHINE_PATH bool slice_has(struct tor_entry *entry, unsigned core);
/** As slice_read(), of such a line. */
MACHINE_PATH struct slice_answer slice_hit(struct machine *machine, struct tor_entry *entry,
					   unsigned core, enum signal_request request,
					   uint64_t now);
/** As slice_read(), of another line, after slice_has(). */
MACHINE_PATH struct slice_answer slice_miss(struct machine *machine, struct tor_entry *entry,
					    unsigned core, enum signal_request request,
					    uint64_t now);
/**
 * REQUEST_PREFETCH_*: the same for the LLC alone, which changes nothing where that has the line.
 * Grants I.
 */
MACHINE_PATH struct slice_answer slice_prefetch(struct machine *machine, struct tor_entry *entry,
						unsigned core, enum signal_request request,
						uint64_t now);
/** REQUEST_OWN: as slice_read() of REQUEST_READ_OWN, for who needs no data. */
MACHINE_PATH struct slice_answer slice_own(struct machine *machine, struct tor_entry *entry,
					   unsigned core, uint64_t now);
/**
 * REQUEST_FLUSH of a core: no cache has the line any more.
 * @param modified  the core had it in M
 * @return cycles until it is complete
 */
uint64_t slice_flush(struct machine *machine, unsigned core, uint32_t line, bool modified,
		     uint64_t now);
uint64_t slice_flush_quiet(struct machine *machine, unsigned core, uint32_t line, bool modified,
			   uint64_t now);
/** REQUEST_WRITEBACK, _KEEP, REQUEST_STREAM or _PART of a core. @return cycles until it is complete
 */
uint64_t slice_write(struct machine *machine, unsigned core, enum signal_request request,
		     uint32_t line, uint64_t now);
/* The same on the quiet way. */
uint64_t slice_write_quiet(struct machine *machine, unsigned core, enum signal_request request,
			   uint32_t line, uint64_t now);

enum snoop_response {
	SNOOP_RSP_I,
	SNOOP_RSP_S,
	SNOOP_RSP_S_FWD,
	SNOOP_RSP_I_FWD,
	SNOOP_RSP_S_WB,
	SNOOP_RSP_I_WB,
};

struct snoop_question {
	uint64_t now; /* uncore cycle at which it arrives */
	uint32_t line;
	struct llc_index index;
	enum signal_request request;
	uint8_t socket;	   /* that is snooped */
	bool shared, near; /* see struct tor_entry */
};

struct snoop_answer {
	uint64_t cycles; /* from arrival to response */
	enum snoop_response response;
	bool modified; /* the data that are forwarded */
};

/** A home agent's snoop for a request. */
MACHINE_PATH struct snoop_answer slice_snoop(struct machine *machine,
					     const struct snoop_question *question);

#endif
