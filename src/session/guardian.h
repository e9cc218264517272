/*
 * Registers are restored whatever ends a measurement on a real computer. Three parties can do it,
 * each if the one before it cannot. All have the same list of writes, made before the first
 * register changes:
 *
 *  - the process itself, when the session ends;
 *  - the guardian, a process that waits for the first one to end. It also covers SIGKILL and a
 *    lack of memory, which no signal handler can, and does not depend on memory that may be
 *    corrupt. It uses the bus as the process does. The handler that remains (for SIGSEGV and its
 *    kind) releases the guardian, and waits until it has restored;
 *  - a later run, from the journal, after all have been killed: pmulab/journal.h.
 */
#ifndef SESSION_GUARDIAN_H
#define SESSION_GUARDIAN_H

#include "pmulab/session.h"

struct guardian;

/** Takes the options; starts nothing. @return 0, PMU_E_RANGE, PMU_E_UNSUPPORTED, PMU_E_NOMEM */
int guardian_new(struct guardian **guardian, struct pmu_ctx *ctx,
		 const struct pmu_guard_options *options);
/** Of one that is not running; NULL is allowed. */
void guardian_free(struct guardian *guardian);

/**
 * Writes the journal and starts the guardian. From here on faults of this process end it only when
 * the guardian has restored.
 * @param bus  through which to restore, of real registers; outlives the guardian, like @writes
 * @return 0; PMU_E_STATE where another guardian of this process runs; PMU_E_IO; without a journal
 *         it only warns
 */
int guardian_start(struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
		   const struct pmu_access_op *writes, size_t count);

/** Ends it, if it runs. @param restored  all is as it was; else the journal is left to others */
void guardian_end(struct guardian *guardian, bool restored);

/**
 * Looks for a journal of these registers that a killed measurement has left.
 * @param forced  one that there is only warns
 * @return 0, or PMU_E_BUSY with what to do
 */
int guardian_find_left(const struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
		       bool forced);

#endif
