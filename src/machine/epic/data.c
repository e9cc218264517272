/*
 * Data accesses: TLBs, the first level for integer loads (stores write through it), the second
 * level with its queue of requests and its fills under way, the third level, memory.
 */
#include "machine/epic/core.h"

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static enum epic_state state_of(uint64_t tag)
{
	return !tag ? STATE_I : tag & 1 ? STATE_M : STATE_E;
}

/* @return cycles of the core that it takes */
static unsigned transact(struct epic_core *core, enum fabric_kind kind, uint64_t number,
			 uint64_t cycle)
{
	const struct fabric_params *p = &core->params->fabric;
	const struct fabric_request request = {.kind = (uint8_t)kind,
					       .core = (uint8_t)core->number,
					       .time =
						   core->fabric ? epic_fabric_time(core, cycle) : 0,
					       .line = number};
	struct fabric_answer answer = {.latency = fabric_least_latency(p)};

	if (core->fabric)
		fabric_transact(core->fabric, &request, &answer);
	if (kind == FABRIC_WRITE_BACK || !core->fabric)
		return core->params->memory_latency;
	return core->params->memory_latency +
	       (unsigned)((answer.latency - fabric_least_latency(p)) * core->mhz / p->mhz);
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
		epic_add(core, CELL_BUS_WRITEBACK, 1);
		transact(core, FABRIC_WRITE_BACK, (tag >> 1) - 1, cycle);
	}
	return epic_cache_find(&core->l3, number);
}

unsigned epic_l3_read(struct epic_core *core, uint64_t address, uint64_t cycle,
		      enum epic_cell first, const struct access *access, enum epic_state *found)
{
	uint64_t number = epic_line(&core->l3, address);
	unsigned latency;

	third_level(core, number, first, access, cycle, found);
	if (*found != STATE_I)
		return core->params->l3.latency;
	latency = transact(core,
			   first == CELL_L3_CODE_I   ? FABRIC_READ_CODE
			   : first == CELL_L3_DATA_I ? FABRIC_READ_DATA
						     : FABRIC_READ_OWN,
			   number, cycle);
	epic_add(core,
		 first == CELL_L3_CODE_I   ? CELL_BUS_CODE
		 : first == CELL_L3_DATA_I ? CELL_BUS_LOAD
					   : CELL_BUS_OWN,
		 1);
	epic_reads_begin(core, cycle, latency);
	return latency;
}

/* A modified line leaves the second level. */
static void write_back(struct epic_core *core, uint64_t tag, const struct access *access,
		       uint64_t cycle)
{
	enum epic_state found;

	third_level(core, (tag >> 1) - 1, CELL_L3_WRITEBACK_I, access, cycle, &found)->tag |= 1;
}

