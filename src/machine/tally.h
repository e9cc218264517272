/*
 * Tallies: what each core has done since it was told last. Nothing is announced while programs run;
 * who looks at counters has it told first, so that counts are exact between any two looks.
 */
#ifndef MACHINE_TALLY_H
#define MACHINE_TALLY_H

#include "machine/state.h"

/** Announces what is new of every core; under the machine's lock. */
void tally_tell(struct machine *machine);

#endif
