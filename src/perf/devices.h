/* The kernel's PMUs that a machine would have: names, types, formats. */
#ifndef PERF_DEVICES_H
#define PERF_DEVICES_H

#include <linux/perf_event.h>

#include "catalog/description.h"
#include "catalog/entries.h"

#define PERF_TEXT_BYTES 512

/* An instance of a box, or with the core's box all of them. */
struct perf_device_of {
	const struct pmu_box *box;
	unsigned instance; /* 0 for cores */
	uint32_t type;	   /* as in perf_event_attr */
	char name[32];
};

/** Calls @found for each, until it returns true. */
void perf_devices(const struct pmu_machine *machine,
		  bool (*found)(void *arg, const struct perf_device_of *device), void *arg);

/**
 * A field of the config words as a file in sysfs has it ("config:0-7,21").
 * @param name  receives the kernel's name
 * @return its length; 0 where the kernel has no such field; @index ends at box->modifier_count
 */
int perf_format(const struct pmu_box *box, const struct pmu_modifier *modifier, char name[32],
		char text[32]);

/**
 * An event in perf's notation: "uncore_imc_0/config=0x304/".
 * @param device  receives whose it is
 * @return 0; -ENOENT where the machine has no such PMU or event; -EINVAL for bits of no field
 */
int perf_attr_text(const struct pmu_machine *machine, const struct perf_event_attr *attr,
		   struct perf_device_of *device, char text[PERF_TEXT_BYTES]);

#endif
