/*
 * Global enables: if an instance has a global control with a bit for each of its counters
 * (IA32_PERF_GLOBAL_CTRL), that control starts and stops them. Bits of other counters stay as they
 * are.
 */
#ifndef SESSION_GLOBAL_ENABLE_H
#define SESSION_GLOBAL_ENABLE_H

#include "session/registers.h"
#include "session/session.h"

/** The global enable of an instance of @box; NULL: a register of the socket starts and stops it. */
const struct pmu_register *global_enable_of(const struct pmu_box *box);

/** Reads the global enables and keeps what they hold. */
int global_enable_keep(struct pmu_session *session, struct pmu_ctx *ctx);

/** Lets the counters of the session count, and no longer. */
int global_enable_on(struct pmu_session *session, struct pmu_ctx *ctx);
int global_enable_off(struct pmu_session *session, struct pmu_ctx *ctx);
/** The same before the start, where those that were found off are not written. */
int global_enable_off_at_start(struct pmu_session *session, struct pmu_ctx *ctx);
/** Puts the global enables back to what was kept. */
int global_enable_restore(struct pmu_session *session, struct pmu_ctx *ctx);

#endif
