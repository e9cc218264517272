/* What a core model needs to know of an instruction. */
#ifndef FEED_IA64_CORE_OP_H
#define FEED_IA64_CORE_OP_H

#include "feed/ia64/decode.h"
#include "machine/epic/epic.h"

/** Describes the instruction of the bundle: its ports, operands, kind. */
void ia64_core_op(struct epic_op *op, const struct ia64_insn *n, const struct ia64_bundle *bundle);

#endif
