/*
 * An emulated machine whose cores issue bundles in order, and its PMU. Processes that are forked
 * share it: one of them executes a program, the others read and write registers before and after.
 */
#ifndef EMUL_EPIC_H
#define EMUL_EPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "pmulab/emul.h"

struct emul_epic;
struct epic_core;
struct pmon_violation;
struct pmu_ctx;
struct pmu_machine;

/**
 * @param desc  names the core (machines/uarch/) and its PMU in the catalog; must outlive it
 * @return 0, PMU_E_UNKNOWN for a core or PMU that is not known, PMU_E_NOMEM, PMU_E_UNSUPPORTED
 */
int emul_epic_new(struct emul_epic **epic, struct pmu_ctx *ctx, const struct pmu_machine *desc);
/** NULL is allowed. */
void emul_epic_free(struct emul_epic *epic);

const struct pmu_machine *emul_epic_desc(const struct emul_epic *epic);

/** A thread begins. @return its hardware thread, the emulation's, and its number; NULL: all are
 * taken */
struct epic_core *emul_epic_take_core(struct emul_epic *epic, unsigned *number);

/** A core's thread turned the user's monitors on or off (PSR.up). */
void emul_epic_monitors(struct emul_epic *epic, unsigned number, bool on);
/** A core's thread reads a PMD of the machine's own PMU: pmon_ia64_read_by_program(). */
uint64_t emul_epic_read_monitor(struct emul_epic *epic, unsigned number, uint32_t reg);
/** A thread runs that no core executes. */
void emul_epic_other_thread(struct emul_epic *epic);

/**
 * A program has ended, in this process or in another: what it issued is accounted for, and this
 * process answers for the machine from here on.
 */
void emul_epic_settle(struct emul_epic *epic);

/**
 * Adds a PMU: registers like those that the machine has, which count the same. All PMUs count
 * independently of each other; only the machine's own, PMU 0, interrupts. Not while a program runs.
 * @return its number, from 1; PMU_E_UNSUPPORTED: there are too many; PMU_E_NOMEM
 */
int emul_epic_add_pmu(struct emul_epic *epic, struct pmu_ctx *ctx);

/**
 * A register of a hardware thread's PMU: its file (enum pmu_space) and number. Not while a program
 * runs.
 * @param core  thread of the socket: machine_cpus()
 * @return 0; PMU_E_UNKNOWN; PMU_E_CONFLICT: now the PMUs of the core match different instructions,
 *         and those of one match for all
 */
int emul_epic_read(struct emul_epic *epic, unsigned pmu, unsigned socket, unsigned core,
		   unsigned space, uint32_t reg, uint64_t *value);
int emul_epic_write(struct emul_epic *epic, unsigned pmu, unsigned socket, unsigned core,
		    unsigned space, uint32_t reg, uint64_t value);

/** The same of a register outside of cores, by its address in the socket's window. */
int emul_epic_read_uncore(struct emul_epic *epic, unsigned pmu, unsigned socket, uint32_t address,
			  uint64_t *value);
int emul_epic_write_uncore(struct emul_epic *epic, unsigned pmu, unsigned socket, uint32_t address,
			   uint64_t value);

/** Reports what accesses to the machine's own PMU do against the manual, from now on. */
void emul_epic_strict(struct emul_epic *epic,
		      void (*report)(void *arg, const struct pmon_violation *violation), void *arg);
/** No register is accessed for a while: a program runs, or all has ended. */
void emul_epic_strict_pause(struct emul_epic *epic);

/* An overflow interrupts a core, between two instructions of its program. */
struct emul_interrupt {
	unsigned socket, core; /* of the socket */
	uint64_t ip;	       /* of the instruction that comes next, with its slot; 0: not known */
	uint64_t time_ns;      /* of the core's clock since power on */
	uint64_t overflowed;   /* bit n: PMD n has */
	uint32_t thread;       /* of the computer, which executes the core's program; 0: not known,
				* as the core's other thread has made the counter overflow */
};

/**
 * Calls @handle at interrupts from now on, in the process and thread that execute the program: what
 * it writes elsewhere than to shared memory is lost with that process. No time passes in it. It may
 * read and write registers.
 * @param handle  NULL: nobody
 */
void emul_epic_on_interrupt(struct emul_epic *epic,
			    void (*handle)(void *arg, const struct emul_interrupt *interrupt),
			    void *arg);

/** A core's interrupts of overflows so far. @return 0 or PMU_E_RANGE: there is no such core */
int emul_epic_interrupts(struct emul_epic *epic, unsigned socket, unsigned core, uint64_t *count);
/** Time of the core's clock since power on, of the core that ran longest. */
double emul_epic_time_ns(const struct emul_epic *epic);
/** What happened since power on; all but size. */
void emul_epic_statistics(const struct emul_epic *epic, struct pmu_emul_statistics *statistics);

#endif
