/* What follows from the controls and filters of a unit: which counter listens to what. */
#include <string.h>

#include "pmon/count.h"
#include "pmon/registers.h"
#include "pmon/select.h"

/* Of the numbers that its signal holds, what the counter wants and all. */
static struct pmon_change held_levels(const struct pmon *pmon, const struct pmon_unit *unit,
				      const struct pmon_listen *listen)
{
	struct pmon_change held = {0, 0};

	for (unsigned id = 1; listen->level && id < SIGNAL_COUNT; id++) {
		const struct pmon_route *route = &pmon->routes[id];

		if (route->slot != listen->slot || route->kind != SIGNAL_LEVEL ||
		    !route->instances || pmon->units[route->first_unit].box != unit->box)
			continue;
		for (unsigned i = 0; i <= signal_table[id].qualifier_count; i++) {
			const struct pmon_level *level = &unit->levels[route->first_level + i];
			struct signal as_announced = {.qualifiers = i ? 1u << (i - 1) : 0};

			held.open += level->value;
			if (pmon_matches(listen, &as_announced))
				held.level += level->value;
		}
	}
	return held;
}

static uint16_t with_bit(uint16_t set, unsigned bit, bool value)
{
	return (uint16_t)((set & ~(1u << bit)) | (unsigned)value << bit);
}

/* Of a counter of a signal, not of cycles. @return the bit of its slot, for pmon_arm() */
static uint32_t hear(struct pmon_unit *unit, unsigned index, const struct pmon_listen *listen,
		     bool hears)
{
	if (listen->measure == PMU_MEASURE_NONE || listen->measure == PMU_MEASURE_CLOCK)
		return 0;
	unit->heard[listen->slot] = with_bit(unit->heard[listen->slot], index, hears);
	return 1u << listen->slot;
}

static void compare_as(struct pmon_counter *counter, const struct pmon_control *fields,
		       uint64_t control, bool occ)
{
	counter->thresh = (uint8_t)pmon_field_get(fields->thresh, control);
	/* Both come behind the threshold (§1.4) and do nothing without one. */
	counter->invert = control & (occ ? fields->occ_invert : fields->invert).mask;
	counter->edge = control & (occ ? fields->occ_edge_det : fields->edge_det).mask;
}

/* @return its slots that are heard by others than before */
static uint32_t configure(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t control = pmon_control_in_effect(box, unit, index);
	bool occ = (box->box->quirks & PMU_QUIRK_OCC_CONTROLS) &&
		   (pmon_field_get(fields->ev_sel, control) & 0x80);
	struct pmon_counter *counter = &unit->counters[index];
	struct pmon_listen listen;
	bool follows = pmon_select(pmon, unit, index, &listen), plain;
	uint32_t slots = 0;

	compare_as(counter, fields, control, occ);
	plain = listen.measure == PMU_MEASURE_COUNT && !counter->thresh;
	if (plain != counter->plain || memcmp(&listen, &counter->listen, sizeof(listen))) {
		slots = hear(unit, index, &counter->listen, false);
		counter->listen = listen;
		counter->plain = plain;
		pmon_restart(pmon, unit, index, now, held_levels(pmon, unit, &listen));
	}
	pmon_compare(counter);
	unit->reporting =
	    with_bit(unit->reporting, index,
		     listen.measure != PMU_MEASURE_NONE && (control & fields->ov_en.mask) != 0);
	unit->followers = with_bit(unit->followers, index, follows);
	unit->listening = with_bit(unit->listening, index, listen.measure != PMU_MEASURE_NONE);
	unit->timed = with_bit(unit->timed, index, listen.measure != PMU_MEASURE_NONE && !plain);
	unit->clocked = with_bit(unit->clocked, index, listen.measure == PMU_MEASURE_CLOCK);
	return slots | hear(unit, index, &listen, true);
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
	uint32_t slots = 0;

	if (pmon_is_core(box)) {
		pmon_arm(pmon, unit, pmon_core_configure(pmon, unit));
		return;
	}
	for (unsigned k = 0; k < box->counter_count; k++)
		slots |= configure(pmon, unit, k, now);
	note_reports(pmon, unit);
	pmon_arm(pmon, unit, slots);
}

void pmon_configure_counter(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now)
{
	uint32_t slots = configure(pmon, unit, index, now);

	for (unsigned left = index ? 0 : unit->followers; left; left &= left - 1)
		slots |= configure(pmon, unit, (unsigned)__builtin_ctz(left), now);
	note_reports(pmon, unit);
	pmon_arm(pmon, unit, slots);
}

void pmon_arm(struct pmon *pmon, const struct pmon_unit *unit, uint32_t slots)
{
	struct pmon_state *state = pmon->state;

	for (; slots; slots &= slots - 1) {
		unsigned slot = (unsigned)__builtin_ctz(slots);
		unsigned id = pmon->signal_of[unit->box][slot];
		uint32_t bit = 1u << unit->instance;
		uint32_t *hearers = state->hearers[id], any = 0;

		if (unit->heard[slot])
			hearers[unit->socket] |= bit;
		else
			hearers[unit->socket] &= ~bit;
		for (unsigned s = 0; s < pmon->config.sockets; s++)
			any |= hearers[s];
		state->armed[id] = any || pmon->always[id];
	}
}
