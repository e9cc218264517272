/* What keeps hits of the second level of data from going past its queue. */
#include "machine/epic/bypass.h"

/* The youngest store that wrote some of these bytes up to three cycles before. @return or NULL */
const struct stored *epic_store_before(const struct epic_shared *shared, const struct access *a,
				       uint64_t t)
{
	uint64_t first = a->address >> 2, last = (a->address + a->bytes - 1) >> 2;
	const struct stored *found = NULL;
	uint64_t back = STORES_BACK;

	for (unsigned i = 0; i < STORES; i++) {
		const struct stored *s = &shared->stores[i];

		if (t - (s->when >> 1) < back && first <= s->last && s->first <= last) {
			back = t - (s->when >> 1);
			found = s;
		}
	}
	return found;
}

uint64_t epic_store_held(const struct epic_shared *shared, const struct access *a, uint64_t t)
{
	uint64_t first = a->address >> 2, last = (a->address + a->bytes - 1) >> 2, until = 0;

	for (unsigned i = 0; i < HELD_STORES; i++) {
		const struct held_store *s = &shared->held[i];

		if (s->from < t && t < s->until && first <= s->last && s->first <= last &&
		    s->until > until)
			until = s->until;
	}
	return until;
}

/* Of these, loads of what a store is to write are effective releases. */
static bool is_release(enum epic_cell cancel)
{
	return cancel == CELL_CANCEL_EFFECTIVE || cancel == CELL_CANCEL_STORE_CANCELLED ||
	       (cancel >= CELL_CANCEL_STORE_0 && cancel <= CELL_CANCEL_STORE_3);
}

unsigned epic_second_cancelled(struct epic_core *core, const struct access *a,
			       enum epic_cell cancel, uint64_t t, uint64_t held)
{
	const unsigned latency = core->params->l2d.latency;
	unsigned cycles = core->params->queued;

	if (held > t && held - t + latency > cycles)
		cycles = (unsigned)(held - t) + latency;
	epic_add_access(core, a, cancel);
	epic_come_back(core, t + cycles - latency);
	if (is_release(cancel))
		epic_hold_order(core, ORDER_RELEASE, t, t + cycles);
	return cycles;
}

/* A hit that was cancelled has a port six cycles later. */
void epic_come_back(struct epic_core *core, uint64_t t)
{
	if (t > core->shared->back_at)
		core->shared->back_at = t;
	epic_take_port(core, t);
}

/* A line comes, or is read to be written back. @return EPIC_CELL_COUNT: that is nothing to it */
enum epic_cell epic_line_moves(const struct access *a, enum moved moved)
{
	if (a->kind == EPIC_EXCHANGE)
		return EPIC_CELL_COUNT;
	switch (moved) {
	case MOVED_OUT:
		return CELL_CANCEL_WRITE_BACK;
	case MOVED_IN_WITH:
		return epic_writes(a) ? CELL_CANCEL_FILL_DATA : CELL_CANCEL_FILL;
	default:
		return epic_writes(a) ? CELL_CANCEL_FILL_STORE : CELL_CANCEL_FILL;
	}
}
