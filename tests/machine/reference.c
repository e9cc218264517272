#include "reference.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WAYS_MAX   20
#define WC_BUFFERS 10

struct way {
	uint64_t line;
	char state; /* 0: nothing here */
	uint64_t used;
	uint32_t core_valid;
};

struct set {
	struct way ways[WAYS_MAX];
	unsigned tree; /* L1: bits of the pseudo-LRU tree, node n has children 2n and 2n + 1 */
};

struct cache {
	unsigned sets, ways;
	struct set *set;
};

struct buffer {
	uint64_t line, bytes, used;
};

struct core {
	struct cache l1i, l1d, l2;
	struct buffer buffers[WC_BUFFERS];
};

struct reference {
	const struct pmu_machine *desc;
	reference_locate *locate;
	reference_report *report;
	void *arg;
	uint64_t clock; /* orders uses */
	struct core *cores;
	struct cache *slices; /* socket * slices + slice */
};

static void cache_init(struct cache *cache, unsigned sets, unsigned ways)
{
	cache->sets = sets;
	cache->ways = ways;
	cache->set = calloc(sets, sizeof(*cache->set));
	assert(cache->set);
}

struct reference *reference_new(const struct pmu_machine *desc, reference_locate *locate,
				reference_report *report, void *arg)
{
	struct reference *r = calloc(1, sizeof(*r));

	assert(r);
	*r = (struct reference){.desc = desc, .locate = locate, .report = report, .arg = arg};
	r->cores = calloc(desc->sockets * desc->cores, sizeof(*r->cores));
	r->slices = calloc(desc->sockets * desc->slices, sizeof(*r->slices));
	assert(r->cores && r->slices);
	for (unsigned i = 0; i < desc->sockets * desc->cores; i++) {
		cache_init(&r->cores[i].l1i, 64, 8);
		cache_init(&r->cores[i].l1d, 64, 8);
		cache_init(&r->cores[i].l2, 512, 8);
	}
	for (unsigned i = 0; i < desc->sockets * desc->slices; i++)
		cache_init(&r->slices[i], desc->llc.sets, desc->llc.ways);
	return r;
}

void reference_free(struct reference *r)
{
	for (unsigned i = 0; i < r->desc->sockets * r->desc->cores; i++) {
		free(r->cores[i].l1i.set);
		free(r->cores[i].l1d.set);
		free(r->cores[i].l2.set);
	}
	for (unsigned i = 0; i < r->desc->sockets * r->desc->slices; i++)
		free(r->slices[i].set);
	free(r->cores);
	free(r->slices);
	free(r);
}

static struct way *find(struct set *set, unsigned ways, uint64_t line)
{
	for (unsigned i = 0; i < ways; i++)
		if (set->ways[i].state && set->ways[i].line == line)
			return &set->ways[i];
	return NULL;
}

static struct set *private_set(const struct cache *cache, uint64_t line)
{
	return &cache->set[line % cache->sets];
}

static struct way *lookup(const struct cache *cache, uint64_t line)
{
	return find(private_set(cache, line), cache->ways, line);
}

static char state_of(const struct cache *cache, uint64_t line)
{
	const struct way *way = lookup(cache, line);

	return way ? way->state : 'I';
}

static void drop(const struct cache *cache, uint64_t line)
{
	struct way *way = lookup(cache, line);

	if (way)
		way->state = 0;
}

/* The tree's bits point to the half that is to be replaced: 0 left, 1 right. */
static void tree_touch(struct set *set, unsigned way)
{
	unsigned node = 1;

	for (unsigned level = 4; level; level >>= 1) {
		bool right = way & level;

		if (right)
			set->tree &= ~(1u << node);
		else
			set->tree |= 1u << node;
		node = 2 * node + right;
	}
}

static unsigned tree_victim(const struct set *set)
{
	unsigned node = 1;

	while (node < 8)
		node = 2 * node + (set->tree >> node & 1);
	return node - 8;
}

static struct way *free_way(struct set *set, unsigned ways)
{
	for (unsigned i = 0; i < ways; i++)
		if (!set->ways[i].state)
			return &set->ways[i];
	return NULL;
}

static struct way *oldest(struct set *set, unsigned ways)
{
	struct way *way = &set->ways[0];

	for (unsigned i = 1; i < ways; i++)
		if (set->ways[i].used < way->used)
			way = &set->ways[i];
	return way;
}

