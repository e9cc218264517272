/* IA-64 Linux programs, executed instruction by instruction on this computer. */
#ifndef PMULAB_IA64_H
#define PMULAB_IA64_H

#include <stddef.h>

#include "pmulab/bus.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * An emulated core that issues bundles in order, and its PMU, for one program to run on: its first
 * thread; others run beside it.
 */
struct pmu_ia64_core;

/** @return 0, PMU_E_NOMEM, PMU_E_UNSUPPORTED; *core is the caller's */
int pmu_ia64_core_new(struct pmu_ia64_core **core, struct pmu_ctx *ctx);
/** Its buses are freed before; NULL is allowed. */
void pmu_ia64_core_free(struct pmu_ia64_core *core);
/**
 * A bus to the PMU of @core, which must outlive it.
 * @return 0, PMU_E_NOMEM; *bus is the caller's
 */
int pmu_ia64_core_bus(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_ia64_core *core);
/** Threads that ran beside the core, and were not measured. */
unsigned pmu_ia64_core_other_threads(const struct pmu_ia64_core *core);

struct pmu_ia64_options {
	size_t size; /* of this struct, set by the caller */
	/* A file that receives, when the program ends, how often each instruction was executed:
	 * total, predicate true, predicate false, not predicated. NULL: none. */
	const char *counts;
	/* What the program runs on, for this one program; not with counts. NULL: no emulated core.
	 * It must live until the process ends. */
	struct pmu_ia64_core *core;
	/* Called when the program has ended, before the process does. NULL: nobody is. */
	void (*ended)(void *arg);
	void *arg;
};

/**
 * The calling process becomes a static IA-64 Linux program, as by execve(): it ends when the
 * program does, with the program's exit code; the program's system calls are made by it, and its
 * signals are the program's. Its other threads, if any, go on until then.
 * @param argv, envp  as the program receives them, NULL last
 * @param options     NULL: all 0
 * @return only where the program does not begin: PMU_E_UNKNOWN where the file is not there;
 *         PMU_E_UNSUPPORTED for one that is no IA-64 program, or needs a dynamic linker;
 *         PMU_E_CONFLICT for counts with a core; PMU_E_IO, PMU_E_NOMEM, PMU_E_RANGE
 */
int pmu_ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
		  const struct pmu_ia64_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
