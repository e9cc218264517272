/*
 * Sessions: from selections to counts. A session assigns counters and shared filters, writes the
 * registers in the documented order, and reads counts back with wraps accounted for.
 */
#ifndef PMULAB_SESSION_H
#define PMULAB_SESSION_H

#include "pmulab/bus.h"
#include "pmulab/event.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_session;

/** A session on @bus, which must outlive it. Finds the boxes that the part has. */
int pmu_session_new(struct pmu_session **session, struct pmu_ctx *ctx, struct pmu_bus *bus);
void pmu_session_free(struct pmu_session *session);

/** Asks for an event. The same selection twice is counted once. @return its index or an error */
int pmu_session_add(struct pmu_session *session, struct pmu_ctx *ctx,
		    const struct pmu_selection *selection);

/**
 * Takes counters too that somebody else has enabled; what they held is written back at the end.
 * Without it pmu_session_start() refuses with PMU_E_BUSY before it writes anything.
 */
void pmu_session_force(struct pmu_session *session);

/**
 * Assigns counters and filters, and writes nothing; pmu_session_start() does it where it was not
 * done. Events cannot be added afterwards.
 * @return 0, or PMU_E_CONFLICT with the events that exclude each other and why
 */
int pmu_session_assign(struct pmu_session *session, struct pmu_ctx *ctx);

/**
 * The counter that an event was given in an instance of its box; a fixed one's own number.
 * @return PMU_E_STATE before it was given one, PMU_E_RANGE where there is no such event or instance
 */
int pmu_session_counter(const struct pmu_session *session, unsigned event, unsigned instance);

/**
 * Assigns counters and filters, and programs: freeze, reset, filters, controls, unfreeze.
 * @return 0, or PMU_E_CONFLICT with the events that exclude each other and why, or PMU_E_BUSY
 */
int pmu_session_start(struct pmu_session *session, struct pmu_ctx *ctx);

/** Freezes all counters. @return 0, or PMU_E_BUSY where somebody else changed what was counted */
int pmu_session_stop(struct pmu_session *session, struct pmu_ctx *ctx);

struct pmu_count {
	unsigned event; /* index that pmu_session_add() returned */
	unsigned socket;
	unsigned instance; /* of the box */
	uint64_t count;
	/*
	 * Whether there is a count. Not, where an emulated machine does not model the event, and
	 * where somebody else froze or changed the counter since pmu_session_start().
	 */
	bool valid;
	unsigned counter; /* that counts it; of the fixed one its own number */
	/*
	 * Time for which the event was asked for, and for which the counter is known to have run:
	 * where it was frozen or changed, up to the last read that found it running. Of the
	 * emulated machine, else of this computer; 0 in a replay and a dry run, where no time
	 * passes.
	 */
	uint64_t enabled_ns, running_ns;
};

/**
 * Reads all counts. @param counts belongs to the session and lives until its next call.
 * @return 0; PMU_E_CONFLICT where another's overflow froze a socket, whose counts are given but not
 *         valid; PMU_E_STATE; or an error of the bus, and no counts
 */
int pmu_session_read(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct pmu_count **counts, size_t *count);

/**
 * Ends counting for good and writes back what pmu_session_start() found in the registers, all of it
 * even where some cannot be written. Counts that were read stay. pmu_session_free() does the same,
 * and says nothing.
 * @return 0 or the first error
 */
int pmu_session_end(struct pmu_session *session, struct pmu_ctx *ctx);

const struct pmu_selection *pmu_session_event(const struct pmu_session *session, unsigned event);
size_t pmu_session_events(const struct pmu_session *session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
