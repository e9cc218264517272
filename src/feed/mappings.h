/*
 * What guests do to their mappings: what is unmapped leaves the TLBs of the machine, anonymous
 * memory can get large pages, and shared memory is the same for all processes (docs/machine.md).
 */
#ifndef FEED_MAPPINGS_H
#define FEED_MAPPINGS_H

#include "feed/process.h"

/** As feed_numa_syscall(). */
void feed_mappings_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments);
/** It came back with @result, as the guest has it. */
void feed_mappings_return(struct feed_process *process, const struct feed_thread *thread,
			  int64_t number, int64_t result);

#endif
