/* What a counter with a threshold counts: cycles in which an event happens so often at once. */
#ifndef CATALOG_THRESHOLD_H
#define CATALOG_THRESHOLD_H

#include "catalog/entries.h"

/* What the fields of a control ask of each cycle. */
struct threshold {
	uint64_t least; /* 0: nothing but, at most, the edge of 1 */
	bool invert;	/* cycles with fewer; without effect where least is 0 */
	bool edge;	/* only cycles after one that does not pass */
};

/** Whether anything is asked. */
static inline bool threshold_asks(struct threshold asked)
{
	return asked.least || asked.edge;
}

/* The signal that tells it. */
struct threshold_count {
	uint16_t signal; /* enum pmu_signal_id; SIGNAL_NONE: no cycle passes */
	uint32_t qualifiers;
	uint8_t least; /* of SIGNAL_CYCLES, as struct signal has them */
	bool rise;
	bool rest; /* all cycles but those */
};

/**
 * Finds what is counted of a unit mask of an event whose unit masks have signals of their own, or
 * of several that are added up, or of one without unit masks, as its filters narrow it.
 * @return false where no machine can tell
 */
bool threshold_find(const struct pmu_event *event, unsigned umask, struct threshold asked,
		    struct threshold_count *count);

#endif
