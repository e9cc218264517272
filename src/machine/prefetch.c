#include "machine/prefetch.h"

#include "machine/cache.h"
#include "machine/machine.h"
#include "machine/miss.h"
#include "machine/superqueue.h"

/* Not documented (choice). */
#define STREAM_STEPS 2	/* in one direction make a stream */
#define STREAM_STEP  4	/* lines, at most, of one of them */
#define STREAM_NEAR  16 /* lines ahead that L2 takes; of those farther ahead the LLC alone */
#define BUSY	     8	/* misses of the core from which on L2 takes none */

static_assert(STREAMS_MAX <= SCAN_MAX, "a bit a stream");

void machine_set_prefetchers(struct machine *machine, unsigned core, uint32_t on)
{
	__atomic_store_n(&machine->cores[core].prefetch.on, on, __ATOMIC_RELAXED);
}

uint32_t machine_prefetchers(const struct machine *machine, unsigned core)
{
	return prefetch_on(&machine->cores[core]);
}

static bool has(const struct core *core, enum machine_prefetcher prefetcher)
{
	return prefetch_on(core) >> prefetcher & 1;
}

static enum signal_request for_llc(enum signal_request request)
{
	switch (request) {
	case REQUEST_READ_CODE:
		return REQUEST_PREFETCH_CODE;
	case REQUEST_READ_OWN:
		return REQUEST_PREFETCH_OWN;
	default:
		return REQUEST_PREFETCH_DATA;
	}
}

/* The page's stream is the last used then. @return whether it is new */
static bool find_stream(struct prefetch *prefetch, uint32_t page, unsigned streams)
{
	uint32_t found;

	if (prefetch->pages[prefetch->recent] == page + 1)
		return false;
	found = scan_equal(prefetch->pages, streams, page + 1);
	if (found)
		prefetch->recent = (uint32_t)__builtin_ctz(found);
	else if (prefetch->stream_count < streams)
		prefetch->recent = prefetch->stream_count++;
	else
		prefetch->recent = lru_victim32(prefetch->recency, streams);
	prefetch->pages[prefetch->recent] = page + 1;
	lru_touch32(prefetch->recency, prefetch->recent, streams);
	return !found;
}

/* The page's stream, with the request for a line of it. @return NULL where it is no stream yet */
static struct prefetch_stream *follow(struct prefetch *prefetch, uint32_t line, unsigned streams)
{
	const uint8_t now = line % PAGE_LINES;
	const bool new = find_stream(prefetch, line / PAGE_LINES, streams);
	struct prefetch_stream *stream = &prefetch->streams[prefetch->recent];
	int step, ahead;

	if (new) {
		*stream = (struct prefetch_stream){.last = now};
		return NULL;
	}
	step = now - stream->last;
	if (!step)
		return NULL;
	stream->last = now;
	ahead = step * stream->direction;
	if (ahead <= 0 || ahead > STREAM_STEP) {
		stream->direction = step > 0 ? 1 : -1;
		stream->run = step <= STREAM_STEP && step >= -STREAM_STEP;
		stream->next = now;
		return NULL;
	}
	stream->run += stream->run < STREAM_STEPS;
	return stream->run == STREAM_STEPS ? stream : NULL;
}

static bool has_room(const struct machine_hart *core, const struct prefetch_plan *plan,
		     uint64_t now)
{
	return superqueue_has_more(&core->core->prefetch.queue,
				   core->machine->desc->superqueue_entries, plan->asked, now);
}

static bool is_busy(const struct machine_hart *core, uint64_t now)
{
	return superqueue_is_busy(&core->core->prefetch.queue,
				  core->machine->desc->superqueue_entries, BUSY, now);
}

/* @param far  so far ahead that only the LLC is to have it */
static inline void ask(const struct machine_hart *core, struct prefetch_plan *plan, uint32_t line,
		       enum signal_request request, bool far, uint64_t now)
{
	plan->asked++;
	if (!prefetch_is_absent(core, line, now))
		return;
	plan->requests[plan->count++] = (struct prefetch_request){
	    .line = line,
	    .request = far || is_busy(core, now) ? for_llc(request) : request,
	};
}

