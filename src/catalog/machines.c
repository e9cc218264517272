#include <string.h>
#include <strings.h>

#include "catalog/machine_keys.h"
#include "catalog/tables.h"

const struct pmu_machine *catalog_machines(size_t *count)
{
	*count = machine_table_count;
	return machine_table;
}

const struct pmu_machine *pmu_find_machine(const char *name)
{
	for (size_t i = 0; i < machine_table_count; i++)
		if (!strcasecmp(machine_table[i].name, name))
			return &machine_table[i];
	return NULL;
}

size_t pmu_machine_count(void)
{
	return machine_table_count;
}

const struct pmu_machine *pmu_machine_at(size_t index)
{
	return index < machine_table_count ? &machine_table[index] : NULL;
}

const char *pmu_machine_name(const struct pmu_machine *machine)
{
	return machine->name;
}

const char *pmu_machine_title(const struct pmu_machine *machine)
{
	return machine->title;
}

const char *pmu_machine_source(const struct pmu_machine *machine)
{
	return machine->source;
}

const char *pmu_machine_pmu_name(const struct pmu_machine *machine)
{
	return machine->pmu;
}

const char *pmu_machine_core(const struct pmu_machine *machine)
{
	return machine->core;
}

const char *pmu_machine_events(const struct pmu_machine *machine)
{
	return machine->events;
}

const char *pmu_machine_text(const struct pmu_machine *machine)
{
	return machine->text;
}

/* A cache's, by what stands behind the dot. */
static int cache_number(const struct pmu_cache *cache, const char *name, uint64_t *number)
{
	if (!strcmp(name, "sets"))
		*number = cache->sets;
	else if (!strcmp(name, "ways"))
		*number = cache->ways;
	else if (!strcmp(name, "latency"))
		*number = cache->latency;
	else
		return PMU_E_UNKNOWN;
	return 0;
}

int pmu_machine_number(const struct pmu_machine *machine, const char *key, uint64_t *number)
{
	size_t length = strcspn(key, ".");

	for (const struct machine_key *k = machine_keys; k < machine_keys + machine_key_count;
	     k++) {
		const void *member = (const char *)machine + k->offset;

		if (strlen(k->name) != length || strncmp(k->name, key, length) ||
		    !(k->of & machine_family_of(machine)))
			continue;
		if (k->kind == KEY_CACHE && key[length])
			return cache_number(member, key + length + 1, number);
		if (key[length] || (k->kind != KEY_NUMBER && k->kind != KEY_LONG))
			return PMU_E_UNKNOWN;
		*number =
		    k->kind == KEY_LONG ? *(const uint64_t *)member : *(const uint32_t *)member;
		return 0;
	}
	return PMU_E_UNKNOWN;
}

static uint32_t first_instances(size_t count)
{
	return count >= 32 ? UINT32_MAX : (1u << count) - 1;
}

uint32_t pmu_machine_instances(const struct pmu_machine *machine, const struct pmu_box *box)
{
	for (size_t i = 0; i < machine->part_count; i++)
		if (!strcmp(machine->parts[i].box, box->name))
			return machine->parts[i].instances;
	return first_instances(box->scope == PMU_SCOPE_CORE ? machine_cpus(machine)
							    : box->instance_count);
}
