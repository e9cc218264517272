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
