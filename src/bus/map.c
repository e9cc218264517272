#include "bus/map.h"

#include "catalog/address.h"

bool bus_find(const struct pmu_pmu *pmu, const struct pmu_access_op *op,
	      struct bus_register_ref *ref)
{
	const struct pmu_address *found = catalog_address_find(pmu, op->space, op->address);
	const struct pmu_box *box;
	bool half;

	if (!found)
		return false;
	box = &pmu->boxes[found->box];
	*ref = (struct bus_register_ref){
	    .box = box,
	    .reg = &box->registers[found->reg],
	    .instance = box->scope == PMU_SCOPE_CORE ? op->core : found->instance,
	    .found = found,
	};
	half = op->space == PMU_SPACE_PCI && op->width == 32 && ref->reg->width == 64;
	return ref->instance < box->instance_count &&
	       (half || (!found->shift && op->width == ref->reg->width));
}

static size_t count_in(const struct pmu_box *box)
{
	return box->instance_count * box->register_count;
}

size_t bus_register_count(const struct pmu_pmu *pmu)
{
	size_t count = 0;

	for (size_t b = 0; b < pmu->box_count; b++)
		count += count_in(&pmu->boxes[b]);
	return count;
}

size_t bus_register_number(const struct pmu_pmu *pmu, const struct bus_register_ref *ref)
{
	size_t number = ref->instance * ref->box->register_count;

	for (const struct pmu_box *box = pmu->boxes; box < ref->box; box++)
		number += count_in(box);
	return number + (size_t)(ref->reg - ref->box->registers);
}
