#ifndef PMON_IA64_UNCORE_STATE_H
#define PMON_IA64_UNCORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/binding.h"
#include "catalog/detail.h"
#include "catalog/entries.h"

#define UNCORE_BOXES	    8
#define UNCORE_INSTANCES    12
#define UNCORE_ACCUMULATORS 8
#define UNCORE_SOCKETS	    4
#define UNCORE_CORES	    4
#define UNCORE_MESSAGES	    32
#define UNCORE_SUM	    0xFF /* instead of a unit mask: several, of as many classes */

/* What adds up an event, and counts it for so much of it at a time. */
struct accumulator {
	uint16_t code; /* of the event */
	const struct pmu_register *reg;
	uint8_t lo;
	uint64_t mask; /* in place */
};

/* A counter; accumulators follow those of their box, each as one that counts into its register. */
struct uncore_counter {
	bool on;
	bool stopped;	  /* by its overflow */
	bool holds;	  /* of cycles with so many at once: there are */
	uint8_t instance; /* that it counts for */
	uint8_t umask;
	const struct pmu_event *event;
	uint64_t value, rest; /* rest: of events that count once for several */
	uint64_t since;	      /* of cycles: value is that of then */
	uint64_t carry;	      /* of an accumulator, by the event that is dealt with */
};

struct uncore_box {
	const struct pmu_box *box;
	uint16_t first_slot, first_counter;	     /* of instance 0, in a socket */
	uint8_t seat[UNCORE_INSTANCES];		     /* the first instance with the same counters */
	uint8_t whole[UNCORE_INSTANCES];	     /* with the same box control */
	const struct pmu_register *control, *status; /* of the box; NULL: none */
	const struct pmu_register *watermark;	     /* the one that has it; NULL: none */
	struct accumulator accumulators[UNCORE_ACCUMULATORS];
	unsigned accumulator_count;
};

/*
 * What measures requests of a core to the world outside: one in eight at random, or each, of chosen
 * classes and opcodes. While it measures one it takes no other.
 */
struct qear {
	uint64_t until;		/* a measurement is under way; cycle of the boxes' clock */
	uint64_t since;		/* its random choice began anew */
	uint8_t enabled_writes; /* since the reset, one after the other; 2 begin the choice */
};

/* An instance of a box. */
struct uncore_unit {
	unsigned socket, box, instance;
};

/* A write that another one of the same instance has to follow. */
struct uncore_awaited {
	const struct pmu_register *after; /* NULL: none has to */
	struct uncore_unit at;
	uint64_t value; /* that was written */
};

struct pmon_uncore {
	const struct pmu_pmu *pmu;
	unsigned sockets, slots, counters; /* of a socket */
	uint64_t *regs;			   /* by socket and slot */
	uint16_t *map;			   /* of each instance's registers, the slot */
	struct uncore_counter *all;	   /* by socket, box, instance and index */
	struct uncore_box boxes[UNCORE_BOXES];
	const struct uncore_box *global; /* with what freezes all of a socket; NULL: none */
	const struct pmu_register *global_control;
	bool frozen[UNCORE_SOCKETS][UNCORE_BOXES][UNCORE_INSTANCES]; /* by `whole` */
	uint64_t interrupts[UNCORE_SOCKETS];
	unsigned requests; /* number of the box that measures requests of cores */
	struct qear qears[UNCORE_SOCKETS][UNCORE_CORES];
	struct uncore_awaited awaited;
	/* Of the one signal that a box has of this kind, by message. */
	uint16_t levels[UNCORE_SOCKETS][UNCORE_INSTANCES][UNCORE_MESSAGES];
	uint64_t deadline; /* some counter of cycles overflows then; UINT64_MAX: none */
	uint8_t enabled[SIGNAL_COUNT];
};

static inline const struct uncore_box *uncore_box(const struct pmon_uncore *u,
						  const struct uncore_unit *at)
{
	return &u->boxes[at->box];
}

/** Where a register of an instance is kept; instances may share it. */
static inline uint64_t *uncore_slot(const struct pmon_uncore *u, const struct uncore_unit *at,
				    const struct pmu_register *reg)
{
	const struct uncore_box *b = uncore_box(u, at);
	size_t number = b->first_slot + at->instance * b->box->register_count +
			(size_t)(reg - b->box->registers);

	return u->regs + at->socket * u->slots + u->map[number];
}

