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
 * What counter @index of @unit subscribes to, whether or not it is frozen.
 * @return whether that is what counter 0 sees
 */
bool pmon_select(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		 struct pmon_subscription *subscription);

static inline bool pmon_alternative_holds(const struct pmon_subscription *subscription,
					  const struct signal *signal)
{
	for (unsigned i = 0; i < subscription->alternative_count; i++) {
		const struct pmon_alternative *a = &subscription->alternatives[i];

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

/** Whether @subscription takes this occurrence of its signal. */
static inline bool pmon_matches(const struct pmon_subscription *subscription,
				const struct signal *signal)
{
	unsigned checks = subscription->checks;

	if ((checks & CHECK_ANY) && !(signal->qualifiers & subscription->any) &&
	    !pmon_alternative_holds(subscription, signal))
		return false;
	if (checks <= CHECK_ANY)
		return true;
	return (!(checks & CHECK_ALL) ||
		(signal->qualifiers & subscription->all) == subscription->all) &&
	       (!(checks & CHECK_AMONG) || (signal->qualifiers & subscription->among)) &&
	       (!(checks & CHECK_REQUEST) ||
		(subscription->requests >> (signal->request & 31) & 1)) &&
	       (!(checks & CHECK_STATE) || (subscription->states >> (signal->state & 31) & 1)) &&
	       (!(checks & CHECK_NODE) || (subscription->nodes >> (signal->node & 31) & 1)) &&
	       (!(checks & CHECK_THREAD) ||
		(signal->core == subscription->core && signal->thread == subscription->thread)) &&
	       (!(checks & CHECK_RANK) || (subscription->ranks >> (signal->rank & 31) & 1)) &&
	       (!(checks & CHECK_BANK) || (subscription->banks >> (signal->bank & 31) & 1)) &&
	       (!(checks & CHECK_UNIT) || (subscription->units >> (signal->unit & 31) & 1)) &&
	       (!(checks & CHECK_ADDRESS) ||
		(signal->address & subscription->address_mask) == subscription->address);
}

#endif
