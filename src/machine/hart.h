/* A thread's hold on a core, and what the shared state has of it. */
#ifndef MACHINE_HART_H
#define MACHINE_HART_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/memory_policy.h"
#include "machine/predict.h"

/* Kept out of the callbacks, which then need no stack frame, and with the parameters it is written
 * with, which are in registers. */
#if __has_attribute(noclone)
#define MACHINE_OUTLINE __attribute__((noinline, noclone))
#else
#define MACHINE_OUTLINE __attribute__((noinline))
#endif

#define MACHINE_L1_SETS 64 /* L1I and L1D; machine_open() refuses others */
#define MACHINE_L1_WAYS 8

/* L1 tag words: ((line / sets) + 1) << 2 | state, 0 for invalid. */
#define MACHINE_TAG_S 1
#define MACHINE_TAG_E 2
#define MACHINE_TAG_M 3

#define MACHINE_FRAMES_LOG2 10
#define MACHINE_WAITS	    0x10000u /* loads are outstanding, whatever they determine */
/* A register of the scoreboard: the translation of the address that is accessed. See tlb.h. */
#define MACHINE_TRANSLATION_REGISTER 17
#define MACHINE_TRANSLATION	     (1u << MACHINE_TRANSLATION_REGISTER)

/* Constants of a memory instruction, for the time of what depends on it: in one register. */
struct machine_insn {
	_Alignas(8) uint16_t
	    address_registers;	  /* bit n: general register n (encoding order) forms the address */
	uint16_t loads_registers; /* general registers that receive what is loaded */
	uint8_t place;		  /* low bits of its address, by which L1D prefetches */
	bool decides;		  /* the block's branch depends on what is loaded */
};

/* An L1: tag words and the tree pseudo-LRU of each set (see cache.h). In the shared state. */
struct machine_l1 {
	_Alignas(64) uint32_t words[MACHINE_L1_SETS * MACHINE_L1_WAYS];
	uint8_t plru[MACHINE_L1_SETS];
	uint64_t misses;
};

/*
 * L0 filter: where in L1 a virtual line was found last. Direct-mapped; an entry holds while the
 * slot's tag word is the one noted.
 */
#define MACHINE_L0_LINES 1024
struct machine_l0 {
	uint64_t line;		    /* virtual line number, UINT64_MAX for none */
	uint32_t shared;	    /* its tag word in MACHINE_TAG_S */
	uint16_t slot;		    /* set * ways + way */
	uint8_t plru_kept, plru_on; /* what a use makes of the set's pseudo-LRU: see plru_touch() */
};

/* What ends a block. */
enum machine_branch {
	MACHINE_BRANCH_NONE,
	MACHINE_BRANCH_CONDITIONAL,
	MACHINE_BRANCH_JUMP,
	MACHINE_BRANCH_JUMP_INDIRECT,
	MACHINE_BRANCH_CALL,
	MACHINE_BRANCH_CALL_INDIRECT,
	MACHINE_BRANCH_RETURN,
	MACHINE_BRANCH_SYSTEM, /* to the system, which does not count as jumping */
	MACHINE_BRANCH_KINDS
};

/* Why a core takes nothing in. What waits for nothing of these waits for values, ports and stores.
 */
enum machine_stall {
	STALL_BRANCH,	   /* that was not foreseen, until what follows it has come */
	STALL_FETCH,	   /* a line of instructions, */
	STALL_FETCH_PAGE,  /* or the translation of its address */
	STALL_NEAR,	   /* the oldest instruction, a load whose line L2 has, */
	STALL_FAR,	   /* or has not */
	STALL_BUFFER,	   /* fill buffers are all taken */
	STALL_STORES,	   /* the store buffer is full, as the line of a store has to come, */
	STALL_STORES_NEAR, /* or that of a load before the stores, which L2 has, */
	STALL_STORES_FAR,  /* or has not */
	STALL_LOADS_NEAR,  /* the load buffer is full, as the line of a load has to come */
	STALL_LOADS_FAR,
	STALL_VALUES, /* the reorder buffer is full of what waits for values, */
	STALL_PORTS,  /* or the scheduler of what waits for a port */
	STALL_DECODE, /* decoders deliver fewer micro-operations than it could take in */
	MACHINE_STALLS
};

/* What accesses, for counts of translations. */
enum tlb_use { TLB_LOAD, TLB_STORE, TLB_FETCH, MACHINE_TLB_USES };

