/* Counters for events in sets: struct pmu_bank. */
#ifndef SESSION_BANKS_H
#define SESSION_BANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/entries.h"
#include "pmulab/event.h"

/* Events that want counters of one box. */
struct banks_wish {
	const struct pmu_box *box;
	const struct pmu_selection *const *selections;
	const uint32_t *allowed; /* as for matching_find() */
	size_t count;		 /* MATCHING_COUNTERS_MAX at most */
};

/** Gives each a counter so that banks count one set each, under their leads. */
bool banks_find(const struct banks_wish *wish, uint8_t *counter);

/**
 * The group of which more is wanted than its banks can count, as sets or values of what a bank
 * shares; NULL: none is by itself too much.
 */
const char *banks_overfull(const struct banks_wish *wish);

/** Banks of a group. */
unsigned banks_of_group(const struct pmu_box *box, const char *group);

#endif