static inline uint64_t uncore_field(const struct pmon_uncore *u, const struct uncore_unit *at,
				    const struct pmu_register *reg, unsigned hi, unsigned lo)
{
	return (*uncore_slot(u, at, reg) & pmu_mask(hi, lo)) >> lo;
}

/** Bits of a role in a register of the instance; 0 where it has none. */
static inline uint64_t uncore_bits(const struct pmon_uncore *u, const struct uncore_unit *at,
				   const struct pmu_register *reg, enum pmu_field_role role)
{
	return reg ? *uncore_slot(u, at, reg) & pmu_field_bits(reg, role, 0) : 0;
}

/** The value of the field with a role. */
static inline uint64_t uncore_role(const struct pmon_uncore *u, const struct uncore_unit *at,
				   const struct pmu_register *reg, enum pmu_field_role role)
{
	const struct pmu_field *field = pmu_field_by_role(reg, role, 0);

	return uncore_field(u, at, reg, field->hi, field->lo);
}

/** The counter of an index that instances of the same seat have. */
static inline struct uncore_counter *uncore_counter(const struct pmon_uncore *u,
						    const struct uncore_unit *at, unsigned index)
{
	const struct uncore_box *b = uncore_box(u, at);

	return u->all + at->socket * u->counters + b->first_counter +
	       (size_t)b->seat[at->instance] * (b->box->counter_count + b->accumulator_count) +
	       index;
}

/** How many counters an instance has. */
static inline unsigned counters_at(const struct pmon_uncore *u, const struct uncore_unit *at)
{
	return uncore_box(u, at)->box->counter_count;
}

static inline bool uncore_is_frozen(const struct pmon_uncore *u, const struct uncore_unit *at)
{
	return u->frozen[at->socket][at->box][uncore_box(u, at)->whole[at->instance]];
}

/** The control of what measures requests was written. */
void uncore_qear_written(struct pmon_uncore *u, const struct uncore_unit *at, uint64_t now);

/** Brings a counter of cycles to a time. */
void uncore_catch_up_counter(struct uncore_counter *c, uint64_t now);
/** The same of cycles with so many at once, where nothing that comes is earlier. */
void uncore_watermark_catch_up(struct uncore_counter *c, uint64_t now);
/** After a change of what they compare: whether there are so many. */
void uncore_watermark(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index);
/** A level changed. */
void uncore_level(struct pmon_uncore *u, const struct uncore_unit *at,
		  const struct detail_event *what);
/** Deals with overflows of counters of cycles up to a time. */
void uncore_catch_up(struct pmon_uncore *u, uint64_t now);
/** The same where nothing that comes is earlier: of all counters of cycles. */
void uncore_settle(struct pmon_uncore *u, uint64_t now);
/** After a change of registers or freezes of a socket. */
void uncore_configure(struct pmon_uncore *u, unsigned socket, uint64_t now);

/** Where it says that a counter overflowed, and its bit there. */
uint64_t *uncore_overflow_bit(const struct pmon_uncore *u, const struct uncore_unit *at,
			      unsigned index, uint64_t *bit);
/** By an overflow. */
void uncore_freeze_box(struct pmon_uncore *u, const struct uncore_unit *at);
void uncore_freeze_socket(struct pmon_uncore *u, unsigned socket, bool frozen);
/** Tells the socket's register of an overflow; where it freezes its box, so may all be. */
void uncore_tell_global(struct pmon_uncore *u, const struct uncore_unit *at, bool freezes);

/**
 * What the registers select for a counter.
 * @param code   of the event; -1: whatever the counter's registers select
 * @param umask  receives its number
 * @return NULL: nothing that is modelled
 */
const struct pmu_event *uncore_selected(const struct pmon_uncore *u, const struct uncore_unit *at,
					unsigned index, int code, uint8_t *umask);
/** Whether an event takes what happened, by its rows and the instance's matching registers. */
bool uncore_takes(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		  const struct pmu_event *event, unsigned umask, const struct detail_event *what);

#endif
