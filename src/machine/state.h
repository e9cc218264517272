/*
 * The structs of the shared block, which hold no pointers and are valid when zeroed, and the
 * process's view of them. For the sources of this layer only.
 *
 * Lines are physical line numbers over all nodes; cores are numbered over all sockets.
 */
#ifndef MACHINE_STATE_H
#define MACHINE_STATE_H

#include <assert.h>

#include "base/lock.h"
#include "machine/divisor.h"
#include "machine/hart.h"
#include "machine/kept_times.h"
#include "machine/levels.h"
#include "machine/memory_state.h"
#include "machine/page_cache.h"
#include "machine/source.h"
#include "machine/totals.h"
#include "machine/uarch.h"

#define LINE_BYTES	      64
#define LINE_LOG2	      6
#define PAGE_LOG2	      12
#define PAGE_LINES	      (1 << (PAGE_LOG2 - LINE_LOG2))
#define L1_SETS		      MACHINE_L1_SETS
#define L1_WAYS		      MACHINE_L1_WAYS
#define L2_SETS_MAX	      512
#define L2_WAYS		      8
#define LLC_WAYS_MAX	      20
#define SOCKETS_MAX	      2
#define CORES_MAX	      32 /* of a socket: core-valid bits */
#define SLICES_MAX	      32 /* of a socket */
#define HOMES_MAX	      2	 /* home agents of a socket */
#define HOME_CHANNELS	      4	 /* of a home agent */
#define FILL_BUFFERS_MAX      MACHINE_FILL_BUFFERS_MAX
#define IRQ_MAX		      32
#define TOR_MAX		      20
#define TRACKER_MAX	      128
#define WC_BUFFERS	      10
#define PREFETCHERS	      4 /* enum machine_prefetcher */
#define STREAMS_MAX	      32
#define SUPERQUEUE_MAX	      32
#define CORE_USERS_MAX	      1024 /* threads on a core at once */
#define ACCUMULATORS	      91
#define PIPE_ACCUMULATORS     46
#define FRONT_ACCUMULATORS    22
#define RESPONSE_ACCUMULATORS (9 * SOURCES + 5)

/* States of a line in any cache; the order matters: see MACHINE_TAG_*. LLC only: F. */
enum line_state {
	LINE_I = SIGNAL_STATE_I,
	LINE_S = SIGNAL_STATE_S,
	LINE_E = SIGNAL_STATE_E,
	LINE_M = SIGNAL_STATE_M,
	LINE_F = SIGNAL_STATE_F,
};

/* Most lines are in one core at most; the core-valid bits of others are elsewhere. See llc_set.h.
 */
struct llc_set {
	_Alignas(64) uint16_t keys[LLC_WAYS_MAX]; /* their low bits */
	uint8_t holds[LLC_WAYS_MAX];		  /* state and core; 0: free */
	uint32_t high; /* bit a way: bit 16 of its key; LLC_HAD_SEVERAL */
};
static_assert(sizeof(struct llc_set) == 64, "a host line a set");

#define LLC_KEY_MAX 0x1ffff

/* Core-valid bits of ways that several cores have. */
struct llc_sharers {
	uint32_t core_valid[LLC_WAYS_MAX];
};

struct wc_buffer {
	uint32_t line;
	uint64_t written; /* bit a byte; 0: free */
	uint32_t cause;	  /* of the last write: see cause.h */
	uint64_t age;	  /* order of the last write */
};

/* Ticks that the way into and out of an L2 is taken by a line: see l2_port.h. */
struct l2_moves {
	uint32_t load, own, write; /* to L1, for a load or a store, and back */
	uint32_t fill, evict;	   /* from the LLC, and back */
};

