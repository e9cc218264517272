/*
 * What looks at a program while it runs: a core model, counters. With an observer, code is made
 * with a call before each instruction; without one, nothing of this costs anything.
 */
#ifndef FEED_IA64_OBSERVER_H
#define FEED_IA64_OBSERVER_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/decode.h"

struct ia64_observer {
	void *state;
	/**
	 * An instruction is about to be done. on: its qualifying predicate. address: what it
	 * accesses, if it accesses memory. The registers are as they are before it. Calls come from
	 * the thread that runs c; an instruction that faults and is repeated comes again.
	 */
	void (*insn)(void *state, const struct ia64_cpu *c, const struct ia64_insn *insn, bool on,
		     uint64_t address);
	/** The process is about to end by itself. NULL: nothing to do. */
	void (*end)(void *state);
};

#endif