static void count_request(struct epic_core *core, const struct access *a)
{
	bool write = a->kind == EPIC_STORE || a->kind == EPIC_FP_STORE;

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

/* @return cycles from t until the line is there */
static unsigned fill_second_level(struct epic_core *core, const struct access *a, bool owns,
				  uint64_t number, uint64_t t)
{
	uint64_t wait = epic_ring_wait(&core->fills, t) - t, gone;
	enum epic_state state;
	unsigned latency;

	epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
	epic_add_access(core, a, CELL_L2D_MISS);
	if (wait)
		epic_add(core, CELL_L2D_FILLS_FULL, 1);
	latency = (unsigned)wait + epic_l3_read(core, a->address, t + wait,
						owns ? CELL_L3_OWN_I : CELL_L3_DATA_I, a, &state);
	epic_add_access(core, a, state == STATE_M ? CELL_L2D_FILL_M : CELL_L2D_FILL_E);
	epic_ring_take(&core->fills, t + latency);
	gone = epic_cache_fill(&core->l2d, number, t + latency);
	if (gone & 1)
		write_back(core, gone, a, t + latency);
	return latency;
}

/* @return cycles from t until the line is there; the request and the fill take their entries */
static unsigned second_level(struct epic_core *core, const struct access *a, uint64_t t)
{
	uint64_t number = epic_line(&core->l2d, a->address);
	struct line *line = epic_cache_find(&core->l2d, number);
	bool owns = a->kind == EPIC_STORE || a->kind == EPIC_FP_STORE || a->kind == EPIC_EXCHANGE;
	unsigned latency = core->params->l2d.latency;

	count_request(core, a);
	if (line && line->ready <= t + latency) {
		epic_add_access(core, a, CELL_L2D_HIT);
	} else if (line) {
		epic_add_access(core, a, CELL_L2D_LOOKUP_MISS);
		epic_add_access(core, a, owns ? CELL_L2D_SECONDARY_WRITE : CELL_L2D_SECONDARY_READ);
		latency = (unsigned)(line->ready - t);
	} else {
		latency = fill_second_level(core, a, owns, number, t);
		line = epic_cache_find(&core->l2d, number);
	}
	if (owns)
		line->tag |= 1;
	return latency;
}

static void request(struct epic_core *core, const struct access *a, uint64_t cycle,
		    struct access_time *time)
{
	uint64_t t = epic_ring_wait(&core->requests, cycle);

	time->pressure = t - cycle;
	if (time->pressure)
		epic_add(core, CELL_L2D_REQUESTS_FULL, 1);
	time->latency = second_level(core, a, t);
	epic_ring_take(&core->requests, t + time->latency);
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

/* @return whether the first level has it */
static bool first_level(struct epic_core *core, const struct access *a, uint64_t t)
{
	const struct line *line = epic_cache_find(&core->l1d, epic_line(&core->l1d, a->address));

	epic_add_access(core, a, CELL_L1D_READ);
	if (line && line->ready <= t)
		return true;
	epic_add_access(core, a, a->stack ? CELL_L1D_MISS_STACK : CELL_L1D_MISS);
	return false;
}

static void fill_first_level(struct epic_core *core, const struct access *a, uint64_t ready)
{
	uint64_t number = epic_line(&core->l1d, a->address);
	struct line *line = epic_cache_find(&core->l1d, number);

	if (line)
		line->ready = ready;
	else
		epic_cache_fill(&core->l1d, number, ready);
}

static void load(struct epic_core *core, const struct access *a, uint64_t t,
		 struct access_time *time)
{
	if (first_level(core, a, t)) {
		time->latency = core->params->l1d.latency;
		return;
	}
	request(core, a, t, time);
	fill_first_level(core, a, t + time->pressure + time->latency);
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
	bool read = a->kind != EPIC_STORE && a->kind != EPIC_FP_STORE && a->kind != EPIC_PREFETCH;
	struct detail_miss miss = {
	    .ip = a->ip,
	    .address = a->address,
	    .slot = a->slot,
	    .bundle = a->bundle,
	    .latency = (unsigned)(time->latency + time->pressure + time->transfer + time->walk),
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

struct access_time epic_access(struct epic_core *core, struct access *a, uint64_t cycle)
{
	struct access_time time = {.latency = core->params->l1d.latency};
	bool first = a->kind == EPIC_LOAD || a->kind == EPIC_LOAD_CHECK;
	uint64_t t;

	if (core->marking)
		a->by_data = !core->watch.mark_data ||
			     core->watch.mark_data(core->watch.arg, a->marks, a->address);
	if (a->hit) { /* the ALAT spares the access, not its place in the pipeline */
		epic_add_access(core, a, CELL_L1D_REFERENCE);
		if (first)
			epic_add_access(core, a, CELL_L1D_READ);
		return time;
	}
	count_access(core, a);
	translate(core, a, first, &time);
	t = cycle + time.transfer + time.walk;
	if (first)
		load(core, a, t, &time);
	else
		request(core, a, t, &time);
	if (a->kind == EPIC_PREFETCH)
		fill_first_level(core, a, t + time.pressure + time.latency);
	time.latency = max(time.latency, 1);
	if (core->watch.miss)
		tell(core, a, &time);
	return time;
}
