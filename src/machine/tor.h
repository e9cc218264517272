/*
 * A transaction in its LLC slice: the line's index, the ingress queue, the table of requests (TOR),
 * the tag lookup.
 */
#ifndef MACHINE_TOR_H
#define MACHINE_TOR_H

#include "machine/cache.h"
#include "machine/llc_index.h"
#include "machine/llc_set.h"
#include "machine/occupancy.h"
#include "machine/state.h"

/* A message is in its ingress queue for a cycle at least. */
#define TOR_INGRESS_CYCLES 1

/* A way that does not exist: of lines that are absent, as llc_find() says it. */
#define TOR_ABSENT (-1)

struct tor_entry {
	struct slice *slice;
	struct llc_set *set;
	uint32_t line;
	struct llc_index index;
	int way;
	uint8_t socket, core, node; /* core: that asks, in its socket, or SIGNAL_NO_CORE */
	uint8_t source;		    /* enum machine_source; of hits without the state */
	uint8_t taken;		    /* the same, of snoops that took the line from other cores */
	struct core *held;	    /* the core that asks, where its caches are held */
	bool shared;		    /* several cores run */
	bool near; /* nobody else runs, and no socket but the line's home was ever used */
	uint32_t slot, total;		 /* total: what it is for, see totals.h */
	uint64_t arrival, queued, begin; /* uncore cycles; queued: when it had a place in the queue
					  */
	uint64_t cycles;		 /* from begin on: what has been spent so far */
};

static MACHINE_INLINE void tor_fetch_set(const struct llc_set *set)
{
	__builtin_prefetch(set, 1);
}

/** Has the host fetch the set of the line in another socket. */
static MACHINE_INLINE void tor_prefetch(const struct machine *machine,
					const struct tor_entry *entry, unsigned socket)
{
	tor_fetch_set(llc_index_set(machine, socket, entry->index));
}

/** Slice and set of the line at @index in @socket, for an entry that says whether it is shared. */
static MACHINE_INLINE void tor_place(const struct machine *machine, struct tor_entry *entry,
				     unsigned socket, uint32_t line, struct llc_index index)
{
	entry->slice = &machine->llc[socket].slices[index.slice];
	entry->set = llc_index_set(machine, socket, index);
	entry->line = line;
	entry->index = index;
	entry->socket = (uint8_t)socket;
	entry->node = (uint8_t)machine_home_node(machine, line);
}

/** Has the host fetch the set of the other line of 128 bytes, most often beside this one. */
static MACHINE_INLINE void tor_fetch_neighbour(const struct tor_entry *entry)
{
	tor_fetch_set(entry->line & 1 ? entry->set - 1 : entry->set + 1);
}

/** Finds slice and set of @line in @socket; the host begins to fetch the set. */
static MACHINE_INLINE void tor_locate(const struct machine *machine, struct tor_entry *entry,
				      unsigned socket, uint32_t line)
{
	tor_place(machine, entry, socket, line, llc_index_of(machine, line));
	tor_fetch_set(entry->set);
}

/** Looks the line up in its set: TOR_ABSENT or its way. */
static MACHINE_INLINE void tor_find(struct tor_entry *entry)
{
	entry->way = llc_find(entry->set, llc_key(entry->index.tag));
}

static MACHINE_INLINE bool tor_present(const struct tor_entry *entry)
{
	return entry->way >= 0;
}

/* The others are for lines that are present. */
static MACHINE_INLINE enum line_state tor_state(const struct tor_entry *entry)
{
	return llc_state(entry->set, (unsigned)entry->way);
}

static MACHINE_INLINE void tor_set_state(struct tor_entry *entry, enum line_state state)
{
	llc_set_state(entry->set, (unsigned)entry->way, state);
}

/** Whether no core has the line; whether one has, and no other. */
static MACHINE_INLINE bool tor_is_unused(const struct tor_entry *entry)
{
	return llc_core(entry->set, (unsigned)entry->way) == LLC_CORE_NONE;
}

static MACHINE_INLINE bool tor_only_core(const struct tor_entry *entry, unsigned core)
{
	return llc_core(entry->set, (unsigned)entry->way) == LLC_CORE(core);
}

/** @param core  one of LLC_CORE*, but not of several */
static MACHINE_INLINE void tor_set_core(struct tor_entry *entry, unsigned core)
{
	llc_set_core(entry->set, (unsigned)entry->way, core);
}

/** The line comes to the way that is free for it; @core as above. */
static MACHINE_INLINE void tor_put(struct tor_entry *entry, enum line_state state, unsigned core)
{
	llc_put(entry->set, (unsigned)entry->way, llc_key(entry->index.tag), state, core);
}

/* Core-valid bits of the ways of a set that several cores have. */
static MACHINE_INLINE uint32_t *tor_sharers(const struct machine *machine,
					    const struct tor_entry *entry)
{
	const struct machine_llc *llc = &machine->llc[entry->socket];

	return llc->sharers[entry->set - llc->sets].core_valid;
}

