/*
 * Register files of IA-64 cores, for tools that run where `pmulab emulate` shows a machine of such
 * cores: /dev/cpu/N/pmc, pmd, ibr, dbr and csr. A register is 8 bytes, at the position of its
 * number; in csr, at its address in the window of the CPU's socket.
 */
#ifndef PMULAB_REGISTERS_H
#define PMULAB_REGISTERS_H

#include <stdint.h>

#include "pmulab/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_registers;

/**
 * Opens the files of a CPU; CPUs are numbered over all sockets.
 * @return 0; PMU_E_UNKNOWN: there is no such CPU, or the files are those of no machine with IA-64
 *         cores; PMU_E_RIGHTS, PMU_E_NOMEM. *registers is the caller's
 */
int pmu_registers_open(struct pmu_registers **registers, struct pmu_ctx *ctx, unsigned cpu);
/** NULL is allowed. */
void pmu_registers_close(struct pmu_registers *registers);

/**
 * Reads or writes a register.
 * @param space   PMU_SPACE_PMC, PMD, IBR or DBR; PMU_SPACE_MMIO for those outside of cores
 * @param number  of the register; its address in the socket's window
 * @return 0; PMU_E_RANGE for another space; PMU_E_UNKNOWN where no register answers; PMU_E_BUSY
 *         while a program runs on the machine; PMU_E_IO
 */
int pmu_registers_read(struct pmu_registers *registers, struct pmu_ctx *ctx, enum pmu_space space,
		       uint32_t number, uint64_t *value);
int pmu_registers_write(struct pmu_registers *registers, struct pmu_ctx *ctx, enum pmu_space space,
			uint32_t number, uint64_t value);

/**
 * Runs an IA-64 Linux program on the machine whose files these are, to its end. It has the caller's
 * standard input and output, working folder and environment.
 * @param argv  NULL last; argv[0] is searched in PATH
 * @param exit  receives its exit code, 128 and more for a signal; may be NULL
 * @return 0 where it ran; PMU_E_UNKNOWN, PMU_E_UNSUPPORTED where it cannot be run; PMU_E_BUSY while
 *         another one does; PMU_E_RANGE: arguments and environment are too long; PMU_E_IO
 */
int pmu_registers_run(struct pmu_registers *registers, struct pmu_ctx *ctx, char *const *argv,
		      int *exit);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
