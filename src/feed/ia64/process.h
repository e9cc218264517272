/* A program that runs: its address space, its signals' actions, its threads. */
#ifndef FEED_IA64_PROCESS_H
#define FEED_IA64_PROCESS_H

#include "feed/ia64/cpu.h"

#include <pthread.h>

#define IA64_PAGE 16384u

struct ia64_space;
struct ia64_actions;
struct ia64_observer;

struct ia64_process {
	struct ia64_space *space;
	struct ia64_actions *actions;
	const struct ia64_observer *observer; /* NULL: nobody looks */
	struct ia64_cpu *cpus;
	bool threaded;
	bool forked;	  /* another process may share memory with it */
	uint32_t flushes; /* how often code changed */
	uint64_t brk_start, brk;
	uint64_t trampoline; /* code that calls a signal handler */
	uint32_t unaligned;  /* PR_SET_UNALIGN */
	const char *path;
	const char *root;     /* where its paths are looked up first; NULL: nowhere */
	pthread_mutex_t lock; /* of the address space and of actions */
};

/** Every processor thread leaves its code at its next taken branch, to look what there is. */
void ia64_process_attend(struct ia64_process *p);

/** `unaligned` changed: code is made again. */
void ia64_process_realign(struct ia64_process *p);
void ia64_process_end(struct ia64_process *p);

#endif