static struct set *slice_set(const struct reference *r, unsigned socket, uint64_t line)
{
	struct reference_place index = r->locate(r->arg, line);

	return &r->slices[socket * r->desc->slices + index.slice].set[index.set];
}

static struct way *slice_find(const struct reference *r, unsigned socket, uint64_t line)
{
	return find(slice_set(r, socket, line), r->desc->llc.ways, line);
}

static unsigned home_of(const struct reference *r, uint64_t line)
{
	return (unsigned)(line * 64 / r->desc->memory_bytes);
}

static unsigned agent_of(const struct reference *r, uint64_t line)
{
	return (unsigned)(line % r->desc->home_agents);
}

static void tell_cbo(const struct reference *r, unsigned socket, uint64_t line, unsigned id,
		     uint32_t qualifiers, unsigned kind, unsigned state)
{
	struct signal signal = {
	    .id = (uint16_t)id,
	    .socket = (uint8_t)socket,
	    .unit = (uint8_t)r->locate(r->arg, line).slice,
	    .qualifiers = qualifiers,
	    .request = (uint8_t)kind,
	    .state = (uint8_t)state,
	    .node = (uint8_t)home_of(r, line),
	};

	r->report(r->arg, &signal);
}

static void tell_ha(const struct reference *r, uint64_t line, unsigned id, uint32_t qualifiers,
		    unsigned kind)
{
	struct signal signal = {
	    .id = (uint16_t)id,
	    .socket = (uint8_t)home_of(r, line),
	    .unit = (uint8_t)agent_of(r, line),
	    .qualifiers = qualifiers,
	    .request = (uint8_t)kind,
	};

	r->report(r->arg, &signal);
}

static unsigned number_of(char state)
{
	switch (state) {
	case 'S':
		return SIGNAL_STATE_S;
	case 'E':
		return SIGNAL_STATE_E;
	case 'M':
		return SIGNAL_STATE_M;
	case 'F':
		return SIGNAL_STATE_F;
	default:
		return SIGNAL_STATE_I;
	}
}

static uint32_t near_or_far(const struct reference *r, unsigned socket, uint64_t line)
{
	return home_of(r, line) == socket ? QUALIFIER_LLC_REQUEST_LOCAL
					  : QUALIFIER_LLC_REQUEST_REMOTE;
}

static void tell_lookup(const struct reference *r, unsigned socket, uint64_t line,
			uint32_t qualifiers, const struct way *way)
{
	tell_cbo(r, socket, line, SIGNAL_LLC_LOOKUP, qualifiers, 0,
		 number_of(way ? way->state : 'I'));
}

static void tell_tor(const struct reference *r, unsigned socket, uint64_t line, uint32_t qualifiers,
		     unsigned kind)
{
	tell_cbo(r, socket, line, SIGNAL_LLC_REQUEST, qualifiers | near_or_far(r, socket, line),
		 kind, 0);
}

/* A write arrives at the home agent as a request. */
static void home_write(const struct reference *r, unsigned socket, uint64_t line, bool full)
{
	bool local = home_of(r, line) == socket;

	tell_ha(r, line, SIGNAL_HOME_REQUEST,
		local ? QUALIFIER_HOME_REQUEST_WRITE_LOCAL : QUALIFIER_HOME_REQUEST_WRITE_REMOTE,
		full ? REQUEST_WRITEBACK : REQUEST_WRITEBACK_PART);
	tell_ha(r, line, SIGNAL_HOME_MEMORY_WRITE,
		full ? QUALIFIER_HOME_MEMORY_WRITE_FULL : QUALIFIER_HOME_MEMORY_WRITE_PARTIAL, 0);
}

static struct core *core_of(const struct reference *r, unsigned socket, unsigned bit)
{
	return &r->cores[socket * r->desc->cores + bit];
}

static bool holds_modified(const struct core *core, uint64_t line)
{
	return state_of(&core->l1d, line) == 'M' || state_of(&core->l2, line) == 'M';
}

static bool holds(const struct core *core, uint64_t line)
{
	return lookup(&core->l1d, line) || lookup(&core->l1i, line) || lookup(&core->l2, line);
}

/* A core loses the line. Returns whether its data were modified. */
static bool core_invalidate(struct core *core, uint64_t line)
{
	bool modified = holds_modified(core, line);

	drop(&core->l1i, line);
	drop(&core->l1d, line);
	drop(&core->l2, line);
	return modified;
}

