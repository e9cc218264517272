/*
 * The front end: 32 bytes a cycle into a buffer of bundles, which it fills while the back end
 * stalls. It fetches where the program goes, and prefetches (stream.c).
 */
#include "machine/epic/core.h"

bool epic_code_marked(const struct epic_core *core, uint64_t address)
{
	return core->marking && core->watch.mark_code &&
	       core->watch.mark_code(core->watch.arg, address);
}

void epic_count_code(struct epic_core *core, enum epic_cell cell, bool by_address)
{
	epic_add(core, cell, 1);
	if (by_address) {
		core->totals[SIGNAL_BY_ADDRESS][cell]++;
		core->totals[SIGNAL_BY_MARK][cell]++;
	}
}

/* Cycles without a fetch: two bundles each. */
static void lose(struct epic_core *core, enum epic_cell cause, uint64_t cycles)
{
	epic_add(core, cause, cycles);
	epic_add(core, (enum epic_cell)(cause - CELL_FETCH_FLUSH + CELL_LATE_FLUSH), 2 * cycles);
}

/* @return cycles for the translation */
static unsigned translate(struct epic_core *core, uint64_t ip, struct detail_fetch *event)
{
	if (epic_tlb_find(&core->itlb1, ip))
		return 0;
	event->tlb = true;
	epic_count_code(core, CELL_ITLB_FIRST, event->by_address);
	if (epic_tlb_find(&core->itlb2, ip))
		return core->params->tlb_transfer;
	event->walk = true;
	epic_count_code(core, CELL_ITLB_SECOND, event->by_address);
	epic_count_code(core, CELL_ITLB_INSERT, event->by_address);
	return core->params->tlb_transfer + core->params->walk;
}

/* The second level has the line, but another one comes to it, which takes its port. @return cycles
 * until that is over */
static unsigned conflict(struct epic_core *core, uint64_t cycle, bool by_address, bool prefetch)
{
	const unsigned takes = core->params->l2i_fill;
	unsigned wait = 0;

	if (cycle >= core->shared->code_fills)
		return 0;
	for (unsigned i = 0; i < CODE_FILLS; i++) {
		uint64_t since = cycle - core->shared->code_filled[i];

		if (since < takes && takes - since > wait)
			wait = (unsigned)(takes - since);
	}
	if (wait)
		epic_count_code(core, prefetch ? CELL_L2I_CONFLICT_PREFETCH : CELL_L2I_CONFLICT,
				by_address);
	return wait;
}

/* A request for a line that is on its way. It goes through the cache again when that has come. */
static unsigned recirculate(struct epic_core *core, const struct line *line, uint64_t cycle,
			    bool by_address, bool prefetch)
{
	epic_count_code(core, prefetch ? CELL_L2I_AGAIN_PREFETCH : CELL_L2I_AGAIN, by_address);
	return (unsigned)(line->ready - cycle) + core->params->l2i.latency;
}

unsigned epic_fetch_line(struct epic_core *core, uint64_t address, uint64_t cycle, bool by_address,
			 bool prefetch)
{
	uint64_t line = epic_line(&core->l2i, address);
	const struct line *found = epic_cache_find(&core->l2i, line);
	struct access access = {.address = address, .by_data = by_address};
	enum epic_state state;
	uint64_t gone;
	unsigned latency;

	epic_count_code(core, CELL_L1I_PAIR, by_address); /* both halves of the line */
	epic_count_code(core, CELL_L1I_PAIR, by_address);
	if (found) {
		epic_count_code(core, prefetch ? CELL_L2I_PREFETCH_HIT : CELL_L2I_HIT, by_address);
		return found->ready <= cycle + core->params->l2i.latency
			   ? core->params->l2i.latency + conflict(core, cycle, by_address, prefetch)
			   : recirculate(core, found, cycle, by_address, prefetch);
	}
	access.marks = by_address ? SIGNAL_MARK_ADDRESS | SIGNAL_MARK_CHANNEL : 0;
	epic_count_code(core, prefetch ? CELL_L2I_PREFETCH_MISS : CELL_L2I_MISS, by_address);
	latency = epic_l3_read(core, address, cycle, prefetch ? CELL_L3_PREFETCH_I : CELL_L3_CODE_I,
			       &access, &state);
	core->shared->code_fill = (core->shared->code_fill + 1) % CODE_FILLS;
	core->shared->code_filled[core->shared->code_fill] = cycle + latency;
	if (cycle + latency + core->params->l2i_fill > core->shared->code_fills)
		core->shared->code_fills = cycle + latency + core->params->l2i_fill;
	gone = epic_cache_fill(&core->l2i, line, cycle + latency);
	if (gone)
		epic_count_code(core, CELL_L2I_VICTIM, by_address);
	epic_bus_give_up(core, gone, true, cycle);
	return latency;
}

/* A line that the first level has not. @return cycles more than a hit takes */
static unsigned miss(struct epic_core *core, uint64_t ip, bool by_address)
{
	uint64_t now = core->fetch.next;
	uint64_t line = epic_line(&core->l1i, ip), ready = epic_stream_take(core, line);
	unsigned latency;

	epic_count_code(core, CELL_L1I_FILL, by_address);
	epic_cache_fill(&core->l1i, line, 0);
	core->fetch.coming.fills = 1;
	if (ready <= now) {
		epic_count_code(core, CELL_BUFFER_ARRIVED, by_address);
		return 0;
	}
	epic_count_code(core, CELL_L1I_MISS, by_address);
	if (ready != UINT64_MAX) {
		epic_count_code(core, CELL_BUFFER_AWAITED, by_address);
		return (unsigned)(ready - now);
	}
	latency = epic_fetch_line(core, ip, now, by_address, false);
	epic_addresses_begin(core, now, latency);
	return latency - core->params->l1i.latency;
}

