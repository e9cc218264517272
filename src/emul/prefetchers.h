/*
 * The register that switches a core's prefetchers. The machine knows which of them are on: the
 * register reads as they are, however that came to be.
 */
#ifndef EMUL_PREFETCHERS_H
#define EMUL_PREFETCHERS_H

#include "machine/machine.h"
#include "pmulab/catalog.h"

/**
 * For a register of role PMU_ROLE_PREFETCH_CTL.
 * @param core  over all sockets
 * @return what it reads
 */
uint64_t prefetchers_read(const struct machine *machine, unsigned core,
			  const struct pmu_register *reg);
/** @param value  that the register takes */
void prefetchers_write(struct machine *machine, unsigned core, const struct pmu_register *reg,
		       uint64_t value);

#endif
