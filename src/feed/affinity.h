/*
 * The CPUs of guests are the machine's cores: threads run where they are pinned, and see no others.
 * The system has other CPUs; what it is asked of them, and what it answers, is changed in the
 * guest's memory.
 */
#ifndef FEED_AFFINITY_H
#define FEED_AFFINITY_H

#include "feed/process.h"

/**
 * A thread is in a system call; those that are not about CPUs are of no interest.
 * @param arguments   six
 * @param guest_base  host address of guest address 0
 */
void feed_affinity_syscall(struct feed_process *process, struct feed_thread *thread, int64_t number,
			   const uint64_t *arguments, uint64_t guest_base);
/** It came back. */
void feed_affinity_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			  int64_t result);

/**
 * The CPUs on which a thread of the system may run, as guests are told; all where it is none of the
 * process.
 */
uint64_t feed_affinity_of(const struct feed_process *process, uint32_t tid);

#endif
