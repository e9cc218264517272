/*
 * The clocks of guests, where they are to be the machine's: what the system answers is changed in
 * the guest's memory. Sleeping takes the time that was asked for. Processor time is what threads
 * have executed for, and what processes have that were waited for.
 */
#ifndef FEED_CLOCK_H
#define FEED_CLOCK_H

#include "feed/process.h"

/**
 * A thread is in a system call; those that are not about time are of no interest.
 * @param arguments   six
 * @param guest_base  host address of guest address 0
 */
void feed_clock_syscall(const struct feed_process *process, struct feed_thread *thread,
			int64_t number, const uint64_t *arguments, uint64_t guest_base);
/** Whether its call sleeps on the machine's clock: it resumes after feed_clock_return(). */
bool feed_clock_sleeps(const struct feed_thread *thread);
/** The call came back. @return what it returns to the guest */
int64_t feed_clock_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			  int64_t result);
/**
 * What RDTSC reads: cycles of the core's nominal clock since power on. Intel 325384, volume 3,
 * time-stamp counter.
 */
uint64_t feed_clock_tsc(const struct feed_process *process, const struct feed_thread *thread);

#endif
