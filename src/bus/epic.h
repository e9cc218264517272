/* The bus to the PMU of an emulated machine whose cores issue in order. */
#ifndef BUS_EPIC_H
#define BUS_EPIC_H

#include <stdbool.h>

#include "pmulab/bus.h"

struct emul_epic;

/**
 * @param epic   must outlive the bus
 * @param owner  epic is freed with the bus; not after an error
 * @return 0, PMU_E_UNKNOWN, PMU_E_NOMEM
 */
int bus_epic(struct pmu_bus **bus, struct pmu_ctx *ctx, struct emul_epic *epic, bool owner);

#endif
