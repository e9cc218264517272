/*
 * A memory channel: read and write pending queues, banks, rows, refresh, one data bus.
 *
 * The channel keeps a monotonic DRAM clock. A write stamped earlier than the latest request is
 * treated as arriving at that one's time; a read finds the rows and the data bus as they are known
 * of its own time. Functions return a duration, so that callers with different clocks stay
 * consistent.
 */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include "machine/memory_state.h"

void memory_init(struct memory_channel *channel, const struct pmu_machine *desc);

/**
 * Reads a line.
 * @param line  line number within the channel
 * @param now   DRAM cycle of arrival
 * @return DRAM cycles from arrival until the last beat of its data, waiting for a queue entry
 *         included
 */
MACHINE_PATH uint64_t memory_read(struct memory_channel *channel, const struct memory_view *view,
				  uint32_t line, uint64_t now);

/**
 * Posts a write.
 * @param partial  not all 64 bytes: an underfill read is needed when it drains
 * @return DRAM cycles from arrival until it is posted: 0 unless the write queue is full
 */
uint64_t memory_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		      bool partial, uint64_t now);

/**
 * Writes everything that is queued and catches up with refreshes due by @now.
 * @return the DRAM cycle at which the channel is idle, not before @now
 */
uint64_t memory_drain(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

/**
 * Lets time pass without a request: emits what happened until @now, such as refreshes due, so
 * that counters can be read at @now. What comes later is the same as without the call.
 */
void memory_advance(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

/* The same on the quiet way: see totals.h. */
uint64_t memory_drain_quiet(struct memory_channel *channel, const struct memory_view *view,
			    uint64_t now);
void memory_advance_quiet(struct memory_channel *channel, const struct memory_view *view,
			  uint64_t now);

const struct memory_statistics *memory_statistics(const struct memory_channel *channel);

#endif
