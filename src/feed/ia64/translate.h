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

/** Whether what follows the instruction is only reached by other ways. */
bool ia64_ends(const struct ia64_insn *insn);

#endif
