#include "machine/reports.h"

#include <string.h>

#include "machine/home.h"
#include "machine/machine.h"
#include "machine/memory_dram.h"

/* A unit whose totals are reported. */
struct reporter {
	const struct signal_port *port;
	struct signal unit; /* socket and unit of its signals */
	uint64_t now;	    /* cycle */
};

static void report(const struct reporter *reporter, struct signal signal, uint64_t count)
{
	signal.socket = reporter->unit.socket;
	signal.unit = reporter->unit.unit;
	reporter->port->report(reporter->port->subscriber, &signal, count);
}

static void report_total(const struct reporter *reporter, struct signal signal, struct total total)
{
	if (!total.count)
		return;
	signal.duration = total.cycles;
	report(reporter, signal, total.count);
}

static void report_count(const struct reporter *reporter, struct signal signal, uint64_t count)
{
	if (count)
		report(reporter, signal, count);
}

/* What is not over yet: its total has all of it. */
static void report_open(const struct reporter *reporter, struct signal signal, uint64_t begin,
			uint64_t end)
{
	if (end <= reporter->now)
		return;
	signal.time = begin;
	signal.duration = end - begin;
	report(reporter, signal, 0);
}

static uint32_t lookup_qualifiers(unsigned request)
{
	switch (request) {
	case TOTALS_OF_SNOOPS:
		return QUALIFIER_LLC_LOOKUP_SNOOP;
	case REQUEST_READ_DATA:
	case REQUEST_PREFETCH_DATA:
		return QUALIFIER_LLC_LOOKUP_READ | QUALIFIER_LLC_LOOKUP_DATA_READ;
	case REQUEST_READ_CODE:
	case REQUEST_READ_OWN:
	case REQUEST_OWN:
	case REQUEST_PREFETCH_CODE:
	case REQUEST_PREFETCH_OWN:
		return QUALIFIER_LLC_LOOKUP_READ;
	case REQUEST_FLUSH:
		return 0;
	default:
		return QUALIFIER_LLC_LOOKUP_WRITE;
	}
}

static uint32_t request_qualifiers(unsigned request, unsigned state)
{
	const uint32_t core = QUALIFIER_LLC_REQUEST_CORE;
	bool missed = state == SIGNAL_STATE_I;

	switch (request) {
	case TOTALS_OF_SNOOPS:
		return 0;
	case REQUEST_READ_OWN:
	case REQUEST_OWN:
		missed = missed || state == SIGNAL_STATE_S || state == SIGNAL_STATE_F;
		return missed ? core | QUALIFIER_LLC_REQUEST_MISS : core;
	case REQUEST_READ_DATA:
	case REQUEST_READ_CODE:
	case REQUEST_PREFETCH_DATA:
	case REQUEST_PREFETCH_CODE:
	case REQUEST_PREFETCH_OWN:
		return missed ? core | QUALIFIER_LLC_REQUEST_MISS : core;
	case REQUEST_WRITEBACK:
	case REQUEST_WRITEBACK_KEEP:
		return core | QUALIFIER_LLC_REQUEST_WRITEBACK;
	default:
		return core | QUALIFIER_LLC_REQUEST_MISS;
	}
}

static uint32_t victim_qualifier(unsigned state)
{
	switch (state) {
	case SIGNAL_STATE_M:
		return QUALIFIER_LLC_VICTIM_M;
	case SIGNAL_STATE_E:
		return QUALIFIER_LLC_VICTIM_E;
	case SIGNAL_STATE_S:
		return QUALIFIER_LLC_VICTIM_S;
	default:
		return QUALIFIER_LLC_VICTIM_F;
	}
}

/* What an entry of slice_totals.entries says. */
struct meaning {
	unsigned request, state, node;
	bool victim;
};

static struct meaning meaning_of(uint32_t entry)
{
	const bool victim = entry >= TOTALS_REQUESTS;
	const uint32_t number = victim ? entry - TOTALS_REQUESTS : entry;

	return (struct meaning){
	    .request = victim ? REQUEST_NONE : number / TOTALS_NODES / 8,
	    .state = number / TOTALS_NODES % 8,
	    .node = number % TOTALS_NODES,
	    .victim = victim,
	};
}

/* The TOR entry. */
static struct signal request_signal(const struct reporter *reporter, const struct meaning *meaning)
{
	struct signal signal = {
	    .id = SIGNAL_LLC_REQUEST,
	    .qualifiers = meaning->node == reporter->unit.socket ? QUALIFIER_LLC_REQUEST_LOCAL
								 : QUALIFIER_LLC_REQUEST_REMOTE,
	    .request = (uint8_t)meaning->request,
	    .node = (uint8_t)meaning->node,
	};

