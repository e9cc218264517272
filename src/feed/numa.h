/*
 * The NUMA nodes of guests are the machine's sockets: their calls that ask where pages are to be,
 * or where they are (mbind, set_mempolicy, get_mempolicy, move_pages, migrate_pages), are answered
 * for the machine, whatever the system says to them.
 */
#ifndef FEED_NUMA_H
#define FEED_NUMA_H

#include "feed/process.h"

/**
 * A thread is in a system call; those that are not about pages are of no interest.
 * @param arguments  six
 */
void feed_numa_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments);
/**
 * It came back.
 * @param guest_base  host address of guest address 0
 * @return what it returns to the guest: @result, or another
 */
int64_t feed_numa_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			 int64_t result, uint64_t guest_base);

#endif
