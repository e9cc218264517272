/*
 * A core that issues bundles in order: two a cycle by the ports that their instructions need, each
 * group as soon as all its operands are there. It executes nothing: who drives it tells it each
 * instruction, in the order of the program, with what came of it.
 *
 * Time goes on by whole groups. A group's cycles are its bubbles, each with one cause, and the
 * cycle in which it retires; so cycles are bubbles plus retiring cycles, to the last one.
 *
 * A core can have two threads, each a struct epic_core: they share caches, TLBs, queues and
 * predictors, and one of them executes at a time, the one in the foreground.
 *
 * Not modelled: wrong paths, uncacheable memory, and the operating system's time. Physical
 * addresses equal virtual ones.
 */
#ifndef MACHINE_EPIC_EPIC_H
#define MACHINE_EPIC_EPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/detail.h"
#include "catalog/signal.h"
#include "machine/fabric/fabric.h"

struct epic_core;
struct epic_params;

#define EPIC_THREADS 2u /* of a core, at most */

/* Register names of instructions: general 0 to 127, then the others. */
#define EPIC_FLOATING	 128u
#define EPIC_PREDICATE	 256u
#define EPIC_BRANCH_REG	 320u
#define EPIC_APPLICATION 328u /* groups of application registers, enum epic_application */

enum epic_application {
	EPIC_AR_LOOP,	/* loop and epilog counters */
	EPIC_AR_STATUS, /* floating-point status */
	EPIC_AR_FRAME,	/* previous frame */
	EPIC_AR_STACK,	/* the register stack engine's */
	EPIC_AR_OTHER,
	EPIC_AR_SPILLED, /* what spills of general registers wrote to ar.unat */
	EPIC_AR_GROUPS,
};

/* What an operand is used for, and what a result comes from: rows and columns of the latencies. */
enum epic_use {
	EPIC_USE_PREDICATE,
	EPIC_USE_BRANCH,
	EPIC_USE_ALU,
	EPIC_USE_ADDRESS,
	EPIC_USE_MULTIMEDIA,
	EPIC_USE_STORE,
	EPIC_USE_FMAC,
	EPIC_USE_FMISC,
	EPIC_USE_GETF,
	EPIC_USE_SETF,
	EPIC_USES,
};

enum epic_via {
	EPIC_VIA_ADDER,
	EPIC_VIA_MULTIMEDIA,
	EPIC_VIA_PROBE,
	EPIC_VIA_GETF,
	EPIC_VIA_SETF,
	EPIC_VIA_FMAC,
	EPIC_VIA_FMISC,
	EPIC_VIA_COMPARE,
	EPIC_VIA_FCOMPARE,
	EPIC_VIA_FAPPROXIMATE, /* the predicate of an approximation */
	EPIC_VIA_LOAD,	       /* besides the load's own latency */
	EPIC_VIA_FLOAD,
	EPIC_VIA_MOVE, /* from a branch register or predicates, allocation */
	EPIC_VIA_LOOP,
	EPIC_VIA_APPLICATION,
	EPIC_VIA_STATUS,
	EPIC_VIA_PREDICATES, /* a move to all predicates */
	EPIC_VIA_INDIRECT,
	EPIC_VIA_BRANCH_REG,
	EPIC_VIAS,
};

/* Which issue ports an instruction can go to. */
enum epic_port {
	EPIC_PORT_M,
	EPIC_PORT_M0,
	EPIC_PORT_M01,
	EPIC_PORT_M2,
	EPIC_PORT_M23,
	EPIC_PORT_A, /* an I slot that M ports can take too */
	EPIC_PORT_I,
	EPIC_PORT_I0,
	EPIC_PORT_F,
	EPIC_PORT_B,
	EPIC_PORT_B_HINT, /* no branch: nothing is split after it */
	EPIC_PORT_LONG,	  /* two slots: I and F */
	EPIC_PORT_LONG_B, /* two slots: B and F */
};

