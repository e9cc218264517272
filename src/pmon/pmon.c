#include "pmon/pmon.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pmon/core.h"
#include "pmon/count.h"
#include "pmon/describe.h"
#include "pmon/overflow.h"
#include "pmon/registers.h"
#include "pmon/select.h"
#include "pmon/taps.h"
#include "pmon/totals.h"

#define ALIGN 64

static size_t align_up(size_t size)
{
	return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Where the parts of the shared block begin. */
struct layout {
	size_t units, taps, changes, spans, size;
};

static struct layout lay_out(unsigned sockets, unsigned units, unsigned counters)
{
	struct layout layout;

	layout.units = align_up(sizeof(struct pmon_state));
	layout.taps = layout.units + align_up(sockets * units * sizeof(struct pmon_unit));
	layout.changes = layout.taps + align_up((size_t)SIGNAL_COUNT * sockets * SIGNAL_UNITS *
						sizeof(struct signal_taps));
	layout.spans =
	    layout.changes + align_up((size_t)sockets * counters * sizeof(struct pmon_changes));
	layout.size = layout.spans + (size_t)sockets * counters * sizeof(struct signal_spans);
	return layout;
}

size_t pmon_state_size(const struct pmon_config *config)
{
	unsigned units = 0, counters = 0;

	for (size_t i = 0; i < config->pmu->box_count; i++) {
		const struct pmu_box *box = &config->pmu->boxes[i];

		units += (unsigned)box->instance_count;
		counters += (unsigned)box->instance_count * pmon_timed_counters(box);
	}
	return lay_out(config->sockets, units, counters).size;
}

/* Unit n of the machine is the n-th instance that the part has, or all are one instance. */
static void bind_units(struct pmon *pmon)
{
	const struct pmu_unit_binding *units = pmon->config.pmu->units;

	memset(pmon->bound, 0xff, sizeof(pmon->bound));
	for (unsigned kind = 0; units && kind < UNIT_COUNT; kind++) {
		const struct pmu_unit_binding *unit = &units[kind];
		uint32_t left;

		if (unit->box == BINDING_NO_BOX)
			continue;
		left = pmon->boxes[unit->box].present;
		for (unsigned n = 0; n < PMON_INSTANCES; n++) {
			unsigned instance = unit->instance;

			if (instance == BINDING_EACH) {
				if (!left)
					break;
				instance = (unsigned)__builtin_ctz(left);
				left &= left - 1;
			}
			pmon->bound[kind][n] =
			    (uint16_t)(pmon->boxes[unit->box].first_unit + instance);
			pmon->sources[pmon->bound[kind][n]][kind] |= 1u << n;
			if (!pmon_is_core(&pmon->boxes[unit->box]))
				pmon->uncore_sources[kind] |= 1u << n;
		}
	}
}

/* Whether an event or a counter of its own counts the signal. */
static bool counts_signal(const struct pmu_box *box, unsigned id)
{
	for (size_t r = 0; r < box->register_count; r++)
		if (box->registers[r].signal == id)
			return true;
	for (size_t e = 0; e < box->event_count; e++) {
		const struct pmu_event *event = &box->events[e];

		if (event->signal == id)
			return true;
		for (size_t u = 0; u < event->umask_count; u++)
			if (event->umasks[u].signal == id || event->umasks[u].cycles == id)
				return true;
	}
	return false;
}

/* @return false if a box has more signals than a unit has room for */
static bool route_signals(struct pmon *pmon)
{
	uint8_t slots[PMON_BOXES] = {0}, levels[PMON_BOXES] = {0};

	bind_units(pmon);
	memset(pmon->nowhere, 0xff, sizeof(pmon->nowhere));
	for (unsigned id = 1; id < SIGNAL_COUNT; id++) {
		const struct signal_desc *signal = &signal_table[id];
		const struct pmu_unit_binding *units = pmon->config.pmu->units;
		unsigned b = units ? units[signal->unit].box : BINDING_NO_BOX;
		const struct pmu_box *box = &pmon->config.pmu->boxes[b];

		pmon->routes[id].units = pmon->nowhere;
		if (b == BINDING_NO_BOX || !counts_signal(box, id))
			continue;
		pmon->routes[id] = (struct pmon_route){
		    .units = pmon->bound[signal->unit],
		    .first_unit = pmon->boxes[b].first_unit,
		    .instances = (uint8_t)box->instance_count,
		    .slot = slots[b]++,
		    .kind = signal->kind,
		    .clock = box->clock,
		    .converted = signal->clock != box->clock && box->scope != PMU_SCOPE_CORE,
		    .first_level = levels[b],
		    .level_units = units[signal->unit].instance == BINDING_EACH ? 1 : PMON_SHARERS,
		};
		if (slots[b] > PMON_SLOTS)
			return false;
		if (signal->rate == SIGNAL_RATE_CLOCK && pmon_is_core(&pmon->boxes[b]))
			pmon->core_clock = (uint16_t)id;
		pmon->signal_of[b][pmon->routes[id].slot] = (uint8_t)id;
		/* Numbers are remembered for counters that are enabled later. */
		pmon->always[id] =
		    signal->kind == SIGNAL_LEVEL || pmon_core_always_subscribes(&pmon->core, id);
		if (signal->kind == SIGNAL_LEVEL)
			levels[b] += (uint8_t)(pmon_levels_of(id) * pmon->routes[id].level_units);
		if (levels[b] > PMON_LEVELS)
			return false;
	}
	return true;
}

static void power_on(struct pmon *pmon, size_t size)
{
	static_assert(sizeof(pmon->always) == sizeof(pmon->state->enabled), "a byte each");

	pmon->state->size = size;
	memcpy(pmon->state->enabled, pmon->always, sizeof(pmon->always));
	for (unsigned socket = 0; socket < pmon->config.sockets; socket++) {
		struct pmon_socket *state = &pmon->state->sockets[socket];
		struct pmon_unit *unit = pmon_socket_units(pmon, socket);

		for (unsigned clock = 0; clock < PMON_CLOCKS; clock++)
			state->stop[clock] = state->deadline[clock] = PMON_NEVER;
		for (unsigned b = 0; b < pmon->config.pmu->box_count; b++) {
			for (unsigned i = 0; i < pmon->boxes[b].box->instance_count; i++, unit++) {
				unit->socket = (uint8_t)socket;
				unit->box = (uint8_t)b;
				unit->instance = (uint8_t)i;
				pmon_reset_unit(pmon, unit);
				pmon_configure(pmon, unit, 0);
			}
		}
	}
	pmon_taps_init(pmon);
	for (unsigned socket = 0; socket < pmon->config.sockets; socket++)
		pmon_totals_update_all(pmon, socket);
}

int pmon_open(struct pmon **out, struct pmu_ctx *ctx, const struct pmon_config *config, void *state,
	      bool fresh)
{
	struct pmon *pmon;
	struct layout layout;
	int error;

	if (config->sockets > PMON_SOCKETS)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%u sockets, more than %d",
				 config->sockets, PMON_SOCKETS);
	for (size_t i = 0; i < config->pmu->box_count; i++)
		if (config->pmu->boxes[i].scope != PMU_SCOPE_CORE &&
		    !config->clock_mhz[config->pmu->boxes[i].clock])
			return error_set(ctx, PMU_E_RANGE,
					 "the clock of box %s of PMU %s has no frequency",
					 config->pmu->boxes[i].name, config->pmu->name);
	pmon = calloc(1, sizeof(*pmon));
	if (!pmon)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the PMUs of a machine");
	pmon->config = *config;
	error = pmon_describe(ctx, config, pmon->boxes, &pmon->global, &pmon->core,
			      &pmon->units_per_socket, &pmon->counters_per_socket);
	if (error)
		goto fail;
	if (!route_signals(pmon)) {
		error = error_set(ctx, PMU_E_UNSUPPORTED, "a box of PMU %s has too many signals",
				  config->pmu->name);
		goto fail;
	}
	layout = lay_out(config->sockets, pmon->units_per_socket, pmon->counters_per_socket);
	pmon->state = state;
	pmon->units = (struct pmon_unit *)((char *)state + layout.units);
	pmon->taps = (struct signal_taps *)((char *)state + layout.taps);
	pmon->changes = (struct pmon_changes *)((char *)state + layout.changes);
	pmon->spans = (struct signal_spans *)((char *)state + layout.spans);
	if (fresh)
		power_on(pmon, layout.size);
	if (pmon->state->size != layout.size) {
		error = error_set(ctx, PMU_E_UNSUPPORTED,
				  "the PMUs were made by another version of this program");
		goto fail;
	}
	*out = pmon;
	return 0;
fail:
	pmon_close(pmon);
	return error;
}

