/*
 * Accumulators: what each core has done since they were last reported. Nothing is emitted while
 * programs run. Whoever reads a core's counters has them reported first, so counts are exact
 * between any two reads.
 */
#ifndef MACHINE_ACCUMULATOR_H
#define MACHINE_ACCUMULATOR_H

#include "machine/state.h"

/** Emits what is new of a core; under the machine's lock. */
void accumulators_report(const struct machine *machine, unsigned core);

/** The same, where blocks are told of, of what the hart's last one did; under the machine's lock.
 */
void accumulators_account(struct machine_hart *core);

#endif
