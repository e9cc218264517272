/* The computer behind an emulated bus, for who has to pass it on to a program's process. */
#ifndef BUS_EMULATED_H
#define BUS_EMULATED_H

#include "emul/block.h"
#include "pmulab/bus.h"

/** As pmu_emul_bus(), to the computer itself. */
int bus_emulated_open(struct pmu_bus **bus, struct pmu_ctx *ctx, struct emul *emul);

/** @return the computer, which stays the bus's; NULL where there is none behind @bus */
struct emul *bus_emulated_emul(struct pmu_bus *bus);

#endif
