/*
 * A guest process: its address space in the machine and its threads, by the index that the emulator
 * gives them. Indices are used again when their thread has ended.
 */
#ifndef FEED_PROCESS_H
#define FEED_PROCESS_H

#include "feed/thread.h"

/* Address space is reserved for so many threads, memory used for those that were there. */
#define FEED_THREADS_MAX (1u << 20)

struct feed_process {
	struct machine *machine;
	struct machine_address_space *space;
	struct feed_thread *threads;
	unsigned threads_seen;		/* highest index begun, plus one */
	uint64_t cpus;			/* where its first thread may run */
	struct machine_hart *child;	/* the place of a child that is being forked */
	struct machine_hart *continued; /* that which the process had as another program; NULL */
};

/** @return 0 or PMU_E_NOMEM */
int feed_process_init(struct feed_process *process, struct pmu_ctx *ctx, struct machine *machine);
/** Frees what the process has; its threads have left. */
void feed_process_fini(struct feed_process *process);

/**
 * Takes the threads off their cores, when the process is about to end: they must have stopped or be
 * in system calls. Nothing is freed, as they may still come back from there.
 */
void feed_process_end(struct feed_process *process);

/**
 * A thread is made: it has its place from now on, and begins with its first block. Serialised by
 * the caller.
 * @param maker  the thread that made it, whose time and whose cores it has; NULL: it is the first
 * @return 0, or PMU_E_RANGE for an index of FEED_THREADS_MAX or above
 */
int feed_process_begin(struct feed_process *process, struct pmu_ctx *ctx, unsigned index,
		       struct feed_thread *maker);

/** In the parent, before fork() by @thread: takes the place of the child's thread. */
void feed_process_forks(struct feed_process *process, const struct feed_thread *thread);
/**
 * In the child, after fork(): a new address space; thread @index goes on in the place taken for it
 * with its next block. The parent's cores and space are left as they are.
 * @return 0 or PMU_E_NOMEM
 */
int feed_process_forked(struct feed_process *process, unsigned index);

#endif
