/* A PMU of the kernel as sysfs describes it: /sys/bus/event_source/devices/NAME. */
#ifndef BUS_PERF_DEVICE_H
#define BUS_PERF_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmulab/pmulab.h"

struct perf_event_attr;

#define PERF_DEVICE_CPUS    64 /* an uncore PMU has one CPU a package */
#define PERF_DEVICE_FORMATS 48
#define PERF_NAME_MAX	    32

/* Where the bits of a field go, lowest first, in ranges of one of the config words. */
struct perf_format {
	char name[PERF_NAME_MAX];
	uint8_t word; /* 0: config, 1: config1, 2: config2 */
	uint8_t range_count;
	struct {
		uint8_t lo, hi;
	} ranges[8];
};

struct perf_device {
	char name[PERF_NAME_MAX];
	uint32_t type;
	int cpus[PERF_DEVICE_CPUS]; /* that count for others too, rising */
	unsigned cpu_count;
	struct perf_format formats[PERF_DEVICE_FORMATS];
	unsigned format_count;
};

/**
 * Reads the device's description under @root ("" for this computer).
 * @return 0, PMU_E_UNKNOWN where the kernel has no such device, PMU_E_SYNTAX, PMU_E_IO
 */
int perf_device_open(struct perf_device *device, struct pmu_ctx *ctx, const char *root,
		     const char *name);

/** Parses "config1:0-7,21". @return 0 or PMU_E_SYNTAX */
int perf_format_parse(struct perf_format *format, struct pmu_ctx *ctx, const char *text);

/**
 * Puts a value into the config words of @attr.
 * @return 0; PMU_E_UNSUPPORTED where the kernel's PMU has no such field and @value is not 0;
 *         PMU_E_RANGE where the value does not fit
 */
int perf_device_put(const struct perf_device *device, struct pmu_ctx *ctx,
		    struct perf_event_attr *attr, const char *format, uint64_t value);

#endif
