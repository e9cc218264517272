/* MSRs through /dev/cpu/N/msr: a descriptor a CPU, opened when it is first needed and kept. */
#ifndef BUS_MSR_H
#define BUS_MSR_H

#include "bus/host.h"

struct msr;

/** @host must outlive it. @return 0 or PMU_E_NOMEM */
int msr_new(struct msr **msr, struct pmu_ctx *ctx, const struct pmu_host *host);
void msr_free(struct msr *msr);

/**
 * Accesses register @number of the CPU at index @cpu of the host.
 * @return 0; PMU_E_UNKNOWN: the processor has no such register; PMU_E_RIGHTS; PMU_E_IO
 */
int msr_read(struct msr *msr, struct pmu_ctx *ctx, size_t cpu, uint32_t number, uint64_t *value);
int msr_write(struct msr *msr, struct pmu_ctx *ctx, size_t cpu, uint32_t number, uint64_t value);

/**
 * Between these two, the thread runs where the registers are that it accesses, which saves the
 * kernel an interrupt to that CPU each time. It pays for the many accesses of a package.
 */
void msr_begin(struct msr *msr);
void msr_end(struct msr *msr);

#endif
