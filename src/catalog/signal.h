/*
 * Signals: what an emulated machine emits and an emulated PMU counts, in the words of hardware and
 * of no PMU. Names, qualifiers and attributes are data (catalog/signals.json); how a PMU sees them
 * is that PMU's data (catalog/PMU/bindings.json). Neither side knows more of the other than this
 * header.
 */
#ifndef CATALOG_SIGNAL_H
#define CATALOG_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/entries.h"

/*
 * Generated: enum pmu_signal_id { SIGNAL_NONE, SIGNAL_LLC_LOOKUP, .., SIGNAL_COUNT } and for each
 * qualifier a bit, e.g. QUALIFIER_LLC_LOOKUP_READ; enum signal_unit { UNIT_SLICE, .., UNIT_COUNT },
 * enum signal_request { REQUEST_NONE, REQUEST_READ_DATA, .., REQUEST_COUNT }, enum signal_state
 * { SIGNAL_STATE_I, .., SIGNAL_STATE_COUNT } and enum signal_message { MESSAGE_READ_DATA, .. }.
 */
#include "catalog/signal_ids.h"

enum signal_kind {
	SIGNAL_PULSE,
	SIGNAL_SPAN,
	SIGNAL_LEVEL,	    /* one number a unit, signal and qualifier set; 0 before the first */
	SIGNAL_ACCUMULATOR, /* so much of it since it was last emitted: no times, only sums */
	SIGNAL_CYCLES,	    /* as an accumulator: cycles in which so many are there at once */
};

/* How often at most, of what a unit mask selects of it. */
enum signal_rate {
	SIGNAL_RATE_ANY,
	SIGNAL_RATE_ONCE,  /* in a cycle */
	SIGNAL_RATE_EACH,  /* each qualifier once */
	SIGNAL_RATE_APART, /* and never in two in a row */
	SIGNAL_RATE_CLOCK, /* in each cycle, exactly: all cycles of its unit */
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
	uint64_t address;  /* physical, of a line, less than 2^46; virtual, of a branch, */
	uint64_t target;   /* and where that went */
	uint8_t request;   /* enum signal_request */
	uint8_t state;	   /* enum signal_state */
	uint8_t node;	   /* of the address's home, or as signals.json says */
	uint8_t core;	   /* in its socket, or SIGNAL_NO_CORE */
	uint8_t thread;	   /* of the core */
	uint8_t rank, bank;
	uint8_t least; /* of SIGNAL_CYCLES: so many, or more; not 0 */
	bool rise;     /* and of those only cycles after one with fewer */
};

/* Constant descriptions, index enum pmu_signal_id. */
struct signal_desc {
	const char *name;
	uint8_t unit;  /* enum signal_unit */
	uint8_t kind;  /* enum signal_kind */
	uint8_t clock; /* enum pmu_clock, of its times */
	uint8_t qualifier_count;
	uint32_t default_qualifier; /* holds while no span is open; 0 for none */
	uint32_t never;		    /* qualifiers that no machine emits */
	uint32_t several_sockets;   /* those that only machines of several sockets emit */
	uint32_t tlbs, large_pages; /* those of machines whose cores have TLBs, or large pages */
	uint32_t requests, states, messages; /* bit n: value n occurs */
	uint32_t several_sockets_states;
	bool uarch;   /* only machines emit it that describe an out-of-order core */
	bool timed;   /* its emitter has to know the time of each request: see needed, below */
	uint8_t rate; /* enum signal_rate */
	const char *const *qualifiers;
};

extern const struct signal_desc signal_table[];

/*
 * What a signal says, a bit each: the qualifiers, and of each attribute the bit of its value. In it
 * a condition on several of them is one comparison.
 */
#define SIGNAL_WORD_REQUEST 12 /* below: qualifiers */
#define SIGNAL_WORD_STATE   32
#define SIGNAL_WORD_NODE    40
#define SIGNAL_WORD_RANK    48
#define SIGNAL_WORD_ALWAYS  63

static inline uint64_t signal_word(const struct signal *signal)
{
	return signal->qualifiers | 1ull << (SIGNAL_WORD_REQUEST + signal->request) |
	       1ull << (SIGNAL_WORD_STATE + signal->state) |
	       1ull << (SIGNAL_WORD_NODE + signal->node) |
	       1ull << (SIGNAL_WORD_RANK + signal->rank) | 1ull << SIGNAL_WORD_ALWAYS;
}

