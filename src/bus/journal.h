/*
 * What a measurement found in the registers of a computer, as the writes that restore it: for a
 * later run, should nothing be left of the measurement that could. As text:
 *
 *     pmulab-journal 1 xeon-e5v4
 *     boot 0b6d6a2c-9c51-4a0c-9a5c-3f1d3b0f2a11
 *     owner 1234 5678901
 *     device 6:1a
 *     root /
 *     write 0 0 msr 0x700 32 0x80000000 0 U_MSR_PMON_GLOBAL_CTL
 *     end 1
 *
 * Owner: process and its start time (proc(5)). Device: of the first CPU's MSR file, as hexadecimal
 * device and inode; an emulated machine's differ from the computer's. Writes: as
 * bus/register_trace.h has them, in the order in which they are made.
 */
#ifndef BUS_JOURNAL_H
#define BUS_JOURNAL_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "bus/host.h"
#include "pmulab/bus.h"

#define JOURNAL_BOOT_MAX 40

struct journal {
	const struct pmu_pmu *pmu;
	char boot[JOURNAL_BOOT_MAX];
	pid_t owner;
	unsigned long long owner_start;
	dev_t device;
	ino_t inode;
	char root[PATH_MAX]; /* "/": the computer itself */
	bool failed;	     /* its owner tried to restore, and could not */
	struct pmu_access_op *writes;
	size_t count;
};

/**
 * Fills in all but the writes, for the computer behind a bus and this process.
 * @return 0, PMU_E_IO, PMU_E_UNSUPPORTED for a root whose name a line cannot hold
 */
int journal_describe(struct journal *journal, struct pmu_ctx *ctx, const struct pmu_host *host,
		     const struct pmu_pmu *pmu);
/** The running system's name for the time since it was started. @return 0 or PMU_E_IO */
int journal_boot(struct pmu_ctx *ctx, char boot[JOURNAL_BOOT_MAX]);
/** Whether both are of the same registers. */
bool journal_same_registers(const struct journal *a, const struct journal *b);

/** @return 0 or PMU_E_IO */
int journal_put(FILE *file, const struct journal *journal);

/**
 * Takes a text that anybody may have written: every write has to be one that the catalog names and
 * lets be written. Register names are the catalog's then. journal_fini() releases the writes.
 * @param text  ends with a 0; is changed
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_NOMEM
 */
int journal_get(struct journal *journal, struct pmu_ctx *ctx, char *text);
void journal_fini(struct journal *journal);

#endif
