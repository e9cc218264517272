/*
 * Global enables: if an instance has a global control with a bit for each of its counters
 * (IA32_PERF_GLOBAL_CTRL), that control starts and stops them. Bits of other counters stay as they
 * are.
 */
#ifndef SESSION_GATE_H
#define SESSION_GATE_H

#include "session/registers.h"
#include "session/session.h"

/** The gate of an instance of @box; NULL: a register of the socket starts and stops it. */
const struct pmu_register *gate_of(const struct pmu_box *box);

/** Reads the gates and keeps what they hold. */
int gate_keep(struct pmu_session *session, struct pmu_ctx *ctx);

/** Lets the counters of the session count, and no longer. */
int gate_open(struct pmu_session *session, struct pmu_ctx *ctx);
int gate_close(struct pmu_session *session, struct pmu_ctx *ctx);
/** Puts the gates back to what was kept. */
int gate_restore(struct pmu_session *session, struct pmu_ctx *ctx);

#endif