#define MACHINE_PORTS 8

/* Instructions of SSE and AVX that compute with floating point, as they are counted. */
enum machine_float {
	FLOAT_SCALAR_DOUBLE,
	FLOAT_SCALAR_SINGLE,
	FLOAT_DOUBLE_128,
	FLOAT_SINGLE_128,
	FLOAT_DOUBLE_256,
	FLOAT_SINGLE_256,
	MACHINE_FLOATS
};

/* What micro-operations of planned blocks did, where that is asked for: see pipe.h. */
struct machine_pipe {
	uint64_t retired;	       /* fused ones are as many as they are */
	uint64_t units[MACHINE_PORTS]; /* as machine_plan.booked */
	uint64_t floats[MACHINE_FLOATS];
};

/* What is followed cycle by cycle, where that is asked for: see pipe.h. */
enum machine_pipe_kind {
	PIPE_ISSUED,
	PIPE_EXECUTED,
	PIPE_RETIRED,
	PIPE_INSTRUCTIONS,
	PIPE_LOADS,
	PIPE_LOADS_L1, /* that find their line there */
	PIPE_BRANCHES,
	PIPE_BRANCHES_NEAR, /* all but system calls */
	PIPE_CONDITIONAL,
	PIPE_NOT_TAKEN,
	PIPE_FLOATS, /* what computes with them, by sets of enum machine_float */
	MACHINE_PIPE_KINDS = PIPE_FLOATS + 11
};
#define MACHINE_PIPE_MOST 16 /* of a kind in a cycle, that are told apart */

/* The last cycle in which there was any. */
struct machine_pipe_cycle {
	uint64_t number;
	uint32_t count, before; /* and the number in the cycle before it */
	bool counted;		/* it is in the sums as it is */
};

/* Where the front end delivers so many micro-operations a cycle, and less than one more. */
#define MACHINE_FRONT_RATES 5
struct machine_front_rate {
	uint64_t units, slots;
};

/* What the front end has delivered: micro-operations as they are issued. The rest is the DSB's.
 * Units are of UARCH_CYCLE. */
struct machine_front_counts {
	struct machine_front_rate decoding[MACHINE_FRONT_RATES]; /* by decoders */
	/* Of blocks for which the core waits for decoders. */
	struct machine_front_rate late[MACHINE_FRONT_RATES];
	uint64_t sequenced[2]; /* by the microcode sequencer, begun by DSB, by decoders, */
	uint64_t sequences[2]; /* for so many instructions, */
	uint64_t looped;       /* by the loop buffer */
	uint64_t prefixes;     /* decoded instructions of which a prefix changes the length */
	uint64_t switched;     /* units on the way from DSB to decoders */
	uint64_t refilled;     /* ticks from when a branch is known that was not foreseen, */
			       /* until what follows it has come */
};

/* A thread's clock on a core and what it has done there, in the shared state. First what is counted
 * most often. */
struct machine_progress {
	_Alignas(64) uint64_t time; /* ticks */
	uint64_t loads, stores, fetches;
	/* What a planned block adds to at once. */
	_Alignas(32) uint64_t instructions;
	uint64_t slots, uops; /* of planned blocks: micro-operations issued and executed */
	uint64_t branches;
	/* Of planned blocks: branches by kind and whether they jumped, */
	uint64_t went[MACHINE_BRANCH_KINDS][2];
	/* and those of them that were not foreseen. */
	uint64_t mispredicted[MACHINE_BRANCH_KINDS][2];
	uint64_t idle; /* ticks by which the clock was moved while the thread did not run */
	uint64_t locked;
	uint64_t buffer_hits; /* of loads, that find their line on its way */
	uint64_t split_loads, split_stores, split_locked; /* across a line's end: two of those */
	uint64_t stalls[MACHINE_STALLS];		  /* ticks */
	struct machine_pipe pipe;
	struct machine_front_counts front;
	/* First-level TLB misses by what accesses (enum tlb_use) and whether the page is large:
	 * that the second level has, and that a page walk ends; */
	uint64_t tlb_second[MACHINE_TLB_USES][2], tlb_walks[MACHINE_TLB_USES][2];
	uint64_t walk_ticks[MACHINE_TLB_USES];
	uint64_t walk_reads[2][2]; /* of data, of code: that L1D has, that L2 has */
	uint64_t tlb_flushes;
};

