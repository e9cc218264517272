#include "sysfs/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX   1024
#define WORD_BITS  32
#define MASK_BYTES (CPUS_MAX / WORD_BITS * 9 + 2)
#define LINE_BYTES 64
#define LIST_BYTES 32

/* CPUs first to last. */
struct range {
	unsigned first, last;
};

unsigned topology_cpus(const struct pmu_machine *machine)
{
	return machine->sockets * machine->cores;
}

unsigned topology_socket_shift(const struct pmu_machine *machine)
{
	unsigned bits = 0;

	while (1u << bits < machine->cores)
		bits++;
	return bits + 1;
}

unsigned topology_apic_id(const struct pmu_machine *machine, unsigned cpu)
{
	unsigned socket = cpu / machine->cores, core = cpu % machine->cores;

	return socket << topology_socket_shift(machine) | core << 1;
}

static struct range all_cpus(const struct pmu_machine *machine)
{
	return (struct range){0, topology_cpus(machine) - 1};
}

static struct range socket_cpus(const struct pmu_machine *machine, unsigned socket)
{
	return (struct range){socket * machine->cores, (socket + 1) * machine->cores - 1};
}

static void print_list(char list[LIST_BYTES], struct range range)
{
	if (range.first == range.last)
		snprintf(list, LIST_BYTES, "%u\n", range.first);
	else
		snprintf(list, LIST_BYTES, "%u-%u\n", range.first, range.last);
}

/* Hexadecimal words of 32 CPUs, the highest first; its top word has only the digits it needs. */
static void print_mask(char mask[MASK_BYTES], const struct pmu_machine *machine, struct range range)
{
	unsigned cpus = topology_cpus(machine), words = (cpus + WORD_BITS - 1) / WORD_BITS;
	size_t used = 0;

	for (unsigned word = words; word-- > 0;) {
		unsigned here = word == words - 1 ? cpus - word * WORD_BITS : WORD_BITS;
		uint32_t bits = 0;

		for (unsigned bit = 0; bit < here; bit++)
			if (word * WORD_BITS + bit >= range.first &&
			    word * WORD_BITS + bit <= range.last)
				bits |= 1u << bit;
		used += (size_t)snprintf(mask + used, MASK_BYTES - used, "%0*x%s",
					 (int)(here + 3) / 4, bits, word ? "," : "\n");
	}
}

static void add_range(struct device_tree *tree, const struct pmu_machine *machine,
		      struct range range, const char *folder, const char *mask_name,
		      const char *list_name)
{
	char mask[MASK_BYTES], list[LIST_BYTES];

	print_mask(mask, machine, range);
	print_list(list, range);
	tree_text(tree, mask, "%s/%s", folder, mask_name);
	tree_text(tree, list, "%s/%s", folder, list_name);
}

void topology_add_socket(struct device_tree *tree, const struct pmu_machine *machine,
			 unsigned socket, const char *folder, const char *mask_name,
			 const char *list_name)
{
	add_range(tree, machine, socket_cpus(machine, socket), folder, mask_name, list_name);
}

static void add_topology(struct device_tree *tree, const struct pmu_machine *machine, unsigned cpu)
{
	const struct range own = {cpu, cpu}, package = socket_cpus(machine, cpu / machine->cores);
	char folder[LINE_BYTES];

	snprintf(folder, sizeof(folder), "sys/devices/system/cpu/cpu%u/topology", cpu);
	tree_number(tree, cpu / machine->cores, "%s/physical_package_id", folder);
	tree_number(tree, cpu % machine->cores, "%s/core_id", folder);
	tree_number(tree, 0, "%s/die_id", folder);
	add_range(tree, machine, own, folder, "thread_siblings", "thread_siblings_list");
	add_range(tree, machine, own, folder, "core_cpus", "core_cpus_list");
	add_range(tree, machine, package, folder, "core_siblings", "core_siblings_list");
	add_range(tree, machine, package, folder, "package_cpus", "package_cpus_list");
	add_range(tree, machine, package, folder, "die_cpus", "die_cpus_list");
}

struct cache_file {
	const struct pmu_cache *cache;
	const char *type;
	unsigned level, instances; /* instances: slices that are one cache to software */
};

static void add_cache(struct device_tree *tree, const struct pmu_machine *machine, unsigned cpu,
		      unsigned index, const struct cache_file *file)
{
	const struct pmu_cache *cache = file->cache;
	const bool shared = file->level == 3;
	const unsigned socket = cpu / machine->cores;
	const uint64_t sets = (uint64_t)cache->sets * file->instances;
	char folder[LINE_BYTES], text[LINE_BYTES];

	snprintf(folder, sizeof(folder), "sys/devices/system/cpu/cpu%u/cache/index%u", cpu, index);
	tree_number(tree, file->level, "%s/level", folder);
	snprintf(text, sizeof(text), "%s\n", file->type);
	tree_text(tree, text, "%s/type", folder);
	snprintf(text, sizeof(text), "%lluK\n",
		 (unsigned long long)(sets * cache->ways * 64 / 1024));
	tree_text(tree, text, "%s/size", folder);
	tree_number(tree, cache->ways, "%s/ways_of_associativity", folder);
	tree_number(tree, sets, "%s/number_of_sets", folder);
	tree_number(tree, 64, "%s/coherency_line_size", folder);
	tree_number(tree, 1, "%s/physical_line_partition", folder);
	tree_number(tree, shared ? socket : cpu, "%s/id", folder);
	add_range(tree, machine, shared ? socket_cpus(machine, socket) : (struct range){cpu, cpu},
		  folder, "shared_cpu_map", "shared_cpu_list");
}

