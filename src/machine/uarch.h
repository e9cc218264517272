/*
 * What tells one out-of-order core from another: made of machines/uarch/ by scripts/core-gen. Times
 * are core cycles.
 */
#ifndef MACHINE_UARCH_H
#define MACHINE_UARCH_H

#include <stdint.h>

#include "machine/timing_ids.h"

#define UARCH_USES_MAX 4
#define UARCH_PORTS    8 /* 0 to 6; the last is the unit that divides */
#define UARCH_STORING  4 /* the port of stored data */
#define UARCH_LOADING  6 /* or L1D's paths to the load ports, of a core that has limits there */
#define UARCH_DIVIDER  7
#define UARCH_CYCLE    16 /* units of a cycle, in which ports are booked */

/* So many micro-operations, each for one of the ports whose bits are set. */
struct machine_port_use {
	uint8_t count, ports;
};

/* A class of instructions, without what its memory operands take. */
struct machine_timing {
	uint16_t latency;
	uint16_t busy; /* so long it keeps the unit that divides */
	uint8_t uops;
	struct machine_port_use uses[UARCH_USES_MAX];
};

struct machine_uarch {
	const char *name;
	uint32_t issue_width; /* micro-operations a cycle; a fused pair is one */
	uint32_t reorder_buffer, scheduler;
	uint32_t load_buffer, store_buffer; /* entries: from issue to retirement, to the commit */
	/* From address to result; a simple address is a register and a small displacement. */
	uint32_t load, load_simple, load_vector, load_vector_256;
	/*
	 * Bytes a cycle that L1D gives all loads, and that the port of the data of stores takes: 0,
	 * as many as they ask for. Of the former so many are lost to the address of a store.
	 */
	uint32_t load_bytes, store_bytes, address_bytes;
	uint32_t forward; /* from data that are stored to the load that reads them */
	uint32_t refill;  /* from a branch that was not foreseen to what follows it */
	uint32_t fusion;  /* 1: compare and test fuse with a jump, 2: other arithmetic too */
	/* Decoders: one of instructions of up to so many micro-operations, the others of one. What
	 * has more comes from the microcode sequencer, to which the core switches in so long. */
	uint32_t decoders, decoder_uops, microcode_switch;
	uint32_t predecode;	/* instructions a cycle whose lengths are found, */
	uint32_t length_prefix; /* and what one takes of which a prefix changes the length */
	/* Decoded micro-operations (DSB), of windows of FRONT_WINDOW bytes: none where it has no
	 * sets. Micro-operations of a way, ways of a window at most, and the way back to decoders.
	 */
	uint32_t dsb_sets, dsb_ways, dsb_way_uops, dsb_window_ways, dsb_switch;
	uint32_t loop_buffer;  /* micro-operations of a loop that needs neither */
	uint32_t decode_queue; /* that wait for issue */
	/* Branches: counters by address; those with tags, of histories of the last so many jumps;
	 * targets, returns. */
	uint32_t predict_base, predict_tagged, predict_near, predict_far;
	uint32_t predict_targets, predict_returns;
	/* TLBs: entries for pages of 4 KB and for large ones, of which the ITLB has one set. */
	uint32_t itlb_entries, itlb_ways, itlb_large;
	uint32_t dtlb_entries, dtlb_ways, dtlb_large, dtlb_large_ways;
	uint32_t stlb_entries, stlb_ways; /* second level */
	uint32_t stlb_sizes;		  /* 1: of pages of 4 KB alone, 2: of large ones too */
	uint32_t stlb;			  /* what a first-level miss costs that the second hits */
	uint32_t walk;			  /* and what a page walk takes but for its reads */
	uint32_t walkers;		  /* walks at a time */
	/* Entries of upper page tables that walks find without reading them. */
	uint32_t pde_cache, pdpte_cache, pml4e_cache;
	/*
	 * Bytes a cycle that the L2 moves, where it has lines of L1D alone to move: to it for loads
	 * and for stores, and from it; and lines from the LLC, and to it. 0: in no time.
	 */
	uint32_t l2_load, l2_own, l2_write, l2_fill, l2_evict;
	uint32_t write_back_trips; /* to the LLC: so long one has an entry of the superqueue */
	struct machine_port_use use_load[UARCH_USES_MAX], use_store[UARCH_USES_MAX];
	struct machine_port_use use_store_indexed[UARCH_USES_MAX];
	struct machine_timing timings[MACHINE_TIMINGS];
};

extern const char machine_uarch_names[]; /* of all, for messages */

/** @return NULL: there is none of this name */
const struct machine_uarch *machine_uarch_find(const char *name);

#endif
