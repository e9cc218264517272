#include "machine/prefetch.h"

#include "machine/cause.h"
#include "machine/machine.h"
#include "machine/miss.h"
#include "machine/scan.h"
#include "machine/skew.h"

#define PAGE_LINES (1 << (PAGE_LOG2 - LINE_LOG2))

/* Not documented (choice). */
#define STREAM_STEPS 2	/* in one direction make a stream */
#define STREAM_STEP  4	/* lines, at most, of one of them */
#define STREAM_NEAR  16 /* lines ahead that L2 takes; of those farther ahead the LLC alone */
#define BUSY	     8	/* misses of the core from which on L2 takes none */

#define REQUESTS_MAX 3 /* two of the streamer, and an adjacent line */

/* What a lookup makes L2 ask for. */
struct plan {
	struct prefetch_request requests[REQUESTS_MAX];
	unsigned count;
};

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

static void hold(const struct machine_hart *core)
{
	lock_acquire(&core->core->caches, core->thread);
}

static void release(const struct machine_hart *core)
{
	lock_release(&core->core->caches, core->thread);
}

static_assert(SUPERQUEUE_MAX <= SCAN_MAX && STREAMS_MAX <= SCAN_MAX, "a bit an entry");

uint64_t prefetch_admit(const struct machine_hart *core, uint64_t now)
{
	const struct prefetch *prefetch = &core->core->prefetch;
	uint64_t first;

	hold(core);
	first = prefetch->ends[prefetch->first];
	release(core);
	return machine_max(now, first);
}

static void enter(const struct machine_hart *core, uint32_t line, uint64_t end, bool demand)
{
	struct prefetch *prefetch = &core->core->prefetch;
	const uint32_t slot = prefetch->first;

	prefetch->lines[slot] = line + 1;
	prefetch->ends[slot] = end;
	prefetch->demands = (prefetch->demands & ~(1u << slot)) | (uint32_t)demand << slot;
	prefetch->first = scan_least(prefetch->ends, core->machine->desc->superqueue_entries);
}

/* When a line comes that has been asked for. */
static uint64_t arrival(const struct machine_hart *core, uint32_t line)
{
	const struct prefetch *prefetch = &core->core->prefetch;
	uint32_t found =
	    scan_equal(prefetch->lines, core->machine->desc->superqueue_entries, line + 1);
	uint64_t end = 0;

	for (; found; found &= found - 1)
		end = machine_max(end, prefetch->ends[__builtin_ctz(found)]);
	return end;
}

/* What the superqueue holds at a time. */
struct load {
	unsigned all, demands;
};

static struct load load_at(const struct machine_hart *core, uint64_t now)
{
	const struct prefetch *prefetch = &core->core->prefetch;
	const uint32_t held =
	    scan_later(prefetch->ends, core->machine->desc->superqueue_entries, now);

	return (struct load){
	    .all = (unsigned)__builtin_popcount(held),
	    .demands = (unsigned)__builtin_popcount(held & prefetch->demands),
	};
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

static void ask(struct plan *plan, uint32_t line, enum signal_request request, bool llc_alone)
{
	plan->requests[plan->count++] = (struct prefetch_request){
	    .line = line,
	    .request = llc_alone ? for_llc(request) : request,
	};
}

static unsigned find_page(const struct prefetch *prefetch, uint32_t page, unsigned streams)
{
	const uint32_t found = scan_equal(prefetch->pages, streams, page + 1);

	return found ? (unsigned)__builtin_ctz(found) : streams;
}

static unsigned oldest(const struct prefetch *prefetch, unsigned streams)
{
	unsigned oldest = 0;

	for (unsigned i = 1; i < streams; i++)
		if (prefetch->streams[i].used < prefetch->streams[oldest].used)
			oldest = i;
	return oldest;
}

/* The page's stream, with the request for a line of it. @return NULL where it is no stream yet */
static struct prefetch_stream *follow(struct prefetch *prefetch, uint32_t line, unsigned streams)
{
	const uint32_t page = line / PAGE_LINES;
	const uint8_t now = line % PAGE_LINES;
	unsigned slot = find_page(prefetch, page, streams);
	struct prefetch_stream *stream;
	int step;

