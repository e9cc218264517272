/*
 * A transaction in its LLC slice: the line's index, the ingress queue, the table of requests (TOR),
 * the tag lookup.
 */
#ifndef MACHINE_TOR_H
#define MACHINE_TOR_H

#include "machine/cache.h"
#include "machine/llc_index.h"
#include "machine/occupancy.h"
#include "machine/state.h"

/* A way that does not exist: of lines that are absent. */
#define TOR_ABSENT (-1)

struct tor_entry {
	struct slice *slice;
	struct llc_set *set;
	uint32_t line;
	struct llc_index index;
	int way;
	uint8_t socket, core, node; /* core: that asks, in its socket, or SIGNAL_NO_CORE */
	uint32_t slot;
	bool met;		 /* takes the line from another core */
	uint64_t arrival, begin; /* uncore cycles */
	uint64_t cycles;	 /* from begin on: what has been spent so far */
};

/** Finds slice, set and way of @line in @socket. */
void tor_locate(const struct machine *machine, struct tor_entry *entry, unsigned socket,
		uint32_t line);
/** Has the host fetch what tor_locate() will look at, in every socket. */
void tor_prefetch(const struct machine *machine, unsigned socket, uint32_t line);
/** Through the ingress queue @qualifier (one of QUALIFIER_LLC_INGRESS_*) into the TOR, at @now or
 * later. */
void tor_enter(struct machine *machine, struct tor_entry *entry, uint32_t qualifier, unsigned core,
	       uint64_t now);
/** An entry for the line in @way, which has to make room for @request, which is in the TOR. */
void tor_enter_victim(struct machine *machine, struct tor_entry *entry,
		      const struct tor_entry *request, int way);
/** Tags are looked up: emits the state found. @return it */
enum line_state tor_lookup(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers);
/** The transaction is complete after entry->cycles. @return cycles since its arrival */
uint64_t tor_leave(struct machine *machine, struct tor_entry *entry, uint32_t qualifiers,
		   enum signal_request request);

/** Emits a rare outcome (QUALIFIER_LLC_OUTCOME_*). */
void tor_misc(struct machine *machine, const struct tor_entry *entry, uint32_t qualifier);

/* LLC tag word, state bits 0. */
static inline uint32_t tor_word(struct llc_index index)
{
	return (index.tag + 1) << LLC_STATE_BITS;
}

static inline bool tor_present(const struct tor_entry *entry)
{
	return entry->way >= 0;
}

/* The others are for lines that are present. */
static inline enum line_state tor_state(const struct tor_entry *entry)
{
	return (enum line_state)(entry->set->tag[entry->way] & LLC_STATE_MASK);
}

static inline void tor_set_state(struct tor_entry *entry, enum line_state state)
{
	entry->set->tag[entry->way] = tor_word(entry->index) | state;
}

static inline void tor_drop(struct tor_entry *entry)
{
	entry->set->tag[entry->way] = 0;
	entry->set->core_valid[entry->way] = 0;
	entry->way = TOR_ABSENT;
}

static inline uint32_t *tor_core_valid(struct tor_entry *entry)
{
	return &entry->set->core_valid[entry->way];
}

static inline void tor_touch(const struct machine *machine, struct tor_entry *entry)
{
	lru_touch32(entry->set->recency, (unsigned)entry->way, machine->desc->llc.ways);
}

#endif
