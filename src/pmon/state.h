/*
 * State of the emulated PMUs. What several processes share lies in one block without pointers:
 * struct pmon_state, then a struct pmon_unit for each box instance of each socket, then the changes
 * that counters have still to come. struct pmon is one process's view of that block.
 */
#ifndef PMON_STATE_H
#define PMON_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/eventcount.h"
#include "catalog/binding.h"
#include "catalog/signal.h"
#include "pmon/access.h"
#include "pmon/box.h"
#include "pmon/changes.h"

#define PMON_SOCKETS 8
#define PMON_CORES   64	    /* bits of a PMI core mask */
#define PMON_SLOTS   64	    /* signals that one box counts */
#define PMON_RECORDS 0x8000 /* a subscriber that is no counter: branch records */
#define PMON_LEVELS  32	    /* numbers of all level signals of one box */
#define PMON_SHARERS 8	    /* units whose numbers one instance has, where all are its */

#define PMON_UNIT_WORDS (PMON_UNITS / 64) /* of sets of a socket's units */

/*
 * Signals of one box arrive nearly in order of time: a miss tells of its fill before the next
 * request begins. A counter that depends on time waits so many cycles before a cycle is final.
 */
#define PMON_WINDOW 2048
static_assert(PMON_WINDOW < PMON_RING, "what waits has to fit");
static_assert(PMON_SLOTS <= 64, "a bit each of what pmon_enable() takes");
static_assert(PMON_RECORDS >> PMON_COUNTERS != 0, "not a counter's bit");

enum pmon_check {
	CHECK_ANY = 1 << 0,   /* one of the qualifiers in `any` holds, or an alternative */
	CHECK_ALL = 1 << 1,   /* all qualifiers in `all` hold */
	CHECK_AMONG = 1 << 2, /* one of those in `among` */
	CHECK_REQUEST = 1 << 3,
	CHECK_STATE = 1 << 4,
	CHECK_NODE = 1 << 5,
	CHECK_THREAD = 1 << 6, /* core and thread */
	CHECK_RANK = 1 << 7,
	CHECK_BANK = 1 << 8,
	CHECK_UNIT = 1 << 9,
	CHECK_ADDRESS = 1 << 10,
};

#define PMON_ALTERNATIVES 6 /* ALTERNATIVES_MAX of scripts/catalog_gen/bindings.py */

/* Passes what has one of the qualifiers and of each attribute a value whose bit is set. */
struct pmon_alternative {
	uint32_t qualifiers; /* 0: whatever they are */
	uint32_t requests;
	uint32_t others; /* whether those below exclude anything */
	uint32_t states, ranks, banks, units;
};

/* What a counter adds up: its event, unit mask and filters in a form that is quick to compare. */
struct pmon_subscription {
	uint16_t checks; /* enum pmon_check */
	uint8_t slot;	 /* of its signal in the box */
	uint8_t measure; /* enum pmu_measure; NONE: no event that could count */
	uint8_t level;	 /* its signal is a SIGNAL_LEVEL */
	uint8_t alternative_count;
	uint8_t core, thread;
	uint32_t any, all, among;   /* qualifiers */
	uint32_t default_qualifier; /* wanted, and holds while nothing of the signal is open */
	uint32_t requests, states, nodes, ranks, banks, units; /* bit n: value n is wanted */
	uint64_t address, address_mask;
	struct pmon_alternative alternatives[PMON_ALTERNATIVES]; /* the rest is not set */
};
/* In bytes, without any alternative. */
#define PMON_SUBSCRIPTION_HEAD offsetof(struct pmon_subscription, alternatives)
static_assert(PMON_SUBSCRIPTION_HEAD == 64, "compared as bytes: no padding");

#define PMON_CORE_SELECTS 3

