/* /dev/cpu/N/cpuid: what the CPUID instruction says on a CPU, as the kernel's driver has it. */
#ifndef DEVICE_CPUID_H
#define DEVICE_CPUID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "catalog/description.h"

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/** What CPUID returns for @leaf (EAX) and @subleaf (ECX). */
struct cpuid cpuid_of(const struct pmu_machine *machine, unsigned cpu, uint32_t leaf,
		      uint32_t subleaf);

/**
 * Reads whole answers of 16 bytes: the position's lower half is the leaf, the upper the subleaf;
 * several are those of consecutive leaves.
 * @return bytes, or -EINVAL for a part of an answer
 */
ssize_t device_cpuid_read(const struct pmu_machine *machine, unsigned cpu, void *buffer,
			  size_t size, off_t offset);

#endif
