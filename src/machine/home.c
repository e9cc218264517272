#include "machine/home.h"

#include "machine/memory.h"
#include "machine/occupancy.h"
#include "machine/slice.h"

/* A request on its way through an agent. Times: uncore cycles. */
struct transaction {
	struct llc_index index;
	struct home *home;
	enum signal_request request;
	uint32_t line;
	uint8_t socket, agent, requester; /* the home node, its agent, the node that asks */
	uint32_t channel;		  /* of the agent */
	uint32_t channel_line;
	uint32_t slot;	   /* of the tracker */
	bool shared, near; /* as in the question */
	uint64_t there;	   /* cycles from the slice to the beginning */
	uint64_t begin;
};

static bool is_local(const struct transaction *transaction)
{
	return transaction->requester == transaction->socket;
}

static MACHINE_INLINE void span(struct machine *machine, const struct transaction *transaction,
				enum pmu_signal_id id, uint32_t qualifiers, uint64_t time,
				uint64_t duration)
{
	machine_emit(&machine->port, (struct signal){
					 .id = (uint16_t)id,
					 .socket = transaction->socket,
					 .unit = transaction->agent,
					 .qualifiers = qualifiers,
					 .time = time,
					 .duration = duration,
				     });
}

static MACHINE_INLINE void pulse(struct machine *machine, const struct transaction *transaction,
				 enum pmu_signal_id id, uint32_t qualifiers, uint64_t time)
{
	span(machine, transaction, id, qualifiers, time, 0);
}

/* Cycles of a message between a slice or agent of one socket and one of another or the same. */
static MACHINE_INLINE uint64_t path_cycles(const struct machine *machine, unsigned from,
					   unsigned to)
{
	return machine->desc->ring_hop + (from == to ? 0 : machine->desc->link_cycles);
}

/* When the link, asked at @now, which it may correct, can begin to send a line. */
static uint64_t take_link(const struct machine *machine, struct link *link, uint64_t *now)
{
	const uint32_t cycles = machine->desc->link_line_cycles;
	uint64_t start = CALENDAR_NONE;

	if (machine_is_late(machine, link->now, *now))
		start = calendar_find(&link->use, *now, cycles);
	else
		link->now = *now = machine_max(link->now, *now);
	if (start == CALENDAR_NONE) {
		start = machine_max(*now, link->busy);
		link->busy = start + cycles;
	}
	if (machine_is_shared(machine))
		calendar_take(&link->use, start, cycles);
	return start;
}

/* As path_cycles() to another socket, for a line of data, which may have to wait for the link. */
static MACHINE_OUTLINE uint64_t link_cycles(struct machine *machine, unsigned from, uint64_t now)
{
	uint64_t start = take_link(machine, &machine->state->links[from], &now);

	return path_cycles(machine, from, !from) + start + machine->desc->link_line_cycles - now;
}

/* As path_cycles(), for a line of data. */
static MACHINE_INLINE uint64_t data_path_cycles(struct machine *machine, unsigned from, unsigned to,
						uint64_t now)
{
	return from == to ? machine->desc->ring_hop : link_cycles(machine, from, now);
}

static_assert(HOMES_MAX == 2, "a bit of the line tells the agent");

/*
 * X is the line's number over all memory; in its node, lines go to agents and channels in turn.
 */
static MACHINE_INLINE void decode(struct machine *machine, struct transaction *transaction)
{
	const struct pmu_machine *desc = machine->desc;
	const uint32_t second = desc->home_agents - 1;
	uint32_t line = transaction->line;

	if (transaction->socket)
		line -= machine->lines_per_node;
	transaction->agent = (uint8_t)(line & second);
	line >>= second;
	transaction->channel_line = divide(&machine->per_channel, line);
	transaction->channel = line - transaction->channel_line * desc->channels;
	transaction->home =
	    &machine->homes[transaction->socket * desc->home_agents + transaction->agent];
}

