/*
 * State of the emulated PMUs. What several processes share lies in one block without pointers:
 * struct pmon_state, then a struct pmon_unit for each box instance of each socket, then the changes
 * that counters have still to come. struct pmon is one process's view of that block.
 */
#ifndef PMON_STATE_H
#define PMON_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmon/changes.h"
#include "pmon/core.h"
#include "pmon/describe.h"
#include "pmon/pmon.h"

#define PMON_SOCKETS 8
#define PMON_CORES   64 /* bits of a PMI core mask */
#define PMON_SLOTS   32 /* signals of one box */
#define PMON_LEVELS  32 /* numbers of all level signals of one box */

/*
 * Announcements of one box arrive nearly in order of time: a miss tells of its fill before the next
 * request begins. A counter that depends on time waits so many cycles before a cycle is final.
 */
#define PMON_WINDOW 2048
static_assert(PMON_WINDOW < PMON_RING, "what waits has to fit");

enum pmon_check {
	CHECK_ANY = 1 << 0,	  /* one of the facets in `any` holds */
	CHECK_OR_OPCODE = 1 << 1, /* or, with CHECK_ANY: `opcode_facet` and `opcode` */
	CHECK_ALL = 1 << 2,	  /* all facets in `all` hold */
	CHECK_OPCODE = 1 << 3,
	CHECK_STATE = 1 << 4,
	CHECK_NID = 1 << 5,
	CHECK_TID = 1 << 6,
	CHECK_BANK = 1 << 7, /* rank and bank */
	CHECK_PAGE = 1 << 8,
};

/* What a counter adds up: its event, unit mask and filters in a form that is quick to compare. */
struct pmon_listen {
	uint64_t page;	   /* physical address >> 12 */
	uint32_t any, all; /* facets */
	uint32_t opcode_facet;
	uint32_t states, nids, banks; /* bit n: value n is wanted */
	uint32_t default_facet;	      /* wanted, and holds while nothing of the signal is open */
	uint16_t checks;	      /* enum pmon_check */
	uint16_t opcode;
	uint8_t tid, rank;
	uint8_t slot;	 /* of its signal in the box */
	uint8_t measure; /* enum pmu_measure; NONE: no event that could count */
	uint8_t level;	 /* its signal is a SIGNAL_LEVEL */
	uint8_t unused[3];
};
static_assert(sizeof(struct pmon_listen) == 48, "compared as bytes: no padding");

struct pmon_counter {
	uint64_t value;
	uint64_t limit; /* 2^width */
	struct pmon_listen listen;
	uint8_t thresh;
	bool invert, edge;
	bool plain;	     /* only adds announcements: time does not matter */
	bool held;	     /* in reset until its control is written without rst */
	bool high;	     /* whether the last final cycle passed the comparison */
	uint8_t ev_sel;	     /* PMU_QUIRK_CONTROL_TWICE: the event select in effect */
	uint64_t now;	     /* cycles before it are final */
	int64_t level, open; /* in the last final cycle: wanted, and all of its signal */
};

struct pmon_level {
	uint64_t time;
	int32_t value;
};

struct pmon_unit {
	uint16_t heard[PMON_SLOTS]; /* bit n: counter n listens to the signal */
	uint64_t floor; /* cycle of the last register access: nothing happens before it */
	uint8_t socket, box, instance;
	uint8_t last_control; /* counter whose control was written last, + 1; 0: something else */
	uint16_t clocked;     /* bit n: counter n counts cycles */
	bool frozen;	      /* by its own box control; of a core: a PMI is to stop its counters */
	uint64_t sent; /* status bits whose overflow was sent to the UBox and that still stand */
	struct pmon_counter counters[PMON_COUNTERS];
	uint64_t regs[PMON_REGISTERS]; /* by index in the box; counters have theirs above */
	struct pmon_level levels[PMON_LEVELS];
};

struct pmon_socket {
	/* By clock of the uncore. */
	uint64_t stop[2];     /* cycle from which the global freeze holds, or PMON_NEVER */
	uint64_t deadline[2]; /* cycle by which a counter of cycles will overflow */
	uint64_t interrupts[PMON_CORES];
};

struct pmon_state {
	uint64_t size;
	uint8_t armed[SIGNAL_COUNT];
	struct pmon_socket sockets[PMON_SOCKETS];
};

/* Where the announcements of a signal go. */
struct pmon_route {
	uint16_t first_unit;
	uint8_t instances; /* 0: no box of this PMU knows the signal */
	uint8_t slot;
	uint8_t kind;  /* enum signal_kind */
	uint8_t clock; /* enum pmu_clock */
	uint8_t first_level;
};

struct pmon {
	struct pmon_config config;
	struct pmon_state *state;
	struct pmon_unit *units;
	struct pmon_changes *changes;
	unsigned units_per_socket, counters_per_socket;
	struct pmon_box boxes[PMON_BOXES];
	struct pmon_global global;
	struct pmon_core core;
	struct pmon_route routes[SIGNAL_COUNT];
	void (*report)(void *arg, const struct pmon_violation *violation);
	void *report_arg;
};

static inline const struct pmon_box *pmon_box(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return &pmon->boxes[unit->box];
}

static inline struct pmon_unit *pmon_socket_units(const struct pmon *pmon, unsigned socket)
{
	return pmon->units + (size_t)socket * pmon->units_per_socket;
}

static inline unsigned pmon_clock(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return pmon->boxes[unit->box].box->clock;
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
