/*
 * What a core does outside of itself: its requests for lines, and the snoops of others. One
 * request, answer or acknowledgement goes in a cycle. A request waits while the core is at a snoop
 * of its line, while another one for its line is on its way, as home agents want it, and while as
 * many as there can be are. A snoop waits for its line if that is on its way from the link to the
 * core. One that comes to the link before it is a conflict.
 */
#include "machine/epic/core.h"

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
	return what == FABRIC_INVALIDATE || what == FABRIC_CLAIM || what >= FABRIC_FORWARD_OWN;
}

/* What comes. */
static void count_snoop(struct epic_core *core, enum fabric_snoop what, enum fabric_found found)
{
	static const uint16_t packets[] = {[FABRIC_SHARE] = CELL_PACKET_SNOOP_DATA,
					   [FABRIC_SHARE_CODE] = CELL_PACKET_SNOOP_CODE,
					   [FABRIC_INVALIDATE] = CELL_PACKET_SNOOP_OWN,
					   [FABRIC_CLAIM] = CELL_PACKET_SNOOP_CLAIM,
					   [FABRIC_FORWARD] = CELL_PACKET_FORWARD_CODE,
					   [FABRIC_FORWARD_OWN] = CELL_PACKET_FORWARD_OWN,
					   [FABRIC_FORWARD_CLAIM] = CELL_PACKET_FORWARD_CLAIM};
	unsigned first = invalidates(what)	? CELL_SNOOPED_OWN_MISS
			 : what == FABRIC_SHARE ? CELL_SNOOPED_DATA_MISS
						: CELL_SNOOPED_CODE_MISS;

	epic_add(core,
		 (enum epic_cell)(first + (found == FABRIC_MODIFIED) + (found != FABRIC_NOTHING)),
		 1);
	epic_add(core, (enum epic_cell)packets[what], 1);
	epic_add(core, CELL_FLITS_CAME, 1);
}

