/* Transactions, from a core's request until it has data or completion. */
#include "machine/fabric/state.h"

#define CLASS(name) QUALIFIER_PORT_PACKET_IN_##name

/* One transaction. */
struct story {
	struct fabric *f;
	const struct fabric_request *request;
	struct unit at;		  /* the home agent */
	struct unit home, asking; /* ports */
	uint8_t socket;		  /* the requester's */
	uint8_t word;		  /* enum signal_message */
	uint64_t start;		  /* it has its entry */
	uint32_t readers;	  /* cores that have the line and may keep it, a bit each */
	int owner;		  /* the core that has it alone; -1: none */
};

static const uint8_t words[] = {
    [FABRIC_READ_DATA] = MESSAGE_READ_DATA,  [FABRIC_READ_CODE] = MESSAGE_READ_CODE,
    [FABRIC_READ_OWN] = MESSAGE_READ_OWN,    [FABRIC_OWN] = MESSAGE_OWN,
    [FABRIC_WRITE_BACK] = MESSAGE_WRITEBACK, [FABRIC_EVICT] = MESSAGE_EVICT,
};

static struct unit core_port(const struct fabric *f, unsigned core)
{
	return (struct unit){(uint8_t)(core / f->cores),
			     (uint8_t)f->params->core_ports[core % f->cores]};
}

static void tell(const struct story *s, unsigned id, unsigned message, uint64_t time,
		 uint64_t amount)
{
	fabric_tell(s->f, (struct detail_event){.id = (uint16_t)id,
						.socket = s->at.socket,
						.unit = s->at.number,
						.message = (uint8_t)message,
						.time = time,
						.amount = amount});
}

/* Of a packet. socket: the home agent's own is node 0, others are 1. */
static void tell_packet(const struct story *s, unsigned id, uint32_t qualifier, unsigned message,
			unsigned socket, uint64_t time)
{
	fabric_tell(s->f, (struct detail_event){.id = (uint16_t)id,
						.socket = s->at.socket,
						.unit = s->at.number,
						.qualifiers = qualifier,
						.message = (uint8_t)message,
						.node = socket != s->at.socket,
						.time = time,
						.amount = 1});
}

/* Of what is a transaction to the home agent's counters, or a part of one. */
static void tell_part(const struct story *s, uint32_t qualifier, unsigned message, uint64_t time,
		      uint64_t amount)
{
	fabric_tell(s->f, (struct detail_event){.id = SIGNAL_DIRECTORY_TRANSACTION,
						.socket = s->at.socket,
						.unit = s->at.number,
						.qualifiers = qualifier,
						.message = (uint8_t)message,
						.node = s->socket != s->at.socket,
						.time = time,
						.amount = amount});
}

/* The same of what has a qualifier instead. */
static void tell_kind(const struct story *s, unsigned id, uint32_t qualifier, uint64_t time,
		      uint64_t amount)
{
	fabric_tell(s->f, (struct detail_event){.id = (uint16_t)id,
						.socket = s->at.socket,
						.unit = s->at.number,
						.qualifiers = qualifier,
						.time = time,
						.amount = amount});
}

static unsigned distance(const struct story *s, unsigned socket)
{
	return socket != s->at.socket;
}

/* A core sends a packet by its port. @return when it is at the other one */
static uint64_t core_sends(const struct story *s, unsigned core, struct unit to,
			   struct packet *packet, uint64_t time)
{
	const struct fabric_watch *watch = &s->f->watch;
	struct unit port = core_port(s->f, core);
	uint64_t start = fabric_reach_port(s->f, port, packet, time);
	uint64_t there = fabric_send(s->f, port, to, packet, start);

	if (watch->sent)
		watch->sent(watch->arg, core,
			    &(struct fabric_sent){
				.data = packet->class == CLASS(DATA),
				.ready = time,
				.until = start + packet->flits,
				.blocked_from = packet->blocked_from,
				.blocked_until = packet->blocked_until,
				.low_from = start,
				.low_until = fabric_few_credits(s->f, port, start),
			    });
	return there;
}

static uint64_t to_home(const struct story *s, unsigned core, uint32_t class, unsigned message,
			uint64_t time)
{
	struct packet packet = {.class = class,
				.message = (uint8_t)message,
				.flits =
				    class == CLASS(DATA) ? (uint8_t)s->f->params->line_flits : 1};

	time = core_sends(s, core, s->home, &packet, time);
	tell_packet(s, SIGNAL_DIRECTORY_PACKET_IN, QUALIFIER_DIRECTORY_PACKET_IN_BY_REQUESTER,
		    message, s->socket, time);
	tell_packet(s, SIGNAL_DIRECTORY_PACKET_IN, QUALIFIER_DIRECTORY_PACKET_IN_BY_SENDER, message,
		    core / s->f->cores, time);
	return time;
}