/* An L2's prefetchers and its outstanding requests: see prefetch.h. */
struct prefetch_stream {
	uint8_t last, next; /* lines of the page: asked for, and to be prefetched */
	uint8_t run;	    /* steps in this direction, up to PREFETCH_STEPS */
	int8_t direction;   /* of the stream: 1, -1 */
};
struct superqueue {				    /* see superqueue.h */
	_Alignas(64) uint64_t ends[SUPERQUEUE_MAX]; /* ticks, from the first on in rising order */
	uint32_t lines[SUPERQUEUE_MAX];		    /* of requests, plus 1 */
	uint32_t demands;			    /* bit: entry that the core asked for */
	uint32_t first;				    /* entry that is free first */
};
struct prefetch {
	uint32_t on;				  /* bit: enum machine_prefetcher */
	uint32_t stream_count, recent;		  /* streams in use; the last one used */
	_Alignas(64) uint32_t pages[STREAMS_MAX]; /* of streams, plus 1 */
	_Alignas(32) int8_t recency[STREAMS_MAX]; /* see lru_touch32() */
	struct prefetch_stream streams[STREAMS_MAX];
	struct superqueue queue;
	uint64_t into_l1d, into_l2, into_llc; /* lines */
};

/* A thread that has a place on a core. */
struct core_user {
	uint32_t thread;  /* of the host; 0: nobody's place */
	uint8_t waits;	  /* for others, on which it depends when it goes on */
	uint8_t unnamed;  /* thread is the one that makes it: its own is not known yet */
	uint8_t begun;	  /* it was on the core */
	uint8_t in_vfork; /* it sleeps until its child executes a program, or ends */
	uint32_t process; /* of the host, the thread's or its maker's */
	uint32_t in_lock; /* it waits for the machine's lock, which it gets without anybody's help
			   */
	uint64_t before;  /* ticks that the place had executed, less those that the thread has
			     elsewhere */
};

/* For whom L1 asks: accesses, prefetches into L1D, page walks for data and for code. */
enum { ANSWERS_DEMAND, ANSWERS_PREFETCH, ANSWERS_WALK_DATA, ANSWERS_WALK_CODE, ANSWERS };

/* What a core waits for at once: see waits.h. Loads are of the program alone. */
enum core_wait {
	WAIT_DATA,
	WAIT_OWN,
	WAIT_CODE,
	WAIT_ALL_DATA,
	WAIT_LINE, /* of L1D */
	WAIT_WALK, /* by enum tlb_use */
	WAIT_LOAD = WAIT_WALK + MACHINE_TLB_USES,
	WAIT_LOAD_FAR,
	WAIT_LOAD_ANY, /* those that hit too */
	CORE_WAITS
};

/* Under the lock of the core's caches. */
struct core_waits {
	bool on;
	bool known; /* something has been counted */
	struct levels levels[CORE_WAITS];
	uint64_t reported[CORE_WAITS][2 * LEVELS_MAX], reported_loads[3];
};

/* Of what is issued, cycles in which so many are at once: see pipe.h. */
struct core_cycles {
	bool known;
	uint64_t counts[MACHINE_PIPE_KINDS][MACHINE_PIPE_MOST + 1]; /* with exactly so many */
	uint64_t rises[MACHINE_PIPE_KINDS][MACHINE_PIPE_MOST + 1];
	uint64_t reported[MACHINE_PIPE_KINDS][2 * MACHINE_PIPE_MOST];
	uint64_t divisions, reported_divisions[2]; /* times that the divider ceases to be idle */
};

/* Taken branches: see branches.h. */
#define CORE_BRANCHES 16 /* that are kept of each kind */
struct core_branch {
	uint64_t number;   /* among those of its kind, from 1 on; 0: it is none */
	uint64_t order;	   /* among all */
	uint64_t from, to; /* virtual addresses */
	uint64_t mispredicted;
};
struct core_branches {
	uint64_t count;
	struct core_branch_ring {
		uint64_t count, reported;
		struct core_branch kept[CORE_BRANCHES];
	} rings[MACHINE_BRANCH_KINDS];
};

