#include "catalog/address.h"

/* As address_hash() in scripts/catalog_gen/addresses.py. */
static uint32_t hash(enum pmu_space space, uint32_t address)
{
	return (address + ((uint32_t)space << 28)) * 0x9e3779b1u >> 8;
}

const struct pmu_address *catalog_address_find(const struct pmu_pmu *pmu, enum pmu_space space,
					       uint32_t address)
{
	uint32_t slot = hash(space, address) & pmu->address_mask;

	for (; pmu->addresses[slot].taken; slot = (slot + 1) & pmu->address_mask)
		if (pmu->addresses[slot].address == address && pmu->addresses[slot].space == space)
			return &pmu->addresses[slot];
	return NULL;
}
