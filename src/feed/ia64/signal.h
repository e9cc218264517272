/* Signals of a program: actions, masks, frames; and the host's signals that become them. */
#ifndef FEED_IA64_SIGNAL_H
#define FEED_IA64_SIGNAL_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/process.h"

#include <signal.h>

#define IA64_SIGNALS 64
#define IA64_QUEUE   64 /* a power of two */

/** What rt_sigaction reads and writes: no restorer on ia64. */
struct ia64_sigaction {
	uint64_t handler; /* of a descriptor: entry point, then global pointer */
	uint64_t flags;
	uint64_t mask;
};

struct ia64_actions {
	struct ia64_sigaction action[IA64_SIGNALS + 1];
};

struct ia64_sigaltstack {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t size;
};

/** A thread's. */
struct ia64_signals {
	uint64_t mask;
	struct ia64_sigaltstack alternate;
	bool in_syscall;	 /* the last break was one that a handler interrupts */
	bool restart;		 /* and it can be made again */
	uint64_t suspended_mask; /* what sigsuspend replaced */
	bool suspended;
	/* Signals that arrived and are not delivered yet; the host's handler writes at the tail. */
	siginfo_t queue[IA64_QUEUE];
	volatile uint32_t head, tail;
	/* What a fault on the host was. */
	uintptr_t host_address;
	int host_signal, host_code;
	bool host_write;
};

int ia64_signals_start(struct ia64_process *p);
/** The thread that calls this is c's from now on. */
int ia64_signals_thread(struct ia64_cpu *c);
void ia64_signals_thread_end(struct ia64_cpu *c);

/** Delivers what is pending and not blocked; a default action may end the process. */
void ia64_signals_deliver(struct ia64_cpu *c);
/** A signal that the program caused, as the kernel sends it. */
void ia64_signals_force(struct ia64_cpu *c, siginfo_t *info);
/** The fault or trap at which the processor stopped, as a signal. */
void ia64_signals_fault(struct ia64_cpu *c);
/** break with a number that is no system call. */
void ia64_signals_break(struct ia64_cpu *c, uint64_t number);

int64_t ia64_sys_sigaction(struct ia64_cpu *c, int sig, uint64_t act, uint64_t old, uint64_t size);
int64_t ia64_sys_sigprocmask(struct ia64_cpu *c, int how, uint64_t set, uint64_t old,
			     uint64_t size);
int64_t ia64_sys_sigaltstack(struct ia64_cpu *c, uint64_t set, uint64_t old);
int64_t ia64_sys_sigsuspend(struct ia64_cpu *c, uint64_t set, uint64_t size);
/** Puts the interrupted state back; results of the call itself are part of it. */
void ia64_sys_sigreturn(struct ia64_cpu *c);

/** frame.c: calls the handler of act with a frame on the program's stack; mask is what the return
 * restores.
 */
int ia64_frame_push(struct ia64_cpu *c, const struct ia64_sigaction *act, const siginfo_t *info,
		    uint64_t mask);
/** False if there is no frame at the stack pointer. */
bool ia64_frame_pop(struct ia64_cpu *c, uint64_t *mask, struct ia64_sigaltstack *alternate);

#endif
