/*
 * What looks at a program while it runs: a core model, counters. With an observer, code is made
 * with a call before each instruction, or a few of them; without one, nothing of this costs
 * anything.
 */
#ifndef FEED_IA64_OBSERVER_H
#define FEED_IA64_OBSERVER_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/decode.h"

/* When an instruction is told of. */
enum ia64_observing {
	IA64_OBSERVE_NOW,  /* right ahead of it, and those before it in the same record too */
	IA64_OBSERVE_JUMP, /* the same, of one that only goes elsewhere: resume() is up to insn() */
	IA64_OBSERVE_LATER, /* with those that join it, once they are done */
	IA64_OBSERVE_NOTED, /* the same; its predicate and address are noted for that */
	IA64_OBSERVE_APART, /* it does not join; of join() */
};

struct ia64_observer {
	void *state;
	size_t record_size; /* bytes that decode() keeps of an instruction, a multiple of 8 */
	/** An instruction is decoded for a thread: makes its record. NULL: there is none to make,
	 * and all are told of at once. */
	enum ia64_observing (*decode)(void *state, void *record, const struct ia64_insn *insn,
				      const struct ia64_bundle *bundle);
	/**
	 * Adds an instruction to the record of those right before it, of which nobody was told yet;
	 * at most IA64_NOTES in all. The record is longer by record_size then.
	 */
	enum ia64_observing (*join)(void *state, void *record, const struct ia64_insn *insn,
				    const struct ia64_bundle *bundle);
	/** What the calls of a thread get as `own`; NULL: they get `state`. NULL result: no memory.
	 */
	void *(*begin)(void *state, struct ia64_cpu *c);
	/**
	 * Those of a record have been done, but for the last one if that is told of at once: it is
	 * about to be done. on: its qualifying predicate. address: what it accesses, if it accesses
	 * memory. The registers are as they are before it. Calls come from the thread that runs c;
	 * an instruction that faults and is repeated comes again.
	 */
	ia64_observe *insn;
	/** What is told of later is about to be done. NULL: nothing to do. */
	void (*resume)(void *own);
	/**
	 * Ahead of insn() for a record: its instructions up to one have been begun. leaves: that
	 * one faulted, and insn() will not come. NULL: nothing joins.
	 */
	void (*until)(void *own, const struct ia64_cpu *c, void *record, uint64_t ip, bool leaves);
	/**
	 * The result of the floating-point instruction that insn() told of last was too small for a
	 * normal number of its format. flushed: it became 0; else it would have in flush-to-zero
	 * mode. NULL: nothing to do.
	 */
	void (*tiny)(void *own, bool flushed);
	/**
	 * What a performance data register (PMD) is to a program that reads it; insn() has told of
	 * the instruction. NULL: 0.
	 */
	uint64_t (*monitor)(void *own, uint32_t number);
	/**
	 * The result of the floating-point instruction that insn() told of last has the lowest or
	 * highest exponent of its format, or one beyond. traps: hardware would trap, for the
	 * program or to have software make a denormal. NULL: nothing to do.
	 */
	void (*unsafe)(void *own, bool traps);
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
