/*
 * Routers: packets from port to port, and over links to other sockets. A packet takes its own port
 * and the other one for a cycle a flit; who comes meanwhile loses and waits.
 */
#include <assert.h>

#include "machine/fabric/state.h"

#define OF_HOME (QUALIFIER_PORT_PACKET_IN_HOME | QUALIFIER_PORT_PACKET_IN_HOME_RESPONSE)

/* The same class, of signals that have these first. */
static_assert(QUALIFIER_PORT_ENTRY_DATA == QUALIFIER_PORT_PACKET_IN_DATA &&
		  QUALIFIER_PORT_PACKET_OUT_DATA == QUALIFIER_PORT_PACKET_IN_DATA &&
		  QUALIFIER_PORT_OVERFLOW_ENTRY_DATA == QUALIFIER_PORT_PACKET_IN_DATA,
	      "the classes stand first, in one order");

static struct port *port_of(struct fabric *f, struct unit port)
{
	return &f->ports[port.socket][port.number];
}

static void tell(struct fabric *f, struct unit port, unsigned id, uint32_t qualifiers,
		 uint64_t time, uint64_t amount)
{
	fabric_tell(f, (struct detail_event){.id = (uint16_t)id,
					     .socket = port.socket,
					     .unit = port.number,
					     .qualifiers = qualifiers,
					     .time = time,
					     .amount = amount});
}

static void enter(struct fabric *f, struct unit port, const struct packet *p, uint64_t time)
{
	tell(f, port, SIGNAL_PORT_PACKET_IN,
	     p->class | (p->reserved ? QUALIFIER_PORT_PACKET_IN_RESERVED
				     : QUALIFIER_PORT_PACKET_IN_ADAPTIVE),
	     time, 1);
	tell(f, port, SIGNAL_PORT_FLITS_IN, 0, time, p->flits);
}

static void leave(struct fabric *f, struct unit port, const struct packet *p, uint64_t time)
{
	struct detail_event event = {.id = SIGNAL_PORT_PACKET_OUT,
				     .socket = port.socket,
				     .unit = port.number,
				     .qualifiers = p->class,
				     .message = p->message,
				     .state = p->state,
				     .time = time,
				     .amount = 1};

	fabric_tell(f, event);
	tell(f, port, SIGNAL_PORT_FLITS_OUT, 0, time, p->flits);
}

static struct loser *loser_of(struct fabric *f, struct unit port, const struct packet *p)
{
	enum order order = p->class & QUALIFIER_PORT_PACKET_IN_HOME ? ORDER_HOME : ORDER_RESPONSE;

	return p->class & OF_HOME ? &port_of(f, port)->losers[order] : NULL;
}

/*
 * A packet of the home classes that comes behind one that lost may not go before it. Right behind
 * it, it is killed where that one lost; else already in its queue.
 * @return when it bids again
 */
static uint64_t keep_order(struct fabric *f, struct unit in, struct unit out,
			   const struct loser *loser, uint64_t time)
{
	bool behind = loser && loser->from < time && time <= loser->until;
	bool close = behind && time == loser->from + 1;

	if (behind)
		tell(f, close && !loser->local ? out : in, SIGNAL_PORT_ORDER_KILL,
		     !close	    ? QUALIFIER_PORT_ORDER_KILL_QUEUE
		     : loser->local ? QUALIFIER_PORT_ORDER_KILL_LOCAL
				    : QUALIFIER_PORT_ORDER_KILL_GLOBAL,
		     time, 1);
	return behind ? loser->until + 1 : time;
}

/* When both ways are free at once. */
static uint64_t find_way(struct port *in, struct port *out, unsigned flits, uint64_t time)
{
	uint64_t start = lane_find(&in->leave, time, flits), end;

	while ((end = lane_find(&out->out, start, flits)) != start)
		start = lane_find(&in->leave, end, flits);
	return start;
}

/* A packet's way through the crossbar. @return when it begins to go */
static uint64_t arbitrate(struct fabric *f, struct unit in, struct unit out, const struct packet *p,
			  uint64_t time)
{
	struct port *from = port_of(f, in), *to = port_of(f, out);
	struct loser *loser = loser_of(f, in, p);
	uint64_t bid = keep_order(f, in, out, loser, time);
	uint64_t local = lane_find(&from->leave, bid, p->flits);
	uint64_t start = find_way(from, to, p->flits, local);

	if (local > bid)
		tell(f, in, SIGNAL_PORT_BID_FAILED, QUALIFIER_PORT_BID_FAILED_LOCAL, bid, 1);
	if (start > local)
		tell(f, out, SIGNAL_PORT_BID_FAILED, QUALIFIER_PORT_BID_FAILED_GLOBAL, local, 1);
	if (loser && start > time)
		*loser = (struct loser){.from = time, .until = start, .local = local > bid};
	if (start == time && p->flits > 1)
		tell(f, in, SIGNAL_PORT_FAST, 0, time, 1);
	lane_take(&from->leave, start, p->flits);
	lane_take(&to->out, start, p->flits);
	return start;
}

