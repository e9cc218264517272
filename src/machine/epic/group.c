#include "machine/epic/group.h"

#include <string.h>

void epic_bubbles(struct epic_core *core, enum epic_cell cell, uint64_t count)
{
	if (!count)
		return;
	epic_add(core, cell, count);
	epic_add(core, CELL_CYCLES, count);
	if (cell != CELL_BUBBLE_FETCH)
		epic_add(core, CELL_DISPERSAL_STALLED, count);
	core->cycle += count;
	if (core->watch.cycles)
		core->watch.cycles(core->watch.arg, count);
}

static enum epic_cell lost(enum fetch_cause cause)
{
	static const uint8_t cells[] = {[FETCH_RESTEER] = CELL_LOST_RESTEER,
					[FETCH_LOOP] = CELL_LOST_LOOP,
					[FETCH_FILL] = CELL_LOST_FILL,
					[FETCH_CACHE] = CELL_LOST_CACHE,
					[FETCH_TLB] = CELL_LOST_TLB};

	return (enum epic_cell)cells[cause];
}

static enum epic_cell absent(enum fetch_cause cause)
{
	return (enum epic_cell)(lost(cause) - CELL_LOST_FLUSH + CELL_ABSENT_FLUSH);
}

/* Of so many cycles until the chunk is there: the first ones, which have one cause. */
static uint64_t same_cause(const struct fetch *f, uint64_t cycles)
{
	const uint64_t ends[] = {(uint64_t)f->late + f->before.branch, f->late, f->cached};

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (cycles > ends[i])
			return cycles - ends[i];
	return cycles;
}

/* Bundles that would be lost if the back end never stalled: those of a flush, and others. */
static __attribute__((noinline)) void count_absent(struct epic_core *core, uint64_t cycles,
						   uint64_t flush)
{
	const struct fetch *f = &core->fetch;
	uint64_t flushed = cycles < flush ? cycles : flush;

	epic_add(core, CELL_ABSENT_FLUSH, 2 * flushed);
	cycles -= flushed;
	while (cycles) {
		uint64_t part = same_cause(f, cycles);

		epic_add(core, absent(epic_fetch_waits(f, f->available - cycles)), 2 * part);
		cycles -= part;
	}
}

/* Of a stall: cycles until the thread may change. */
static uint64_t stall_span(struct epic_core *core, uint64_t cycles)
{
	return core->rival ? epic_threads_span(core, cycles) : cycles;
}

/* free: the cycle in which it could be dispersed if nothing had stalled */
static void begin_fetched(struct epic_core *core, const struct epic_op *op, uint64_t free,
			  uint64_t flush)
{
	uint64_t available = epic_available(core, op->ip);
	const struct fetch *f = &core->fetch;

	if (available > free)
		count_absent(core, available - free, flush);
	while (available > core->cycle + 1) {
		uint64_t part = same_cause(f, available - core->cycle - 1);
		uint64_t bubble = stall_span(core, part);

		epic_add(core, CELL_NOT_FETCH, 6 * bubble);
		epic_add(core, lost(epic_fetch_waits(f, core->cycle + 1)), 2 * bubble);
		epic_bubbles(core, CELL_BUBBLE_FETCH, bubble);
		if (bubble < part)
			epic_threads_stalled(core);
	}
}

void epic_group_begin(struct epic_core *core, const struct epic_op *op, bool fetched)
{
	struct group *g = &core->group;
	uint64_t flush = core->flush_branch + core->flush_exception;
	uint64_t free = flush ? core->cycle + 1 : g->start + 1;

	memset(g, 0, offsetof(struct group, ip));
	g->latest = 0;
	g->ports = PORTS_FREE;
	g->open = true;
	g->ip = op->ip;
	g->flushed = flush;
	epic_bubbles(core, CELL_BUBBLE_EXCEPTION, core->flush_exception);
	epic_bubbles(core, CELL_BUBBLE_BRANCH, core->flush_branch);
	core->flush_branch = core->flush_exception = 0;
	if (fetched)
		begin_fetched(core, op, free, flush);
	g->start = core->cycle + 1;
}