/* All cores of the socket with a bit, except @spare, lose the line; their data go to the slice. */
static void invalidate_cores(const struct reference *r, unsigned socket, struct way *way, int spare)
{
	for (unsigned bit = 0; bit < r->desc->cores; bit++) {
		if (!(way->core_valid >> bit & 1) || (int)bit == spare)
			continue;
		if (core_invalidate(core_of(r, socket, bit), way->line))
			way->state = 'M';
		way->core_valid &= ~(1u << bit);
	}
}

/* A core that may own the line gives its data and keeps S. */
static void share_owner(const struct reference *r, unsigned socket, struct way *way, int requester)
{
	unsigned bit;
	struct core *core;
	struct way *copy;

	if ((way->state != 'M' && way->state != 'E') || __builtin_popcount(way->core_valid) != 1)
		return;
	bit = (unsigned)__builtin_ctz(way->core_valid);
	if ((int)bit == requester)
		return;
	core = core_of(r, socket, bit);
	if (!holds(core, way->line)) {
		way->core_valid = 0;
		return;
	}
	if (holds_modified(core, way->line))
		way->state = 'M';
	copy = lookup(&core->l1d, way->line);
	if (copy)
		copy->state = 'S';
	copy = lookup(&core->l2, way->line);
	if (copy)
		copy->state = 'S';
}

static void tell_response(const struct reference *r, unsigned requester, uint64_t line,
			  uint32_t qualifier)
{
	tell_ha(r, line, SIGNAL_HOME_RESPONSE, qualifier, 0);
	if (home_of(r, line) == requester)
		tell_ha(r, line, SIGNAL_HOME_LOCAL_RESPONSE, qualifier, 0);
}

static void leave_slice(struct way *way)
{
	way->state = 0;
	way->core_valid = 0;
}

/* The other socket is snooped for a request. Returns the state the requester is to fill with. */
static char snoop(const struct reference *r, unsigned requester, uint64_t line, unsigned kind)
{
	unsigned socket = 1 - requester;
	struct way *way = slice_find(r, socket, line);
	bool reads = kind == REQUEST_READ_DATA || kind == REQUEST_READ_CODE;
	char fill = kind == REQUEST_READ_CODE ? 'F' : 'E';

	tell_lookup(r, socket, line, QUALIFIER_LLC_LOOKUP_SNOOP, way);
	tell_tor(r, socket, line, 0, 0);
	if (!way) {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_INVALID);
		return fill;
	}
	if (reads)
		share_owner(r, socket, way, -1);
	else
		invalidate_cores(r, socket, way, -1);

	if (reads && way->state == 'S') {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_SHARED);
		return 'F';
	}
	if (reads && way->state == 'M') {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_WRITTEN_BACK);
		tell_ha(r, line, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL, 0);
		way->state = 'S';
		return 'F';
	}
	if (reads) {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED);
		way->state = 'S';
		return 'F';
	}
	if (kind == REQUEST_READ_OWN && way->state != 'S') {
		fill = way->state == 'M' ? 'M' : 'E';
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED);
	} else if (way->state == 'M') {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_WRITTEN_BACK);
		tell_ha(r, line, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL, 0);
	} else {
		tell_response(r, requester, line, QUALIFIER_HOME_RESPONSE_INVALID);
		tell_cbo(r, socket, line, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_SNOOPED_CLEAN,
			 0, 0);
	}
	leave_slice(way);
	return fill;
}

/* A read or InvItoE goes to the home agent. Returns the state to fill with. */
static char home_request(const struct reference *r, unsigned socket, uint64_t line, unsigned kind)
{
	bool local = home_of(r, line) == socket;

	if (kind == REQUEST_OWN) {
		tell_ha(r, line, SIGNAL_HOME_REQUEST,
			local ? QUALIFIER_HOME_REQUEST_OWN_LOCAL
			      : QUALIFIER_HOME_REQUEST_OWN_REMOTE,
			kind);
	} else {
		tell_ha(r, line, SIGNAL_HOME_REQUEST,
			local ? QUALIFIER_HOME_REQUEST_READ_LOCAL
			      : QUALIFIER_HOME_REQUEST_READ_REMOTE,
			kind);
		tell_ha(r, line, SIGNAL_HOME_MEMORY_READ, 0, 0);
	}
	if (r->desc->sockets == 1)
		return kind == REQUEST_READ_CODE ? 'F' : 'E';
	return snoop(r, socket, line, kind);
}

