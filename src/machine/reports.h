/*
 * Reports of totals: what slices, home agents and channels have done on the quiet way, in the words
 * of the signals that they would have emitted.
 */
#ifndef MACHINE_REPORTS_H
#define MACHINE_REPORTS_H

#include "machine/state.h"

/** Reports what is new of a channel; under the machine's lock. */
void reports_channel(const struct machine *machine, unsigned socket, unsigned unit);

#endif