void epic_group_lose(struct epic_core *core, const struct epic_op *op, enum end why)
{
	struct group *g = &core->group;
	bool whole = op->flags & EPIC_LAST;
	enum epic_cell cell = why == END_STOP || (why == END_TAKEN && op->flags & EPIC_STOP)
				  ? CELL_NOT_EXPLICIT
			      : why == END_FETCH || why == END_FLUSH ? CELL_NOT_FETCH
								     : CELL_NOT_IMPLICIT;

	if (!whole && why <= END_SPLIT) { /* the rest comes in the next cycle */
		epic_add(core, cell, g->bundle ? 3 : 6);
		core->owed += (g->tally & 0xFF) - g->before;
		core->owed_cell =
		    cell == CELL_NOT_EXPLICIT ? CELL_OVER_EXPLICIT : CELL_OVER_IMPLICIT;
		return;
	}
	if (!whole) { /* the rest is dispersed, and squashed */
		unsigned rest = op->slots - 1u - op->slot;

		epic_add(core, CELL_DISPERSED, rest);
		epic_add(core, CELL_NOT_LONG, op->slots == 2 ? 1 : 0);
	}
	core->owed = 0;
	if (!g->bundle)
		epic_add(core, cell, 3);
	if (why == END_TAKEN && !g->bundle) { /* the bundle that came with it */
		epic_add(core, CELL_LOST_UNREACHED, 1);
		epic_add(core, CELL_ABSENT_UNREACHED, 1);
	}
}

void epic_group_lose_late(struct epic_core *core)
{
	enum fetch_cause cause = epic_fetch_waits(&core->fetch, core->group.start);

	epic_add(core, lost(cause), 1);
	epic_add(core, absent(cause), 1);
}

static uint64_t cycles_until(uint64_t need, uint64_t now)
{
	return need > now ? need - now : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Cycles for which operands are not there, of so many; each cause counts its own. */
static void count_waits(struct epic_core *core, uint64_t cycles)
{
	const struct group *g = &core->group;
	uint64_t waits[NEEDS], special, general;

	for (unsigned i = 0; i < NEEDS; i++)
		waits[i] = smaller(cycles_until(g->needs[i], core->cycle + 1), cycles);
	general = larger(waits[NEED_LOADED], waits[NEED_GENERAL]);
	special = larger(waits[NEED_PREDICATE], waits[NEED_APPLICATION]);
	epic_add(core, CELL_EXECUTE_ANY, cycles);
	epic_add(core, CELL_EXECUTE_GENERAL, general);
	epic_add(core, CELL_EXECUTE_FROM_GENERAL, waits[NEED_GENERAL]);
	epic_add(core, CELL_EXECUTE_FLOATING, waits[NEED_FLOATING]);
	epic_add(core, CELL_EXECUTE_PREDICATE, waits[NEED_PREDICATE]);
	epic_add(core, CELL_EXECUTE_APPLICATION, waits[NEED_APPLICATION]);
	epic_add(core, CELL_EXECUTE_SPECIAL, special);
	epic_bubbles(core, CELL_BUBBLE_EXECUTE, cycles);
}

static void wait_for_operands(struct epic_core *core)
{
	while (core->group.latest > core->cycle + 1) {
		uint64_t all = core->group.latest - core->cycle - 1;
		uint64_t cycles = stall_span(core, all);

		count_waits(core, cycles);
		if (cycles < all)
			epic_threads_stalled(core);
	}
}

static void wait_for_stack(struct epic_core *core)
{
	uint64_t all = core->spill + core->fill + core->loadrs, application;

	if (!(all | core->stack_ready))
		return;
	application = cycles_until(core->stack_ready, core->cycle + 1);
	all += application;
	epic_add(core, CELL_STACK_APPLICATION, application);
	epic_add(core, CELL_STACK_SPILL, core->spill);
	epic_add(core, CELL_STACK_FILL, core->fill);
	epic_add(core, CELL_STACK_LOADRS, core->loadrs);
	core->spill = core->fill = core->loadrs = core->stack_ready = 0;
	epic_bubbles(core, CELL_BUBBLE_STACK, all);
}

/* For what is not an access of the group. */
static void wait_for_memory(struct epic_core *core)
{
	uint64_t move = cycles_until(core->moved_ready, core->cycle + 1);

	epic_add(core, CELL_MEMORY_ANY, move + core->nat);
	epic_add(core, CELL_MEMORY_MOVE, move);
	epic_add(core, CELL_MEMORY_NAT, core->nat);
	epic_add(core, CELL_MEMORY_FLOATING, core->unsafe);
	move += core->nat + core->unsafe;
	core->moved_ready = core->nat = core->unsafe = 0;
	epic_bubbles(core, CELL_BUBBLE_MEMORY, move);
}

/* @return all of them together */
static uint64_t count_stalls(struct epic_core *core)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < STALLS; i++) {
		epic_add(core, (enum epic_cell)(CELL_MEMORY_FULL + i), core->stalls[i]);
		all += core->stalls[i];
		core->stalls[i] = 0;
	}
	core->stalled = false;
	return all;
}