static MACHINE_INLINE uint64_t dram_now(const struct machine *machine, uint64_t cycle)
{
	return divide_time(&machine->per_dclk, cycle * machine->uclk_ticks);
}

static MACHINE_INLINE uint64_t from_dram(const struct machine *machine, uint64_t cycles)
{
	return machine_uncore_cycle(machine, cycles * machine->dclk_ticks);
}

static MACHINE_INLINE size_t channel_index(const struct machine *machine,
					   const struct transaction *transaction)
{
	const struct pmu_machine *desc = machine->desc;
	size_t home = transaction->socket * desc->home_agents + transaction->agent;

	return home * desc->channels + transaction->channel;
}

static MACHINE_INLINE uint64_t read_memory(struct machine *machine,
					   const struct transaction *transaction, uint64_t cycle)
{
	size_t channel = channel_index(machine, transaction);

	pulse(machine, transaction, SIGNAL_HOME_MEMORY_READ, 0, cycle);
	return from_dram(machine, memory_read(&machine->channels[channel], &machine->views[channel],
					      transaction->channel_line, dram_now(machine, cycle)));
}

/* A line to write. */
struct posted {
	size_t channel; /* of all */
	uint32_t line;	/* of the channel */
	bool partial;
};

/* Apart from the transaction, which has no address then. @return cycles until it is posted */
static MACHINE_OUTLINE uint64_t post(struct machine *machine, const struct posted posted,
				     uint64_t cycle)
{
	return from_dram(machine, memory_write(&machine->channels[posted.channel],
					       &machine->views[posted.channel], posted.line,
					       posted.partial, dram_now(machine, cycle)));
}

/* @return cycles until it is posted */
static MACHINE_INLINE uint64_t write_memory(struct machine *machine,
					    const struct transaction *transaction, bool partial,
					    uint64_t cycle)
{
	const struct posted posted = {
	    .channel = channel_index(machine, transaction),
	    .line = transaction->channel_line,
	    .partial = partial,
	};
	uint64_t wait;

	pulse(machine, transaction, SIGNAL_HOME_MEMORY_WRITE,
	      partial ? QUALIFIER_HOME_MEMORY_WRITE_PARTIAL : QUALIFIER_HOME_MEMORY_WRITE_FULL,
	      cycle);
	wait = post(machine, posted, cycle);
	if (wait)
		span(machine, transaction, SIGNAL_HOME_WRITE_WAIT,
		     QUALIFIER_HOME_WRITE_WAIT_CHANNEL0 << transaction->channel, cycle, wait);
	return wait;
}

static_assert(QUALIFIER_HOME_RESPONSE_INVALID == QUALIFIER_HOME_LOCAL_RESPONSE_INVALID &&
		  QUALIFIER_HOME_RESPONSE_SHARED == QUALIFIER_HOME_LOCAL_RESPONSE_SHARED &&
		  QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED ==
		      QUALIFIER_HOME_LOCAL_RESPONSE_SHARED_FORWARDED &&
		  QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED ==
		      QUALIFIER_HOME_LOCAL_RESPONSE_INVALID_FORWARDED &&
		  QUALIFIER_HOME_RESPONSE_WRITTEN_BACK ==
		      QUALIFIER_HOME_LOCAL_RESPONSE_WRITTEN_BACK,
	      "one table for both signals");

static bool carries_data(enum snoop_response response)
{
	return response != SNOOP_RSP_I && response != SNOOP_RSP_S;
}

/* Snoops the socket that did not ask. @return cycles until its response is here */
static MACHINE_INLINE uint64_t snoop(struct machine *machine, struct transaction *transaction,
				     struct snoop_answer *answer)
{
	const unsigned socket = transaction->socket, target = 1 - transaction->requester;
	uint64_t cycles = path_cycles(machine, socket, target), end;
	const struct snoop_question question = {
	    .now = transaction->begin + cycles,
	    .line = transaction->line,
	    .index = transaction->index,
	    .request = transaction->request,
	    .socket = (uint8_t)target,
	    .shared = transaction->shared,
	    .near = transaction->near,
	};

