/*
 * A guest process: its address space in the machine and its threads, by the index that the emulator
 * gives them. Indices are used again when their thread has ended.
 */
#ifndef FEED_PROCESS_H
#define FEED_PROCESS_H

#include "feed/thread.h"

/* Address space is reserved for so many threads, memory used for those that were there. */
#define FEED_THREADS_MAX (1u << 20)

#define FEED_FOLDER_BYTES 256

/*
 * The folder of the machine's files (files.c), less than FEED_FOLDER_BYTES long, is known to
 * others.
 */
struct feed_files {
	/* NULL: there is none; *errnum is why, or 0 where the computer's files are to be found */
	const char *(*folder)(void *arg, int *errnum); /* NULL: nor is anybody to be asked */
	const char *(*made_folder)(void *arg);	       /* NULL where nobody has found one yet */
	void *arg;
};

#define FEED_STREAMS 64

/* A pipe or socket, of which bytes were written [0] and read [1]: see kernel_io.c. */
struct feed_stream {
	uint64_t file, positions[2];
};

struct feed_process {
	struct machine *machine;
	bool answers; /* calls of the guest's can return another result than the system's */
	bool waits_for_children; /* clone() with CLONE_VFORK does; else it is fork() */
	struct feed_files files;
	struct machine_address_space *space;
	struct feed_thread *threads;
	unsigned threads_seen; /* highest index begun, plus one */
	uint64_t all_cpus;     /* bit: CPU of the machine */
	uint32_t all_nodes;    /* bit: node */
	uint64_t shared;       /* mappings without a file that it has made for its children */
	uint64_t data_end;     /* its break, as brk() last said; 0: not yet */
	bool uses_numa;	       /* a thread or range of it had a policy for its memory */
	uint64_t cpus;	       /* where its first thread may run */
	struct feed_stream streams[FEED_STREAMS];
	uint64_t ran;	   /* ticks that threads have executed for whose index others have */
	uint64_t children; /* ticks of processes that it has waited for, and of theirs */
	uint64_t told;	   /* the most of its processor time, in ticks, that it was told */
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
 * Keeps the CPU time of its threads that have left their cores, and of children that it has waited
 * for: the program that it becomes goes on from there, and its parent asks for it, also where a
 * signal has ended it.
 */
void feed_process_keep_times(const struct feed_process *process);

/** A thread ends: it leaves its core, and its CPU time is kept. */
void feed_process_end_thread(struct feed_process *process, struct feed_thread *thread);

/**
 * A thread is made: it has its place from now on, and begins with its first block. Serialised by
 * the caller.
 * @param maker  whose time and whose cores the thread has, in a system call, until whose return it
 *               is not known whether it was made; NULL: it is the first
 * @return 0, or PMU_E_RANGE for an index of FEED_THREADS_MAX or above
 */
int feed_process_begin(struct feed_process *process, struct pmu_ctx *ctx, unsigned index,
		       struct feed_thread *maker);

/** In the parent, before fork() by @thread: takes the place of the child's thread. */
void feed_process_forks(struct feed_process *process, struct feed_thread *thread);
/**
 * The system call in which a thread has made others returns.
 * @param result  id of the other's host thread, 0 in a child, or an error: < 0
 */
void feed_process_made(struct feed_process *process, struct feed_thread *maker, int64_t result);
/**
 * In the child, after fork(): its address space begins as its parent's; thread @index goes on in
 * the place taken for it with its next block. The parent's cores are left as they are.
 */
void feed_process_forked(struct feed_process *process, unsigned index);

#endif
