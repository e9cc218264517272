#include "machine/buffers.h"

#include "machine/mshr_ring.h"

/* Of the loads that a core begins in a cycle. */
#define LOADS_A_CYCLE 2

void buffers_init(struct machine_hart *core)
{
	const struct machine_uarch *uarch = core->machine->uarch;
	struct machine_buffers *buffers = &core->buffers;
	uint32_t cycles;

	buffers->fence = buffers->hold = buffers->due = UINT64_MAX;
	if (!uarch)
		return;
	buffers->loads = uarch->load_buffer;
	buffers->stores = uarch->store_buffer;
	buffers->least = buffers->loads < buffers->stores ? buffers->loads : buffers->stores;
	cycles = buffers->loads / LOADS_A_CYCLE;
	cycles = cycles < buffers->stores ? cycles : buffers->stores;
	buffers->hold = cycles * core->machine->core_ticks;
}

static struct machine_holding *holding_at(struct machine_hart *core, uint32_t place)
{
	return &core->buffers.holding[place % MACHINE_HOLDING_MAX];
}

static void forget_ended(struct machine_hart *core, uint64_t now)
{
	struct machine_buffers *buffers = &core->buffers;

	while (buffers->first != buffers->next && holding_at(core, buffers->first)->end <= now)
		buffers->first++;
}

/* Those that have ended before older ones go too. */
static void make_room(struct machine_hart *core, uint64_t now)
{
	struct machine_buffers *buffers = &core->buffers;
	const uint32_t end = buffers->next;

	forget_ended(core, now);
	buffers->next = buffers->first;
	for (uint32_t place = buffers->first; place != end; place++)
		if (holding_at(core, place)->end > now)
			*holding_at(core, buffers->next++) = *holding_at(core, place);
	/* What has not ended is among the misses, as what comes is. */
	assert(buffers->next - buffers->first < MACHINE_HOLDING_MAX);
}

/* Entries taken by what the miss holds up. */
static uint32_t stores_behind(const struct machine_hart *core, const struct machine_holding *miss)
{
	return (uint16_t)(core->progress->stores - miss->stores);
}

static uint32_t loads_since(const struct machine_hart *core, const struct machine_holding *miss)
{
	return (uint16_t)(core->progress->loads - miss->loads);
}

static uint32_t loads_behind(const struct machine_hart *core, const struct machine_holding *miss)
{
	return miss->is_load ? loads_since(core, miss) : 0;
}

/* The instruction number at which a buffer may be full that has so many entries taken. An
 * instruction loads or stores once, most often. */
static uint64_t due_at(const struct machine_hart *core, uint32_t loads, uint32_t stores)
{
	const struct machine_buffers *buffers = &core->buffers;
	const uint32_t loads_left = loads < buffers->loads ? buffers->loads - loads : 0;
	const uint32_t stores_left = stores < buffers->stores ? buffers->stores - stores : 0;

	return core->progress->instructions + 1 +
	       (loads_left < stores_left ? loads_left : stores_left);
}

/* @param other  the instruction number at which anything else is due */
static void set_attention(struct machine_hart *core, uint64_t other)
{
	struct machine_buffers *buffers = &core->buffers;
	/* The reorder buffer is full of what is behind a load from here on no earlier. */
	const uint64_t full = core->progress->instructions + core->reorder_window;

	buffers->later = other < full ? other : full;
	core->attention = other < buffers->due ? other : buffers->due;
}

static void set_first(struct machine_buffers *buffers, const struct machine_holding *miss)
{
	buffers->first_loads = miss->loads;
	buffers->first_stores = miss->stores;
	buffers->until = miss->end;
}

/* A store is in L1D as its line comes, or a cycle after the one before it. */
static MACHINE_INLINE void note_drain(struct machine_hart *core, uint64_t end, bool is_load)
{
	const uint64_t cycle = core->machine->core_ticks;
	const uint64_t drained = end - (core->progress->stores + !is_load) * cycle;
	struct machine_buffers *buffers = &core->buffers;

	/* Of those before nothing is left. */
	if (core->progress->time >= buffers->empty || (int64_t)(drained - buffers->drained) > 0)
		buffers->drained = drained;
	buffers->empty = machine_max(buffers->empty, end + buffers->stores * cycle);
}

static MACHINE_OUTLINE void note_after_room(struct machine_hart *core, uint64_t end, bool is_load,
					    enum machine_miss_level level)
{
	make_room(core, core->progress->time);
	buffers_note(core, end, is_load, level);
}

void buffers_note(struct machine_hart *core, uint64_t end, bool is_load,
		  enum machine_miss_level level)
{
	const struct machine_progress *progress = core->progress;
	struct machine_buffers *buffers = &core->buffers;
	const uint64_t due = progress->instructions + buffers->least;
	const struct machine_holding miss = {
	    .end = end,
	    .loads = (uint16_t)progress->loads,
	    .stores = (uint16_t)progress->stores,
	    .is_load = is_load,
	    .level = (uint8_t)level,
	};

	if (__builtin_expect(buffers->next - buffers->first == MACHINE_HOLDING_MAX, 0)) {
		note_after_room(core, end, is_load, level);
		return;
	}
	*holding_at(core, buffers->next++) = miss;
	note_drain(core, end, is_load);
	if (progress->time >= buffers->held)
		set_first(buffers, &miss);
	buffers->held = machine_max(buffers->held, end);
	if (buffers->due <= due)
		return;
	buffers->due = due;
	if (core->attention > due)
		set_attention(core, core->attention);
}

/* Entries taken, if the oldest miss that holds is a load. */
static uint32_t loads_since_first(const struct machine_hart *core)
{
	return (uint16_t)(core->progress->loads - core->buffers.first_loads);
}

