/* Data accesses: TLBs, and what is behind the first two levels: the third, memory. */
#include "machine/epic/first.h"

/* From all levels; the first ones have two lines for it. */
void epic_drop_line(struct epic_core *core, uint64_t number)
{
	struct cache *halves[] = {&core->l1d, &core->l1i};
	struct cache *whole[] = {&core->l2d, &core->l2i, &core->l3};

	for (unsigned i = 0; i < 2; i++) {
		epic_cache_drop(halves[i], 2 * number);
		epic_cache_drop(halves[i], 2 * number + 1);
	}
	for (unsigned i = 0; i < 3; i++)
		epic_cache_drop(whole[i], number);
	epic_stream_take(core, 2 * number);
	epic_stream_take(core, 2 * number + 1);
	for (unsigned i = 0; i < EPIC_THREADS; i++)
		if (core->shared->threads[i]) /* asks the cache again */
			core->shared->threads[i]->fetch.line = UINT64_MAX;
}

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static enum epic_state state_of(uint64_t tag)
{
	return !tag ? STATE_I : tag & LINE_DIRTY ? STATE_M : tag & LINE_SHARED ? STATE_S : STATE_E;
}

/*
 * @param victim  receives the tag of the line that goes, unless that is modified; 0: none goes
 * @return the line, in the third level from here on
 */
static struct line *third_level(struct epic_core *core, uint64_t number, enum epic_cell first,
				const struct access *access, uint64_t cycle, enum epic_state *found,
				uint64_t *victim)
{
	uint64_t tag;
	struct line *line = epic_cache_find(&core->l3, number);
	enum epic_state gone;

	*victim = 0;
	*found = line ? state_of(line->tag) : STATE_I;
	epic_add_access(core, access, CELL_L3_REFERENCE);
	epic_add_access(core, access, (enum epic_cell)(first + *found));
	if (line)
		return line;
	epic_add_access(core, access, CELL_L3_MISS);
	tag = epic_cache_fill(&core->l3, number, 0);
	gone = state_of(tag);
	epic_add_access(core, access, (enum epic_cell)(CELL_L3_INSERT_I + gone));
	if (gone == STATE_M) {
		epic_add(core, CELL_L3_REPLACED_M, 1);
		epic_bus_write_back(core, epic_line_of(tag), cycle + 1);
	} else {
		*victim = tag;
	}
	return epic_cache_find(&core->l3, number);
}

static enum fabric_kind kind_of(enum epic_cell first, const struct access *access)
{
	return first == CELL_L3_CODE_I || first == CELL_L3_PREFETCH_I ? FABRIC_READ_CODE
	       : first == CELL_L3_OWN_I || access->hinted	      ? FABRIC_READ_OWN
								      : FABRIC_READ_DATA;
}

static enum epic_cell bus_cell(enum epic_cell first, const struct access *access)
{
	return first == CELL_L3_CODE_I	     ? CELL_BUS_CODE
	       : first == CELL_L3_PREFETCH_I ? CELL_BUS_CODE_PREFETCH
	       : first == CELL_L3_OWN_I	     ? CELL_BUS_OWN
	       : access->hinted		     ? CELL_BUS_OWN_HINT
					     : CELL_BUS_LOAD;
}

/* Whether the program waits for what it reads. */
static bool awaited(enum epic_cell first, const struct access *access)
{
	return first == CELL_L3_CODE_I || access->kind == EPIC_EXCHANGE ||
	       (access->kind >= EPIC_LOAD && access->kind <= EPIC_FP_LOAD_CHECK);
}

/* @return the cycle in which the request is accepted */
static uint64_t accepted(struct epic_core *core, uint64_t cycle, enum epic_cell first,
			 const struct access *access)
{
	uint64_t start =
	    epic_reads_room(core, &core->shared->queue, cycle, core->params->request_buffers);

	if (start > cycle)
		epic_add_access(core, access,
				first == CELL_L3_CODE_I	      ? CELL_L2I_REFUSED
				: first == CELL_L3_PREFETCH_I ? CELL_L2I_REFUSED_PREFETCH
							      : CELL_L2D_REFUSED);
	return start;
}

unsigned epic_l3_read(struct epic_core *core, uint64_t address, uint64_t asked,
		      enum epic_cell first, const struct access *access, enum epic_state *found)
{
	uint64_t number = epic_line(&core->l3, address);
	uint64_t cycle = accepted(core, asked, first, access);
	struct fabric_answer answer;
	uint64_t victim;
	struct line *line = third_level(core, number, first, access, cycle, found, &victim);
	unsigned latency = core->params->l3.latency;

	if (*found == STATE_I) {
		latency = epic_bus_request(core, kind_of(first, access), number, cycle, &answer);
		line->tag |= answer.shared ? LINE_SHARED : 0;
		epic_add(core, bus_cell(first, access), 1);
		epic_reads_begin(core, &core->shared->reads, cycle, latency);
		if (awaited(first, access))
			epic_threads_missed(core, cycle, cycle + latency);
		epic_bus_give_up(core, victim, victim & LINE_SHARED, cycle + 1);
	}
	epic_reads_begin(core, &core->shared->queue, cycle, latency);
	epic_add(core, CELL_QUEUED, 1);
	return latency + (unsigned)(cycle - asked);
}

unsigned epic_upgrade(struct epic_core *core, const struct access *a, uint64_t number,
		      uint64_t cycle)
{
	struct line *second = epic_cache_peek(&core->l2d, number);
	struct line *third = epic_cache_peek(&core->l3, number);
	struct fabric_answer answer;
	unsigned latency = epic_bus_request(core, FABRIC_OWN, number, cycle, &answer);

	epic_reads_begin(core, &core->shared->queue, cycle, latency);
	epic_add(core, CELL_QUEUED, 1);
	epic_add_access(core, a, CELL_L2D_STORE_SHARED);
	if (second)
		second->tag &= ~LINE_SHARED;
	if (third)
		third->tag &= ~LINE_SHARED;
	return latency;
}

