/*
 * What a core waits for: the MSHR holds its outstanding misses, bounded by reorder window and fill
 * buffers, and the scoreboard the registers that they determine.
 */
#ifndef MACHINE_WINDOW_H
#define MACHINE_WINDOW_H

#include "machine/state.h"

/**
 * Lets the clock pass until a miss can be issued.
 * @param registers  bit: general register that forms its address
 * @return the tick of issue: later than the clock where the address is awaited
 */
uint64_t window_issue(struct machine_core *core, uint32_t registers);

/** A load of virtual line @line is outstanding until @end; @registers depend on it. */
void window_add_load(struct machine_core *core, uint64_t line, uint32_t registers, uint64_t end);
/** A miss that no instruction waits for. */
void window_add_store(struct machine_core *core, uint64_t end);

/** Lets the clock pass until @end. */
void window_wait(struct machine_core *core, uint64_t end);
/** Lets the clock pass as far as the full reorder window demands. */
void window_retire(struct machine_core *core);
/** Lets the clock pass until nothing is outstanding. */
void window_drain(struct machine_core *core);

/** The instruction number at which window_retire() is due. */
uint64_t window_attention(const struct machine_core *core);

#endif
