#include "machine/slice.h"

#include "machine/home.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/tor.h"

static unsigned core_number(const struct machine *machine, unsigned socket, uint32_t core_valid)
{
	return socket * machine->desc->cores + (unsigned)__builtin_ctz(core_valid);
}

/* @return whether one of @cores had the line in M */
static MACHINE_OUTLINE bool invalidate_each(struct machine *machine, unsigned socket,
					    uint32_t cores, uint32_t line)
{
	bool modified = false;

	for (; cores; cores &= cores - 1)
		if (private_invalidate(machine, core_number(machine, socket, cores), line) ==
		    LINE_M)
			modified = true;
	return modified;
}

/* Invalidates the line in the cores of @cores, which lose their bits; their M makes it M. */
static inline void invalidate_cores(struct machine *machine, struct tor_entry *entry,
				    uint32_t cores)
{
	const uint32_t left = *tor_core_valid(entry) & cores;

	if (!left)
		return;
	entry->cycles += machine->desc->snoop_cycles;
	*tor_core_valid(entry) &= ~cores;
	if (invalidate_each(machine, entry->socket, left, entry->line))
		tor_set_state(entry, LINE_M);
}

/* A read by others: where one core may hold the line in M or E, it comes down to S. */
static inline void share_core(struct machine *machine, struct tor_entry *entry, uint32_t others)
{
	uint32_t *core_valid = tor_core_valid(entry);
	enum line_state state = tor_state(entry), had;

	if ((state != LINE_M && state != LINE_E) || !(*core_valid & others) ||
	    *core_valid & (*core_valid - 1))
		return;
	entry->cycles += machine->desc->snoop_cycles;
	had = private_share(machine, core_number(machine, entry->socket, *core_valid), entry->line);
	if (had == LINE_M) {
		skew_meet(machine, entry->socket, *core_valid);
		entry->met = true;
		tor_set_state(entry, LINE_M);
	} else if (had == LINE_I) {
		*core_valid = 0;
	}
}

static inline void emit_victim(struct machine *machine, const struct tor_entry *entry,
			       enum line_state state, bool unused)
{
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_VICTIM,
					 .socket = entry->socket,
					 .unit = (uint8_t)entry->index.slice,
					 .qualifiers = state == LINE_M	 ? QUALIFIER_LLC_VICTIM_M
						       : state == LINE_E ? QUALIFIER_LLC_VICTIM_E
						       : state == LINE_S ? QUALIFIER_LLC_VICTIM_S
									 : QUALIFIER_LLC_VICTIM_F,
					 .time = entry->begin + entry->cycles,
					 .node = entry->node,
					 .core = SIGNAL_NO_CORE,
				     });
	if (unused && state != LINE_M)
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_UNUSED_VICTIM);
}

/* By value: where an entry has no address, the host keeps it in registers. */
static inline struct home_answer ask_home(struct machine *machine, const struct tor_entry entry,
					  enum signal_request request)
{
	const struct home_question question = {
	    .now = entry.begin + entry.cycles,
	    .line = entry.line,
	    .index = entry.index,
	    .socket = entry.socket,
	    .node = entry.node,
	};

	return home_request(machine, request, &question);
}

/* Data go to the home agent and are posted there. @return cycles */
static inline uint64_t write_home(struct machine *machine, const struct tor_entry *entry,
				  enum signal_request request)
{
	entry->slice->writebacks++;
	return ask_home(machine, *entry, request).cycles;
}

/* The requester does not wait for its victim. */
static inline void evict(struct machine *machine, const struct tor_entry *request, int way)
{
	bool unused = !request->set->core_valid[way];
	struct tor_entry victim;
	enum line_state state;
	uint32_t qualifiers = QUALIFIER_LLC_REQUEST_EVICTION;

	tor_enter_victim(machine, &victim, request, way);
	victim.cycles += machine->desc->llc.latency;
	invalidate_cores(machine, &victim, UINT32_MAX);
	state = tor_state(&victim);
	tor_drop(&victim);
	victim.slice->victims++;
	victim.total = totals_victim(state, victim.node, unused);
	emit_victim(machine, &victim, state, unused);
	if (state == LINE_M) {
		victim.cycles += write_home(machine, &victim, REQUEST_WRITEBACK);
		qualifiers |= QUALIFIER_LLC_REQUEST_MISS;
	}
	tor_leave(machine, &victim, qualifiers, REQUEST_NONE);
}