	if (slot == streams) {
		slot = oldest(prefetch, streams);
		prefetch->pages[slot] = page + 1;
		prefetch->streams[slot] =
		    (struct prefetch_stream){.last = now, .used = ++prefetch->uses};
		return NULL;
	}
	stream = &prefetch->streams[slot];
	stream->used = ++prefetch->uses;
	step = now - stream->last;
	if (!step)
		return NULL;
	stream->last = now;
	if (step * stream->direction <= 0 || step * stream->direction > STREAM_STEP) {
		stream->direction = step > 0 ? 1 : -1;
		stream->run = step <= STREAM_STEP && step >= -STREAM_STEP;
		stream->next = now;
		return NULL;
	}
	stream->run += stream->run < STREAM_STEPS;
	return stream->run == STREAM_STEPS ? stream : NULL;
}

static void extend(const struct machine_hart *core, struct prefetch_stream *stream, uint32_t line,
		   enum signal_request request, uint64_t now, struct plan *plan)
{
	const struct pmu_machine *desc = core->machine->desc;
	const struct load load = load_at(core, now);
	const unsigned room = desc->superqueue_entries - load.all;
	const int direction = stream->direction, last = stream->last;
	int next = stream->next;

	if ((next - last) * direction <= 0)
		next = last + direction;
	while (plan->count < 2 && plan->count < room && next >= 0 && next < PAGE_LINES &&
	       (next - last) * direction <= (int)desc->stream_lines) {
		ask(plan, line - (uint32_t)last + (uint32_t)next, request,
		    (next - last) * direction > STREAM_NEAR || load.demands >= BUSY);
		next += direction;
	}
	/* Of the page's lines, also where it is past them. */
	stream->next = (uint8_t)next;
}

static void follow_stream(const struct machine_hart *core, uint32_t line,
			  enum signal_request request, uint64_t now, struct plan *plan)
{
	struct prefetch_stream *stream =
	    follow(&core->core->prefetch, line, core->machine->desc->streams);

	if (stream)
		extend(core, stream, line, request, now, plan);
}

/*
 * To read, also where the request is for ownership: else cores that write to one line in turns
 * would take the other one from each other too (choice).
 */
static void complete_pair(const struct machine_hart *core, uint32_t line,
			  enum signal_request request, uint64_t now, struct plan *plan)
{
	const struct load load = load_at(core, now);

	if (request == REQUEST_READ_OWN)
		request = REQUEST_READ_DATA;
	if (load.all + plan->count < core->machine->desc->superqueue_entries)
		ask(plan, line ^ 1, request, load.demands >= BUSY);
}

/* Under both locks and alone. */
static void send(struct machine_hart *core, const struct prefetch_request *request, uint64_t now)
{
	struct machine_state *state = core->machine->state;
	bool pending;
	uint64_t ticks;

	hold(core);
	pending = arrival(core, request->line) > now;
	release(core);
	ticks = pending ? 0 : miss_prefetch(core->machine, core->number, request, now);
	if (!ticks)
		return;
	hold(core);
	enter(core, request->line, now + ticks, false);
	release(core);
	state->horizon = machine_max(state->horizon, now + ticks);
}

static void send_all(struct machine_hart *core, const struct plan *plan, uint64_t now)
{
	for (unsigned i = 0; i < plan->count; i++)
		send(core, &plan->requests[i], now);
}

uint64_t prefetch_missed(struct machine_hart *core, uint32_t line, enum signal_request request,
			 uint64_t now, uint64_t end)
{
	struct plan plan = {0};

	hold(core);
	end = machine_max(end, arrival(core, line));
	enter(core, line, end, true);
	if (has(core->core, MACHINE_PREFETCH_STREAM))
		follow_stream(core, line, request, now, &plan);
	if (has(core->core, MACHINE_PREFETCH_ADJACENT))
		complete_pair(core, line, request, now, &plan);
	release(core);
	send_all(core, &plan, now);
	return end;
}

uint64_t prefetch_hit(struct machine_hart *core, uint32_t line, enum signal_request request,
		      uint64_t now)
{
	struct plan plan = {0};
	uint64_t end;

	hold(core);
	end = machine_max(now, arrival(core, line));
	if (has(core->core, MACHINE_PREFETCH_STREAM))
		follow_stream(core, line, request, now, &plan);
	release(core);
	if (!plan.count)
		return end;
	machine_hold(core->machine, core->thread);
	cause_request(core, request);
	send_all(core, &plan, now);
	skew_note_request(core, false);
	cause_end(&core->machine->port, 0);
	machine_let_go(core->machine);
	return end;
}
