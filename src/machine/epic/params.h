/* What tells one such core from another: made of machines/uarch/ by scripts/uarch-gen. */
#ifndef MACHINE_EPIC_PARAMS_H
#define MACHINE_EPIC_PARAMS_H

#include "machine/epic/epic.h"
#include "machine/fabric/fabric.h"

struct epic_cache_params {
	uint32_t sets, ways, line_log2;
	uint32_t latency; /* cycles from issue to use */
};

struct epic_tlb_params {
	uint32_t entries, page_log2;
};

struct epic_params {
	const char *name;
	struct epic_cache_params l1i, l1d, l2i, l2d, l3;
	struct epic_tlb_params itlb1, itlb2, dtlb1, dtlb2;
	uint32_t memory_latency;  /* cycles */
	uint32_t requests, fills; /* of the second-level data cache, at once */
	uint32_t first_fills;	  /* of the first level of data, at once */
	uint32_t stores;	  /* that wait there to be written, at once */
	uint32_t store_write;	  /* cycles until one is */
	uint32_t store_writes;	  /* in a cycle */
	uint32_t snoops;	  /* that a core is at, at once */
	uint32_t victims;	  /* modified lines that it gives up, at once */
	uint32_t data;		  /* stores whose data wait there, at once */
	uint32_t banks, queued;	  /* its banks of 16 bytes; cycles of a hit by its queue */
	uint32_t bypass_second;	  /* cycles of one by its second bypass */
	uint32_t issues;	  /* that read or write its data in a cycle */
	uint32_t request_buffers; /* of both second levels, to what is beyond them */
	uint32_t line_buffers;	  /* of lines that leave a core, at once */
	uint32_t outstanding;	  /* requests of a core to home agents, at once */
	uint32_t bundles;	  /* of the instruction buffer */
	uint32_t flush_branch, flush_exception; /* cycles */
	uint32_t turn_return, turn_indirect;	/* cycles without fetch after one, if it is taken */
	uint32_t loop_exit;			/* the same after a counted loop */
	uint32_t tlb_transfer, walk;		/* cycles */
	uint32_t stack_rate;			/* registers a cycle */
	uint32_t loadrs, nat, unsafe;	     /* cycles: loadrs, a deferred load, a possible trap */
	uint32_t thread_switch, quantum;     /* cycles: of a change, and of a turn at most */
	uint32_t stream_lines, stream_fills; /* prefetched ahead; at once */
	uint32_t l2i_fill;		     /* cycles in which a line comes there */
	struct fabric_params fabric;
	uint8_t latencies[EPIC_VIAS][EPIC_USES];
};

/** @param name  NULL: the first. @return NULL: there is none of this name */
const struct epic_params *epic_params_find(const char *name);

#endif
