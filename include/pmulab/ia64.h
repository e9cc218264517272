/*
 * IA-64 Linux programs, executed on this computer without an emulated machine. On a machine with
 * IA-64 cores (machine.h) they run as others do: program.h.
 */
#ifndef PMULAB_IA64_H
#define PMULAB_IA64_H

#include <stddef.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_ia64_options {
	size_t size; /* of this struct, set by the caller */
	/* A file that receives, when the program ends, how often each instruction was executed:
	 * total, predicate true, predicate false, not predicated. NULL: none. */
	const char *counts;
};

/**
 * The calling process becomes an IA-64 Linux program, as by execve(): it ends when the program
 * does, with the program's exit code; the program's system calls are made by it, and its signals
 * are the program's. Its other threads, if any, go on until then. Absolute paths of files that the
 * program opens or asks about, and that of its dynamic linker, are looked up in the folder
 * $PMULAB_IA64_ROOT first.
 * @param argv, envp  as the program receives them, NULL last
 * @param options     NULL: all 0
 * @return only where the program does not begin: PMU_E_UNKNOWN where the file is not there;
 *         PMU_E_UNSUPPORTED for one that is no IA-64 program, or whose dynamic linker is not there;
 *         PMU_E_IO, PMU_E_NOMEM, PMU_E_RANGE
 */
int pmu_ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
		  const struct pmu_ia64_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
