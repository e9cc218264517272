/* What a selection demands of the box that it is counted in. */
#ifndef SESSION_SELECTION_H
#define SESSION_SELECTION_H

#include "pmulab/event.h"

/** Whether both ask for the same; the order of their settings does not matter. */
bool selection_equal(const struct pmu_selection *a, const struct pmu_selection *b);

/**
 * Whether the count of @selection depends on the shared filter field @filter, and on which value.
 * A field that it depends on and does not set has to be 0.
 */
bool selection_depends(const struct pmu_selection *selection, const struct pmu_modifier *filter,
		       uint64_t *value);

/* Node masks of a socket, for settings that name nodes by what they are to it. */
struct selection_nodes {
	uint64_t mine, all;
};
/** A setting's value on a socket. */
uint64_t selection_value(uint64_t value, const struct selection_nodes *nodes);

/** Whether it counts what counter 0 of its box sees. */
bool selection_follows_counter0(const struct pmu_selection *selection);

#endif
