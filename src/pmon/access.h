/* What accesses to the emulated PMUs carry, and what strict mode reports. */
#ifndef PMON_ACCESS_H
#define PMON_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/description.h"
#include "catalog/entries.h"

struct pmon_unit;

#define PMON_CLOCKS PMU_CLOCK_COUNT

/* What of a PMU is present: the part's strapping. */
struct pmon_config {
	const struct pmu_pmu *pmu;
	unsigned sockets;
	const struct pmu_strap *straps; /* what discovery registers read */
	size_t strap_count;
	/* By enum pmu_clock: where a freeze in one falls in the other. 0: there is none. */
	uint32_t clock_mhz[PMON_CLOCKS];
	/* Per box of the PMU, a bit for each instance that the part has. */
	uint32_t present[16];
	/* Not 0 for signals of which the emitter can keep totals, by id; NULL: of none. */
	const uint8_t *totals;
};

/* Cycles of each clock since power on, by enum pmu_clock. */
struct pmon_time {
	uint64_t cycles[PMON_CLOCKS];
};

/* Which register: what an instruction on a core, or a PCI access, names. */
struct pmon_access {
	unsigned socket;
	unsigned core; /* of the socket; tells apart only registers that each core has */
	enum pmu_space space;
	uint32_t address;		 /* as enum pmu_space says */
	unsigned width;			 /* bits: 32 or 64 */
	uint8_t bytes;			 /* a write of these alone, bit n: byte n; 0: of all */
	const struct pmu_address *found; /* what is there, where that is known; else NULL */
};

/* A register of a unit, or a half of one: where an access leads. */
struct pmon_register_ref {
	struct pmon_unit *unit;
	uint8_t reg;	  /* index in the box */
	uint8_t shift;	  /* 32 for the upper half */
	uint8_t width;	  /* bits accessed */
	bool present;	  /* the part has the instance */
	uint8_t depends;  /* what was settled for the access: enum pmon_depends */
	uint64_t written; /* bits of the register that a write reaches */
};

/*
 * Of the socket: what has to be known before an access. What the machine's units did up to now has
 * to be emitted, as far as the machine has not emitted it yet.
 */
struct pmon_needs {
	bool time;
	uint32_t slices, homes, channels, cores; /* bit n: the n-th */
};

/* Strict mode: what the software that drives the registers did against the manual. */
struct pmon_violation {
	const char *reg; /* register name */
	unsigned socket, instance;
	uint64_t value;	    /* written, or what the register holds; 0 for a read */
	const char *rule;   /* one sentence */
	const char *source; /* document and section */
};

#endif
