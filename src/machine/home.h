/* A home agent: every request for a line of its memory, snoops to the other socket. */
#ifndef MACHINE_HOME_H
#define MACHINE_HOME_H

#include "machine/slice.h"
#include "machine/state.h"
#include "machine/tor.h"

struct home_answer {
	uint64_t cycles;       /* uncore, from the slice and back to it */
	enum line_state state; /* in which the slice fills the line */
	enum snoop_response response;
};

static inline bool home_is_read(enum signal_request request)
{
	return request == REQUEST_READ_DATA || request == REQUEST_READ_CODE ||
	       request == REQUEST_READ_OWN;
}

/** Of home.response and home.local_response. */
static inline uint32_t home_response_qualifier(enum snoop_response response)
{
	static const uint32_t qualifiers[] = {
	    [SNOOP_RSP_I] = QUALIFIER_HOME_RESPONSE_INVALID,
	    [SNOOP_RSP_S] = QUALIFIER_HOME_RESPONSE_SHARED,
	    [SNOOP_RSP_S_FWD] = QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED,
	    [SNOOP_RSP_I_FWD] = QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED,
	    [SNOOP_RSP_S_WB] = QUALIFIER_HOME_RESPONSE_WRITTEN_BACK,
	    [SNOOP_RSP_I_WB] = QUALIFIER_HOME_RESPONSE_WRITTEN_BACK,
	};

	static_assert(sizeof(qualifiers) / sizeof(qualifiers[0]) == TOTALS_RESPONSES,
		      "a total each");
	return qualifiers[response];
}

/* What a slice's transaction asks for. */
struct home_question {
	uint64_t now; /* uncore cycle at which it leaves the slice */
	uint32_t line;
	struct llc_index index;
	uint8_t socket, node; /* of the slice; the line's home */
	bool shared, near;    /* see struct tor_entry */
};

/** REQUEST_READ_DATA, _CODE or _OWN. */
MACHINE_PATH struct home_answer home_read(struct machine *machine, enum signal_request request,
					  const struct home_question *question);
/**
 * REQUEST_FLUSH: the other socket's copies are invalidated, and memory gets what is modified.
 * @param modified  the slice's socket had it so
 * @return cycles as in struct home_answer
 */
uint64_t home_flush(struct machine *machine, const struct home_question *question, bool modified);
/** REQUEST_OWN: the other socket's copies are invalidated. @return cycles as in struct home_answer
 */
uint64_t home_own(struct machine *machine, const struct home_question *question);
/** REQUEST_WRITEBACK or _PART. @return cycles as in struct home_answer */
uint64_t home_write(struct machine *machine, enum signal_request request,
		    const struct home_question *question);

#endif
