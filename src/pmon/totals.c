#include "pmon/totals.h"

#include "pmon/core.h"
#include "pmon/count.h"
#include "pmon/overflow.h"
#include "pmon/select.h"
#include "pmon/taps.h"

/* Of which core, in which bank, at which address: that totals do not tell. */
static bool tells_apart(const struct pmon_subscription *subscription)
{
	for (unsigned i = 0; i < subscription->alternative_count; i++)
		if (subscription->alternatives[i].others &&
		    subscription->alternatives[i].banks != UINT32_MAX)
			return true;
	return subscription->checks & (CHECK_THREAD | CHECK_BANK | CHECK_ADDRESS);
}

/* Whether totals have all that the counter adds up. */
static bool takes_totals(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_counter *counter = &unit->counters[index];
	const struct pmon_subscription *subscription = &counter->subscription;
	const unsigned id = pmon->signal_of[unit->box][subscription->slot];
	const uint32_t sources = pmon->sources[pmon_unit_number(pmon, unit)][signal_table[id].unit];

	return pmon->config.totals && pmon->config.totals[id] && !(sources & (sources - 1)) &&
	       !tells_apart(subscription) &&
	       (counter->plain || (pmon_is_sum(counter) && !pmon->routes[id].converted));
}

/* Whether a core's counter subscribes to what no total tells. */
static bool needs_times(const struct pmon *pmon, const struct pmon_unit *unit)
{
	for (unsigned slot = 0; slot < PMON_SLOTS; slot++)
		if (unit->subscribed[slot] && signal_table[pmon->signal_of[unit->box][slot]].timed)
			return true;
	return false;
}

/* Whether a counter of the unit needs a signal by itself, or an overflow the time of one. */
static bool needs_signals(const struct pmon *pmon, const struct pmon_unit *unit)
{
	const unsigned signals = unit->subscribing & ~unit->clocked;

	if (pmon_is_core(pmon_box(pmon, unit)))
		return needs_times(pmon, unit);
	if (!unit->subscribing)
		return false;
	if (signals && pmon->state->attributed)
		return true;
	if (unit->reporting || (signals && pmon_stop(pmon, unit) != PMON_NEVER))
		return true;
	for (unsigned left = signals; left; left &= left - 1)
		if (!takes_totals(pmon, unit, (unsigned)__builtin_ctz(left)))
			return true;
	return false;
}

void pmon_totals_update(struct pmon *pmon, struct pmon_unit *unit)
{
	const bool needs = needs_signals(pmon, unit);

	if (needs == unit->needs_signals)
		return;
	unit->needs_signals = needs;
	pmon->state->needed += needs ? 1u : -1u;
}

void pmon_totals_update_all(struct pmon *pmon, unsigned socket)
{
	for (unsigned i = 0; i < pmon->units_per_socket; i++)
		pmon_totals_update(pmon, pmon_socket_units(pmon, socket) + i);
}

/* NULL: no box counts for it. */
static struct pmon_unit *unit_of(const struct pmon *pmon, enum signal_unit kind, unsigned socket,
				 unsigned unit)
{
	const unsigned number = pmon->bound[kind][unit % PMON_INSTANCES];

	return number == PMON_NO_UNIT ? NULL : pmon_socket_units(pmon, socket) + number;
}

static void report(void *subscriber, const struct signal *signal, uint64_t count)
{
	struct pmon *pmon = subscriber;
	const struct pmon_route *route = &pmon->routes[signal->id];
	struct pmon_unit *unit = pmon_signal_unit(pmon, route, signal);

	if (!unit)
		return;
	for (unsigned left = unit->subscribed[route->slot]; left; left &= left - 1) {
		const unsigned index = (unsigned)__builtin_ctz(left);
		struct pmon_counter *counter = &unit->counters[index];

		if (!takes_totals(pmon, unit, index) ||
		    !pmon_matches(&counter->subscription, signal))
			continue;
		if (!counter->plain && !counter->summed)
			pmon_begin_sum(pmon, unit, index);
		if (counter->plain)
			counter->value += count;
		else if (count)
			counter->value += signal->duration;
		else
			pmon_note_span(pmon, unit, index, signal);
	}
}

/* Nobody is told of these overflows, so that they need no time of their own. */
static void report_end(void *subscriber, enum signal_unit kind, unsigned socket, unsigned number,
		       uint64_t now)
{
	struct pmon *pmon = subscriber;
	struct pmon_unit *unit = unit_of(pmon, kind, socket, number);

	for (unsigned k = 0; unit && k < pmon_box(pmon, unit)->counter_count; k++) {
		struct pmon_counter *counter = &unit->counters[k];

		if (counter->value < counter->limit || !(counter->plain || counter->summed))
			continue;
		pmon_settle(pmon, unit, k, now);
		if (counter->value - pmon_ahead(pmon, unit, k) < counter->limit)
			continue;
		counter->value -= counter->limit;
		pmon_overflow(pmon, unit, k, now);
	}
}

void pmon_totals_port(struct pmon *pmon, struct signal_port *port)
{
	port->needed = &pmon->state->needed;
	port->report = report;
	port->report_end = report_end;
}