void pmon_close(struct pmon *pmon)
{
	free(pmon);
}

void pmon_copy_levels(struct pmon *pmon, const struct pmon *from)
{
	const size_t units = (size_t)pmon->config.sockets * pmon->units_per_socket;

	for (size_t i = 0; i < units; i++)
		memcpy(pmon->units[i].levels, from->units[i].levels, sizeof(pmon->units[i].levels));
}

/* A counter that only adds what it receives. */
static inline void count_one(struct pmon *pmon, struct pmon_socket *socket, struct pmon_unit *unit,
			     unsigned index, unsigned clock, uint64_t time)
{
	struct pmon_counter *counter = &unit->counters[index];

	if (time < socket->floor[clock])
		time = socket->floor[clock];
	if (unit->frozen || time >= socket->stop[clock])
		return;
	pmon_tell(pmon, counter, 1);
	if (++counter->value == counter->limit) {
		counter->value = 0;
		pmon_overflow(pmon, unit, index, time);
	}
}

/* The number of a qualifier changes: everybody who adds it up learns of the difference. */
static void receive_level(struct pmon *pmon, struct pmon_socket *socket, struct pmon_unit *unit,
			  const struct pmon_route *route, const struct signal *signal)
{
	unsigned which = signal->qualifiers ? 1 + (unsigned)__builtin_ctz(signal->qualifiers) : 0;
	const unsigned source = signal->unit % route->level_units;
	struct pmon_level *held =
	    &unit->levels[route->first_level + source * pmon_levels_of(signal->id) + which];
	int32_t value = (int32_t)signal->duration, change = value - held->value;

	held->value = value;
	if (signal->time > held->time)
		held->time = signal->time;
	for (unsigned subscribed = unit->subscribed[route->slot]; subscribed;
	     subscribed &= subscribed - 1) {
		unsigned index = (unsigned)__builtin_ctz(subscribed);
		const struct pmon_counter *counter = &unit->counters[index];
		bool wanted = pmon_matches(&counter->subscription, signal);

		if (counter->subscription.measure != PMU_MEASURE_COUNT)
			pmon_receive_level(pmon, unit, index, held->time, wanted ? change : 0,
					   change);
		else if (!counter->plain)
			pmon_receive(pmon, unit, index, signal);
		else if (wanted)
			count_one(pmon, socket, unit, index, route->clock, signal->time);
	}
}

