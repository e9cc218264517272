/* Files of the kernel and of the user that are read whole: bounded, and never waited for. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#include "pmulab/pmulab.h"

/**
 * Reads a plain file: what blocks, a FIFO say, is refused.
 * @param limit  bytes that it may have
 * @param text   receives its contents with a 0 behind them; to be freed
 * @param length receives their length; may be NULL
 * @return 0; PMU_E_UNKNOWN: there is none; PMU_E_IO; PMU_E_NOMEM
 */
int file_read(struct pmu_ctx *ctx, const char *path, size_t limit, char **text, size_t *length);
/** The same for a descriptor that is open; @path is for messages. */
int file_read_open(struct pmu_ctx *ctx, int fd, const char *path, size_t limit, char **text,
		   size_t *length);

#endif
