/* A computer as a tree of files, to stand in for it: what pmu_host_options.root takes. */
#ifndef BUS_CAPTURE_H
#define BUS_CAPTURE_H

#include "pmulab/bus.h"

/**
 * Copies what the back end for real registers reads into @folder, which must not exist: the
 * description of the processors, and every register of the catalog that answers. Reads only.
 * @return 0, PMU_E_UNSUPPORTED for a bus that leads to no hardware, PMU_E_IO
 */
int bus_capture(struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder);

#endif