/*
 * Accumulators. Where all that a subscriber wants of a signal are sums, it gives the emitter the
 * places of those sums, and with each what counts there. Nobody is called then.
 */
struct signal_tap {
	uint64_t care, value; /* counts if the word has this value in the bits of care, */
	uint64_t any;	      /* and one of these bits */
	uint64_t brink;	      /* a sum that reaches it is for the subscriber to look at */
	uint32_t sum;	      /* a uint64_t, bytes from port->sums */
	uint32_t spans;	      /* where added durations are noted: a struct signal_spans */
};

/* The spans added last. Of those that are not over yet, a sum that is read now has too much. */
#define SIGNAL_SPANS 1024 /* a power of two; more than are ever open at once */
struct signal_spans {
	uint32_t next, mask; /* mask: entries in use - 1 */
	_Alignas(16) struct signal_span {
		uint64_t begin, end;
	} ring[SIGNAL_SPANS];
};

/** Notes a span; one that was over long before is forgotten. */
void signal_note_span(struct signal_spans *spans, uint64_t begin, uint64_t end);

#define SIGNAL_TAPS    4
#define SIGNAL_RECEIVE UINT32_MAX
#define SIGNAL_UNITS   32 /* of a kind in a socket */

/* Of one signal in one unit. */
struct signal_taps {
	/* One host line with the first tap. */
	_Alignas(64)
	    uint32_t pulses; /* the first taps, which count one each; the others add durations */
	uint32_t count;	     /* of the taps; 0: nobody subscribes; SIGNAL_RECEIVE: hand it over */
	struct signal_tap taps[SIGNAL_TAPS];
};

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
	const uint8_t *enabled;		/* SIGNAL_COUNT bytes */
	const struct signal_taps *taps; /* by socket, unit, id; NULL: all is handed over */
	char *sums;
	/* A sum has reached its brink by @signal. */
	void (*look)(void *subscriber, const struct signal *signal);
	/*
	 * While this is 0, an emitter that keeps totals of signals emits none of them one by one,
	 * and reports those totals before registers are used. NULL: it is never 0.
	 */
	const uint32_t *needed;
	/*
	 * The report of a unit. @count > 0: a signal happened so often since the last report, the
	 * spans for signal->duration in all. 0: one of those spans that is not over; the total has
	 * all of it. The end says up to which cycle.
	 */
	void (*report)(void *subscriber, const struct signal *signal, uint64_t count);
	void (*report_end)(void *subscriber, enum signal_unit kind, unsigned socket, unsigned unit,
			   uint64_t now);
	/*
	 * Where somebody asks what causes signals: the emitter gets a number for what it is about
	 * to do, and keeps in *cause that of what it emits; 0: no instruction's. Else NULL.
	 * @context: of the thread; @place: of the instruction, both as the feed numbers them
	 */
	uint32_t (*cause_of)(void *asker, uint32_t context, uint64_t place);
	void *asker;
	uint32_t *cause;
};

/*
 * Counts a signal that somebody subscribes to, or hands it over. In registers, as most do not need
 * the struct.
 * @param where  id, socket << 16, unit << 24
 * @param rest   core, thread << 8, bank << 16, line number of the address << 24
 */
void signal_count(const struct signal_port *port, uint64_t where, uint64_t word, uint64_t time,
		  uint64_t duration, uint64_t rest);

/** Whether the emitter's totals are enough. */
static inline bool signal_needs_none(const struct signal_port *port)
{
	return port->needed && !__atomic_load_n(port->needed, __ATOMIC_RELAXED);
}

/** Emits @signal; inline, so that what it does not have costs nothing. */
static inline __attribute__((always_inline)) void signal_emit(const struct signal_port *port,
							      const struct signal signal)
{
	if (__builtin_expect(port->enabled[signal.id], 0))
		signal_count(
		    port, signal.id | (uint32_t)signal.socket << 16 | (uint32_t)signal.unit << 24,
		    signal_word(&signal), signal.time, signal.duration,
		    signal.core | (uint32_t)signal.thread << 8 | (uint32_t)signal.bank << 16 |
			signal.address >> 6 << 24);
}

/** The same of an accumulator, which is not tapped and may have more qualifiers than fit a word. */
static inline void signal_emit_sum(const struct signal_port *port, const struct signal *signal)
{
	if (port->enabled[signal->id])
		port->emit(port->subscriber, signal);
}

#endif