/** Core-valid bits; bit n: the n-th core of the socket. */
static MACHINE_INLINE uint32_t tor_core_valid(const struct machine *machine,
					      const struct tor_entry *entry)
{
	const unsigned core = llc_core(entry->set, (unsigned)entry->way);

	if (core == LLC_CORE_NONE)
		return 0;
	if (core == LLC_CORE_SEVERAL)
		return tor_sharers(machine, entry)[entry->way];
	return 1u << (core - LLC_CORE(0));
}

static MACHINE_INLINE void tor_set_core_valid(const struct machine *machine,
					      struct tor_entry *entry, uint32_t core_valid)
{
	if (!core_valid) {
		tor_set_core(entry, LLC_CORE_NONE);
	} else if (core_valid & (core_valid - 1)) {
		tor_set_core(entry, LLC_CORE_SEVERAL);
		tor_sharers(machine, entry)[entry->way] = core_valid;
	} else {
		tor_set_core(entry, LLC_CORE((unsigned)__builtin_ctz(core_valid)));
	}
}

/* What makes room for another. */
static MACHINE_INLINE void tor_clear(struct tor_entry *entry)
{
	llc_clear(entry->set, (unsigned)entry->way);
}

static MACHINE_INLINE void tor_drop(const struct machine *machine, struct tor_entry *entry)
{
	const unsigned way = (unsigned)entry->way;
	uint32_t *sharers = tor_sharers(machine, entry);

	if (llc_has_several(entry->set))
		memmove(sharers + way, sharers + way + 1,
			(LLC_WAYS_MAX - 1 - way) * sizeof(*sharers));
	llc_drop(entry->set, way);
	entry->way = TOR_ABSENT;
}

/* Core-valid bits go with their ways. */
static MACHINE_OUTLINE void tor_move_sharers(uint32_t *sharers, unsigned way)
{
	const uint32_t used = sharers[way];

	memmove(sharers + 1, sharers, way * sizeof(*sharers));
	sharers[0] = used;
}

/** The line is the most recent of its set, and in its first way. */
static MACHINE_INLINE void tor_touch(const struct machine *machine, struct tor_entry *entry)
{
	const unsigned way = (unsigned)entry->way;

	if (!way)
		return;
	if (__builtin_expect(llc_has_several(entry->set), 0))
		tor_move_sharers(tor_sharers(machine, entry), way);
	llc_use(entry->set, way);
	entry->way = 0;
}

/* Holds a line against all cores: it comes from another one. */
#define TOR_FROM_CORE (SIGNAL_NO_CORE - 1)

/*
 * The cycle from which on no other core's transaction holds the line. What one core's own requests
 * do to each other is decided by the core's order already, but for a line that it has yet to get
 * from another core: it cannot write that before it is there.
 */
static MACHINE_INLINE uint64_t tor_line_free(const struct slice *slice,
					     const struct tor_entry *entry)
{
	unsigned held = cache_match20(slice->tor_lines, entry->line + 1);
	uint64_t free_from = 0;

	for (; held; held &= held - 1) {
		unsigned slot = (unsigned)__builtin_ctz(held);

		if (slice->tor_cores[slot] != entry->core)
			free_from = machine_max(free_from, slice->tor[slot]);
	}
	return free_from;
}

/* What is reported of an entry before it is over. */
static MACHINE_INLINE void tor_note_span(struct tor_entry *entry)
{
	entry->slice->tor_arrivals[entry->slot] = entry->queued;
	entry->slice->tor_begins[entry->slot] = entry->begin;
}

static MACHINE_INLINE void tor_set_total(struct tor_entry *entry, uint32_t total)
{
	entry->total = total;
	entry->slice->tor_totals[entry->slot] = MACHINE_EMITS ? TOTALS_NONE : (uint16_t)total;
}

static MACHINE_INLINE void tor_hold_line(struct tor_entry *entry, unsigned core)
{
	entry->slice->tor_lines[entry->slot] = entry->line + 1;
	entry->slice->tor_cores[entry->slot] = (uint8_t)core;
}

/** An entry for who waits in its ingress queue. */
static MACHINE_INLINE void tor_take(const struct machine *machine, struct tor_entry *entry)
{
	struct slice *slice = entry->slice;
	const uint64_t earliest = entry->queued + TOR_INGRESS_CYCLES;

	entry->slot =
	    occupancy_find(slice->tor, machine->desc->tor_entries, earliest, &slice->tor_hint);
	entry->begin = machine_max(earliest, slice->tor[entry->slot]);
	if (entry->shared)
		entry->begin = machine_max(entry->begin, tor_line_free(slice, entry));
	tor_note_span(entry);
	tor_hold_line(entry, entry->core);
}

/** Through the ingress queue @qualifier (one of QUALIFIER_LLC_INGRESS_*) into the TOR, at @now or
 * later. */