	if (!meaning->victim)
		signal.qualifiers |= request_qualifiers(meaning->request, meaning->state);
	else if (meaning->state == SIGNAL_STATE_M)
		signal.qualifiers |= QUALIFIER_LLC_REQUEST_EVICTION | QUALIFIER_LLC_REQUEST_MISS;
	else
		signal.qualifiers |= QUALIFIER_LLC_REQUEST_EVICTION;
	return signal;
}

/* The lookup or the replacement. */
static struct signal tags_signal(const struct meaning *meaning)
{
	if (meaning->victim)
		return (struct signal){
		    .id = SIGNAL_LLC_VICTIM,
		    .qualifiers = victim_qualifier(meaning->state),
		    .node = (uint8_t)meaning->node,
		};
	return (struct signal){
	    .id = SIGNAL_LLC_LOOKUP,
	    .qualifiers = lookup_qualifiers(meaning->request),
	    .state = (uint8_t)meaning->state,
	    .node = (uint8_t)meaning->node,
	};
}

/* A victim waits for no time. */
static struct signal ingress_signal(const struct meaning *meaning)
{
	return (struct signal){
	    .id = SIGNAL_LLC_INGRESS,
	    .qualifiers = meaning->request == TOTALS_OF_SNOOPS ? QUALIFIER_LLC_INGRESS_SNOOP
							       : QUALIFIER_LLC_INGRESS_CORE,
	};
}

static void report_slice(const struct reporter *reporter, const struct slice_totals *totals)
{
	const struct meaning request = {.request = REQUEST_READ_DATA};
	const struct meaning snoop = {.request = TOTALS_OF_SNOOPS};
	uint64_t requests = 0, snooped = 0;

	for (uint32_t i = 0; i < TOTALS_ENTRIES; i++) {
		const struct meaning meaning = meaning_of(i);
		const struct total total = totals->entries[i];

		if (!total.count)
			continue;
		report_total(reporter, request_signal(reporter, &meaning), total);
		report_count(reporter, tags_signal(&meaning), total.count);
		if (!meaning.victim && meaning.request == TOTALS_OF_SNOOPS)
			snooped += total.count;
		else if (!meaning.victim)
			requests += total.count;
	}
	report_total(reporter, ingress_signal(&request),
		     (struct total){requests, totals->ingress_cycles[0]});
	report_total(reporter, ingress_signal(&snoop),
		     (struct total){snooped, totals->ingress_cycles[1]});
}

/* Of a request by a node that is @local. */
static struct signal home_signal(enum signal_request request, unsigned node, bool local)
{
	uint32_t qualifiers =
	    local ? QUALIFIER_HOME_REQUEST_WRITE_LOCAL : QUALIFIER_HOME_REQUEST_WRITE_REMOTE;

	if (home_is_read(request))
		qualifiers =
		    local ? QUALIFIER_HOME_REQUEST_READ_LOCAL : QUALIFIER_HOME_REQUEST_READ_REMOTE;
	else if (request == REQUEST_OWN)
		qualifiers =
		    local ? QUALIFIER_HOME_REQUEST_OWN_LOCAL : QUALIFIER_HOME_REQUEST_OWN_REMOTE;
	return (struct signal){.id = SIGNAL_HOME_REQUEST,
			       .qualifiers = qualifiers,
			       .request = (uint8_t)request,
			       .node = (uint8_t)node};
}

static struct signal plain_signal(enum pmu_signal_id id, uint32_t qualifiers)
{
	return (struct signal){.id = (uint16_t)id, .qualifiers = qualifiers};
}

static struct signal snoop_signal(bool local)
{
	return plain_signal(SIGNAL_HOME_SNOOP,
			    local ? QUALIFIER_HOME_SNOOP_LOCAL : QUALIFIER_HOME_SNOOP_REMOTE);
}

static struct signal pending_signal(bool local)
{
	return plain_signal(SIGNAL_HOME_PENDING,
			    local ? QUALIFIER_HOME_PENDING_LOCAL : QUALIFIER_HOME_PENDING_REMOTE);
}

static void report_responses(const struct reporter *reporter, const struct home_totals *totals,
			     unsigned node, bool local)
{
	for (unsigned response = 0; response < TOTALS_RESPONSES; response++) {
		const uint32_t qualifier = home_response_qualifier((enum snoop_response)response);
		const uint64_t count = totals->responses[response][node];

		report_count(reporter, plain_signal(SIGNAL_HOME_RESPONSE, qualifier), count);
		if (local)
			report_count(reporter, plain_signal(SIGNAL_HOME_LOCAL_RESPONSE, qualifier),
				     count);
	}
}

