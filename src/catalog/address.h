/* Which register answers at an address: a hash table of each PMU, made with its other tables. */
#ifndef CATALOG_ADDRESS_H
#define CATALOG_ADDRESS_H

#include "catalog/entries.h"

struct pmu_address {
	uint32_t address;
	uint8_t space;	  /* enum pmu_space */
	bool taken;	  /* false: the slot is empty */
	uint8_t box;	  /* by number in the PMU */
	uint8_t instance; /* 0 for registers that every core has at the same address */
	uint8_t reg;	  /* by index in the box */
	uint8_t shift;	  /* 32 for the upper half of a register of two dwords */
};

/** Of two registers at one address the first of the box. NULL where no register answers. */
const struct pmu_address *catalog_address_find(const struct pmu_pmu *pmu, enum pmu_space space,
					       uint32_t address);

#endif