static inline void free_way(struct machine *machine, struct tor_entry *entry)
{
	const unsigned ways = machine->desc->llc.ways;
	unsigned invalid = cache_match20(entry->set->tag, 0, 0) & ((1u << ways) - 1);

	if (invalid) {
		entry->way = __builtin_ctz(invalid);
		return;
	}
	entry->way = (int)lru_victim32(entry->set->recency, ways);
	evict(machine, entry, entry->way);
}

/* @return the state granted */
static inline enum line_state miss(struct machine *machine, struct tor_entry *entry,
				   enum signal_request request, uint32_t bit)
{
	struct home_answer answer;

	entry->slice->misses++;
	if (machine->desc->sockets > 1)
		tor_prefetch(machine, entry, 1u - entry->socket);
	free_way(machine, entry);
	answer = ask_home(machine, *entry, request);
	entry->cycles += answer.cycles;
	tor_set_state(entry, answer.state);
	*tor_core_valid(entry) = bit;
	return request == REQUEST_READ_CODE || answer.state == LINE_F ? LINE_S : LINE_E;
}

/* A read by the only core that may have the line. */
static inline enum line_state granted_alone(enum signal_request request, enum line_state state)
{
	bool exclusive = state == LINE_E || state == LINE_M;

	return request == REQUEST_READ_DATA && exclusive ? LINE_E : LINE_S;
}

/* A read of a line that others may have, or nobody has. */
static inline enum line_state read_shared(struct machine *machine, struct tor_entry *entry,
					  enum signal_request request, enum line_state state,
					  uint32_t bit)
{
	uint32_t *core_valid = tor_core_valid(entry);

	if (request == REQUEST_READ_DATA && state != LINE_M && !*core_valid)
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_UNUSED_HIT);
	share_core(machine, entry, ~bit);
	*core_valid |= bit;
	return *core_valid == bit ? granted_alone(request, state) : LINE_S;
}

/* @return whether the home agent had to be asked */
static inline bool own_hit(struct machine *machine, struct tor_entry *entry, enum line_state state,
			   uint32_t bit)
{
	bool shared = state == LINE_S || state == LINE_F;

	if (state == LINE_S)
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_OWN_HIT_SHARED);
	if (shared) {
		entry->cycles += ask_home(machine, *entry, REQUEST_OWN).cycles;
		tor_set_state(entry, LINE_E);
	}
	skew_meet(machine, entry->socket, *tor_core_valid(entry) & ~bit);
	invalidate_cores(machine, entry, ~bit);
	*tor_core_valid(entry) = bit;
	return shared;
}

/* A read by a core for the line of a located entry. */
struct core_read {
	enum signal_request request;
	uint32_t bit; /* the core's */
};

static inline struct slice_answer finish_read(struct machine *machine, struct tor_entry *entry,
					      const struct core_read *read, enum line_state granted,
					      bool missed, bool left_socket)
{
	const uint32_t hop = machine->desc->ring_hop;
	const uint32_t qualifiers = left_socket
					? QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS
					: QUALIFIER_LLC_REQUEST_CORE;

	tor_touch(machine, entry);
	return (struct slice_answer){
	    .cycles = hop + tor_leave(machine, entry, qualifiers, read->request) + hop,
	    .granted = granted,
	    .missed = missed,
	};
}

/* Reads that need others. */
static MACHINE_OUTLINE struct slice_answer read_far(struct machine *machine,
						    struct tor_entry *entry,
						    const struct core_read read,
						    enum line_state state)
{
	enum line_state granted = LINE_E;
	bool asked = state == LINE_I;