static inline void extend(const struct machine_hart *core, struct prefetch_stream *stream,
			  uint32_t line, enum signal_request request, uint64_t now,
			  struct prefetch_plan *plan)
{
	const int lines = (int)core->machine->desc->stream_lines;
	const int direction = stream->direction, last = stream->last;
	int next = stream->next, ahead = (next - last) * direction;

	if (ahead <= 0) {
		next = last + direction;
		ahead = 1;
	}
	for (; plan->asked < 2 && next >= 0 && next < PAGE_LINES && ahead <= lines &&
	       has_room(core, plan, now);
	     next += direction, ahead++)
		ask(core, plan, line - (uint32_t)last + (uint32_t)next, request,
		    ahead > STREAM_NEAR, now);
	/* Of the page's lines, also where it is past them. */
	stream->next = (uint8_t)next;
}

static inline void follow_stream(const struct machine_hart *core, uint32_t line,
				 enum signal_request request, uint64_t now,
				 struct prefetch_plan *plan)
{
	struct prefetch_stream *stream =
	    follow(&core->core->prefetch, line, core->machine->desc->streams);

	if (stream)
		extend(core, stream, line, request, now, plan);
}

static bool has_planned(const struct prefetch_plan *plan, uint32_t line)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->requests[i].line == line)
			return true;
	return false;
}

/*
 * To read, also where the request is for ownership: else cores that write to one line in turns
 * would take the other one from each other too (choice).
 */
static void complete_pair(const struct machine_hart *core, uint32_t line,
			  enum signal_request request, uint64_t now, struct prefetch_plan *plan)
{
	if (request == REQUEST_READ_OWN)
		request = REQUEST_READ_DATA;
	if (!has_planned(plan, line ^ 1) && has_room(core, plan, now))
		ask(core, plan, line ^ 1, request, false, now);
}

static uint64_t arrival(const struct machine_hart *core, uint32_t line, uint64_t now)
{
	return superqueue_arrival(&core->core->prefetch.queue,
				  core->machine->desc->superqueue_entries, line, now);
}

/* The same, for L1, which has it at @end but for that. */
static inline uint64_t await(const struct machine_hart *core, uint32_t line,
			     enum signal_request request, uint64_t end)
{
	const uint64_t arrives = arrival(core, line, end);

	if (request != REQUEST_READ_CODE)
		core->core->late += arrives - end;
	return arrives;
}

uint64_t prefetch_missed(const struct machine_hart *core, uint32_t line,
			 enum signal_request request, uint64_t now, uint64_t end,
			 struct prefetch_plan *plan)
{
	plan->count = plan->asked = 0;
	end = await(core, line, request, end);
	superqueue_enter(&core->core->prefetch.queue, core->machine->desc->superqueue_entries, line,
			 end, true);
	if (has(core->core, MACHINE_PREFETCH_STREAM))
		follow_stream(core, line, request, now, plan);
	if (has(core->core, MACHINE_PREFETCH_ADJACENT))
		complete_pair(core, line, request, now, plan);
	return end;
}

static inline void send(struct machine_hart *core, const struct prefetch_plan *plan,
			enum signal_request request, uint64_t now)
{
	if (!plan->count)
		lock_release(&core->core->caches, core->thread);
	else if (machine_is_quiet(core->machine))
		miss_prefetch_quiet(core, plan, request, now);
	else
		miss_prefetch(core, plan, request, now);
}

void prefetch_one(struct machine_hart *core, uint32_t line, uint64_t now)
{
	const struct prefetch_plan plan = {
	    .requests = {{line, REQUEST_READ_DATA}},
	    .count = prefetch_is_absent(core, line, now),
	};

	send(core, &plan, REQUEST_READ_DATA, now);
}

uint64_t prefetch_hit(struct machine_hart *core, uint32_t line, enum signal_request request,
		      uint64_t now)
{
	const uint64_t end = await(core, line, request, now);
	struct prefetch_plan plan;

	plan.count = plan.asked = 0;
	if (has(core->core, MACHINE_PREFETCH_STREAM))
		follow_stream(core, line, request, now, &plan);
	send(core, &plan, request, now);
	return end;
}
