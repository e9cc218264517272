/* What a selection demands of the box that it is counted in. */
#ifndef SESSION_SELECTION_H
#define SESSION_SELECTION_H

#include "catalog/entries.h"
#include "pmulab/event.h"

/** Whether both ask for the same; the order of their settings does not matter. */
bool selection_equal(const struct pmu_selection *a, const struct pmu_selection *b);

/** Whether it is to be counted in an instance of its box. */
static inline bool selection_covers(const struct pmu_selection *selection, unsigned instance)
{
	return !selection->one_instance || selection->instance == instance;
}

/* Node masks of a socket, for settings that name nodes by what they are to it. */
struct selection_nodes {
	uint64_t mine, all;
};
/** The selection with the numbers of the nodes that it names by what they are to a socket. */
struct pmu_selection selection_on(const struct pmu_selection *selection,
				  const struct selection_nodes *nodes);

/** Whether it counts what counter 0 of its box sees. */
bool selection_follows_counter0(const struct pmu_selection *selection);

#endif
