/*
 * Other users of the same counters: earlier ones, whom the session disturbs only if forced, and
 * those who come while it counts.
 */
#ifndef SESSION_BUSY_H
#define SESSION_BUSY_H

#include "session/registers.h"
#include "session/session.h"

/** Keeps in mind that somebody's counter is enabled by this control. */
void session_busy_note(struct pmu_session *session, const struct register_at *control,
		       uint64_t value);
/** @return 0, or PMU_E_BUSY with the controls that were noted, if the session is not forced */
int session_busy_refuse(const struct pmu_session *session, struct pmu_ctx *ctx);

/**
 * Reads the controls that the session has programmed.
 * @return 0, or PMU_E_BUSY: one is not as it was written, so that counts are of something else
 */
int session_busy_check(struct pmu_session *session, struct pmu_ctx *ctx);

#endif
