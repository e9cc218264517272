/*
 * What guests do to their mappings: what is unmapped leaves the TLBs of the machine, anonymous
 * memory can get large pages, and shared memory is the same for all processes, as are files as long
 * as nobody can write to them (docs/machine.md).
 */
#ifndef FEED_MAPPINGS_H
#define FEED_MAPPINGS_H

#include "feed/process.h"

/**
 * What the process has mapped when its program begins.
 * @param guest_base  host address of guest address 0
 */
void feed_mappings_begin(struct feed_process *process, uint64_t guest_base);

/** As feed_numa_syscall(). */
void feed_mappings_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments);
/** It came back with @result, as the guest has it. */
void feed_mappings_return(struct feed_process *process, const struct feed_thread *thread,
			  int64_t number, int64_t result);

#endif