/* Only the core's own caches have to be flushed: programs share what they execute. */
void epic_flush(struct epic_core *core, const struct access *a, uint64_t cycle)
{
	uint64_t number = epic_line(&core->l3, a->address);
	const struct line *second = epic_cache_peek(&core->l2d, number);
	const struct line *third = epic_cache_peek(&core->l3, number);
	bool instructions = epic_cache_peek(&core->l2i, number);
	uint64_t tag = instructions ? (number + 1) * 4 : 0;

	tag |= (second ? second->tag : 0) | (third ? third->tag : 0);
	epic_add_access(core, a, CELL_L2D_OTHER);
	epic_add(core, CELL_BUS_FLUSH, 1);
	epic_add(core, CELL_L1I_SNOOP, 1);
	epic_drop_line(core, number);
	epic_bus_flush(core, tag, instructions || tag & LINE_SHARED, cycle);
}

void epic_write_back(struct epic_core *core, uint64_t tag, const struct access *access,
		     uint64_t cycle)
{
	enum epic_state found;
	uint64_t victim;

	third_level(core, epic_line_of(tag), CELL_L3_WRITEBACK_I, access, cycle, &found, &victim)
	    ->tag |= LINE_DIRTY;
	epic_bus_give_up(core, victim, victim & LINE_SHARED, cycle);
}

/* Only integer reads look at the first level. */
static void translate(struct epic_core *core, const struct access *a, bool first,
		      struct access_time *time)
{
	bool hit = first && epic_tlb_find(&core->dtlb1, a->address);

	if (hit)
		return;
	if (epic_tlb_find(&core->dtlb2, a->address)) {
		if (first) {
			epic_add_access(core, a, CELL_DTLB_TRANSFER);
			time->transfer = core->params->tlb_transfer;
		}
		return;
	}
	epic_add_access(core, a, CELL_DTLB_MISS);
	epic_add_access(core, a, CELL_DTLB_WALK);
	epic_add_access(core, a, CELL_DTLB_INSERT);
	time->walk = core->params->walk;
}

/* Retired loads and stores, and those that no boundary keeps from being done at once. */
static void count_access(struct epic_core *core, const struct access *a)
{
	bool writes = a->kind == EPIC_STORE || a->kind == EPIC_FP_STORE;
	bool aligned = !a->bytes || !(a->address & (a->bytes - 1u));
	unsigned unit = writes ? 16 : 8;
	bool inside = (a->address & (unit - 1)) + a->bytes <= unit;

	epic_add_access(core, a, CELL_L1D_REFERENCE);
	if (a->kind == EPIC_PREFETCH)
		return;
	if (!writes)
		epic_add_access(core, a, CELL_LOAD);
	if (writes || a->kind == EPIC_EXCHANGE)
		epic_add_access(core, a, CELL_STORE);
	if (!aligned && inside && !a->stack)
		epic_add_access(core, a, writes ? CELL_MISALIGNED_STORE : CELL_MISALIGNED_LOAD);
}

static void tell(struct epic_core *core, const struct access *a, const struct access_time *time)
{
	bool read = !epic_writes(a) && a->kind < EPIC_PREFETCH;
	struct detail_miss miss = {
	    .ip = a->ip,
	    .address = a->address,
	    .slot = a->slot,
	    .bundle = a->bundle,
	    .latency = (unsigned)(time->latency + time->first + time->pressure + time->transfer +
				  time->walk),
	    .stack = a->stack,
	    .cache = read && time->latency > core->params->l1d.latency,
	    .tlb = time->transfer || time->walk,
	    .walk = time->walk != 0,
	    .by_address = a->marks & SIGNAL_MARK_ADDRESS,
	    .by_mark = a->marks & SIGNAL_MARK_CHANNEL,
	    .by_data = a->by_data,
	};

	if (miss.cache || miss.tlb)
		core->watch.miss(core->watch.arg, &miss);
}

void epic_access(struct epic_core *core, struct access *a, uint64_t cycle, struct access_time *time)
{
	bool first = a->kind == EPIC_LOAD || a->kind == EPIC_LOAD_CHECK;
	uint64_t t;

	*time = (struct access_time){.latency = core->params->l1d.latency};
	if (core->marking)
		a->by_data = !core->watch.mark_data ||
			     core->watch.mark_data(core->watch.arg, a->marks, a->address);
	if (a->hit) { /* the ALAT spares the access, not its place in the pipeline */
		epic_add_access(core, a, CELL_L1D_REFERENCE);
		if (first)
			epic_add_access(core, a, CELL_L1D_READ);
		return;
	}
	if (a->kind < EPIC_FLUSH)
		count_access(core, a);
	if (a->kind != EPIC_FENCE)
		translate(core, a, first, time);
	t = cycle + time->transfer + time->walk;
	if (a->kind == EPIC_FLUSH)
		epic_flush(core, a, t);
	else if (first)
		epic_first_load(core, a, t, time);
	else
		epic_request(core, a,
			     epic_writes(a) && !a->stack ? epic_first_store(core, a, t, time) : t,
			     time);
	if (__builtin_expect(core->rival != NULL, 0) &&
	    (epic_writes(a) || a->kind == EPIC_EXCHANGE))
		epic_threads_stored(core, a->address, a->bytes, t);
	if (a->kind == EPIC_PREFETCH)
		epic_first_prefetched(core, a, t + time->pressure + time->latency);
	time->latency = max(time->latency, 1);
	if (core->watch.miss)
		tell(core, a, time);
}
