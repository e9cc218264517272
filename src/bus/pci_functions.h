/* Which PCI functions are a package's uncore. */
#ifndef BUS_PCI_FUNCTIONS_H
#define BUS_PCI_FUNCTIONS_H

#include <pci/pci.h>

#include "bus/host.h"

#define PCI_FUNCTIONS 256 /* of a bus: 32 devices of 8 functions */

/* What is at each device << 3 | function of a package, on whichever bus that is. */
struct pci_functions {
	struct config_bus bus;
	struct pci_dev *at[PCI_FUNCTIONS];
};

/** The index of a function from an address of PMU_SPACE_PCI. */
static inline unsigned pci_function_of(uint32_t address)
{
	return address >> 12 & (PCI_FUNCTIONS - 1);
}

/**
 * Sorts what libpci has found into @packages, one for each socket of @host.
 * @return 0, or the error number of a function that is there and cannot be read
 */
int pci_functions_find(struct pci_functions *packages, const struct pmu_host *host,
		       const struct pmu_pmu *pmu, struct pci_access *access);

#endif
