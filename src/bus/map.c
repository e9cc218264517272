#include "bus/map.h"

#include <stdlib.h>

#define EVERY_CORE 0 /* whatever is the same from every core of a socket */

/* @core: its number plus 1 for what each core has, or EVERY_CORE. */
static uint64_t key_of(unsigned core, enum pmu_space space, uint32_t address)
{
	return (uint64_t)core << 40 | (uint64_t)space << 32 | address;
}

static uint64_t key_of_register(const struct pmu_box *box, const struct pmu_register *reg,
				unsigned instance)
{
	unsigned core = box->scope == PMU_SCOPE_CORE ? instance + 1 : EVERY_CORE;

	return key_of(core, reg->space, pmu_register_address(box, reg, instance));
}

static int by_key(const void *a, const void *b)
{
	const struct bus_register_ref *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

static size_t count_refs(const struct pmu_pmu *pmu)
{
	size_t count = 0;

	for (size_t i = 0; i < pmu->box_count; i++)
		count += pmu->boxes[i].instance_count * pmu->boxes[i].register_count;
	return count;
}

int bus_map_init(struct bus_map *map, const struct pmu_pmu *pmu)
{
	struct bus_register_ref *ref;

	map->count = count_refs(pmu);
	map->refs = calloc(map->count ? map->count : 1, sizeof(*map->refs));
	if (!map->refs)
		return PMU_E_NOMEM;
	ref = map->refs;
	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++)
		for (unsigned i = 0; i < box->instance_count; i++)
			for (size_t r = 0; r < box->register_count; r++)
				*ref++ = (struct bus_register_ref){
				    .key = key_of_register(box, &box->registers[r], i),
				    .box = box,
				    .reg = &box->registers[r],
				    .instance = i,
				};
	qsort(map->refs, map->count, sizeof(*map->refs), by_key);
	return 0;
}

void bus_map_fini(struct bus_map *map)
{
	free(map->refs);
	map->refs = NULL;
	map->count = 0;
}

/* The last place at or below @key. */
static const struct bus_register_ref *place_below(const struct bus_map *map, uint64_t key)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->refs[middle].key <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &map->refs[low - 1] : NULL;
}

static const struct bus_register_ref *find(const struct bus_map *map, unsigned core,
					   enum pmu_space space, uint32_t address, unsigned width)
{
	uint64_t key = key_of(core, space, address);
	const struct bus_register_ref *ref = place_below(map, key);

	if (!ref)
		return NULL;
	if (ref->key == key && ref->reg->width == width)
		return ref;
	if (space == PMU_SPACE_PCI && width == 32 && ref->reg->width == 64 &&
	    (ref->key == key || ref->key + 4 == key))
		return ref;
	return NULL;
}

const struct bus_register_ref *bus_map_find_in_core(const struct bus_map *map, unsigned core,
						    enum pmu_space space, uint32_t address,
						    unsigned width)
{
	const struct bus_register_ref *ref = find(map, EVERY_CORE, space, address, width);

	return ref ? ref : find(map, core + 1, space, address, width);
}

const struct bus_register_ref *bus_map_find(const struct bus_map *map, enum pmu_space space,
					    uint32_t address, unsigned width)
{
	return bus_map_find_in_core(map, 0, space, address, width);
}