	transaction->home->snoops++;
	*answer = slice_snoop(machine, &question);
	cycles += answer->cycles;
	if (carries_data(answer->response))
		cycles += data_path_cycles(machine, target, socket, transaction->begin + cycles);
	else
		cycles += path_cycles(machine, target, socket);
	end = transaction->begin + cycles;
	transaction->home->tracker_snooped[transaction->slot] = end;

	if (!MACHINE_EMITS) {
		total_add(&transaction->home->totals.snoops[transaction->requester], cycles);
		transaction->home->totals.responses[answer->response][transaction->requester]++;
	}
	span(machine, transaction, SIGNAL_HOME_SNOOP,
	     is_local(transaction) ? QUALIFIER_HOME_SNOOP_LOCAL : QUALIFIER_HOME_SNOOP_REMOTE,
	     transaction->begin, cycles);
	pulse(machine, transaction, SIGNAL_HOME_RESPONSE, home_response_qualifier(answer->response),
	      end);
	if (is_local(transaction))
		pulse(machine, transaction, SIGNAL_HOME_LOCAL_RESPONSE,
		      home_response_qualifier(answer->response), end);
	if (answer->response == SNOOP_RSP_S_WB || answer->response == SNOOP_RSP_I_WB) {
		transaction->home->snoop_writebacks++;
		if (!MACHINE_EMITS)
			transaction->home->totals.other_writes++;
		write_memory(machine, transaction, false, end);
	}
	return cycles;
}

static enum line_state fill_state(enum signal_request request, const struct snoop_answer *answer)
{
	if (answer->response == SNOOP_RSP_I_FWD)
		return answer->modified ? LINE_M : LINE_E;
	if (answer->response == SNOOP_RSP_I && request != REQUEST_READ_CODE)
		return LINE_E;
	return LINE_F;
}

/* Memory and the other socket at once. @return cycles in the tracker */
static MACHINE_INLINE uint64_t serve_read(struct machine *machine, struct transaction *transaction,
					  struct snoop_answer *answer)
{
	const bool local = is_local(transaction);
	uint64_t data = machine->desc->ha_cycles, snooped = 0, answered;

	data += read_memory(machine, transaction, transaction->begin + data);
	if (machine->desc->sockets > 1)
		snooped = snoop(machine, transaction, answer);
	answered = machine_max(data, snooped);
	transaction->home->tracker_data[transaction->slot] = transaction->begin + data;
	if (!MACHINE_EMITS) {
		transaction->home->totals.pending_cycles[transaction->requester] += answered - data;
		transaction->home->totals.snoops_late[transaction->requester] += snooped > data;
	}
	if (snooped > data)
		pulse(machine, transaction, SIGNAL_HOME_SNOOP_LATE,
		      local ? QUALIFIER_HOME_SNOOP_LATE_LOCAL : QUALIFIER_HOME_SNOOP_LATE_REMOTE,
		      transaction->begin + snooped);
	span(machine, transaction, SIGNAL_HOME_PENDING,
	     local ? QUALIFIER_HOME_PENDING_LOCAL : QUALIFIER_HOME_PENDING_REMOTE,
	     transaction->begin + data, answered - data);
	pulse(machine, transaction, SIGNAL_HOME_DATA,
	      local ? QUALIFIER_HOME_DATA_TO_CORE : QUALIFIER_HOME_DATA_TO_LINK,
	      transaction->begin + answered);
	return answered;
}

/* With every entry taken, from this one's beginning until the first is free. */
static MACHINE_OUTLINE void emit_full(struct machine *machine, const struct transaction full)
{
	const struct transaction *transaction = &full;
	struct home *home = transaction->home;
	uint32_t hint = home->tracker_hint;
	uint32_t slot = occupancy_find(home->tracker, machine->desc->tracker_entries,
				       transaction->begin, &hint);

	if (home->tracker[slot] > transaction->begin)
		span(machine, transaction, SIGNAL_HOME_FULL, 0, transaction->begin,
		     home->tracker[slot] - transaction->begin);
}

