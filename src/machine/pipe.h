/*
 * What becomes of micro-operations, by their ports and cycle by cycle. It is counted block by
 * block, and only where somebody subscribes to it: the L0 filter of a hart that is watched knows no
 * line of code, so that each block takes the way on which it is counted. Nothing else differs
 * there, and no time.
 *
 * Cycle by cycle: the n-th of a block's slots is issued n / issue_width cycles after the block
 * begins. Micro-operations executed, all of them, and instructions are spread evenly over these
 * slots. A cycle has those whose time is in it.
 */
#ifndef MACHINE_PIPE_H
#define MACHINE_PIPE_H

#include "machine/hart.h"

struct machine_plan;

/** Finds out whether the hart is to be watched from here on; each time it starts or looks up. */
void pipe_look(struct machine_hart *core);

/** The block is executed. */
void pipe_count(struct machine_hart *core, const struct machine_plan *plan);

/** What came before a system call has ended with it: the branch to the system, and a cycle. */
void pipe_end_call(struct machine_hart *core);

#endif
