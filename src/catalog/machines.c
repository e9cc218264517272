#include <string.h>
#include <strings.h>

#include "catalog/tables.h"

const struct pmu_machine *pmu_machines(size_t *count)
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

static uint32_t first_instances(size_t count)
{
	return count >= 32 ? UINT32_MAX : (1u << count) - 1;
}

uint32_t pmu_machine_instances(const struct pmu_machine *machine, const struct pmu_box *box)
{
	for (size_t i = 0; i < machine->part_count; i++)
		if (!strcmp(machine->parts[i].box, box->name))
			return machine->parts[i].instances;
	return first_instances(box->scope == PMU_SCOPE_CORE ? machine->cores : box->instance_count);
}
