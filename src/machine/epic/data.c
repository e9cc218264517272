/* Data accesses: TLBs, and what is behind the first two levels: the third, memory. */
#include "machine/epic/first.h"

/* From all levels; the first ones have two lines for it. */
static void drop_line(struct epic_core *core, uint64_t number)
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

/* Of packets without and with a line. */
static uint64_t flits(const struct epic_core *core, unsigned messages, unsigned lines)
{
	return messages + (uint64_t)lines * core->params->fabric.line_flits;
}

static uint64_t core_cycles(const struct epic_core *core, uint64_t fabric_cycles)
{
	return fabric_cycles * core->mhz / core->params->fabric.mhz;
}

static bool invalidates(enum fabric_snoop what)
{
	return what == FABRIC_INVALIDATE || what == FABRIC_CLAIM;
}

/* What comes for a snoop, and what goes: an answer, and the line where it is this core's alone. */
static void count_snoop_packets(struct epic_core *core, enum fabric_snoop what,
				enum fabric_found found)
{
	bool alone = found >= FABRIC_EXCLUSIVE, modified = found == FABRIC_MODIFIED;

	epic_add(core,
		 what == FABRIC_CLAIM	     ? CELL_PACKET_SNOOP_CLAIM
		 : what == FABRIC_INVALIDATE ? CELL_PACKET_SNOOP_OWN
		 : what == FABRIC_SHARE_CODE ? CELL_PACKET_SNOOP_CODE
					     : CELL_PACKET_SNOOP_DATA,
		 1);
	epic_add(core, CELL_FLITS_CAME, 1);
	epic_add(core, CELL_FLITS_SENT, flits(core, 1, invalidates(what) ? alone : 1u + modified));
	if (invalidates(what)) {
		epic_add(core,
			 alone ? CELL_PACKET_ANSWER_FORWARDED_INVALID : CELL_PACKET_ANSWER_INVALID,
			 1);
		epic_add(core, modified ? CELL_PACKET_SENT_M : CELL_PACKET_SENT_E, alone);
		return;
	}
	epic_add(core,
		 modified ? CELL_PACKET_ANSWER_FORWARDED_WRITEBACK
			  : CELL_PACKET_ANSWER_FORWARDED_SHARED,
		 1);
	epic_add(core, CELL_PACKET_SENT_S, 1);
	epic_add(core, CELL_PACKET_DATA_KEPT, modified);
}

/* Takes its place in the queue of snoops: as many as there is room for, each as long. */
static void queue_snoop(struct epic_core *core, uint64_t *time)
{
	const struct epic_params *p = core->params;
	uint64_t cycle = core_cycles(core, *time);
	uint64_t start = epic_reads_room(core, &core->shared->snoops, cycle, p->snoops);

	if (start > cycle) {
		epic_add(core, CELL_SNOOPS_FULL, 1);
		*time += (start - cycle) * p->fabric.mhz / core->mhz;
	}
	epic_reads_begin(core, &core->shared->snoops, start,
			 (unsigned)core_cycles(core, p->fabric.snoop));
}

enum fabric_found epic_snoop(struct epic_core *core, uint64_t number, enum fabric_snoop what,
			     uint64_t *time)
{
	struct line *second = epic_cache_peek(&core->l2d, number);
	struct line *third = epic_cache_peek(&core->l3, number);
	bool instructions = epic_cache_peek(&core->l2i, number);
	uint64_t tags = (second ? second->tag : 0) | (third ? third->tag : 0);
	enum fabric_found found =
	    !second && !third && !instructions ? FABRIC_NOTHING
	    : (second && second->tag & LINE_DIRTY) || (third && third->tag & LINE_DIRTY)
		? FABRIC_MODIFIED
	    : instructions || tags & LINE_SHARED ? FABRIC_SHARED
						 : FABRIC_EXCLUSIVE;
	unsigned first = invalidates(what)	     ? CELL_SNOOPED_OWN_MISS
			 : what == FABRIC_SHARE_CODE ? CELL_SNOOPED_CODE_MISS
						     : CELL_SNOOPED_DATA_MISS;

	if (what == FABRIC_LOOK)
		return found;
	core = core->shared->foreground;
	epic_add(core,
		 (enum epic_cell)(first + (found == FABRIC_MODIFIED) + (found != FABRIC_NOTHING)),
		 1);
	queue_snoop(core, time);
	count_snoop_packets(core, what, found);
	if (invalidates(what)) {
		epic_add(core, CELL_L1I_SNOOP, 2); /* both halves of the line */
		epic_add(core, CELL_L2I_SNOOP_HIT, instructions);
		drop_line(core, number);
		if (core->rival)
			epic_threads_stored(core, number << core->l3.line_log2,
					    1u << core->l3.line_log2, core->cycle);
		return found;
	}
	if (second)
		second->tag = (second->tag & ~LINE_DIRTY) | LINE_SHARED;
	if (third)
		third->tag = (third->tag & ~LINE_DIRTY) | LINE_SHARED;
	return found;
}

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static enum epic_state state_of(uint64_t tag)
{
	return !tag ? STATE_I : tag & LINE_DIRTY ? STATE_M : tag & LINE_SHARED ? STATE_S : STATE_E;
}