static void add_caches(struct device_tree *tree, const struct pmu_machine *machine, unsigned cpu)
{
	const struct cache_file files[] = {
	    {&machine->l1d, "Data", 1, 1},
	    {&machine->l1i, "Instruction", 1, 1},
	    {&machine->l2, "Unified", 2, 1},
	    {&machine->llc, "Unified", 3, machine->slices},
	};

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_cache(tree, machine, cpu, i, &files[i]);
}

static void add_frequency(struct device_tree *tree, const struct pmu_machine *machine, unsigned cpu)
{
	static const char *const names[] = {"cpuinfo_max_freq", "cpuinfo_min_freq",
					    "cpuinfo_cur_freq", "scaling_max_freq",
					    "scaling_min_freq", "scaling_cur_freq"};

	/* The machine has one frequency; kHz. */
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		tree_number(tree, machine->core_mhz * 1000ull,
			    "sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, names[i]);
	tree_text(tree, "performance\n", "sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
		  cpu);
	tree_text(tree, "performance\n",
		  "sys/devices/system/cpu/cpu%u/cpufreq/scaling_available_governors", cpu);
	tree_text(tree, "acpi-cpufreq\n", "sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver",
		  cpu);
}

static void add_cpus(struct device_tree *tree, const struct pmu_machine *machine)
{
	static const char *const lists[] = {"online", "possible", "present"};
	char list[LIST_BYTES], node[LINE_BYTES];

	print_list(list, all_cpus(machine));
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		tree_text(tree, list, "sys/devices/system/cpu/%s", lists[i]);
	tree_text(tree, "\n", "sys/devices/system/cpu/offline");
	tree_text(tree, "\n", "sys/devices/system/cpu/isolated");
	tree_number(tree, topology_cpus(machine) - 1, "sys/devices/system/cpu/kernel_max");
	tree_number(tree, 0, "sys/devices/system/cpu/smt/active");
	tree_text(tree, "off\n", "sys/devices/system/cpu/smt/control");
	for (unsigned cpu = 0; cpu < topology_cpus(machine); cpu++) {
		unsigned socket = cpu / machine->cores;

		tree_number(tree, 1, "sys/devices/system/cpu/cpu%u/online", cpu);
		snprintf(node, sizeof(node), "../../node/node%u", socket);
		tree_link(tree, node, "sys/devices/system/cpu/cpu%u/node%u", cpu, socket);
		add_topology(tree, machine, cpu);
		add_caches(tree, machine, cpu);
		add_frequency(tree, machine, cpu);
	}
}

/* Nobody measures where the time goes, and nothing interrupts: all counts are 0. */
static void print_times(FILE *file, unsigned cpus)
{
	const char zeros[] = " 0 0 0 0 0 0 0 0 0 0\n";

	fprintf(file, "cpu %s", zeros);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		fprintf(file, "cpu%u%s", cpu, zeros);
	fputs("intr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n", file);
}

static void print_interrupts(FILE *file, unsigned cpus)
{
	fputs("    ", file);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		fprintf(file, " CPU%-8u", cpu);
	fputc('\n', file);
}

static void add_printed(struct device_tree *tree, const struct pmu_machine *machine,
			void (*print)(FILE *file, unsigned cpus), const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file) {
		tree->incomplete = true;
		return;
	}
	print(file, topology_cpus(machine));
	if (fclose(file))
		tree->incomplete = true;
	else
		tree_text(tree, text, "%s", path);
	free(text);
}

/* ACPI's distances: 10 to itself, 21 over one link. */
static void add_distance(struct device_tree *tree, const struct pmu_machine *machine, unsigned node)
{
	char text[LINE_BYTES];
	size_t used = 0;

	for (unsigned other = 0; other < machine->sockets; other++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u%s",
					 other == node ? 10u : 21u,
					 other + 1 == machine->sockets ? "\n" : " ");
	tree_text(tree, text, "sys/devices/system/node/node%u/distance", node);
}

static void add_memory(struct device_tree *tree, const struct pmu_machine *machine, unsigned node)
{
	const unsigned long long kilobytes = machine->memory_bytes / 1024;
	char text[3 * LINE_BYTES];

	snprintf(text, sizeof(text),
		 "Node %u MemTotal:       %llu kB\nNode %u MemFree:        %llu kB\n"
		 "Node %u MemUsed:        0 kB\n",
		 node, kilobytes, node, kilobytes, node);
	tree_text(tree, text, "sys/devices/system/node/node%u/meminfo", node);
}

static void add_nodes(struct device_tree *tree, const struct pmu_machine *machine)
{
	static const char *const lists[] = {"online", "possible", "has_cpu", "has_memory",
					    "has_normal_memory"};
	char text[LINE_BYTES], list[LIST_BYTES];

	print_list(list, (struct range){0, machine->sockets - 1});
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		tree_text(tree, list, "sys/devices/system/node/%s", lists[i]);
	for (unsigned node = 0; node < machine->sockets; node++) {
		const struct range cpus = socket_cpus(machine, node);

		snprintf(text, sizeof(text), "sys/devices/system/node/node%u", node);
		add_range(tree, machine, cpus, text, "cpumap", "cpulist");
		for (unsigned cpu = cpus.first; cpu <= cpus.last; cpu++) {
			snprintf(text, sizeof(text), "../../cpu/cpu%u", cpu);
			tree_link(tree, text, "sys/devices/system/node/node%u/cpu%u", node, cpu);
		}
		add_distance(tree, machine, node);
		add_memory(tree, machine, node);
	}
}

void topology_add_files(struct device_tree *tree, const struct pmu_machine *machine)
{
	add_cpus(tree, machine);
	add_nodes(tree, machine);
	add_printed(tree, machine, print_times, "proc/stat");
	add_printed(tree, machine, print_interrupts, "proc/interrupts");
}
