/* The state of a core, and what its files do for each other. */
#ifndef MACHINE_EPIC_CORE_H
#define MACHINE_EPIC_CORE_H

#include "machine/epic/cells.h"
#include "machine/epic/epic.h"
#include "machine/epic/params.h"
#include "machine/fabric/lane.h"

/* Physical registers: stacked ones are a ring of 128, of which a frame has at most 96. It stands
 * there twice, so that a frame is in one piece. */
#define PHYSICAL_FLOATING    32u
#define PHYSICAL_PREDICATE   160u
#define PHYSICAL_BRANCH_REG  224u
#define PHYSICAL_APPLICATION 232u
#define PHYSICAL_STACKED     256u
#define STACKED_RING	     128u
#define PHYSICAL_COUNT	     (PHYSICAL_STACKED + 2 * STACKED_RING)

#define LINE_DIRTY  1ull
#define LINE_SHARED 2ull /* others may have it */
#define LINE_STATE  3ull

struct line {
	uint64_t tag;	/* (line number + 1) * 4 + LINE_SHARED + LINE_DIRTY; 0: invalid */
	uint64_t ready; /* cycle from which it is there */
};

/* Sets, each with its lines from the most to the least recent. */
struct cache {
	struct line *lines;
	uint32_t sets, ways, line_log2;
};

#define TLB_HINTS 64u

struct tlb_entry {
	uint64_t page; /* number + 1; 0: none */
	uint64_t used; /* when it was last */
};

/* Pages, of which the one that was used least recently goes. */
struct tlb_pages {
	uint64_t uses;		  /* so far */
	uint8_t hints[TLB_HINTS]; /* by a page's remainder: where the last one of these is */
	struct tlb_entry entries[];
};

struct tlb {
	struct tlb_pages *pages;
	uint32_t entries, page_log2;
};

/* Why operands are waited for. */
enum need {
	NEED_LOADED, /* general registers, from loads */
	NEED_GENERAL,
	NEED_FLOATING,
	NEED_PREDICATE,
	NEED_APPLICATION,
	NEEDS,
};

/* Why a group ended. */
enum end {
	END_STOP,
	END_SPLIT, /* by a port that is taken, or a branch slot */
	END_FULL,
	END_FETCH, /* the second bundle is not there */
	END_TAKEN,
	END_FLUSH,
};

#define GROUP_RESULTS  24
#define GROUP_ACCESSES 8

struct result {
	uint16_t reg;
	uint8_t via;
	int8_t access; /* that it comes from; -1: none */
};

struct access {
	uint64_t ip, address;
	unsigned marks;
	uint8_t kind, bytes, slot, bundle;
	uint8_t order;
	bool hit, stack, by_data;
	bool hinted; /* to own the line, though it only reads */
};

/* The group that is being dispersed. */
struct group {
	bool open;
	uint8_t bundle; /* 0 or 1: the one in work */
	uint8_t before; /* syllables of the one ahead of it */
	uint32_t ports; /* taken: four bits for each kind; the highest is 1 only with too many */
	uint32_t tally; /* instructions, nops, long instructions: a byte for each */
	uint8_t result_count, access_count;
	bool flushed;	 /* a flush came before it */
	bool marked;	 /* an instruction in it carries the mark of channel 0 */
	uint64_t ip;	 /* of its first bundle */
	uint64_t start;	 /* cycle of its dispersal */
	uint64_t latest; /* of needs; 0: there are none */
	uint64_t needs[NEEDS];
	struct result results[GROUP_RESULTS];
	struct access accesses[GROUP_ACCESSES];
};

#define HELD_BRANCHES 2 /* a bundle's, ahead of the slot that ends the group */

#define HISTORY_LOG2 12
#define RETURNS	     8
#define TARGETS_LOG2 10

struct predictor {
	uint8_t history[1 << HISTORY_LOG2];   /* last four directions */
	uint8_t counters[16 << HISTORY_LOG2]; /* 0: none yet; 1, 2 not taken; 3, 4 taken */
	uint64_t targets[1 << TARGETS_LOG2];  /* of indirect branches */
};

