/*
 * A memory channel: read and write pending queues, banks, rows, refresh, one data bus.
 *
 * The channel keeps a monotonic DRAM clock. A request stamped earlier than the latest one is
 * treated as arriving at that one's time, but for a read where several cores run: it goes over the
 * data bus when that is free at its own time. Functions return a duration, so that callers with
 * different clocks stay consistent.
 */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/signal.h"
#include "machine/calendar.h"
#include "pmulab/machine.h"

#define MEMORY_BANKS_MAX 128 /* ranks * banks of a channel */
#define MEMORY_QUEUE_MAX 64  /* entries of RPQ or WPQ */

/* Totals since memory_init(), for machine_statistics() and tests. */
struct memory_statistics {
	uint64_t reads, writes;		/* requests */
	uint64_t cas_reads, cas_writes; /* underfills are in cas_reads */
	uint64_t underfills, wpq_read_hits, wpq_write_hits;
	uint64_t activates, precharges, refreshes;
	uint64_t rpq_cycles, wpq_cycles; /* sums of the time entries were held */
};

/* Shared state, no pointers. Fields are the layer's own. */
struct memory_channel;

/* A process's view: where to announce and who is announcing. */
struct memory_view {
	const struct pmu_machine *desc;
	const struct signal_port *port; /* NULL: nobody listens */
	uint8_t socket;
	uint8_t unit; /* number of the channel in its socket */
	bool shared;  /* several cores run: their requests come at their own times */
};

#include "machine/memory_state.h"

void memory_init(struct memory_channel *channel, const struct pmu_machine *desc);

/**
 * Reads a line.
 * @param line  line number within the channel
 * @param now   DRAM cycle of arrival
 * @return DRAM cycles from arrival until the last beat of its data, waiting for a queue entry
 *         included
 */
uint64_t memory_read(struct memory_channel *channel, const struct memory_view *view, uint64_t line,
		     uint64_t now);

/**
 * Posts a write.
 * @param partial  not all 64 bytes: an underfill read is needed when it drains
 * @return DRAM cycles from arrival until it is posted: 0 unless the write queue is full
 */
uint64_t memory_write(struct memory_channel *channel, const struct memory_view *view, uint64_t line,
		      bool partial, uint64_t now);

/**
 * Writes everything that is queued and catches up with refreshes due by @now.
 * @return the DRAM cycle at which the channel is idle, not before @now
 */
uint64_t memory_drain(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

/**
 * Lets time pass without a request: announces what happened until @now, such as refreshes due, so
 * that counters can be read at @now. What comes later is the same as without the call.
 */
void memory_advance(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

const struct memory_statistics *memory_statistics(const struct memory_channel *channel);

#endif