/* With times of the clock of the box that counts. */
static struct signal converted(const struct pmon *pmon, const struct pmon_route *route,
			       const struct signal *signal)
{
	const unsigned from = signal_table[signal->id].clock;
	struct signal converted = *signal;

	converted.time = pmon_convert(pmon, signal->time, from, route->clock);
	if (route->kind == SIGNAL_SPAN)
		converted.duration =
		    pmon_convert(pmon, signal->time + signal->duration, from, route->clock) -
		    converted.time;
	return converted;
}

static void receive_in_time(struct pmon *pmon, struct pmon_unit *unit,
			    const struct pmon_route *route, const struct signal *signal)
{
	struct pmon_socket *socket = &pmon->state->sockets[signal->socket];

	if (route->kind == SIGNAL_ACCUMULATOR || route->kind == SIGNAL_CYCLES) {
		pmon_core_receive(pmon, unit, route->slot, signal);
		return;
	}
	if (signal->time >= socket->deadline[route->clock])
		pmon_due(pmon, signal->socket, route->clock, signal->time);
	if (route->kind == SIGNAL_LEVEL) {
		receive_level(pmon, socket, unit, route, signal);
		return;
	}
	for (unsigned subscribed = unit->subscribed[route->slot]; subscribed;
	     subscribed &= subscribed - 1) {
		unsigned index = (unsigned)__builtin_ctz(subscribed);
		struct pmon_counter *counter = &unit->counters[index];

		if (!counter->plain)
			pmon_receive(pmon, unit, index, signal);
		else if (pmon_matches(&counter->subscription, signal))
			count_one(pmon, socket, unit, index, route->clock, signal->time);
	}
	if (unit->closed >> route->slot & 1)
		pmon_taps_open(pmon, unit, route->slot);
}