static MACHINE_INLINE void emit_request(struct machine *machine,
					const struct transaction *transaction, uint64_t cycles)
{
	const bool local = is_local(transaction);
	uint32_t qualifiers =
	    local ? QUALIFIER_HOME_REQUEST_WRITE_LOCAL : QUALIFIER_HOME_REQUEST_WRITE_REMOTE;

	if (home_is_read(transaction->request))
		qualifiers =
		    local ? QUALIFIER_HOME_REQUEST_READ_LOCAL : QUALIFIER_HOME_REQUEST_READ_REMOTE;
	else if (transaction->request == REQUEST_OWN)
		qualifiers =
		    local ? QUALIFIER_HOME_REQUEST_OWN_LOCAL : QUALIFIER_HOME_REQUEST_OWN_REMOTE;
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_HOME_REQUEST,
					 .socket = transaction->socket,
					 .unit = transaction->agent,
					 .qualifiers = qualifiers,
					 .time = transaction->begin,
					 .duration = cycles,
					 .request = (uint8_t)transaction->request,
					 .address = (uint64_t)transaction->line << LINE_LOG2,
					 .node = transaction->requester,
				     });
}

/* The cycle from which on no request of the other node holds the line: as in a slice. */
static MACHINE_OUTLINE uint64_t line_free(const struct machine *machine, const struct home *home,
					  uint32_t line, unsigned requester)
{
	uint64_t free_from = 0;

	for (unsigned i = 0; i < machine->desc->tracker_entries; i++)
		if (home->tracker_lines[i] == line + 1 && home->tracker_requesters[i] != requester)
			free_from = machine_max(free_from, home->tracker[i]);
	return free_from;
}

/* What sends data to the agent waits for a link. */
static MACHINE_INLINE uint64_t way_there(struct machine *machine, enum signal_request request,
					 const struct home_question *question)
{
	const unsigned socket = question->node, requester = question->socket;

	if (request == REQUEST_WRITEBACK || request == REQUEST_WRITEBACK_PART)
		return data_path_cycles(machine, requester, socket, question->now);
	return path_cycles(machine, requester, socket);
}

/* What the slice's entry waits for an entry here. */
static MACHINE_INLINE void tell_wait(struct machine *machine, const struct home_question *question,
				     uint64_t cycles)
{
	machine_emit(&machine->port, (struct signal){
					 .id = SIGNAL_LLC_ENTRY,
					 .socket = question->socket,
					 .unit = (uint8_t)question->index.slice,
					 .qualifiers = QUALIFIER_LLC_ENTRY_WAIT,
					 .time = question->now,
					 .duration = cycles,
				     });
}

/* To the agent, and into its tracker. */
static MACHINE_INLINE struct transaction enter(struct machine *machine, enum signal_request request,
					       const struct home_question *question)
{
	struct transaction transaction = {
	    .index = question->index,
	    .request = request,
	    .line = question->line,
	    .socket = question->node,
	    .requester = question->socket,
	    .shared = question->shared,
	    .near = question->near,
	    .there = way_there(machine, request, question),
	};
	uint64_t arrival = question->now + transaction.there;
	struct home *home;

	decode(machine, &transaction);
	home = transaction.home;
	if (arrival >= home->now)
		home->now = arrival;
	else if (!transaction.shared)
		arrival = home->now;
	transaction.slot = occupancy_find(home->tracker, machine->desc->tracker_entries, arrival,
					  &home->tracker_hint);
	transaction.begin = machine_max(arrival, home->tracker[transaction.slot]);
	if (transaction.shared && machine->desc->sockets > 1)
		transaction.begin =
		    machine_max(transaction.begin,
				line_free(machine, home, question->line, transaction.requester));
	transaction.there += transaction.begin - arrival;
	if (home_is_read(request) || request == REQUEST_OWN)
		tell_wait(machine, question, transaction.begin - arrival);
	home->tracker_lines[transaction.slot] = question->line + 1;
	home->tracker_requesters[transaction.slot] = transaction.requester;
	home->tracker_requests[transaction.slot] = MACHINE_EMITS ? REQUEST_NONE : (uint8_t)request;
	home->tracker_begins[transaction.slot] = transaction.begin;
	home->tracker_snooped[transaction.slot] = 0;
	home->tracker_data[transaction.slot] = 0;
	pulse(machine, &transaction, SIGNAL_HOME_REGION, QUALIFIER_HOME_REGION_REGION0,
	      transaction.begin);
	return transaction;
}

