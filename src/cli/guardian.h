/*
 * Registers are restored whatever ends a measurement on a real computer. Three parties can do it,
 * each if the one before it cannot. All have the same list of writes, made before the first
 * register changes:
 *
 *  - the process itself, after the program has ended and before it prints anything;
 *  - the guardian, a process that waits for the first one to end. It also covers SIGKILL and a
 *    lack of memory, which no signal handler can, and does not depend on memory that may be
 *    corrupt. It uses the bus as the process does. The handler that remains (for SIGSEGV and its
 *    kind) releases the guardian, and waits until it has restored;
 *  - a later run, from the journal, after all have been killed: `pmulab restore`.
 */
#ifndef CLI_GUARDIAN_H
#define CLI_GUARDIAN_H

#include <signal.h>

#include "bus/journal_files.h"
#include "cli/cli.h"

struct guardian {
	pid_t pid; /* 0: there is none */
	struct journal_file journal;
	struct sigaction before[_NSIG];
	stack_t stack_before;
	void *stack;
};

/**
 * Writes the journal and starts the guardian. From here on faults of this process end it only when
 * the guardian has restored.
 * @param bus      through which to restore; of real registers
 * @param private  descriptors that are this process's only, in order that they are closed with it
 * @return 0, PMU_E_IO, PMU_E_NOMEM; without a journal it only warns
 */
int guardian_start(const struct cli *cli, struct guardian *guardian, struct pmu_bus *bus,
		   const struct pmu_access_op *writes, size_t count, const int *private,
		   size_t private_count);

/** Ends it. @param restored  whether all is as it was; else the journal is left to a later run */
void guardian_end(const struct cli *cli, struct guardian *guardian, bool restored);

/**
 * Looks for a journal of these registers that a killed measurement has left, and says so.
 * @return whether there is one
 */
bool guardian_finds_left(const struct cli *cli, struct pmu_bus *bus);

#endif
