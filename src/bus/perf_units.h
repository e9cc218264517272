/* The boxes of a PMU that the kernel has PMUs for, and a CPU of each socket. */
#ifndef BUS_PERF_UNITS_H
#define BUS_PERF_UNITS_H

#include <stddef.h>

#include "bus/perf_device.h"
#include "catalog/entries.h"

/* An instance of a box, the same in every socket. */
struct perf_unit {
	const struct pmu_box *box;
	unsigned instance;
	struct perf_device device;
};

struct perf_units {
	struct perf_unit *units;
	size_t count;
	unsigned sockets;
	int packages[PERF_DEVICE_CPUS]; /* physical id of each socket, rising */
	int cpu[PERF_DEVICE_CPUS];	/* that counts for the socket */
};

/**
 * Finds them under @root ("" for this computer).
 * @return 0; PMU_E_UNSUPPORTED where the kernel has none; PMU_E_IO, PMU_E_SYNTAX, PMU_E_NOMEM
 */
int perf_units_init(struct perf_units *units, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    const char *root);
void perf_units_fini(struct perf_units *units);

/** NULL where the kernel has no such instance. */
const struct perf_unit *perf_unit_find(const struct perf_units *units, const struct pmu_box *box,
				       unsigned instance);

#endif
