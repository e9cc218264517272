/*
 * Strict mode: what the software that drives the registers does against the manual. Reports only;
 * the registers behave the same.
 */
#ifndef PMON_STRICT_H
#define PMON_STRICT_H

#include "pmon/access.h"
#include "pmon/box.h"

struct pmon;

/* What counted before a write. */
struct pmon_strict {
	uint16_t counting[PMON_UNITS]; /* of the socket: bit n: counter n */
};

void pmon_strict_read(const struct pmon *pmon, const struct pmon_register_ref *place);
void pmon_strict_absent(const struct pmon *pmon, const struct pmon_register_ref *place,
			uint64_t value);

/** Checks a write that is about to be made. */
void pmon_strict_before(const struct pmon *pmon, struct pmon_strict *strict,
			const struct pmon_register_ref *place, uint64_t value);

/** Checks the counters that the write let begin to count. */
void pmon_strict_after(const struct pmon *pmon, const struct pmon_strict *strict,
		       const struct pmon_register_ref *place);

#endif
