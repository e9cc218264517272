/* Sleep on the machine's clock. */
#ifndef MACHINE_SLEEP_H
#define MACHINE_SLEEP_H

#include "machine/hart.h"

/**
 * Waits until the machine has come to core->wakes_at, or has nothing else to do; the thread is
 * paused. The clock of a core is its threads': one that came back when its sleep is over on the
 * computer would take the others to the end of it, which have not come that far on the machine.
 */
void sleep_on(struct machine_hart *core);

#endif
