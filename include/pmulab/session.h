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

/**
 * A session on @bus, which must outlive it. Finds the boxes that the part has.
 * @return 0, PMU_E_NOMEM, or an error of reading, as pmu_bus_read(); *session is the caller's
 */
int pmu_session_new(struct pmu_session **session, struct pmu_ctx *ctx, struct pmu_bus *bus);
/** Ends it as pmu_session_end() does, where it has not ended; NULL is allowed. */
void pmu_session_free(struct pmu_session *session);

/**
 * Leaves out what is not of these cores: other cores, and all boxes of sockets that have none of
 * them. Nothing there is programmed or read. To be asked for before events are added.
 * @param cores  of each socket of the bus, bit n: core n
 * @return 0; PMU_E_RANGE where no core is left; PMU_E_STATE after an event; PMU_E_NOMEM
 */
int pmu_session_only(struct pmu_session *session, struct pmu_ctx *ctx, const uint64_t *cores);

/**
 * Asks for an event. The same selection twice is counted once, but for events that tell what
 * counter 0 sees, each of which is kept together with another by pmu_session_group().
 * @return its index; PMU_E_UNKNOWN for an event of another PMU; PMU_E_UNSUPPORTED for a box that
 * the part has not; PMU_E_STATE after the start; PMU_E_NOMEM; errors of reading
 */
int pmu_session_add(struct pmu_session *session, struct pmu_ctx *ctx,
		    const struct pmu_selection *selection);

/**
 * Keeps events together: one PMU counts all of them. Groups that share an event become one.
 * @param events  indexes that pmu_session_add() returned
 * @return 0; PMU_E_CONFLICT where no PMU can count them at once, and the session is as it was;
 *         PMU_E_RANGE for an index that it did not return; PMU_E_NOMEM
 */
int pmu_session_group(struct pmu_session *session, struct pmu_ctx *ctx, const unsigned *events,
		      size_t count);

/**
 * Lets events that one PMU cannot count at once be divided among several PMUs, where the machine
 * behind the bus is emulated and no other process has joined it: each of them has registers of its
 * own and counts the same run of the same machine, so all counts are exact. An event that counts
 * what counter 0 sees goes with the first event that can only be on counter 0, unless
 * pmu_session_group() says with which. To be asked for before pmu_session_assign().
 */
void pmu_session_spread(struct pmu_session *session);
/**
 * Divides the events into groups, each of which the PMU behind the bus can count at once, as
 * pmu_session_spread() divides them among PMUs. The session is a plan then, and cannot be started:
 * the caller makes one session a group, and starts one after the other.
 * @return 0; PMU_E_CONFLICT for what cannot be counted even alone, or {together} as asked for;
 *         PMU_E_STATE after it was assigned; PMU_E_NOMEM; errors of pmu_session_new()
 */
int pmu_session_divide(struct pmu_session *session, struct pmu_ctx *ctx);
/** PMUs, or groups, among which the events were divided; 1 before they are assigned. */
size_t pmu_session_pmus(const struct pmu_session *session);
/** Which of them counts an event, from 0; PMU_E_RANGE where there is no such event. */
int pmu_session_pmu_of(const struct pmu_session *session, unsigned event);
/**
 * Why a PMU, or group, had to be added to those before it: which events exclude each other, by what
 * they share.
 * @return "" for the first one, and beyond the last; lives as long as the session
 */
const char *pmu_session_reason(const struct pmu_session *session, size_t pmu);

/**
 * Takes counters too that somebody else has enabled; what they held is written back at the end.
 * Without it pmu_session_start() refuses with PMU_E_BUSY before it writes anything.
 */
void pmu_session_force(struct pmu_session *session);

struct pmu_guard_options {
	size_t size; /* of this struct, set by the caller */
	/*
	 * That the guardian closes: of pipes and files whose other end waits for this process to
	 * close them. It closes the standard ones by itself. Entries below 0 are left out.
	 */
	const int *descriptors;
	size_t descriptor_count;
	/* Is told, in a sentence, what does not keep the session from counting. NULL: nobody is. */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/**
 * Has a process of its own, the guardian, watch this one from pmu_session_start() to
 * pmu_session_end(), and write back what was found in the registers if this one ends before it did:
 * killed, by a fault, out of memory. A journal (journal.h) covers the end of both. From start to
 * end the signals of faults (SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP) are handled
 * by the library, which waits until registers are restored and then raises them again; the caller
 * must not wait for, or ignore, the guardian's end (SIGCHLD). A process has one such session at a
 * time. Behind other buses than those to a computer's registers there is nothing to guard.
 *
 * To be asked for once, before pmu_session_start() and after pmu_session_force().
 * @param options  NULL: all 0
 * @return 0; PMU_E_BUSY where an earlier measurement of these registers was killed and they are not
 *         restored (pmu_journal_restore()), for which a session that takes counters of others only
 *         warns; PMU_E_STATE, PMU_E_RANGE, PMU_E_NOMEM
 */
int pmu_session_guard(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct pmu_guard_options *options);

/**
 * Which instances of a box a socket has, as the part itself says.
 * @param box      of the session's PMU
 * @param present  receives them: bit i, instance i
 * @return 0; PMU_E_RANGE for a socket that is not there; errors of reading, as pmu_bus_read()
 */
int pmu_session_instances(struct pmu_session *session, struct pmu_ctx *ctx,
			  const struct pmu_box *box, unsigned socket, uint64_t *present);

/**
 * Why a socket has not an instance that the manual documents: the register that says so, or what
 * answers in its place.
 * @param text  receives that in words, as snprintf()
 * @return the length
 */
int pmu_session_absence(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box,
			unsigned socket, unsigned instance, char *text, size_t size);

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
 * @return 0, or PMU_E_CONFLICT with the events that exclude each other and why, or PMU_E_BUSY;
 *         PMU_E_STATE where another session of this process has a guardian that runs
 */
int pmu_session_start(struct pmu_session *session, struct pmu_ctx *ctx);

/**
 * Freezes all counters.
 * @return 0; PMU_E_BUSY where somebody else changed what was counted; PMU_E_STATE where it is not
 *         counting; errors of the bus
 */
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
	uint64_t reserved[4];
};

/**
 * Reads all counts.
 * @param counts  receives them; belongs to the session and lives until its next call
 * @param count   receives their number
 * @return 0; PMU_E_CONFLICT where another's overflow froze a socket, whose counts are given but not
 *         valid; PMU_E_STATE before the start and after the end; or an error of the bus, and no
 *         counts
 */
int pmu_session_read(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct pmu_count **counts, size_t *count);

/**
 * Ends counting for good and writes back what pmu_session_start() found in the registers, all of it
 * even where some cannot be written. Counts that were read stay. pmu_session_free() does the same,
 * and says nothing.
 * @return 0 or the first error, as pmu_bus_write()
 */
int pmu_session_end(struct pmu_session *session, struct pmu_ctx *ctx);

/** What was asked for with an index that pmu_session_add() returned; NULL: nothing was. */
const struct pmu_selection *pmu_session_event(const struct pmu_session *session, unsigned event);
/** Events that were added, each once. */
size_t pmu_session_events(const struct pmu_session *session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
