/* From instructions to operations. */
#ifndef FEED_IA64_TRANSLATE_H
#define FEED_IA64_TRANSLATE_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/decode.h"

/** What the instructions before this one make known. */
struct ia64_context {
	unsigned sof; /* frame size */
	bool nats;    /* operations that look at NaT bits */
};

/**
 * Makes the operation of an instruction. Returns false for one that does nothing, where o is not
 * written.
 */
bool ia64_translate(struct ia64_op *o, const struct ia64_insn *insn, struct ia64_context *x);

/** The registers that an instruction writes. */
struct ia64_writes {
	uint8_t general[2], floating[2];
	uint8_t general_count, floating_count;
};
struct ia64_writes ia64_writes(const struct ia64_insn *insn);

/** How the address of an access must be aligned that is not speculative; 0 for what is none, or
 * must always be aligned. */
unsigned ia64_alignment(const struct ia64_insn *insn);

/** Whether what follows the instruction is only reached by other ways. */
bool ia64_ends(const struct ia64_insn *insn);

#endif
