/*
 * Accumulators: what each core has done since they were last reported. Nothing is emitted while
 * programs run. Whoever reads a core's counters has them reported first, so counts are exact
 * between any two reads.
 */
#ifndef MACHINE_ACCUMULATOR_H
#define MACHINE_ACCUMULATOR_H

#include "machine/state.h"

/* What a core has done so far. */
struct accumulator_sum {
	enum pmu_signal_id id;
	uint64_t amount;
	uint32_t qualifiers;
};

/** Emits what is more than was @reported, which holds as many. */
void accumulators_tell(const struct machine *machine, unsigned core,
		       const struct accumulator_sum *sums, uint64_t *reported, unsigned count);

/** The same of cycles with @least or more at once; @rise: as struct signal has it. */
void accumulators_tell_level(const struct machine *machine, unsigned core,
			     const struct accumulator_sum *sum, unsigned least, bool rise,
			     uint64_t *reported);

/**
 * Ticks in which a thread ran. The thread may be running now: the clock is read before the time
 * that it skipped, which is written first, so that the difference is never too large.
 */
uint64_t accumulators_ticks_run(const struct machine_progress *progress);

/** Of branches, micro-operations and stalls, emits what is new. */
void accumulators_tell_pipe(const struct machine *machine, unsigned core);

/** The same of what the front end delivered. */
void accumulators_tell_front(const struct machine *machine, unsigned core);

/** The same of requests that left the core, by what answered them. */
void accumulators_tell_responses(const struct machine *machine, unsigned core);

/** The same of cycles in which so many are at once. */
void accumulators_tell_cycles(const struct machine *machine, unsigned core);

/** Emits what is new of a core; under the machine's lock. */
void accumulators_report(const struct machine *machine, unsigned core);

/** The same, where blocks are told of, of what the hart's last one did; under the machine's lock.
 */
void accumulators_account(struct machine_hart *core);

#endif
