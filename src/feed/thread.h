/*
 * A guest thread: its core, and what of its last accesses decides how the next one is fed.
 * Everything here belongs to one thread; nothing shared is written.
 */
#ifndef FEED_THREAD_H
#define FEED_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "feed/block.h"
#include "machine/access.h"
#include "machine/machine.h"

/* A system call about CPUs that a thread is in: see affinity.c. */
struct feed_cpu_call {
	uint64_t tid;		  /* of the thread that it is about; 0: the caller */
	uint64_t at, set;	  /* the set's host address, and what the guest has there */
	uint64_t cpu_at, node_at; /* host addresses where the guest wants to know; 0: not */
	bool changed;		  /* the set, for the time of the call */
};

/* A system call about time that a thread is in: see clock.c. */
struct feed_clock_call {
	uint64_t at;	 /* host address of the guest's time; 0: none */
	uint64_t offset; /* ns that its clock is ahead of the machine's; UINT64_MAX: other clocks */
	uint64_t sleep_ns; /* how long it is to sleep */
	bool until;	   /* the guest's time is that of its clock */
	uint32_t whose;	   /* host thread whose time on a core is asked for; 0: the process's, */
	bool of_cpu;	   /* if any is, */
	bool of_children;  /* and that of children */
	uint64_t child_at; /* host address of the id of the child that was waited for; 0: none */
	uint32_t child;	   /* its id where that is known before; 0 */
};

#define FEED_ARGUMENTS 6 /* of a system call */

#define FEED_ERRNO_MAX 511 /* emulators have results of their own below -511 */

#define FEED_REGIONS_MAX 8 /* in each other; deeper ones count for the one that holds them */

struct feed_thread {
	struct machine_hart *core;   /* NULL: on none, enters one with its next block */
	struct machine_hart *held;   /* the core that it is on, kept apart from callbacks; NULL */
	struct machine_hart *placed; /* the place that was taken for that; NULL: none */
	uint64_t wide_next;	     /* where the next piece of a wide operand would begin */
	uint64_t wide_end;
	const struct feed_access *once; /* of the last operand that is to count once, */
	uint64_t once_count;		/* and the core's instructions then */
	uint64_t once_line;		/* of a store: its last byte's */
	uint64_t string_load; /* pieces reported last, by address / MACHINE_STRING_BYTES */
	uint64_t string_store;
	uint64_t repeat_address; /* of the string instruction run last, */
	uint64_t repeat_count;	 /* and the core's instructions after it */
	uint64_t not_before;	 /* ticks: its clock when it was on a core last, or its parent's */
	uint64_t ran;		 /* ticks that it has executed for, on places that it has left */
	uint64_t cpus;		 /* bit: core, over all sockets, where it may run */
	uint32_t tid;		 /* of the host thread; 0: not known yet */
	unsigned made;		 /* index plus 1 of the thread that it makes; 0 */
	struct machine_hart *fork; /* the place of the process that it makes */
	struct feed_cpu_call cpu_call;
	struct feed_clock_call clock_call;
	/* Of the call that it is in, where what it returns is looked at: see files.c, numa.c. */
	uint64_t arguments[FEED_ARGUMENTS];
	struct machine_memory_policy memory;
	int64_t answer;	       /* what the call is to return, */
	bool answered;	       /* if that is not what it has returned */
	uint32_t region_depth; /* regions that it is in, the innermost last; see causes.h */
	uint32_t regions[FEED_REGIONS_MAX];
	bool paused;
	atomic_bool ended;   /* with its process, and claimed for good */
	atomic_flag claimed; /* something below is under way, or the process ends */
} __attribute__((aligned(64)));

#define FEED_NOWHERE	UINT64_MAX
#define FEED_LINE_BYTES 64

/**
 * A thread that begins at @not_before, on no core yet.
 * @param cpus    where it may run
 * @param placed  the place that it will start in, which is the thread's from now on; NULL: it takes
 *                one when it begins
 */
void feed_thread_init(struct feed_thread *thread, struct machine_hart *placed, uint64_t not_before,
		      uint64_t cpus);

/*
 * For the thread itself, which may find that another one has begun to end the process. Pausing,
 * resuming and leaving are without effect where it is on no core.
 */
void feed_thread_enter(struct feed_thread *thread, struct machine *machine,
		       struct machine_address_space *space);
/** The thread calls the system, comes back, and goes on when the call is dealt with. */
void feed_thread_pause(struct feed_thread *thread);
void feed_thread_come_back(struct feed_thread *thread);
void feed_thread_resume(struct feed_thread *thread);
/** Takes it off a core on which it may not run any more: it enters another with its next block. */
void feed_thread_move(struct feed_thread *thread);
bool feed_thread_is_misplaced(const struct feed_thread *thread);
/**
 * Keeps the core apart for who is to be told of the next block: it finds the thread on no core, and
 * puts it back.
 */
