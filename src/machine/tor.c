#include "machine/tor.h"

/* A message is in its ingress queue for a cycle at least. */
#define INGRESS_CYCLES 1

void tor_enter(struct machine *machine, struct tor_entry *entry, uint32_t qualifier, unsigned core,
	       uint64_t now)
{
	struct slice *slice = entry->slice;
	uint64_t queued;
	uint32_t irq = OCCUPANCY_NONE;

	slice->now = queued = entry->arrival = machine_max(slice->now, now);
	if (qualifier == QUALIFIER_LLC_INGRESS_CORE) {
		irq = occupancy_find(slice->irq, machine->desc->irq_entries, queued, OCCUPANCY_NONE,
				     &slice->irq_hint);
		queued = machine_max(queued, slice->irq[irq]);
	}
	entry->slot = occupancy_find(slice->tor, machine->desc->tor_entries,
				     queued + INGRESS_CYCLES, OCCUPANCY_NONE, &slice->tor_hint);
	entry->begin = machine_max(queued + INGRESS_CYCLES, slice->tor[entry->slot]);
	if (irq != OCCUPANCY_NONE)
		slice->irq[irq] = entry->begin;
	entry->core = (uint8_t)core;
	entry->cycles = 0;
	signal_emit(&machine->port, (struct signal){
					.id = SIGNAL_LLC_INGRESS,
					.socket = entry->socket,
					.unit = (uint8_t)entry->index.slice,
					.qualifiers = qualifier,
					.time = queued,
					.duration = entry->begin - queued,
					.core = entry->core,
				    });
}

void tor_enter_victim(struct machine *machine, struct tor_entry *entry,
		      const struct tor_entry *request, int way)
{
	struct slice *slice = request->slice;
	uint64_t now = request->begin + request->cycles;

	*entry = *request;
	entry->way = way;
	entry->index.tag = (entry->set->tag[way] >> LLC_STATE_BITS) - 1;
	entry->line = llc_index_line(machine, entry->index);
	entry->node = (uint8_t)machine_home_node(machine, entry->line);
	entry->core = SIGNAL_NO_CORE;
	entry->slot = occupancy_find(slice->tor, machine->desc->tor_entries, now, request->slot,
				     &slice->tor_hint);
	entry->arrival = entry->begin = machine_max(now, slice->tor[entry->slot]);
	entry->cycles = 0;
}

enum line_state tor_lookup(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers)
{
	enum line_state state;

	tor_find(entry);
	state = tor_present(entry) ? tor_state(entry) : LINE_I;
	entry->slice->lookups++;
	signal_emit(&machine->port, (struct signal){
					.id = SIGNAL_LLC_LOOKUP,
					.socket = entry->socket,
					.unit = (uint8_t)entry->index.slice,
					.qualifiers = qualifiers,
					.time = entry->begin + entry->cycles,
					.state = (uint8_t)state,
					.node = entry->node,
					.core = entry->core,
				    });
	entry->cycles += machine->desc->llc.latency;
	return state;
}

uint64_t tor_leave(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers,
		   enum signal_request request)
{
	entry->slice->tor[entry->slot] = entry->begin + entry->cycles;
	entry->slice->tor_cycles += entry->cycles;
	qualifiers |= entry->node == entry->socket ? QUALIFIER_LLC_REQUEST_LOCAL
						   : QUALIFIER_LLC_REQUEST_REMOTE;
	signal_emit(&machine->port, (struct signal){
					.id = SIGNAL_LLC_REQUEST,
					.socket = entry->socket,
					.unit = (uint8_t)entry->index.slice,
					.qualifiers = qualifiers,
					.time = entry->begin,
					.duration = entry->cycles,
					.request = (uint8_t)request,
					.node = entry->node,
					.core = entry->core,
				    });
	return entry->begin - entry->arrival + entry->cycles;
}

void tor_misc(struct machine *machine, const struct tor_entry *entry, uint32_t qualifier)
{
	signal_emit(&machine->port, (struct signal){
					.id = SIGNAL_LLC_OUTCOME,
					.socket = entry->socket,
					.unit = (uint8_t)entry->index.slice,
					.qualifiers = qualifier,
					.time = entry->begin + entry->cycles,
					.core = entry->core,
				    });
}