static void tell_request(struct epic_core *core, const struct fabric_request *request,
			 const struct fabric_answer *answer)
{
	const struct detail_request detail = {
	    .address = request->line << core->l3.line_log2,
	    .time = request->time,
	    .end = request->time + answer->latency,
	    .latency = core_cycles(core, answer->latency),
	    .apart = core_cycles(core, core->params->fabric.line_flits / 2),
	    .message = answer->message,
	    .home = answer->home,
	    .reads = request->kind < FABRIC_OWN,
	    .from_home = !answer->from_cache,
	};

	if (core->watch.request)
		core->watch.request(core->watch.arg, &detail);
}

/* Of a request, and of what answers it. */
static void count_packets(struct epic_core *core, enum fabric_kind kind,
			  const struct fabric_answer *answer)
{
	bool owns = kind == FABRIC_READ_OWN || kind == FABRIC_OWN;

	epic_add(core, (enum epic_cell)(CELL_PACKET_READ_DATA + kind), 1);
	epic_add(core, CELL_FLITS_SENT, flits(core, 1, kind == FABRIC_WRITE_BACK));
	epic_add(core, CELL_FLITS_CAME,
		 flits(core, answer->from_cache || kind >= FABRIC_OWN,
		       answer->from_cache || kind < FABRIC_OWN));
	if (kind == FABRIC_WRITE_BACK) {
		epic_add(core, CELL_PACKET_DATA_WRITTEN, 1);
		epic_add(core, CELL_PACKET_COMPLETE, 1);
	} else if (answer->from_cache) {
		epic_add(core,
			 answer->modified ? CELL_PACKET_CAME_M
			 : owns		  ? CELL_PACKET_CAME_E
					  : CELL_PACKET_CAME_S,
			 1);
		epic_add(core, CELL_PACKET_COMPLETE, 1);
	} else if (kind == FABRIC_OWN) {
		epic_add(core, CELL_PACKET_GRANT, 1);
	} else {
		epic_add(core,
			 answer->shared ? CELL_PACKET_CAME_S_COMPLETE : CELL_PACKET_CAME_E_COMPLETE,
			 1);
	}
}

/* @return cycles of the core that it takes */
static unsigned transact(struct epic_core *core, enum fabric_kind kind, uint64_t number,
			 uint64_t cycle, struct fabric_answer *answer)
{
	const struct fabric_params *p = &core->params->fabric;
	const uint64_t least = fabric_least_latency(p);
	const struct fabric_request request = {.kind = (uint8_t)kind,
					       .core = (uint8_t)core->number,
					       .time =
						   core->fabric ? epic_fabric_time(core, cycle) : 0,
					       .line = number};

	*answer = (struct fabric_answer){.latency = least};
	if (core->fabric)
		fabric_transact(core->fabric, &request, answer);
	if (core->fabric)
		tell_request(core, &request, answer);
	count_packets(core, kind, answer);
	if (kind == FABRIC_WRITE_BACK || !core->fabric)
		return core->params->memory_latency;
	/* What is faster than a read of memory is so by as much. */
	if (answer->latency < least)
		return core->params->memory_latency -
		       (unsigned)core_cycles(core, least - answer->latency);
	return core->params->memory_latency + (unsigned)core_cycles(core, answer->latency - least);
}

/* A modified line goes. */
static void leave_for_memory(struct epic_core *core, uint64_t number, uint64_t cycle)
{
	struct fabric_answer answer;

	epic_add(core, CELL_BUS_WRITEBACK, 1);
	transact(core, FABRIC_WRITE_BACK, number, cycle, &answer);
}

/* @return the line, in the third level from here on */
static struct line *third_level(struct epic_core *core, uint64_t number, enum epic_cell first,
				const struct access *access, uint64_t cycle, enum epic_state *found)
{
	uint64_t tag;
	struct line *line = epic_cache_find(&core->l3, number);
	enum epic_state gone;

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
		leave_for_memory(core, epic_line_of(tag), cycle);
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
	struct line *line = third_level(core, number, first, access, cycle, found);
	unsigned latency = core->params->l3.latency;

	if (*found == STATE_I) {
		latency = transact(core, kind_of(first, access), number, cycle, &answer);
		line->tag |= answer.shared ? LINE_SHARED : 0;
		epic_add(core, bus_cell(first, access), 1);
		epic_reads_begin(core, &core->shared->reads, cycle, latency);
		if (awaited(first, access))
			epic_threads_missed(core, cycle, cycle + latency);
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
	unsigned latency = transact(core, FABRIC_OWN, number, cycle, &answer);

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
	struct line *second = epic_cache_peek(&core->l2d, number);
	struct line *third = epic_cache_peek(&core->l3, number);

	epic_add_access(core, a, CELL_L2D_OTHER);
	epic_add(core, CELL_BUS_FLUSH, 1);
	epic_add(core, CELL_L1I_SNOOP, 1);
	if ((second && second->tag & LINE_DIRTY) || (third && third->tag & LINE_DIRTY))
		leave_for_memory(core, number, cycle);
	drop_line(core, number);
}

void epic_write_back(struct epic_core *core, uint64_t tag, const struct access *access,
		     uint64_t cycle)
{
	enum epic_state found;

	third_level(core, epic_line_of(tag), CELL_L3_WRITEBACK_I, access, cycle, &found)->tag |=
	    LINE_DIRTY;
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
