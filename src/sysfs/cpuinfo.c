#include <stdio.h>
#include <stdlib.h>

#include "catalog/entries.h"
#include "sysfs/cpuid.h"
#include "sysfs/topology.h"

static void print_cpu(FILE *file, const struct pmu_machine *machine, unsigned cpu)
{
	const struct pmu_cache *llc = &machine->llc;
	const struct pmu_cpu *processor = &pmu_find_pmu(machine->pmu)->cpus[0];
	const uint32_t bits = cpuid_of(machine, cpu, 0x80000008, 0).eax;
	char name[CPUID_NAME_BYTES];

	cpuid_processor_name(machine, name);
	fprintf(file, "processor\t: %u\n", cpu);
	fprintf(file, "vendor_id\t: GenuineIntel\n");
	fprintf(file, "cpu family\t: %u\n", processor->family);
	fprintf(file, "model\t\t: %u\n", processor->model);
	fprintf(file, "model name\t: %s\n", name);
	fprintf(file, "stepping\t: %u\n", machine->stepping);
	fprintf(file, "cpu MHz\t\t: %u.000\n", machine->core_mhz);
	fprintf(file, "cache size\t: %u KB\n", machine->slices * llc->sets * llc->ways * 64 / 1024);
	fprintf(file, "physical id\t: %u\n", cpu / machine->cores);
	fprintf(file, "siblings\t: %u\n", machine->cores);
	fprintf(file, "core id\t\t: %u\n", cpu % machine->cores);
	fprintf(file, "cpu cores\t: %u\n", machine->cores);
	fprintf(file, "apicid\t\t: %u\n", topology_apic_id(machine, cpu));
	fprintf(file, "initial apicid\t: %u\n", topology_apic_id(machine, cpu));
	fprintf(file, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\n",
		cpuid_of(machine, cpu, 0, 0).eax);
	fprintf(file, "flags\t\t: %s\n", machine->flags);
	fprintf(file, "bugs\t\t:\nbogomips\t: %u.00\n", 2 * machine->core_mhz);
	fprintf(file, "clflush size\t: 64\ncache_alignment\t: 64\n");
	fprintf(file, "address sizes\t: %u bits physical, %u bits virtual\npower management:\n\n",
		bits & 0xFF, bits >> 8 & 0xFF);
}

void cpuinfo_add_files(struct device_tree *tree, const struct pmu_machine *machine)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		tree->incomplete = true;
		return;
	}
	for (unsigned cpu = 0; cpu < topology_cpus(machine); cpu++)
		print_cpu(file, machine, cpu);
	if (fclose(file))
		tree->incomplete = true;
	else
		tree_text(tree, text, "proc/cpuinfo");
	free(text);
}