static enum message_class class_of(const struct packet *p)
{
	return p->class & OF_HOME			      ? OF_HOME_CLASSES
	       : p->class & QUALIFIER_PORT_PACKET_IN_SNOOP    ? OF_SNOOPS
	       : p->class & QUALIFIER_PORT_PACKET_IN_RESPONSE ? OF_RESPONSES
							      : OF_DATA;
}

/* Flits that a port holds in a cycle. @param first  receives when it has fewer */
static unsigned held(const struct port *port, uint64_t time, uint64_t *first)
{
	unsigned flits = 0;

	*first = UINT64_MAX;
	if (port->held_until <= time)
		return 0;
	for (const struct held *h = port->held; h < port->held + HELD; h++) {
		if (h->from > time || h->until <= time)
			continue;
		flits += h->flits;
		*first = h->until < *first ? h->until : *first;
	}
	return flits;
}

/* A port holds a packet until its last flit has left. */
static void hold(struct port *port, const struct packet *p, uint64_t from, uint64_t until)
{
	if (p->reserved) {
		port->reserved_until[class_of(p)] = until;
		return;
	}
	port->held[port->held_next] = (struct held){from, until, p->flits};
	port->held_next = (port->held_next + 1) % HELD;
	port->held_until = until > port->held_until ? until : port->held_until;
}

/*
 * The port's table has an entry for each class, as VN0 has: who finds it taken overflows until it
 * is free. Packets of the home classes go that way for a cycle at least, which keeps them in order.
 * @param start  when it wins its way
 * @return when it has its entry
 */
static uint64_t overflow(struct fabric *f, struct unit at, const struct packet *p, uint64_t time,
			 uint64_t start)
{
	struct port *port = port_of(f, at);
	uint64_t *taken = &port->entry_until[class_of(p)];
	uint64_t entry = *taken <= time ? time : *taken < start ? *taken : start, gone = entry;

	if (p->class & OF_HOME && entry == time)
		gone++;
	if (gone > time) {
		tell(f, at, SIGNAL_PORT_OVERFLOW_ENTRY, p->class, time, gone - time);
		tell(f, at, SIGNAL_PORT_OVERFLOW_BUSY, 0, time,
		     fabric_more(&port->overflow_busy, time, gone - time));
	}
	*taken = start >= *taken ? start + 1 : *taken;
	return entry;
}

static uint64_t pass(struct fabric *f, struct unit in, struct unit out, const struct packet *p,
		     uint64_t time)
{
	uint64_t start, entry;

	enter(f, in, p, time);
	start = arbitrate(f, in, out, p, time);
	entry = overflow(f, in, p, time, start);
	tell(f, in, SIGNAL_PORT_ENTRY, p->class, entry, start + 1 - entry);
	hold(port_of(f, in), p, time, start + p->flits);
	leave(f, out, p, start + f->params->hop);
	return start + f->params->hop;
}

uint64_t fabric_few_credits(const struct fabric *f, struct unit port, uint64_t time)
{
	const struct port *p = &f->ports[port.socket][port.number];
	uint64_t first;

	while (held(p, time, &first) + FABRIC_FEW_CREDITS > f->params->credits)
		time = first;
	return time;
}

uint64_t fabric_reach_port(struct fabric *f, struct unit port, struct packet *packet, uint64_t time)
{
	struct port *p = port_of(f, port);
	const uint64_t *reserved = &p->reserved_until[class_of(packet)];

	for (;;) {
		uint64_t start = lane_find(&p->in, time, packet->flits), first;

		packet->reserved = held(p, start, &first) + packet->flits > f->params->credits;
		if (!packet->reserved || *reserved <= start) {
			lane_take(&p->in, start, packet->flits);
			return start;
		}
		time = first < *reserved ? first : *reserved;
		if (!packet->blocked_until)
			packet->blocked_from = start;
		packet->blocked_until = time;
	}
}

/* The port of a socket that leads to another. */
static struct unit link_to(const struct fabric *f, unsigned from, unsigned to)
{
	unsigned link = (to + f->sockets - from) % f->sockets - 1;

	return (struct unit){(uint8_t)from, (uint8_t)f->params->link_ports[link]};
}

uint64_t fabric_send(struct fabric *f, struct unit from, struct unit to,
		     const struct packet *packet, uint64_t time)
{
	struct packet there = *packet;

	if (from.socket == to.socket)
		return pass(f, from, to, packet, time);
	there.reserved = false;
	time = pass(f, from, link_to(f, from.socket, to.socket), packet, time);
	time += f->params->link;
	return pass(f, link_to(f, to.socket, from.socket), to, &there, time);
}
