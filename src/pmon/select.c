#include "pmon/select.h"

#include <string.h>

#include "catalog/find.h"

/* Everything a unit mask may depend on. */
struct selection {
	const struct pmon_box *box;
	const struct pmon_unit *unit;
	const struct pmu_event *event;
	unsigned umask;
};

/* Whether a unit mask is one of the event's, or made of them. */
static bool has_umask(const struct pmu_event *event, unsigned umask)
{
	unsigned known = 0;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *entry = &event->umasks[i];

		if ((umask & entry->care) == entry->value)
			return true;
		known |= entry->value;
	}
	return event->umask_count ? umask && !(umask & ~known) : event->umask == umask;
}

const struct pmu_event *pmon_event(const struct pmon_box *box, unsigned index, uint64_t control)
{
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t code = pmon_field_get(fields->ev_sel, control);
	bool ext = control & fields->ev_sel_ext.mask;
	const unsigned umask = pmon_umask(fields, control);
	unsigned found;

	if (box->counters[index].fixed)
		return NULL;
	found = code < PMON_CODES ? box->event_of[ext][code] : 0;
	if (!found)
		return NULL;
	/* Of several events of the code, the one with the unit mask, or else the first. */
	for (const struct pmu_event *event = &box->box->events[found - 1]; event;
	     event = find_coded_event(box->box, event, index, code, ext))
		if (has_umask(event, umask))
			return event;
	return &box->box->events[found - 1];
}

uint64_t pmon_control_in_effect(const struct pmon_box *box, const struct pmon_unit *unit,
				unsigned index)
{
	const struct pmon_counter_desc *desc = &box->counters[index];
	uint64_t control = unit->regs[desc->control];

	if (!(box->box->quirks & PMU_QUIRK_CONTROL_TWICE))
		return control;
	return (control & ~desc->fields.ev_sel.mask) | (uint64_t)unit->counters[index].ev_sel
							   << desc->fields.ev_sel.lo;
}

static uint64_t filter_value(const struct selection *s, const struct pmu_modifier *filter)
{
	uint64_t value = s->unit->regs[filter->reg - s->box->box->registers];

	return (value & pmu_mask(filter->hi, filter->lo)) >> filter->lo;
}

/* What a row asks for: of each attribute the values that pass, bit n for value n. */
struct demand {
	uint16_t checks; /* of the attributes that it names */
	uint32_t values[ATTRIBUTE_UNIT + 1];
	uint8_t core, thread;
	uint64_t address, address_mask;
};

static const uint16_t check_of[] = {
    [ATTRIBUTE_REQUEST] = CHECK_REQUEST, [ATTRIBUTE_STATE] = CHECK_STATE,
    [ATTRIBUTE_NODE] = CHECK_NODE,	 [ATTRIBUTE_THREAD] = CHECK_THREAD,
    [ATTRIBUTE_ADDRESS] = CHECK_ADDRESS, [ATTRIBUTE_RANK] = CHECK_RANK,
    [ATTRIBUTE_BANK] = CHECK_BANK,	 [ATTRIBUTE_UNIT] = CHECK_UNIT,
};

static uint32_t one_value(uint64_t value)
{
	return value < 32 ? 1u << value : 0;
}

/* The values of an attribute that a filter field means. */
static uint32_t decode_values(const struct pmu_encoding *encoding, uint64_t value)
{
	uint32_t values = 0;

	if (!encoding->codes)
		return encoding->set ? (uint32_t)value : one_value(value);
	for (unsigned i = 0; i < encoding->count; i++)
		if (encoding->codes[i] != BINDING_NO_CODE &&
		    (encoding->set ? value >> encoding->codes[i] & 1 : value == encoding->codes[i]))
			values |= 1u << i;
	return values;
}

