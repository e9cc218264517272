/* Unit masks: which named ones a value stands for. */
#ifndef EVENT_UMASK_H
#define EVENT_UMASK_H

#include "pmulab/catalog.h"

#define UMASK_ROWS 8 /* named unit masks that one value can be made of: one a bit */

/**
 * The named unit masks that make up @umask: one of exactly this value, or else several that may be
 * added.
 * @return their number, 0 where there are none
 */
size_t umask_rows(const struct pmu_event *event, uint8_t umask,
		  const struct pmu_umask *rows[UMASK_ROWS]);

#endif