struct pmon_counter {
	uint64_t value;
	uint64_t limit; /* 2^width */
	struct pmon_subscription subscription;
	uint8_t thresh;
	bool invert, edge;
	bool plain;	/* only adds: time does not matter */
	bool summed;	/* its value has all of the spans that have begun: see taps.h */
	bool held;	/* in reset until its control has rst 0 again */
	bool high;	/* whether the last final cycle passed the comparison */
	uint8_t ev_sel; /* PMU_QUIRK_CONTROL_TWICE: the event select in effect */
	/* Of a core's: one of each of these of its accumulator's; 0: whatever they are. */
	uint32_t qualifiers[PMON_CORE_SELECTS];
	/* And of a signal of cycles, those with so many (struct signal). */
	uint8_t least;
	bool rise;
	bool rest;	     /* it counts all cycles but those, */
	uint64_t missed;     /* of which so many are still to be taken off */
	uint16_t column;     /* plus 1, for pmon_attribute(); 0: nobody asks */
	uint64_t now;	     /* cycles before it are final */
	int64_t level, open; /* in the last final cycle: wanted, and all of its signal */
};

struct pmon_level {
	uint64_t time;
	int32_t value;
};

struct pmon_unit {
	/* Bit n: counter n subscribes to the signal; PMON_RECORDS: a core's branch records do. */
	uint16_t subscribed[PMON_SLOTS];
	uint64_t closed; /* bit n: the taps of the signal in slot n are to be opened: see taps.h */
	uint8_t socket, box, instance;
	uint8_t last_control; /* counter whose control was written last, + 1; 0: something else */
	uint16_t clocked;     /* bit n: counter n counts cycles */
	uint16_t timed; /* bit n: counter n depends on time, cycles or other than plain counts */
	uint16_t subscribing; /* bit n: counter n counts something, unless it is frozen */
	uint16_t reporting;   /* bit n: so does counter n, and reports its overflow */
	uint16_t followers;   /* bit n: counter n counts what counter 0 sees */
	bool frozen;	      /* by its own box control; of a core: a PMI is to stop its counters */
	bool unrecorded;      /* of a core: a PMI has ended its branch records */
	bool needs_signals;   /* totals are not enough */
	uint64_t box_control; /* as written last, with the bits that read as 0 */
	uint64_t sent; /* status bits whose overflow was sent to the UBox and that still stand */
	struct pmon_counter counters[PMON_COUNTERS];
	uint64_t regs[PMON_REGISTERS]; /* by index in the box; counters have theirs above */
	struct pmon_level levels[PMON_LEVELS];
};

struct pmon_socket {
	/* By enum pmu_clock; nothing of a socket goes by the core's. */
	uint64_t stop[PMON_CLOCKS]; /* cycle from which the global freeze holds, or PMON_NEVER */
	uint64_t deadline[PMON_CLOCKS]; /* cycle by which a counter of cycles will overflow */
	/* Of the last access that brought the socket up to date: nothing happens before it. */
	uint64_t floor[PMON_CLOCKS];
	/* Bit n: an overflow of unit n's counters is reported, and may freeze the socket. */
	uint64_t reporting[PMON_UNIT_WORDS];
	struct eventcount interrupts[PMON_CORES];
};

struct pmon_state {
	uint64_t size;
	uint8_t enabled[SIGNAL_COUNT];
	uint32_t needed; /* units that need signals one by one */
	bool attributed; /* counts are told one by one: see pmon_attribute() */
	/* By socket: bit n: a counter of the n-th instance subscribes to the signal. */
	uint32_t subscribers[SIGNAL_COUNT][PMON_SOCKETS];
	struct pmon_socket sockets[PMON_SOCKETS];
};

static_assert(SIGNAL_COUNT <= UINT8_MAX, "pmon.signal_of has a byte for each");

#define PMON_NO_UNIT UINT16_MAX

/* Where a signal goes. */
struct pmon_route {
	const uint16_t *units; /* of a socket, by the number of the machine's unit */
	uint16_t first_unit;
	uint8_t instances; /* 0: no box of this PMU knows the signal */
	uint8_t slot;
	uint8_t kind;	/* enum signal_kind */
	uint8_t clock;	/* enum pmu_clock, of the box */
	bool converted; /* the signal's own clock is another one */
	uint8_t first_level;
	uint8_t level_units; /* of the machine, whose numbers one instance has */
};

