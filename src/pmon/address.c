#include "pmon/address.h"

#include <stdlib.h>

static uint32_t first_slot(const struct pmon_addresses *addresses, unsigned space, uint32_t address)
{
	return ((address + (space << 28)) * 0x9e3779b1u >> 8) & addresses->mask;
}

/* Each register has a slot, one of two dwords two. */
static uint32_t count_slots(const struct pmu_pmu *pmu)
{
	uint32_t count = 0;

	for (size_t b = 0; b < pmu->box_count; b++) {
		const struct pmu_box *box = &pmu->boxes[b];
		size_t instances = box->scope == PMU_SCOPE_CORE ? 1 : box->instance_count;

		for (size_t r = 0; r < box->register_count; r++)
			count += (uint32_t)instances * (box->registers[r].width == 64 ? 2 : 1);
	}
	return count;
}

/* Of two registers at one address the first counts, as the boxes stand in the PMU. */
static void add(struct pmon_addresses *addresses, struct pmon_address entry)
{
	uint32_t slot = first_slot(addresses, entry.space, entry.address);

	for (; addresses->slots[slot].taken; slot = (slot + 1) & addresses->mask)
		if (addresses->slots[slot].address == entry.address &&
		    addresses->slots[slot].space == entry.space)
			return;
	addresses->slots[slot] = entry;
}

static void add_box(struct pmon_addresses *addresses, const struct pmu_box *box, size_t number)
{
	size_t instances = box->scope == PMU_SCOPE_CORE ? 1 : box->instance_count;

	for (size_t i = 0; i < instances; i++) {
		for (size_t r = 0; r < box->register_count; r++) {
			const struct pmu_register *reg = &box->registers[r];
			struct pmon_address entry = {
			    .address = pmu_register_address(box, reg, (unsigned)i),
			    .space = box->space,
			    .box = (uint8_t)number,
			    .reg = (uint8_t)r,
			    .instance = (uint8_t)i,
			    .taken = true,
			};

			add(addresses, entry);
			/* PCI registers of 64 bits can be reached as two dwords (334291-001 table
			 * 2-61). */
			if (box->space != PMU_SPACE_PCI || reg->width != 64)
				continue;
			entry.address += 4;
			entry.shift = 32;
			add(addresses, entry);
		}
	}
}

int pmon_addresses_make(struct pmon_addresses *addresses, const struct pmu_pmu *pmu)
{
	uint32_t slots = 16;

	while (slots < 2 * count_slots(pmu))
		slots *= 2;
	addresses->slots = calloc(slots, sizeof(*addresses->slots));
	if (!addresses->slots)
		return PMU_E_NOMEM;
	addresses->mask = slots - 1;
	for (size_t b = 0; b < pmu->box_count; b++)
		add_box(addresses, &pmu->boxes[b], b);
	return 0;
}

void pmon_addresses_free(struct pmon_addresses *addresses)
{
	free(addresses->slots);
	addresses->slots = NULL;
}

const struct pmon_address *pmon_addresses_find(const struct pmon_addresses *addresses,
					       enum pmu_space space, uint32_t address)
{
	uint32_t slot = first_slot(addresses, space, address);

	for (; addresses->slots[slot].taken; slot = (slot + 1) & addresses->mask)
		if (addresses->slots[slot].address == address &&
		    addresses->slots[slot].space == space)
			return &addresses->slots[slot];
	return NULL;
}
