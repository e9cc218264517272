/*
 * What looks at a program while it runs: a core model, counters. With an observer, code is made
 * with a call before each instruction, or a few of them; without one, nothing of this costs
 * anything.
 */
#ifndef FEED_IA64_OBSERVER_H
#define FEED_IA64_OBSERVER_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/decode.h"

struct ia64_observer {
	void *state;
	size_t record_size; /* bytes that decode() keeps of an instruction, a multiple of 8 */
	/** An instruction is decoded for a thread: makes its record. NULL: there is none to make.
	 */
	void (*decode)(void *state, void *record, const struct ia64_insn *insn,
		       const struct ia64_bundle *bundle);
	/**
	 * Adds an instruction to the record of those right before it, so that one call comes for
	 * all of them, ahead of the first. The record is longer by record_size then. NULL, or
	 * false: it gets a record of its own.
	 */
	bool (*join)(void *state, void *record, const struct ia64_insn *insn,
		     const struct ia64_bundle *bundle);
	/** What the calls of a thread get as `own`; NULL: they get `state`. NULL result: no memory.
	 */
	void *(*begin)(void *state, struct ia64_cpu *c);
	/**
	 * An instruction is about to be done. on: its qualifying predicate. address: what it
	 * accesses, if it accesses memory. The registers are as they are before it. Calls come from
	 * the thread that runs c; an instruction that faults and is repeated comes again.
	 */
	ia64_observe *insn;
	/**
	 * The result of the floating-point instruction that insn() told of last was too small for a
	 * normal number of its format. flushed: it became 0; else it would have in flush-to-zero
	 * mode. NULL: nothing to do.
	 */
	void (*tiny)(void *own, bool flushed);
	/**
	 * A thread is about to make a system call: number as in r15, arguments. NULL: nothing to
	 * do.
	 * @return whether it is done; then *result is its result
	 */
	bool (*syscall)(void *own, struct ia64_cpu *c, uint64_t number, const uint64_t *a,
			int64_t *result);
	/** A thread has ended. NULL: nothing to do. */
	void (*ended)(void *own);
	/** In the process that a fork made, which has the same state. NULL: nothing to do. */
	void (*forked)(void *state);
	/** The process is about to end by itself. NULL: nothing to do. */
	void (*end)(void *state);
};

#endif
