/*
 * The second level of data: its queue of requests, and its fills under way. Requests for a line
 * that another one waits for come back when that is there; what they met is counted. A hit goes
 * past the queue, unless something cancels that.
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

/* A request for a line that is on its way. One of them a cycle comes back when that is there, and
 * the others try again. @return cycles that it takes more */
static unsigned secondary(struct epic_core *core, const struct access *a, uint64_t number,
			  uint64_t t, uint64_t ready)
{
	struct pending *p = core->shared->pending;
	enum epic_cell first;
	unsigned wait;

	for (unsigned i = 0; i + 1 < core->shared->fills.size && p->number != number; i++)
		p++;
	first = t <= p->inserted + 1 ? CELL_SECONDARY_BEFORE_READ
		: t < p->issued	     ? CELL_SECONDARY_QUEUED_READ
				     : CELL_SECONDARY_FILLING_READ;
	epic_add_access(core, a,
			(enum epic_cell)(first + (writes(a)		     ? 1
						  : a->kind == EPIC_EXCHANGE ? 2
									     : 0)));
	wait = p->number == number ? p->waiting++ : 0;
	if (wait)
		epic_add_times(core, a, CELL_CANCEL_RECIRCULATED, wait);
	if (ready + wait > core->shared->recirculates)
		core->shared->recirculates = ready + wait;
	return wait;
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

static bool same_set(const struct epic_core *core, uint64_t number, uint64_t t)
{
	return core->shared->missed_cycle == t &&
	       !((core->shared->missed ^ number) & (core->l2d.sets - 1));
}

/* A miss that cannot go on at once: beside another of its set, or behind requests that come back.
 * @return cycles that it takes more */
static unsigned forced(struct epic_core *core, const struct access *a, uint64_t number, uint64_t t)
{
	bool same = same_set(core, number, t);

	if (same || t < core->shared->recirculates) {
		epic_add_access(core, a, same ? CELL_INSERT_SAME_INDEX : CELL_INSERT_FORCED);
		return core->params->queued - core->params->l2d.latency;
	}
	if (is_load(a))
		epic_add_access(core, a, CELL_BYPASS_THIRD);
	return 0;
}

/* The cycle in which a line that has to be written finds a place. */
static uint64_t room_for_victim(struct epic_core *core, uint64_t t)
{
	uint64_t start = epic_ring_wait(&core->shared->victims, t);

	if (start > t)
		epic_add(core, CELL_L2D_VICTIMS_FULL, 1);
	return start;
}

/* @return cycles from t until the line is there */
static unsigned fill_second_level(struct epic_core *core, const struct access *a, bool changes,
				  uint64_t number, uint64_t t)
{
	uint64_t wait = epic_ring_wait(&core->shared->fills, t) - t, gone, shared;
	struct pending *pending = &core->shared->pending[core->shared->fills.next];
	bool victim = epic_cache_last(&core->l2d, number)->tag & LINE_DIRTY;
	enum epic_state state;
	unsigned latency;

	epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
	epic_add_access(core, a, CELL_L2D_MISS);
	if (wait)
		epic_add(core, CELL_L2D_FILLS_FULL, 1);
	if (victim)
		wait = room_for_victim(core, t + wait) - t;
	wait += forced(core, a, number, t);
	core->shared->missed_cycle = t;
	core->shared->missed = number;
	latency =
	    (unsigned)wait + epic_l3_read(core, a->address, t + wait,
					  changes ? CELL_L3_OWN_I : CELL_L3_DATA_I, a, &state);
	shared = epic_cache_peek(&core->l3, number)->tag & LINE_SHARED;
	epic_add_access(core, a,
			state == STATE_M ? CELL_L2D_FILL_M
			: shared	 ? CELL_L2D_FILL_S
					 : CELL_L2D_FILL_E);
	*pending = (struct pending){number, t, t + wait + core->params->l2d.latency, 0};
	epic_ring_take(&core->shared->fills, t + latency);
	if (victim) /* until the third level has it */
		epic_ring_take(&core->shared->victims, t + latency + core->params->l3.latency);
	core->shared->filled[(t + latency) % FILLED] = t + latency;
	gone = epic_cache_fill(&core->l2d, number, t + latency);
	epic_cache_peek(&core->l2d, number)->tag |= shared;
	if (gone & LINE_DIRTY)
		epic_write_back(core, gone, a, t + latency);
	else
		epic_bus_give_up(core, gone, gone & LINE_SHARED, t);
	return latency;
}

/* Of a store that wrote up to three cycles before: how many. @return STORES_BACK: there is none */
static unsigned store_before(const struct epic_shared *shared, const struct access *a, uint64_t t)
{
	uint64_t first = a->address >> 2, last = (a->address + a->bytes - 1) >> 2;
	unsigned found = STORES_BACK;

	if (t - shared->stored_at >= STORES_BACK)
		return found;
	for (unsigned i = 0; i < STORES; i++) {
		const struct stored *s = &shared->stores[i];

		if (t - s->cycle < found && first <= s->last && s->first <= last)
			found = (unsigned)(t - s->cycle);
	}
	return found;
}

static void note_store(struct epic_shared *shared, const struct access *a, uint64_t t)
{
	shared->stores[shared->store_next] =
	    (struct stored){t, a->address >> 2, (a->address + a->bytes - 1) >> 2};
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

/* What keeps a hit from going past the queue. @return EPIC_CELL_COUNT: nothing */
static enum epic_cell cancelled(struct epic_core *core, const struct access *a, uint64_t t)
{
	unsigned back = STORES_BACK;
	bool bank = false;

	if (is_load(a)) {
		back = store_before(core->shared, a, t);
		bank = banks_taken(core, a, t);
	}
	if (back < STORES_BACK)
		return (enum epic_cell)(CELL_CANCEL_STORE_0 + back);
	if (core->shared->filled[t % FILLED] == t && a->kind != EPIC_EXCHANGE)
		return writes(a) ? CELL_CANCEL_FILL_STORE : CELL_CANCEL_FILL;
	return bank ? CELL_CANCEL_BANK : EPIC_CELL_COUNT;
}

/* @param held  it waited in the queue before. @return cycles from t until it has its data */
static unsigned hit(struct epic_core *core, const struct access *a, uint64_t number, uint64_t t,
		    bool held)
{
	enum epic_cell cancel = EPIC_CELL_COUNT;

	epic_add_access(core, a, CELL_L2D_HIT);
	if (writes(a) && same_set(core, number, t)) {
		epic_add_access(core, a, CELL_INSERT_SIBLING);
		return core->params->queued;
	}
	epic_add_access(core, a, CELL_INSERT_HIT);
	if (held)
		return core->params->l2d.latency;
	cancel = cancelled(core, a, t);
	if (cancel != EPIC_CELL_COUNT) {
		epic_add_access(core, a, cancel);
		return core->params->queued;
	}
	if (is_load(a))
		epic_add_access(core, a, CELL_BYPASS_SECOND);
	return core->params->l2d.latency;
}

/*
 * @param held  it waited in the queue before
 * @return cycles from t until the line is there; the request and the fill take their entries
 */
static unsigned second_level(struct epic_core *core, const struct access *a, uint64_t t, bool held)
{
	uint64_t number = epic_line(&core->l2d, a->address);
	struct line *line = epic_cache_find(&core->l2d, number);
	bool changes = writes(a) || a->kind == EPIC_EXCHANGE, owns = changes || a->hinted;
	unsigned latency = core->params->l2d.latency;

	count_request(core, a);
	if (line && line->ready <= t + latency) {
		latency = hit(core, a, number, t, held);
	} else if (line) {
		epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
		latency = (unsigned)(line->ready - t);
		latency += secondary(core, a, number, t, line->ready);
	} else {
		latency = fill_second_level(core, a, changes, number, t);
		line = epic_cache_find(&core->l2d, number);
	}
	if (owns && line->tag & LINE_SHARED) {
		latency = epic_upgrade(core, a, number, t + latency) + latency;
		line->ready = t + latency;
	}
	if (changes) {
		line->tag |= LINE_DIRTY;
		note_store(core->shared, a, t);
	}
	return latency;
}

/*
 * The cycle from t on in which a request may be done: behind acquires that are in the queue, and a
 * release behind all others of its thread. Prefetches wait for nobody.
 */
static uint64_t in_order(struct epic_core *core, const struct access *a, uint64_t t)
{
	const struct order *o = &core->order;
	uint64_t start = o->acquired > t ? o->acquired : t;
	bool behind = a->order & EPIC_RELEASE && o->done > start;
	bool sibling = behind ? o->last == t : o->acquire == t;

	if (behind)
		start = o->done;
	if (start == t || a->kind == EPIC_PREFETCH)
		return t;
	epic_add_access(core, a,
			a->kind == EPIC_EXCHANGE ? CELL_CANCEL_SEMAPHORE
			: sibling		 ? CELL_CANCEL_SIBLING
			: behind		 ? CELL_CANCEL_RELEASE
						 : CELL_CANCEL_ACQUIRE);
	return start;
}

static void note_order(struct epic_core *core, const struct access *a, uint64_t t, uint64_t end)
{
	struct order *o = &core->order;

	if (a->kind == EPIC_PREFETCH)
		return;
	o->last = t;
	o->done = end > o->done ? end : o->done;
	if (a->order & EPIC_ACQUIRE) {
		o->acquire = t;
		o->acquired = end > o->acquired ? end : o->acquired;
	}
}

void epic_request(struct epic_core *core, const struct access *a, uint64_t cycle,
		  struct access_time *time)
{
	uint64_t t = epic_ring_wait(&core->shared->requests, cycle);
	uint64_t start = in_order(core, a, t);

	time->pressure = t - cycle;
	if (time->pressure)
		epic_add(core, CELL_L2D_REQUESTS_FULL, 1);
	time->latency = (unsigned)(start - t) + second_level(core, a, start, start > t);
	note_order(core, a, t, t + time->latency);
	if (a->order)
		hold(core, a, t, t + time->latency);
	epic_ring_take(&core->shared->requests, t + time->latency);
}
