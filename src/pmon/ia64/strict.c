#include "pmon/ia64/strict.h"

#include <string.h>

#include "pmon/access.h"
#include "pmon/ia64/state.h"

void pmon_ia64_report(const struct pmon_ia64_checked *at, const struct pmu_register *reg,
		      uint64_t value, const char *rule, const char *source)
{
	if (!source)
		source = reg->source;
	at->strict->report(at->strict->arg,
			   &(struct pmon_violation){
			       .reg = reg->name,
			       .socket = at->socket,
			       .instance = at->instance,
			       .value = value,
			       .rule = rule,
			       .source = *source ? source : at->strict->pmu->source,
			   });
}

static uint64_t reserved_bits(const struct pmu_register *reg)
{
	uint64_t bits = reg->width < 64 ? ~0ull << reg->width : 0;

	for (size_t f = 0; f < reg->field_count; f++)
		if (reg->fields[f].access == PMU_ACCESS_RV)
			bits |= pmu_mask(reg->fields[f].hi, reg->fields[f].lo);
	return bits;
}

void pmon_ia64_check_reserved(const struct pmon_ia64_checked *at, const struct pmu_register *reg,
			      uint64_t value)
{
	uint64_t differs = (value ^ reg->reset) & reserved_bits(reg);

	if (differs & ~value)
		pmon_ia64_report(at, reg, value, "reserved bits that have to be written as 1 are 0",
				 NULL);
	if (differs & value)
		pmon_ia64_report(at, reg, value, "reserved bits that have to be written as 0 are 1",
				 NULL);
}

static const struct pmu_register *reg_of(const struct pmon_ia64 *pmu, const struct place *place)
{
	return &pmu->box->registers[place->reg];
}

/* -- Counters -----------------------------------------------------------------------------------
 */

/* @return NULL: none that the counter can count */
static const struct pmu_event *event_of(const struct pmon_ia64 *pmu, unsigned counter)
{
	uint64_t code = pmon_ia64_get(pmu, &pmu->descs[counter].event);

	for (size_t e = 0; e < pmu->box->event_count; e++)
		if (pmu->box->events[e].code == code && pmu->box->events[e].counters >> counter & 1)
			return &pmu->box->events[e];
	return NULL;
}

/* @return where the counter has to go with a leader, to count the event; NULL: nowhere */
static const struct pmu_bank *bank_of(const struct pmon_ia64 *pmu, const struct pmu_event *event,
				      unsigned counter)
{
	for (size_t b = 0; b < pmu->box->bank_count; b++) {
		const struct pmu_bank *bank = &pmu->box->banks[b];

		if (event->set_group[0] && !strcmp(bank->group, event->set_group) &&
		    bank->counters >> counter & 1)
			return bank;
	}
	return NULL;
}

static bool counts(const struct pmon_ia64 *pmu, unsigned counter)
{
	return pmon_ia64_get(pmu, &pmu->descs[counter].levels);
}

static bool counts_set(const struct pmon_ia64 *pmu, unsigned counter, const struct pmu_event *of)
{
	const struct pmu_event *event = counts(pmu, counter) ? event_of(pmu, counter) : NULL;

	return event && event->set == of->set && !strcmp(event->set_group, of->set_group);
}

static void check_set(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
		      const struct pmu_event *event, unsigned counter)
{
	const struct pmu_bank *bank = bank_of(pmu, event, counter);
	const struct counter_desc *d = &pmu->descs[counter];
	const char *source = at->strict->pmu->rules.sets;
	uint64_t control = pmu->regs[d->control];

	if (!bank)
		return;
	if (!counts_set(pmu, bank->lead, event))
		pmon_ia64_report(at, reg_of(pmu, &d->event), control,
				 "an event of a set counts, and the set's leader counts none of it",
				 source);
	else if ((control ^ pmu->regs[pmu->descs[bank->lead].control]) & bank->shared)
		pmon_ia64_report(at, reg_of(pmu, &d->event), control,
				 "bits that the set's leader gives differ from the leader's",
				 source);
}

