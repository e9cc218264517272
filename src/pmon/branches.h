/*
 * Branch records of a core (325384, last branch records): a ring of registers with where the last
 * branches were that were taken, and where they went.
 *
 * Branches arrive with the accumulators, those since the last access to the core at once: see
 * core.h. So records are exact at any access, and what an overflow ends goes on until it is
 * noticed.
 */
#ifndef PMON_BRANCHES_H
#define PMON_BRANCHES_H

#include "pmon/state.h"

/** Finds the registers in the box of a core. @return whether they are whole, or none */
bool pmon_describe_branches(struct pmon_branches *branches, const struct pmu_box *box);

/** Whether the unit records branches now. */
bool pmon_branches_on(const struct pmon *pmon, const struct pmon_unit *unit);

/** Records a branch. @return false: the unit leaves it out */
bool pmon_branches_take(const struct pmon *pmon, struct pmon_unit *unit,
			const struct signal *signal);

/** A PMI is sent. @return whether that ends the records: pmon_core_settle() does the rest */
bool pmon_branches_interrupt(const struct pmon *pmon, struct pmon_unit *unit);

#endif
