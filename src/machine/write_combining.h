/* Write-combining buffers, which gather non-temporal stores. Under the lock. */
#ifndef MACHINE_WRITE_COMBINING_H
#define MACHINE_WRITE_COMBINING_H

#include "machine/state.h"

struct wc_write {
	uint32_t line;
	uint64_t bytes; /* bit a byte of the line */
};

/** @return the tick at which what had to leave the buffers for it is written; @now if nothing */
uint64_t wc_gather(struct machine *machine, unsigned number, struct wc_write write, uint64_t now);
/** Empties the core's buffers, oldest first. @return the tick at which all is written */
uint64_t wc_drain(struct machine *machine, unsigned number, uint64_t now);

#endif
