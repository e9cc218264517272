/*
 * What becomes of micro-operations, by their ports and cycle by cycle, and which instructions
 * compute with floating point. It is counted block by block, and only where somebody subscribes to
 * it: the L0 filter of a hart that is watched knows no line of code, so that each block takes the
 * way on which it is counted. Nothing else differs there, and no time.
 *
 * Cycle by cycle: the n-th of a block's slots is issued n / issue_width cycles after the block
 * begins; where the core waits for decoders, they are spread evenly over that time too.
 * Micro-operations executed, all of them, instructions and loads are spread evenly over these
 * slots, and a branch is in its block's last one. A cycle has those whose time is in it.
 */
#ifndef MACHINE_PIPE_H
#define MACHINE_PIPE_H

#include "machine/hart.h"

#include "catalog/signal_ids.h"

struct machine_plan;

/** @return what tells the cycles of a kind */
enum pmu_signal_id pipe_signal(unsigned kind);

#define PIPE_FLOAT_SETS (MACHINE_PIPE_KINDS - PIPE_FLOATS)

/** Which of enum machine_float, as bits, are counted together, and the qualifier that says so. */
struct pipe_float_set {
	uint32_t kinds, qualifier;
};
extern const struct pipe_float_set pipe_float_sets[PIPE_FLOAT_SETS];

/** Finds out whether the hart is to be watched from here on; each time it starts or looks up. */
void pipe_look(struct machine_hart *core);

/** The block is executed. @param late  ticks that have passed as its code was decoded too slowly */
void pipe_count(struct machine_hart *core, const struct machine_plan *plan, uint64_t late);

/** What came before a system call has ended with it: the branch to the system, and a cycle. */
void pipe_end_call(struct machine_hart *core);

#endif