/* What one node asked of the agent. */
static void report_requester(const struct reporter *reporter, const struct home_totals *totals,
			     unsigned node)
{
	const bool local = node == reporter->unit.socket;
	uint64_t reads = 0, all = 0;

	for (unsigned request = 0; request < REQUEST_COUNT; request++) {
		const struct total total = totals->requests[request][node];

		report_total(reporter, home_signal((enum signal_request)request, node, local),
			     total);
		all += total.count;
		reads += home_is_read((enum signal_request)request) ? total.count : 0;
	}
	report_count(reporter, plain_signal(SIGNAL_HOME_REGION, QUALIFIER_HOME_REGION_REGION0),
		     all);
	report_count(reporter, plain_signal(SIGNAL_HOME_MEMORY_READ, 0), reads);
	report_count(reporter,
		     plain_signal(SIGNAL_HOME_DATA, local ? QUALIFIER_HOME_DATA_TO_CORE
							  : QUALIFIER_HOME_DATA_TO_LINK),
		     reads);
	report_total(reporter, snoop_signal(local), totals->snoops[node]);
	report_total(reporter, pending_signal(local),
		     (struct total){reads, totals->pending_cycles[node]});
	report_count(reporter,
		     plain_signal(SIGNAL_HOME_SNOOP_LATE, local ? QUALIFIER_HOME_SNOOP_LATE_LOCAL
								: QUALIFIER_HOME_SNOOP_LATE_REMOTE),
		     totals->snoops_late[node]);
	report_responses(reporter, totals, node, local);
	report_count(reporter,
		     plain_signal(SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL),
		     totals->requests[REQUEST_WRITEBACK][node].count);
	report_count(reporter,
		     plain_signal(SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_PARTIAL),
		     totals->requests[REQUEST_WRITEBACK_PART][node].count);
}

static void report_channel(const struct reporter *reporter, const struct channel_totals *totals)
{
	report_total(reporter, plain_signal(SIGNAL_DRAM_READ_QUEUE, 0), totals->read_queue);
	for (unsigned rank = 0; rank < TOTALS_RANKS; rank++) {
		struct signal signal = {.rank = (uint8_t)rank};

		for (unsigned kind = 0; kind < TOTALS_CAS; kind++) {
			signal.id = SIGNAL_DRAM_CAS;
			signal.qualifiers = dram_cas_qualifiers((enum totals_cas)kind);
			report_count(reporter, signal, totals->cas[kind][rank]);
		}
		for (unsigned write = 0; write < 2; write++) {
			signal.id = SIGNAL_DRAM_ACTIVATE;
			signal.qualifiers = dram_activate_qualifiers(write);
			report_count(reporter, signal, totals->activates[write][rank]);
			signal.id = SIGNAL_DRAM_PRECHARGE;
			signal.qualifiers = dram_precharge_qualifiers(write);
			report_count(reporter, signal, totals->precharges[write][rank]);
		}
	}
}

static void end(const struct reporter *reporter, enum signal_unit kind)
{
	reporter->port->report_end(reporter->port->subscriber, kind, reporter->unit.socket,
				   reporter->unit.unit, reporter->now);
}

/* @param ticks  of the unit's cycle */
static struct reporter reporter_of(const struct machine *machine, unsigned socket, unsigned unit,
				   uint64_t ticks)
{
	return (struct reporter){
	    .port = &machine->port,
	    .unit = {.socket = (uint8_t)socket, .unit = (uint8_t)unit},
	    .now = machine_now(machine) / ticks,
	};
}

static void report_open_entries(const struct reporter *reporter, struct slice *slice,
				unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct meaning meaning;

		if (slice->tor[i] <= reporter->now || slice->tor_totals[i] == TOTALS_NONE)
			continue;
		meaning = meaning_of(slice->tor_totals[i]);
		slice->tor_totals[i] = TOTALS_NONE;
		report_open(reporter, ingress_signal(&meaning), slice->tor_arrivals[i],
			    slice->tor_begins[i]);
		report_open(reporter, request_signal(reporter, &meaning), slice->tor_begins[i],
			    slice->tor[i]);
	}
}

static void catch_up_slice(const struct machine *machine, unsigned socket, unsigned unit)
{
	struct slice *slice = &machine->slices[socket * machine->desc->slices + unit];
	struct reporter reporter;

	/* All requests wait a cycle at least. */
	if (!slice->totals.ingress_cycles[0] && !slice->totals.ingress_cycles[1])
		return;
	reporter = reporter_of(machine, socket, unit, machine->uclk_ticks);
	report_slice(&reporter, &slice->totals);
	report_open_entries(&reporter, slice, machine->desc->tor_entries);
	memset(&slice->totals, 0, sizeof(slice->totals));
	end(&reporter, UNIT_SLICE);
}

