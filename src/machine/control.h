/*
 * What programs do to caches on purpose: prefetch instructions, clflush, and rep movs and rep stos,
 * which own a line that they write as a whole without reading it.
 */
#ifndef MACHINE_CONTROL_H
#define MACHINE_CONTROL_H

#include "machine/access.h"

enum machine_hint {
	MACHINE_HINT_L1,    /* prefetcht0; prefetchnta, of which L2 gets the line too */
	MACHINE_HINT_L2,    /* prefetcht1, prefetcht2 */
	MACHINE_HINT_WRITE, /* prefetchw */
};

/** A prefetch instruction. Nothing happens to a page that was never touched: it would fault. */
void machine_prefetch(struct machine_hart *core, uint64_t address, enum machine_hint hint,
		      const struct machine_insn *insn);

/** clflush, clflushopt. */
void machine_flush(struct machine_hart *core, uint64_t address);

/** The first store of rep movs or rep stos to a piece: counts as one of the whole piece. */
void machine_store_string(struct machine_hart *core, uint64_t address,
			  const struct machine_insn *insn);
/** Their store to the last byte of a line. */
void machine_string_line(struct machine_hart *core, uint64_t address);
/** The instruction is over: a line of which it wrote a part has been stored to. */
void machine_end_string(struct machine_hart *core);

#endif
