/* What a counter adds up, as its control and the box's filters say; the quirks of unit masks. */
#ifndef PMON_SELECT_H
#define PMON_SELECT_H

#include "pmon/state.h"

/** The event that a counter control selects; NULL: none that the catalog knows. */
const struct pmu_event *pmon_event(const struct pmon_box *box, unsigned index, uint64_t control);

/** The control of counter @index as the box has taken it. */
uint64_t pmon_control_in_effect(const struct pmon_box *box, const struct pmon_unit *unit,
				unsigned index);

/** What counter @index of @unit listens to, whether or not it is frozen. */
void pmon_select(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		 struct pmon_listen *listen);

/** Whether @listen wants this announcement of its signal. */
static inline bool pmon_matches(const struct pmon_listen *listen, const struct signal *signal)
{
	unsigned checks = listen->checks;

	if ((checks & CHECK_ANY) && !(signal->facets & listen->any) &&
	    !((checks & CHECK_OR_OPCODE) && (signal->facets & listen->opcode_facet) &&
	      signal->opcode == listen->opcode))
		return false;
	if (checks <= CHECK_ANY)
		return true;
	return (!(checks & CHECK_ALL) || (signal->facets & listen->all) == listen->all) &&
	       (!(checks & CHECK_OPCODE) || signal->opcode == listen->opcode) &&
	       (!(checks & CHECK_STATE) || (listen->states >> signal->state & 1)) &&
	       (!(checks & CHECK_NID) || (listen->nids >> (signal->nid & 31) & 1)) &&
	       (!(checks & CHECK_TID) || signal->tid == listen->tid) &&
	       (!(checks & CHECK_BANK) ||
		(signal->rank == listen->rank && (listen->banks >> (signal->bank & 31) & 1))) &&
	       (!(checks & CHECK_PAGE) || signal->address >> 12 == listen->page);
}

#endif