enum machine_miss_level {
	MISS_NEAR,	 /* L2 has the line */
	MISS_FAR,	 /* it has not, or nobody waits for it */
	MISS_PREFETCHED, /* nobody has asked for it yet */
	MISS_POSTED,	 /* it brings no line: no store waits for it */
};

/* An outstanding L1D miss. */
#define MACHINE_FILL_BUFFERS_MAX 32
#define MACHINE_MISSES_MAX	 64 /* with stores that wait for a fill buffer; a power of two */
struct machine_mshr {
	uint64_t
	    instruction; /* number of the one that missed; UINT64_MAX: nobody waits (a store) */
	uint64_t end;	 /* tick */
	uint64_t line;	 /* virtual */
	uint8_t level;	 /* enum machine_miss_level */
};

static_assert(sizeof(struct machine_mshr) == 32, "found in the ring without a multiplication");

/* The load and the store buffer: see buffers.h. */
/* A miss that lasts so long that a buffer may become full behind it: see buffers.h. */
#define MACHINE_HOLDING_MAX MACHINE_MISSES_MAX
struct machine_holding {
	uint64_t end;		/* tick */
	uint16_t loads, stores; /* accesses before it, low bits */
	bool is_load;
	uint8_t level; /* enum machine_miss_level */
};

struct machine_buffers {
	uint32_t loads, stores; /* entries; 0: they are not modelled */
	uint32_t least;		/* instructions before which neither becomes full */
	uint64_t hold;		/* ticks: what lasts no longer fills neither */
	uint64_t held;		/* tick until which a miss holds */
	uint64_t empty;		/* tick from which no store is left that a miss has held up */
	uint64_t drained;	/* tick at which the stores so far are in L1D, less a cycle each */
	uint64_t fence;		/* at this instruction number the stores before it are done */
	uint64_t due;		/* at this instruction number a buffer may be full */
	uint64_t later;		/* before this one nothing else is due */
	/* Accesses before the oldest miss that holds, low bits, as long as it does. */
	uint64_t until; /* tick */
	uint16_t first_loads, first_stores;
	uint32_t first, next; /* of those that hold: places, ever rising */
	struct machine_holding holding[MACHINE_HOLDING_MAX]; /* a ring, from the oldest on */
};

/* What L1D's prefetchers know: see prefetch_l1.h. */
#define MACHINE_PREFETCH_PLACES 256
#define MACHINE_PREFETCH_RECENT 4
struct machine_strides {
	struct machine_stride {
		uint64_t address; /* virtual, of the last access */
		int32_t step;	  /* bytes; 0: none that was seen */
		uint32_t seen;	  /* so often in a row */
	} places[MACHINE_PREFETCH_PLACES];
	_Alignas(32) uint64_t
	    recent[MACHINE_PREFETCH_RECENT]; /* virtual lines that were loaded last, plus 1 */
	uint32_t next;
};

struct machine_translation {
	uint32_t tag; /* virtual page >> MACHINE_FRAMES_LOG2, UINT32_MAX for none */
	uint32_t frame;
};

/* A page that a first-level TLB has. */
struct machine_tlb_page {
	uint64_t page;	/* UINT64_MAX: none */
	uint64_t lines; /* bit: the L0 filter may know such a line: see tlb_note() */
};

/* A first-level TLB: the ways of a set from the last used one on. */
struct machine_tlb {
	uint32_t set_mask, ways; /* sets less one */
	struct machine_tlb_page pages[128];
};

/* The upper entries of page tables that walks know, from the last used one on. */
struct machine_walk_cache {
	uint32_t count;
	uint64_t entries[32];
};

/* What a core knows of translations: see tlb.h. */
struct machine_tlbs {
	bool on;
	/* Of data, of code: the page used last (4 KB), and its entry as tlb_note() needs it. */
	uint64_t recent[2];
	uint64_t *lines[2];
	uint32_t line_shift[2];
	uint64_t no_lines; /* where there is no entry */
	struct machine_tlb small[2], large[2];
	uint32_t second_mask, second_ways;
	uint64_t second[1536]; /* of large pages too: see tlb.c */
	struct machine_walk_cache upper[3];
	uint64_t walker_free[2]; /* tick */
	uint32_t walkers, next_read;
	/* Lines of page tables on their way, and the ticks at which they come. */
	uint32_t read_lines[2];
	uint64_t read_ends[2];
	uint64_t second_ticks, walk_ticks, read_ticks, load_ticks;
	uint64_t unmapped; /* of its address space, as it knows it: see tlb_settle() */
};

