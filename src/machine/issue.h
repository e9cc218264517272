/* The issue of planned blocks (plan.h): how far a core's results are behind. */
#ifndef MACHINE_ISSUE_H
#define MACHINE_ISSUE_H

#include "machine/plan.h"
#include "machine/state.h"

/** For a hart that is zeroed. */
void issue_init(struct machine_hart *core);

/** As machine_attend(), after a block of so many @ticks. */
void machine_attend_block(struct machine_hart *core, uint64_t ticks);

#endif
