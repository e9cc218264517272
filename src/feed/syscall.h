/* System calls of guests, as far as the machine has to know of them: those of x86-64 Linux. */
#ifndef FEED_SYSCALL_H
#define FEED_SYSCALL_H

#include "feed/thread.h"

/**
 * A thread calls the system, and pauses until feed_thread_resume().
 * @param arguments  six
 */
void feed_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments);

#endif
