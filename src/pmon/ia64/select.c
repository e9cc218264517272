/* What counters add up: the event that their registers select, and who is counted. */
#include <assert.h>
#include <string.h>

#include "pmon/ia64/state.h"

static __attribute__((noinline)) uint64_t sum_of_other(const struct pmon_ia64 *pmu,
						       const struct counter *c)
{
	const uint64_t *totals = pmu->source.other->source.totals[c->other_bank];
	uint64_t all = 0;

	for (unsigned i = 0; i < c->cell_count; i++)
		all += totals[c->cells[i]];
	return all;
}

uint64_t pmon_ia64_sum(const struct pmon_ia64 *pmu, const struct counter *c)
{
	const uint64_t *totals = pmu->source.totals[c->bank];
	uint64_t all = 0;

	if (c->own)
		return *c->own;
	for (unsigned i = 0; i < c->cell_count; i++)
		all += totals[c->cells[i]];
	if (c->both)
		all += sum_of_other(pmu, c);
	return all;
}

static const struct pmu_event *selected(const struct pmon_ia64 *pmu, unsigned i)
{
	uint64_t code = pmon_ia64_get(pmu, &pmu->descs[i].event);

	for (size_t e = 0; e < pmu->box->event_count; e++)
		if (pmu->box->events[e].code == code)
			return &pmu->box->events[e];
	return NULL;
}

/* Of events that share a code: the one that has the unit mask. */
static bool has_umask(const struct pmu_event *event, unsigned umask)
{
	for (size_t u = 0; u < event->umask_count; u++)
		if (!((umask ^ event->umasks[u].value) & event->umasks[u].care))
			return !event->umasks[u].absent && !event->umasks[u].never;
	return !event->umask_count;
}

static const struct pmu_event *event_of(const struct pmon_ia64 *pmu, unsigned i, unsigned umask)
{
	const struct pmu_event *event = selected(pmu, i);
	const struct pmu_event *end = pmu->box->events + pmu->box->event_count;
	uint16_t code = event ? event->code : 0;

	for (; event && event < end; event++)
		if (event->code == code && has_umask(event, umask))
			return event->signal && event->counters >> i & 1 ? event : NULL;
	return NULL;
}

/* Whether the event's rows take a signal with these qualifiers. */
static bool takes(const struct pmu_event *event, unsigned umask, uint32_t qualifiers)
{
	bool any = !event->rows;

	for (size_t r = 0; r < event->row_count; r++) {
		const struct pmu_row *row = &event->rows[r];
		bool holds = !row->qualifiers || qualifiers & row->qualifiers;

		if ((umask & row->care) != row->value)
			continue;
		if (row->kind == ROW_ALL && !holds)
			return false;
		any |= row->kind == ROW_ANY && holds;
	}
	return any;
}

static bool has_attribute(const struct pmu_event *event, const char *word)
{
	for (const char *const *a = event->attributes; a && *a; a++)
		if (strcmp(*a, word) == 0)
			return true;
	return false;
}

/* Of a counter, for an event of a set; NULL: the event is free. */
static const struct pmu_bank *bank_with(const struct pmon_ia64 *pmu, const struct pmu_event *event,
					unsigned i)
{
	for (size_t b = 0; event && event->set_group[0] && b < pmu->box->bank_count; b++) {
		const struct pmu_bank *bank = &pmu->box->banks[b];

		if (strcmp(bank->group, event->set_group) == 0 && bank->counters >> i & 1)
			return bank;
	}
	return NULL;
}

/* A field of the counter's control; where its bank shares it, of the lead's. */
static uint64_t shared_get(const struct pmon_ia64 *pmu, const struct pmu_bank *bank,
			   const struct place *own, const struct place *leads)
{
	return pmon_ia64_get(pmu, bank && bank->shared & own->mask ? leads : own);
}

static unsigned umask_of(const struct pmon_ia64 *pmu, unsigned i)
{
	const struct pmu_bank *bank = bank_with(pmu, selected(pmu, i), i);

	return (unsigned)shared_get(pmu, bank, &pmu->descs[i].umask,
				    &pmu->descs[bank ? bank->lead : i].umask);
}

/* Events of a set count only while the bank's lead counts one of the same. */
static bool led(const struct pmon_ia64 *pmu, const struct pmu_event *event, unsigned i)
{
	const struct pmu_bank *bank = bank_with(pmu, event, i);
	const struct pmu_event *lead;

	if (!bank)
		return true;
	lead = event_of(pmu, bank->lead, umask_of(pmu, bank->lead));
	return lead && strcmp(lead->set_group, event->set_group) == 0 && lead->set == event->set;
}

/* By the PMU's registers; the processor's status has a say too. */
static bool enabled(const struct pmon_ia64 *pmu, const struct counter_desc *d)
{
	return !(pmu->regs[pmu->status] & pmu->freeze) &&
	       pmon_ia64_get(pmu, &d->levels) >> LEVEL & 1 &&
	       (!d->sets.mask || pmon_ia64_get(pmu, &d->sets) == d->sets_right);
}

static bool monitored(const struct pmon_ia64 *pmu, const struct counter_desc *d)
{
	return pmon_ia64_get(pmu, &d->privileged) ? pmu->system : pmu->user;
}

static uint8_t bank_of(const struct pmu_event *event)
{
	return has_attribute(event, "DAR")   ? SIGNAL_BY_DATA
	       : has_attribute(event, "OPC") ? SIGNAL_BY_MARK
	       : has_attribute(event, "IAR") ? SIGNAL_BY_ADDRESS
					     : SIGNAL_ALL;
}