static uint32_t stores_since_first(const struct machine_hart *core)
{
	return (uint16_t)(core->progress->stores - core->buffers.first_stores);
}

/* Only then are they looked at: who attends the core more often must not change its time. */
static bool buffers_are_due(const struct machine_hart *core)
{
	return core->progress->instructions >= core->buffers.due;
}

static bool first_has_room(const struct machine_hart *core)
{
	return loads_since_first(core) <= core->buffers.loads &&
	       stores_since_first(core) <= core->buffers.stores;
}

static enum machine_stall why_no_store(const struct machine_holding *miss)
{
	if (!miss->is_load)
		return STALL_STORES;
	return miss->level == MISS_FAR ? STALL_STORES_FAR : STALL_STORES_NEAR;
}

static enum machine_stall why_no_load(const struct machine_holding *miss)
{
	return miss->level == MISS_FAR ? STALL_LOADS_FAR : STALL_LOADS_NEAR;
}

/* What may be behind a miss. */
struct room {
	uint32_t loads, stores;
};

static bool is_full(const struct machine_hart *core, const struct machine_holding *miss,
		    struct room room)
{
	return stores_behind(core, miss) > room.stores || loads_behind(core, miss) > room.loads;
}

/* The place from which on no miss has too much behind it: the younger, the less is. */
static uint32_t first_with_room(struct machine_hart *core, struct room room)
{
	uint32_t place = core->buffers.first;

	for (; place != core->buffers.next; place++) {
		const struct machine_holding *miss = holding_at(core, place);

		if (stores_behind(core, miss) <= room.stores &&
		    loads_since(core, miss) <= room.loads)
			break;
	}
	return place;
}

/* Before @place, which is full and ends first, but after @now. @return NULL: none */
static const struct machine_holding *next_to_end(struct machine_hart *core, uint32_t place,
						 struct room room, uint64_t now)
{
	const struct machine_holding *next = NULL;

	for (uint32_t i = core->buffers.first; i != place; i++) {
		const struct machine_holding *miss = holding_at(core, i);

		if (miss->end > now && (!next || miss->end < next->end) &&
		    is_full(core, miss, room))
			next = miss;
	}
	return next;
}

void buffers_settle(struct machine_hart *core, uint64_t ticks)
{
	const struct machine_buffers *buffers = &core->buffers;
	const struct room room = {buffers->loads, buffers->stores};
	const struct machine_holding *miss;
	uint64_t then = core->progress->time - ticks;
	uint32_t place;

	if (!buffers_are_due(core) || then >= buffers->held ||
	    (then < buffers->until && first_has_room(core)))
		return;
	forget_ended(core, then);
	place = first_with_room(core, room);
	for (; (miss = next_to_end(core, place, room, then)); then = miss->end) {
		if (stores_behind(core, miss) > buffers->stores)
			mshr_stall(core, why_no_store(miss), miss->end + ticks);
		if (loads_behind(core, miss) > buffers->loads)
			mshr_stall(core, why_no_load(miss), miss->end + ticks);
	}
}

void buffers_admit_store(struct machine_hart *core)
{
	const struct machine_buffers *buffers = &core->buffers;
	const struct room room = {UINT32_MAX, buffers->stores - 1};
	uint64_t now = core->progress->time;
	const struct machine_holding *miss;
	uint32_t place;

	if (now >= buffers->held)
		return;
	forget_ended(core, now);
	place = first_with_room(core, room);
	for (; (miss = next_to_end(core, place, room, now)); now = miss->end)
		mshr_stall(core, why_no_store(miss), miss->end);
}

/* The oldest, of those that hold. @return NULL: there is none */
static const struct machine_holding *find_first(struct machine_hart *core)
{
	const struct machine_buffers *buffers = &core->buffers;

	forget_ended(core, core->progress->time);
	return buffers->first == buffers->next ? NULL : holding_at(core, buffers->first);
}

static uint64_t next_due(const struct machine_hart *core)
{
	return due_at(core, loads_since_first(core), stores_since_first(core));
}

void buffers_attend(struct machine_hart *core, uint64_t other)
{
	struct machine_buffers *buffers = &core->buffers;
	const uint64_t now = core->progress->time;
	const struct machine_holding *first;

	if (buffers_are_due(core)) {
		if (now >= buffers->until && (first = find_first(core)))
			set_first(buffers, first);
		buffers->due = now < buffers->until ? next_due(core) : UINT64_MAX;
	}
	set_attention(core, other);
}

bool buffers_pass(struct machine_hart *core)
{
	const struct machine_progress *progress = core->progress;
	struct machine_buffers *buffers = &core->buffers;

	if (!buffers_are_due(core) || progress->instructions >= buffers->later ||
	    progress->time >= core->skew_due || progress->time >= buffers->until ||
	    core->string.pieces || buffers->fence != UINT64_MAX || !first_has_room(core))
		return false;
	buffers->due = next_due(core);
	set_attention(core, buffers->later);
	return true;
}

void buffers_fence(struct machine_hart *core, uint32_t instructions)
{
	/* The block's own accesses are yet to come. */
	core->buffers.fence = core->progress->instructions + instructions + 1;
	if (core->attention > core->buffers.fence)
		core->attention = core->buffers.fence;
}

uint64_t buffers_drained(const struct machine_hart *core)
{
	const struct machine_buffers *buffers = &core->buffers;
	const uint64_t cycle = core->machine->core_ticks, now = core->progress->time;
	const uint64_t most = now + buffers->stores * cycle;
	uint64_t drained = now;

	if (now < buffers->empty)
		drained = buffers->drained + core->progress->stores * cycle;
	return drained < most ? drained : most;
}
