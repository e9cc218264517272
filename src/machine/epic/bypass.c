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
