/* From an address to the register and box instance that the catalog has there. */
#ifndef BUS_MAP_H
#define BUS_MAP_H

#include "catalog/entries.h"
#include "pmulab/bus.h"

/* One register of one instance. */
struct bus_register_ref {
	const struct pmu_box *box;
	const struct pmu_register *reg;
	unsigned instance;
	const struct pmu_address *found; /* by bus_find(), or NULL */
};

/**
 * The register that an access touches by its space, address, width and core: the whole of it, or in
 * PCI space one half of a 64-bit register (334291-001 §1.6: "32x2"). @return false where the
 * catalog has none
 */
bool bus_find(const struct pmu_pmu *pmu, const struct pmu_access_op *op,
	      struct bus_register_ref *ref);

/** Registers of all instances. */
size_t bus_register_count(const struct pmu_pmu *pmu);
/** Which of them @ref is, from 0 on: box by box, instance by instance. */
size_t bus_register_number(const struct pmu_pmu *pmu, const struct bus_register_ref *ref);

#endif
