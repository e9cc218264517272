/*
 * The first level of data, for integer loads; stores write through it. A store that it has waits in
 * a buffer until it is written; it comes in the way of loads there, and of lines that come.
 */
#include "machine/epic/first.h"

static void stall(struct epic_core *core, struct access_time *time, enum epic_stall cause,
		  uint64_t cycles)
{
	if (cycles > core->stalls[cause])
		core->stalls[cause] = cycles;
	core->stalled = true;
	time->first += cycles;
}

/* -- Stores ------------------------------------------------------------------------------------ */

uint64_t epic_first_write_later(struct epic_core *core, uint64_t t)
{
	struct first_level *f = &core->shared->first;
	uint64_t cycle = t > f->written ? t : f->written;

	while ((cycle == f->written && f->writes == core->params->store_writes) ||
	       f->filled[cycle % FILLED_FIRST] == cycle)
		cycle++;
	f->writes = cycle == f->written ? f->writes + 1 : 1;
	f->written = cycle;
	return cycle;
}

/* Where the line comes in this cycle, or the buffer is full until one. */
uint64_t epic_first_stall_store(struct epic_core *core, uint64_t t, bool fills, uint64_t full,
				struct access_time *time)
{
	if (fills) {
		stall(core, time, STALL_FILL, 1);
		t++;
	}
	if (full > t) {
		stall(core, time, STALL_FULL, full - t);
		t = full;
	}
	return t;
}

/* -- Loads ------------------------------------------------------------------------------------- */

/* A load of bytes that a store in the buffer has comes again when that is written. */
static void behind_store(struct epic_core *core, const struct access *a, uint64_t t,
			 struct access_time *time)
{
	const struct first_level *f = &core->shared->first;
	uint64_t last = a->address + a->bytes - 1, until = t;

	for (unsigned i = 0; i < core->params->stores; i++) {
		const struct buffered *b = &f->stores[i];

		if (b->written > until && a->address <= b->last && b->first <= last)
			until = b->written;
	}
	if (until > t)
		stall(core, time, a->kind == EPIC_LOAD_CHECK ? STALL_CHECK : STALL_STORED,
		      until - t);
}

static void fill(struct epic_core *core, const struct access *a, uint64_t ready)
{
	struct first_level *f = &core->shared->first;
	uint64_t number = epic_line(&core->l1d, a->address);
	struct line *line = epic_cache_find(&core->l1d, number);

	if (!line)
		epic_cache_fill(&core->l1d, number, ready);
	else if (ready < line->ready)
		line->ready = ready;
	else
		return; /* the one before brings it */
	f->filled[ready % FILLED_FIRST] = ready;
}

/* A miss takes one of the fills, and comes again until one is free. @return the cycle in which it
 * has one */
static uint64_t take_fill(struct epic_core *core, uint64_t t, struct access_time *time)
{
	uint64_t start = epic_ring_wait(&core->shared->first.fills, t);

	if (start > t)
		stall(core, time, STALL_AGAIN, start - t);
	return start;
}

void epic_first_load(struct epic_core *core, const struct access *a, uint64_t t,
		     struct access_time *time)
{
	const struct line *line = epic_cache_find(&core->l1d, epic_line(&core->l1d, a->address));
	bool coming = line != NULL;

	epic_add_access(core, a, CELL_L1D_READ);
	if (line && line->ready <= t) {
		time->latency = core->params->l1d.latency;
		if (core->order.acquired > t) /* nobody else holds it back */
			time->order = core->order.acquired - t;
		if (core->stored_until > t + time->order)
			behind_store(core, a, t + time->order, time);
		return;
	}
	epic_add_access(core, a, a->stack ? CELL_L1D_MISS_STACK : CELL_L1D_MISS);
	if (!coming)
		t = take_fill(core, t, time);
	epic_request(core, a, t, time);
	t += time->pressure + time->latency;
	fill(core, a, t);
	if (!coming)
		epic_ring_take(&core->shared->first.fills, t);
}

/* Takes none of the fills: no load waits for it. */
void epic_first_prefetched(struct epic_core *core, const struct access *a, uint64_t ready)
{
	fill(core, a, ready);
}
