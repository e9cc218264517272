/* A block of straight-line code: what is decided when it is translated, for every time it runs. */
#ifndef FEED_BLOCK_H
#define FEED_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "feed/decode.h"
#include "machine/access.h"

/* Constants of an instruction that accesses memory. */
struct feed_access {
	struct machine_insn registers;
	uint16_t size; /* bytes of the operand; 0 where each report says */
};

/* As a word, which a callback can be given instead of a place in memory that it would have to read.
 */
static inline uint64_t feed_access_pack(struct feed_access access)
{
	return (uint64_t)access.size << 48 | (uint64_t)access.registers.decides << 40 |
	       (uint64_t)access.registers.place << 32 |
	       (uint32_t)access.registers.loads_registers << 16 |
	       access.registers.address_registers;
}

/* All that most hits need. */
static inline uint32_t feed_access_size(uint64_t word)
{
	return (uint32_t)(word >> 48);
}

static inline uint32_t feed_access_registers(uint64_t word)
{
	return (uint16_t)(word | word >> 16);
}

static inline struct feed_access feed_access_unpack(uint64_t word)
{
	return (struct feed_access){
	    .registers = {(uint16_t)word, (uint16_t)(word >> 16), (uint8_t)(word >> 32),
			  word >> 40 & 1},
	    .size = (uint16_t)feed_access_size(word),
	};
}

struct feed_block {
	struct machine_block whole;
	struct feed_access accesses[];
};

/* A repeated string instruction, which ends its block. */
struct feed_repeat {
	struct machine_block first;	 /* with whatever stands before the instruction */
	const struct machine_plan *plan; /* of the first; NULL: the machine has no plans */
	uint64_t address;
	/*
	 * One more iteration: its accesses and the time they take, but no instruction. For fast
	 * strings, of MACHINE_STRING_BYTES.
	 */
	struct machine_block iteration;
	struct feed_access access;
	bool fast;
};

/** Bytes of a block with the accesses of @insns. */
size_t feed_block_size(const struct feed_insn *insns, size_t count);
/** The most that @count instructions can take. */
#define FEED_BLOCK_SIZE_MAX(count)                                                                 \
	(sizeof(struct feed_block) + (count) * sizeof(struct feed_access))

/** Fills in @block for @insns (at least one), which stand one after the other from @address. */
void feed_block_init(struct feed_block *block, const struct machine *machine, uint64_t address,
		     const struct feed_insn *insns, size_t count);

/**
 * Makes the plan of a block, where machine_plans().
 * @param plan  room for MACHINE_PLAN_BYTES_MAX
 * @return its bytes; 0: there is none for so many instructions
 */
size_t feed_block_plan(struct machine_plan *plan, const struct machine *machine,
		       const struct feed_block *block, const struct feed_insn *insns, size_t count);

/** Whether the block ends with a repeated string instruction. */
bool feed_block_repeats(const struct feed_insn *insns, size_t count);

/**
 * Fills in @repeat for the last of the @insns that @block was made from.
 * @param plan  of the block, which must outlive it; NULL
 */
void feed_repeat_init(struct feed_repeat *repeat, const struct machine *machine,
		      const struct feed_block *block, const struct machine_plan *plan,
		      const struct feed_insn *insns, size_t count);

#endif