/* Events of the processor's port belong to no thread; others are both threads' where asked for. */
static bool counts_both(const struct pmon_ia64 *pmu, const struct pmu_event *event, unsigned i)
{
	const struct pmu_bank *bank = bank_with(pmu, event, i);
	bool all =
	    shared_get(pmu, bank, &pmu->descs[i].both, &pmu->descs[bank ? bank->lead : i].both);

	return has_attribute(event, "both threads") ||
	       (all && event->signal != SIGNAL_CORE_HALTED && !has_attribute(event, "no .all") &&
		!has_attribute(event, ".all ignored"));
}

/* What the PMU itself counts. */
static const uint64_t *own_total(const struct pmon_ia64 *pmu, unsigned signal)
{
	return signal == SIGNAL_CAPTURE_FETCH	    ? &pmu->own[OWN_FETCH]
	       : signal == SIGNAL_CAPTURE_DATA	    ? &pmu->own[OWN_DATA]
	       : signal == SIGNAL_CAPTURE_BRANCH    ? &pmu->own[OWN_BRANCH]
	       : signal == SIGNAL_CORE_INTERRUPTION ? &pmu->own[OWN_INTERRUPTION]
	       : signal == SIGNAL_BUS_MARKED	    ? &pmu->own[OWN_REQUEST]
						    : NULL;
}

#define STATES(signal, i, s, e)                                                                    \
	{                                                                                          \
		SIGNAL_##signal, i, s, e, QUALIFIER_##signal##_M                                   \
	}

/* Signals that tell the state of a line, and how. */
static const struct {
	uint16_t signal;
	uint32_t i, s, e, m;
} with_states[] = {
    STATES(L3_READ, QUALIFIER_L3_READ_I, QUALIFIER_L3_READ_S, QUALIFIER_L3_READ_E),
    STATES(L3_WRITE, QUALIFIER_L3_WRITE_I, QUALIFIER_L3_WRITE_S, QUALIFIER_L3_WRITE_E),
    STATES(L3_INSERT, QUALIFIER_L3_INSERT_I, QUALIFIER_L3_INSERT_S, QUALIFIER_L3_INSERT_E),
    STATES(L3_REPLACED, 0, 0, 0),
};

/* Whether the states that the control chooses have the cell. */
static bool state_passes(const struct signal_cell *cell, uint64_t chosen)
{
	for (size_t n = 0; n < sizeof(with_states) / sizeof(with_states[0]); n++)
		if (with_states[n].signal == cell->signal)
			return cell->qualifiers & ((chosen & 1 ? with_states[n].i : 0) |
						   (chosen & 2 ? with_states[n].s : 0) |
						   (chosen & 4 ? with_states[n].e : 0) |
						   (chosen & 8 ? with_states[n].m : 0));
	return true;
}

/* Whether it adds up what only instructions with marks make. */
static bool needs_marks(const struct pmon_ia64 *pmu, const struct counter *c)
{
	for (unsigned i = 0; i < c->cell_count; i++) {
		const struct signal_cell *cell = &pmu->source.cells[c->cells[i]];

		if (cell->signal == SIGNAL_PIPE_MARKED ||
		    (cell->signal == SIGNAL_CORE_CYCLES &&
		     cell->qualifiers & QUALIFIER_CORE_CYCLES_MARKED))
			return true;
	}
	return false;
}

void pmon_ia64_select(struct pmon_ia64 *pmu, unsigned i)
{
	const struct counter_desc *d = &pmu->descs[i];
	struct counter *c = &pmu->counters[i];
	unsigned umask = umask_of(pmu, i);
	const struct pmu_event *event = event_of(pmu, i, umask);

	c->on = c->both = false;
	c->cell_count = 0;
	c->own = NULL;
	if (!event || !enabled(pmu, d) || !led(pmu, event, i))
		return;
	if (has_attribute(event, "of data pairs") && !pmon_ia64_compares_data(pmu))
		return;
	for (size_t n = 0; n < pmu->source.count; n++) {
		if (pmu->source.cells[n].signal == event->signal &&
		    takes(event, umask, pmu->source.cells[n].qualifiers) &&
		    state_passes(&pmu->source.cells[n], pmon_ia64_get(pmu, &d->states))) {
			assert(c->cell_count < CELLS);
			c->cells[c->cell_count++] = (uint16_t)n;
		}
	}
	c->own = own_total(pmu, event->signal);
	c->on = (c->own || c->cell_count) && monitored(pmu, d);
	/* Cycles are qualified by what their unit mask selects, and not all of them. */
	c->bank =
	    pmu->constrained && event->signal != SIGNAL_CORE_CYCLES ? bank_of(event) : SIGNAL_ALL;
	c->both = pmu->source.other && counts_both(pmu, event, i);
	c->other_bank = c->both && pmu->source.other->constrained ? c->bank : SIGNAL_ALL;
	c->threshold = (uint8_t)pmon_ia64_get(pmu, &d->threshold);
	c->start = c->last = pmon_ia64_sum(pmu, c);
	pmu->wants.matches |= c->bank != SIGNAL_ALL || needs_marks(pmu, c);
	pmu->wants.marks |= c->on && (c->bank != SIGNAL_ALL || needs_marks(pmu, c));
	pmu->wants.cycles |= c->on && c->threshold;
}
