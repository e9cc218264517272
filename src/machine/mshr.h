/*
 * What a core waits for: the MSHR holds its outstanding misses, bounded by reorder window and fill
 * buffers, and the scoreboard the registers that they determine.
 */
#ifndef MACHINE_MSHR_H
#define MACHINE_MSHR_H

#include "machine/state.h"

/**
 * Lets the clock pass until a miss can be issued.
 * @param registers  bit: general register that forms its address
 * @return the tick of issue: later than the clock where the address is scoreboard
 */
uint64_t mshr_issue(struct machine_hart *core, uint32_t registers);

/** A load of virtual line @line is outstanding until @end; @registers depend on it. */
void mshr_add_load(struct machine_hart *core, uint64_t line, uint32_t registers, uint64_t end);
/** A miss that no instruction waits for. */
void mshr_add_store(struct machine_hart *core, uint64_t end);

/** Lets the clock pass until @end. */
void mshr_wait(struct machine_hart *core, uint64_t end);
/** Lets the clock pass as far as the full reorder window demands. */
void mshr_retire(struct machine_hart *core);
/** Lets the clock pass until nothing is outstanding. */
void mshr_drain(struct machine_hart *core);

/** The instruction number at which mshr_retire() is due. */
uint64_t mshr_attention(const struct machine_hart *core);

#endif
