/*
 * Groups: the events of a session that one PMU cannot count at once, divided among as many PMUs as
 * that takes. Each part is a session of its own, on a bus of its own.
 */
#ifndef SESSION_GROUPS_H
#define SESSION_GROUPS_H

#include "session/session.h"

/**
 * Divides the events after session_assign() has refused them, as divide_events() says.
 * @return 0; PMU_E_CONFLICT for what no PMU can count, as session_assign(); errors of
 *         pmu_session_new() and of opening a bus
 */
int groups_make(struct pmu_session *session, struct pmu_ctx *ctx);
void groups_free(struct pmu_session *session);

/** What the session does, by each of its parts. */
int groups_start(struct pmu_session *session, struct pmu_ctx *ctx);
int groups_stop(struct pmu_session *session, struct pmu_ctx *ctx);
int groups_end(struct pmu_session *session, struct pmu_ctx *ctx);
int groups_read(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_count **counts,
		size_t *count);
const char *groups_reason(const struct pmu_session *session, size_t number);
int groups_counter(const struct pmu_session *session, unsigned event, unsigned instance);

#endif