/* Cycles by which the fetch of a chunk is late. */
static unsigned late(struct epic_core *core, uint64_t ip)
{
	struct fetch *f = &core->fetch;
	struct detail_fetch event = {.address = ip & ~31ull,
				     .by_address = epic_code_marked(core, ip)};
	unsigned cycles = 0;

	epic_count_code(core, CELL_L1I_READ, event.by_address);
	if (f->page != ip >> core->itlb1.page_log2) {
		f->page = ip >> core->itlb1.page_log2;
		cycles = translate(core, ip, &event);
		lose(core, CELL_FETCH_TLB, cycles);
	}
	if (f->line != epic_line(&core->l1i, ip)) {
		f->line = epic_line(&core->l1i, ip);
		if (!epic_cache_find(&core->l1i, f->line)) {
			unsigned waits = miss(core, ip, event.by_address);

			event.cache = waits;
			f->cached = waits;
			cycles += waits;
			lose(core, CELL_FETCH_CACHE, waits);
		}
		if (core->shared->stream.next)
			epic_stream_go_on(core, f->line);
	}
	event.latency = cycles + core->params->l1i.latency;
	if ((event.tlb || event.cache) && core->watch.fetch)
		core->watch.fetch(core->watch.arg, &event);
	return cycles;
}

/* Where the page or the line is not at hand, or somebody marks it. */
static __attribute__((noinline)) uint64_t fetch_slowly(struct epic_core *core, uint64_t ip)
{
	struct fetch *f = &core->fetch;

	f->cached = 0;
	f->late = late(core, ip);
	f->available += f->late;
	f->next = f->available + 1;
	if (f->coming.fills) { /* the line is written, by the one data port */
		lose(core, CELL_FETCH_FILL, 1);
		f->next++;
	}
	return f->available;
}

static __attribute__((noinline)) void wait_for_room(struct epic_core *core, uint64_t room)
{
	lose(core, CELL_FETCH_FULL, room - core->fetch.next);
	core->fetch.next = room;
}

/* The line of a chunk, without delay. @return false: there is one, and nothing is done */
static inline bool has_line(struct epic_core *core, uint64_t ip)
{
	struct fetch *f = &core->fetch;
	uint64_t line = epic_line(&core->l1i, ip), page = ip >> core->itlb1.page_log2;

	if (f->line == line)
		return true;
	if ((f->page != page && !epic_tlb_hit(&core->itlb1, ip)) ||
	    !epic_cache_find(&core->l1i, line))
		return false;
	f->page = page;
	f->line = line;
	if (core->shared->stream.next)
		epic_stream_go_on(core, line);
	return true;
}

uint64_t epic_fetch(struct epic_core *core, uint64_t ip)
{
	struct fetch *f = &core->fetch;
	unsigned n = f->count++;
	/* There is room once the chunk that was fetched so many before is on its way. */
	uint64_t room = f->consumed[(n - core->params->bundles / 2) & 15];

	f->chunk = ip >> 5;
	f->consumed[n & 15] = core->cycle + 1;
	if (__builtin_expect(f->next < room, 0))
		wait_for_room(core, room);
	/* The chunk's first bundle may not be wanted. */
	epic_add(core, CELL_LATE_UNREACHED, ip >> 4 & 1);
	f->available = f->next;
	f->before = f->coming;
	f->coming = (struct fetch_bubbles){0};
	f->late = 0;
	if (core->marking || !has_line(core, ip))
		return fetch_slowly(core, ip);
	epic_add(core, CELL_L1I_READ, 1);
	f->next = f->available + 1;
	return f->available;
}

void epic_fetch_turn(struct epic_core *core, enum fetch_cause cause, unsigned cycles)
{
	struct fetch *f = &core->fetch;

	f->chunk = UINT64_MAX;
	f->next += cycles;
	f->coming.branch = (uint16_t)cycles;
	f->coming.cause = (uint8_t)cause;
	lose(core, cause == FETCH_LOOP ? CELL_FETCH_LOOP : CELL_FETCH_RESTEER, cycles);
}

enum fetch_cause epic_fetch_waits(const struct fetch *f, uint64_t cycle)
{
	uint64_t left = f->available - cycle;

	if (left <= f->late)
		return left <= f->cached ? FETCH_CACHE : FETCH_TLB;
	if (left <= (uint64_t)f->late + f->before.branch)
		return (enum fetch_cause)f->before.cause;
	return f->before.fills ? FETCH_FILL : FETCH_RESTEER;
}

void epic_fetch_redirect(struct epic_core *core, uint64_t cycle)
{
	core->fetch.chunk = UINT64_MAX;
	if (cycle)
		core->fetch.coming = (struct fetch_bubbles){0};
	if (core->fetch.next >= cycle)
		return;
	lose(core, CELL_FETCH_FLUSH, cycle - core->fetch.next);
	core->fetch.next = cycle;
}