/* @param time  receives when the router takes it */
static uint64_t from_home(const struct story *s, struct unit to, uint32_t class, unsigned message,
			  enum signal_state state, uint64_t *time)
{
	struct packet packet = {.class = class,
				.message = (uint8_t)message,
				.state = (uint8_t)state,
				.flits =
				    class == CLASS(DATA) ? (uint8_t)s->f->params->line_flits : 1};

	uint64_t start = fabric_reach_port(s->f, s->home, &packet, *time);

	if (class != CLASS(SNOOP))
		fabric_wait_for_router(s->f, s->at, class == CLASS(DATA), *time, start);
	*time = start;
	tell_packet(s, SIGNAL_DIRECTORY_PACKET_OUT, QUALIFIER_DIRECTORY_PACKET_OUT_BY_DESTINATION,
		    message, to.socket, start);
	tell_packet(s, SIGNAL_DIRECTORY_PACKET_OUT, QUALIFIER_DIRECTORY_PACKET_OUT_BY_REQUESTER,
		    message, s->socket, start);
	tell_packet(s, SIGNAL_DIRECTORY_TRANSACTION, QUALIFIER_DIRECTORY_TRANSACTION_PACKET,
		    message, to.socket, start);
	tell_packet(s, SIGNAL_DIRECTORY_TRANSACTION,
		    QUALIFIER_DIRECTORY_TRANSACTION_PACKET_BY_REQUESTER, message, s->socket, start);
	return fabric_send(s->f, s->home, to, &packet, start);
}

static uint64_t memory(const struct story *s, bool write, uint64_t time)
{
	uint64_t end = fabric_memory(s->f, s->at, s->request->line, write, time);

	tell(s, SIGNAL_DIRECTORY_MEMORY, write ? MESSAGE_WRITEBACK : MESSAGE_READ_DATA, time,
	     end - time);
	if (!write)
		tell(s, SIGNAL_DIRECTORY_MEMORY, MESSAGE_FILL, end, 1);
	fabric_live_add(s->f, s->at, write ? LIVE_WRITE : LIVE_READ, time, end);
	if (!write)
		fabric_live_add(s->f, s->at, LIVE_FILL, end, end + 1);
	return end;
}