struct core {
	struct lock caches;  /* see private.c */
	uint32_t users_high; /* users[] and progress[] from here on were never used */
	/* Goes up whenever a line comes into the caches or is taken from them: see private.c. */
	_Alignas(64) uint64_t generation;
	/* By enum signal_request: that L2 has. */
	uint64_t l2_hits[REQUEST_COUNT];
	/* What L2 sends to the LLC for L1, by for whom (ANSWERS_*) and enum machine_source. */
	uint64_t answers[ANSWERS][REQUEST_COUNT][SOURCES];
	/* The same of what it prefetches itself. */
	uint64_t l2_prefetches[REQUEST_COUNT][SOURCES];
	/* Uncore cycles until answers were there, [1] for L2's own prefetches, added up. */
	uint64_t outstanding[2][REQUEST_COUNT];
	/* Ticks that L1D waited longer for lines that were on their way, or behind others. */
	uint64_t late;
	uint64_t l2_free;	    /* tick from which on L2 can move a line: see l2_port.h */
	uint64_t l1d_prefetch_hits; /* of l2_hits[REQUEST_READ_DATA] */
	uint64_t l2_prefetch_hits;  /* that it has already */
	uint64_t upgrades;	    /* of requests to own: L1D has the line in S */
	/* By enum line_state; victims in I: there was room. */
	uint64_t l2_fills[SIGNAL_STATE_COUNT], l2_victims[SIGNAL_STATE_COUNT];
	uint64_t l2_dropped;		 /* modified victims of which L1D has newer data */
	uint64_t l1_writebacks[2];	 /* into L2, which has the line, [0] has not */
	uint64_t reported_at;		 /* see accumulator.c */
	uint64_t reported[ACCUMULATORS]; /* of each accumulator */
	uint64_t reported_pipe[PIPE_ACCUMULATORS];
	uint64_t reported_front[FRONT_ACCUMULATORS];
	uint64_t reported_responses[RESPONSE_ACCUMULATORS];
	/*
	 * By user. Each is written by its thread alone, so that nothing is lost where two run at
	 * once; who comes to its place later adds to it. The core did the sum of them.
	 */
	_Alignas(64) struct machine_progress progress[CORE_USERS_MAX];
	struct machine_l1 l1d, l1i;
	struct wc_buffer wc[WC_BUFFERS];
	uint64_t wc_age;
	uint64_t l2_writebacks, nt_stores, flushes;
	uint64_t wc_lines[2]; /* of this socket's memory, and of the other's */
	struct prefetch prefetch;
	struct core_waits waits;
	struct core_cycles cycles;
	struct core_branches branches;

	/* Who runs here. */
	struct lock owner;
	uint32_t waiting, yielding;	/* threads that want the owner; that let others have it */
	uint32_t owners;		/* given so far */
	uint64_t last_user, swapped_at; /* whose hold it is or was, from which tick on */
	struct core_user users[CORE_USERS_MAX];
	uint64_t cpus[CORE_USERS_MAX]; /* of each: bit: core, over all sockets, where it may run */
	struct machine_memory_policy memory[CORE_USERS_MAX]; /* of each */

	_Alignas(64) uint32_t l2[L2_SETS_MAX * L2_WAYS]; /* tag words as in L1, see lru8_use() */
};

/*
 * Queues are slots with the time from which each is free. A box's time is its latest arrival. What
 * one core sends earlier than that, out of its own order, comes at that time; what another sends
 * comes at its own: see machine_is_late().
 */
struct slice {
	uint64_t now; /* uncore cycle */
	uint64_t irq[IRQ_MAX];
	uint64_t tor[TOR_MAX];
	uint32_t irq_hint, tor_hint;
	_Alignas(16) uint32_t tor_lines[TOR_MAX]; /* held until then, plus 1 */
	uint8_t tor_cores[TOR_MAX];		  /* for which core, or SIGNAL_NO_CORE: a snoop */
	uint64_t tor_arrivals[TOR_MAX], tor_begins[TOR_MAX];
	uint16_t tor_totals[TOR_MAX]; /* what it was for: see totals.h */
	uint64_t lookups, misses, victims, writebacks, tor_cycles;
	_Alignas(64) struct slice_totals totals; /* not reported yet */
};

