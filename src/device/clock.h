/* Lets a machine's time follow the wall clock while nothing runs on it. */
#ifndef DEVICE_CLOCK_H
#define DEVICE_CLOCK_H

#include "emul/block.h"

struct device_clock;

/** Starts a thread that does so. @return 0 or PMU_E_NOMEM */
int device_clock_new(struct device_clock **clock, struct pmu_ctx *ctx, struct emul *emul);
/** Lets pass what has passed since the last look; NULL is allowed. */
void device_clock_look(struct device_clock *clock);
/** NULL is allowed. */
void device_clock_free(struct device_clock *clock);

#endif
