#include "catalog/threshold.h"

#include "catalog/signal.h"

/* The same of what a unit mask gives. */
static struct threshold given_by(const struct pmu_umask *umask)
{
	struct threshold given = {0};

	for (size_t i = 0; i < umask->implied_count; i++) {
		const struct pmu_implied *implied = &umask->implied[i];

		if (implied->modifier->role == PMU_FIELD_THRESHOLD)
			given.least = implied->value;
		else if (implied->modifier->role == PMU_FIELD_INVERT)
			given.invert = implied->value;
		else if (implied->modifier->role == PMU_FIELD_EDGE)
			given.edge = implied->value;
	}
	return given;
}

static bool is_equal(struct threshold a, struct threshold b)
{
	return a.least == b.least && (a.invert && a.least) == (b.invert && b.least) &&
	       a.edge == b.edge;
}

/* A unit mask that goes with exactly this has a signal of its own for it. */
static bool find_given(const struct pmu_umask *umask, struct threshold asked,
		       struct threshold_count *count)
{
	if (!is_equal(given_by(umask), asked))
		return false;
	*count = (struct threshold_count){.signal = umask->signal, .qualifiers = umask->qualifiers};
	if (umask->signal == SIGNAL_NONE && umask->cycles != SIGNAL_NONE &&
	    signal_table[umask->cycles].kind == SIGNAL_ACCUMULATOR)
		*count = (struct threshold_count){.signal = umask->cycles,
						  .qualifiers = umask->cycles_qualifiers,
						  .rest = asked.invert};
	return count->signal != SIGNAL_NONE;
}

/* One for each number. Of what ends there are as many as of what begins. */
static bool find_cycles(const struct pmu_umask *umask, struct threshold asked,
			struct threshold_count *count)
{
	if (umask->cycles == SIGNAL_NONE || signal_table[umask->cycles].kind != SIGNAL_CYCLES ||
	    !threshold_asks(asked))
		return false;
	*count = (struct threshold_count){
	    .signal = umask->cycles,
	    .qualifiers = umask->cycles_qualifiers,
	    .least = (uint8_t)(asked.least ? asked.least : 1),
	    .rise = asked.edge,
	    .rest = asked.invert && asked.least && !asked.edge,
	};
	return true;
}

/* What happens once a cycle at most is as many cycles. */
static bool find_rate(uint16_t signal, uint32_t qualifiers, struct threshold asked,
		      struct threshold_count *count)
{
	const enum signal_rate rate = signal_table[signal].rate;
	const bool reached = asked.least <= 1,
		   several = !qualifiers || qualifiers & (qualifiers - 1);

	if (signal == SIGNAL_NONE || rate == SIGNAL_RATE_ANY ||
	    (rate == SIGNAL_RATE_EACH && several) || (asked.edge && rate != SIGNAL_RATE_APART))
		return false;
	*count =
	    (struct threshold_count){.qualifiers = qualifiers, .rest = asked.invert && !asked.edge};
	if (rate == SIGNAL_RATE_CLOCK && count->rest) {
		count->rest = false;
		count->signal = reached ? SIGNAL_NONE : signal;
	} else {
		count->signal = reached ? signal : SIGNAL_NONE;
	}
	return true;
}

static bool find_once(const struct pmu_umask *umask, struct threshold asked,
		      struct threshold_count *count)
{
	return !threshold_asks(given_by(umask)) &&
	       find_rate(umask->signal, umask->qualifiers, asked, count);
}

/* Whether a unit mask has a sum of its own, which others can be added to. */
static bool can_be_added(const struct pmu_umask *row, unsigned umask)
{
	return !row->alone && !row->absent && row->signal != SIGNAL_NONE && row->value &&
	       !(row->value & ~umask) && !threshold_asks(given_by(row));
}

/* Of unit masks that make up this one, and have one signal, whatever any of them lets pass. */
static bool find_sum(const struct pmu_event *event, unsigned umask, struct threshold asked,
		     struct threshold_count *count)
{
	unsigned covered = 0, signal = SIGNAL_NONE;
	uint32_t qualifiers = 0;
	bool all = false;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];

		if (row->value == umask && !row->alone)
			return false;
		if (!can_be_added(row, umask))
			continue;
		if (signal != SIGNAL_NONE && row->signal != signal)
			return false;
		signal = row->signal;
		covered |= row->value;
		qualifiers |= row->qualifiers;
		all |= !row->qualifiers;
	}
	if (!umask || covered != umask)
		return false;
	qualifiers = all ? 0 : qualifiers;
	*count = (struct threshold_count){.signal = (uint16_t)signal, .qualifiers = qualifiers};
	return !threshold_asks(asked) || find_rate((uint16_t)signal, qualifiers, asked, count);
}

bool threshold_find(const struct pmu_event *event, unsigned umask, struct threshold asked,
		    struct threshold_count *count)
{
	static bool (*const ways[])(const struct pmu_umask *, struct threshold,
				    struct threshold_count *) = {find_given, find_cycles,
								 find_once};

	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
		for (size_t i = 0; i < event->umask_count; i++)
			if (event->umasks[i].value == umask && !event->umasks[i].absent &&
			    ways[way](&event->umasks[i], asked, count))
				return true;
	if (event->combine == PMU_COMBINE_OR && find_sum(event, umask, asked, count))
		return true;
	return !event->umask_count && event->umask == umask &&
	       find_rate(event->signal, 0, asked, count);
}