/* Where calls return to. */
struct returns {
	uint64_t targets[RETURNS];
	uint64_t frames[RETURNS]; /* that their callers had */
	unsigned top;
};

enum fetch_cause {
	FETCH_RESTEER,
	FETCH_LOOP,
	FETCH_FILL,
	FETCH_CACHE,
	FETCH_TLB,
};

/* Cycles that went by ahead of a fetch: the first ones by fills, the others by a branch. */
struct fetch_bubbles {
	uint16_t fills, branch;
	uint8_t cause; /* of these: FETCH_RESTEER or FETCH_LOOP */
};

struct fetch {
	uint64_t chunk;	       /* last fetched 32 bytes, by number; UINT64_MAX: none */
	uint64_t page;	       /* and its page in the first-level TLB */
	uint64_t line;	       /* and its line */
	uint64_t available;    /* cycle from which it can be dispersed */
	uint64_t next;	       /* cycle at which the next can be */
	uint64_t consumed[16]; /* when the last chunks were dispersed */
	unsigned count;
	struct fetch_bubbles before, coming; /* of this one, and of the next */
	uint32_t late;			     /* cycles that it took more than a hit: */
	uint32_t cached; /* the last ones by the caches, those before by the translation */
};

#define RING_MAX 64

/* Entries that are taken in turn, each until a cycle. */
struct ring {
	uint64_t until[RING_MAX];
	uint32_t size, next;
};

#define READS_MAX 32u

/* Requests that are on their way, in the order of their ends. */
struct reads {
	enum epic_cell low; /* of their number in each cycle, modulo 8; then divided by 8 */
	uint64_t until[READS_MAX];
	unsigned first, count;
	uint64_t now; /* they are counted up to this cycle */
};

#define STREAM_ROOM 8

/* Prefetch of code: lines on their way, and those that came and nobody has asked for. */
struct stream {
	uint64_t next;		     /* line to ask for; 0: nothing streams */
	uint64_t stalled;	     /* since when all fills are taken; 0: it does not stall */
	uint64_t cycle;		     /* from which the next request can go */
	uint64_t lines[STREAM_ROOM]; /* number + 1; 0: none */
	uint64_t ready[STREAM_ROOM]; /* cycle from which it is there */
	unsigned at;		     /* the place taken last where none was free */
	bool close;		     /* it does for the line behind the one that is fetched */
};

/* A line that the second level waits for. */
struct pending {
	uint64_t number;
	uint64_t inserted, issued; /* cycles: into its queue, and to the third level */
	uint64_t filled;	   /* cycle in which it comes */
	unsigned waiting;	   /* requests that come back when it is there */
};

/* What a request is for: a line, and the cycle in which it came. */
struct asked {
	uint64_t number, from;
};

#define CODE_FILLS 16u
#define ADDRESSES  8u

/* The read address buffer: lines of code that the first level waits for. */
struct addresses {
	uint64_t until[ADDRESSES];
	uint64_t asked; /* cycle of the last request; what is before it is counted */
	bool crowded;	/* all are taken since then, or all but one */
};

#define STORES	    8u
#define STORES_BACK 4u /* cycles in which a store is on its way through the second level */

/* What the second level stored: 2 * cycle, + 1 if it has to go by the queue; which bytes, four by
 * four. */
struct stored {
	uint64_t when, first, last;
};

#define HELD_STORES 32u /* as many as the queue has requests */

/* A store of bytes, four by four, that is in the queue from a cycle until another. */
struct held_store {
	uint64_t from, until, first, last;
};

/* What something of the core does with a line. */
struct line_use {
	uint64_t number;
	uint64_t from, until; /* cycles */
	uint64_t answered;    /* of a request: fabric cycle in which its answer is at the link */
};

#define ACKNOWLEDGED_MAX 8u

#define OUTSTANDING_MAX 64u /* those that wait for others included */

/* Requests to home agents, with their lines: those that end last, in the order of their ends. */
struct outstanding {
	struct line_use uses[OUTSTANDING_MAX];
	unsigned first;
};