	if (asked)
		granted = miss(machine, entry, read.request, read.bit);
	else if (read.request == REQUEST_READ_OWN)
		asked = own_hit(machine, entry, state, read.bit);
	else
		granted = read_shared(machine, entry, read.request, state, read.bit);
	return finish_read(machine, entry, &read, granted, state == LINE_I, asked);
}

/* Home agents make no difference. */
static enum signal_request without_prefetch(enum signal_request request)
{
	switch (request) {
	case REQUEST_PREFETCH_DATA:
		return REQUEST_READ_DATA;
	case REQUEST_PREFETCH_CODE:
		return REQUEST_READ_CODE;
	default:
		return REQUEST_READ_OWN;
	}
}

static MACHINE_OUTLINE struct slice_answer prefetch(struct machine *machine,
						    struct tor_entry *entry, unsigned core,
						    enum signal_request request, uint64_t now)
{
	const struct core_read read = {request, 0};
	uint32_t looks_up = QUALIFIER_LLC_LOOKUP_READ;
	enum line_state state;

	if (request == REQUEST_PREFETCH_DATA)
		looks_up |= QUALIFIER_LLC_LOOKUP_DATA_READ;
	tor_enter(machine, entry, QUALIFIER_LLC_INGRESS_CORE, machine_core_of_socket(machine, core),
		  now + machine->desc->ring_hop);
	state = tor_lookup(machine, entry, request, looks_up);
	if (state == LINE_I)
		miss(machine, entry, without_prefetch(request), 0);
	return finish_read(machine, entry, &read, LINE_I, state == LINE_I, state == LINE_I);
}

static bool is_prefetch(enum signal_request request)
{
	return request == REQUEST_PREFETCH_DATA || request == REQUEST_PREFETCH_CODE ||
	       request == REQUEST_PREFETCH_OWN;
}

static MACHINE_OUTLINE struct slice_answer read_by_core(struct machine *machine,
							struct tor_entry *located, unsigned core,
							enum signal_request request, uint64_t now)
{
	const unsigned number = machine_core_of_socket(machine, core);
	const struct core_read read = {request, 1u << number};
	/* Without an address, so that the host keeps it in registers. */
	struct tor_entry entry = *located;
	uint32_t looks_up = QUALIFIER_LLC_LOOKUP_READ;
	enum line_state state;

	if (request == REQUEST_READ_DATA)
		looks_up |= QUALIFIER_LLC_LOOKUP_DATA_READ;
	tor_enter(machine, &entry, QUALIFIER_LLC_INGRESS_CORE, number,
		  now + machine->desc->ring_hop);
	state = tor_lookup(machine, &entry, request, looks_up);
	if (state == LINE_I || request == REQUEST_READ_OWN || *tor_core_valid(&entry) != read.bit) {
		*located = entry;
		return read_far(machine, located, read, state);
	}
	return finish_read(machine, &entry, &read, granted_alone(request, state), false, false);
}

struct slice_answer slice_read(struct machine *machine, struct tor_entry *entry, unsigned core,
			       enum signal_request request, uint64_t now)
{
	if (MACHINE_EMITS && machine_is_quiet(machine))
		return slice_read_quiet(machine, entry, core, request, now);
	if (is_prefetch(request))
		return prefetch(machine, entry, core, request, now);
	return read_by_core(machine, entry, core, request, now);
}

/* A core's modified line comes back; the LLC holds it, being inclusive. */
static void take_back(struct machine *machine, struct tor_entry *entry, bool core_keeps,
		      uint32_t bit)
{
	/* Only a process that died in the middle of a request can have left it absent. */
	if (!tor_present(entry))
		return;
	tor_set_state(entry, LINE_M);
	if (!core_keeps)
		*tor_core_valid(entry) &= ~bit;
	tor_touch(machine, entry);
}