/* It is complete after @cycles in the tracker. */
static MACHINE_INLINE void leave(struct machine *machine, const struct transaction *transaction,
				 uint64_t cycles)
{
	const enum signal_request request = transaction->request;
	const uint32_t slot = transaction->slot;
	struct home *home = transaction->home;

	home->tracker[slot] = transaction->begin + cycles;
	home->tracker_cycles += cycles;
	if (!MACHINE_EMITS) {
		home->totals.used = true;
		total_add(&home->totals.requests[request][transaction->requester], cycles);
	}
	emit_request(machine, transaction, cycles);
	if (MACHINE_EMITS && machine->port.enabled[SIGNAL_HOME_FULL])
		emit_full(machine, *transaction);
}

MACHINE_PATH struct home_answer home_read(struct machine *machine, enum signal_request request,
					  const struct home_question *question)
{
	struct transaction transaction = enter(machine, request, question);
	struct snoop_answer snooped = {.response = SNOOP_RSP_I};
	uint64_t cycles, back;

	transaction.home->reads++;
	cycles = serve_read(machine, &transaction, &snooped);
	leave(machine, &transaction, cycles);
	back = data_path_cycles(machine, transaction.socket, transaction.requester,
				transaction.begin + cycles);
	return (struct home_answer){
	    .cycles = transaction.there + cycles + back,
	    .state = fill_state(request, &snooped),
	    .response = snooped.response,
	};
}

uint64_t home_own(struct machine *machine, const struct home_question *question)
{
	struct transaction transaction = enter(machine, REQUEST_OWN, question);
	struct snoop_answer snooped = {.response = SNOOP_RSP_I};
	uint64_t cycles = machine->desc->ha_cycles;

	transaction.home->owns++;
	if (machine->desc->sockets > 1)
		cycles = machine_max(cycles, snoop(machine, &transaction, &snooped));
	leave(machine, &transaction, cycles);
	return transaction.there + cycles +
	       path_cycles(machine, transaction.socket, transaction.requester);
}

uint64_t home_flush(struct machine *machine, const struct home_question *question, bool modified)
{
	struct transaction transaction = enter(machine, REQUEST_FLUSH, question);
	struct snoop_answer snooped = {.response = SNOOP_RSP_I};
	uint64_t cycles = machine->desc->ha_cycles;

	transaction.home->flushes++;
	if (machine->desc->sockets > 1)
		cycles = machine_max(cycles, snoop(machine, &transaction, &snooped));
	if (modified) {
		transaction.home->flush_writes++;
		if (!MACHINE_EMITS)
			transaction.home->totals.other_writes++;
		cycles += write_memory(machine, &transaction, false, transaction.begin + cycles);
	}
	leave(machine, &transaction, cycles);
	return transaction.there + cycles +
	       path_cycles(machine, transaction.socket, transaction.requester);
}

uint64_t home_write(struct machine *machine, enum signal_request request,
		    const struct home_question *question)
{
	struct transaction transaction = enter(machine, request, question);
	uint64_t cycles = machine->desc->ha_cycles;

	transaction.home->writes++;
	cycles += write_memory(machine, &transaction, request == REQUEST_WRITEBACK_PART,
			       transaction.begin + cycles);
	leave(machine, &transaction, cycles);
	return transaction.there + cycles +
	       path_cycles(machine, transaction.socket, transaction.requester);
}