#define RULE_SETS "the instruction set mask is not the one that is defined"

static void check_counter(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
			  unsigned counter)
{
	const struct counter_desc *d = &pmu->descs[counter];
	const struct pmu_register *reg = reg_of(pmu, &d->event);
	const struct pmu_event *event = event_of(pmu, counter);
	uint64_t control = pmu->regs[d->control];

	if (!counts(pmu, counter))
		return;
	if (d->sets.mask && pmon_ia64_get(pmu, &d->sets) != d->sets_right)
		pmon_ia64_report(at, reg, control, RULE_SETS, NULL);
	if (event)
		check_set(pmu, at, event, counter);
	else
		pmon_ia64_report(at, reg, control, "this counter has no event of this code", NULL);
}

/* -- Captures -----------------------------------------------------------------------------------
 */

#define DATA_CACHE 0u /* mode */

static void check_captures(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at)
{
	const struct captures *c = &pmu->captures;
	const struct pmu_register *trace = reg_of(pmu, &c->trace.levels);

	if (!pmon_ia64_get(pmu, &c->data.levels))
		return;
	/* Captures and counters have the same right instruction sets. */
	if (c->data.sets.mask && pmon_ia64_get(pmu, &c->data.sets) != pmu->descs[0].sets_right)
		pmon_ia64_report(at, reg_of(pmu, &c->data.sets), pmu->regs[c->data.sets.reg],
				 RULE_SETS, NULL);
	if (pmon_ia64_get(pmu, &c->data.mode) != DATA_CACHE && pmu->regs[c->trace.levels.reg])
		pmon_ia64_report(at, trace, pmu->regs[c->trace.levels.reg],
				 "branches are traced while the data captures are not of the cache",
				 at->strict->pmu->rules.trace);
}

/* -- Accesses -----------------------------------------------------------------------------------
 */

static const struct pmu_register *find(const struct pmon_ia64 *pmu, unsigned space, uint32_t number)
{
	for (size_t r = 0; r < pmu->box->register_count; r++)
		if (pmu->box->registers[r].space == space &&
		    pmu->box->registers[r].offset == number)
			return &pmu->box->registers[r];
	return NULL;
}

void pmon_ia64_check_write(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
			   unsigned space, uint32_t number, uint64_t value)
{
	const struct pmu_register *reg = find(pmu, space, number);

	if (!reg)
		return;
	if (reg->role == PMU_ROLE_COUNTER && value & pmu->limit)
		pmon_ia64_report(at, reg, value,
				 "the overflow bit of a counter has to be written as 0", NULL);
	if (reg->role == PMU_ROLE_GLOBAL_STATUS && !pmon_ia64_frozen(pmu) &&
	    pmon_ia64_overflowed(pmu))
		pmon_ia64_report(at, reg, value,
				 "overflow bits are not cleared before counting goes on",
				 at->strict->pmu->rules.overflow);
	if (space != PMU_SPACE_PMC)
		return;
	pmon_ia64_check_reserved(at, reg, value);
	if (reg->role == PMU_ROLE_MATCH || pmon_ia64_frozen(pmu))
		return;
	for (unsigned i = 0; i < pmu->counter_count; i++)
		check_counter(pmu, at, i);
	check_captures(pmu, at);
}

void pmon_ia64_check_read(const struct pmon_ia64 *pmu, const struct pmon_ia64_checked *at,
			  unsigned space, uint32_t number)
{
	const struct pmu_register *reg = find(pmu, space, number);

	if (reg && reg->role == PMU_ROLE_CAPTURE && !pmon_ia64_frozen(pmu))
		pmon_ia64_report(at, reg, 0, "a capture is read while the monitors are not frozen",
				 at->strict->pmu->rules.captures);
}