#define MACHINE_HOST_CPUS 1024

/* Processors of the host, as sched_setaffinity() takes them. */
struct machine_host_cpus {
	uint64_t words[MACHINE_HOST_CPUS / 64];
};

/* See host_cpu.h. Zero: it was never bound. */
struct machine_host_cpu {
	struct machine_host_cpus allowed; /* where its thread could run before */
	uint64_t since;			  /* clock_ns() */
	uint32_t bound;			  /* to that processor, plus 1; 0: to none */
	uint32_t waits;			  /* looks that had to wait, */
	uint32_t passes;		  /* and those since the last of them that had not */
};

/* What looks at a thread that others wait for have found: see stall.h. Zero: nothing. */
struct stall {
	uint64_t sleep; /* its number, as lock_thread_sleep() has it */
	uint32_t thread, looks;
	uint32_t passes; /* blocks executed without it since */
};

/* The branch that ends a block, for what follows. Zero: there is none. */
struct machine_block_end {
	uint32_t hash;	   /* see predict.h */
	uint16_t deciders; /* bit: general register from before the block on which it depends */
	uint8_t branch;	   /* enum machine_branch */
	uint8_t resolver;  /* value with which it is known, or PLAN_AT_ONCE, PLAN_LOADED */
};

/* How far what an out-of-order core computes is behind what it takes in: see plan.h, issue.c. */
struct machine_issue {
	_Alignas(64) uint8_t lags[32]; /* cycles: of values */
	uint16_t ports[8];	       /* units: booked ahead */
	uint64_t time;		       /* tick at which all this is so */
	uint32_t units;		       /* that the lags leave out, below a cycle */
	uint64_t behind;	       /* units that the lags of vectors have not been told of */
	_Alignas(16) uint8_t lag_most[16];  /* more, and the core takes nothing in */
	_Alignas(16) uint16_t port_most[8]; /* so for ports */
	struct machine_block_end end;	    /* of the last block, */
	uint64_t next;			    /* and the address of what stands after it */
	uint64_t decided; /* tick at which the misses end on which the branch of the last depends */
};

/* Code whose micro-operations are kept decoded (DSB), and how far the front end is ahead: see
 * front.h. */
#define MACHINE_FRONT_BLOCKS 4096
#define MACHINE_FRONT_GRAIN  4 /* bytes: blocks that begin in the same are one */
#define MACHINE_FRONT_SETS   32
#define MACHINE_FRONT_WAYS   8
/* A set's windows in the order in which they came, in a ring. */
struct machine_front_set {
	_Alignas(128) uint32_t numbers[MACHINE_FRONT_WAYS]; /* of windows of FRONT_WINDOW bytes */
	uint32_t parts[MACHINE_FRONT_WAYS];		    /* bit: byte that was decoded */
	uint8_t entries[MACHINE_FRONT_WAYS], ways[MACHINE_FRONT_WAYS];
	uint8_t all_ways;
	uint8_t noted;	    /* bit: way that was used again, and may be in the table of blocks */
	uint8_t first, end; /* the oldest, and after the newest: modulo MACHINE_FRONT_WAYS */
};

struct machine_front {
	uint32_t ahead, most;	 /* units that the decode queue holds, and may */
	uint32_t owed;		 /* of a tick for which the core has waited too short, in units */
	uint32_t set_mask, each; /* units of a slot */
	uint64_t delivered;	 /* slots up to the end of the last block that decoders delivered */
	struct machine_front_set sets[MACHINE_FRONT_SETS];
	/* Where all of a block is in the DSB: the number of the grain in which it begins. */
	_Alignas(32) uint32_t blocks[MACHINE_FRONT_BLOCKS];
};

/* The last block, of which it is known at the next one what it did. */
struct machine_pipe_block {
	uint64_t begin, span; /* ticks, and those of its slots added up */
	uint32_t slots;	      /* 0: there is none */
	uint64_t loads, l1;   /* so far, at its begin: all, and those that L1D has */
	uint64_t owed;	      /* of the latter, that blocks before counted too many */
};

#define MACHINE_STRING_BYTES 32 /* of a piece in which microcode moves strings */

