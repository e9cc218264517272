/*
 * Streaming prefetch of code: a taken branch with .many asks for the lines behind its target, a
 * cycle each, as many ahead of what is fetched as the parameters say, until the next taken branch.
 */
#include "machine/epic/core.h"

/* @return its place in the buffer; STREAM_ROOM: it is not there */
static unsigned find(const struct stream *s, uint64_t line)
{
	unsigned i = 0;

	while (i < STREAM_ROOM && s->lines[i] != line + 1)
		i++;
	return i;
}

uint64_t epic_stream_take(struct epic_core *core, uint64_t line)
{
	struct stream *s = &core->shared->stream;
	unsigned i = find(s, line);

	if (i == STREAM_ROOM)
		return UINT64_MAX;
	s->lines[i] = 0;
	return s->ready[i];
}

static unsigned under_way(const struct stream *s, uint64_t cycle)
{
	unsigned count = 0;

	for (unsigned i = 0; i < STREAM_ROOM; i++)
		count += s->lines[i] && s->ready[i] > cycle;
	return count;
}

/* A free place, or the next one in turn. */
static unsigned place(struct stream *s)
{
	for (unsigned i = 0; i < STREAM_ROOM; i++)
		if (!s->lines[i])
			return i;
	s->at = (s->at + 1) % STREAM_ROOM;
	return s->at;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void stall(struct epic_core *core, uint64_t line)
{
	struct stream *s = &core->shared->stream;

	if (!s->stalled)
		s->stalled = s->cycle;
	s->close = line == core->fetch.line + 1;
}

void epic_stream_unstall(struct epic_core *core)
{
	struct stream *s = &core->shared->stream;
	uint64_t until = core->fetch.next;

	for (unsigned i = 0; i < STREAM_ROOM; i++)
		if (s->lines[i] && s->ready[i] > s->stalled)
			until = smaller(until, s->ready[i]);
	if (until > s->stalled)
		epic_add(core, s->close ? CELL_PREFETCH_STALLED_CLOSE : CELL_PREFETCH_STALLED,
			 until - s->stalled);
	s->stalled = 0;
}

/* A line that the first level has not. @return false: not now */
static __attribute__((noinline)) bool fetch(struct epic_core *core, uint64_t line, bool by_address)
{
	struct stream *s = &core->shared->stream;
	unsigned i, latency;

	if (find(s, line) != STREAM_ROOM)
		return true;
	if (under_way(s, s->cycle) >= core->params->stream_fills) {
		stall(core, line);
		return false;
	}
	i = place(s);
	s->lines[i] = line + 1;
	latency = epic_fetch_line(core, line << core->l1i.line_log2, s->cycle, by_address, true);
	s->ready[i] = s->cycle + latency;
	epic_addresses_begin(core, s->cycle, latency);
	return true;
}

/* @return false: not now */
static bool ask(struct epic_core *core, uint64_t line)
{
	struct stream *s = &core->shared->stream;
	uint64_t address = line << core->l1i.line_log2;
	bool by_address = epic_code_marked(core, address);

	/* Nobody walks for a prefetch. */
	if (core->fetch.page != address >> core->itlb1.page_log2 &&
	    !epic_tlb_peek(&core->itlb1, address)) {
		s->next = 0;
		return false;
	}
	if (!epic_cache_peek(&core->l1i, line) && !fetch(core, line, by_address))
		return false;
	epic_count_code(core, CELL_L1I_PREFETCH, by_address);
	s->next++;
	s->cycle++;
	return true;
}

void epic_stream_go_on(struct epic_core *core, uint64_t line)
{
	struct stream *s = &core->shared->stream;
	uint64_t last = line + core->params->stream_lines;

	if (s->stalled)
		epic_stream_unstall(core);
	if (s->next <= line)
		s->next = line + 1;
	if (s->cycle < core->fetch.next)
		s->cycle = core->fetch.next;
	while (s->next && s->next <= last && ask(core, s->next))
		;
}
