/* What accesses to the emulated PMUs carry, and what strict mode reports. */
#ifndef PMON_ACCESS_H
#define PMON_ACCESS_H

#include <stddef.h>
#include <stdint.h>

#include "pmulab/catalog.h"
#include "pmulab/machine.h"

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

/* Which register: what an instruction on a core, or a PCI access, names. */
struct pmon_access {
	unsigned socket;
	unsigned core; /* of the socket; tells apart only registers that each core has */
	enum pmu_space space;
	uint32_t address; /* as enum pmu_space says */
	unsigned width;	  /* bits: 32 or 64 */
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
