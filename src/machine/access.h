/*
 * What a feed passes to a core: executed blocks of instructions, and the memory that they touched.
 * Inline as far as an L1 hit; everything else is out of line. Only the thread that holds a core
 * uses it (machine_hart_enter). Addresses are virtual; sizes are bytes, at most 64.
 */
#ifndef MACHINE_ACCESS_H
#define MACHINE_ACCESS_H

#include "machine/hart.h"
#include "machine/machine.h"

/* Constants of a block of straight-line code, computed once at translation. */
struct machine_block {
	uint64_t address; /* virtual, of its first byte */
	uint32_t bytes;
	uint32_t instructions;
	uint32_t ticks;	   /* core time it takes when nothing misses L1 */
	uint32_t branches; /* of the instructions */
};

/** Fills in @block; @loads and @stores are its memory instructions. It has no branches yet. */
void machine_block_init(const struct machine *machine, struct machine_block *block,
			uint64_t address, uint32_t bytes, uint32_t instructions, uint32_t loads,
			uint32_t stores);

/** The block is executed: fetches its lines, advances the clock. */
static inline void machine_run(struct machine_hart *core, const struct machine_block *block);

static inline void machine_load(struct machine_hart *core, uint64_t address, uint32_t size,
				const struct machine_insn *insn);
static inline void machine_store(struct machine_hart *core, uint64_t address, uint32_t size,
				 const struct machine_insn *insn);
/*
 * The same in parts, for who has the constants of the instruction packed and would not unpack them
 * for a hit.
 */
/** @return whether it hits L1, and is done but for what it waits for; else nothing is done yet */
static inline bool machine_load_hits(struct machine_hart *core, uint64_t address, uint32_t size);
static inline bool machine_store_hits(struct machine_hart *core, uint64_t address, uint32_t size);
/**
 * A load that hits.
 * @param registers  of its struct machine_insn, of both kinds
 * @return whether machine_load_late() is to be told of it
 */
static inline bool machine_load_waits(const struct machine_hart *core, uint64_t address,
				      uint32_t registers);
static inline void machine_load_late(struct machine_hart *core, uint64_t address,
				     const struct machine_insn *insn);
/** A locked read-modify-write, reported once. */
static inline void machine_locked(struct machine_hart *core, uint64_t address, uint32_t size,
				  const struct machine_insn *insn);
/** A non-temporal store. */
void machine_store_nt(struct machine_hart *core, uint64_t address, uint32_t size);

/**
 * Says which instruction runs, for who asks what causes signals (catalog/signal.h).
 * @param place  its number; bytes of code that follow have those that follow
 */
static inline void machine_at(struct machine_hart *core, uint64_t place);
/** @param context  the number of the thread that runs, and of whatever is to be told apart */
static inline void machine_in(struct machine_hart *core, uint32_t context);
/**
 * The same of a block, where what the core itself does is asked for too: what it has done since the
 * last block began is that block's.
 */
void machine_at_block(struct machine_hart *core, uint64_t place);
/** What the block has done up to now is counted as its: before the context changes. */
void machine_end_block(struct machine_hart *core);

/** Clock of the core, ticks. */
static inline uint64_t machine_hart_time(const struct machine_hart *core);
/** Whether it has taken a line from another core in its turn. */
static inline bool machine_hart_has_met(const struct machine_hart *core);
/** Instructions so far; feeds may take back some of a block that was left early. */
static inline uint64_t *machine_hart_instructions(struct machine_hart *core);

#include "machine/access_inline.h"

#endif
