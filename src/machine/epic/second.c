/*
 * The second level of data: its queue of requests, and its fills under way. Requests for a line
 * that another one waits for come back when that is there; what they met is counted.
 */
#include "machine/epic/core.h"

static bool writes(const struct access *a)
{
	return a->kind == EPIC_STORE || a->kind == EPIC_FP_STORE;
}

static bool is_load(const struct access *a)
{
	return a->kind >= EPIC_LOAD && a->kind <= EPIC_FP_LOAD_CHECK;
}

static void count_request(struct epic_core *core, const struct access *a)
{
	bool write = writes(a);

	if (!write)
		epic_add_access(core, a, CELL_L2D_READ);
	if (write || a->kind == EPIC_EXCHANGE)
		epic_add_access(core, a, CELL_L2D_WRITE);
	epic_add_access(core, a,
			write			   ? CELL_L2D_STORE
			: a->kind == EPIC_EXCHANGE ? CELL_L2D_EXCHANGE
			: a->kind == EPIC_PREFETCH ? CELL_L2D_PREFETCH
			: a->kind == EPIC_FP_LOAD || a->kind == EPIC_FP_LOAD_CHECK
			    ? CELL_L2D_FP_LOAD
			    : CELL_L2D_LOAD);
}

/* A request for a line that is on its way. */
static void count_secondary(struct epic_core *core, const struct access *a, uint64_t number,
			    uint64_t t)
{
	const struct pending *p = core->shared->pending;
	enum epic_cell first;

	for (unsigned i = 0; i + 1 < core->shared->fills.size && p->number != number; i++)
		p++;
	first = t <= p->inserted + 1 ? CELL_SECONDARY_BEFORE_READ
		: t < p->issued	     ? CELL_SECONDARY_QUEUED_READ
				     : CELL_SECONDARY_FILLING_READ;
	epic_add_access(core, a,
			(enum epic_cell)(first + (writes(a)		     ? 1
						  : a->kind == EPIC_EXCHANGE ? 2
									     : 0)));
}

/* Cycles in which at least one request of an order is in the queue. */
static void hold(struct epic_core *core, const struct access *a, uint64_t from, uint64_t until)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!(a->order >> i & 1) || until <= core->shared->ordered[i])
			continue;
		epic_add(core, (enum epic_cell)(CELL_ACQUIRE + i),
			 until -
			     (from > core->shared->ordered[i] ? from : core->shared->ordered[i]));
		core->shared->ordered[i] = until;
	}
}

/* @return cycles from t until the line is there */
static unsigned fill_second_level(struct epic_core *core, const struct access *a, bool changes,
				  uint64_t number, uint64_t t)
{
	uint64_t wait = epic_ring_wait(&core->shared->fills, t) - t, gone, shared;
	struct pending *pending = &core->shared->pending[core->shared->fills.next];
	enum epic_state state;
	unsigned latency;

	epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
	epic_add_access(core, a, CELL_L2D_MISS);
	if (core->shared->missed_cycle == t &&
	    !((core->shared->missed ^ number) & (core->l2d.sets - 1)))
		epic_add_access(core, a, CELL_INSERT_SAME_INDEX);
	core->shared->missed_cycle = t;
	core->shared->missed = number;
	if (is_load(a))
		epic_add_access(core, a, CELL_BYPASS_THIRD);
	if (wait)
		epic_add(core, CELL_L2D_FILLS_FULL, 1);
	latency =
	    (unsigned)wait + epic_l3_read(core, a->address, t + wait,
					  changes ? CELL_L3_OWN_I : CELL_L3_DATA_I, a, &state);
	shared = epic_cache_peek(&core->l3, number)->tag & LINE_SHARED;
	epic_add_access(core, a,
			state == STATE_M ? CELL_L2D_FILL_M
			: shared	 ? CELL_L2D_FILL_S
					 : CELL_L2D_FILL_E);
	*pending = (struct pending){number, t, t + wait + core->params->l2d.latency};
	epic_ring_take(&core->shared->fills, t + latency);
	gone = epic_cache_fill(&core->l2d, number, t + latency);
	epic_cache_peek(&core->l2d, number)->tag |= shared;
	if (gone & LINE_DIRTY)
		epic_write_back(core, gone, a, t + latency);
	return latency;
}

/* @return cycles from t until the line is there; the request and the fill take their entries */
static unsigned second_level(struct epic_core *core, const struct access *a, uint64_t t)
{
	uint64_t number = epic_line(&core->l2d, a->address);
	struct line *line = epic_cache_find(&core->l2d, number);
	bool changes = writes(a) || a->kind == EPIC_EXCHANGE, owns = changes || a->hinted;
	unsigned latency = core->params->l2d.latency;

	count_request(core, a);
	if (line && line->ready <= t + latency) {
		epic_add_access(core, a, CELL_L2D_HIT);
		epic_add_access(core, a, CELL_INSERT_HIT);
		if (is_load(a))
			epic_add_access(core, a, CELL_BYPASS_SECOND);
	} else if (line) {
		epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
		count_secondary(core, a, number, t);
		latency = (unsigned)(line->ready - t);
	} else {
		latency = fill_second_level(core, a, changes, number, t);
		line = epic_cache_find(&core->l2d, number);
	}
	if (owns && line->tag & LINE_SHARED) {
		latency = epic_upgrade(core, a, number, t + latency) + latency;
		line->ready = t + latency;
	}
	if (changes)
		line->tag |= LINE_DIRTY;
	return latency;
}

void epic_request(struct epic_core *core, const struct access *a, uint64_t cycle,
		  struct access_time *time)
{
	uint64_t t = epic_ring_wait(&core->shared->requests, cycle);

	time->pressure = t - cycle;
	if (time->pressure)
		epic_add(core, CELL_L2D_REQUESTS_FULL, 1);
	time->latency = second_level(core, a, t);
	if (a->order)
		hold(core, a, t, t + time->latency);
	epic_ring_take(&core->shared->requests, t + time->latency);
}