/* Makes room for a line in its slice. */
static struct way *slice_room(const struct reference *r, unsigned socket, uint64_t line)
{
	struct set *set = slice_set(r, socket, line);
	struct way *way = free_way(set, r->desc->llc.ways);
	uint32_t qualifier, qualifiers = QUALIFIER_LLC_REQUEST_EVICTION;
	bool unused;

	if (way)
		return way;
	way = oldest(set, r->desc->llc.ways);
	unused = !way->core_valid;
	invalidate_cores(r, socket, way, -1);
	qualifier = way->state == 'M'	? QUALIFIER_LLC_VICTIM_M
		    : way->state == 'E' ? QUALIFIER_LLC_VICTIM_E
		    : way->state == 'S' ? QUALIFIER_LLC_VICTIM_S
					: QUALIFIER_LLC_VICTIM_F;
	tell_cbo(r, socket, way->line, SIGNAL_LLC_VICTIM, qualifier, 0, 0);
	if (way->state == 'M') {
		qualifiers |= QUALIFIER_LLC_REQUEST_MISS;
		home_write(r, socket, way->line, true);
	} else if (unused) {
		tell_cbo(r, socket, way->line, SIGNAL_LLC_OUTCOME,
			 QUALIFIER_LLC_OUTCOME_UNUSED_VICTIM, 0, 0);
	}
	tell_tor(r, socket, way->line, qualifiers, 0);
	leave_slice(way);
	return way;
}

/* DRd, CRd or RFO from a core. Returns the state it is granted: S or E. */
static char request(struct reference *r, unsigned core, uint64_t line, unsigned kind)
{
	unsigned socket = core / r->desc->cores, bit = core % r->desc->cores;
	struct way *way = slice_find(r, socket, line);
	uint32_t qualifiers = QUALIFIER_LLC_LOOKUP_READ, miss = QUALIFIER_LLC_REQUEST_MISS;
	char granted = 'E';

	if (kind == REQUEST_READ_DATA)
		qualifiers |= QUALIFIER_LLC_LOOKUP_DATA_READ;
	tell_lookup(r, socket, line, qualifiers, way);
	if (!way) {
		way = slice_room(r, socket, line);
		way->state = home_request(r, socket, line, kind);
		way->line = line;
		way->core_valid = 1u << bit;
		if (kind == REQUEST_READ_CODE || (kind == REQUEST_READ_DATA && way->state == 'F'))
			granted = 'S';
	} else if (kind == REQUEST_READ_OWN) {
		if (way->state == 'M' || way->state == 'E') {
			miss = 0;
		} else {
			if (way->state == 'S')
				tell_cbo(r, socket, line, SIGNAL_LLC_OUTCOME,
					 QUALIFIER_LLC_OUTCOME_OWN_HIT_SHARED, 0, 0);
			home_request(r, socket, line, REQUEST_OWN);
			way->state = 'E';
		}
		invalidate_cores(r, socket, way, (int)bit);
		way->core_valid = 1u << bit;
	} else {
		miss = 0;
		if (kind == REQUEST_READ_DATA && way->state != 'M' && !way->core_valid)
			tell_cbo(r, socket, line, SIGNAL_LLC_OUTCOME,
				 QUALIFIER_LLC_OUTCOME_UNUSED_HIT, 0, 0);
		share_owner(r, socket, way, (int)bit);
		if (kind == REQUEST_READ_CODE || (way->core_valid & ~(1u << bit)) ||
		    way->state == 'S' || way->state == 'F')
			granted = 'S';
		way->core_valid |= 1u << bit;
	}
	way->used = ++r->clock;
	tell_tor(r, socket, line, QUALIFIER_LLC_REQUEST_CORE | miss, kind);
	return granted;
}

static void write_back(struct reference *r, unsigned core, uint64_t line, unsigned kind)
{
	unsigned socket = core / r->desc->cores;
	struct way *way = slice_find(r, socket, line);

	assert(way);
	tell_lookup(r, socket, line, QUALIFIER_LLC_LOOKUP_WRITE, way);
	tell_tor(r, socket, line, QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_WRITEBACK,
		 kind);
	way->state = 'M';
	way->used = ++r->clock;
	if (kind == REQUEST_WRITEBACK)
		way->core_valid &= ~(1u << (core % r->desc->cores));
}

