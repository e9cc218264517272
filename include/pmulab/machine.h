/* Emulated machines: descriptions as data, made from machines/ at build time. */
#ifndef PMULAB_MACHINE_H
#define PMULAB_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pmu_cache {
	uint32_t sets, ways; /* lines of 64 bytes; LLC: a slice */
	uint32_t
	    latency; /* load to use on a hit, core cycles; LLC: the slice's part, uncore cycles */
};

/* Which instances of a box the machine has, of those that its PMU documents: bit n, instance n. */
struct pmu_part {
	const char *box;
	uint32_t instances;
};

/* What a discovery register reads on this machine. */
struct pmu_strap {
	const char *reg;
	uint64_t value;
};

struct pmu_machine {
	const char *name;
	const char *title;
	const char *pmu;    /* name of its uncore PMU in the catalog */
	const char *events; /* counted where nothing is asked for, comma separated */
	const char *source;
	uint32_t sockets;
	uint32_t cores;	       /* a socket */
	uint32_t slices;       /* a socket */
	uint32_t home_agents;  /* a socket */
	uint32_t channels;     /* a home agent */
	uint32_t ranks, banks; /* a channel; a rank */
	uint32_t row_bytes;    /* of a bank */
	uint32_t core_mhz, uclk_mhz, dclk_mhz;
	uint32_t bclk_mhz;     /* base clock, of which the core's is a multiple */
	uint32_t stepping;     /* family and model are the PMU's */
	const char *processor; /* its name, without the frequency */
	const char *qemu_cpu;  /* QEMU's model that is nearest, less what QEMU has not */
	/* The function of each socket's I/O bus that says which buses the socket has. */
	uint32_t bus_device, bus_device_id, bus_register;
	uint64_t memory_bytes; /* a socket */
	struct pmu_cache l1i, l1d, l2, llc;
	uint32_t issue_width;		   /* instructions a cycle */
	uint32_t reorder_window;	   /* instructions */
	uint32_t fill_buffers;		   /* outstanding L1D misses a core */
	uint32_t irq_entries, tor_entries; /* a slice */
	uint32_t tracker_entries;	   /* a home agent */
	uint32_t rpq_entries, wpq_entries; /* a channel */
	uint32_t wpq_high, wpq_low;	   /* write drain begins and ends at these fills */
	/* Message latencies, uncore cycles. */
	uint32_t ring_hop;	   /* core to slice, slice to home agent and back, each */
	uint32_t ha_cycles;	   /* home agent, from request to memory controller */
	uint32_t link_cycles;	   /* one way over QPI */
	uint32_t link_line_cycles; /* a line of data occupies the link so long */
	uint32_t snoop_cycles;	   /* a core's caches answer a snoop */
	/* DRAM timing, DRAM cycles. */
	uint32_t t_cl, t_cwl, t_rcd, t_rp, t_ras, t_burst, t_refi, t_rfc, t_wr, t_wtr;
	const struct pmu_part *parts; /* boxes of which not all documented instances are there */
	const struct pmu_strap *straps;
	size_t part_count, strap_count;
};

/** All machines. @param count receives their number. */
const struct pmu_machine *pmu_machines(size_t *count);
/** A machine by name, without regard to case; NULL where there is none. */
const struct pmu_machine *pmu_find_machine(const char *name);

#ifdef __cplusplus
}
#endif

#endif
