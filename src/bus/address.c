/* Registers by their address, and register traces of the caller's own. */
#include <stdlib.h>

#include "base/error.h"
#include "bus/map.h"
#include "bus/register_trace.h"

struct pmu_address_map {
	struct bus_map map;
};

int pmu_address_map_new(struct pmu_address_map **out, struct pmu_ctx *ctx,
			const struct pmu_pmu *pmu)
{
	struct pmu_address_map *map = calloc(1, sizeof(*map));

	if (!map || bus_map_init(&map->map, pmu)) {
		free(map);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the addresses of %s",
				 pmu->name);
	}
	*out = map;
	return 0;
}

void pmu_address_map_free(struct pmu_address_map *map)
{
	if (!map)
		return;
	bus_map_fini(&map->map);
	free(map);
}

bool pmu_address_find(const struct pmu_address_map *map, const struct pmu_access_op *op,
		      struct pmu_located *located)
{
	const struct bus_register_ref *ref = bus_map_find_in_core(
	    &map->map, op->core, (enum pmu_space)op->space, op->address, op->width);

	/* RDMSR and WRMSR are of 64 bits, also where the register is of 32. */
	if (!ref && op->space == PMU_SPACE_MSR)
		ref = bus_map_find_in_core(&map->map, op->core, PMU_SPACE_MSR, op->address, 32);
	if (ref)
		*located = (struct pmu_located){
		    .box = ref->box, .reg = ref->reg, .instance = ref->instance};
	return ref;
}

int pmu_trace_begin(FILE *file, const char *pmu, unsigned sockets, bool emulated)
{
	struct register_trace_header header = {.sockets = sockets, .emulated = emulated};

	if (snprintf(header.pmu, sizeof(header.pmu), "%s", pmu) >= (int)sizeof(header.pmu))
		return PMU_E_RANGE;
	return register_trace_put_header(file, &header);
}

int pmu_trace_access(FILE *file, const struct pmu_access_op *op, bool write, int error)
{
	return register_trace_put_line(file, write, op, error);
}