void epic_group_stall(struct epic_core *core, const struct access_time *longest)
{
	uint64_t all = longest->pressure + longest->transfer + longest->walk + longest->order;
	uint64_t spill;

	if (__builtin_expect(!(all | core->unat_ready) && !core->stalled, 1))
		return;
	spill = cycles_until(core->unat_ready, core->cycle + 1);
	all += spill;
	core->unat_ready = 0;
	if (core->stalled)
		all += count_stalls(core);
	if (!all)
		return;
	epic_add(core, CELL_MEMORY_ANY, all);
	epic_add(core, CELL_MEMORY_SPILL, spill);
	epic_add(core, CELL_MEMORY_BACK_PRESSURE, longest->pressure);
	epic_add(core, CELL_MEMORY_TLB, longest->transfer);
	epic_add(core, CELL_MEMORY_WALKER, longest->walk);
	epic_add(core, CELL_MEMORY_ORDER, longest->order);
	epic_bubbles(core, CELL_BUBBLE_MEMORY, all);
}

static void do_accesses(struct epic_core *core, unsigned *latencies)
{
	struct group *g = &core->group;
	struct access_time longest = {0};

	for (unsigned i = 0; i < g->access_count; i++) {
		struct access_time time;

		epic_access(core, &g->accesses[i], core->cycle + 1, &time);
		latencies[i] = time.latency;
		epic_access_longest(&longest, &time);
	}
	epic_group_stall(core, &longest);
}

void epic_group_wait(struct epic_core *core)
{
	if (core->stack_waits) {
		core->stack_waits = false;
		wait_for_stack(core);
		wait_for_memory(core);
	}
	wait_for_operands(core);
}

static void deliver(struct epic_core *core, const unsigned *latencies)
{
	const struct group *g = &core->group;

	for (unsigned i = 0; i < g->result_count; i++) {
		const struct result *r = &g->results[i];

		uint64_t cycle = core->cycle + (r->access >= 0 ? latencies[r->access] : 0);

		epic_set_done(core, r->reg, epic_done(core, cycle, r->via));
	}
}

static void count_tally(struct epic_core *core, uint32_t tally)
{
	epic_add(core, CELL_RETIRED, tally & 0xFF);
	epic_add(core, CELL_DISPERSED, tally & 0xFF);
	epic_add(core, CELL_NOP, tally >> TALLY_NOPS & 0xFF);
	epic_add(core, CELL_NOT_LONG, tally >> TALLY_LONG);
}

void epic_group_end(struct epic_core *core, const struct epic_op *op, enum end why)
{
	struct group *g = &core->group;
	unsigned latencies[GROUP_ACCESSES];

	epic_group_lose(core, op, why);
	if (why == END_FETCH)
		epic_group_lose_late(core);
	epic_group_wait(core);
	if (g->access_count)
		do_accesses(core, latencies);
	count_tally(core, g->tally);
	core->cycle++;
	epic_add(core, CELL_CYCLES, 1);
	if (g->marked)
		epic_add(core, CELL_MARKED_CYCLES, core->cycle - g->start + 1);
	deliver(core, latencies);
	g->open = false;
	epic_group_over(core);
	if (__builtin_expect(core->held_count != 0, 0))
		epic_tell_held(core);
}

void epic_group_over(struct epic_core *core)
{
	const struct group *g = &core->group;

	if (core->watch.cycles)
		core->watch.cycles(core->watch.arg, 1);
	if (core->watch.group) {
		struct detail_group told = {g->ip, core->cycle, g->flushed};

		core->watch.group(core->watch.arg, &told);
	}
	if (core->cycle >= core->deadline)
		core->watch.deadline(core->watch.arg);
	if (__builtin_expect(core->rival != NULL, 0))
		epic_threads_retired(core);
}
