/*
 * Register files of IA-64 cores, for tools that run where `pmulab emulate` shows a machine of such
 * cores: /dev/cpu/N/pmc, pmd, ibr, dbr and csr. A register is 8 bytes, at the position of its
 * number; in csr, at its address in the window of the CPU's socket.
 */
#ifndef PMULAB_REGISTERS_H
#define PMULAB_REGISTERS_H

#include <stddef.h>
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
/** A program that was started goes on, and nobody hears of its overflows. NULL is allowed. */
void pmu_registers_close(struct pmu_registers *registers);

/**
 * Reads or writes a register.
 * @param space   PMU_SPACE_PMC, PMD, IBR or DBR; PMU_SPACE_MMIO for those outside of cores
 * @param number  of the register; its address in the socket's window
 * @return 0; PMU_E_RANGE for another space; PMU_E_UNKNOWN where no register answers; PMU_E_BUSY
 *         while a program runs on the machine and does not stand still; PMU_E_IO
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

enum pmu_registers_kind {
	PMU_REGISTERS_ENDED,	  /* the program has */
	PMU_REGISTERS_OVERFLOWED, /* counters have, with PMC.oi: PMC0.fr is 1 */
};

/* What is told of a program that was started. */
struct pmu_registers_message {
	size_t size; /* of this struct */
	enum pmu_registers_kind kind;
	int exit; /* of an end: as that of pmu_registers_run() */
	/* Of an overflow: */
	unsigned cpu;	     /* whose PMU; a thread of the program has one for itself */
	uint32_t thread;     /* of the computer, that executes there; 0: not known, as the core's
			      * other thread has made a counter of both overflow */
	uint64_t overflowed; /* bit n: PMD n has (323602-001 table 3-7) */
	uint64_t ip;	     /* of the instruction that comes next, with its slot; 0: not known */
	uint64_t time_ns;    /* of the core's clock since power on */
};

/**
 * Starts a program as pmu_registers_run() does, and watches it: at each overflow that interrupts it
 * stands still, in all of its threads, until pmu_registers_resume(). Until then registers of all
 * CPUs can be read and written. No time passes on the machine.
 * @return as pmu_registers_run(); what cannot be run is told by pmu_registers_wait()
 */
int pmu_registers_start(struct pmu_registers *registers, struct pmu_ctx *ctx, char *const *argv);

/**
 * A descriptor that becomes readable when there is a message, for poll().
 * @return PMU_E_STATE: no program was started, or its end was told. The descriptor stays the
 *         registers'
 */
int pmu_registers_descriptor(const struct pmu_registers *registers);

/**
 * Waits for the next message of the program that was started; signals do not end it.
 * @param message  its size set
 * @return 0; PMU_E_STATE: there is no program, or it stands still; PMU_E_RANGE for the size;
 *         PMU_E_UNKNOWN, PMU_E_UNSUPPORTED where it cannot be run; PMU_E_IO
 */
int pmu_registers_wait(struct pmu_registers *registers, struct pmu_ctx *ctx,
		       struct pmu_registers_message *message);

/**
 * Lets the program go on after an overflow. It counts again if PMC0 was written with 0.
 * @return 0; PMU_E_STATE: it does not stand still; PMU_E_IO
 */
int pmu_registers_resume(struct pmu_registers *registers, struct pmu_ctx *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