enum epic_kind {
	EPIC_OTHER,
	EPIC_NOP,
	EPIC_LOAD,
	EPIC_LOAD_CHECK, /* a load that does nothing where the ALAT has it */
	EPIC_FP_LOAD,
	EPIC_FP_LOAD_CHECK,
	EPIC_STORE,
	EPIC_FP_STORE,
	EPIC_EXCHANGE, /* semaphores */
	EPIC_PREFETCH,
	EPIC_FLUSH,  /* of a line from all caches */
	EPIC_FENCE,  /* of memory: what is before it is done before what follows */
	EPIC_BRANCH, /* by its distance */
	EPIC_RETURN,
	EPIC_INDIRECT,
	EPIC_CHECK, /* of a NaT: a branch where it fails */
	EPIC_FP_CHECK,
	EPIC_ALAT_CHECK,
	EPIC_FP_ALAT_CHECK,
	EPIC_FLAGS_CHECK, /* of speculative floating-point flags */
	EPIC_SERIALIZE,
	EPIC_LEAVE, /* to the system: a flush */
	EPIC_PAUSE, /* a nop that says that the thread has nothing to do */
};

enum epic_hint {
	EPIC_STATIC_TAKEN,
	EPIC_STATIC_NOT,
	EPIC_DYNAMIC_TAKEN,
	EPIC_DYNAMIC_NOT,
};

#define EPIC_CALL	0x01u /* pushes the return stack */
#define EPIC_STACK	0x02u /* moves the register stack */
#define EPIC_PREDICATES 0x04u /* writes all predicates */
#define EPIC_STOP	0x08u /* a stop follows */
#define EPIC_LAST	0x10u /* of its bundle */
#define EPIC_SPLITS	0x20u /* of a bundle with several B slots */
#define EPIC_B_FIRST	0x40u /* of a bundle that begins with a B slot */
#define EPIC_OWNS	0x80u /* a read that asks for the line as a store does */

/* Branches by the loop counters alone, which are known when they are fetched. */
enum epic_loop {
	EPIC_LOOP_NONE,
	EPIC_LOOP_BACK, /* taken until the loop is over */
	EPIC_LOOP_OUT,	/* taken when it is */
};

#define EPIC_ACQUIRE 1u /* what comes after it waits; of accesses */
#define EPIC_RELEASE 2u /* it waits for what comes before */

/* What is waited for besides operands. */
enum epic_waits {
	EPIC_WAITS_NOT,
	EPIC_WAITS_FILL,   /* a load that takes a NaT from ar.unat: for what spills wrote there */
	EPIC_WAITS_MOVE,   /* a move to or from ar.unat: for the same */
	EPIC_WAITS_LOADRS, /* of the register stack: until it has calculated */
};

#define EPIC_SOURCES 5
#define EPIC_RESULTS 3

/* Where a register is while nothing rotates: fixed + ((bottom of the frame + offset) & mask). */
struct epic_place {
	uint16_t fixed;
	uint8_t offset, mask;
};

/* What epic_prepare() makes of an instruction. */
struct epic_prepared {
	uint64_t at, next; /* ip + slot: its own, and what follows if it does not branch */
	uint32_t needs, takes, else_takes; /* issue ports: struct group */
	uint32_t tally;			   /* the same of what is counted once for a group */
	uint16_t predictor;		   /* its place there */
	bool rare;			   /* it counts as more than what it is retired for */
	struct epic_place predicate, from[EPIC_SOURCES], to[EPIC_RESULTS];
};