#define FILLED	     512u
#define FILLED_FIRST 128u /* of the first level */
#define ISSUES	     32u  /* more cycles than a hit takes */

/* What moves a line of the second level in a cycle. */
enum moved {
	MOVED_IN = 1,	   /* it comes */
	MOVED_IN_WITH = 2, /* and a store waits for it */
	MOVED_OUT = 3,	   /* a modified one is read, to be written back */
};

#define BUFFERED_MAX 16u

/* A store that the first level of data has: bytes, and the cycle in which they are written. */
struct buffered {
	uint64_t written, first, last;
};

/* The first level of data. */
struct first_level {
	struct ring fills;
	struct buffered stores[BUFFERED_MAX]; /* taken in turn */
	unsigned next;
	uint64_t written;	       /* the last cycle with a write */
	unsigned writes;	       /* in that cycle */
	uint64_t filled[FILLED_FIRST]; /* cycles with a line that came, by their remainders */
};

/* Why it stalls the pipeline, besides what struct access_time has. In the order of the cells. */
enum epic_stall {
	STALL_FULL,   /* its buffer of stores is */
	STALL_FILL,   /* a store of a line that comes */
	STALL_STORED, /* a load of what waits in the buffer */
	STALL_CHECK,  /* a check load of that */
	STALL_AGAIN,  /* a miss, and all fills are taken */
	STALLS,
};

/* Cycles of the link to the router that are told: those with a packet of the home classes, or with
 * a line, to send; of these, without credits; with few credits. */
struct epic_link {
	struct lane valid[2], blocked[2], any_blocked, few;
	uint64_t told; /* all, up to this one */
};

/* What the threads of a core share, besides the lines and pages of its caches and TLBs. */
struct epic_shared {
	struct epic_core *threads[EPIC_THREADS]; /* NULL: there is none */
	struct epic_core *foreground;
	uint64_t busy; /* cycle until which it executed before it stopped */
	struct predictor predictor;
	struct stream stream;
	struct ring requests, fills, victims, data;
	struct ring buffers; /* of lines that leave the core */
	uint64_t
	    code_filled[CODE_FILLS]; /* cycles in which a line of code came to the second level */
	unsigned code_fill;	     /* the one noted last */
	uint64_t code_fills;	     /* until when one of these takes the port */
	struct pending pending[RING_MAX];  /* of fills */
	struct asked asked[RING_MAX];	   /* of requests */
	struct line_use leaving[RING_MAX]; /* of victims */
	uint64_t missed_cycle, missed;	   /* line and cycle of the last miss of the second level */
	/* By the remainders of cycles: 4 * cycle + enum moved; 16 * cycle + the hits that read or
	 * write its data in it. */
	uint64_t moved[FILLED], issues[ISSUES];
	uint64_t back_at;	    /* the last cycle to which a hit was put off */
	uint64_t data_full;	    /* until when its data buffer is full */
	uint64_t recirculates;	    /* until when requests wait for lines on their way */
	uint64_t bank_cycle, banks; /* of its data that loads read in a cycle, a bit each */
	struct first_level first;
	struct stored stores[STORES];
	uint64_t stored_at; /* cycle of the last one */
	unsigned store_next;
	struct held_store held[HELD_STORES];
	unsigned held_next;
	uint64_t held_until;	   /* the latest end of these */
	uint64_t ordered[2];	   /* until when requests that acquire, and release, wait */
	struct reads reads, queue; /* of memory; of all that the second levels ask for */
	struct reads snoops;	   /* of other cores, that this one is at */
	struct epic_link link;
	struct line_use snooped[READS_MAX]; /* the last of these */
	unsigned snooped_next;
	uint64_t snooped_until;			 /* the latest end of these */
	uint64_t acknowledged[ACKNOWLEDGED_MAX]; /* cycles of the last acknowledgements */
	unsigned acknowledged_next;
	uint64_t acknowledged_until; /* the one after the latest of these */
	struct outstanding outstanding;
	struct addresses addresses;
};

#define MISSES_MAX   32u
#define EPIC_URGENCY 5u /* of a thread that waits for no line */

