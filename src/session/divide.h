/* Which of several PMUs counts which events: as few PMUs as can be. */
#ifndef SESSION_DIVIDE_H
#define SESSION_DIVIDE_H

#include "session/session.h"

/**
 * Gives each event of @whole its part, those of a group the same. The number of parts is the least
 * where the events that meet in some box are few enough to try all ways (DIVIDE_BLOCKS_MAX and
 * DIVIDE_TRIALS_MAX), and where none repeats what counter 0 sees; else that of first fit.
 * @param parts  receives their number
 * @return 0; PMU_E_CONFLICT for what no PMU can count, as session_assign(); PMU_E_NOMEM; errors of
 *         pmu_session_new()
 */
int divide_events(struct pmu_session *whole, struct pmu_ctx *ctx, size_t *parts);

#define DIVIDE_BLOCKS_MAX 32   /* groups and single events of boxes that groups join */
#define DIVIDE_TRIALS_MAX 5000 /* placements */

#endif
