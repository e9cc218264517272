/*
 * Hits of the second level of data. A hit goes past the queue, unless something cancels that: then
 * it goes through it. An access that is not aligned takes the second of two bypasses.
 */
#ifndef MACHINE_EPIC_BYPASS_H
#define MACHINE_EPIC_BYPASS_H

#include "machine/epic/core.h"

/** Whether a line is in the set of another one that the second level missed in this cycle. */
static inline bool epic_beside_miss(const struct epic_core *core, uint64_t number, uint64_t t)
{
	return core->shared->missed_cycle == t &&
	       !((core->shared->missed ^ number) & (core->l2d.sets - 1));
}

/** What the access, if it is a load, asked of the third level as it came is not wanted. */
static inline void epic_bypass_invalid(struct epic_core *core, const struct access *a)
{
	if (epic_loads(a))
		epic_add_access(core, a, CELL_BYPASS_INVALID);
}

/** It stores in a cycle. cancelled: it has to go by the queue. */
static inline void epic_note_store(struct epic_shared *shared, const struct access *a, uint64_t t,
				   bool cancelled)
{
	shared->stores[shared->store_next] =
	    (struct stored){2 * t + cancelled, a->address >> 2, (a->address + a->bytes - 1) >> 2};
	shared->store_next = (shared->store_next + 1) % STORES;
	shared->stored_at = t;
}

/** The youngest store that wrote some of these bytes up to three cycles before. @return or NULL */
const struct stored *epic_store_before(const struct epic_shared *shared, const struct access *a,
				       uint64_t t);
/** Until when a store of some of these bytes is in the queue; 0: none is. */
uint64_t epic_store_held(const struct epic_shared *shared, const struct access *a, uint64_t t);
/** A hit that was cancelled comes back in a cycle, and has a port of the data then. */
void epic_come_back(struct epic_core *core, uint64_t t);
/**
 * A hit goes by the queue.
 * @param held  as of epic_cancelled()
 * @return cycles that it takes
 */
unsigned epic_second_cancelled(struct epic_core *core, const struct access *a,
			       enum epic_cell cancel, uint64_t t, uint64_t held);
/** A line moves in its cycle. @return what that cancels; EPIC_CELL_COUNT: nothing */
enum epic_cell epic_line_moves(const struct access *a, enum moved moved);

/* Takes the banks that the bytes are in. @return whether another one took one in this cycle */
static inline bool epic_banks_taken(struct epic_core *core, const struct access *a, uint64_t t)
{
	struct epic_shared *shared = core->shared;
	unsigned mask = core->params->banks - 1;
	uint64_t wanted =
	    1ull << (a->address >> 4 & mask) | 1ull << ((a->address + a->bytes - 1) >> 4 & mask);
	bool taken;

	if (shared->bank_cycle != t)
		shared->banks = 0;
	taken = shared->banks & wanted;
	shared->bank_cycle = t;
	shared->banks |= wanted;
	return taken;
}

/* Takes one of a cycle's ports of the data. There are enough where nothing comes back from the
 * queue.
 * @return false: there is none */
static inline bool epic_take_port(struct epic_core *core, uint64_t t)
{
	uint64_t *issues = &core->shared->issues[t % ISSUES];

	if (t > core->shared->back_at)
		return true;
	if (*issues >> 4 != t)
		*issues = t << 4;
	return ((*issues)++ & 15) < core->params->issues;
}

/*
 * What keeps a hit from going past the queue.
 * @param held  receives until when a store is in the queue that it has to wait for; 0: none is
 * @return EPIC_CELL_COUNT: nothing
 */
static inline enum epic_cell epic_cancelled(struct epic_core *core, const struct access *a,
					    uint64_t t, uint64_t *held)
{
	const struct stored *store = NULL;
	uint64_t moved = core->shared->moved[t % FILLED];
	enum epic_cell line = EPIC_CELL_COUNT;
	bool bank = false;

	if (epic_loads(a)) {
		if (t - core->shared->stored_at < STORES_BACK)
			store = epic_store_before(core->shared, a, t);
		*held = !store && t < core->shared->held_until ? epic_store_held(core->shared, a, t)
							       : 0;
		bank = epic_banks_taken(core, a, t);
		epic_add_access(core, a,
				store || *held ? CELL_BYPASS_RELEASE : CELL_BYPASS_INVALID);
	}
	if (*held)
		return CELL_CANCEL_EFFECTIVE;
	if (store)
		return store->when & 1 && t > store->when >> 1
			   ? CELL_CANCEL_STORE_CANCELLED
			   : (enum epic_cell)(CELL_CANCEL_STORE_0 + (t - (store->when >> 1)));
	if (__builtin_expect(moved >> 2 == t, 0))
		line = epic_line_moves(a, (enum moved)(moved & 3));
	if (line != EPIC_CELL_COUNT)
		return line;
	if (bank)
		return CELL_CANCEL_BANK;
	/* The register stack's come together, but not in one cycle. */
	return a->stack || epic_take_port(core, t) ? EPIC_CELL_COUNT : CELL_CANCEL_ISSUES;
}

/**
 * A line that the second level has.
 * @param held  it waited in the queue before
 * @return cycles from t until it has its data
 */
static inline unsigned epic_second_hit(struct epic_core *core, const struct access *a,
				       uint64_t number, uint64_t t, bool held)
{
	const struct epic_params *p = core->params;
	enum epic_cell cancel;
	uint64_t store = 0;

	epic_add_access(core, a, CELL_L2D_HIT);
	if (epic_writes(a) && epic_beside_miss(core, number, t)) {
		epic_add_access(core, a, CELL_INSERT_SIBLING);
		return p->queued;
	}
	epic_add_access(core, a, CELL_INSERT_HIT);
	if (held)
		return p->l2d.latency;
	cancel = epic_cancelled(core, a, t, &store);
	if (cancel != EPIC_CELL_COUNT)
		return epic_second_cancelled(core, a, cancel, t, store);
	if (!epic_loads(a))
		return p->l2d.latency;
	if (a->address & (a->bytes - 1u)) {
		epic_add_access(core, a, CELL_CANCEL_RECIRCULATED);
		epic_add_access(core, a, CELL_BYPASS_LATER);
		return p->bypass_second;
	}
	epic_add_access(core, a, CELL_BYPASS_SECOND);
	return p->l2d.latency;
}

#endif
