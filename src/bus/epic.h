/* The bus to the PMU of an emulated core that issues in order. */
#ifndef BUS_EPIC_H
#define BUS_EPIC_H

#include "pmulab/bus.h"

struct emul_epic;

/**
 * @param epic  stays the caller's and must outlive the bus
 * @return 0, PMU_E_UNKNOWN, PMU_E_NOMEM
 */
int bus_epic(struct pmu_bus **bus, struct pmu_ctx *ctx, struct emul_epic *epic);

#endif
