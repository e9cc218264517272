#include "machine/slice.h"

#include "machine/home.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/tor.h"

static unsigned core_number(const struct machine *machine, unsigned socket, uint32_t core_valid)
{
	return socket * machine->desc->cores + (unsigned)__builtin_ctz(core_valid);
}

/* @return the best state in which one of @cores had the line */
static MACHINE_OUTLINE enum line_state invalidate_each(struct machine *machine, unsigned socket,
						       uint32_t cores, uint32_t line)
{
	enum line_state best = LINE_I, had;

	for (; cores; cores &= cores - 1) {
		had = private_invalidate(machine, core_number(machine, socket, cores), line);
		if (had > best)
			best = had;
	}
	return best;
}

/*
 * Invalidates the line in the cores of @cores, which lose their bits; their M makes it M.
 * @return the snoop's part of the source
 */
static MACHINE_INLINE enum machine_source invalidate_cores(struct machine *machine,
							   struct tor_entry *entry, uint32_t cores)
{
	const uint32_t core_valid = tor_core_valid(machine, entry), left = core_valid & cores;
	enum line_state had;

	if (!left)
		return SOURCE_LLC;
	entry->cycles += machine->desc->snoop_cycles;
	tor_set_core_valid(machine, entry, core_valid & ~cores);
	had = invalidate_each(machine, entry->socket, left, entry->line);
	if (had == LINE_M)
		tor_set_state(entry, LINE_M);
	return had == LINE_M ? SOURCE_LLC_MODIFIED : had ? SOURCE_LLC_CLEAN : SOURCE_LLC_GONE;
}

/* Of a victim in more cores than the one that makes room, if in that. @return whether it is in that
 */
static MACHINE_INLINE bool invalidate_others(struct machine *machine, struct tor_entry *victim,
					     const struct tor_entry *request)
{
	const uint32_t bit = 1u << request->core;
	const bool own = request->held && tor_core_valid(machine, victim) & bit;

	invalidate_cores(machine, victim, own ? ~bit : UINT32_MAX);
	return own;
}

/* Of a victim. The core that makes room may hold its caches already, and cannot hold them twice. */
static MACHINE_INLINE void invalidate_all(struct machine *machine, struct tor_entry *victim,
					  const struct tor_entry *request)
{
	if (tor_is_unused(victim))
		return;
	if (request->held && tor_only_core(victim, request->core))
		victim->cycles += machine->desc->snoop_cycles;
	else if (!invalidate_others(machine, victim, request))
		return;
	if (private_has(machine, request->held, victim->line) &&
	    private_take(machine, request->held, victim->line) == LINE_M)
		tor_set_state(victim, LINE_M);
}

/* A read by others: where one core may hold the line in M or E, it comes down to S. */
static MACHINE_INLINE void share_core(struct machine *machine, struct tor_entry *entry,
				      uint32_t others)
{
	const uint32_t core_valid = tor_core_valid(machine, entry);
	enum line_state state = tor_state(entry), had;

	if ((state != LINE_M && state != LINE_E) || !(core_valid & others) ||
	    core_valid & (core_valid - 1))
		return;
	entry->cycles += machine->desc->snoop_cycles;
	had = private_share(machine, core_number(machine, entry->socket, core_valid), entry->line);
	if (had == LINE_M) {
		skew_meet(machine, entry->socket, core_valid);
		entry->source = SOURCE_LLC_MODIFIED;
		tor_set_state(entry, LINE_M);
	} else if (had == LINE_I) {
		entry->source = SOURCE_LLC_GONE;
		tor_set_core_valid(machine, entry, 0);
	} else {
		entry->source = SOURCE_LLC_CLEAN;
	}
}

