#ifndef PMON_IA64_STATE_H
#define PMON_IA64_STATE_H

#include "catalog/binding.h"
#include "pmon/ia64/pmu.h"

#define COUNTERS 16
#define CELLS	 16 /* that one event adds up; more: all of a signal's */
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
	struct place event, umask, threshold, levels, privileged, sets, interrupt;
	uint64_t sets_right; /* value of `sets` with which it counts */
	uint64_t status;     /* bit of the status register */
};

struct counter {
	bool on;
	uint8_t bank;
	uint8_t threshold;
	uint8_t cell_count;
	uint16_t cells[CELLS];
	uint64_t value, start; /* the value when the sum was `start` */
	uint64_t last;	       /* sum at the end of the last cycle, with a threshold */
	unsigned most;	       /* increment of a cycle, at most */
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
	bool user, system;
	uint64_t interrupts;
	struct pmon_ia64_wants wants;
};

static inline uint64_t pmon_ia64_get(const struct pmon_ia64 *pmu, const struct place *p)
{
	return p->mask ? (pmu->regs[p->reg] & p->mask) >> p->lo : 0;
}

/** The place of a role and number in the box; mask 0: none. */
struct place pmon_ia64_place(const struct pmu_box *box, enum pmu_field_role role, unsigned number);
void pmon_ia64_describe_matching(struct matching *m, const struct pmu_box *box);
/** Whether something could be left out of channel 0, or of data. */
bool pmon_ia64_constrained(const struct pmon_ia64 *pmu);

#endif
