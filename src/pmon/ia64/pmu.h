/*
 * The PMU of one hardware thread of an IA-64 core: register files of controls (PMC) and data (PMD),
 * counters with privilege levels, thresholds, overflow and freeze, matching of instructions and
 * data by address range and encoding.
 *
 * It counts running totals of the core (struct signal_cell). Who owns both asks pmon_ia64_wants()
 * what the core has to do for it after each call here.
 *
 * A counter with a threshold needs the totals cycle by cycle; an overflow is noticed in the cycle
 * in which it happens, as the core ends that cycle.
 */
#ifndef PMON_IA64_PMU_H
#define PMON_IA64_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/detail.h"
#include "catalog/signal.h"

struct pmon_ia64;
struct pmu_ctx;

/* Whose totals. Arrays live as long as the PMU. */
struct pmon_ia64_source {
	const struct signal_cell *cells;
	size_t count;
	const uint64_t *totals[SIGNAL_BANKS];
	const struct pmon_ia64 *other; /* of the core's other thread; NULL: there is none */
};

/** Bytes that the PMU of such a box takes. */
size_t pmon_ia64_size(const struct pmu_box *box);
/**
 * Makes a PMU in reset state, a struct pmon_ia64, for a processor that runs at privilege level 3.
 * @param memory  pmon_ia64_size() bytes of zeros, aligned to 8; the caller's
 * @param box     the catalog's description of it
 * @return 0, or PMU_E_UNSUPPORTED for a box of another kind
 */
int pmon_ia64_init(void *memory, struct pmu_ctx *ctx, const struct pmu_box *box,
		   const struct pmon_ia64_source *source);

/**
 * A register by file (enum pmu_space: PMC, PMD, IBR, DBR) and number.
 * @param now  the core's cycle
 * @return 0, or PMU_E_UNKNOWN: there is none
 */
int pmon_ia64_read(struct pmon_ia64 *pmu, unsigned space, uint32_t number, uint64_t *value);
/**
 * A PMD as a program reads it, at privilege level 3 (323602-001 tables 3-4, 3-5; PSR.sp is 0).
 * @return 0 where it is a privileged monitor's, or there is none of that number
 */
uint64_t pmon_ia64_read_by_program(struct pmon_ia64 *pmu, uint32_t number);
int pmon_ia64_write(struct pmon_ia64 *pmu, unsigned space, uint32_t number, uint64_t value,
		    uint64_t now);

/** Whether monitors of the user's (PSR.up) and of the system's (PSR.pp) are on. */
void pmon_ia64_monitors(struct pmon_ia64 *pmu, bool user, bool system, uint64_t now);

/** Registers of the other thread's PMU were written. */
void pmon_ia64_other_changed(struct pmon_ia64 *pmu, uint64_t now);
/** Whether a counter takes what the other thread does: an overflow may come from there. */
bool pmon_ia64_counts_other(const struct pmon_ia64 *pmu);

/** The same as another PMU's. */
void pmon_ia64_copy_levels(struct pmon_ia64 *pmu, const struct pmon_ia64 *from, uint64_t now);

/* What the core has to do. */
struct pmon_ia64_wants {
	bool marks;			/* mark instructions and data */
	bool matches;			/* the same, once monitors are on */
	bool cycles;			/* call pmon_ia64_cycles() */
	bool misses, fetches, branches; /* call pmon_ia64_miss(), .. */
	bool groups;			/* call pmon_ia64_group() */
	/* The cycle by whose end to call pmon_ia64_deadline(); UINT64_MAX: none. */
	uint64_t deadline;
};
const struct pmon_ia64_wants *pmon_ia64_wants(const struct pmon_ia64 *pmu);

/** Totals grew by as much in each of so many cycles. */
void pmon_ia64_cycles(struct pmon_ia64 *pmu, uint64_t count);
/** Looks for overflows. @param now  the core's cycle */
void pmon_ia64_deadline(struct pmon_ia64 *pmu, uint64_t now);

/** What event address registers and the trace of branches may capture. @param now  its cycle */
void pmon_ia64_miss(struct pmon_ia64 *pmu, const struct detail_miss *miss, uint64_t now);
void pmon_ia64_fetch(struct pmon_ia64 *pmu, const struct detail_fetch *fetch);
void pmon_ia64_branch(struct pmon_ia64 *pmu, const struct detail_branch *branch, uint64_t now);

void pmon_ia64_group(struct pmon_ia64 *pmu, const struct detail_group *group);
/** @param vector  offset in the interruption vector table */
void pmon_ia64_interruption(struct pmon_ia64 *pmu, unsigned vector);

/** A request of the core was measured outside of it. */
void pmon_ia64_request(struct pmon_ia64 *pmu);

/** Whether two PMUs give every instruction and access the same marks. */
bool pmon_ia64_marks_alike(const struct pmon_ia64 *one, const struct pmon_ia64 *other);
/** Marks of an instruction: SIGNAL_MARK_ADDRESS, SIGNAL_MARK_CHANNEL << channel. */
unsigned pmon_ia64_mark(const struct pmon_ia64 *pmu, const struct detail_code *code);
/** Whether an address of code lies in what channel 0 takes. */
bool pmon_ia64_mark_code(const struct pmon_ia64 *pmu, uint64_t address);
/** Whether a data access counts, given the marks of its instruction. */
bool pmon_ia64_mark_data(const struct pmon_ia64 *pmu, unsigned marks, uint64_t address);

/**
 * Whether an interrupt of an overflow waits, and all that the monitors capture is in place: the
 * buffer of retired addresses goes on for a while after the freeze.
 */
bool pmon_ia64_interrupted(const struct pmon_ia64 *pmu);
/** It is taken: pmon_ia64_interrupted() is false until the next one. */
void pmon_ia64_take_interrupt(struct pmon_ia64 *pmu);

/** Whether the monitors are frozen. */
bool pmon_ia64_frozen(const struct pmon_ia64 *pmu);

/** Interrupts of overflows so far. */
uint64_t pmon_ia64_interrupts(const struct pmon_ia64 *pmu);
/** Counters that the status register says have overflowed: bit n is register n of their file. */
uint64_t pmon_ia64_overflowed(const struct pmon_ia64 *pmu);

#endif