struct home {
	uint64_t now; /* uncore cycle */
	uint64_t tracker[TRACKER_MAX];
	uint32_t tracker_hint;
	uint32_t tracker_lines[TRACKER_MAX];	 /* held until then, plus 1 */
	uint8_t tracker_requesters[TRACKER_MAX]; /* nodes */
	uint8_t tracker_requests[TRACKER_MAX];	 /* enum signal_request; NONE as TOTALS_NONE */
	/* When it began, its snoop ended, and a read had its data; 0: there was no such thing. */
	uint64_t tracker_begins[TRACKER_MAX], tracker_snooped[TRACKER_MAX];
	uint64_t tracker_data[TRACKER_MAX];
	uint64_t reads, owns, writes, snoops, snoop_writebacks, tracker_cycles;
	uint64_t flushes, flush_writes; /* flush_writes: with a line that the asking socket had */
	_Alignas(64) struct home_totals totals; /* not reported yet */
};

/* One direction of the links between two sockets, for data. */
struct link {
	uint64_t now, busy;  /* uncore cycle */
	struct calendar use; /* where requests of several cores come */
};

/*
 * A core's part in skew control: see skew.c. Zero: nobody runs there, and nobody waits. Only who
 * has the machine's lock takes lines from others.
 */
struct skew {
	_Alignas(64) uint64_t clock; /* tick at its last look plus 1; 0 while it does not run */
	uint64_t wake_at;	     /* the first tick that another sleeps for; 0: none */
	uint64_t met_at;	     /* tick: a line was taken from it, or it took one; 0: never */
	uint64_t out_until;	     /* tick: many of its requests go to the LLC until then */
	uint32_t epoch;		     /* futex of those that sleep: changes when they are woken */
	uint32_t sleepers;	     /* of those that wait for it; others yield */
	uint32_t thread;	     /* host thread that runs it; 0: it is placed, not begun yet */
	uint32_t meetings;	     /* lines taken from it while it counted as apart */
};

#define GATHER_LINES	64
#define GATHER_REQUESTS 8

struct gather_request {
	uint64_t bytes; /* bit a byte of the line */
	uint32_t core;
};

/* The latest requests for a line, while several cores run: see gather.h. */
struct gather_line {
	uint32_t line, count;
	struct gather_request requests[GATHER_REQUESTS]; /* a ring */
};

#define TURNS_MEMBERS_MAX 1024

enum turns_state {
	TURNS_FREE,
	TURNS_PLACED,  /* made; it has not begun */
	TURNS_READY,   /* it has a turn, or wants one */
	TURNS_AWAY,    /* in a system call */
	TURNS_STALLED, /* the emulator has it wait, and will let it go on by itself */
	TURNS_GONE,    /* it ends; its end may wake another, */
	TURNS_ENDED,   /* or that of its process */
};

/* A thread that runs in turns. */
struct turns_member {
	uint32_t word; /* futex: changes when it is woken */
	uint32_t state;
	uint32_t thread, core; /* host thread; core over all sockets */
	uint64_t user, time;   /* number of its hold; tick */
	uint64_t sleep;	       /* in which it was seen last, as lock_thread_sleep() has it */
	uint64_t stuck;	       /* that from which only another that goes on can wake it */
	bool is_told;	       /* the system was seen to tell where it sleeps */
	bool was_away;	       /* it has come from a system call since the last turn was given */
	bool waits;	       /* in turns_take(), or on its way there */
};

/* Valid when zeroed: see turns.c. */
struct turns {
	struct lock lock;
	uint32_t enabled, high; /* members from high on were never used */
	uint64_t holder;	/* user that has the turn; 0: nobody */
	uint64_t given;		/* turns */
	bool is_told;		/* the system was seen to tell it of one */
	bool settled;		/* who can have the next one: since then nobody called the system */
	struct turns_member members[TURNS_MEMBERS_MAX];
};

static_assert(SOCKETS_MAX * CORES_MAX <= 64,
	      "machine_state.occupied and running have a bit for each core");

