#include "sysfs/cpuid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "sysfs/topology.h"

#define ANSWER_BYTES sizeof(struct cpuid)
#define EXTENDED     0x80000000
#define BRAND_FIRST  0x80000002
#define BRAND_LAST   0x80000004

void cpuid_processor_name(const struct pmu_machine *machine, char name[CPUID_NAME_BYTES])
{
	snprintf(name, CPUID_NAME_BYTES, "%s @ %u.%02uGHz", machine->brand,
		 machine->core_mhz / 1000, machine->core_mhz % 1000 / 10);
}

/* What the machine's description says; zeros where it says nothing (325384, CPUID). */
static struct cpuid described(const struct pmu_machine *machine, uint32_t leaf, uint32_t subleaf)
{
	for (size_t i = 0; i < machine->cpuid_count; i++) {
		const struct pmu_cpuid *answer = &machine->cpuid[i];

		if (answer->leaf == leaf && answer->subleaf == subleaf)
			return (struct cpuid){answer->eax, answer->ebx, answer->ecx, answer->edx};
	}
	return (struct cpuid){0};
}

/* Family, model and stepping, the extended ones apart. */
static uint32_t signature(const struct pmu_machine *machine)
{
	const struct pmu_cpu *cpu = &pmu_find_pmu(machine->pmu)->cpus[0];

	return (cpu->model >> 4 & 0xF) << 16 | (cpu->family & 0xF) << 8 | (cpu->model & 0xF) << 4 |
	       machine->stepping;
}

/* APIC ids that a socket has room for: two a core, of which one is used. */
static uint32_t socket_ids(const struct pmu_machine *machine)
{
	return 1u << topology_socket_shift(machine);
}

static struct cpuid identity(const struct pmu_machine *machine, unsigned cpu)
{
	return (struct cpuid){
	    signature(machine),
	    topology_apic_id(machine, cpu) << 24 | socket_ids(machine) << 16 | 64 / 8 << 8,
	    described(machine, 1, 0).ecx,
	    described(machine, 1, 0).edx,
	};
}

static struct cpuid cache_leaf(const struct pmu_machine *machine, uint32_t index)
{
	enum { DATA = 1, CODE = 2, UNIFIED = 3, SELF_INITIALISING = 1 << 8 };
	const struct {
		const struct pmu_cache *cache;
		uint32_t type, level, ids, instances, properties;
	} caches[] = {
	    {&machine->l1d, DATA, 1, 2, 1, 0},
	    {&machine->l1i, CODE, 1, 2, 1, 0},
	    {&machine->l2, UNIFIED, 2, 2, 1, 0},
	    {&machine->llc, UNIFIED, 3, socket_ids(machine), machine->slices, 0x6},
	};
	const uint32_t core_ids = socket_ids(machine) / 2;

	if (index >= sizeof(caches) / sizeof(caches[0]))
		return (struct cpuid){0};
	return (struct cpuid){
	    (core_ids - 1) << 26 | (caches[index].ids - 1) << 14 | SELF_INITIALISING |
		caches[index].level << 5 | caches[index].type,
	    (caches[index].cache->ways - 1) << 22 | (64 - 1),
	    caches[index].cache->sets * caches[index].instances - 1,
	    caches[index].properties,
	};
}

/* Architectural performance monitoring: what the catalog says that a core has. */
static struct cpuid counters_leaf(const struct pmu_machine *machine)
{
	const struct cpuid events_and_version = described(machine, 0xA, 0);
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);

	for (size_t b = 0; b < pmu->box_count; b++) {
		const struct pmu_box *box = &pmu->boxes[b];

		if (box->scope == PMU_SCOPE_CORE && box->counter_count)
			return (struct cpuid){
			    events_and_version.eax | (uint32_t)box->counter_width << 16 |
				(uint32_t)box->counter_count << 8,
			    events_and_version.ebx,
			    0,
			    (uint32_t)box->counter_width << 5 | box->fixed_count,
			};
	}
	return (struct cpuid){0};
}

static struct cpuid topology_leaf(const struct pmu_machine *machine, unsigned cpu, uint32_t level)
{
	enum { THREADS = 1 << 8, CORES = 2 << 8 };
	const uint32_t id = topology_apic_id(machine, cpu);

	switch (level) {
	case 0:
		return (struct cpuid){1, 1, THREADS, id};
	case 1:
		return (struct cpuid){topology_socket_shift(machine), machine->cores, CORES | 1,
				      id};
	default:
		return (struct cpuid){0, 0, level & 0xFF, id};
	}
}

static struct cpuid brand(const struct pmu_machine *machine, uint32_t leaf)
{
	char name[CPUID_NAME_BYTES] = "";
	struct cpuid answer;

	cpuid_processor_name(machine, name);
	memcpy(&answer, name + (leaf - BRAND_FIRST) * ANSWER_BYTES, ANSWER_BYTES);
	return answer;
}

struct cpuid cpuid_of(const struct pmu_machine *machine, unsigned cpu, uint32_t leaf,
		      uint32_t subleaf)
{
	static const uint32_t with_subleaves[] = {0x4, 0x7, 0xB, 0xD};
	const uint32_t basic_last = described(machine, 0, 0).eax;
	const uint32_t extended_last = described(machine, EXTENDED, 0).eax;
	bool wanted = false;

	if ((leaf > basic_last && leaf < EXTENDED) || leaf > extended_last)
		leaf = basic_last;
	for (size_t i = 0; i < sizeof(with_subleaves) / sizeof(with_subleaves[0]); i++)
		wanted |= leaf == with_subleaves[i];
	subleaf = wanted ? subleaf : 0;
	switch (leaf) {
	case 0x1:
		return identity(machine, cpu);
	case 0x4:
		return cache_leaf(machine, subleaf);
	case 0xA:
		return counters_leaf(machine);
	case 0xB:
		return topology_leaf(machine, cpu, subleaf);
	}
	if (leaf >= BRAND_FIRST && leaf <= BRAND_LAST)
		return brand(machine, leaf);
	return described(machine, leaf, subleaf);
}

ssize_t cpuid_read(const struct pmu_machine *machine, unsigned cpu, void *buffer, size_t size,
		   off_t offset)
{
	if (size % ANSWER_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < size / ANSWER_BYTES; i++) {
		struct cpuid answer = cpuid_of(machine, cpu, (uint32_t)offset + (uint32_t)i,
					       (uint32_t)((uint64_t)offset >> 32));

		memcpy((char *)buffer + i * ANSWER_BYTES, &answer, ANSWER_BYTES);
	}
	return (ssize_t)size;
}
