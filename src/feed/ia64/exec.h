/* A program in the place of the calling process. */
#ifndef FEED_IA64_EXEC_H
#define FEED_IA64_EXEC_H

#include "feed/ia64/observer.h"
#include "pmulab/pmulab.h"

/**
 * The calling process becomes a static IA-64 Linux program.
 * @param observer  sees what it does; NULL: nobody
 * @param begins    called once nothing can go wrong any more; NULL: nobody
 * @return only where it does not begin: PMU_E_UNKNOWN, PMU_E_UNSUPPORTED, PMU_E_NOMEM, PMU_E_IO,
 *         with its message
 */
int ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
	      const struct ia64_observer *observer, void (*begins)(void *arg), void *arg);

#endif