static void report_open_trackers(const struct reporter *reporter, struct home *home, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const unsigned node = home->tracker_requesters[i];
		const enum signal_request request = home->tracker_requests[i];
		const bool local = node == reporter->unit.socket;

		if (home->tracker[i] <= reporter->now || request == REQUEST_NONE)
			continue;
		home->tracker_requests[i] = REQUEST_NONE;
		report_open(reporter, home_signal(request, node, local), home->tracker_begins[i],
			    home->tracker[i]);
		report_open(reporter, snoop_signal(local), home->tracker_begins[i],
			    home->tracker_snooped[i]);
		if (home->tracker_data[i])
			report_open(reporter, pending_signal(local), home->tracker_data[i],
				    home->tracker[i]);
	}
}

static void catch_up_home(const struct machine *machine, unsigned socket, unsigned unit)
{
	struct home *home = &machine->homes[socket * machine->desc->home_agents + unit];
	struct reporter reporter;

	if (!home->totals.used)
		return;
	reporter = reporter_of(machine, socket, unit, machine->uclk_ticks);
	for (unsigned node = 0; node < machine->desc->sockets; node++)
		report_requester(&reporter, &home->totals, node);
	report_count(&reporter,
		     plain_signal(SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL),
		     home->totals.other_writes);
	report_open_trackers(&reporter, home, machine->desc->tracker_entries);
	memset(&home->totals, 0, sizeof(home->totals));
	end(&reporter, UNIT_HOME);
}

void reports_channel(const struct machine *machine, unsigned socket, unsigned unit)
{
	const unsigned count = machine->desc->home_agents * machine->desc->channels;
	struct memory_channel *channel = &machine->channels[socket * count + unit];
	struct memory_rpq *rpq = &channel->rpq;
	struct reporter reporter;

	if (!channel->totals.used || !machine->port.report)
		return;
	reporter = reporter_of(machine, socket, unit, machine->dclk_ticks);
	report_channel(&reporter, &channel->totals);
	for (unsigned i = 0; i < machine->desc->rpq_entries; i++) {
		if (rpq->departures[i] <= reporter.now || rpq->accepted[i] == rpq->departures[i])
			continue;
		report_open(&reporter, plain_signal(SIGNAL_DRAM_READ_QUEUE, 0), rpq->accepted[i],
			    rpq->departures[i]);
		rpq->accepted[i] = rpq->departures[i];
	}
	memset(&channel->totals, 0, sizeof(channel->totals));
	end(&reporter, UNIT_CHANNEL);
}

void machine_catch_up_slices(const struct machine *machine, unsigned socket, uint32_t units)
{
	for (; units && machine->port.report; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units);

		if (unit >= machine->desc->slices)
			return;
		catch_up_slice(machine, socket, unit);
	}
}

void machine_catch_up_homes(const struct machine *machine, unsigned socket, uint32_t units)
{
	for (; units && machine->port.report; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units);

		if (unit >= machine->desc->home_agents)
			return;
		catch_up_home(machine, socket, unit);
	}
}

const uint8_t *machine_totals(void)
{
	static const uint8_t totals[SIGNAL_COUNT] = {
	    [SIGNAL_LLC_INGRESS] = 1,
	    [SIGNAL_LLC_LOOKUP] = 1,
	    [SIGNAL_LLC_REQUEST] = 1,
	    [SIGNAL_LLC_VICTIM] = 1,
	    [SIGNAL_HOME_REQUEST] = 1,
	    [SIGNAL_HOME_REGION] = 1,
	    [SIGNAL_HOME_SNOOP] = 1,
	    [SIGNAL_HOME_RESPONSE] = 1,
	    [SIGNAL_HOME_LOCAL_RESPONSE] = 1,
	    [SIGNAL_HOME_MEMORY_READ] = 1,
	    [SIGNAL_HOME_MEMORY_WRITE] = 1,
	    [SIGNAL_HOME_DATA] = 1,
	    [SIGNAL_HOME_PENDING] = 1,
	    [SIGNAL_HOME_SNOOP_LATE] = 1,
	    [SIGNAL_DRAM_CAS] = 1,
	    [SIGNAL_DRAM_ACTIVATE] = 1,
	    [SIGNAL_DRAM_PRECHARGE] = 1,
	    [SIGNAL_DRAM_READ_QUEUE] = 1,
	};

	return totals;
}