/* Why a thread leaves the foreground. In the order of the cells. */
enum epic_switch {
	SWITCH_MISS,   /* it missed the third level */
	SWITCH_TIMER,  /* it was there for long enough */
	SWITCH_HINT,   /* it says that it has nothing to do */
	SWITCH_HALT,   /* it waits for others */
	SWITCH_RETURN, /* a line of the other one came */
	SWITCH_ALAT,   /* an entry of the other one's ALAT went, which it waits for */
	SWITCH_NONE,
};

#define ADVANCED_MAX 32u

/* What a thread read in advance, before it said that it has nothing to do: an address and bytes. */
struct advanced {
	uint64_t address;
	unsigned bytes;
};

/* A thread's part in the changes. */
struct turn {
	bool armed; /* it goes on when somebody stores to one of these */
	unsigned advanced_count;
	struct advanced advanced[ADVANCED_MAX];
	bool parked;	 /* it executes nothing until somebody says when it goes on */
	bool retired;	 /* something, since it came to the foreground */
	bool hinted;	 /* the open group has such an instruction */
	uint8_t urgency; /* 0 to 7 */
	uint8_t miss_count;
	uint64_t misses[MISSES_MAX]; /* when its lines come from memory, in this order */
	uint64_t since;		     /* cycle in which it came to the foreground */
	uint64_t rested;	     /* cycle to which it was halted last */
	uint64_t counted;	     /* cycle up to which its background is counted */
	uint64_t retired_at;	     /* cycle of its last group */
	enum epic_switch cause;	     /* one that it gave itself, and nobody has looked at yet */
	uint64_t caused;	     /* in this cycle */
	void (*wait)(void *arg);     /* until it is in the foreground again; NULL: nobody does */
	void *wait_arg;
};

/* Requests of a thread to the second level that others of it wait for. */
struct order {
	uint64_t acquire, acquired; /* cycles: the last that acquires came; all are done */
	uint64_t last, done;	    /* the same of all */
};

#define EPIC_USES_ROOM 16

/* A hardware thread of a core. */
struct epic_core {
	const struct epic_params *params;
	struct epic_shared *shared;
	struct epic_core *rival; /* the other thread, while it waits for the foreground; or NULL */
	struct fabric *fabric;	 /* NULL: none */
	unsigned number, mhz;	 /* of the core, in the fabric */
	uint64_t cycle;		 /* in which the last group retired */
	struct group group;
	uint64_t at;	     /* where the program goes on: ip + slot; 0: somewhere else */
	bool b_before;	     /* the bundle before ended in a B slot */
	bool frame_wrong;    /* of the branch issued last: the frame that it returns to */
	uint64_t forced_ip;  /* bundle in which a branch was predicted as taken, and is not; or 0 */
	uint64_t crowded_ip; /* bundle that lost its cycle to a B slot ahead of it; or 0 */
	uint64_t encoded_ip; /* bundle with a branch on port B0; or 0 */
	bool encoded_crowded; /* and it lost its cycle so */
	unsigned owed;	      /* syllables that are not dispersed twice if their bundle goes on */
	unsigned owed_cell;
	uint64_t flush_branch, flush_exception; /* cycles that come before the next group */
	uint64_t spill, fill;			/* the same of the register stack */
	/* One of these, of stack_ready, moved_ready, loadrs, nat and unsafe, is not 0. */
	bool stack_waits;
	uint64_t stack_ready; /* of application registers that it needs for the open group; or 0 */
	bool stack_told;      /* the stack's registers were counted as the next instruction came */
	uint64_t unat_ready;  /* of ar.unat, for fills of the open group; or 0 */
	uint64_t moved_ready; /* of ar.unat, for moves of the open group; or 0 */
	/* Cycles that come before the next group: loadrs calculates, a load makes its NaT, the
	 * floating-point unit looks whether an instruction traps. */
	uint64_t loadrs, nat, unsafe;
	struct order order;
	uint64_t stored_until;	 /* cycle in which the buffer of stores is empty */
	uint64_t stored_parts;	 /* what is in it: a bit for each 16 bytes, modulo 64 */
	uint64_t stalls[STALLS]; /* of the open group; the longest of each */
	bool stalled;		 /* one of them is not 0 */
	unsigned marks;		 /* of the instruction issued last */
	bool marking;
	bool watched; /* somebody is told of each cycle or group */
	uint64_t deadline;
	struct epic_watch watch;
	struct detail_branch held[HELD_BRANCHES]; /* of the open group, told as it ends */
	unsigned held_count;
	/* Cycle from which a register is ready for the usual uses << 8, and enum epic_via. */
	uint64_t done[PHYSICAL_COUNT];
	uint8_t usual[EPIC_VIAS];		   /* the slowest of their latencies */
	int8_t differs[EPIC_VIAS][EPIC_USES_ROOM]; /* latencies less this */
	uint64_t totals[SIGNAL_BANKS][EPIC_CELL_COUNT];
	struct fetch fetch;
	struct returns returns;
	struct cache l1i, l2i, l1d, l2d, l3;
	struct tlb itlb1, itlb2, dtlb1, dtlb2;
	struct turn turn;
};

