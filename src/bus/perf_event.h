/* The kernel's perf_event_open(2), and what its refusals mean. */
#ifndef BUS_PERF_EVENT_H
#define BUS_PERF_EVENT_H

#include <stdint.h>
#include <sys/types.h>

#include "pmulab/pmulab.h"

struct perf_event_attr; /* of <linux/perf_event.h> or libpfm4, which exclude each other */

struct perf_reading {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

#define PERF_READ_FORMAT (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/**
 * Opens a counter. @attr->read_format has to be PERF_READ_FORMAT.
 * @return descriptor; PMU_E_UNSUPPORTED where nothing counts it, PMU_E_RIGHTS with the command that
 *         grants it, PMU_E_IO
 */
int perf_open(struct pmu_ctx *ctx, struct perf_event_attr *attr, pid_t pid, int cpu,
	      const char *event);
/** @return 0; PMU_E_CONFLICT for a pinned counter that found no place; PMU_E_IO */
int perf_read(struct pmu_ctx *ctx, int fd, const char *event, struct perf_reading *reading);

#endif
