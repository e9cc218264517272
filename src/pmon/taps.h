/*
 * Taps: what only adds up signals is left to who emits them (catalog/signal.h), as long as no
 * freeze and no overflow can fall between. A counter of occupancy gets the whole of a span at once
 * then, and what of it lies ahead is taken off where the counter is read.
 */
#ifndef PMON_TAPS_H
#define PMON_TAPS_H

#include "pmon/state.h"

/**
 * Makes the counters of a unit what they are at the last register access, whose time they are final
 * up to: for who writes registers.
 */
void pmon_taps_end(struct pmon *pmon, struct pmon_unit *unit);
/** Leaves to the emitter what can be left. */
void pmon_taps_begin(struct pmon *pmon, struct pmon_unit *unit);
/** The same of all units of a socket. */
void pmon_taps_end_all(struct pmon *pmon, unsigned socket);
void pmon_taps_begin_all(struct pmon *pmon, unsigned socket);

/** What of a counter's value lies ahead of the cycle up to which it is final. */
uint64_t pmon_ahead(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index);

/** What a summed counter knows of spans that are not over; notes one of them. */
void pmon_forget_spans(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index);
void pmon_note_span(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		    const struct signal *signal);

/** A span that a summed counter adds up. */
void pmon_add_span(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		   const struct signal *signal);

/** Where the overflow is near, the counter is told of each signal from here on. */
void pmon_approach(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t time);

/** The emitter's call where a sum reaches its brink. */
void pmon_look(void *subscriber, const struct signal *signal);

#endif