static inline void epic_add(struct epic_core *core, enum epic_cell cell, uint64_t count)
{
	core->totals[SIGNAL_ALL][cell] += count;
}

/** Only for what these marks say. */
static inline void epic_add_to_marks(struct epic_core *core, unsigned marks, enum epic_cell cell,
				     uint64_t count)
{
	core->totals[SIGNAL_BY_ADDRESS][cell] += marks & SIGNAL_MARK_ADDRESS ? count : 0;
	core->totals[SIGNAL_BY_MARK][cell] += marks & SIGNAL_MARK_CHANNEL ? count : 0;
	core->totals[SIGNAL_BY_DATA][cell] += marks & SIGNAL_MARK_CHANNEL ? count : 0;
}

/** The same for what an instruction with these marks did. */
static inline void epic_add_marked(struct epic_core *core, unsigned marks, enum epic_cell cell,
				   uint64_t count)
{
	core->totals[SIGNAL_ALL][cell] += count;
	if (__builtin_expect(core->marking, 0))
		epic_add_to_marks(core, marks, cell, count);
}

/** The same for what a data access did. */
static inline void epic_add_access(struct epic_core *core, const struct access *access,
				   enum epic_cell cell)
{
	core->totals[SIGNAL_ALL][cell]++;
	if (__builtin_expect(core->marking, 0)) {
		core->totals[SIGNAL_BY_ADDRESS][cell] +=
		    access->marks & SIGNAL_MARK_ADDRESS ? 1 : 0;
		core->totals[SIGNAL_BY_MARK][cell] += access->marks & SIGNAL_MARK_CHANNEL ? 1 : 0;
		core->totals[SIGNAL_BY_DATA][cell] += access->by_data;
	}
}

/** The same, so many times. */
static inline void epic_add_times(struct epic_core *core, const struct access *access,
				  enum epic_cell cell, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		epic_add_access(core, access, cell);
}

/** A register's `done` if its result comes in a cycle. */
static inline uint64_t epic_done(const struct epic_core *core, uint64_t cycle, unsigned via)
{
	return (cycle + core->usual[via]) << 8 | via;
}

static inline void epic_set_done(struct epic_core *core, unsigned reg, uint64_t done)
{
	core->done[reg] = done;
	if (reg >= PHYSICAL_STACKED)
		core->done[reg ^ STACKED_RING] = done;
}

/** The cycle from which a register can be used. */
static inline int64_t epic_ready(const struct epic_core *core, unsigned reg, unsigned use)
{
	uint64_t done = core->done[reg];

	return (int64_t)(done >> 8) + core->differs[done & 0xFF][use];
}

/** Uses for which some registers may be ready later than their `done` says. */
bool epic_is_late(const struct epic_core *core, unsigned use);

/** Number of the physical register that a name has. */
unsigned epic_physical(const struct epic_rename *r, unsigned name);

