/* What a counter adds up, as its control and the box's filters say; the quirks of unit masks. */
#ifndef PMON_SELECT_H
#define PMON_SELECT_H

#include "pmon/state.h"

/** The event that a counter control selects; NULL: none that the catalog knows. */
const struct pmu_event *pmon_event(const struct pmon_box *box, unsigned index, uint64_t control);

/** The control of counter @index as the box has taken it. */
uint64_t pmon_control_in_effect(const struct pmon_box *box, const struct pmon_unit *unit,
				unsigned index);

/**
 * What counter @index of @unit listens to, whether or not it is frozen.
 * @return whether that is what counter 0 sees
 */
bool pmon_select(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		 struct pmon_listen *listen);

static inline bool pmon_alternative_holds(const struct pmon_listen *listen,
					  const struct signal *signal)
{
	for (unsigned i = 0; i < listen->alternative_count; i++) {
		const struct pmon_alternative *a = &listen->alternatives[i];

		if ((a->qualifiers && !(signal->qualifiers & a->qualifiers)) ||
		    !(a->requests >> (signal->request & 31) & 1))
			continue;
		if (!a->others || ((a->states >> (signal->state & 31) & 1) &&
				   (a->ranks >> (signal->rank & 31) & 1) &&
				   (a->banks >> (signal->bank & 31) & 1) &&
				   (a->units >> (signal->unit & 31) & 1)))
			return true;
	}
	return false;
}

/** Whether @listen wants this announcement of its signal. */
static inline bool pmon_matches(const struct pmon_listen *listen, const struct signal *signal)
{
	unsigned checks = listen->checks;

	if ((checks & CHECK_ANY) && !(signal->qualifiers & listen->any) &&
	    !pmon_alternative_holds(listen, signal))
		return false;
	if (checks <= CHECK_ANY)
		return true;
	return (!(checks & CHECK_ALL) || (signal->qualifiers & listen->all) == listen->all) &&
	       (!(checks & CHECK_AMONG) || (signal->qualifiers & listen->among)) &&
	       (!(checks & CHECK_REQUEST) || (listen->requests >> (signal->request & 31) & 1)) &&
	       (!(checks & CHECK_STATE) || (listen->states >> (signal->state & 31) & 1)) &&
	       (!(checks & CHECK_NODE) || (listen->nodes >> (signal->node & 31) & 1)) &&
	       (!(checks & CHECK_THREAD) ||
		(signal->core == listen->core && signal->thread == listen->thread)) &&
	       (!(checks & CHECK_RANK) || (listen->ranks >> (signal->rank & 31) & 1)) &&
	       (!(checks & CHECK_BANK) || (listen->banks >> (signal->bank & 31) & 1)) &&
	       (!(checks & CHECK_UNIT) || (listen->units >> (signal->unit & 31) & 1)) &&
	       (!(checks & CHECK_ADDRESS) ||
		(signal->address & listen->address_mask) == listen->address);
}

#endif
