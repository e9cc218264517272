/*
 * Taken branches, the last ones of each kind: where they were, where they went, and whether that
 * was foreseen. They are kept while somebody subscribes to core.branch_record, and emitted with
 * a core's accumulators. Who wants some kinds alone gets as many of those.
 *
 * Branches to the system are left out: where they go is not known.
 */
#ifndef MACHINE_BRANCHES_H
#define MACHINE_BRANCHES_H

#include "machine/state.h"

/**
 * A block is executed: what ended the one before it is noted.
 * @param address, last  virtual, of its first instruction and of its last
 */
void branches_note(struct machine_hart *core, uint64_t address, uint64_t last);

/**
 * Emits what was noted since the last time, the youngest last. Of more than are kept the oldest of
 * its kind that is emitted stands for all before it, with its duration; under the machine's lock.
 */
void branches_report(const struct machine *machine, unsigned core);

#endif