/** The same of lines that are not the most recent of their set. */
struct line *epic_cache_find_older(struct cache *cache, uint64_t line);
/** Searches, and makes what it finds the most recent. @return it, or NULL */
static inline struct line *epic_cache_find(struct cache *cache, uint64_t line)
{
	struct line *set = cache->lines + (line & (cache->sets - 1)) * cache->ways;

	return (set->tag & ~LINE_STATE) == (line + 1) * 4 ? set
							  : epic_cache_find_older(cache, line);
}
/** Puts a line in. @return the tag that went */
uint64_t epic_cache_fill(struct cache *cache, uint64_t line, uint64_t ready);
static inline uint64_t epic_line(const struct cache *cache, uint64_t address)
{
	return address >> cache->line_log2;
}
/** Uses the page if it is where the hint says. @return false: it may be elsewhere */
static inline bool epic_tlb_hit(const struct tlb *tlb, uint64_t address)
{
	uint64_t page = (address >> tlb->page_log2) + 1;
	struct tlb_pages *pages = tlb->pages;
	struct tlb_entry *entry = &pages->entries[pages->hints[page % TLB_HINTS]];

	if (entry->page != page)
		return false;
	entry->used = ++pages->uses;
	return true;
}
/** The same of pages that are elsewhere. */
bool epic_tlb_find_elsewhere(const struct tlb *tlb, uint64_t address);
/** Searches, and puts the page in where it was not. @return whether it was there */
static inline bool epic_tlb_find(const struct tlb *tlb, uint64_t address)
{
	return epic_tlb_hit(tlb, address) || epic_tlb_find_elsewhere(tlb, address);
}
/** The cycle from t on at which an entry is free. */
static inline uint64_t epic_ring_wait(const struct ring *ring, uint64_t t)
{
	uint64_t until = ring->until[ring->next];

	return until > t ? until : t;
}
/** Takes that entry until a cycle. */
static inline void epic_ring_take(struct ring *ring, uint64_t until)
{
	ring->until[ring->next] = until;
	ring->next = ring->next + 1 == ring->size ? 0 : ring->next + 1;
}

static inline uint64_t epic_line_of(uint64_t tag)
{
	return (tag >> 2) - 1;
}

/** Searches, and changes nothing. @return it, or NULL */
struct line *epic_cache_peek(const struct cache *cache, uint64_t line);
/** The line that goes when the next one of its set comes; tag 0: none goes. */
const struct line *epic_cache_last(const struct cache *cache, uint64_t line);
/** Takes a line out, if it is there. */
void epic_cache_drop(struct cache *cache, uint64_t line);

/* Of a line in the third level. */
enum epic_state {
	STATE_I,
	STATE_S,
	STATE_E,
	STATE_M,
};

/** A request begins in a cycle, or as soon as those before have, and takes so many. */
void epic_reads_begin(struct epic_core *core, struct reads *reads, uint64_t cycle,
		      unsigned latency);
/** Counts those that are on their way up to a cycle. */
void epic_reads_count(struct epic_core *core, struct reads *reads, uint64_t cycle);
/** The cycle from this one on in which fewer than so many are on their way. */
uint64_t epic_reads_room(struct epic_core *core, struct reads *reads, uint64_t cycle,
			 unsigned size);

/**
 * A line of 128 bytes from the third level or memory.
 * @param asked  cycle of the request
 * @param first  cell of what it is for, with the line in I; those of E and M follow
 * @param found  receives the line's state before
 * @return cycles from the request to use
 */
unsigned epic_l3_read(struct epic_core *core, uint64_t address, uint64_t asked,
		      enum epic_cell first, const struct access *access, enum epic_state *found);

/** Takes a line out of all levels. */
void epic_drop_line(struct epic_core *core, uint64_t number);
/** A request for a line, to its home agent. @return cycles until its answer is there */
unsigned epic_bus_request(struct epic_core *core, enum fabric_kind kind, uint64_t number,
			  uint64_t cycle, struct fabric_answer *answer);
/** A cache has given up a line, by its tag: if it was the last, the home agent is told. */
void epic_bus_give_up(struct epic_core *core, uint64_t tag, bool shared, uint64_t cycle);
/** Counts the link's cycles so far. */
void epic_bus_settle(struct epic_core *core);
/**
 * A line is flushed: the core snoops itself, and then the home agent is told.
 * @param tag  that its caches had; 0: none had it
 */
