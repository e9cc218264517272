/* Routers: packets from port to port, and over links to other sockets. */
#include <assert.h>

#include "machine/fabric/state.h"

#define OF_HOME (QUALIFIER_PORT_PACKET_IN_HOME | QUALIFIER_PORT_PACKET_IN_HOME_RESPONSE)

/* The same class, of signals that have these first. */
static_assert(QUALIFIER_PORT_ENTRY_DATA == QUALIFIER_PORT_PACKET_IN_DATA &&
		  QUALIFIER_PORT_PACKET_OUT_DATA == QUALIFIER_PORT_PACKET_IN_DATA &&
		  QUALIFIER_PORT_OVERFLOW_ENTRY_HOME_RESPONSE ==
		      QUALIFIER_PORT_PACKET_IN_HOME_RESPONSE,
	      "the classes stand first, in one order");

/* Packets of the home classes stay in order by going through the table of overflows, for a cycle.
 */
static void enter(struct fabric *f, struct unit port, const struct packet *p, uint64_t time)
{
	const struct detail_event event = {.socket = port.socket,
					   .unit = port.number,
					   .qualifiers = p->class,
					   .message = p->message,
					   .time = time,
					   .amount = 1};
	struct detail_event told = event;

	told.id = SIGNAL_PORT_PACKET_IN;
	fabric_tell(f, told);
	told.id = SIGNAL_PORT_ENTRY;
	fabric_tell(f, told);
	if (p->class & OF_HOME) {
		told.id = SIGNAL_PORT_OVERFLOW_ENTRY;
		fabric_tell(f, told);
		told.id = SIGNAL_PORT_OVERFLOW_BUSY;
		told.qualifiers = 0;
		told.amount =
		    fabric_more(&f->overflow_busy[port.socket][port.number], time, told.amount);
		fabric_tell(f, told);
	}
	told.id = SIGNAL_PORT_FLITS_IN;
	told.qualifiers = 0;
	told.amount = p->flits;
	fabric_tell(f, told);
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
	event.id = SIGNAL_PORT_FLITS_OUT;
	event.qualifiers = 0;
	event.amount = p->flits;
	fabric_tell(f, event);
}

static uint64_t pass(struct fabric *f, struct unit in, struct unit out, const struct packet *p,
		     uint64_t time)
{
	enter(f, in, p, time);
	leave(f, out, p, time + f->params->hop);
	return time + f->params->hop;
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
	if (from.socket == to.socket)
		return pass(f, from, to, packet, time);
	time = pass(f, from, link_to(f, from.socket, to.socket), packet, time);
	time += f->params->link;
	return pass(f, link_to(f, to.socket, from.socket), to, packet, time);
}