static MACHINE_INLINE void emit_victim(struct machine *machine, const struct tor_entry *entry,
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

static MACHINE_INLINE uint32_t fill_qualifier(enum line_state state)
{
	return state == LINE_M	 ? QUALIFIER_LLC_FILL_M
	       : state == LINE_E ? QUALIFIER_LLC_FILL_E
	       : state == LINE_S ? QUALIFIER_LLC_FILL_S
				 : QUALIFIER_LLC_FILL_F;
}

/* A line comes to the way that is free for it; @core as tor_put() has it. */
static MACHINE_INLINE void bring_in(struct machine *machine, struct tor_entry *entry,
				    enum line_state state, unsigned core)
{
	tor_put(entry, state, core);
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_FILL,
					 .socket = entry->socket,
					 .unit = (uint8_t)entry->index.slice,
					 .qualifiers = fill_qualifier(state),
					 .time = entry->begin + entry->cycles,
				     });
}

static MACHINE_INLINE struct home_question question_of(const struct tor_entry *entry)
{
	return (struct home_question){
	    .now = entry->begin + entry->cycles,
	    .line = entry->line,
	    .index = entry->index,
	    .socket = entry->socket,
	    .node = entry->node,
	    .shared = entry->shared,
	    .near = entry->near,
	};
}

/* The other socket's copies are invalidated. @return cycles */
static MACHINE_INLINE uint64_t own_at_home(struct machine *machine, const struct tor_entry *entry)
{
	const struct home_question question = question_of(entry);

	return home_own(machine, &question);
}

/* What leaves the LLC modified. @return cycles */
static MACHINE_INLINE uint64_t write_back(struct machine *machine, const struct tor_entry *entry)
{
	const struct home_question question = question_of(entry);

	entry->slice->writebacks++;
	return home_write(machine, REQUEST_WRITEBACK, &question);
}

/* The requester does not wait for its victim. */
static MACHINE_INLINE void evict(struct machine *machine, const struct tor_entry *request, int way)
{
	struct tor_entry victim;
	enum line_state state;
	uint32_t qualifiers = QUALIFIER_LLC_REQUEST_EVICTION;
	bool unused;

	tor_enter_victim(machine, &victim, request, way);
	unused = tor_is_unused(&victim);
	victim.cycles += machine->desc->llc.latency;
	invalidate_all(machine, &victim, request);
	state = tor_state(&victim);
	tor_clear(&victim);
	victim.slice->victims++;
	tor_set_total(&victim, totals_victim(state, victim.node, unused));
	emit_victim(machine, &victim, state, unused);
	if (state == LINE_M) {
		victim.cycles += write_back(machine, &victim);
		qualifiers |= QUALIFIER_LLC_REQUEST_MISS;
	}
	tor_leave(machine, &victim, qualifiers, REQUEST_NONE);
}

static MACHINE_INLINE void free_way(struct machine *machine, struct tor_entry *entry)
{
	entry->way = (int)llc_room(entry->set, machine->desc->llc.ways);
	if (llc_in_use(entry->set, (unsigned)entry->way))
		evict(machine, entry, entry->way);
}

/* Whether the caches of a socket may have lines. */
static MACHINE_INLINE bool socket_is_used(const struct machine *machine, unsigned socket)
{
	return machine->state->sockets >> socket & 1;
}

/* @return the state granted */
static MACHINE_INLINE enum line_state miss(struct machine *machine, struct tor_entry *entry,
					   enum signal_request request, unsigned core)
{
	struct home_question question;
	struct home_answer answer;

	entry->slice->misses++;
	if (!entry->near && socket_is_used(machine, 1u - entry->socket))
		tor_prefetch(machine, entry, 1u - entry->socket);
	free_way(machine, entry);
	question = question_of(entry);
	answer = home_read(machine, request, &question);
	entry->cycles += answer.cycles;
	entry->source = (uint8_t)source_of_miss(
	    answer.response == SNOOP_RSP_I_FWD && answer.state == LINE_M ? SOURCE_MISS_MODIFIED
									 : answer.response,
	    entry->node != entry->socket);
	bring_in(machine, entry, answer.state, core);
	return request == REQUEST_READ_CODE || answer.state == LINE_F ? LINE_S : LINE_E;
}