struct pmon {
	struct pmon_config config;
	struct pmon_state *state;
	struct pmon_unit *units;
	struct pmon_changes *changes;
	struct signal_spans *spans; /* as changes */
	struct signal_taps *taps;
	unsigned units_per_socket, counters_per_socket;
	struct pmon_box boxes[PMON_BOXES];
	struct pmon_global global;
	struct pmon_core core;
	struct pmon_route routes[SIGNAL_COUNT];
	uint16_t bound[UNIT_COUNT][PMON_INSTANCES]; /* unit of a socket, or PMON_NO_UNIT */
	uint16_t nowhere[PMON_INSTANCES]; /* of signals that no box counts: PMON_NO_UNIT */
	/* The same by unit of a socket: bit n: it counts for the machine's n-th unit of the kind.
	 */
	uint32_t sources[PMON_UNITS][UNIT_COUNT];
	uint32_t uncore_sources[UNIT_COUNT]; /* of all units but cores' */
	uint8_t signal_of[PMON_BOXES][PMON_SLOTS];
	bool always[SIGNAL_COUNT]; /* enabled whoever subscribes */
	uint16_t core_clock;	   /* the signal of all of a core's cycles; SIGNAL_NONE */
	void (*report)(void *arg, const struct pmon_violation *violation);
	void *report_arg;
	void (*attribute)(void *arg, unsigned column, uint64_t amount);
	void *attribute_arg;
};

/** A counter adds @amount by what happens now, for who asks which instruction causes it. */
static inline void pmon_tell(const struct pmon *pmon, const struct pmon_counter *counter,
			     uint64_t amount)
{
	if (counter->column && pmon->attribute)
		pmon->attribute(pmon->attribute_arg, counter->column - 1u, amount);
}

static inline const struct pmon_box *pmon_box(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return &pmon->boxes[unit->box];
}

static inline struct pmon_unit *pmon_socket_units(const struct pmon *pmon, unsigned socket)
{
	return pmon->units + (size_t)socket * pmon->units_per_socket;
}

/* That counts a signal of its route; NULL: no box does. */
static inline struct pmon_unit *pmon_signal_unit(const struct pmon *pmon,
						 const struct pmon_route *route,
						 const struct signal *signal)
{
	const unsigned number = route->units[signal->unit % PMON_INSTANCES];

	return number == PMON_NO_UNIT ? NULL : pmon_socket_units(pmon, signal->socket) + number;
}

/* Of the counters that can depend on time, over all sockets. */
static inline size_t pmon_counter_number(const struct pmon *pmon, const struct pmon_unit *unit,
					 unsigned index)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	return (size_t)unit->socket * pmon->counters_per_socket + box->first_counter +
	       (size_t)unit->instance * box->counter_count + index;
}

static inline unsigned pmon_unit_number(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return (unsigned)(unit - pmon_socket_units(pmon, unit->socket));
}

/** Whether an overflow in the socket may freeze all of it. */
static inline bool pmon_may_freeze(const struct pmon_socket *socket)
{
	static_assert(PMON_UNIT_WORDS == 2, "as many are asked");
	return socket->reporting[0] || socket->reporting[1];
}

static inline unsigned pmon_clock(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return pmon->boxes[unit->box].box->clock;
}

/** Numbers of a unit of the machine: one without a qualifier, one for each qualifier. */
static inline unsigned pmon_levels_of(unsigned id)
{
	return 1u + signal_table[id].qualifier_count;
}

/** Whether the box's own global control, if it has one, lets the counter count. */
static inline bool pmon_is_governed_to_count(const struct pmon_box *box,
					     const struct pmon_unit *unit, unsigned index)
{
	const uint64_t enable = box->counters[index].enable;

	return !enable || (unit->regs[box->governor] & enable);
}

/*
 * Counting needs the counter's own enable bit, no freeze of the box and no global freeze
 * (334291-001 §1.5). The two freezes are separate latches: unfrz_all ends the global one only,
 * BOX_CTL with frz = 0 the box's only (errata: their relation is not described).
 */
static inline uint64_t pmon_stop(const struct pmon *pmon, const struct pmon_unit *unit)
{
	const struct pmon_socket *socket = &pmon->state->sockets[unit->socket];

	return unit->frozen ? 0 : socket->stop[pmon_clock(pmon, unit)];
}

#endif