static struct way *l2_fill(struct reference *r, unsigned core, uint64_t line, char state)
{
	struct core *c = &r->cores[core];
	struct set *set = private_set(&c->l2, line);
	struct way *way = free_way(set, c->l2.ways);

	if (!way) {
		char in_l1d;

		way = oldest(set, c->l2.ways);
		in_l1d = state_of(&c->l1d, way->line);
		if (way->state == 'M' && in_l1d != 'M')
			write_back(r, core, way->line,
				   in_l1d == 'I' ? REQUEST_WRITEBACK : REQUEST_WRITEBACK_KEEP);
	}
	*way = (struct way){.line = line, .state = state, .used = ++r->clock};
	return way;
}

static void l1_fill(struct reference *r, unsigned core, struct cache *cache, uint64_t line,
		    char state)
{
	struct set *set = private_set(cache, line);
	struct way *way = free_way(set, cache->ways);
	struct core *c = &r->cores[core];

	if (!way) {
		way = &set->ways[tree_victim(set)];
		if (way->state == 'M') {
			struct way *below = lookup(&c->l2, way->line);
			uint64_t victim = way->line;

			way->state = 0;
			if (below) {
				below->state = 'M';
				below->used = ++r->clock;
			} else {
				l2_fill(r, core, victim, 'M');
			}
		}
	}
	*way = (struct way){.line = line, .state = state};
	tree_touch(set, (unsigned)(way - set->ways));
}

static bool l1_hit(struct cache *cache, struct way *way, uint64_t line)
{
	struct set *set = private_set(cache, line);

	if (!way)
		return false;
	tree_touch(set, (unsigned)(way - set->ways));
	return true;
}

void reference_load(struct reference *r, unsigned core, uint64_t line)
{
	struct core *c = &r->cores[core];
	struct way *way;
	char granted;

	if (l1_hit(&c->l1d, lookup(&c->l1d, line), line))
		return;
	way = lookup(&c->l2, line);
	if (way) {
		way->used = ++r->clock;
		l1_fill(r, core, &c->l1d, line, way->state == 'S' ? 'S' : 'E');
		return;
	}
	granted = request(r, core, line, REQUEST_READ_DATA);
	l2_fill(r, core, line, granted);
	l1_fill(r, core, &c->l1d, line, granted);
}

void reference_store(struct reference *r, unsigned core, uint64_t line)
{
	struct core *c = &r->cores[core];
	struct way *l1 = lookup(&c->l1d, line), *l2;

	if (l1 && l1->state != 'S') {
		l1_hit(&c->l1d, l1, line);
		l1->state = 'M';
		return;
	}
	l2 = lookup(&c->l2, line);
	if (!l1 && l2 && l2->state != 'S') {
		l2->used = ++r->clock;
		l1_fill(r, core, &c->l1d, line, 'M');
		return;
	}
	request(r, core, line, REQUEST_READ_OWN);
	l1 = lookup(&c->l1d, line);
	l2 = lookup(&c->l2, line);
	if (l2) {
		l2->state = 'E';
		l2->used = ++r->clock;
	} else {
		l2_fill(r, core, line, 'E');
	}
	if (l1) {
		l1_hit(&c->l1d, l1, line);
		l1->state = 'M';
	} else {
		l1_fill(r, core, &c->l1d, line, 'M');
	}
}

void reference_fetch(struct reference *r, unsigned core, uint64_t line)
{
	struct core *c = &r->cores[core];
	struct way *way;

	if (l1_hit(&c->l1i, lookup(&c->l1i, line), line))
		return;
	way = lookup(&c->l2, line);
	if (way) {
		way->used = ++r->clock;
	} else {
		request(r, core, line, REQUEST_READ_CODE);
		l2_fill(r, core, line, 'S');
	}
	l1_fill(r, core, &c->l1i, line, 'S');
}

