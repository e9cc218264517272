/*
 * Which register answers at an address: a hash table over all registers of a socket, made once a
 * view. Registers that every core has at the same address stand in it once.
 */
#ifndef PMON_ADDRESS_H
#define PMON_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmulab/catalog.h"

struct pmon_address {
	uint32_t address;
	uint8_t space;	  /* enum pmu_space */
	uint8_t box, reg; /* by number in the PMU, by index in the box */
	uint8_t instance;
	uint8_t shift; /* 32 for the upper half of a register of two dwords */
	bool taken;
};

struct pmon_addresses {
	struct pmon_address *slots;
	uint32_t mask;
};

/** @return 0 or PMU_E_NOMEM */
int pmon_addresses_make(struct pmon_addresses *addresses, const struct pmu_pmu *pmu);
void pmon_addresses_free(struct pmon_addresses *addresses);

/** NULL where no register answers. */
const struct pmon_address *pmon_addresses_find(const struct pmon_addresses *addresses,
					       enum pmu_space space, uint32_t address);

#endif
