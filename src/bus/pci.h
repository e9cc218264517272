/*
 * PCI configuration space through libpci. Each package has a bus of its own for its uncore, whose
 * number is found as 334291-001 §1.6.1 says.
 */
#ifndef BUS_PCI_H
#define BUS_PCI_H

#include "bus/host.h"

struct config_space;

/**
 * Looks for the functions of @pmu, and finds none where there is no PCI. @host must outlive it.
 * @return 0, PMU_E_RIGHTS, PMU_E_IO, PMU_E_NOMEM
 */
int config_space_new(struct config_space **space, struct pmu_ctx *ctx, const struct pmu_host *host,
		     const struct pmu_pmu *pmu);
void config_space_free(struct config_space *space);

struct config_bus config_space_bus(const struct config_space *space, unsigned socket);
/** Directory of a function, as text for people. @return false: there is no such function */
bool config_space_path(const struct config_space *space, unsigned socket, uint32_t address,
		       char path[HOST_PATH_MAX]);

/**
 * Accesses @width bits, 32 or 64; @address as PMU_SPACE_PCI. 64 bits are two accesses of 32, from
 * the low one up; a counter that goes on between them is read until both belong together.
 * @return 0; PMU_E_UNKNOWN: there is no such function, or it is hidden; PMU_E_RIGHTS; PMU_E_IO
 */
int config_space_read(struct config_space *space, struct pmu_ctx *ctx, unsigned socket,
		      uint32_t address, unsigned width, uint64_t *value);
int config_space_write(struct config_space *space, struct pmu_ctx *ctx, unsigned socket,
		       uint32_t address, unsigned width, uint64_t value);

#endif
