#include "pmon/taps.h"

#include <limits.h>
#include <string.h>

#include "pmon/core.h"
#include "pmon/count.h"

/* Durations are less. So a counter that an emitter adds to does not overflow there. */
#define BRINK (1ull << 32)

static struct signal_spans *spans_of(const struct pmon *pmon, const struct pmon_unit *unit,
				     unsigned index)
{
	return pmon->spans + pmon_counter_number(pmon, unit, index);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t pmon_ahead(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_counter *counter = &unit->counters[index];
	const struct signal_spans *spans;
	uint64_t ahead = 0;

	if (!counter->summed)
		return 0;
	spans = spans_of(pmon, unit, index);
	for (uint32_t i = 0; i <= spans->mask; i++) {
		const struct signal_span *span = &spans->ring[i];

		if (span->end > counter->now)
			ahead += span->end - later(span->begin, counter->now);
	}
	return ahead;
}

/* What lies ahead becomes changes to come. */
static void end_sum(struct pmon *pmon, struct pmon_unit *unit, unsigned index)
{
	struct pmon_counter *counter = &unit->counters[index];
	struct pmon_changes *changes = pmon->changes + pmon_counter_number(pmon, unit, index);
	const struct signal_spans *spans = spans_of(pmon, unit, index);
	uint64_t now = counter->now;

	counter->summed = false;
	for (uint32_t i = 0; i <= spans->mask && pmon_changes_have_room(changes); i++) {
		const struct signal_span *span = &spans->ring[i];
		uint64_t begin = later(span->begin, now);

		if (span->end <= now)
			continue;
		counter->value -= span->end - begin;
		if (begin > now)
			pmon_changes_add(changes, now, begin, (struct pmon_change){1, 1});
		else
			counter->level++, counter->open++;
		pmon_changes_add(changes, now, span->end, (struct pmon_change){-1, -1});
	}
}

static uint64_t brink(const struct pmon_counter *counter)
{
	return counter->limit > BRINK ? counter->limit - BRINK : 0;
}

/* Only spans that were wanted have changes: see can_sum(). Which end belongs to which
   beginning does not matter. */
void pmon_begin_sum(struct pmon *pmon, struct pmon_unit *unit, unsigned index)
{
	struct pmon_counter *counter = &unit->counters[index];
	struct pmon_changes *changes = pmon->changes + pmon_counter_number(pmon, unit, index);
	struct signal_spans *spans = spans_of(pmon, unit, index);
	uint32_t begun = 0, ended = 0;

	spans->next = spans->mask = 0;
	memset(&spans->ring[0], 0, sizeof(spans->ring[0]));
	if (counter->level || changes->near_count || changes->far_count) {
		uint64_t time = counter->now;
		int64_t change = counter->level;

		for (;;) {
			/* Emitters with queues of finite length fill no ring. */
			for (; change > 0 && begun < SIGNAL_SPANS; change--)
				spans->ring[begun++].begin = time;
			for (; change < 0 && ended < begun; change++) {
				spans->ring[ended].end = time;
				counter->value += time - spans->ring[ended++].begin;
			}
			time = pmon_changes_next(changes, time);
			if (time == PMON_NEVER)
				break;
			change = pmon_changes_take(changes, time).level;
		}
		while (spans->mask + 1 < begun)
			spans->mask = 2 * spans->mask + 1;
		memset(spans->ring + begun, 0, (spans->mask + 1 - begun) * sizeof(spans->ring[0]));
		spans->next = begun;
	}
	counter->level = counter->open = 0;
	counter->summed = true;
}

/* Emitters add up cycles of their own clock. */
static bool is_converted(const struct pmon *pmon, const struct pmon_unit *unit,
			 const struct pmon_counter *counter)
{
	return pmon->routes[pmon->signal_of[unit->box][counter->subscription.slot]].converted;
}

/* Changes and spans have room for each other: what is open at once fills neither. */
static bool can_sum(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_counter *counter = &unit->counters[index];
	const struct pmon_changes *changes = pmon->changes + pmon_counter_number(pmon, unit, index);

	return pmon_is_sum(counter) && !is_converted(pmon, unit, counter) &&
	       counter->value < brink(counter) && counter->level >= 0 &&
	       (uint64_t)counter->level + changes->near_count + changes->far_count <
		   SIGNAL_SPANS / 4;
}

/* The bits of one attribute: those of the values that are not wanted must be 0. */
static void refuse(struct signal_tap *tap, unsigned first, unsigned count, uint32_t wanted)
{
	tap->care |= (~(uint64_t)wanted & ((1ull << count) - 1)) << first;
}

#define NEEDS_SIGNAL (CHECK_THREAD | CHECK_BANK | CHECK_ADDRESS)

/* @return whether a tap can tell what the counter wants, but for the unit */
static bool compile(const struct pmon_subscription *subscription, struct signal_tap *tap)
{
	bool any = subscription->checks & CHECK_ANY, among = subscription->checks & CHECK_AMONG;

	if (subscription->checks & NEEDS_SIGNAL || subscription->alternative_count > 1 ||
	    (subscription->alternative_count && subscription->any) || (any && among))
		return false;
	*tap = (struct signal_tap){.any = 1ull << SIGNAL_WORD_ALWAYS};
	if (any)
		tap->any = subscription->any;
	if (among)
		tap->any = subscription->among;
	if (subscription->checks & CHECK_ALL)
		tap->care = tap->value = subscription->all;
	if (subscription->checks & CHECK_REQUEST)
		refuse(tap, SIGNAL_WORD_REQUEST, REQUEST_COUNT, subscription->requests);
	if (subscription->checks & CHECK_STATE)
		refuse(tap, SIGNAL_WORD_STATE, SIGNAL_STATE_COUNT, subscription->states);
	if (subscription->checks & CHECK_NODE)
		refuse(tap, SIGNAL_WORD_NODE, 8, subscription->nodes);
	if (subscription->checks & CHECK_RANK)
		refuse(tap, SIGNAL_WORD_RANK, 8, subscription->ranks);
	if (any && subscription->alternative_count) {
		const struct pmon_alternative *only = &subscription->alternatives[0];

		if (only->others)
			return false;
		tap->any = only->qualifiers ? only->qualifiers : 1ull << SIGNAL_WORD_ALWAYS;
		refuse(tap, SIGNAL_WORD_REQUEST, REQUEST_COUNT, only->requests);
	}
	return true;
}

static uint32_t offset(const struct pmon *pmon, const void *place)
{
	return (uint32_t)((const char *)place - (const char *)pmon->state);
}

/* @return false where the counter needs the signal itself */
static bool add_tap(struct pmon *pmon, struct pmon_unit *unit, unsigned index, unsigned number,
		    struct signal_taps *taps)
{
	struct pmon_counter *counter = &unit->counters[index];
	const struct pmon_subscription *subscription = &counter->subscription;
	struct signal_tap tap;

	if (pmon->state->attributed || taps->count == SIGNAL_TAPS ||
	    counter->value >= brink(counter) || !(counter->plain || counter->summed) ||
	    !compile(subscription, &tap))
		return false;
	if (subscription->checks & CHECK_UNIT && !(subscription->units >> number & 1))
		return true;
	tap.brink = brink(counter);
	tap.sum = offset(pmon, &counter->value);
	if (counter->summed) {
		tap.spans = offset(pmon, spans_of(pmon, unit, index));
		taps->taps[taps->count++] = tap;
		return true;
	}
	taps->taps[taps->count++] = taps->taps[taps->pulses];
	taps->taps[taps->pulses++] = tap;
	return true;
}

/* Numbers and accumulators are handed over always: they are kept whether or not they count. */
static bool has_taps(const struct pmon *pmon, const struct pmon_unit *unit, unsigned id)
{
	return pmon->routes[id].kind != SIGNAL_LEVEL && !pmon_is_core(pmon_box(pmon, unit));
}

static struct signal_taps *taps_of(const struct pmon *pmon, const struct pmon_unit *unit,
				   unsigned id, unsigned number)
{
	return &pmon->taps[(unit->socket * SIGNAL_UNITS + number) * SIGNAL_COUNT + id];
}

/* Of the machine's units of the signal's kind: bit n: the n-th is the unit's. */
static uint32_t sources_of(const struct pmon *pmon, const struct pmon_unit *unit, unsigned id)
{
	return pmon->sources[pmon_unit_number(pmon, unit)][signal_table[id].unit];
}

static void receive_all(struct pmon *pmon, const struct pmon_unit *unit, unsigned id,
			uint32_t count)
{
	for (uint32_t left = sources_of(pmon, unit, id); left; left &= left - 1)
		taps_of(pmon, unit, id, (unsigned)__builtin_ctz(left))->count = count;
}

void pmon_taps_init(struct pmon *pmon)
{
	for (unsigned i = 0; i < pmon->config.sockets * pmon->units_per_socket; i++) {
		const struct pmon_unit *unit = &pmon->units[i];
		const uint8_t *ids = pmon->signal_of[unit->box];

		for (unsigned slot = 0; slot < PMON_SLOTS && ids[slot]; slot++)
			receive_all(pmon, unit, ids[slot],
				    has_taps(pmon, unit, ids[slot]) ? 0 : SIGNAL_RECEIVE);
	}
}

void pmon_taps_close(struct pmon *pmon, struct pmon_unit *unit, uint64_t slots)
{
	for (slots &= ~unit->closed; slots; slots &= slots - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(slots);
		unsigned id = pmon->signal_of[unit->box][slot];

		if (!has_taps(pmon, unit, id))
			continue;
		unit->closed |= UINT64_C(1) << slot;
		receive_all(pmon, unit, id, SIGNAL_RECEIVE);
	}
}

void pmon_taps_end(struct pmon *pmon, struct pmon_unit *unit, unsigned counters)
{
	uint64_t slots = 0;

	for (counters &= unit->subscribing & ~unit->clocked; counters; counters &= counters - 1) {
		unsigned index = (unsigned)__builtin_ctz(counters);

		if (unit->counters[index].summed)
			end_sum(pmon, unit, index);
		slots |= UINT64_C(1) << unit->counters[index].subscription.slot;
	}
	pmon_taps_close(pmon, unit, slots);
}

void pmon_taps_end_all(struct pmon *pmon, unsigned socket)
{
	for (unsigned i = 0; i < pmon->units_per_socket; i++)
		pmon_taps_end(pmon, pmon_socket_units(pmon, socket) + i, UINT_MAX);
}

static void set_taps(struct pmon *pmon, struct pmon_unit *unit, unsigned slot, unsigned number,
		     struct signal_taps *taps)
{
	taps->count = taps->pulses = 0;
	for (unsigned left = unit->subscribed[slot]; left; left &= left - 1)
		if (!add_tap(pmon, unit, (unsigned)__builtin_ctz(left), number, taps)) {
			taps->count = SIGNAL_RECEIVE;
			return;
		}
}

/* An overflow that is reported freezes, from its own cycle on. */
static bool runs(const struct pmon *pmon, const struct pmon_unit *unit)
{
	return pmon_stop(pmon, unit) == PMON_NEVER &&
	       !pmon_may_freeze(&pmon->state->sockets[unit->socket]);
}

void pmon_taps_open(struct pmon *pmon, struct pmon_unit *unit, unsigned slot)
{
	unsigned id = pmon->signal_of[unit->box][slot];

	unit->closed &= ~(UINT64_C(1) << slot);
	if (unit->subscribed[slot] && !runs(pmon, unit))
		return;
	for (unsigned left = unit->subscribed[slot]; left; left &= left - 1) {
		unsigned index = (unsigned)__builtin_ctz(left);

		if (!unit->counters[index].summed && can_sum(pmon, unit, index))
			pmon_begin_sum(pmon, unit, index);
	}
	for (uint32_t left = sources_of(pmon, unit, id); left; left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctz(left);

		set_taps(pmon, unit, slot, number, taps_of(pmon, unit, id, number));
	}
}

/* The overflow is near: from here on the counter is told of each signal. */
static void approach(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t time)
{
	struct pmon_counter *counter = &unit->counters[index];

	if (counter->value < brink(counter))
		return;
	if (counter->summed) {
		pmon_settle(pmon, unit, index, time > PMON_WINDOW ? time - PMON_WINDOW : 0);
		end_sum(pmon, unit, index);
	}
	receive_all(pmon, unit, pmon->signal_of[unit->box][counter->subscription.slot],
		    SIGNAL_RECEIVE);
}

void pmon_note_span(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		    const struct signal *signal)
{
	signal_note_span(spans_of(pmon, unit, index), signal->time,
			 signal->time + signal->duration);
}

void pmon_add_span(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		   const struct signal *signal)
{
	pmon_note_span(pmon, unit, index, signal);
	unit->counters[index].value += signal->duration;
	approach(pmon, unit, index, signal->time);
}

void pmon_look(void *subscriber, const struct signal *signal)
{
	struct pmon *pmon = subscriber;
	unsigned number = pmon->routes[signal->id].units[signal->unit % SIGNAL_UNITS];
	struct pmon_unit *unit = pmon_socket_units(pmon, signal->socket) + number;

	for (unsigned k = 0; k < pmon_box(pmon, unit)->counter_count; k++)
		if (unit->counters[k].plain || unit->counters[k].summed)
			approach(pmon, unit, k, signal->time);
}
