/* What follows from the controls and filters of a unit: which counter subscribes to what. */
#include <assert.h>
#include <string.h>

#include "pmon/core.h"
#include "pmon/count.h"
#include "pmon/registers.h"
#include "pmon/select.h"
#include "pmon/taps.h"
#include "pmon/totals.h"

/* Of the numbers that its signal holds, what the counter wants and all. */
static struct pmon_change held_levels(const struct pmon *pmon, const struct pmon_unit *unit,
				      const struct pmon_subscription *subscription)
{
	struct pmon_change held = {0, 0};

	for (unsigned id = 1; subscription->level && id < SIGNAL_COUNT; id++) {
		const struct pmon_route *route = &pmon->routes[id];

		if (route->slot != subscription->slot || route->kind != SIGNAL_LEVEL ||
		    !route->instances || pmon->units[route->first_unit].box != unit->box)
			continue;
		for (unsigned i = 0; i < pmon_levels_of(id) * route->level_units; i++) {
			const unsigned which = i % pmon_levels_of(id);
			const struct pmon_level *level = &unit->levels[route->first_level + i];
			struct signal as_emitted = {.unit = (uint8_t)(i / pmon_levels_of(id)),
						    .qualifiers = which ? 1u << (which - 1) : 0};

			held.open += level->value;
			if (pmon_matches(subscription, &as_emitted))
				held.level += level->value;
		}
	}
	return held;
}

static uint16_t with_bit(uint16_t set, unsigned bit, bool value)
{
	return (uint16_t)((set & ~(1u << bit)) | (unsigned)value << bit);
}

static_assert(PMON_SLOTS <= 64, "sets of slots have 64 bits");

/* Of a counter of a signal, not of cycles. @return the bit of its slot, for pmon_enable() */
static uint64_t subscribe(struct pmon_unit *unit, unsigned index,
			  const struct pmon_subscription *subscription, bool subscribes)
{
	if (subscription->measure == PMU_MEASURE_NONE || subscription->measure == PMU_MEASURE_CLOCK)
		return 0;
	unit->subscribed[subscription->slot] =
	    with_bit(unit->subscribed[subscription->slot], index, subscribes);
	return UINT64_C(1) << subscription->slot;
}

static void compare_as(struct pmon_counter *counter, const struct pmon_control *fields,
		       uint64_t control, bool occ)
{
	counter->thresh = (uint8_t)pmon_field_get(fields->thresh, control);
	/* Both come behind the threshold (§1.4) and do nothing without one. */
	counter->invert = control & (occ ? fields->occ_invert : fields->invert).mask;
	counter->edge = control & (occ ? fields->occ_edge_det : fields->edge_det).mask;
}

/* Bytes of a subscription that say something. */
static size_t used_size(const struct pmon_subscription *subscription)
{
	return PMON_SUBSCRIPTION_HEAD +
	       subscription->alternative_count * sizeof(subscription->alternatives[0]);
}

/* @return its slots that are subscribed by others than before */
static uint64_t configure(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t control = pmon_control_in_effect(box, unit, index);
	bool occ = (box->box->quirks & PMU_QUIRK_OCC_CONTROLS) &&
		   (pmon_field_get(fields->ev_sel, control) & 0x80);
	struct pmon_counter *counter = &unit->counters[index];
	struct pmon_subscription subscription;
	bool follows = pmon_select(pmon, unit, index, &subscription), plain;
	uint64_t slots = 0;

	compare_as(counter, fields, control, occ);
	plain = subscription.measure == PMU_MEASURE_COUNT && !counter->thresh;
	if (plain != counter->plain ||
	    memcmp(&subscription, &counter->subscription, used_size(&subscription))) {
		slots = subscribe(unit, index, &counter->subscription, false);
		memcpy(&counter->subscription, &subscription, used_size(&subscription));
		counter->plain = plain;
		pmon_restart(pmon, unit, index, now, held_levels(pmon, unit, &subscription));
	}
	pmon_compare(counter);
	unit->reporting = with_bit(unit->reporting, index,
				   subscription.measure != PMU_MEASURE_NONE &&
				       (control & fields->ov_en.mask) != 0);
	unit->followers = with_bit(unit->followers, index, follows);
	unit->subscribing =
	    with_bit(unit->subscribing, index, subscription.measure != PMU_MEASURE_NONE);
	unit->timed =
	    with_bit(unit->timed, index, subscription.measure != PMU_MEASURE_NONE && !plain);
	unit->clocked = with_bit(unit->clocked, index, subscription.measure == PMU_MEASURE_CLOCK);
	return slots | subscribe(unit, index, &subscription, true);
}

/* Whether an overflow of the unit's counters is reported. */
static void note_reports(const struct pmon *pmon, const struct pmon_unit *unit)
{
	unsigned number = pmon_unit_number(pmon, unit);
	uint64_t *word = &pmon->state->sockets[unit->socket].reporting[number / 64];
	uint64_t bit = UINT64_C(1) << number % 64;

	*word = unit->reporting ? *word | bit : *word & ~bit;
}

void pmon_configure(struct pmon *pmon, struct pmon_unit *unit, uint64_t now)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	uint64_t slots = 0;

	if (pmon_is_core(box)) {
		pmon_enable(pmon, unit, pmon_core_configure(pmon, unit));
		pmon_totals_update(pmon, unit);
		return;
	}
	for (unsigned k = 0; k < box->counter_count; k++)
		slots |= configure(pmon, unit, k, now);
	note_reports(pmon, unit);
	pmon_enable(pmon, unit, slots);
}

void pmon_configure_counter(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now)
{
	uint64_t slots = configure(pmon, unit, index, now);

	for (unsigned left = index ? 0 : unit->followers; left; left &= left - 1)
		slots |= configure(pmon, unit, (unsigned)__builtin_ctz(left), now);
	note_reports(pmon, unit);
	pmon_enable(pmon, unit, slots);
}

void pmon_enable(struct pmon *pmon, struct pmon_unit *unit, uint64_t slots)
{
	struct pmon_state *state = pmon->state;

	for (uint64_t left = slots; left; left &= left - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(left);
		unsigned id = pmon->signal_of[unit->box][slot];
		uint32_t bit = 1u << unit->instance;
		uint32_t *subscribers = state->subscribers[id], any = unit->subscribed[slot];

		if (unit->subscribed[slot])
			subscribers[unit->socket] |= bit;
		else
			subscribers[unit->socket] &= ~bit;
		for (unsigned s = 0; s < pmon->config.sockets && !any; s++)
			any |= subscribers[s];
		state->enabled[id] = any || pmon->always[id];
	}
	pmon_taps_close(pmon, unit, slots);
}