static void demand_thread(struct demand *demand, const struct pmu_encoding *encoding,
			  uint64_t value)
{
	bool none = encoding->none_care && (value & encoding->none_care) == encoding->none_value;

	demand->core = none ? SIGNAL_NO_CORE : (uint8_t)(value / encoding->threads);
	demand->thread = none ? 0 : (uint8_t)(value % encoding->threads);
}

static void demand_address(struct demand *demand, const struct pmu_modifier *filter, uint64_t value)
{
	unsigned bit = filter->encoding->bit, from = filter->encoding->from;
	uint64_t mask = pmu_mask(filter->hi - filter->lo + bit, bit) & ~0ull << from;

	demand->address_mask |= mask;
	demand->address |= value << bit & mask;
}

static void demand_filter(const struct selection *s, struct demand *demand,
			  const struct pmu_modifier *filter)
{
	const struct pmu_encoding *encoding = filter->encoding;
	uint64_t value = filter_value(s, filter);

	demand->checks |= check_of[encoding->attribute];
	if (encoding->attribute == ATTRIBUTE_THREAD)
		demand_thread(demand, encoding, value);
	else if (encoding->attribute == ATTRIBUTE_ADDRESS)
		demand_address(demand, filter, value);
	else
		demand->values[encoding->attribute] &= decode_values(encoding, value);
}

/* @return false where the row cannot hold, whatever is emitted */
static bool demand_of_row(const struct selection *s, const struct pmu_row *row,
			  struct demand *demand)
{
	*demand = (struct demand){0};
	memset(demand->values, 0xff, sizeof(demand->values));
	for (unsigned i = 0; i < row->term_count; i++) {
		const struct pmu_row_term *term = &row->terms[i];

		if (term->kind == TERM_FIELD) {
			demand_filter(s, demand, term->modifier);
			continue;
		}
		if (term->kind == TERM_IS) {
			if (filter_value(s, term->modifier) != term->values)
				return false;
			continue;
		}
		demand->checks |= check_of[term->attribute];
		demand->values[term->attribute] &=
		    term->kind == TERM_VALUES
			? term->values
			: one_value(s->umask >> term->lo & ((1u << term->bits) - 1));
	}
	return true;
}

static void pass_everything(struct pmon_subscription *subscription)
{
	memset(subscription, 0, PMON_SUBSCRIPTION_HEAD);
	subscription->requests = subscription->states = subscription->nodes = UINT32_MAX;
	subscription->ranks = subscription->banks = subscription->units = UINT32_MAX;
}

static void narrow(struct pmon_subscription *subscription, const struct demand *demand)
{
	subscription->requests &= demand->values[ATTRIBUTE_REQUEST];
	subscription->states &= demand->values[ATTRIBUTE_STATE];
	subscription->nodes &= demand->values[ATTRIBUTE_NODE];
	subscription->ranks &= demand->values[ATTRIBUTE_RANK];
	subscription->banks &= demand->values[ATTRIBUTE_BANK];
	subscription->units &= demand->values[ATTRIBUTE_UNIT];
	subscription->address_mask |= demand->address_mask;
	subscription->address |= demand->address;
	if (demand->checks & CHECK_THREAD) {
		subscription->core = demand->core;
		subscription->thread = demand->thread;
	}
	subscription->checks |= demand->checks;
}

static void narrow_qualifiers(struct pmon_subscription *subscription, uint32_t qualifiers)
{
	bool one = !(qualifiers & (qualifiers - 1));

	if (qualifiers && one) {
		subscription->checks |= CHECK_ALL;
		subscription->all |= qualifiers;
	} else if (qualifiers) {
		subscription->checks |= CHECK_AMONG;
		subscription->among = qualifiers;
	}
}

