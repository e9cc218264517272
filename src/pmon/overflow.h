/* Overflow, the freeze that follows it, and counters of cycles, which overflow without a signal. */
#ifndef PMON_OVERFLOW_H
#define PMON_OVERFLOW_H

#include "pmon/state.h"

/**
 * Counter @index overflowed in @cycle: status bits, message to the UBox, global freeze, PMI
 * (334291-001 §2.1.1). The freeze holds from the next cycle on for every counter of the socket that
 * is not final beyond it yet. What signals have counted by the time the overflow is noticed
 * stays counted, as on hardware, where counting goes on until the freeze arrives: a counter of
 * occupancy or through a threshold notices PMON_WINDOW cycles late, or as late as the next
 * signal it receives; a counter of cycles at the next signal in the socket; any at the
 * next register access.
 */
void pmon_overflow(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t cycle);

/**
 * The first cycle of clock @to that does not begin before cycle @cycle of clock @from; PMON_NEVER
 * of a clock that there is not.
 */
uint64_t pmon_convert(const struct pmon *pmon, uint64_t cycle, unsigned from, unsigned to);

/** Computes anew when the next counter of cycles of @socket will overflow. */
void pmon_schedule(struct pmon *pmon, unsigned socket);

/** Handles overflows of counters of cycles up to @time of @clock. */
void pmon_due(struct pmon *pmon, unsigned socket, unsigned clock, uint64_t time);

/** Makes what the counters of @unit count final up to @now. */
void pmon_settle_unit(struct pmon *pmon, struct pmon_unit *unit, const struct pmon_time *now);

/** The same of everything in @socket, overflows included that freeze it. */
void pmon_settle_socket(struct pmon *pmon, unsigned socket, const struct pmon_time *now);

#endif
