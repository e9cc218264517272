#ifndef PMON_IA64_STATE_H
#define PMON_IA64_STATE_H

#include "catalog/binding.h"
#include "pmon/ia64/pmu.h"

#define COUNTERS 16
#define CELLS	 24 /* that one event adds up */
#define CHANNELS 4
#define MATCHERS 2
#define LEVEL	 3 /* of privilege, of user programs */

/* A field of a register of the box. */
struct place {
	uint16_t reg; /* by index in the box */
	uint8_t lo;
	uint64_t mask; /* in place; 0: the box has no such field */
};

struct counter_desc {
	uint16_t control, data; /* registers */
	struct place states;	/* a bit each: I, S, E, M */
	struct place event, umask, threshold, levels, privileged, sets, interrupt;
	struct place both;   /* threads of the core, not only its own */
	uint64_t sets_right; /* value of `sets` with which it counts */
	uint64_t status;     /* bit of the status register */
};

struct counter {
	bool on;
	uint8_t bank;
	uint8_t threshold;
	uint8_t cell_count;
	bool both;	    /* the core's threads */
	uint8_t other_bank; /* of the other one */
	uint16_t cells[CELLS];
	const uint64_t *own;   /* what it adds up instead of cells; NULL: cells */
	uint64_t value, start; /* the value when the sum was `start` */
	uint64_t last;	       /* sum at the end of the last cycle, with a threshold */
};

/* Registers that say what is matched, by what they are for. */
struct matching {
	struct place mask[MATCHERS], encoding[MATCHERS];
	struct place m[MATCHERS], i[MATCHERS], f[MATCHERS], b[MATCHERS];
	struct place any_address, invert, fine;
	struct place any_opcode[CHANNELS], any_range[CHANNELS];
	struct place tag[CHANNELS], tag_enable[CHANNELS];
	struct place address[CHANNELS], address_mask[CHANNELS], levels[CHANNELS];
	struct place data[CHANNELS], data_mask[CHANNELS];
};

#define TRACE_ENTRIES 16

/* Fields of a capture: its control's, and what it captures. */
struct monitor {
	struct place levels, privileged, sets, mode, umask;
	struct place latency, overflow, status, address;
};

/* Of retired addresses: it takes the trace's registers. */
struct ip_buffer {
	struct place levels, privileged, delay, cycles, address, low;
	struct place cycles_high[TRACE_ENTRIES], flushed[TRACE_ENTRIES], early[TRACE_ENTRIES];
	bool on;
	uint64_t frozen_at; /* cycle; UINT64_MAX: the monitors are not frozen */
	uint64_t last, ip;  /* of the last entry */
};

struct captures {
	struct ip_buffer ips;
	struct monitor fetch, data, trace;
	struct place fetch_threshold;
	struct place ip, valid, bundle, slot; /* of data */
	struct place other_mode;	      /* not 0: the trace's registers are another's */
	struct place taken, target, path, kind, no_data, no_targets, index, full;
	struct place entry_source, entry_wrong, entry_address, entry_slot;
	struct place flushed[TRACE_ENTRIES], second[TRACE_ENTRIES];
	bool fetch_on, data_on, trace_on;
	uint64_t blind_until;
	bool waiting; /* a target is to be written */
	uint64_t waiting_target, waiting_since;
	uint64_t traced_ip, traced_at; /* of the last branch: its bundle, and cycle */
};

/* What the PMU itself counts. */
enum own {
	OWN_FETCH,
	OWN_DATA,
	OWN_BRANCH,
	OWN_INTERRUPTION,
	OWN_REQUEST,
	OWN_COUNT,
};

struct pmon_ia64 {
	const struct pmu_box *box;
	struct pmon_ia64_source source;
	uint64_t *regs;	  /* by index in the box; of counters in `counters` */
	uint64_t *stored; /* bits that writes change */
	unsigned counter_count;
	uint64_t limit; /* 2^width of counters */
	struct counter_desc descs[COUNTERS];
	struct counter counters[COUNTERS];
	uint16_t status;
	uint64_t freeze; /* bit of the status register */
	struct matching matching;
	bool constrained; /* something is left out of channel 0, or of data */
	struct captures captures;
	struct place vector, vector_mask; /* of interruptions that count */
	uint64_t own[OWN_COUNT];
	bool user, system;
	uint64_t interrupts, taken; /* of overflows; those that somebody has handled */
	struct pmon_ia64_wants wants;
};

static inline uint64_t pmon_ia64_get(const struct pmon_ia64 *pmu, const struct place *p)
{
	return p->mask ? (pmu->regs[p->reg] & p->mask) >> p->lo : 0;
}

static inline void pmon_ia64_set(struct pmon_ia64 *pmu, const struct place *p, uint64_t value)
{
	pmu->regs[p->reg] = (pmu->regs[p->reg] & ~p->mask) | (value << p->lo & p->mask);
}

/** Sets up what a counter adds up. Its value is that of now. */
void pmon_ia64_select(struct pmon_ia64 *pmu, unsigned counter);
/** The sum of what it adds up. */
uint64_t pmon_ia64_sum(const struct pmon_ia64 *pmu, const struct counter *c);

/** The place of a role and number in the box; mask 0: none. */
struct place pmon_ia64_place(const struct pmu_box *box, enum pmu_field_role role, unsigned number);
void pmon_ia64_describe_matching(struct matching *m, const struct pmu_box *box);
/** Whether something could be left out of channel 0, or of data. */
bool pmon_ia64_constrained(const struct pmon_ia64 *pmu);
/** Whether a data pair constrains something by its address. */
bool pmon_ia64_compares_data(const struct pmon_ia64 *pmu);

#endif