/* A read by the only core that may have the line. */
static MACHINE_INLINE enum line_state granted_alone(enum signal_request request,
						    enum line_state state)
{
	bool exclusive = state == LINE_E || state == LINE_M;

	return request == REQUEST_READ_DATA && exclusive ? LINE_E : LINE_S;
}

/* A read of a line that others may have, or nobody has. */
static MACHINE_INLINE enum line_state read_shared(struct machine *machine, struct tor_entry *entry,
						  enum signal_request request,
						  enum line_state state, uint32_t bit)
{
	uint32_t core_valid;

	if (request == REQUEST_READ_DATA && state != LINE_M && tor_is_unused(entry))
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_UNUSED_HIT);
	share_core(machine, entry, ~bit);
	core_valid = tor_core_valid(machine, entry) | bit;
	tor_set_core_valid(machine, entry, core_valid);
	return core_valid == bit ? granted_alone(request, state) : LINE_S;
}

/* @return whether the home agent had to be asked */
static MACHINE_INLINE bool own_hit(struct machine *machine, struct tor_entry *entry,
				   enum line_state state, uint32_t bit)
{
	bool shared = state == LINE_S || state == LINE_F;

	if (state == LINE_S)
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_OWN_HIT_SHARED);
	if (shared) {
		entry->cycles += own_at_home(machine, entry);
		tor_set_state(entry, LINE_E);
	}
	if (tor_only_core(entry, entry->core))
		return shared;
	skew_meet(machine, entry->socket, tor_core_valid(machine, entry) & ~bit);
	entry->taken = invalidate_cores(machine, entry, ~bit);
	tor_set_core_valid(machine, entry, bit);
	return shared;
}

static MACHINE_INLINE unsigned source_of(const struct tor_entry *entry, enum line_state state)
{
	return state == LINE_I ? entry->source : source_of_hit(entry->source + entry->taken, state);
}

/* Of an entry that ends, and its parts. */
static MACHINE_OUTLINE void tell_read(struct machine *machine, const struct tor_entry *entry,
				      bool missed)
{
	const uint64_t latency = machine->desc->llc.latency;

	tor_held(machine, entry, QUALIFIER_LLC_ENTRY_READ);
	tor_hold(machine, entry, QUALIFIER_LLC_ENTRY_LOOK_UP, entry->begin, latency);
	if (missed)
		tor_hold(machine, entry, QUALIFIER_LLC_ENTRY_MISS, entry->begin + latency,
			 entry->cycles - latency);
}

/* @param state  that the slice had the line in */
static MACHINE_INLINE struct slice_answer
finish_read(struct machine *machine, struct tor_entry *entry, enum signal_request request,
	    enum line_state state, enum line_state granted, bool left_socket)
{
	const uint32_t hop = machine->desc->ring_hop;
	const uint32_t qualifiers = left_socket
					? QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS
					: QUALIFIER_LLC_REQUEST_CORE;

	tor_touch(machine, entry);
	if (MACHINE_EMITS && machine->port.enabled[SIGNAL_LLC_ENTRY])
		tell_read(machine, entry, state == LINE_I);
	return (struct slice_answer){
	    .cycles = hop + tor_leave(machine, entry, qualifiers, request) + hop,
	    .granted = granted,
	    .source = source_of(entry, state),
	};
}

/* A read that needs others. */
static MACHINE_INLINE struct slice_answer read_far(struct machine *machine, struct tor_entry *entry,
						   enum signal_request request,
						   enum line_state state)
{
	const uint32_t bit = 1u << entry->core;
	enum line_state granted = LINE_E;
	bool asked = state == LINE_I;

	if (asked)
		granted = miss(machine, entry, request, LLC_CORE(entry->core));
	else if (request == REQUEST_READ_OWN)
		asked = own_hit(machine, entry, state, bit);
	else
		granted = read_shared(machine, entry, request, state, bit);
	return finish_read(machine, entry, request, state, granted, asked);
}

