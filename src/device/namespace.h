/*
 * A mount namespace of the process's own, in which the files of an emulated machine are mounted
 * over the computer's. Other processes see no change. With the last process of the namespace all is
 * gone.
 */
#ifndef DEVICE_NAMESPACE_H
#define DEVICE_NAMESPACE_H

#include "pmulab/pmulab.h"

/** Opens /dev/fuse. @return the descriptor, or PMU_E_RIGHTS, PMU_E_IO with what grants it */
int namespace_open_fuse(struct pmu_ctx *ctx);

/**
 * Takes the calling thread into a namespace of its own and mounts a FUSE file system in it, which
 * is not seen anywhere yet. Threads and processes started later are in it too.
 * @param fuse  serves it, and stays the caller's
 * @return 0, or PMU_E_RIGHTS with what is missing and what grants it
 */
int namespace_enter(struct pmu_ctx *ctx, int fuse);

/**
 * Lays the files over the computer's. The caller walks them: another process serves them, and the
 * caller has closed its /dev/fuse, so that an end of that process ends the walk.
 * @return 0 or PMU_E_IO
 */
int namespace_show(struct pmu_ctx *ctx);

/** The same for a machine of which only registers are shown. */
int namespace_show_registers(struct pmu_ctx *ctx);

/** An open descriptor of the calling thread's mount namespace, or a negative error. */
int namespace_open(struct pmu_ctx *ctx);
/** Takes the calling thread into @fd's, if it is not there; the working folder stays. */
int namespace_join(struct pmu_ctx *ctx, int fd);

/**
 * Kills every process in @fd's namespace but those that run this same program: these see that the
 * machine has ended, and end what they started.
 */
void namespace_kill(int fd);

#endif
