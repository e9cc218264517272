/*
 * The second level of data: its queue of requests, and its fills under way. Requests for a line
 * that another one waits for come back when that is there; what they met is counted.
 */
#include "machine/epic/bypass.h"

static void count_request(struct epic_core *core, const struct access *a)
{
	bool write = epic_writes(a);

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
			(enum epic_cell)(first + (epic_writes(a)	     ? 1
						  : a->kind == EPIC_EXCHANGE ? 2
									     : 0)));
	epic_bypass_invalid(core, a);
	wait = p->number == number ? p->waiting++ : 0;
	if (wait)
		epic_add_times(core, a, CELL_CANCEL_RECIRCULATED, wait);
	if (ready + wait > core->shared->recirculates)
		core->shared->recirculates = ready + wait;
	return wait;
}

/* Cycles in which there is at least one. */
void epic_hold_order(struct epic_core *core, enum epic_order order, uint64_t from, uint64_t until)
{
	uint64_t *ordered = &core->shared->ordered[order];

	if (until <= *ordered)
		return;
	epic_add(core, (enum epic_cell)(CELL_ACQUIRE + order),
		 until - (from > *ordered ? from : *ordered));
	*ordered = until;
}

static void hold(struct epic_core *core, const struct access *a, uint64_t from, uint64_t until)
{
	if (a->order & EPIC_ACQUIRE)
		epic_hold_order(core, ORDER_ACQUIRE, from, until);
	if (a->order & EPIC_RELEASE)
		epic_hold_order(core, ORDER_RELEASE, from, until);
}

/* A miss that cannot go on at once: beside another of its set, or behind requests that come back.
 * @return cycles that it takes more */