/* An instruction, as decoding it makes it; the core only reads it. */
struct epic_op {
	uint64_t ip;	    /* of the bundle */
	uint64_t target;    /* EPIC_BRANCH and checks: where it goes */
	uint8_t port, kind; /* enum epic_port, epic_kind */
	uint8_t qp;
	uint8_t flags;
	uint8_t slot, slots; /* of the bundle: 3, or 2 with a long instruction */
	uint8_t unit;	     /* 'M', 'I', 'F', 'B'; a long one's is that of its last slot */
	bool either;	     /* one that M and I slots take */
	uint8_t hint;
	uint8_t bytes; /* accessed */
	uint8_t fp_ops;
	uint8_t order; /* EPIC_ACQUIRE, EPIC_RELEASE */
	uint8_t waits; /* enum epic_waits */
	bool streams;  /* a branch that has the lines behind its target prefetched */
	uint8_t loop;  /* enum epic_loop */
	uint8_t source_count, result_count;
	struct epic_prepared prepared;
	uint64_t encoding; /* 41 bits */
	uint16_t sources[EPIC_SOURCES], results[EPIC_RESULTS];
	uint8_t uses[EPIC_SOURCES]; /* enum epic_use */
	uint8_t vias[EPIC_RESULTS]; /* enum epic_via */
};

/* What a group waits for: register at + (bottom of the frame & mask). */
struct epic_source {
	uint16_t at, mask;
};

/* What a group writes: the same, and a register that stands for it, whose number has this bit the
 * other way. */
struct epic_result {
	uint16_t at, mask;
	uint16_t done; /* less the cycle: struct epic_core */
	uint8_t twin;
	uint8_t op; /* whose, by its place in the group */
};

/* A group as it is, if nothing cuts it off; and the same of its first bundle alone. */
struct epic_part {
	uint8_t ops, sources, results, loaded, accesses;
	uint8_t end;	   /* enum end */
	bool arrival;	   /* it ends as the next instruction comes */
	bool whole;	   /* it ends with a bundle */
	bool passes;	   /* the last instruction of a bundle is in it */
	bool b_last;	   /* the last one that is so is in a B slot */
	uint8_t bundle;	   /* 0 or 1: the one in which it ends */
	uint8_t before;	   /* instructions of the bundle ahead of that */
	uint8_t guarded;   /* a bit for each instruction that counts for more than its predicate
			    * where that is true */
	uint8_t syllables; /* not dispersed */
	uint8_t owed;	   /* syllables of a bundle that goes on in the next group */
	uint8_t fp_ops;
	uint16_t lost, over; /* cells of these */
	uint32_t tally;	     /* struct group */
	uint64_t next;	     /* epic_prepared.next of its last instruction */
};

/* An access of a group. */
struct epic_plan_access {
	uint8_t op;    /* whose, by its place in the group */
	uint8_t reads; /* bytes, of what may hit the first level of data; 0: others */
};

/*
 * What is known once and for all of the group that begins with an instruction. Behind it stand, as
 * many as `all` says: struct epic_source, struct epic_result, the same of loaded registers, struct
 * epic_plan_access; for each loaded register a byte, the access that it comes from; for each
 * source two: enum epic_use, and whose it is, by the place in the group, or EPIC_PLAN_ALWAYS: it is
 * waited for even where the instruction is not executed.
 */
struct epic_plan {
	uint64_t ip; /* of its first bundle */
	uint8_t slot;
	bool second;		     /* the bundle behind it comes into the group, too */
	bool late;		     /* a source may be ready later than is usual: epic_is_late() */
	struct epic_part all, first; /* first: where there is a second bundle that comes late */
};

#define EPIC_PLAN_ALWAYS 7u
#define EPIC_PLAN_ROOM	 128u /* bytes for each instruction of a run */
#define EPIC_PLAN_UNIT	 16u

#define EPIC_RUN_MAX 32u
#define EPIC_NO_PLAN 255u

/* Instructions of a program that follow each other: all but the last one are of a kind that
 * epic_joins() takes. The core keeps what it plans for them; all is 0 before. */
