/* What the registers of a unit hold, and what follows from them. */
#ifndef PMON_REGISTERS_H
#define PMON_REGISTERS_H

#include "pmon/state.h"

/** What the whole register reads as. */
uint64_t pmon_register_value(const struct pmon *pmon, const struct pmon_unit *unit, unsigned reg);

/** Puts all registers of a unit to their reset values. */
void pmon_reset_unit(const struct pmon *pmon, struct pmon_unit *unit);

/** Follows a change of all controls, filters or enables of a unit: who subscribes to what. */
void pmon_configure(struct pmon *pmon, struct pmon_unit *unit, uint64_t now);
/** The same of the control of counter @index. */
void pmon_configure_counter(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
			    uint64_t now);

/** Which of its signals the counters of a unit subscribe to; bit n of @slots: the n-th changed.
 */
void pmon_enable(struct pmon *pmon, struct pmon_unit *unit, uint64_t slots);

#endif