void epic_bus_flush(struct epic_core *core, uint64_t tag, bool shared, uint64_t cycle);
/** A modified line goes to memory. */
void epic_bus_write_back(struct epic_core *core, uint64_t number, uint64_t cycle);
/** A line of code is asked for in a cycle, and comes so many later. */
void epic_addresses_begin(struct epic_core *core, uint64_t cycle, unsigned latency);
/** Counts the cycles up to this one in which the buffer is full. */
void epic_addresses_count(struct epic_core *core, uint64_t cycle);

/** Fetches the 32 bytes with the bundle. @return as epic_available() */
uint64_t epic_fetch(struct epic_core *core, uint64_t ip);
/** When the bundle can be dispersed; fetches what is missing. */
static inline uint64_t epic_available(struct epic_core *core, uint64_t ip)
{
	return core->fetch.chunk == ip >> 5 ? core->fetch.available : epic_fetch(core, ip);
}
/** Fetch goes on elsewhere: with the next free cycle, or, after a flush, not before `cycle`. */
void epic_fetch_redirect(struct epic_core *core, uint64_t cycle);
/** The front end itself goes on elsewhere, after so many cycles. */
void epic_fetch_turn(struct epic_core *core, enum fetch_cause cause, unsigned cycles);
/** What a chunk that is not there in a cycle is waiting for in it. */
enum fetch_cause epic_fetch_waits(const struct fetch *fetch, uint64_t cycle);

/** Where a branch is taken, asks for the lines behind its target. */
static inline void epic_stream_begin(struct epic_core *core, const struct epic_instance *in)
{
	if (in->taken)
		core->shared->stream.next = epic_line(&core->l1i, in->target) + 1;
}
/** Asks for lines behind the one that is fetched. */
void epic_stream_go_on(struct epic_core *core, uint64_t line);
/** It stalls no longer: it goes on, or is over. */
void epic_stream_unstall(struct epic_core *core);
/** Takes a line out of the buffer. @return cycle from which it is there; UINT64_MAX: it is not */
uint64_t epic_stream_take(struct epic_core *core, uint64_t line);
/** A line of code from beyond the first level, which comes to the second. @return cycles */
unsigned epic_fetch_line(struct epic_core *core, uint64_t address, uint64_t cycle, bool by_address,
			 bool prefetch);
/** Whether what is fetched is marked by its address. */
bool epic_code_marked(const struct epic_core *core, uint64_t address);
/** Counts what fetching does, by address too. */
void epic_count_code(struct epic_core *core, enum epic_cell cell, bool by_address);
/** Searches, and changes nothing. @return whether the page is there */
bool epic_tlb_peek(const struct tlb *tlb, uint64_t address);

/** Whether a branch was predicted as taken, given that it was; learns from it. */
static inline bool epic_predict_direction(struct predictor *p, const struct epic_op *op, bool taken)
{
	/* By the counter before, not taken and taken. */
	static const uint8_t after[5][2] = {{2, 3}, {1, 2}, {1, 3}, {2, 4}, {3, 4}};
	unsigned at = op->prepared.predictor, history = p->history[at];
	uint8_t *counter = &p->counters[at << 4 | history];
	unsigned before = *counter;

	if (op->loop)
		return taken;
	if (op->hint <= EPIC_STATIC_NOT)
		return op->hint == EPIC_STATIC_TAKEN;
	*counter = after[before][taken];
	p->history[at] = (uint8_t)((history << 1 | taken) & 15);
	return before ? before > 2 : op->hint == EPIC_DYNAMIC_TAKEN;
}

enum epic_outcome {
	OUTCOME_CORRECT,
	OUTCOME_WRONG_PATH,
	OUTCOME_WRONG_TARGET,
};
/**
 * How a branch was predicted, given what it did; learns from it.
 * @param forced  it is predicted as not taken, whatever it is
 * @param frame_wrong  set if its path is right, but not the frame that it returns to
 */