static void prefetch_llc(struct reference *r, unsigned core, uint64_t line, unsigned kind)
{
	unsigned socket = core / r->desc->cores, miss = 0;
	struct way *way = slice_find(r, socket, line);
	uint32_t qualifiers = QUALIFIER_LLC_LOOKUP_READ;

	if (kind == REQUEST_PREFETCH_DATA)
		qualifiers |= QUALIFIER_LLC_LOOKUP_DATA_READ;
	tell_lookup(r, socket, line, qualifiers, way);
	if (!way) {
		miss = QUALIFIER_LLC_REQUEST_MISS;
		way = slice_room(r, socket, line);
		way->state = home_request(r, socket, line,
					  kind == REQUEST_PREFETCH_DATA	  ? REQUEST_READ_DATA
					  : kind == REQUEST_PREFETCH_CODE ? REQUEST_READ_CODE
									  : REQUEST_READ_OWN);
		way->line = line;
		way->core_valid = 0;
	}
	way->used = ++r->clock;
	tell_tor(r, socket, line, QUALIFIER_LLC_REQUEST_CORE | miss, kind);
}

void reference_prefetch(struct reference *r, unsigned core, uint64_t line, unsigned kind)
{
	if (lookup(&r->cores[core].l2, line))
		return;
	if (kind == REQUEST_READ_DATA || kind == REQUEST_READ_CODE)
		l2_fill(r, core, line,
			kind == REQUEST_READ_CODE ? (request(r, core, line, kind), 'S')
						  : request(r, core, line, kind));
	else if (kind == REQUEST_READ_OWN)
		l2_fill(r, core, line, (request(r, core, line, kind), 'E'));
	else
		prefetch_llc(r, core, line, kind);
}

static void send_buffer(struct reference *r, unsigned core, const struct buffer *buffer)
{
	unsigned socket = core / r->desc->cores;
	struct way *way = slice_find(r, socket, buffer->line);
	bool full = buffer->bytes == UINT64_MAX;

	tell_lookup(r, socket, buffer->line, QUALIFIER_LLC_LOOKUP_WRITE, way);
	if (way) {
		invalidate_cores(r, socket, way, -1);
		if (way->state == 'M') {
			tell_cbo(r, socket, buffer->line, SIGNAL_LLC_OUTCOME,
				 QUALIFIER_LLC_OUTCOME_STREAM_MET_MODIFIED, 0, 0);
			home_write(r, socket, buffer->line, true);
		}
		leave_slice(way);
	}
	home_request(r, socket, buffer->line, REQUEST_OWN);
	home_write(r, socket, buffer->line, full);
	tell_tor(r, socket, buffer->line, QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS,
		 full ? REQUEST_STREAM : REQUEST_STREAM_PART);
}

void reference_store_nt(struct reference *r, unsigned core, uint64_t line, unsigned offset,
			unsigned size)
{
	struct core *c = &r->cores[core];
	struct buffer *buffer = NULL, *displaced = &c->buffers[0];

	for (int i = 0; i < WC_BUFFERS && !buffer; i++) {
		if (c->buffers[i].bytes && c->buffers[i].line == line)
			buffer = &c->buffers[i];
		else if (displaced->bytes &&
			 (!c->buffers[i].bytes || c->buffers[i].used < displaced->used))
			displaced = &c->buffers[i];
	}
	if (!buffer) {
		if (displaced->bytes)
			send_buffer(r, core, displaced);
		*displaced = (struct buffer){.line = line};
		buffer = displaced;
		if (holds_modified(c, line))
			write_back(r, core, line, REQUEST_WRITEBACK);
		drop(&c->l1d, line);
		drop(&c->l2, line);
	}
	buffer->bytes |= (size == 64 ? UINT64_MAX : (1ull << size) - 1) << offset;
	buffer->used = ++r->clock;
	if (buffer->bytes == UINT64_MAX) {
		send_buffer(r, core, buffer);
		buffer->bytes = 0;
	}
}

char reference_state(const struct reference *r, enum reference_level level, unsigned unit,
		     uint64_t line)
{
	const struct way *way;

	switch (level) {
	case REFERENCE_L1I:
		return state_of(&r->cores[unit].l1i, line);
	case REFERENCE_L1D:
		return state_of(&r->cores[unit].l1d, line);
	case REFERENCE_L2:
		return state_of(&r->cores[unit].l2, line);
	default:
		way = slice_find(r, unit, line);
		return way ? way->state : 'I';
	}
}

uint32_t reference_core_valid(const struct reference *r, unsigned socket, uint64_t line)
{
	const struct way *way = slice_find(r, socket, line);

	return way ? way->core_valid : 0;
}
