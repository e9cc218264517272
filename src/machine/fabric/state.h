/* The state of a fabric, and what its files do for each other. */
#ifndef MACHINE_FABRIC_STATE_H
#define MACHINE_FABRIC_STATE_H

#include "catalog/signal.h"
#include "machine/fabric/fabric.h"
#include "machine/fabric/lane.h"

#define PORTS	12u
#define ENTRIES 32u
#define RANKS	16u /* of a memory controller, at most */
#define BANKS	8u  /* of a rank: DDR3 */

struct entry {
	uint64_t line; /* number + 1; 0: never used */
	uint64_t until;
	uint64_t waiting_until; /* its conflict queue is not empty before */
};

struct bank {
	uint64_t row;	      /* that it had last: number + 1; 0: none */
	uint64_t from, until; /* it is busy */
	bool open;
};

struct memory {
	uint64_t queue_busy, idle_since;  /* the dispatch queue's; nothing is told beyond */
	uint64_t refreshes, calibrations; /* of a rank, told so far */
	uint64_t mode_told;		  /* until when cycles of the mode of pages are told */
	uint64_t full_busy;
	uint64_t answers[ENTRIES]; /* of commands: when they are over */
	uint64_t frames, syncs;	   /* told so far */
	uint64_t frames_used;	   /* since then, by commands and data */
	uint32_t commands, again;  /* of the mode's window; for the row that the bank had last */
	bool open_mode;
	struct bank banks[RANKS * BANKS];
};

enum live_kind { LIVE_READ, LIVE_WRITE, LIVE_FILL, LIVE_KINDS };

#define LIVE_COMMANDS 256u

/* A command to a memory controller. */
struct live_command {
	uint64_t from, until;
	enum live_kind kind;
	bool begun; /* told so */
};

/* Commands that are under way, or begin later. */
struct live {
	unsigned count;
	unsigned number[LIVE_KINDS]; /* that have begun */
	uint64_t told;		     /* nothing is told of what was before */
	struct live_command commands[LIVE_COMMANDS];
};

struct home {
	uint64_t now;
	struct entry entries[ENTRIES];
	uint64_t busy, conflict_busy, wait_busy; /* until when; nothing is told beyond */
	uint64_t data_busy, response_busy;	 /* the same of what waits for the router */
	struct memory memory;
	struct live live;
};

/* Of the home classes: packets of a port stay in order. */
enum order { ORDER_HOME, ORDER_RESPONSE, ORDERS };

/* A packet that lost: the next of its class is killed until it goes. */
struct loser {
	uint64_t from, until;
	bool local; /* it lost the way out of its own port; else that into the other */
};

#define HELD 64u

/* A packet that a port has, or its first flits. */
struct held {
	uint64_t from, until;
	uint32_t flits;
};

/* Each has room for one packet that finds no credits. */
enum message_class { OF_HOME_CLASSES, OF_SNOOPS, OF_RESPONSES, OF_DATA, MESSAGE_CLASSES };

struct port {
	struct held held[HELD]; /* the last ones, but for those in reserved room */
	unsigned held_next;
	uint64_t held_until;
	uint64_t reserved_until[MESSAGE_CLASSES];
	struct lane in;	   /* from who sends to the port */
	struct lane leave; /* out of the port's queues */
	struct lane out;   /* into the port, from all others */
	uint64_t entry_until[MESSAGE_CLASSES];
	uint64_t overflow_busy;
	struct loser losers[ORDERS];
};

struct fabric {
	const struct fabric_params *params;
	struct fabric_watch watch;
	unsigned sockets, cores;
	struct port ports[FABRIC_SOCKETS][PORTS];
	struct home homes[FABRIC_SOCKETS][FABRIC_HOMES];
};

/* A place in the machine: of a home agent or memory controller, or a port of the router. */
struct unit {
	uint8_t socket, number;
};

static inline void fabric_tell(const struct fabric *f, const struct detail_event event)
{
	if (f->watch.event && f->watch.enabled[event.id])
		f->watch.event(f->watch.arg, &event);
}

/** Cycles of [from, from + cycles) that are not told yet; they are now. */
static inline uint64_t fabric_more(uint64_t *told, uint64_t from, uint64_t cycles)
{
	uint64_t end = from + cycles, begin = *told > from ? *told : from;

	if (end <= begin)
		return 0;
	*told = end;
	return end - begin;
}

struct packet {
	uint32_t class; /* a bit as of signal port.packet_in */
	uint8_t message, state, flits;
	bool reserved;			      /* it goes in reserved room */
	uint64_t blocked_from, blocked_until; /* it has neither credits nor that */
};

/** Takes the way to a port for a packet, which needs credits. @return when it begins to go there */
uint64_t fabric_reach_port(struct fabric *f, struct unit port, struct packet *packet,
			   uint64_t time);
/** From a cycle on, in which few credits are left: until when. @return that cycle: more are left */
uint64_t fabric_few_credits(const struct fabric *f, struct unit port, uint64_t time);
/**
 * Sends a packet from one port to another.
 * @param time  when it comes to the first one, as of fabric_reach_port()
 * @return when it is there
 */
uint64_t fabric_send(struct fabric *f, struct unit from, struct unit to,
		     const struct packet *packet, uint64_t time);

/** Reads or writes a line. @return when the memory controller has answered */
uint64_t fabric_memory(struct fabric *f, struct unit at, uint64_t line, bool write, uint64_t time);
void fabric_memory_settle(struct fabric *f, struct unit at, uint64_t now);
/** A command is under way so long. */
void fabric_live_add(struct fabric *f, struct unit at, enum live_kind kind, uint64_t from,
		     uint64_t until);
/** Tells what changed up to a time. */
void fabric_live_settle(struct fabric *f, struct unit at, uint64_t now);

/** By how much a home agent's clock is ahead of a time: that is no latency of who arrives then. */
static inline uint64_t fabric_ahead(const struct fabric *f, struct unit at, uint64_t time)
{
	uint64_t now = f->homes[at.socket][at.number].now;

	return now > time ? now - time : 0;
}

/**
 * The table's entry for a line, for a request that arrives at a time. Until fabric_leave() no other
 * request is dealt with.
 * @param start  receives when it has the entry
 */
struct entry *fabric_enter(struct fabric *f, struct unit at, uint64_t line, uint64_t arrival,
			   uint64_t *start);
/** A reply waits in its queue until the router takes it. @param data  it has a line */
void fabric_wait_for_router(struct fabric *f, struct unit at, bool data, uint64_t from,
			    uint64_t until);
/** The request is over. */
void fabric_leave(struct fabric *f, struct unit at, struct entry *entry, uint64_t start,
		  uint64_t end);

#endif
