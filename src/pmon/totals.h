/*
 * Totals: as long as each counter only adds up signals of which the machine keeps totals
 * (catalog/signal.h), the machine emits none of them. It reports the totals before an access.
 */
#ifndef PMON_TOTALS_H
#define PMON_TOTALS_H

#include "pmon/state.h"

/** After each change of a unit, or of all in a socket: whether totals are enough for it. */
void pmon_totals_update(struct pmon *pmon, struct pmon_unit *unit);
void pmon_totals_update_all(struct pmon *pmon, unsigned socket);

/** Adds to the port what takes reports. */
void pmon_totals_port(struct pmon *pmon, struct signal_port *port);

#endif