struct machine_state {
	struct lock lock;
	uint64_t next_user;
	uint64_t horizon;  /* tick: end of the latest request of any core, or of a drain */
	uint64_t occupied; /* bit n: core n has threads, whose clocks may lie beyond the horizon */
	uint64_t passed;   /* tick up to which time passed while nobody ran */
	uint32_t sockets;  /* bit: socket whose cores have had threads: others' caches are empty */
	uint64_t next_frame[SOCKETS_MAX];
	uint64_t tables[SOCKETS_MAX]; /* frames of page tables, from the node's end on */
	uint64_t cpus;		      /* bit: core where programs may run; 0: anywhere */
	uint64_t power_on_ns; /* time of day at tick 0, for programs; 0: they have other clocks */
	struct memory_policy {
		uint32_t nodes; /* bit: node on which pages are placed; 0: where they are touched */
		bool interleaved;
		uint64_t placed; /* pages, interleaved ones */
	} memory_policy;
	struct link links[SOCKETS_MAX]; /* by sending socket */
	uint64_t meetings;		/* lines that cores took from others */
	uint64_t host_cpu_chosen;	/* when: clock_ns(); 0: never */
	uint32_t host_cpu;		/* of threads that take turns, plus 1: see host_cpu.h */
	struct gather_line gather[GATHER_LINES];
	struct lock alone;	       /* of the core that runs, of those that meet: see skew.c */
	_Alignas(64) uint64_t running; /* bit: core that shows its clock */
	struct skew skew[SOCKETS_MAX * CORES_MAX];
	struct turns turns;
	struct page_cache page_cache;
	uint32_t zeros; /* frame of the page that is read where nothing was written, plus 1; 0 */
	struct kept_times kept_times;
};

struct machine {
	struct pmu_machine desc[1];	   /* a copy: found without another pointer */
	const struct machine_uarch *uarch; /* of its cores; NULL: none, see docs */
	struct l2_moves l2_moves;
	bool translates;  /* its cores take time for it: see tlb.h */
	bool large_pages; /* anonymous memory gets them: see address_space.c */
	struct machine_state *state;
	struct core *cores;
	struct slice *slices; /* socket * desc->slices + slice */
	struct machine_llc {
		struct slice *slices;
		struct llc_set *sets;	     /* see llc_index_set() */
		struct llc_sharers *sharers; /* as sets */
	} llc[SOCKETS_MAX];
	struct home *homes;		 /* socket * desc->home_agents + agent */
	struct memory_channel *channels; /* home * desc->channels + channel */
	struct memory_view *views;	 /* as channels */
	uint32_t holder;		 /* thread that has the lock, if one of this process has */
	bool may_bias;			 /* locks can bias to threads of this process */
	void (*defer)(void);		 /* see machine_defer_waits() */
	struct {
		void (*rest)(bool rests); /* see machine_set_rest() */
		uint32_t by, resting;	  /* member; 0: nobody is halted; threads that rest */
	} halt;
	struct signal_port port;

	uint64_t core_ticks, uclk_ticks, dclk_ticks, bclk_ticks, ticks_per_second;
	unsigned core_count;			/* of all sockets */
	uint32_t lines_per_node;		/* physical lines of a socket's memory */
	struct divisor per_slice, per_channel;	/* desc->slices, desc->channels */
	struct time_divisor per_uclk, per_dclk; /* uclk_ticks, dclk_ticks */
	uint32_t l2_sets_log2, llc_sets_log2;
};

/** Where the lock is not biased to the thread. */
void machine_hold_fully(struct machine *machine, uint32_t thread);

/* All of the machine beyond private caches is one thread's at a time. */
static inline void machine_hold(struct machine *machine, uint32_t thread)
{
	if (!lock_acquire_biased(&machine->state->lock, thread))
		machine_hold_fully(machine, thread);
	machine->holder = thread;
}

static inline void machine_let_go(struct machine *machine)
{
	lock_release(&machine->state->lock, machine->holder);
}

/** Under the lock: a core has its first thread, or none any more. */
void machine_occupy(struct machine *machine, unsigned core);
void machine_vacate(struct machine *machine, unsigned core);