MACHINE_PATH bool slice_has(struct tor_entry *entry, unsigned core)
{
	tor_find(entry);
	return tor_present(entry) && tor_only_core(entry, core);
}

static MACHINE_INLINE void enter_read(struct machine *machine, struct tor_entry *entry,
				      unsigned core, uint64_t now)
{
	tor_enter(machine, entry, QUALIFIER_LLC_INGRESS_CORE, core, now + machine->desc->ring_hop);
}

static MACHINE_INLINE enum line_state look_up(struct machine *machine, struct tor_entry *entry,
					      enum signal_request request)
{
	uint32_t qualifiers = QUALIFIER_LLC_LOOKUP_READ;

	if (request == REQUEST_READ_DATA || request == REQUEST_PREFETCH_DATA)
		qualifiers |= QUALIFIER_LLC_LOOKUP_DATA_READ;
	return tor_lookup(machine, entry, request, qualifiers);
}

MACHINE_PATH struct slice_answer slice_hit(struct machine *machine, struct tor_entry *entry,
					   unsigned core, enum signal_request request, uint64_t now)
{
	enum line_state state;

	enter_read(machine, entry, core, now);
	state = look_up(machine, entry, request);
	return finish_read(machine, entry, request, state, granted_alone(request, state), false);
}

MACHINE_PATH struct slice_answer slice_miss(struct machine *machine, struct tor_entry *entry,
					    unsigned core, enum signal_request request,
					    uint64_t now)
{
	enter_read(machine, entry, core, now);
	return read_far(machine, entry, request, look_up(machine, entry, request));
}

MACHINE_PATH struct slice_answer slice_read(struct machine *machine, struct tor_entry *entry,
					    unsigned core, enum signal_request request,
					    uint64_t now)
{
	if (slice_has(entry, core) && request != REQUEST_READ_OWN)
		return slice_hit(machine, entry, core, request, now);
	return slice_miss(machine, entry, core, request, now);
}

MACHINE_PATH struct slice_answer slice_own(struct machine *machine, struct tor_entry *entry,
					   unsigned core, uint64_t now)
{
	enum line_state state;
	bool asked = true;

	enter_read(machine, entry, core, now);
	tor_find(entry);
	state = look_up(machine, entry, REQUEST_OWN);
	if (state == LINE_I) {
		entry->slice->misses++;
		free_way(machine, entry);
		entry->cycles += own_at_home(machine, entry);
		entry->source = source_of_miss(SNOOP_RSP_I, entry->node != entry->socket);
		bring_in(machine, entry, LINE_E, LLC_CORE(core));
	} else {
		asked = own_hit(machine, entry, state, 1u << core);
	}
	return finish_read(machine, entry, REQUEST_OWN, state, LINE_E, asked);
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

MACHINE_PATH struct slice_answer slice_prefetch(struct machine *machine, struct tor_entry *entry,
						unsigned core, enum signal_request request,
						uint64_t now)
{
	enum line_state state;

	enter_read(machine, entry, core, now);
	tor_find(entry);
	state = look_up(machine, entry, request);
	if (state == LINE_I)
		miss(machine, entry, without_prefetch(request), LLC_CORE_NONE);
	return finish_read(machine, entry, request, state, LINE_I, state == LINE_I);
}

/* A core's modified line comes back; the LLC holds it, being inclusive. */
static void take_back(struct machine *machine, struct tor_entry *entry, bool core_keeps,
		      unsigned core)
{
	/* Only a process that died in the middle of a request can have left it absent. */
	if (!tor_present(entry))
		return;
	tor_set_state(entry, LINE_M);
	if (core_keeps)
		;
	else if (tor_only_core(entry, core))
		tor_set_core(entry, LLC_CORE_NONE);
	else
		tor_set_core_valid(machine, entry, tor_core_valid(machine, entry) & ~(1u << core));
	tor_touch(machine, entry);
}

static void write_through(struct machine *machine, struct tor_entry *entry, bool full)
{
	struct home_question question;

	if (tor_present(entry)) {
		invalidate_cores(machine, entry, UINT32_MAX);
		if (tor_state(entry) == LINE_M) {
			tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_STREAM_MET_MODIFIED);
			entry->cycles += write_back(machine, entry);
		}
		tor_drop(machine, entry);
	}
	entry->cycles += own_at_home(machine, entry);
	question = question_of(entry);
	entry->cycles +=
	    home_write(machine, full ? REQUEST_WRITEBACK : REQUEST_WRITEBACK_PART, &question);
}

