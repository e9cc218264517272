/*
 * Signals: what an emulated machine announces and an emulated PMU counts. Their names, facets and
 * fields are data (catalog/signals.json); neither side knows more of the other than this header.
 */
#ifndef CATALOG_SIGNAL_H
#define CATALOG_SIGNAL_H

#include <stdint.h>

#include "pmulab/catalog.h"

/*
 * Generated: enum pmu_signal_id { SIGNAL_NONE, SIGNAL_CBO_LOOKUP, .., SIGNAL_COUNT } and for each
 * facet a bit, e.g. FACET_CBO_LOOKUP_DATA_READ.
 */
#include "catalog/signal_ids.h"

enum signal_kind {
	SIGNAL_PULSE,
	SIGNAL_SPAN,
	SIGNAL_LEVEL, /* one number a box instance, signal and facet set; 0 before the first */
	SIGNAL_TALLY, /* so much of it since it was announced last: no times, only sums */
};

/* A line's state in the LLC as FILTER0.state numbers it (334291-001 table 2-18), bit positions. */
enum signal_state {
	SIGNAL_STATE_I,
	SIGNAL_STATE_S,
	SIGNAL_STATE_E,
	SIGNAL_STATE_M,
	SIGNAL_STATE_F,
};

#define SIGNAL_TID_NONE 0x3f /* no thread: victims, snoops from outside */

/* One announcement. Fields that the signal does not list are 0. */
struct signal {
	uint16_t id; /* enum pmu_signal_id */
	uint8_t socket;
	uint8_t instance; /* of the box in its socket, in catalog order */
	uint32_t facets;
	uint64_t time;	   /* cycle of the box's clock at which it happens or begins */
	uint64_t duration; /* spans: cycles; it is there in [time, time + duration);
			      levels: the number that holds from time on;
			      tallies: how much */
	uint64_t address;  /* physical, bytes */
	uint16_t opcode;
	uint8_t state; /* enum signal_state */
	uint8_t nid;   /* node: of the address's home, or as signals.json says */
	uint8_t tid;   /* core << 1 | thread, or SIGNAL_TID_NONE */
	uint8_t rank, bank;
};

/* Constant descriptions, index enum pmu_signal_id. */
struct signal_desc {
	const char *name;
	const char *box;
	uint8_t kind; /* enum signal_kind */
	uint8_t facet_count;
	uint32_t default_facet; /* holds while no span is open; 0 for none */
	const char *const *facets;
};

extern const struct signal_desc signal_table[];

/*
 * Where a machine announces to. armed[id] != 0 says that somebody listens; announcing what nobody
 * listens to is allowed and without effect. Within one box instance and signal, times need not
 * rise; how late an announcement may come and still count in its own cycle is the listener's to
 * say.
 */
struct signal_port {
	void *listener;
	void (*announce)(void *listener, const struct signal *signal);
	const uint8_t *armed; /* SIGNAL_COUNT bytes */
};

#endif