/** Whether nobody needs what happens in slices, home agents and channels signal by signal. */
static inline bool machine_is_quiet(const struct machine *machine)
{
	return signal_needs_none(&machine->port);
}

/** Answers to requests that L2 sent for L1, of sources from @first on. */
static inline uint64_t core_answers(const struct core *core, enum signal_request request,
				    unsigned first)
{
	uint64_t sum = 0;

	for (unsigned whom = 0; whom < ANSWERS; whom++)
		for (unsigned source = first; source < SOURCES; source++)
			sum += core->answers[whom][request][source];
	return sum;
}

/** Of prefetches that L2 sent. */
static inline uint64_t core_prefetches(const struct core *core, enum signal_request request)
{
	uint64_t sum = 0;

	for (unsigned source = 0; source < SOURCES; source++)
		sum += core->l2_prefetches[request][source];
	return sum;
}

static inline uint64_t core_misses(const struct core *core, enum signal_request request)
{
	return core_answers(core, request, 0);
}

/** Reads, and requests to own a line, that L2 sent to the LLC for the core. */
static inline uint64_t core_l2_misses(const struct core *core)
{
	return core_misses(core, REQUEST_READ_DATA) + core_misses(core, REQUEST_READ_CODE) +
	       core_misses(core, REQUEST_READ_OWN) + core_misses(core, REQUEST_OWN);
}

/** The latest clock of the core's threads, ticks. */
static inline uint64_t core_clock(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	uint64_t clock = 0;

	for (uint32_t i = 0; i < users; i++) {
		uint64_t time = __atomic_load_n(&core->progress[i].time, __ATOMIC_RELAXED);

		clock = time > clock ? time : clock;
	}
	return clock;
}

/** Under the lock of the core's caches: their lines change. Others may read the number at any time.
 */
static inline void core_note_change(struct core *core)
{
	__atomic_store_n(&core->generation, core->generation + 1, __ATOMIC_RELAXED);
}

static inline uint64_t core_generation(const struct core *core)
{
	return __atomic_load_n(&core->generation, __ATOMIC_RELAXED);
}

static inline struct core_user *machine_hart_user(const struct machine_hart *core)
{
	return &core->core->users[core->progress - core->core->progress];
}

/** The thread waits for others, or has done so: see stall.h. */
static inline void machine_hart_set_waits(const struct machine_hart *core, bool waits)
{
	__atomic_store_n(&machine_hart_user(core)->waits, waits, __ATOMIC_RELAXED);
}

static_assert(SOCKETS_MAX == 2, "one comparison tells the socket");

static inline unsigned machine_socket(const struct machine *machine, unsigned core)
{
	return core >= machine->desc->cores;
}

/** The core's number in its socket. */
static inline unsigned machine_core_of_socket(const struct machine *machine, unsigned core)
{
	return core < machine->desc->cores ? core : core - machine->desc->cores;
}

/** Whether cores run at the same time, so that their requests can meet. */
static inline bool machine_is_shared(const struct machine *machine)
{
	uint64_t running = __atomic_load_n(&machine->state->running, __ATOMIC_RELAXED);

	return running & (running - 1);
}

/** Whether one core at most has threads. */
static inline bool machine_is_alone(const struct machine *machine)
{
	uint64_t occupied = __atomic_load_n(&machine->state->occupied, __ATOMIC_RELAXED);

	return !(occupied & (occupied - 1));
}

/** Whether a request at @now is to be put before others that a box has served already. */
static inline bool machine_is_late(const struct machine *machine, uint64_t box_now, uint64_t now)
{
	return now < box_now && machine_is_shared(machine);
}

static inline uint64_t machine_uncore_cycle(const struct machine *machine, uint64_t ticks)
{
	return divide_time(&machine->per_uclk, ticks + machine->uclk_ticks - 1);
}

static inline unsigned machine_home_node(const struct machine *machine, uint32_t line)
{
	return line >= machine->lines_per_node;
}

static inline uint64_t machine_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