static void write_through(struct machine *machine, struct tor_entry *entry, bool full)
{
	if (tor_present(entry)) {
		invalidate_cores(machine, entry, UINT32_MAX);
		if (tor_state(entry) == LINE_M) {
			tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_STREAM_MET_MODIFIED);
			entry->cycles += write_home(machine, entry, REQUEST_WRITEBACK);
		}
		tor_drop(entry);
	}
	entry->cycles += ask_home(machine, *entry, REQUEST_OWN).cycles;
	entry->cycles +=
	    ask_home(machine, *entry, full ? REQUEST_WRITEBACK : REQUEST_WRITEBACK_PART).cycles;
}

uint64_t slice_write(struct machine *machine, unsigned core, enum signal_request request,
		     uint32_t line, uint64_t now)
{
	const uint32_t hop = machine->desc->ring_hop;
	const unsigned number = machine_core_of_socket(machine, core);
	bool from_cache = request == REQUEST_WRITEBACK || request == REQUEST_WRITEBACK_KEEP;
	struct tor_entry entry;

	if (MACHINE_EMITS && machine_is_quiet(machine))
		return slice_write_quiet(machine, core, request, line, now);
	tor_locate(machine, &entry, machine_socket(machine, core), line);
	tor_enter(machine, &entry, QUALIFIER_LLC_INGRESS_CORE, number, now + hop);
	tor_lookup(machine, &entry, request, QUALIFIER_LLC_LOOKUP_WRITE);
	if (from_cache)
		take_back(machine, &entry, request == REQUEST_WRITEBACK_KEEP, 1u << number);
	else
		write_through(machine, &entry, request == REQUEST_STREAM);
	return hop +
	       tor_leave(machine, &entry,
			 QUALIFIER_LLC_REQUEST_CORE | (from_cache ? QUALIFIER_LLC_REQUEST_WRITEBACK
								  : QUALIFIER_LLC_REQUEST_MISS),
			 request) +
	       hop;
}

static inline enum snoop_response share_line(struct machine *machine, struct tor_entry *entry)
{
	enum line_state state;

	share_core(machine, entry, UINT32_MAX);
	state = tor_state(entry);
	tor_set_state(entry, LINE_S);
	switch (state) {
	case LINE_M:
		return SNOOP_RSP_S_WB;
	case LINE_S:
		return SNOOP_RSP_S;
	default:
		return SNOOP_RSP_S_FWD;
	}
}

static inline struct snoop_answer take_line(struct machine *machine, struct tor_entry *entry,
					    bool data)
{
	struct snoop_answer answer = {.response = SNOOP_RSP_I};
	enum line_state state;

	skew_meet(machine, entry->socket, *tor_core_valid(entry));
	invalidate_cores(machine, entry, UINT32_MAX);
	state = tor_state(entry);
	tor_drop(entry);
	answer.modified = state == LINE_M;
	if (data && state != LINE_S)
		answer.response = SNOOP_RSP_I_FWD;
	else if (state == LINE_M)
		answer.response = SNOOP_RSP_I_WB;
	else
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_SNOOPED_CLEAN);
	return answer;
}

struct snoop_answer slice_snoop(struct machine *machine, unsigned socket,
				enum signal_request request, uint32_t line, struct llc_index index,
				uint64_t now)
{
	struct snoop_answer answer = {.response = SNOOP_RSP_I};
	struct tor_entry entry;

	tor_place(machine, &entry, socket, line, index);
	tor_enter(machine, &entry, QUALIFIER_LLC_INGRESS_SNOOP, SIGNAL_NO_CORE, now);
	tor_lookup(machine, &entry, REQUEST_NONE, QUALIFIER_LLC_LOOKUP_SNOOP);
	if (tor_present(&entry)) {
		if (request == REQUEST_READ_DATA || request == REQUEST_READ_CODE)
			answer.response = share_line(machine, &entry);
		else
			answer = take_line(machine, &entry, request == REQUEST_READ_OWN);
	}
	answer.cycles = tor_leave(machine, &entry, 0, REQUEST_NONE);
	return answer;
}