struct epic_run {
	uint8_t count;	 /* at most EPIC_RUN_MAX */
	uint8_t planned; /* EPIC_PLAN_UNITs that plans take */
	/* Of the group that begins with an instruction: where its plan is, in such units, + 1; 0;
	 * or EPIC_NO_PLAN. */
	uint8_t plan_of[EPIC_RUN_MAX];
};

/* Where register names are: the frame and the rotation that hold before an instruction. */
struct epic_rename {
	uint32_t bottom;		      /* number of the physical register that is 32 */
	uint8_t rotating;		      /* general registers */
	uint8_t general, floating, predicate; /* rotation of each */
	bool rotated;			      /* one of these is not 0 */
};

/* What comes of an instruction. */
struct epic_instance {
	bool on;       /* its predicate */
	bool taken;    /* of branches and checks */
	bool hit;      /* of check loads: the ALAT has it */
	bool replaced; /* of advanced loads: another register's entry went */
	/* address of EPIC_LEAVE: the interruption's vector; of calls and returns: the frame of the
	 * caller */
	uint64_t address, target;
	uint8_t dirty, current; /* of EPIC_STACK: stacked registers before it, and the frame's */
};

/* A run as the program comes to it. */
struct epic_visit {
	struct epic_run *run;
	const struct epic_op *ops;
	void *plans; /* EPIC_PLAN_ROOM bytes for each instruction, aligned to 8 */
	/* Of each that accesses memory or has a predicate: its address, and its predicate. */
	const uint64_t *addresses;
	const uint8_t *on;
	const struct epic_instance *last; /* of the last one; NULL: as the others */
};

/** Bytes that a core takes. */
size_t epic_size(const struct epic_params *params);
/**
 * A core in reset state. It allocates nothing: the memory can be shared with a forked process.
 * @param memory  epic_size() bytes of zeros, aligned to 8; the caller's
 * @param params  must outlive the core
 */
struct epic_core *epic_init(void *memory, const struct epic_params *params);
/** Bytes that a core's second thread takes. */
size_t epic_thread_size(void);
/**
 * Gives a core its second thread, before epic_connect().
 * @param memory  epic_thread_size() bytes of zeros, aligned to 8; the caller's
 */
struct epic_core *epic_init_thread(void *memory, struct epic_core *first);

/**
 * What the core reaches memory by; without it, reads take the parameters' latency and writes none.
 * @param number  the core's there
 * @param mhz     of the core's clock
 */
void epic_connect(struct epic_core *core, struct fabric *fabric, unsigned number, unsigned mhz);
/** Another core's request for a line: snoop() of struct fabric_watch. @return what was there */
enum fabric_found epic_snoop(struct epic_core *core, uint64_t number, enum fabric_snoop what,
			     uint64_t *time);
/** It sends a packet: sent() of struct fabric_watch. */
void epic_sent(struct epic_core *core, const struct fabric_sent *sent);
/**
 * The thread was halted until a cycle, and counts only that. Nothing if that is over. From then on
 * it executes, if it is in the foreground.
 */
void epic_rest(struct epic_core *core, uint64_t until);
/** The thread is halted, until epic_rest() or epic_resume(). */
void epic_park(struct epic_core *core);
/** One that is parked goes on now. */
void epic_resume(struct epic_core *core);
/** The thread is about to pause. What its ALAT has is told next. */
void epic_pauses(struct epic_core *core);
/** An entry of the ALAT of the thread that is about to pause. */
void epic_advanced(struct epic_core *core, uint64_t address, unsigned bytes);
/** Whether it is this thread that the core executes. Only that one issues instructions. */
bool epic_foreground(const struct epic_core *core);
/**
 * Has a function called when the other thread takes the foreground while this one issues: it
 * returns once this one has it again. NULL: whoever issues looks at epic_foreground().
 */
void epic_on_background(struct epic_core *core, void (*wait)(void *arg), void *arg);
/** Cycles of the core in so many nanoseconds. */
uint64_t epic_cycles(const struct epic_core *core, uint64_t ns);
/** Cycle of the fabric's clock in a cycle of the core's. */
uint64_t epic_fabric_time(const struct epic_core *core, uint64_t cycle);