/* The line that rep movs or rep stos writes upwards from its begin: see control.h. */
struct machine_string {
	uint64_t line;	 /* virtual */
	uint64_t due;	 /* instruction number at which it is over */
	uint32_t pieces; /* bit: piece written; 0: there is none */
	struct machine_insn insn;
};

/* A thread's hold on a core. Private to the thread. */
struct machine_hart {
	struct machine_progress *progress;
	struct machine_l1 *l1d, *l1i;
	uint64_t attention;  /* at this instruction number machine_attend() is due */
	uint64_t skew_due;   /* tick up to which it may go without looking at the others */
	uint64_t in_flight;  /* bit: L1 set with a line that a load waits for */
	uint32_t scoreboard; /* bit: general register that loads determine; MACHINE_WAITS */
	uint32_t thread;     /* of the holder, for locks */
	uint32_t miss_count;
	uint32_t locked_ticks; /* that a locked access takes beyond its store */
	struct machine_issue issue;
	struct predictor predictor;
	struct machine_front front;
	_Alignas(64) struct machine_l0 data[MACHINE_L0_LINES];
	_Alignas(64) struct machine_l0 code[MACHINE_L0_LINES];

	struct machine *machine;
	struct machine_address_space *space;
	struct core *core;
	uint64_t *answers; /* of struct core, where those to its requests count */
	unsigned number;   /* of the core, over all sockets */
	unsigned socket;   /* of the core; and its number there */
	unsigned number_in_socket;
	uint64_t cpus; /* bit: core, over all sockets, where it may run */
	struct machine_memory_policy memory;
	uint64_t interleaved; /* pages that it has placed in turns */
	uint64_t moves;	      /* of its address space, as it knows it */
	unsigned member;      /* of those that run in turns, plus 1; 0: it is none */
	bool exits;	      /* its host thread ends after it, */
	bool ends_process;    /* and its process */
	bool owns_core;
	bool has_met;	      /* in this turn it has taken a line from another core */
	bool in_turn;	      /* it runs, of those that take turns: see skew.c */
	bool watched;	      /* see pipe.h; */
	uint32_t followed;    /* and of it, bit: enum machine_pipe_kind */
	bool tracked;	      /* see waits.h */
	bool recorded;	      /* its branches are: see branches.h */
	bool unforeseen;      /* the branch that ended the last block was, */
	uint64_t branch_at;   /* and its address; 0: none is known yet */
	uint64_t user;	      /* unique number of this hold */
	uint64_t not_before;  /* tick at which it begins at the earliest */
	uint64_t owned_since; /* tick */
	uint64_t next_look;   /* instruction number: skew and owners are looked at */
	uint64_t out_since;   /* tick: requests to the LLC are counted from then on */
	uint32_t out_requests;
	uint32_t waited, yields;  /* see skew.c */
	uint32_t meetings;	  /* of struct skew, seen */
	uint64_t wakes_at;	  /* tick until which it sleeps; 0: it does not */
	struct stall stall;	  /* of the thread that it waits for, or waited for last */
	struct stall owner_stall; /* of the one that has its core, likewise */
	uint64_t place;		  /* of the instruction that runs: see machine_at() */
	uint64_t block;	  /* of the block that runs, where cores are accounted for; else 0 */
	uint32_t context; /* of the thread: see machine_in() */
	uint32_t fetched; /* bytes from the block's begin to where the line begins */
	uint64_t touched; /* virtual address of what L1 is looked up for, */
	uint32_t touched_size;
	uint32_t first_miss;
	uint64_t miss_last;				/* tick: the latest end of a miss so far */
	uint32_t fill_buffers, reorder_window;		/* of the machine's description */
	uint64_t l2_ticks;				/* latency of the L2 */
	struct machine_mshr misses[MACHINE_MISSES_MAX]; /* a ring, by rising end */
	struct machine_buffers buffers;
	uint64_t arrival[18]; /* tick at which a scoreboard register has its value */
	uint64_t arrival_last;
	uint64_t prefetched; /* bit: L1D set with a line that is prefetched and on its way */
	struct machine_strides strides;
	struct machine_string string;
	struct machine_pipe_cycle cycles[MACHINE_PIPE_KINDS];
	struct machine_pipe_block block_before;
	struct machine_translation frames[1 << MACHINE_FRAMES_LOG2]; /* of pages used lately */
	struct machine_tlbs tlbs;
	struct machine_host_cpu host_cpu;
};

#endif