static MACHINE_INLINE void tor_enter(struct machine *machine, struct tor_entry *entry,
				     uint32_t qualifier, unsigned core, uint64_t now)
{
	struct slice *slice = entry->slice;
	if (now >= slice->now)
		slice->now = now;
	else if (!entry->shared)
		now = slice->now;
	entry->arrival = entry->queued = now;
	entry->core = (uint8_t)core;
	entry->source = entry->taken = SOURCE_LLC;
	if (qualifier == QUALIFIER_LLC_INGRESS_CORE) {
		uint32_t irq =
		    occupancy_find(slice->irq, machine->desc->irq_entries, now, &slice->irq_hint);

		entry->queued = machine_max(now, slice->irq[irq]);
		tor_take(machine, entry);
		slice->irq[irq] = entry->begin;
	} else {
		tor_take(machine, entry);
	}
	entry->cycles = 0;
	if (!MACHINE_EMITS)
		slice->totals.ingress_cycles[qualifier != QUALIFIER_LLC_INGRESS_CORE] +=
		    entry->begin - entry->queued;
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_INGRESS,
					 .socket = entry->socket,
					 .unit = (uint8_t)entry->index.slice,
					 .qualifiers = qualifier,
					 .time = entry->queued,
					 .duration = entry->begin - entry->queued,
					 .core = entry->core,
				     });
}

/** An entry for the line in @way, which has to make room for @request, which is in the TOR. */
static MACHINE_INLINE void tor_enter_victim(struct machine *machine, struct tor_entry *entry,
					    const struct tor_entry *request, int way)
{
	struct slice *slice = request->slice;
	uint64_t now = request->begin + request->cycles;

	*entry = *request;
	entry->near = false;
	entry->way = way;
	entry->index.tag = llc_key_at(entry->set, (unsigned)way) - 1;
	entry->line = llc_index_line(machine, entry->index);
	entry->node = (uint8_t)machine_home_node(machine, entry->line);
	entry->core = SIGNAL_NO_CORE;
	entry->slot = occupancy_find_other(slice->tor, machine->desc->tor_entries, now,
					   request->slot, &slice->tor_hint);
	entry->begin = machine_max(now, slice->tor[entry->slot]);
	entry->arrival = entry->queued = entry->begin;
	entry->cycles = 0;
	tor_note_span(entry);
	tor_hold_line(entry, request->core);
}

/** The tags of the set have been looked up, for a request, or REQUEST_NONE for a snoop: emits the
 * state found. @return it */
static MACHINE_INLINE enum line_state tor_lookup(struct machine *machine, struct tor_entry *entry,
						 enum signal_request request, uint32_t qualifiers)
{
	enum line_state state;

	state = tor_present(entry) ? tor_state(entry) : LINE_I;
	tor_set_total(entry, totals_request(request, state, entry->node));
	entry->slice->lookups++;
	machine_emit(&machine->port, (struct signal){
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

/** The transaction is complete after entry->cycles. @return cycles since its arrival */
static MACHINE_INLINE uint64_t tor_leave(struct machine *machine, struct tor_entry *entry,
					 uint32_t qualifiers, enum signal_request request)
{
	struct slice *slice = entry->slice;

	slice->tor[entry->slot] = entry->begin + entry->cycles;
	if (entry->source == SOURCE_LLC_MODIFIED)
		tor_hold_line(entry, TOR_FROM_CORE);
	slice->tor_cycles += entry->cycles;
	if (!MACHINE_EMITS)
		total_add(&slice->totals.entries[entry->total], entry->cycles);
	qualifiers |= entry->node == entry->socket ? QUALIFIER_LLC_REQUEST_LOCAL
						   : QUALIFIER_LLC_REQUEST_REMOTE;
	machine_emit(&machine->port, (struct signal){
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

/** Emits what holds an entry (QUALIFIER_LLC_ENTRY_*), or a part of it. */
static MACHINE_INLINE void tor_hold(struct machine *machine, const struct tor_entry *entry,
				    uint32_t qualifier, uint64_t time, uint64_t cycles)
{
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_ENTRY,
					 .socket = entry->socket,
					 .unit = (uint8_t)entry->index.slice,
					 .qualifiers = qualifier,
					 .time = time,
					 .duration = cycles,
				     });
}

/** Of an entry that ends. */
static MACHINE_INLINE void tor_held(struct machine *machine, const struct tor_entry *entry,
				    uint32_t qualifier)
{
	tor_hold(machine, entry, qualifier, entry->begin, entry->cycles);
}

/** Emits a rare outcome (QUALIFIER_LLC_OUTCOME_*). */
static MACHINE_INLINE void tor_misc(struct machine *machine, const struct tor_entry *entry,
				    uint32_t qualifier)
{
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_OUTCOME,
					 .socket = entry->socket,
					 .unit = (uint8_t)entry->index.slice,
					 .qualifiers = qualifier,
					 .time = entry->begin + entry->cycles,
					 .core = entry->core,
				     });
}

#endif
