/*
 * A mount namespace of the process's own, in which the files of an emulated machine lie over those
 * of the computer. Outside nothing changes, and with the last process inside all is gone.
 */
#ifndef DEVICE_NAMESPACE_H
#define DEVICE_NAMESPACE_H

#include "pmulab/pmulab.h"

/**
 * Takes the calling thread into a namespace of its own and mounts a FUSE file system in it, which
 * is not seen anywhere yet. Threads started later are in it too.
 * @param fuse  receives the open /dev/fuse to serve it by; the caller's
 * @return 0, or PMU_E_RIGHTS, PMU_E_IO with what is missing and what grants it
 */
int namespace_enter(struct pmu_ctx *ctx, int *fuse);

/** Lays the files over the computer's; they are being served. @return 0 or PMU_E_IO */
int namespace_show(struct pmu_ctx *ctx);

/** An open descriptor of the calling thread's mount namespace, or a negative error. */
int namespace_open(struct pmu_ctx *ctx);
/** Takes the calling thread into @fd's, if it is not there; the working folder stays. */
int namespace_join(struct pmu_ctx *ctx, int fd);

#endif