uint64_t slice_write(struct machine *machine, unsigned core, enum signal_request request,
		     uint32_t line, uint64_t now)
{
	const uint32_t hop = machine->desc->ring_hop;
	const unsigned number = machine_core_of_socket(machine, core);
	bool from_cache = request == REQUEST_WRITEBACK || request == REQUEST_WRITEBACK_KEEP;
	struct tor_entry entry = {.shared = machine_is_shared(machine)};

	if (MACHINE_EMITS && machine_is_quiet(machine))
		return slice_write_quiet(machine, core, request, line, now);
	tor_locate(machine, &entry, machine_socket(machine, core), line);
	tor_enter(machine, &entry, QUALIFIER_LLC_INGRESS_CORE, number, now + hop);
	tor_find(&entry);
	tor_lookup(machine, &entry, request, QUALIFIER_LLC_LOOKUP_WRITE);
	if (from_cache)
		take_back(machine, &entry, request == REQUEST_WRITEBACK_KEEP, number);
	else
		write_through(machine, &entry, request == REQUEST_STREAM);
	tor_held(machine, &entry, QUALIFIER_LLC_ENTRY_WRITE);
	return hop +
	       tor_leave(machine, &entry,
			 QUALIFIER_LLC_REQUEST_CORE | (from_cache ? QUALIFIER_LLC_REQUEST_WRITEBACK
								  : QUALIFIER_LLC_REQUEST_MISS),
			 request) +
	       hop;
}

/* @return whether a core or the LLC had the line modified */
static bool drop_line(struct machine *machine, struct tor_entry *entry)
{
	bool modified;

	if (!tor_present(entry))
		return false;
	invalidate_cores(machine, entry, UINT32_MAX);
	modified = tor_state(entry) == LINE_M;
	tor_drop(machine, entry);
	return modified;
}

uint64_t slice_flush(struct machine *machine, unsigned core, uint32_t line, bool modified,
		     uint64_t now)
{
	const uint32_t hop = machine->desc->ring_hop;
	const unsigned number = machine_core_of_socket(machine, core);
	struct tor_entry entry = {.shared = machine_is_shared(machine)};
	struct home_question question;

	if (MACHINE_EMITS && machine_is_quiet(machine))
		return slice_flush_quiet(machine, core, line, modified, now);
	tor_locate(machine, &entry, machine_socket(machine, core), line);
	enter_read(machine, &entry, number, now);
	tor_find(&entry);
	tor_lookup(machine, &entry, REQUEST_FLUSH, 0);
	modified |= drop_line(machine, &entry);
	question = question_of(&entry);
	entry.cycles += home_flush(machine, &question, modified);
	return hop +
	       tor_leave(machine, &entry, QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS,
			 REQUEST_FLUSH) +
	       hop;
}

static MACHINE_INLINE enum snoop_response share_line(struct machine *machine,
						     struct tor_entry *entry)
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

static MACHINE_INLINE struct snoop_answer take_line(struct machine *machine,
						    struct tor_entry *entry, bool data)
{
	struct snoop_answer answer = {.response = SNOOP_RSP_I};
	enum line_state state;

