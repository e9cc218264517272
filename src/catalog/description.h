/* Descriptions of emulated machines: what is behind pmulab/machine.h. */
#ifndef CATALOG_DESCRIPTION_H
#define CATALOG_DESCRIPTION_H

#include "pmulab/machine.h"

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

/* What the CPUID instruction answers on every CPU; topology and counters are the machine's. */
struct pmu_cpuid {
	uint32_t leaf, subleaf, eax, ebx, ecx, edx;
};

/* What a register outside of the PMU reads. */
enum pmu_meter {
	PMU_METER_NONE, /* a value that never changes */
	/* Energy since power on, in 2^-unit J, 32 bits: */
	PMU_METER_PACKAGE_ENERGY, /* of a socket */
	PMU_METER_CORE_ENERGY,	  /* of its cores, a part of the package's */
	PMU_METER_DRAM_ENERGY,	  /* of its memory, no part of it */
};

/* A model-specific register outside of the PMU, which reads the same on every core of a socket. */
struct pmu_msr {
	uint32_t address;
	uint16_t meter; /* enum pmu_meter */
	uint16_t unit;	/* of a meter */
	uint64_t value; /* without one */
};

/* What energy a socket takes. */
struct pmu_power {
	uint32_t static_mw; /* of the package, whatever it does */
	uint32_t core_mw;   /* of a core while a thread runs on it */
	uint32_t lookup_pj; /* an LLC lookup */
	uint32_t dram_mw;   /* of a channel, whatever it does */
	uint32_t cas_pj;    /* a line read or written */
};

/* A PCI function outside of the PMU. */
struct pmu_function {
	uint8_t device, function;
	uint16_t id;	     /* of the device; the vendor is Intel */
	uint32_t class_code; /* 24 bits */
	uint16_t buses;	     /* offset of the register that tells the socket's buses; 0: none */
};

struct pmu_machine {
	const char *name;
	const char *title;
	const char *pmu;    /* name of its uncore PMU in the catalog */
	const char *events; /* counted where nothing is asked for, comma separated */
	const char *source;
	/* A core of machines/uarch/ that issues in order; NULL: cores are what the rest says, which
	 * a machine with such cores has not but for sockets, cores, threads_per_core, core_mhz and
	 * memory_bytes. */
	const char *core;
	uint32_t sockets;
	uint32_t cores;		   /* a socket */
	uint32_t threads_per_core; /* 0: one */
	uint32_t slices;	   /* a socket */
	uint32_t home_agents;	   /* a socket */
	uint32_t channels;	   /* a home agent */
	uint32_t ranks, banks;	   /* a channel; a rank */
	uint32_t row_bytes;	   /* of a bank */
	uint32_t core_mhz, uclk_mhz, dclk_mhz;
	uint32_t bclk_mhz;	      /* base clock, of which the core's is a multiple */
	uint32_t pclk_mhz, qfclk_mhz; /* 0: there is none */
	/* What the processor says of itself; family and model are the PMU's. */
	uint32_t stepping;
	const char *brand;    /* without the frequency */
	const char *flags;    /* as /proc/cpuinfo has them */
	const char *qemu_cpu; /* QEMU's model that is nearest, less what QEMU has not */
	const struct pmu_cpuid *cpuid;
	const struct pmu_msr *msrs;
	const struct pmu_function *functions;
	size_t cpuid_count, msr_count, function_count;
	struct pmu_power power;
	uint32_t first_uncore_device; /* PCI devices from here on are on the socket's uncore bus */
	uint64_t memory_bytes;	      /* a socket */
	struct pmu_cache l1i, l1d, l2, llc;
	const char
	    *uarch; /* an out-of-order core of machines/uarch/; "none": the next three are all */
	const char *translation;     /* of such a core's addresses: "tlb", or "none": it is free */
	const char *large_pages;     /* "none", or "transparent": where Linux would make some */
	uint32_t issue_width;	     /* instructions a cycle */
	uint32_t reorder_window;     /* instructions */
	uint32_t fill_buffers;	     /* outstanding L1D misses a core */
	uint32_t locked_cycles;	     /* core cycles of a locked access to a line in L1D */
	uint32_t prefetchers;	     /* bit: those that are on after reset, as in prefetch.h */
	uint32_t superqueue_entries; /* outstanding requests of an L2 that prefetches */
	uint32_t streams;	     /* that the L2's streamer follows at once */
	uint32_t stream_lines;	     /* that it is at most ahead of the core */
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
	uint32_t bank_groups;		  /* of a rank; 0: it has none */
	uint32_t t_ccd_l;		  /* CAS of a bank group, apart */
	uint32_t t_rrd_s, t_rrd_l, t_faw; /* activates of a rank; of a bank group; of five */
	uint32_t t_rtp;			  /* read CAS to precharge; 0: t_burst */
	const struct pmu_part *parts; /* boxes of which not all documented instances are there */
	const struct pmu_strap *straps;
	size_t part_count, strap_count;
	const char *text; /* all of this as JSON, which pmu_machine_parse() reads */
};

/** Hardware threads of a socket: the first one of each core, then the second ones. */
static inline uint32_t machine_cpus(const struct pmu_machine *machine)
{
	return machine->cores * (machine->threads_per_core ? machine->threads_per_core : 1);
}

/** The built-in machines. @param count receives their number. */
const struct pmu_machine *catalog_machines(size_t *count);

#endif
