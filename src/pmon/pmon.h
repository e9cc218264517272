/*
 * The emulated PMUs: registers and counter logic of every box, exactly as documented, errata
 * decided (docs/errata.md). Events arrive as signals; the PMUs know no machine. Boxes differ by
 * catalog data and named quirks.
 *
 * State is one block of memory without pointers; struct pmon is a process's own view of it. Nothing
 * here locks: callers serialise.
 *
 * A cycle is over when the next begins. An access in cycle N sees the cycles before N, and of cycle
 * N the plain counts (no threshold) that were emitted already. Increments are not capped at an
 * event's max_increment: the machine decides what can happen at once.
 *
 * Signals may arrive out of order. A signal counts in its own cycle if it is at most 2048 cycles
 * late and no access lies between that settles its counter. A later one is treated as happening at
 * the latest cycle that is final. Where entries are only added up, the part of it that has passed
 * is added then, so sums stay exact.
 *
 * A counter sees the spans emitted since its event, unit mask or filters last changed, and none
 * that were open at that time. Frozen counters stay subscribed. Levels (SIGNAL_LEVEL) are always
 * known.
 *
 * An access settles what its register depends on: nothing for a control that is read, the counter
 * for a counter, the unit for a write; and the whole socket for a global freeze, and while an
 * overflow could freeze it.
 *
 * Counters of a core add up accumulators, which their owner emits before each access to a register
 * of that core: see core.h.
 */
#ifndef PMON_PMON_H
#define PMON_PMON_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog/signal.h"
#include "pmon/access.h"

struct pmon;

/** Bytes of state that the PMUs of this description need. */
size_t pmon_state_size(const struct pmon_config *config);

/**
 * Makes a view of the PMUs in @state (pmon_state_size() bytes, aligned to 64).
 * @param fresh  the state is new: power on (zeroed memory); otherwise attach to it
 * @return 0, PMU_E_NOMEM, PMU_E_RANGE for a clock without frequency, or PMU_E_UNSUPPORTED for a PMU
 *         that is larger than was provided for, or a state of other size
 */
int pmon_open(struct pmon **pmon, struct pmu_ctx *ctx, const struct pmon_config *config,
	      void *state, bool fresh);
void pmon_close(struct pmon *pmon);

/** Takes over the present numbers of all levels from PMUs of the same description. */
void pmon_copy_levels(struct pmon *pmon, const struct pmon *from);

/** The subscriber to connect to a machine: port->subscriber is the pmon. */
void pmon_port(struct pmon *pmon, struct signal_port *port);

/**
 * The steps of an access, for who can find out what it depends on: where it leads (which takes no
 * lock); what it needs; and the access itself, as pmon_read() and pmon_write(). @now may be
 * uninitialised where no time is needed.
 * @return pmon_find(): 0 or PMU_E_UNKNOWN
 */
int pmon_find(const struct pmon *pmon, const struct pmon_access *access,
	      struct pmon_register_ref *ref);
/** What the catalog says of the register. */
const struct pmu_register *pmon_register_of(const struct pmon *pmon,
					    const struct pmon_register_ref *ref);
void pmon_find_needs(const struct pmon *pmon, struct pmon_register_ref *ref,
		     const uint64_t *written, struct pmon_needs *needs);
int pmon_read_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		    const struct pmon_time *now, uint64_t *value);
int pmon_write_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		     const struct pmon_time *now, uint64_t value);

/**
 * Reads or writes a register at a time, which must not be earlier than that of any signal
 * before. PCI registers of 64 bits can also be accessed as two dwords, at their address and 4 above
 * it.
 * @return 0, PMU_E_UNKNOWN where no register answers (an MSR access would fault; PCI reads as
 * ones); of those of a core, where a processor would fault: PMU_E_RIGHTS for a write to what is
 *         read-only, PMU_E_RANGE for one that sets reserved bits; nothing is written then
 */
int pmon_read(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	      uint64_t *value);
int pmon_write(struct pmon *pmon, const struct pmon_access *access, const struct pmon_time *now,
	       uint64_t value);

/** Reports violations from now on, through this view only; NULL ends it. */
void pmon_strict(struct pmon *pmon, void (*report)(void *arg, const struct pmon_violation *),
		 void *arg);

/**
 * Attribution: what of a counter's value each signal adds, at the moment at which it is emitted.
 * All signals are taken one by one then. Of a counter that compares with a threshold, counts cycles
 * or adds up levels nothing is told: no signal alone makes it count.
 */
struct pmon_counter_ref {
	unsigned socket, instance, counter;
	unsigned box; /* index in the PMU */
	bool fixed;   /* the counter is one of the fixed ones */
};

/** Through this view, signals that it is given are told to @attribute; NULL: to nobody. */
void pmon_attribution(struct pmon *pmon,
		      void (*attribute)(void *arg, unsigned column, uint64_t amount), void *arg);
/** In all views: a counter is told of, as @column. @return 0 or PMU_E_RANGE */
int pmon_attribute(struct pmon *pmon, const struct pmon_counter_ref *ref, unsigned column);

/** PMIs sent since power on to @core of @socket. */
uint64_t pmon_interrupts(struct pmon *pmon, unsigned socket, unsigned core,
			 const struct pmon_time *now);

/**
 * Sleeps until the number of those PMIs is not @seen, for @ns nanoseconds at most. Settles nothing:
 * who emits or accesses registers wakes it. The one call that callers need not serialise.
 * @param socket, core  that there are
 * @return the number
 */
uint64_t pmon_await_interrupt(struct pmon *pmon, unsigned socket, unsigned core, uint64_t seen,
			      uint64_t ns);

#endif