	skew_meet(machine, entry->socket, tor_core_valid(machine, entry));
	invalidate_cores(machine, entry, UINT32_MAX);
	state = tor_state(entry);
	tor_drop(machine, entry);
	answer.modified = state == LINE_M;
	if (data && state != LINE_S)
		answer.response = SNOOP_RSP_I_FWD;
	else if (state == LINE_M)
		answer.response = SNOOP_RSP_I_WB;
	else
		tor_misc(machine, entry, QUALIFIER_LLC_OUTCOME_SNOOPED_CLEAN);
	return answer;
}

static MACHINE_INLINE struct snoop_answer
snoop_line(struct machine *machine, struct tor_entry *entry, enum signal_request request)
{
	struct snoop_answer answer = {0};

	if (request != REQUEST_READ_DATA && request != REQUEST_READ_CODE)
		return take_line(machine, entry, request == REQUEST_READ_OWN);
	answer.response = share_line(machine, entry);
	return answer;
}

/* @param state  that the slice had the line in, before it answered */
static MACHINE_OUTLINE void tell_answer(struct machine *machine, const struct tor_entry *entry,
					const struct snoop_answer *answer, enum line_state state)
{
	static const uint32_t qualifiers[] = {
	    [SNOOP_RSP_I] = QUALIFIER_LLC_ANSWER_INVALID,
	    [SNOOP_RSP_S] = QUALIFIER_LLC_ANSWER_SHARED,
	    [SNOOP_RSP_S_FWD] = QUALIFIER_LLC_ANSWER_SHARED_FORWARDED,
	    [SNOOP_RSP_I_FWD] = QUALIFIER_LLC_ANSWER_INVALID_FORWARDED,
	    [SNOOP_RSP_S_WB] = QUALIFIER_LLC_ANSWER_WRITTEN_BACK,
	    [SNOOP_RSP_I_WB] = QUALIFIER_LLC_ANSWER_WRITTEN_BACK,
	};
	static const uint8_t changes[] = {[LINE_M] = 0, [LINE_E] = 1, [LINE_S] = 2, [LINE_F] = 3};
	struct signal signal = {
	    .id = SIGNAL_LLC_ANSWER,
	    .socket = entry->socket,
	    .unit = (uint8_t)entry->index.slice,
	    .qualifiers = qualifiers[answer->response] |
			  (entry->node == entry->socket ? QUALIFIER_LLC_ANSWER_LOCAL
							: QUALIFIER_LLC_ANSWER_REMOTE),
	    .time = entry->begin + entry->cycles,
	};

	if (state != LINE_I) {
		const bool stays = tor_present(entry);

		signal.qualifiers |= stays ? QUALIFIER_LLC_ANSWER_TO_S : QUALIFIER_LLC_ANSWER_TO_I;
		signal.bank = (uint8_t)(changes[state] + (stays ? 0 : 4));
	}
	machine_emit(&machine->port, signal);
}

MACHINE_PATH struct snoop_answer slice_snoop(struct machine *machine,
					     const struct snoop_question *question)
{
	const enum signal_request request = question->request;
	struct snoop_answer answer = {.response = SNOOP_RSP_I};
	struct tor_entry entry = {.shared = question->shared};
	enum line_state state = LINE_I;

	tor_place(machine, &entry, question->socket, question->line, question->index);
	tor_enter(machine, &entry, QUALIFIER_LLC_INGRESS_SNOOP, SIGNAL_NO_CORE, question->now);
	entry.way = TOR_ABSENT;
	if (!question->near && socket_is_used(machine, question->socket))
		tor_find(&entry);
	tor_lookup(machine, &entry, REQUEST_NONE, QUALIFIER_LLC_LOOKUP_SNOOP);
	if (tor_present(&entry)) {
		state = tor_state(&entry);
		answer = snoop_line(machine, &entry, request);
	}
	if (MACHINE_EMITS && machine->port.enabled[SIGNAL_LLC_ANSWER])
		tell_answer(machine, &entry, &answer, state);
	tor_held(machine, &entry, QUALIFIER_LLC_ENTRY_PROBE);
	answer.cycles = tor_leave(machine, &entry, 0, REQUEST_NONE);
	return answer;
}