/** Completes a decoded instruction, before it is issued for the first time. */
void epic_prepare(struct epic_op *op);
/** The next instruction of the program. rename: as it is before it. */
void epic_issue(struct epic_core *core, const struct epic_op *op, const struct epic_rename *rename,
		const struct epic_instance *instance);
/** Whether nothing more is to be known of an instruction than its predicate and address. */
bool epic_joins(const struct epic_op *op);
/** The next instructions of the program. rename: as it is before all of them. */
void epic_issue_run(struct epic_core *core, const struct epic_visit *visit,
		    const struct epic_rename *rename);
/** The same of some of its instructions, one by one. */
void epic_issue_some(struct epic_core *core, const struct epic_visit *visit, unsigned first,
		     unsigned end, const struct epic_rename *rename);
/**
 * The register stack engine stored (or loaded) so many registers, from address upwards, for the
 * instruction issued last.
 */
void epic_stack_traffic(struct epic_core *core, bool store, uint64_t address, unsigned registers);
/** The speculative load issued last brought no value: its address register had none, or there is no
 * page. */
void epic_deferred(struct epic_core *core, bool address);
/** The result of the floating-point instruction issued last was too small for its format: it was
 * flushed to 0, or would be in that mode. */
void epic_tiny(struct epic_core *core, bool flushed);
/** The result of the floating-point instruction issued last could have made it trap, and the unit
 * waited for it. */
void epic_unsafe(struct epic_core *core, bool traps);
/** The program went on elsewhere than instructions say: an interruption. */
void epic_interruption(struct epic_core *core);
/** Nothing more is issued: ends the group that is open, so that totals tell of all instructions. */
void epic_settle(struct epic_core *core);

/**
 * For functions of struct epic_watch that end a cycle (cycles, group, deadline): the address with
 * slot of the instruction that comes next; 0 where the program has not said where it goes on.
 */
uint64_t epic_next_ip(const struct epic_core *core);

/** Cycles since reset. */
uint64_t epic_cycle(const struct epic_core *core);
/** Where they are, for who looks often. */
const uint64_t *epic_clock(const struct epic_core *core);

/** The cells, EPIC_CELL_COUNT of them. */
extern const struct signal_cell epic_cells[];
extern const size_t epic_cell_count;
/** Their totals in a bank. */
const uint64_t *epic_totals(const struct epic_core *core, enum signal_bank bank);

/*
 * Who watches the core. Functions may be NULL. They come from the thread that drives the core, when
 * a group is over and its totals are final.
 */
struct epic_watch {
	void *arg;
	/* Marks: bit 0 by address, bits 1 to 4 those of channels 0 to 3. NULL: no marks, and no
	 * totals but of SIGNAL_ALL. */
	unsigned (*mark)(void *arg, const struct detail_code *code);
	bool (*mark_code)(void *arg, uint64_t address);
	bool (*mark_data)(void *arg, unsigned marks, uint64_t address);
	/* Totals grew by as much in each of so many cycles. */
	void (*cycles)(void *arg, uint64_t count);
	void (*deadline)(void *arg); /* the cycle that epic_set_deadline() gave has come */
	void (*miss)(void *arg, const struct detail_miss *miss);
	void (*fetch)(void *arg, const struct detail_fetch *fetch);
	void (*branch)(void *arg, const struct detail_branch *branch);
	void (*group)(void *arg, const struct detail_group *group);
	void (*interruption)(void *arg, unsigned vector);
	/* A request left the core. Whoever marks it counts it as bus.marked. */
	void (*request)(void *arg, const struct detail_request *request);
};

void epic_watch(struct epic_core *core, const struct epic_watch *watch);
void epic_set_deadline(struct epic_core *core, uint64_t cycle);

#endif
