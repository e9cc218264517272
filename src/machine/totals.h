/*
 * The way of a miss is compiled twice: as it emits each signal, and, in quiet.c, as it only adds up
 * what happens, by all that a signal of it would say. The second is taken while nobody needs the
 * signals one by one, and is the same otherwise. What it has added up is reported before registers
 * are read or written: see reports.h.
 */
#ifndef MACHINE_TOTALS_H
#define MACHINE_TOTALS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inline.h"
#include "catalog/signal.h"

#ifndef MACHINE_EMITS
#define MACHINE_EMITS 1
#endif

#define MACHINE_INLINE INLINE_FORCED
/* Of what is called once on the way: the quiet one is one function. */
#ifndef MACHINE_PATH
#define MACHINE_PATH
#endif

/** Emits a signal, or, on the quiet way, nothing. */
static inline __attribute__((always_inline)) void machine_emit(const struct signal_port *port,
							       const struct signal signal)
{
	if (MACHINE_EMITS)
		signal_emit(port, signal);
}

#define TOTALS_NODES	 2
#define TOTALS_RANKS	 8
#define TOTALS_RESPONSES 6

struct total {
	uint64_t count, cycles;
};

static inline void total_add(struct total *total, uint64_t cycles)
{
	total->count++;
	total->cycles += cycles;
}

/* What a TOR entry is for: an index into slice_totals.entries. */
#define TOTALS_REQUESTS	 ((REQUEST_COUNT)*8 * TOTALS_NODES)
#define TOTALS_ENTRIES	 (TOTALS_REQUESTS + 8 * 2 * TOTALS_NODES)
#define TOTALS_OF_SNOOPS REQUEST_NONE

static_assert(SIGNAL_STATE_COUNT <= 8, "three bits");

/** Of requests, REQUEST_NONE for snoops. @param state  of the line before it */
static inline uint32_t totals_request(unsigned request, unsigned state, unsigned node)
{
	return (request * 8 + state) * TOTALS_NODES + node;
}

/** Of victims. @param unused  whether it had no core-valid bits */
static inline uint32_t totals_victim(unsigned state, unsigned node, bool unused)
{
	return TOTALS_REQUESTS + (unused * 8 + state) * TOTALS_NODES + node;
}

/* Of an entry whose span was emitted, or reported before it was over. */
#define TOTALS_NONE UINT16_MAX

struct slice_totals {
	struct total entries[TOTALS_ENTRIES];
	uint64_t ingress_cycles[2]; /* of requests, of snoops: 0 where nothing is new */
};

struct home_totals {
	bool used;					    /* something is new */
	struct total requests[REQUEST_COUNT][TOTALS_NODES]; /* by who asks, as all here */
	struct total snoops[TOTALS_NODES];
	uint64_t pending_cycles[TOTALS_NODES];
	uint64_t responses[TOTALS_RESPONSES][TOTALS_NODES]; /* enum snoop_response */
	uint64_t snoops_late[TOTALS_NODES];
	uint64_t other_writes; /* full lines to memory: of snoop responses, of flushes */
};

/* Of column accesses. */
enum totals_cas {
	TOTALS_READ,
	TOTALS_UNDERFILL,	  /* in read major mode */
	TOTALS_UNDERFILL_WRITING, /* in write major mode */
	TOTALS_WRITE,
	TOTALS_WRITE_WRITING,
	TOTALS_CAS,
};

struct channel_totals {
	bool used;
	struct total read_queue;
	uint64_t cas[TOTALS_CAS][TOTALS_RANKS];
	uint64_t activates[2][TOTALS_RANKS], precharges[2][TOTALS_RANKS]; /* reads, writes */
};

#endif
