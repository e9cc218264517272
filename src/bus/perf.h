/* How the back end of perf_event reaches the kernel: for tests, which have no uncore. */
#ifndef BUS_PERF_H
#define BUS_PERF_H

#include "bus/perf_event.h"
#include "pmulab/bus.h"

struct perf_kernel {
	/* As perf_open() and perf_read(). */
	int (*open)(void *arg, struct pmu_ctx *ctx, struct perf_event_attr *attr, int cpu,
		    const char *event);
	int (*read)(void *arg, struct pmu_ctx *ctx, int fd, const char *event,
		    struct perf_reading *reading);
	int (*enable)(void *arg, struct pmu_ctx *ctx, int fd, bool on);
	void (*close)(void *arg, int fd);
	void *arg;
};

/** As pmu_bus_perf(), with the computer under @root ("" for this one) and another kernel. */
int bus_perf_new(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		 const char *root, const struct perf_kernel *kernel);

#endif
