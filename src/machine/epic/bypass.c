/*
 * Hits of the second level of data. A hit goes past the queue, unless something cancels that: then
 * it goes through it. An access that is not aligned takes the second of two bypasses.
 */
#include "machine/epic/core.h"

bool epic_beside_miss(const struct epic_core *core, uint64_t number, uint64_t t)
{
	return core->shared->missed_cycle == t &&
	       !((core->shared->missed ^ number) & (core->l2d.sets - 1));
}

void epic_bypass_invalid(struct epic_core *core, const struct access *a)
{
	if (epic_loads(a))
		epic_add_access(core, a, CELL_BYPASS_INVALID);
}

/* The youngest store that wrote some of these bytes up to three cycles before. @return or NULL */
static const struct stored *store_before(const struct epic_shared *shared, const struct access *a,
					 uint64_t t)
{
	uint64_t first = a->address >> 2, last = (a->address + a->bytes - 1) >> 2;
	const struct stored *found = NULL;
	uint64_t back = STORES_BACK;

	if (t - shared->stored_at >= STORES_BACK)
		return NULL;
	for (unsigned i = 0; i < STORES; i++) {
		const struct stored *s = &shared->stores[i];

		if (t - s->cycle < back && first <= s->last && s->first <= last) {
			back = t - s->cycle;
			found = s;
		}
	}
	return found;
}

void epic_note_store(struct epic_shared *shared, const struct access *a, uint64_t t, bool cancelled)
{
	shared->stores[shared->store_next] =
	    (struct stored){t, a->address >> 2, (a->address + a->bytes - 1) >> 2, cancelled};
	shared->store_next = (shared->store_next + 1) % STORES;
	shared->stored_at = t;
}

/* Takes the banks that the bytes are in. @return whether another one took one in this cycle */
static bool banks_taken(struct epic_core *core, const struct access *a, uint64_t t)
{
	struct epic_shared *shared = core->shared;
	unsigned banks = core->params->banks;
	uint64_t wanted =
	    1ull << (a->address >> 4) % banks | 1ull << ((a->address + a->bytes - 1) >> 4) % banks;
	bool taken;

	if (shared->bank_cycle != t)
		shared->banks = 0;
	taken = shared->banks & wanted;
	shared->bank_cycle = t;
	shared->banks |= wanted;
	return taken;
}

/* Takes one of a cycle's ports of the data. @return false: there is none */
static bool take_port(struct epic_core *core, uint64_t t)
{
	struct issues *i = &core->shared->issues[t % ISSUES];

	if (i->cycle != t)
		*i = (struct issues){t, 0};
	return i->count++ < core->params->issues;
}

/* A line that comes, or is read to be written back. @return EPIC_CELL_COUNT: none in the cycle */
static enum epic_cell line_moves(const struct epic_shared *shared, const struct access *a,
				 uint64_t t)
{
	uint64_t filled = shared->filled[t % FILLED];

	if (a->kind == EPIC_EXCHANGE)
		return EPIC_CELL_COUNT;
	if (filled >> 1 == t)
		return !epic_writes(a)		? CELL_CANCEL_FILL
		       : filled & FILLED_STORED ? CELL_CANCEL_FILL_DATA
						: CELL_CANCEL_FILL_STORE;
	return shared->read_out[t % FILLED] == t ? CELL_CANCEL_WRITE_BACK : EPIC_CELL_COUNT;
}

/* What keeps a hit from going past the queue. @return EPIC_CELL_COUNT: nothing */
static enum epic_cell cancelled(struct epic_core *core, const struct access *a, uint64_t t)
{
	const struct stored *store = NULL;
	enum epic_cell line;
	bool bank = false;

	if (epic_loads(a)) {
		store = store_before(core->shared, a, t);
		bank = banks_taken(core, a, t);
		epic_add_access(core, a, store ? CELL_BYPASS_RELEASE : CELL_BYPASS_INVALID);
	}
	if (store)
		return store->cancelled && t > store->cycle
			   ? CELL_CANCEL_STORE_CANCELLED
			   : (enum epic_cell)(CELL_CANCEL_STORE_0 + (t - store->cycle));
	line = line_moves(core->shared, a, t);
	if (line != EPIC_CELL_COUNT)
		return line;
	if (bank)
		return CELL_CANCEL_BANK;
	/* The register stack's come together, but not in one cycle. */
	return a->stack || take_port(core, t) ? EPIC_CELL_COUNT : CELL_CANCEL_ISSUES;
}

unsigned epic_second_hit(struct epic_core *core, const struct access *a, uint64_t number,
			 uint64_t t, bool held)
{
	const struct epic_params *p = core->params;
	enum epic_cell cancel;

	epic_add_access(core, a, CELL_L2D_HIT);
	if (epic_writes(a) && epic_beside_miss(core, number, t)) {
		epic_add_access(core, a, CELL_INSERT_SIBLING);
		return p->queued;
	}
	epic_add_access(core, a, CELL_INSERT_HIT);
	if (held)
		return p->l2d.latency;
	cancel = cancelled(core, a, t);
	if (cancel != EPIC_CELL_COUNT) {
		epic_add_access(core, a, cancel);
		take_port(core, t + p->queued - p->l2d.latency);
		return p->queued;
	}
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