static void receive(void *subscriber, const struct signal *signal)
{
	struct pmon *pmon = subscriber;
	const struct pmon_route *route = &pmon->routes[signal->id];
	struct pmon_unit *unit = pmon_signal_unit(pmon, route, signal);

	if (!unit)
		return;
	if (route->converted) {
		const struct signal here = converted(pmon, route, signal);

		receive_in_time(pmon, unit, route, &here);
	} else {
		receive_in_time(pmon, unit, route, signal);
	}
}

void pmon_port(struct pmon *pmon, struct signal_port *port)
{
	*port = (struct signal_port){
	    .subscriber = pmon,
	    .emit = receive,
	    .enabled = pmon->state->enabled,
	    .taps = pmon->taps,
	    .sums = (char *)pmon->state,
	    .look = pmon_look,
	};
	pmon_totals_port(pmon, port);
}

void pmon_strict(struct pmon *pmon, void (*report)(void *arg, const struct pmon_violation *),
		 void *arg)
{
	pmon->report = report;
	pmon->report_arg = arg;
}

void pmon_attribution(struct pmon *pmon,
		      void (*attribute)(void *arg, unsigned column, uint64_t amount), void *arg)
{
	pmon->attribute = attribute;
	pmon->attribute_arg = arg;
}

int pmon_attribute(struct pmon *pmon, const struct pmon_counter_ref *ref, unsigned column)
{
	const struct pmon_box *box;
	unsigned index = ref->counter;

	if (ref->socket >= pmon->config.sockets || ref->box >= pmon->config.pmu->box_count)
		return PMU_E_RANGE;
	box = &pmon->boxes[ref->box];
	if (ref->fixed)
		index += box->box->counter_count;
	if (ref->instance >= box->box->instance_count || index >= box->counter_count ||
	    column >= UINT16_MAX)
		return PMU_E_RANGE;
	pmon_socket_units(pmon, ref->socket)[box->first_unit + ref->instance]
	    .counters[index]
	    .column = (uint16_t)(column + 1);
	if (pmon->state->attributed)
		return 0;
	pmon->state->attributed = true;
	for (unsigned socket = 0; socket < pmon->config.sockets; socket++) {
		pmon_taps_end_all(pmon, socket);
		pmon_totals_update_all(pmon, socket);
	}
	return 0;
}

uint64_t pmon_interrupts(struct pmon *pmon, unsigned socket, unsigned core,
			 const struct pmon_time *now)
{
	if (socket >= pmon->config.sockets || core >= PMON_CORES)
		return 0;
	pmon_settle_socket(pmon, socket, now);
	return eventcount_read(&pmon->state->sockets[socket].interrupts[core]);
}

uint64_t pmon_await_interrupt(struct pmon *pmon, unsigned socket, unsigned core, uint64_t seen,
			      uint64_t ns)
{
	struct eventcount *interrupts = &pmon->state->sockets[socket].interrupts[core];

	return eventcount_await(interrupts, seen, ns) ? eventcount_read(interrupts) : seen;
}
