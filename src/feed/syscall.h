/* System calls of guests, as far as the machine has to know of them: those of x86-64 Linux. */
#ifndef FEED_SYSCALL_H
#define FEED_SYSCALL_H

#include "feed/process.h"

/**
 * A thread calls the system, and pauses until feed_syscall_return(). Where a program will take the
 * process's place, which runs outside the machine, it leaves its core, and the machine counts the
 * program. That can still fail for reasons that only the system knows (a missing interpreter): the
 * thread enters a core again then.
 * @param arguments   six
 * @param guest_base  host address of guest address 0
 */
void feed_syscall(struct feed_process *process, struct feed_thread *thread, int64_t number,
		  const uint64_t *arguments, uint64_t guest_base);

/** The call returns: the thread goes on. */
void feed_syscall_return(struct feed_process *process, struct feed_thread *thread, int64_t result);

#endif