enum epic_outcome epic_predict(struct predictor *p, struct returns *returns,
			       const struct epic_op *op, const struct epic_instance *instance,
			       bool forced, bool *frame_wrong);

/* What an access does to the pipeline: cycles of each cause, and until its value is there. */
struct access_time {
	uint64_t pressure, transfer, walk, order;
	uint64_t first; /* all together of enum epic_stall, which the core keeps */
	unsigned latency;
};
static inline bool epic_writes(const struct access *a)
{
	return a->kind == EPIC_STORE || a->kind == EPIC_FP_STORE;
}

static inline bool epic_loads(const struct access *a)
{
	return a->kind >= EPIC_LOAD && a->kind <= EPIC_FP_LOAD_CHECK;
}

enum epic_order { ORDER_ACQUIRE, ORDER_RELEASE };

/** A request of an order is in the queue from a cycle until another. */
void epic_hold_order(struct epic_core *core, enum epic_order order, uint64_t from, uint64_t until);
/** A snoop of a line comes to the second level in a cycle. */
void epic_second_snooped(struct epic_core *core, uint64_t number, uint64_t cycle);
/** A line that comes to the second level in a cycle. @return NULL: it does not */
const struct pending *epic_second_filled(const struct epic_core *core, uint64_t number,
					 uint64_t cycle);
/** A request of the second level, and what waits for it. */
void epic_request(struct epic_core *core, const struct access *a, uint64_t cycle,
		  struct access_time *time);
/** A modified line leaves the second level. */
void epic_write_back(struct epic_core *core, uint64_t tag, const struct access *access,
		     uint64_t cycle);
/** Takes a line for itself that others may have. @return cycles */
unsigned epic_upgrade(struct epic_core *core, const struct access *a, uint64_t number,
		      uint64_t cycle);
/** Accesses go on together: the longest stall of each cause is the group's. */
static inline void epic_access_longest(struct access_time *longest, const struct access_time *time)
{
	if (__builtin_expect(!(time->pressure | time->transfer | time->walk | time->order), 1))
		return;
	if (time->pressure > longest->pressure)
		longest->pressure = time->pressure;
	if (time->transfer > longest->transfer)
		longest->transfer = time->transfer;
	if (time->walk > longest->walk)
		longest->walk = time->walk;
	if (time->order > longest->order)
		longest->order = time->order;
}

/**
 * Does an integer read that hits the first level, as most do. Who marks accesses sees none of it.
 * @return false: nothing is done, but that its page and line are the most recent
 */
static inline bool epic_access_hit(struct epic_core *core, uint64_t address, unsigned bytes,
				   uint64_t cycle)
{
	const struct line *line;

	if (!epic_tlb_hit(&core->dtlb1, address))
		return false;
	line = epic_cache_find(&core->l1d, epic_line(&core->l1d, address));
	if (!line || line->ready > cycle || core->order.acquired > cycle || address & (bytes - 1) ||
	    (core->stored_until > cycle && core->stored_parts >> (address >> 4 & 63) & 1))
		return false;
	epic_add(core, CELL_L1D_REFERENCE, 1);
	epic_add(core, CELL_LOAD, 1);
	epic_add(core, CELL_L1D_READ, 1);
	return true;
}

/** Does an access in a cycle. */
void epic_access(struct epic_core *core, struct access *access, uint64_t cycle,
		 struct access_time *time);

/** Somebody stores: the thread in the background, if it waits for that, gets the foreground. */
void epic_threads_stored(struct epic_core *foreground, uint64_t address, unsigned bytes,
			 uint64_t cycle);
/** It asked for a line that comes from memory. @param ready  cycle from which it is there */
void epic_threads_missed(struct epic_core *core, uint64_t cycle, uint64_t ready);
/** Of so many cycles of a stall: those until something may end the thread's turn. It has a rival.
 */
uint64_t epic_threads_span(struct epic_core *core, uint64_t cycles);
/** That has come: the thread may change here. */
void epic_threads_stalled(struct epic_core *core);
/** A group is over: the thread may change here. It has a rival. */
void epic_threads_retired(struct epic_core *core);

#endif