/* Who has the line, besides the requester. */
static void look(struct story *s)
{
	s->owner = -1;
	for (unsigned core = 0; core < s->f->sockets * s->f->cores && s->f->watch.snoop; core++) {
		enum fabric_found found =
		    core == s->request->core
			? FABRIC_NOTHING
			: s->f->watch.snoop(s->f->watch.arg, core, s->request->line, FABRIC_LOOK,
					    NULL);

		if (found >= FABRIC_EXCLUSIVE)
			s->owner = (int)core;
		else if (found == FABRIC_SHARED)
			s->readers |= 1u << core;
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool owns(const struct story *s)
{
	return s->request->kind == FABRIC_READ_OWN || s->request->kind == FABRIC_OWN;
}

/* What a core said to a snoop. */
struct said {
	enum fabric_found found;
	uint64_t conflict; /* when the home agent has a first answer, without the line; 0: never */
};

/*
 * The core waits for the line itself: the home agent has sent it, but ways through routers keep no
 * order between a line and a snoop. It is asked again when it has it.
 * @param time  when it says so
 * @return when it answers then
 */
static uint64_t ask_again(const struct story *s, unsigned core, uint64_t time, struct said *said)
{
	static const uint8_t of[] = {[FABRIC_FORWARD] = MESSAGE_FORWARD_CODE,
				     [FABRIC_FORWARD_OWN] = MESSAGE_FORWARD_OWN,
				     [FABRIC_FORWARD_CLAIM] = MESSAGE_FORWARD_CLAIM};
	enum fabric_snoop what = s->request->kind == FABRIC_OWN ? FABRIC_FORWARD_CLAIM
				 : owns(s)			? FABRIC_FORWARD_OWN
								: FABRIC_FORWARD;
	const struct fabric_watch *watch = &s->f->watch;

	said->conflict = to_home(s, core, CLASS(HOME_RESPONSE), MESSAGE_ANSWER_CONFLICT, time);
	watch->snoop(watch->arg, core, s->request->line, FABRIC_ACKNOWLEDGE, &time);
	time = to_home(s, core, CLASS(HOME), MESSAGE_ACKNOWLEDGE, time);
	time = later(time, said->conflict) + s->f->params->reply;
	time =
	    from_home(s, core_port(s->f, core), CLASS(RESPONSE), of[what], SIGNAL_STATE_I, &time);
	said->found = watch->snoop(watch->arg, core, s->request->line, what, &time);
	return time + s->f->params->snoop;
}

/* Sends a snoop. @return when the core answers, with the line if it has it */
static uint64_t snoop(const struct story *s, unsigned core, struct said *said)
{
	static const uint8_t of[] = {[FABRIC_SHARE] = MESSAGE_SNOOP_DATA,
				     [FABRIC_SHARE_CODE] = MESSAGE_SNOOP_CODE,
				     [FABRIC_INVALIDATE] = MESSAGE_SNOOP_OWN,
				     [FABRIC_CLAIM] = MESSAGE_SNOOP_CLAIM};
	enum fabric_snoop what = s->request->kind == FABRIC_OWN		? FABRIC_CLAIM
				 : owns(s)				? FABRIC_INVALIDATE
				 : s->request->kind == FABRIC_READ_CODE ? FABRIC_SHARE_CODE
									: FABRIC_SHARE;
	uint64_t time = s->start + s->f->params->home;

	time = from_home(s, core_port(s->f, core), CLASS(SNOOP), of[what], SIGNAL_STATE_I, &time);
	said->found = s->f->watch.snoop(s->f->watch.arg, core, s->request->line, what, &time);
	said->conflict = 0;
	time += s->f->params->snoop;
	return said->found == FABRIC_CONFLICT ? ask_again(s, core, time, said) : time;
}

/* @param time  when the home agent has its last answer */
static void snooped(const struct story *s, unsigned core, const struct said *said, uint64_t time)
{
	uint64_t from = s->start + s->f->params->home;
	uint64_t until = said->conflict ? said->conflict : time;

	tell_kind(s, SIGNAL_DIRECTORY_SNOOP,
		  distance(s, core / s->f->cores) ? QUALIFIER_DIRECTORY_SNOOP_REMOTE
						  : QUALIFIER_DIRECTORY_SNOOP_LOCAL,
		  from, until - from);
	tell_part(s, QUALIFIER_DIRECTORY_TRANSACTION_SNOOP, s->word, from, until - from);
}

/* A core that may only read the line gives it up. @return when the home agent knows */
static uint64_t invalidate(const struct story *s, unsigned core)
{
	struct said said;
	uint64_t time = snoop(s, core, &said);

	time = to_home(s, core, CLASS(HOME_RESPONSE), MESSAGE_ANSWER_INVALID, time);
	snooped(s, core, &said, time);
	return time;
}

/* By where the requester is, and the cache. */
static void forwarded(const struct story *s, unsigned core, uint64_t time)
{
	static const uint32_t kinds[2][2] = {
	    {QUALIFIER_DIRECTORY_FORWARD_LOCAL_LOCAL, QUALIFIER_DIRECTORY_FORWARD_LOCAL_REMOTE},
	    {QUALIFIER_DIRECTORY_FORWARD_REMOTE_LOCAL, QUALIFIER_DIRECTORY_FORWARD_REMOTE_REMOTE}};

	tell_kind(s, SIGNAL_DIRECTORY_FORWARD,
		  kinds[distance(s, s->socket)][distance(s, core / s->f->cores)], time, 1);
}

/*
 * The owner sends the line to the requester; a modified one that it keeps also to memory.
 * @param data      receives when the requester has it
 * @param modified  receives whether memory does not have it
 * @return when the home agent can complete
 */
static uint64_t from_owner(const struct story *s, uint64_t *data, bool *modified)
{
	unsigned core = (unsigned)s->owner;
	struct said said;
	uint64_t answered = snoop(s, core, &said), time;
	bool writes = said.found == FABRIC_MODIFIED && !owns(s);
	struct packet line = {.class = CLASS(DATA),
			      .message = MESSAGE_DATA_FORWARDED,
			      .state = !owns(s)			       ? SIGNAL_STATE_S
				       : said.found == FABRIC_MODIFIED ? SIGNAL_STATE_M
								       : SIGNAL_STATE_E,
			      .flits = (uint8_t)s->f->params->line_flits};

	time = to_home(s, core, CLASS(HOME_RESPONSE),
		       owns(s)	? MESSAGE_ANSWER_FORWARDED_INVALID
		       : writes ? MESSAGE_ANSWER_FORWARDED_WRITEBACK
				: MESSAGE_ANSWER_FORWARDED_SHARED,
		       answered);
	*data = core_sends(s, core, s->asking, &line, answered);
	*modified = line.state == SIGNAL_STATE_M;
	snooped(s, core, &said, time);
	forwarded(s, core, time);
	if (writes) {
		time = to_home(s, core, CLASS(DATA), MESSAGE_DATA_KEPT, answered);
		time = memory(s, true, time);
	}
	return time;
}

/* @return when the home agent is done with it */
static uint64_t write_back(const struct story *s, struct fabric_answer *answer)
{
	uint64_t time = to_home(s, s->request->core, CLASS(DATA), MESSAGE_DATA_WRITTEN,
				s->request->time),
		 end, sent;

	if (time < s->start)
		time = s->start;
	sent = end = memory(s, true, time + s->f->params->home);
	answer->latency =
	    from_home(s, s->asking, CLASS(RESPONSE), MESSAGE_COMPLETE, SIGNAL_STATE_I, &sent) -
	    s->request->time;
	return end;
}

/* @return when the home agent is done with it: it knows that the requester has not the line */
static uint64_t forget(const struct story *s, struct fabric_answer *answer)
{
	uint64_t end = s->start + s->f->params->home + s->f->params->reply, sent = end;

	answer->latency =
	    from_home(s, s->asking, CLASS(RESPONSE), MESSAGE_COMPLETE, SIGNAL_STATE_I, &sent) -
	    s->request->time;
	return end;
}

static uint64_t give_up_all(const struct story *s)
{
	uint64_t last = 0;

	for (unsigned core = 0; core < s->f->sockets * s->f->cores; core++) {
		uint64_t time = s->readers >> core & 1 ? invalidate(s, core) : 0;

		last = later(last, time);
	}
	return last;
}

/*
 * From memory, or without data. The table keeps an entry until the router has its line, but none
 * for a reply without one.
 * @return when the home agent is done with it
 */
static uint64_t from_memory(const struct story *s, struct fabric_answer *answer)
{
	bool data = s->request->kind != FABRIC_OWN;
	uint64_t known = owns(s) ? give_up_all(s) : 0, end = s->start + s->f->params->home, sent;

	if (data)
		end = memory(s, false, end);
	sent = end = later(known, end) + s->f->params->reply;
	answer->shared = !owns(s) && s->readers;
	answer->latency = from_home(s, s->asking, data ? CLASS(DATA) : CLASS(RESPONSE),
				    data ? MESSAGE_DATA : MESSAGE_GRANT,
				    answer->shared ? SIGNAL_STATE_S : SIGNAL_STATE_E, &sent) -
			  s->request->time;
	return data ? sent : end;
}

static uint64_t answer_from_cache(const struct story *s, struct fabric_answer *answer)
{
	uint64_t data, end = from_owner(s, &data, &answer->modified) + s->f->params->reply,
		       sent = end;

	from_home(s, s->asking, CLASS(RESPONSE), MESSAGE_COMPLETE, SIGNAL_STATE_I, &sent);
	answer->latency = data - s->request->time;
	answer->shared = !owns(s);
	answer->from_cache = true;
	return end;
}

void fabric_transact(struct fabric *f, const struct fabric_request *request,
		     struct fabric_answer *answer)
{
	unsigned home = (unsigned)(request->line % (f->sockets * FABRIC_HOMES));
	struct story s = {.f = f, .request = request, .word = words[request->kind]};
	struct entry *entry;
	uint64_t arrival, ahead, end;

	*answer = (struct fabric_answer){
	    .message = s.word,
	    .home = (uint8_t)(home % f->sockets * FABRIC_HOMES + home / f->sockets)};
	s.at = (struct unit){(uint8_t)(home % f->sockets), (uint8_t)(home / f->sockets)};
	s.home = (struct unit){s.at.socket, (uint8_t)f->params->home_ports[s.at.number]};
	s.asking = core_port(f, request->core);
	s.socket = s.asking.socket;
	arrival = to_home(&s, request->core, CLASS(HOME), s.word, request->time);
	ahead = fabric_ahead(f, s.at, arrival);
	entry = fabric_enter(f, s.at, request->line, arrival + ahead, &s.start);
	look(&s);
	end = request->kind == FABRIC_WRITE_BACK ? write_back(&s, answer)
	      : request->kind == FABRIC_EVICT	 ? forget(&s, answer)
	      : s.owner >= 0			 ? answer_from_cache(&s, answer)
						 : from_memory(&s, answer);
	tell_part(&s, QUALIFIER_DIRECTORY_TRANSACTION_REQUEST, s.word, arrival + ahead,
		  end - arrival - ahead);
	fabric_leave(f, s.at, entry, s.start, end);
	answer->latency -= ahead;
}
