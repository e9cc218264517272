/* What Linux says of the processors: /proc/cpuinfo, /sys/devices/system/cpu and node. */
#ifndef SYSFS_TOPOLOGY_H
#define SYSFS_TOPOLOGY_H

#include "catalog/description.h"
#include "sysfs/tree.h"

/** CPUs are numbered over all sockets; one thread a core. */
unsigned topology_cpus(const struct pmu_machine *machine);
/** Bits of an APIC id below the socket: those of the core, and one of the thread. */
unsigned topology_socket_shift(const struct pmu_machine *machine);
/** The APIC id of a CPU: socket, core and, always 0, thread from the top bit down. */
unsigned topology_apic_id(const struct pmu_machine *machine, unsigned cpu);
/** Adds two files that tell a socket's CPUs: "f" and "0-3". */
void topology_add_socket(struct device_tree *tree, const struct pmu_machine *machine,
			 unsigned socket, const char *folder, const char *mask_name,
			 const char *list_name);

/** Adds /sys/devices/system/cpu and node, /proc/stat and interrupts. */
void topology_add_files(struct device_tree *tree, const struct pmu_machine *machine);
/** Adds /proc/cpuinfo. */
void cpuinfo_add_files(struct device_tree *tree, const struct pmu_machine *machine);

#endif
