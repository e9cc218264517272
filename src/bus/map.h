/* From an address to the register and box instance that the catalog has there. */
#ifndef BUS_MAP_H
#define BUS_MAP_H

#include "pmulab/catalog.h"

/* One register of one instance. */
struct bus_register_ref {
	uint64_t key; /* core, where each has one of its own, space and address */
	const struct pmu_box *box;
	const struct pmu_register *reg;
	unsigned instance;
};

/* The registers of all instances of a PMU, by rising key. */
struct bus_map {
	struct bus_register_ref *refs;
	size_t count;
};

/** @return 0 or PMU_E_NOMEM */
int bus_map_init(struct bus_map *map, const struct pmu_pmu *pmu);
void bus_map_fini(struct bus_map *map);

/**
 * The register that an access of @width bits at @address touches: the whole of it, or in PCI space
 * one half of a 64-bit register (334291-001 §1.6: "32x2"). @core tells apart registers that each
 * core has. NULL where the catalog has none.
 */
const struct bus_register_ref *bus_map_find_in_core(const struct bus_map *map, unsigned core,
						    enum pmu_space space, uint32_t address,
						    unsigned width);
/** The same in core 0. */
const struct bus_register_ref *bus_map_find(const struct bus_map *map, enum pmu_space space,
					    uint32_t address, unsigned width);

#endif
