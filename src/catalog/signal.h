/*
 * Signals: what an emulated machine emits and an emulated PMU counts, in the words of hardware and
 * of no PMU. Names, qualifiers and attributes are data (catalog/signals.json); how a PMU sees them
 * is that PMU's data (catalog/PMU/bindings.json). Neither side knows more of the other than this
 * header.
 */
#ifndef CATALOG_SIGNAL_H
#define CATALOG_SIGNAL_H

#include <stdint.h>

#include "pmulab/catalog.h"

/*
 * Generated: enum pmu_signal_id { SIGNAL_NONE, SIGNAL_LLC_LOOKUP, .., SIGNAL_COUNT } and for each
 * qualifier a bit, e.g. QUALIFIER_LLC_LOOKUP_READ; enum signal_unit { UNIT_SLICE, .., UNIT_COUNT },
 * enum signal_request { REQUEST_NONE, REQUEST_READ_DATA, .., REQUEST_COUNT } and enum signal_state
 * { SIGNAL_STATE_I, .., SIGNAL_STATE_COUNT }.
 */
#include "catalog/signal_ids.h"

enum signal_kind {
	SIGNAL_PULSE,
	SIGNAL_SPAN,
	SIGNAL_LEVEL,	    /* one number a unit, signal and qualifier set; 0 before the first */
	SIGNAL_ACCUMULATOR, /* so much of it since it was last emitted: no times, only sums */
};

#define SIGNAL_NO_CORE 0xff /* of no core: victims, snoops from outside */

/* One occurrence of a signal. Attributes that the signal does not list are 0. */
struct signal {
	uint16_t id; /* enum pmu_signal_id */
	uint8_t socket;
	uint8_t unit; /* number in its socket, of the signal's kind of unit */
	uint32_t qualifiers;
	uint64_t time;	   /* cycle of the unit's clock at which it happens or begins */
	uint64_t duration; /* spans: cycles; it is there in [time, time + duration);
			      levels: the number that holds from time on;
			      accumulators: how much */
	uint64_t address;  /* physical, bytes */
	uint8_t request;   /* enum signal_request */
	uint8_t state;	   /* enum signal_state */
	uint8_t node;	   /* of the address's home, or as signals.json says */
	uint8_t core;	   /* in its socket, or SIGNAL_NO_CORE */
	uint8_t thread;	   /* of the core */
	uint8_t rank, bank;
};

/* Constant descriptions, index enum pmu_signal_id. */
struct signal_desc {
	const char *name;
	uint8_t unit; /* enum signal_unit */
	uint8_t kind; /* enum signal_kind */
	uint8_t qualifier_count;
	uint32_t default_qualifier; /* holds while no span is open; 0 for none */
	const char *const *qualifiers;
};

extern const struct signal_desc signal_table[];

/*
 * A core may keep running totals instead of emitting: one a cell, a signal with the qualifiers
 * that hold at once. Besides those of everything, there are totals of what the subscriber marked:
 * by the instruction's address, by its address and encoding, and by the data's address too.
 */
struct signal_cell {
	uint16_t signal; /* enum pmu_signal_id */
	uint32_t qualifiers;
};

enum signal_bank {
	SIGNAL_ALL,
	SIGNAL_BY_ADDRESS,
	SIGNAL_BY_MARK,
	SIGNAL_BY_DATA,
	SIGNAL_BANKS,
};

#define SIGNAL_MARK_ADDRESS 1u
#define SIGNAL_MARK_CHANNEL 2u /* of channel 0; those of the three others follow */

/*
 * Where a machine emits to. enabled[id] != 0 says that somebody subscribes; emitting what nobody
 * subscribes to is allowed and without effect. Within one unit and signal, times need not rise; how
 * late a signal may come and still count in its own cycle is the subscriber's to say.
 */
struct signal_port {
	void *subscriber;
	void (*emit)(void *subscriber, const struct signal *signal);
	const uint8_t *enabled; /* SIGNAL_COUNT bytes */
};

#endif