static unsigned forced(struct epic_core *core, const struct access *a, uint64_t number, uint64_t t)
{
	bool same = epic_beside_miss(core, number, t);

	if (same || t < core->shared->recirculates) {
		epic_add_access(core, a, same ? CELL_INSERT_SAME_INDEX : CELL_INSERT_FORCED);
		epic_bypass_invalid(core, a);
		return core->params->queued - core->params->l2d.latency;
	}
	if (epic_loads(a))
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

/* Whether a request of a line is in the queue in a cycle. */
static bool is_queued(const struct epic_shared *shared, unsigned at, uint64_t number,
		      uint64_t cycle)
{
	return shared->asked[at].number == number && shared->asked[at].from <= cycle &&
	       cycle < shared->requests.until[at];
}

/* Requests in the queue that hit a line lose it to one that is asked for in a cycle. */
static void lose(struct epic_core *core, const struct line *line, uint64_t cycle)
{
	const struct epic_shared *shared = core->shared;

	for (unsigned i = 0; i < shared->requests.size; i++)
		if (is_queued(shared, i, epic_line_of(line->tag), cycle) &&
		    line->ready <= shared->asked[i].from + core->params->l2d.latency)
			epic_add(core, CELL_INSERT_LOST, 1);
}

void epic_second_snooped(struct epic_core *core, uint64_t number, uint64_t cycle)
{
	const struct epic_shared *shared = core->shared;

	for (unsigned i = 0; i < shared->requests.size; i++)
		if (is_queued(shared, i, number, cycle))
			epic_add(core, CELL_INSERT_LOST, 1);
	for (const struct line_use *l = shared->leaving; l < shared->leaving + RING_MAX; l++)
		if (l->number == number && l->from <= cycle && cycle < l->until)
			epic_add(core, CELL_BYPASS_SNOOPED_VICTIM, 1);
	for (const struct pending *p = shared->pending; p < shared->pending + RING_MAX; p++)
		if (p->number == number && p->filled < cycle + 3 && cycle < p->filled + 3)
			epic_add(core, CELL_BYPASS_SNOOPED_FILL, 1);
}

const struct pending *epic_second_filled(const struct epic_core *core, uint64_t number,
					 uint64_t cycle)
{
	for (const struct pending *p = core->shared->pending; p < core->shared->pending + RING_MAX;
	     p++)
		if (p->number == number && p->filled == cycle)
			return p;
	return NULL;
}

/* A modified line goes in a cycle, and stays until the third level has it. */
static void give_place(struct epic_core *core, uint64_t number, uint64_t cycle, uint64_t filled)
{
	struct ring *victims = &core->shared->victims;
	uint64_t until = filled + core->params->l3.latency;

	core->shared->leaving[victims->next] = (struct line_use){number, cycle, until, 0};
	epic_ring_take(victims, until);
}

/* @return cycles from t until the line is there */
static unsigned fill_second_level(struct epic_core *core, const struct access *a, bool changes,
				  uint64_t number, uint64_t t)
{
	uint64_t wait = epic_ring_wait(&core->shared->fills, t) - t, gone, shared;
	struct pending *pending = &core->shared->pending[core->shared->fills.next];
	const struct line *last = epic_cache_last(&core->l2d, number);
	bool victim = last->tag & LINE_DIRTY;
	enum epic_state state;
	unsigned latency;

	epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
	epic_add_access(core, a, CELL_L2D_MISS);
	if (wait)
		epic_add(core, CELL_L2D_FILLS_FULL, 1);
	if (victim)
		wait = room_for_victim(core, t + wait) - t;
	wait += forced(core, a, number, t);
	if (last->tag)
		lose(core, last, t + wait);
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
	*pending =
	    (struct pending){number, t, t + wait + core->params->l2d.latency, t + latency, 0};
	epic_ring_take(&core->shared->fills, t + latency);
	if (victim)
		give_place(core, epic_line_of(last->tag), pending->issued, t + latency);
	core->shared->moved[(t + latency) % FILLED] =
	    4 * (t + latency) + (changes ? MOVED_IN_WITH : MOVED_IN);
	if (victim)
		core->shared->moved[pending->issued % FILLED] = 4 * pending->issued + MOVED_OUT;
	gone = epic_cache_fill(&core->l2d, number, t + latency);
	epic_cache_peek(&core->l2d, number)->tag |= shared;
	if (gone & LINE_DIRTY)
		epic_write_back(core, gone, a, t + latency);
	else
		epic_bus_give_up(core, gone, gone & LINE_SHARED, t);
	return latency;
}

/* A store that hit, and does not go past the queue. */
static void hold_store(struct epic_shared *shared, const struct access *a, uint64_t from,
		       uint64_t until)
{
	shared->held[shared->held_next] =
	    (struct held_store){from, until, a->address >> 2, (a->address + a->bytes - 1) >> 2};
	shared->held_next = (shared->held_next + 1) % HELD_STORES;
	if (until > shared->held_until)
		shared->held_until = until;
}

/*
 * @param came  into the queue, where it may have waited
 * @return cycles from t until the line is there; the request and the fill take their entries
 */
static unsigned second_level(struct epic_core *core, const struct access *a, uint64_t t,
			     uint64_t came)
{
	uint64_t number = epic_line(&core->l2d, a->address);
	struct line *line = epic_cache_find(&core->l2d, number);
	bool changes = epic_writes(a) || a->kind == EPIC_EXCHANGE, owns = changes || a->hinted;
	unsigned latency = core->params->l2d.latency;
	bool cancelled = false;

	count_request(core, a);
	if (line && line->ready <= t + latency) {
		latency = epic_second_hit(core, a, number, t, t > came);
		cancelled = latency > core->params->l2d.latency;
		if (changes && (cancelled || t > came))
			hold_store(core->shared, a, came, t + latency);
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
		epic_note_store(core->shared, a, t, cancelled);
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
			a->kind == EPIC_FENCE	   ? CELL_CANCEL_FENCE
			: a->kind == EPIC_EXCHANGE ? CELL_CANCEL_SEMAPHORE
			: sibling		   ? CELL_CANCEL_SIBLING
			: behind		   ? CELL_CANCEL_RELEASE
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

/* A fence goes through the queue, and touches no line. */
static unsigned fence(struct epic_core *core, const struct access *a)
{
	epic_add_access(core, a, CELL_L2D_OTHER);
	return core->params->l2d.latency;
}

static void count_full_data(struct epic_core *core, uint64_t t)
{
	struct epic_shared *shared = core->shared;
	uint64_t until = epic_ring_wait(&shared->data, 0);
	uint64_t from = t > shared->data_full ? t : shared->data_full;

	if (until <= from)
		return;
	epic_add(core, CELL_L2D_DATA_FULL, until - from);
	shared->data_full = until;
}

void epic_request(struct epic_core *core, const struct access *a, uint64_t cycle,
		  struct access_time *time)
{
	bool stores = epic_writes(a) || a->kind == EPIC_EXCHANGE;
	uint64_t t = epic_ring_wait(&core->shared->requests, cycle), start;

	if (t > cycle)
		epic_add(core, CELL_L2D_REQUESTS_FULL, 1);
	if (stores)
		t = epic_ring_wait(&core->shared->data, t);
	time->pressure = t - cycle;
	start = in_order(core, a, t);
	time->latency = (unsigned)(start - t) +
			(a->kind == EPIC_FENCE ? fence(core, a) : second_level(core, a, start, t));
	note_order(core, a, t, t + time->latency);
	if (a->order)
		hold(core, a, t, t + time->latency);
	core->shared->asked[core->shared->requests.next] = (struct asked){
	    a->kind == EPIC_FENCE ? UINT64_MAX : epic_line(&core->l2d, a->address), t};
	epic_ring_take(&core->shared->requests, t + time->latency);
	if (!stores)
		return;
	epic_ring_take(&core->shared->data, t + time->latency);
	count_full_data(core, t);
}
