/*
 * Taps: what only adds up signals is left to who emits them (catalog/signal.h), as long as no
 * freeze and no overflow can fall between. A counter of occupancy gets the whole of a span at once
 * then, and what of it lies ahead is taken off where the counter is read.
 *
 * A register write closes the taps of the counters that it changes. The first signal that one of
 * them receives afterwards opens them.
 */
#ifndef PMON_TAPS_H
#define PMON_TAPS_H

#include "pmon/state.h"

/** Power on: all are closed. */
void pmon_taps_init(struct pmon *pmon);

/** Leaves to the emitter what can be left of the signal in @slot, if the taps are closed. */
void pmon_taps_open(struct pmon *pmon, struct pmon_unit *unit, unsigned slot);

/** Has the signals in @slots (bit n: slot n) handed over: other counters subscribe to them. */
void pmon_taps_close(struct pmon *pmon, struct pmon_unit *unit, uint64_t slots);

/**
 * Closes those of @counters (bit n: counter n), and makes these what they are at the last register
 * access, whose time they are final up to: for who writes registers.
 */
void pmon_taps_end(struct pmon *pmon, struct pmon_unit *unit, unsigned counters);
/** The same of all counters of a socket. */
void pmon_taps_end_all(struct pmon *pmon, unsigned socket);

/** What of a counter's value lies ahead of the cycle up to which it is final. */
uint64_t pmon_ahead(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index);

/** Whether a counter adds up how long spans last, and nothing that takes their times. */
static inline bool pmon_is_sum(const struct pmon_counter *counter)
{
	return counter->subscription.measure == PMU_MEASURE_OCCUPANCY && !counter->thresh &&
	       !counter->subscription.level && !counter->subscription.default_qualifier;
}

/** From now on such a counter gets the whole of a span at once. */
void pmon_begin_sum(struct pmon *pmon, struct pmon_unit *unit, unsigned index);

/** A span that is not over, of what a summed counter has got. */
void pmon_note_span(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		    const struct signal *signal);

/** A span that a summed counter adds up. */
void pmon_add_span(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		   const struct signal *signal);

/** The emitter's call where a sum reaches its brink. */
void pmon_look(void *subscriber, const struct signal *signal);

#endif