void feed_thread_hold(struct feed_thread *thread);
/** @return whether it is on the core that was kept */
bool feed_thread_unhold(struct feed_thread *thread);
/** As feed_thread_pause(), for a call that never blocks. */
void feed_thread_pause_briefly(struct feed_thread *thread);
/** See machine_hart_halt_others(); the thread is paused. */
void feed_thread_halt_others(struct feed_thread *thread);
void feed_thread_release_others(struct feed_thread *thread);
/** As machine_hart_wait(), where others may try to take the thread off its core meanwhile. */
void feed_thread_wait(struct feed_thread *thread);
/** Whether it may go on: see machine_hart_has_turn(). */
bool feed_thread_has_turn(struct feed_thread *thread);
/** The thread ends. */
void feed_thread_exit(struct feed_thread *thread);
/** The thread was made, or not: the place taken for it is that of thread @host, 0: nobody's. */
void feed_thread_made(struct feed_thread *thread, uint32_t host);
/** The thread goes on outside of the machine. */
void feed_thread_leave(struct feed_thread *thread);
/** Its process becomes another program, which goes on in its place; or, if not, the thread does. */
void feed_thread_exec(struct feed_thread *thread);

/**
 * The process ends: takes a thread that runs no more, or is in a system call, off its core, for
 * ever. One that is just coming back is left to the machine, which finds that it has died.
 */
void feed_thread_end(struct feed_thread *thread);

/** A block that does not end with a repeated string instruction. */
static inline void feed_run(struct feed_thread *thread, const struct machine_block *block)
{
	machine_run(thread->core, block);
}

/** A block that does: every iteration is reported as a block, which begins at the instruction. */
void feed_run_repeating(struct feed_thread *thread, const struct feed_repeat *repeat);

static inline void feed_load(struct feed_thread *thread, uint64_t address,
			     const struct feed_access *access)
{
	machine_load(thread->core, address, access->size, &access->registers);
}

static inline void feed_store(struct feed_thread *thread, uint64_t address,
			      const struct feed_access *access)
{
	machine_store(thread->core, address, access->size, &access->registers);
}

/* Whether a report is a further piece of the wide operand that was reported with its first piece.
 */
static inline bool feed_continues(struct feed_thread *thread, uint64_t address, uint32_t piece,
				  uint32_t size)
{
	bool continues = address == thread->wide_next && address < thread->wide_end;

	thread->wide_next = address + piece;
	if (!continues)
		thread->wide_end = address + size;
	return continues;
}

/** A report of @piece bytes of an operand that is reported as a whole. */
static inline void feed_load_wide(struct feed_thread *thread, uint64_t address, uint32_t piece,
				  const struct feed_access *access)
{
	if (!feed_continues(thread, address, piece, access->size))
		machine_load(thread->core, address, access->size, &access->registers);
}

/* Whether a report is not the first of an instruction's execution. @param access  its own */
static inline bool feed_repeats(struct feed_thread *thread, const struct feed_access *access)
{
	const uint64_t count = *machine_hart_instructions(thread->core);
	const bool repeats = thread->once == access && thread->once_count == count;

	thread->once = access;
	thread->once_count = count;
	return repeats;
}

/** A report by an instruction that loads one operand. @param access  its own, which tells it */
static inline void feed_load_once(struct feed_thread *thread, uint64_t address,
				  const struct feed_access *access)
{
	if (!feed_repeats(thread, access))
		feed_load(thread, address, access);
}

/** The report of an element that is stored, from the low end of its operand up. */
static inline void feed_store_masked(struct feed_thread *thread, uint64_t address,
				     const struct feed_access *access)
{
	if (feed_repeats(thread, access) && thread->once_line == address / FEED_LINE_BYTES)
		return;
	thread->once_line = (address + access->size - 1) / FEED_LINE_BYTES;
	feed_store(thread, address, access);
}

static inline void feed_store_wide(struct feed_thread *thread, uint64_t address, uint32_t piece,
				   const struct feed_access *access)
{
	if (!feed_continues(thread, address, piece, access->size))
		machine_store(thread->core, address, access->size, &access->registers);
}

static inline void feed_store_nt_wide(struct feed_thread *thread, uint64_t address, uint32_t piece,
				      const struct feed_access *access)
{
	if (!feed_continues(thread, address, piece, access->size))
		machine_store_nt(thread->core, address, access->size);
}

/** A report of @piece bytes by an instruction of which nothing more is known. */
static inline void feed_mixed(struct feed_thread *thread, uint64_t address, uint32_t piece,
			      bool store, const struct feed_access *access)
{
	if (store)
		machine_store(thread->core, address, piece, &access->registers);
	else
		machine_load(thread->core, address, piece, &access->registers);
}

/** A report by an instruction that loads and stores, all of one size. */
static inline void feed_update(struct feed_thread *thread, uint64_t address, bool store,
			       const struct feed_access *access)
{
	feed_mixed(thread, address, access->size, store, access);
}

/**
 * A locked read-modify-write is reported as load and store, or as one that counts as store. The one
 * of 16 bytes is aligned, and reported with its lower half.
 */
static inline void feed_locked(struct feed_thread *thread, uint64_t address, bool store,
			       const struct feed_access *access)
{
	if (store && (access->size <= 8 || address % access->size == 0))
		machine_locked(thread->core, address, access->size, &access->registers);
}

/** An iteration of rep movs or rep stos. */
void feed_string(struct feed_thread *thread, uint64_t address, bool store,
		 const struct feed_repeat *repeat);

#endif
