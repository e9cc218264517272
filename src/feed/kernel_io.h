/*
 * What system calls copy between a guest and its files: where the machine is told to have it, it
 * goes through the caches of the core that calls.
 */
#ifndef FEED_KERNEL_IO_H
#define FEED_KERNEL_IO_H

#include "feed/process.h"

/** What the machine calls a file: for machine_copy. @param a, b  that tell it from others */
uint64_t feed_file_number(uint64_t a, uint64_t b);

/**
 * A thread is in a system call.
 * @param arguments  six
 */
void feed_kernel_io_syscall(const struct feed_process *process, struct feed_thread *thread,
			    int64_t number, const uint64_t *arguments);
/**
 * It came back, and the thread goes on.
 * @param guest_base  host address of guest address 0
 */
void feed_kernel_io_return(struct feed_process *process, const struct feed_thread *thread,
			   int64_t number, int64_t result, uint64_t guest_base);

#endif
