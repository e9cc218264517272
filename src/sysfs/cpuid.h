/* What the CPUID instruction says on a CPU, and /dev/cpu/N/cpuid as the kernel's driver has it. */
#ifndef SYSFS_CPUID_H
#define SYSFS_CPUID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "catalog/description.h"

#define CPUID_NAME_BYTES 48 /* as much as it holds */

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/** The processor's name, as CPUID and /proc/cpuinfo have it. */
void cpuid_processor_name(const struct pmu_machine *machine, char name[CPUID_NAME_BYTES]);
/** What CPUID returns for @leaf (EAX) and @subleaf (ECX). */
struct cpuid cpuid_of(const struct pmu_machine *machine, unsigned cpu, uint32_t leaf,
		      uint32_t subleaf);

/**
 * Reads whole answers of 16 bytes: the position's lower half is the leaf, the upper the subleaf;
 * several are those of consecutive leaves.
 * @return bytes, or -EINVAL for a part of an answer
 */
ssize_t cpuid_read(const struct pmu_machine *machine, unsigned cpu, void *buffer, size_t size,
		   off_t offset);

#endif
