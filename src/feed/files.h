/*
 * The files in which Linux says of processors and NUMA nodes what it knows: guests find the
 * machine's. A call that names one is left to the system, and then made again for the machine's
 * file: that is what it returns.
 */
#ifndef FEED_FILES_H
#define FEED_FILES_H

#include "feed/process.h"

/**
 * A thread is in a system call; those that name no file are of no interest.
 * @param arguments  six
 */
void feed_files_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments);
/**
 * It came back.
 * @param guest_base  host address of guest address 0
 * @return what it returns to the guest: @result, or another
 */
int64_t feed_files_return(const struct feed_process *process, const struct feed_thread *thread,
			  int64_t number, int64_t result, uint64_t guest_base);

#endif
