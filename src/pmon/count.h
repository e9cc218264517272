/*
 * Counting: what happens in a cycle is summed up, compared with the threshold, inverted, searched
 * for edges and added to the counter (334291-001 §1.4). Only changes cost anything: between two
 * changes every cycle is the same.
 */
#ifndef PMON_COUNT_H
#define PMON_COUNT_H

#include "pmon/state.h"

/** Adds @rate in each of @cycles cycles from @from on, as far as no freeze forbids it. */
void pmon_add(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t rate,
	      uint64_t cycles, uint64_t from);

/** Makes all cycles before @until final. */
void pmon_settle(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t until);

/** A pulse or span for a counter that depends on time. */
void pmon_receive(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		  const struct signal *signal);

/** A number of a level signal changes by @change at @time. */
void pmon_receive_level(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t time,
			int32_t level_change, int32_t open_change);

/** Starts anew at cycle @now with the signals that are @held then, and nothing to come. */
void pmon_restart(const struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now,
		  struct pmon_change held);

/** How the last cycle compares, so that no edge is seen where only the control changed. */
void pmon_compare(struct pmon_counter *counter);

#endif
