/*
 * A bus whose registers only keep what is written, so that a test decides what counters hold. RW1C
 * fields clear, write-only fields read 0 and a box's reset clears its controls and counters.
 */
#ifndef TEST_MEMORY_BUS_H
#define TEST_MEMORY_BUS_H

#include "pmulab/bus.h"

int memory_bus_new(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		   unsigned sockets, bool emulated);

/** The register at an address of either space, as the hardware would change or see it. */
uint64_t *memory_bus_at(struct pmu_bus *bus, unsigned socket, enum pmu_space space,
			uint32_t address);

/** Calls @hook after each read. NULL ends it. */
void memory_bus_hook(struct pmu_bus *bus, void (*hook)(void *arg, const struct pmu_access_op *op),
		     void *arg);

#endif
