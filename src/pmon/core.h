/*
 * The counters of a core: architectural performance monitoring version 3 (325384). Every core has
 * its registers at the same addresses. Accumulators give what happened since the last access to a
 * register of the core, but not when. So counts are exact at any access, and an overflow is noticed
 * at the first access to the core after it.
 */
#ifndef PMON_CORE_H
#define PMON_CORE_H

#include "pmon/describe.h"

struct pmon;
struct pmon_time;
struct pmon_unit;

#define PMON_FREE_COUNTERS 4

struct pmon_core_counter {
	uint64_t enable;    /* bit of the global control */
	uint64_t status;    /* bit of the global status */
	uint64_t counts;    /* bits of its control that have to be 1 */
	uint64_t threshold; /* bits of its control that ask for what a sum cannot tell */
	uint64_t interrupt;
	uint16_t signal; /* of a fixed one; enum pmu_signal_id */
};

/* A counter without control; of no signal: cycles of the clock, whether or not the core runs. */
struct pmon_free_counter {
	uint8_t reg;
	uint16_t signal;
};

struct pmon_core {
	uint8_t control, status, clear; /* global ones of the core, by index in the box */
	uint8_t debug;			/* PMON_NO_REGISTER: a PMI freezes nothing */
	struct pmon_field freeze_on_pmi;
	struct pmon_core_counter counters[PMON_COUNTERS];
	struct pmon_free_counter frees[PMON_FREE_COUNTERS];
	uint8_t free_count;
};

static inline bool pmon_is_core(const struct pmon_box *box)
{
	return box->box->scope == PMU_SCOPE_CORE;
}

/** @return false for a box that is not as it has to be */
bool pmon_describe_core(struct pmon_core *core, struct pmon_box *desc);

/** So much of @signal has happened at the core since it was told last. */
void pmon_core_hear(struct pmon *pmon, struct pmon_unit *unit, unsigned slot, unsigned signal,
		    uint64_t amount);

/** Ends what was told before an access: the freeze that follows a PMI. */
void pmon_core_settle(struct pmon *pmon, struct pmon_unit *unit);

/** Follows a change of controls or enables. @return the slots that are heard by others: a bit each
 */
uint32_t pmon_core_configure(const struct pmon *pmon, struct pmon_unit *unit);

/** Whether a counter without control adds up the signal. */
bool pmon_core_always_hears(const struct pmon_core *core, unsigned signal);

/** Whether a register shows the time. */
bool pmon_core_is_clock(const struct pmon_core *core, unsigned reg);

/** What a register reads as; @value is what is stored. */
uint64_t pmon_core_value(const struct pmon *pmon, unsigned reg, uint64_t value,
			 const struct pmon_time *now);

/** @return 0, PMU_E_RIGHTS or PMU_E_RANGE where a processor would fault: nothing is written */
int pmon_core_check(const struct pmon_box *box, unsigned reg, uint64_t value);
void pmon_core_write(const struct pmon *pmon, struct pmon_unit *unit, unsigned reg, uint64_t value,
		     const struct pmon_time *now);

#endif