/* What goes for a snoop: an answer, and the line where it is this core's alone. */
static void count_answer(struct epic_core *core, enum fabric_snoop what, enum fabric_found found)
{
	bool alone = found >= FABRIC_EXCLUSIVE, modified = found == FABRIC_MODIFIED;

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

static uint64_t fabric_cycles(const struct epic_core *core, uint64_t cycle)
{
	return (cycle * core->params->fabric.mhz + core->mhz - 1) / core->mhz;
}

/* What a request meets in a cycle. */
struct met {
	uint64_t line;	/* until when others for its line are under way; 0: none is */
	uint64_t entry; /* when the first of all is over */
	unsigned count; /* that are under way */
	bool taken;	/* one is taken in this cycle */
};

static struct met meet(const struct epic_core *core, uint64_t number, uint64_t cycle)
{
	const struct outstanding *o = &core->shared->outstanding;
	struct met met = {.entry = UINT64_MAX};

	for (unsigned i = OUTSTANDING_MAX; i--;) {
		const struct line_use *use = &o->uses[(o->first + i) % OUTSTANDING_MAX];

		if (use->until <= cycle)
			break;
		if (use->number == number && !met.line)
			met.line = use->until;
		if (use->from > cycle)
			continue;
		met.count++;
		met.entry = use->until;
		met.taken |= use->from == cycle;
	}
	return met;
}

/* The core's last request for a line, if it is under way in a cycle. */
static struct line_use *request_of(const struct epic_core *core, uint64_t number, uint64_t cycle)
{
	struct outstanding *o = &core->shared->outstanding;

	for (unsigned i = OUTSTANDING_MAX; i--;) {
		struct line_use *use = &o->uses[(o->first + i) % OUTSTANDING_MAX];

		if (use->until <= cycle)
			break;
		if (use->number == number)
			return use;
	}
	return NULL;
}

/*
 * The line may be on its way to this core: it is at the link at least.
 * @return the cycle in which it comes; 0: it does not
 */
static uint64_t wait_for_line(struct epic_core *core, const struct line_use *request,
			      uint64_t *time)
{
	if (!request)
		return 0;
	epic_add(core, CELL_SNOOP_WAITS_LINE, 1);
	*time = fabric_cycles(core, request->until);
	return request->until;
}

/* Whether the core takes a request in a cycle. */
static bool requests(const struct epic_core *core, uint64_t cycle)
{
	const struct outstanding *o = &core->shared->outstanding;

	for (unsigned i = OUTSTANDING_MAX; i--;) {
		const struct line_use *use = &o->uses[(o->first + i) % OUTSTANDING_MAX];

		if (use->until <= cycle)
			break;
		if (use->from == cycle)
			return true;
	}
	return false;
}

static bool answers(const struct epic_core *core, uint64_t cycle)
{
	if (cycle > core->shared->snooped_until)
		return false;
	for (unsigned i = 0; i < core->params->snoops; i++)
		if (core->shared->snooped[i].until == cycle)
			return true;
	return false;
}

static bool acknowledges(const struct epic_core *core, uint64_t cycle)
{
	const uint64_t *cycles = core->shared->acknowledged;

	if (cycle >= core->shared->acknowledged_until)
		return false;
	for (unsigned i = 0; i < ACKNOWLEDGED_MAX; i++)
		if (cycles[i] == cycle)
			return true;
	return false;
}

/* What an answer to a snoop waits for in a cycle. @return EPIC_CELL_COUNT: nothing */
static enum epic_cell before_answer(const struct epic_core *core, uint64_t cycle)
{
	return requests(core, cycle)	   ? CELL_SNOOP_WAITS_REQUEST
	       : acknowledges(core, cycle) ? CELL_SNOOP_WAITS_ACKNOWLEDGEMENT
	       : answers(core, cycle)	   ? CELL_SNOOP_WAITS_ANSWER
					   : EPIC_CELL_COUNT;
}

/* A snoop that comes in a cycle in which the core sends something tries again. */
static void meet_activity(struct epic_core *core, uint64_t *time)
{
	uint64_t cycle = core_cycles(core, *time);

	if (before_answer(core, cycle) == EPIC_CELL_COUNT)
		return;
	epic_add(core, CELL_SNOOP_COMES_AGAIN, 1);
	while (before_answer(core, cycle) != EPIC_CELL_COUNT)
		cycle++;
	*time = fabric_cycles(core, cycle);
}

/* Takes its place in the queue of snoops: as many as there is room for, each as long. */
static void queue_snoop(struct epic_core *core, uint64_t number, uint64_t *time)
{
	const struct epic_params *p = core->params;
	struct epic_shared *shared = core->shared;
	uint64_t cycle = core_cycles(core, *time), cycles = core_cycles(core, p->fabric.snoop);
	uint64_t start = epic_reads_room(core, &shared->snoops, cycle, p->snoops);
	enum epic_cell before;

	epic_add(core, CELL_SNOOP_WAITS_PLACE, start > cycle);
	before = before_answer(core, start + cycles);
	if (before != EPIC_CELL_COUNT)
		epic_add(core, before, 1);
	while (before_answer(core, start + cycles) != EPIC_CELL_COUNT)
		start++;
	if (start > cycle)
		*time = fabric_cycles(core, start);
	epic_reads_begin(core, &shared->snoops, start, (unsigned)cycles);
	epic_second_snooped(core, number, start);
	shared->snooped[shared->snooped_next] = (struct line_use){number, start, start + cycles, 0};
	shared->snooped_next = (shared->snooped_next + 1) % p->snoops;
	if (start + cycles > shared->snooped_until)
		shared->snooped_until = start + cycles;
}

/* Cycles of a kind count once. */
static void join(struct epic_core *core, struct lane *lane, enum epic_cell cell, uint64_t from,
		 uint64_t until)
{
	if (until > from)
		epic_add(core, cell, lane_join(lane, from, (unsigned)(until - from)));
}

void epic_sent(struct epic_core *core, const struct fabric_sent *sent)
{
	struct epic_link *link = &core->shared->link;
	bool data = sent->data;

	if (data)
		epic_ring_take(&core->shared->buffers, core_cycles(core, sent->until));
	core = core->shared->foreground;
	join(core, &link->valid[data], data ? CELL_LINK_DATA_VALID : CELL_LINK_HOME_VALID,
	     sent->ready, sent->until);
	join(core, &link->blocked[data], data ? CELL_LINK_DATA_BLOCKED : CELL_LINK_HOME_BLOCKED,
	     sent->blocked_from, sent->blocked_until);
	join(core, &link->any_blocked, CELL_LINK_BLOCKED, sent->blocked_from, sent->blocked_until);
	join(core, &link->few, CELL_LINK_FEW_CREDITS, sent->low_from, sent->low_until);
}

void epic_bus_settle(struct epic_core *core)
{
	uint64_t now = core->fabric ? epic_fabric_time(core, core->cycle) : 0;

	if (now <= core->shared->link.told)
		return;
	epic_add(core, CELL_LINK_ENABLED, now - core->shared->link.told);
	core->shared->link.told = now;
}

/* An answer with a line needs a buffer. */
static void wait_for_buffer(struct epic_core *core, uint64_t *time)
{
	const struct epic_params *p = core->params;
	uint64_t cycle = core_cycles(core, *time + p->fabric.snoop);
	uint64_t start = epic_ring_wait(&core->shared->buffers, cycle);

	if (start == cycle)
		return;
	epic_add(core, CELL_SNOOP_WAITS_BUFFER, 1);
	*time = fabric_cycles(core, start) - p->fabric.snoop;
}

/* A snoop comes before the line that the home agent has sent. */
static enum fabric_found conflict(struct epic_core *core, const struct line_use *request,
				  enum fabric_snoop what, uint64_t *time)
{
	count_snoop(core, what, FABRIC_NOTHING);
	epic_add(core, CELL_SNOOP_CONFLICT, 1);
	queue_snoop(core, request->number, time);
	epic_add(core, CELL_PACKET_ANSWER_CONFLICT, 1);
	epic_add(core, CELL_FLITS_SENT, 1);
	if (request->answered >= *time && request->answered < *time + core->params->fabric.snoop)
		epic_add(core, CELL_SNOOP_LOCKS, 1);
	return FABRIC_CONFLICT;
}

/* The line is at the link. */
static void acknowledge(struct epic_core *core, uint64_t number, uint64_t *time)
{
	const struct line_use *request = request_of(core, number, 0);
	struct epic_shared *shared = core->shared;
	uint64_t cycle;

	if (request && request->answered > *time)
		*time = request->answered;
	cycle = core_cycles(core, *time);
	shared->acknowledged[shared->acknowledged_next] = cycle;
	shared->acknowledged_next = (shared->acknowledged_next + 1) % ACKNOWLEDGED_MAX;
	if (cycle >= shared->acknowledged_until)
		shared->acknowledged_until = cycle + 1;
	epic_add(core, CELL_PACKET_ACKNOWLEDGE, 1);
	epic_add(core, CELL_FLITS_SENT, 1);
}

/* A request ends later than it did. */
static void prolong(struct outstanding *o, const struct line_use *request, uint64_t until)
{
	unsigned at = (unsigned)(request - o->uses), last = o->first + OUTSTANDING_MAX - 1;
	struct line_use use = *request;

	for (; at != last % OUTSTANDING_MAX; at = (at + 1) % OUTSTANDING_MAX) {
		const struct line_use *next = &o->uses[(at + 1) % OUTSTANDING_MAX];

		if (next->until > until)
			break;
		o->uses[at] = *next;
	}
	use.until = until;
	o->uses[at] = use;
}

/*
 * What an acknowledgement brings: the request is over, and the core's caches may not have the line
 * yet.
 * @return as wait_for_line()
 */
static uint64_t forward(struct epic_core *core, uint64_t number, uint64_t *time)
{
	struct line_use *request = request_of(core, number, 0);
	uint64_t cycle = core_cycles(core, *time);

	epic_add(core, CELL_SNOOP_FORWARD, 1);
	if (!request)
		return 0;
	if (request->until > cycle) {
		*time = fabric_cycles(core, request->until);
		return request->until;
	}
	prolong(&core->shared->outstanding, request, cycle);
	return 0;
}

/* A snoop that waited for a line, which came in a cycle, is answered from another one on. */
static void count_snooped_fill(struct epic_core *core, uint64_t number, uint64_t came,
			       enum fabric_found found, uint64_t time)
{
	uint64_t answered = core_cycles(core, time + core->params->fabric.snoop);
	const struct pending *line = came ? epic_second_filled(core, number, came) : NULL;

	if (!line)
		return;
	epic_add(core, CELL_L2D_FILL_SNOOPED, 1);
	epic_add(core, CELL_L2D_FILL_SNOOPED_E, found == FABRIC_EXCLUSIVE);
	epic_add(core, CELL_L2D_FILL_SNOOPED_CYCLES, answered - came);
	epic_add(core, CELL_L2D_FILL_SNOOPED_USED, line->waiting);
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
	struct line_use *request;
	uint64_t came;

	if (what == FABRIC_LOOK)
		return found;
	core = core->shared->foreground;
	if (what == FABRIC_ACKNOWLEDGE) {
		acknowledge(core, number, time);
		return found;
	}
	if (what >= FABRIC_FORWARD) {
		came = forward(core, number, time);
	} else {
		meet_activity(core, time);
		request = request_of(core, number, core_cycles(core, *time));
		if (request && request->answered > *time)
			return conflict(core, request, what, time);
		epic_add(core, CELL_SNOOP_CAME, 1);
		came = wait_for_line(core, request, time);
	}
	count_snoop(core, what, found);
	queue_snoop(core, number, time);
	if (found >= FABRIC_EXCLUSIVE)
		wait_for_buffer(core, time);
	count_snooped_fill(core, number, came, found, *time);
	count_answer(core, what, found);
	if (invalidates(what)) {
		epic_add(core, CELL_L1I_SNOOP, 2); /* both halves of the line */
		epic_add(core, CELL_L2I_SNOOP_HIT, instructions);
		epic_drop_line(core, number);
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
	} else if (kind == FABRIC_EVICT) {
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

/* When the core has answered a snoop of a line. @return 0: it is at none */
static uint64_t snoop_until(const struct epic_core *core, uint64_t number, uint64_t cycle)
{
	const struct line_use *s = core->shared->snooped;

	if (cycle > core->shared->snooped_until)
		return 0;
	for (unsigned i = 0; i < core->params->snoops; i++)
		if (s[i].number == number && s[i].from <= cycle && cycle <= s[i].until)
			return s[i].until + 1;
	return 0;
}

/* What a request waits for, the first reason first. */
enum wait_reason {
	WAIT_SNOOP,
	WAIT_REQUEST,
	WAIT_LINE,
	WAIT_BUFFER,
	WAIT_ENTRY,
	WAIT_ACKNOWLEDGEMENT,
	WAIT_ANSWER,
	WAIT_NOT,
};

/* Who asks: the cells of what it waits for. */
static const uint16_t of_requests[] = {
    [WAIT_SNOOP] = CELL_REQUEST_WAITS_SNOOP,
    [WAIT_REQUEST] = CELL_REQUEST_WAITS_REQUEST,
    [WAIT_LINE] = CELL_REQUEST_WAITS_LINE,
    [WAIT_BUFFER] = CELL_REQUEST_WAITS_BUFFER,
    [WAIT_ENTRY] = CELL_REQUEST_WAITS_ENTRY,
    [WAIT_ACKNOWLEDGEMENT] = CELL_REQUEST_WAITS_ACKNOWLEDGEMENT,
    [WAIT_ANSWER] = CELL_REQUEST_WAITS_ANSWER,
};
/* The core's answer for a flush. It has the flush's entry. */
static const uint16_t of_own_snoops[] = {
    [WAIT_SNOOP] = CELL_OWN_SNOOP_WAITS_SNOOP,
    [WAIT_REQUEST] = CELL_OWN_SNOOP_WAITS_REQUEST,
    [WAIT_LINE] = CELL_OWN_SNOOP_WAITS_REQUEST,
    [WAIT_BUFFER] = CELL_OWN_SNOOP_WAITS_BUFFER,
    [WAIT_ENTRY] = CELL_REQUEST_WAITS_ENTRY,
    [WAIT_ACKNOWLEDGEMENT] = CELL_OWN_SNOOP_WAITS_REQUEST,
    [WAIT_ANSWER] = CELL_OWN_SNOOP_WAITS_REQUEST,
};

struct wait {
	enum wait_reason reason;
	uint64_t until; /* cycle */
};

/* @param line  it sends a line */
static struct wait waits(const struct epic_core *core, uint64_t number, bool line, uint64_t cycle)
{
	const struct met met = meet(core, number, cycle);
	const uint64_t snoop = snoop_until(core, number, cycle);
	const uint64_t buffer = line ? epic_ring_wait(&core->shared->buffers, cycle) : cycle;

	if (snoop)
		return (struct wait){WAIT_SNOOP, snoop};
	if (met.taken)
		return (struct wait){WAIT_REQUEST, cycle + 1};
	if (met.line)
		return (struct wait){WAIT_LINE, met.line};
	if (buffer > cycle)
		return (struct wait){WAIT_BUFFER, buffer};
	if (met.count >= core->params->outstanding)
		return (struct wait){WAIT_ENTRY, met.entry};
	if (acknowledges(core, cycle))
		return (struct wait){WAIT_ACKNOWLEDGEMENT, cycle + 1};
	if (answers(core, cycle))
		return (struct wait){WAIT_ANSWER, cycle + 1};
	return (struct wait){WAIT_NOT, cycle};
}

/*
 * The cycle in which a request is taken. What holds it back is counted, each time once.
 * @param line   as waits() has it
 * @param cells  of what it waits for, by enum wait_reason
 */
static uint64_t taken(struct epic_core *core, uint64_t number, bool line, uint64_t cycle,
		      const uint16_t *cells)
{
	for (;;) {
		const struct wait wait = waits(core, number, line, cycle);

		if (wait.reason == WAIT_NOT)
			return cycle;
		epic_add(core, (enum epic_cell)cells[wait.reason], 1);
		cycle = wait.until;
	}
}

/* In the place of the one that ends first. */
static void note_request(struct epic_core *core, struct line_use use)
{
	struct outstanding *o = &core->shared->outstanding;
	unsigned at = o->first + OUTSTANDING_MAX;

	o->first = (o->first + 1) % OUTSTANDING_MAX;
	for (unsigned left = OUTSTANDING_MAX - 1; left--; at--) {
		const struct line_use *before = &o->uses[(at - 1) % OUTSTANDING_MAX];

		if (before->until <= use.until)
			break;
		o->uses[at % OUTSTANDING_MAX] = *before;
	}
	o->uses[at % OUTSTANDING_MAX] = use;
}

/* Cycles of the core from a request until its answer is there. */
static unsigned latency_of(const struct epic_core *core, enum fabric_kind kind,
			   const struct fabric_answer *answer)
{
	const uint64_t least = fabric_least_latency(&core->params->fabric);

	if (kind >= FABRIC_WRITE_BACK)
		return (unsigned)core_cycles(core, answer->latency);
	/* What is faster than a read of memory is so by as much. */
	if (answer->latency < least)
		return core->params->memory_latency -
		       (unsigned)core_cycles(core, least - answer->latency);
	return core->params->memory_latency + (unsigned)core_cycles(core, answer->latency - least);
}

static unsigned transact(struct epic_core *core, enum fabric_kind kind, uint64_t number,
			 uint64_t cycle, const uint16_t *cells, struct fabric_answer *answer)
{
	const bool line = kind == FABRIC_WRITE_BACK;
	uint64_t start = core->fabric ? taken(core, number, line, cycle, cells) : cycle;
	const struct fabric_request request = {.kind = (uint8_t)kind,
					       .core = (uint8_t)core->number,
					       .time =
						   core->fabric ? epic_fabric_time(core, start) : 0,
					       .line = number};
	unsigned latency = core->params->memory_latency;

	*answer = (struct fabric_answer){.latency = fabric_least_latency(&core->params->fabric)};
	if (core->fabric) {
		fabric_transact(core->fabric, &request, answer);
		tell_request(core, &request, answer);
		latency = latency_of(core, kind, answer);
		note_request(core, (struct line_use){
				       number, start, start + latency,
				       kind > FABRIC_OWN ? 0 : request.time + answer->latency});
	}
	count_packets(core, kind, answer);
	return (unsigned)(start - cycle) + latency;
}

unsigned epic_bus_request(struct epic_core *core, enum fabric_kind kind, uint64_t number,
			  uint64_t cycle, struct fabric_answer *answer)
{
	epic_add(core, CELL_REQUEST_TAKEN, 1);
	return transact(core, kind, number, cycle, of_requests, answer);
}

void epic_bus_flush(struct epic_core *core, uint64_t tag, bool shared, uint64_t cycle)
{
	bool modified = tag & LINE_DIRTY;
	struct fabric_answer answer;

	epic_add(core, CELL_FLUSH_TAKEN, 1);
	if (!tag)
		return;
	epic_add(core, CELL_OWN_SNOOP_ANSWERED, 1);
	epic_add(core,
		 modified ? CELL_BUS_WRITEBACK
		 : shared ? CELL_BUS_EVICT_SHARED
			  : CELL_BUS_EVICT_EXCLUSIVE,
		 1);
	transact(core, modified ? FABRIC_WRITE_BACK : FABRIC_EVICT, epic_line_of(tag), cycle,
		 of_own_snoops, &answer);
}

void epic_bus_write_back(struct epic_core *core, uint64_t number, uint64_t cycle)
{
	struct fabric_answer answer;

	epic_add(core, CELL_BUS_WRITEBACK, 1);
	epic_bus_request(core, FABRIC_WRITE_BACK, number, cycle, &answer);
}

void epic_bus_give_up(struct epic_core *core, uint64_t tag, bool shared, uint64_t cycle)
{
	uint64_t number = epic_line_of(tag);
	struct fabric_answer answer;

	if (!tag || tag & LINE_DIRTY || epic_cache_peek(&core->l3, number) ||
	    epic_cache_peek(&core->l2d, number) || epic_cache_peek(&core->l2i, number))
		return;
	epic_add(core, shared ? CELL_BUS_EVICT_SHARED : CELL_BUS_EVICT_EXCLUSIVE, 1);
	epic_bus_request(core, FABRIC_EVICT, number, cycle, &answer);
}