static void add_alternative(struct pmon_subscription *subscription, const struct pmu_row *row,
			    const struct demand *demand)
{
	const struct pmon_alternative alternative = {
	    .qualifiers = row->qualifiers,
	    .requests = demand->values[ATTRIBUTE_REQUEST],
	    .others = (demand->checks & ~CHECK_REQUEST) != 0,
	    .states = demand->values[ATTRIBUTE_STATE],
	    .ranks = demand->values[ATTRIBUTE_RANK],
	    .banks = demand->values[ATTRIBUTE_BANK],
	    .units = demand->values[ATTRIBUTE_UNIT],
	};

	for (unsigned i = 0; i < subscription->alternative_count; i++)
		if (!memcmp(&subscription->alternatives[i], &alternative, sizeof(alternative)))
			return;
	/* The generator sees to it that there is room. */
	if (subscription->alternative_count < PMON_ALTERNATIVES)
		subscription->alternatives[subscription->alternative_count++] = alternative;
}

/* What the rows that are in force for the unit mask let pass. @return false for nothing */
static bool select_rows(const struct selection *s, struct pmon_subscription *subscription)
{
	bool everything = false;

	for (size_t i = 0; i < s->event->row_count; i++) {
		const struct pmu_row *row = &s->event->rows[i];
		struct demand demand;
		bool holds;

		if ((s->umask & row->care) != row->value)
			continue;
		holds = demand_of_row(s, row, &demand);
		if (row->kind == ROW_ALL) {
			if (!holds)
				return false;
			narrow(subscription, &demand);
			narrow_qualifiers(subscription, row->qualifiers);
		} else if (holds && demand.checks) {
			add_alternative(subscription, row, &demand);
		} else if (holds && row->qualifiers) {
			subscription->any |= row->qualifiers;
		} else if (holds) {
			everything = true;
		}
	}
	if (!everything)
		subscription->checks |= CHECK_ANY;
	return everything || subscription->any || subscription->alternative_count;
}

static bool enabled(const struct pmon_box *box, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_counter_desc *desc = &box->counters[index];

	return (unit->regs[desc->control] & desc->fields.en.mask) &&
	       pmon_is_governed_to_count(box, unit, index) && !unit->counters[index].held;
}

/* Unit mask, event and thread filter of counter @index. */
static bool select_event(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
			 struct pmon_subscription *subscription)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t control = pmon_control_in_effect(box, unit, index);
	struct selection s = {
	    .box = box,
	    .unit = unit,
	    .event = pmon_event(box, index, control),
	    .umask = pmon_umask(fields, control),
	};

	if (!s.event || s.event->measure == PMU_MEASURE_NONE || !(s.event->counters >> index & 1))
		return false;
	if (s.event->measure == PMU_MEASURE_COUNTER0) {
		/* Counter 0 has to be enabled to show anything (decided). */
		if (index != 0 && enabled(box, unit, 0))
			select_event(pmon, unit, 0, subscription);
		return true;
	}
	pass_everything(subscription);
	if (s.event->row_count && !select_rows(&s, subscription)) {
		/* Nothing matches: increments of 0, which invert may well count. */
		pass_everything(subscription);
		subscription->checks = CHECK_ANY;
	}
	if (control & box->filter_switch.mask) {
		struct demand demand = {0};

		memset(demand.values, 0xff, sizeof(demand.values));
		demand_filter(&s, &demand, box->filter_switch.filter);
		narrow(subscription, &demand);
	}
	subscription->measure = s.event->measure;
	if (s.event->measure != PMU_MEASURE_CLOCK) {
		const struct signal_desc *signal = &signal_table[s.event->signal];

		subscription->slot = pmon->routes[s.event->signal].slot;
		subscription->level = signal->kind == SIGNAL_LEVEL;
		if (subscription->checks & CHECK_ANY)
			subscription->default_qualifier =
			    subscription->any & signal->default_qualifier;
	}
	return false;
}

bool pmon_select(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		 struct pmon_subscription *subscription)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	memset(subscription, 0, PMON_SUBSCRIPTION_HEAD);
	if (!enabled(box, unit, index))
		return false;
	if (!box->counters[index].fixed)
		return select_event(pmon, unit, index, subscription);
	subscription->measure = PMU_MEASURE_CLOCK;
	return false;
}
