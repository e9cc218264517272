/*
 * The counters of a core: architectural performance monitoring version 3 (325384). Every core has
 * its registers at the same addresses. Accumulators give what happened since the last access to a
 * register of the core, but not when. So counts are exact at any access, and an overflow is noticed
 * at the first access to the core after it.
 */
#ifndef PMON_CORE_H
#define PMON_CORE_H

#include "pmon/access.h"
#include "pmon/box.h"

struct pmon;
struct pmon_unit;
struct signal;

/** @return false for a box that is not as it has to be */
bool pmon_describe_core(struct pmon_core *core, struct pmon_box *desc);

/** So much of @signal has happened at the core since the last time. */
void pmon_core_receive(struct pmon *pmon, struct pmon_unit *unit, unsigned slot,
		       const struct signal *signal);

/** Ends what arrived before an access: the freeze that follows a PMI. */
void pmon_core_settle(struct pmon *pmon, struct pmon_unit *unit);

/** Follows a change of controls or enables. @return a bit for each slot with other subscribers */
uint64_t pmon_core_configure(const struct pmon *pmon, struct pmon_unit *unit);

/** Whether a counter without control adds up the signal. */
bool pmon_core_always_subscribes(const struct pmon_core *core, unsigned signal);

/** Whether a register shows the time. */
bool pmon_core_is_clock(const struct pmon_core *core, unsigned reg);

/** What a register reads as; @value is what is stored. */
uint64_t pmon_core_value(const struct pmon *pmon, unsigned reg, uint64_t value,
			 const struct pmon_time *now);

/** @return 0, PMU_E_RIGHTS or PMU_E_RANGE where a processor would fault: nothing is written */
int pmon_core_check(const struct pmon_box *box, unsigned reg, uint64_t value);
void pmon_core_write(const struct pmon *pmon, struct pmon_unit *unit, unsigned reg, uint64_t value,
		     const struct pmon_time *now);

#endif
