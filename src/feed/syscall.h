/* System calls of guests, as far as the machine has to know of them: those of x86-64 Linux. */
#ifndef FEED_SYSCALL_H
#define FEED_SYSCALL_H

#include "feed/process.h"

/**
 * A thread calls the system, and pauses until feed_syscall_return().
 * @param arguments  six
 */
void feed_syscall(const struct feed_process *process, struct feed_thread *thread, int64_t number,
		  const uint64_t *arguments);

/** The call returns: the thread goes on. */
void feed_syscall_return(struct feed_process *process, struct feed_thread *thread, int64_t result);

#endif
