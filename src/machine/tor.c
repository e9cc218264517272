#include "machine/tor.h"

/* A message is in its ingress queue for a cycle at least. */
#define INGRESS_CYCLES 1

void tor_locate(const struct machine *machine, struct tor_entry *entry, unsigned socket,
		uint32_t line)
{
	const struct llc_index index = llc_index_of(machine, line);

	entry->slice = &machine->slices[socket * machine->desc->slices + index.slice];
	entry->set = llc_index_set(machine, socket, index);
	entry->line = line;
	entry->index = index;
	entry->way = cache_way(cache_match20(entry->set->tag, tor_word(index), LLC_STATE_MASK));
	entry->socket = (uint8_t)socket;
	entry->node = (uint8_t)machine_home_node(machine, line);
}

void tor_prefetch(const struct machine *machine, unsigned socket, uint32_t line)
{
	const char *set = (const char *)llc_index_set(machine, socket, llc_index_of(machine, line));

	__builtin_prefetch(set, 1);
	__builtin_prefetch(set + 64, 1);
	__builtin_prefetch(set + 128, 1);
}

static struct signal signal_of(const struct tor_entry *entry, enum pmu_signal_id id,
			       uint32_t qualifiers, uint64_t time)
{
	return (struct signal){
	    .id = (uint16_t)id,
	    .socket = entry->socket,
	    .unit = (uint8_t)entry->index.slice,
	    .qualifiers = qualifiers,
	    .time = time,
	    .core = entry->core,
	};
}

/* Holds a line against all cores: it comes from another one. */
#define FROM_CORE (SIGNAL_NO_CORE - 1)

/*
 * The cycle from which on no other core's transaction holds the line. What one core's own requests
 * do to each other is decided by the core's order already, but for a line that it has yet to get
 * from another core: it cannot write that before it is there.
 */
static uint64_t line_free(const struct slice *slice, const struct tor_entry *entry)
{
	unsigned held = cache_match20(slice->tor_lines, entry->line + 1, 0);
	uint64_t free_from = 0;

	for (; held; held &= held - 1) {
		unsigned slot = (unsigned)__builtin_ctz(held);

		if (slice->tor_cores[slot] != entry->core)
			free_from = machine_max(free_from, slice->tor[slot]);
	}
	return free_from;
}

static void hold_line(struct tor_entry *entry, unsigned core)
{
	entry->slice->tor_lines[entry->slot] = entry->line + 1;
	entry->slice->tor_cores[entry->slot] = (uint8_t)core;
}

void tor_enter(struct machine *machine, struct tor_entry *entry, uint32_t qualifier, unsigned core,
	       uint64_t now)
{
	struct slice *slice = entry->slice;
	uint64_t queued;
	uint32_t irq = OCCUPANCY_NONE;

	if (!machine_is_late(machine, slice->now, now))
		slice->now = now = machine_max(slice->now, now);
	entry->arrival = queued = now;
	entry->core = (uint8_t)core;
	entry->met = false;
	if (qualifier == QUALIFIER_LLC_INGRESS_CORE) {
		irq = occupancy_find(slice->irq, machine->desc->irq_entries, queued, OCCUPANCY_NONE,
				     &slice->irq_hint);
		queued = machine_max(queued, slice->irq[irq]);
	}
	entry->slot = occupancy_find(slice->tor, machine->desc->tor_entries,
				     queued + INGRESS_CYCLES, OCCUPANCY_NONE, &slice->tor_hint);
	entry->begin = machine_max(queued + INGRESS_CYCLES, slice->tor[entry->slot]);
	if (machine_is_shared(machine))
		entry->begin = machine_max(entry->begin, line_free(slice, entry));
	hold_line(entry, core);
	if (irq != OCCUPANCY_NONE)
		slice->irq[irq] = entry->begin;
	entry->cycles = 0;
	if (machine_enabled(machine, SIGNAL_LLC_INGRESS)) {
		struct signal signal = signal_of(entry, SIGNAL_LLC_INGRESS, qualifier, queued);

		signal.duration = entry->begin - queued;
		machine_emit(machine, &signal);
	}
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
	hold_line(entry, request->core);
}

enum line_state tor_lookup(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers)
{
	enum line_state state = tor_present(entry) ? tor_state(entry) : LINE_I;

	entry->slice->lookups++;
	if (machine_enabled(machine, SIGNAL_LLC_LOOKUP)) {
		struct signal signal =
		    signal_of(entry, SIGNAL_LLC_LOOKUP, qualifiers, entry->begin + entry->cycles);

		signal.state = (uint8_t)state;
		signal.node = entry->node;
		machine_emit(machine, &signal);
	}
	entry->cycles += machine->desc->llc.latency;
	return state;
}

uint64_t tor_leave(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers,
		   enum signal_request request)
{
	entry->slice->tor[entry->slot] = entry->begin + entry->cycles;
	if (entry->met)
		hold_line(entry, FROM_CORE);
	entry->slice->tor_cycles += entry->cycles;
	if (machine_enabled(machine, SIGNAL_LLC_REQUEST)) {
		struct signal signal =
		    signal_of(entry, SIGNAL_LLC_REQUEST, qualifiers, entry->begin);

		signal.qualifiers |= entry->node == entry->socket ? QUALIFIER_LLC_REQUEST_LOCAL
								  : QUALIFIER_LLC_REQUEST_REMOTE;
		signal.duration = entry->cycles;
		signal.request = (uint8_t)request;
		signal.node = entry->node;
		machine_emit(machine, &signal);
	}
	return entry->begin - entry->arrival + entry->cycles;
}

void tor_misc(struct machine *machine, const struct tor_entry *entry, uint32_t qualifier)
{
	if (machine_enabled(machine, SIGNAL_LLC_OUTCOME)) {
		struct signal signal =
		    signal_of(entry, SIGNAL_LLC_OUTCOME, qualifier, entry->begin + entry->cycles);

		machine_emit(machine, &signal);
	}
}
