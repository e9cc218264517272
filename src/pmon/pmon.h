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
#include <stdint.h>

#include "catalog/signal.h"
#include "pmulab/machine.h"

struct pmon;
struct pmon_unit;

/* What of a PMU is present: the part's strapping. */
struct pmon_config {
	const struct pmu_pmu *pmu;
	unsigned sockets;
	const struct pmu_strap *straps; /* what discovery registers read */
	size_t strap_count;
	/* Of uncore and DRAM clock, not 0: where a freeze in one falls in the other. */
	uint32_t clock_mhz[2];
	/* Per box of the PMU, a bit for each instance that the part has. */
	uint32_t present[16];
};

#define PMON_CLOCKS 3

/* Cycles of each clock since power on, by enum pmu_clock. */
struct pmon_time {
	uint64_t cycles[PMON_CLOCKS];
};

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

/** The listener to connect to a machine: port->listener is the pmon. */
void pmon_port(struct pmon *pmon, struct signal_port *port);

/* Which register: what an instruction on a core, or a PCI access, names. */
struct pmon_access {
	unsigned socket;
	unsigned core; /* of the socket; tells apart only registers that each core has */
	enum pmu_space space;
	uint32_t address;		 /* as enum pmu_space says */
	unsigned width;			 /* bits: 32 or 64 */
	const struct pmu_address *found; /* what is there, where that is known; else NULL */
};

/* A register of a unit, or a half of one: where an access leads. */
struct pmon_register_ref {
	struct pmon_unit *unit;
	uint8_t reg;	 /* index in the box */
	uint8_t shift;	 /* 32 for the upper half */
	uint8_t width;	 /* bits accessed */
	bool present;	 /* the part has the instance */
	uint8_t depends; /* what was settled for the access: enum pmon_depends */
};

/*
 * Of the socket: what has to be known before an access. What the machine's units did up to now has
 * to be announced, as far as the machine has not announced it yet.
 */
struct pmon_needs {
	bool time;
	uint32_t channels, cores; /* bit n: the n-th */
};

/**
 * The steps of an access, for who can find out what it depends on: where it leads (which takes no
 * lock); what it needs; and the access itself, as pmon_read() and pmon_write(). @now may be
 * uninitialised where no time is needed.
 * @return pmon_find(): 0 or PMU_E_UNKNOWN
 */
int pmon_find(const struct pmon *pmon, const struct pmon_access *access,
	      struct pmon_register_ref *ref);
void pmon_find_needs(const struct pmon *pmon, struct pmon_register_ref *ref, bool write,
		     struct pmon_needs *needs);
int pmon_read_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		    const struct pmon_time *now, uint64_t *value);
int pmon_write_found(struct pmon *pmon, const struct pmon_register_ref *ref,
		     const struct pmon_time *now, uint64_t value);

/**
 * Reads or writes a register at a time, which must not be earlier than that of any announcement
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

/* Strict mode: what the software that drives the registers did against the manual. */
struct pmon_violation {
	const char *reg; /* register name */
	unsigned socket, instance;
	uint64_t value;	    /* written, or what the register holds; 0 for a read */
	const char *rule;   /* one sentence */
	const char *source; /* document and section */
};

/** Reports violations from now on, through this view only; NULL ends it. */
void pmon_strict(struct pmon *pmon, void (*report)(void *arg, const struct pmon_violation *),
		 void *arg);

/** PMIs sent since power on to @core of @socket, for tests and lint. */
uint64_t pmon_interrupts(struct pmon *pmon, unsigned socket, unsigned core,
			 const struct pmon_time *now);

#endif
