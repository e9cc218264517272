/*
 * What lies between the cores of machines whose cores issue in order: in each socket a router with
 * twelve ports, home agents that keep a line with one owner or several readers, each with a table
 * of requests in flight, and a memory controller beside each home agent.
 *
 * A transaction is one story, told to the subscriber step by step by every unit on its way. What
 * waits is a request for a line that another request is in flight for, one that finds the table
 * full, a packet that finds no credits, or its way through a router taken, and a command to a bank
 * that is busy. Lines are interleaved over all home agents. Home agents know exactly which caches
 * have a line.
 *
 * Time is in cycles of the fabric's clock. Each home agent keeps a monotonic one: a request stamped
 * earlier is treated as arriving now; only its latency is charged.
 */
#ifndef MACHINE_FABRIC_FABRIC_H
#define MACHINE_FABRIC_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/detail.h"

#define FABRIC_SOCKETS 4u
#define FABRIC_CORES   4u /* a socket */
#define FABRIC_HOMES   2u /* a socket */
#define FABRIC_LINKS   3u /* a socket: one to each other */

struct fabric;

struct fabric_params {
	uint32_t mhz;
	uint32_t entries;	      /* of a home agent's table, at most 32 */
	uint32_t line_flits;	      /* of a packet with a line */
	uint32_t credits;	      /* flits that a port has room for, besides reserved packets */
	uint32_t hop, link;	      /* from port to port; from socket to socket */
	uint32_t home, reply;	      /* from the table to memory; from data to the router */
	uint32_t read, write;	      /* the memory controller's, until its answer */
	uint32_t dispatch;	      /* of these, in its queue */
	uint32_t snoop;		      /* a core's caches, from port to port */
	uint32_t refresh;	      /* from one refresh of a rank to the next */
	uint32_t refresh_cycles;      /* it takes */
	uint32_t ranks;		      /* of a memory controller, at most 16 */
	uint32_t row_lines;	      /* lines of a controller in a row of its banks */
	uint32_t row_cycle;	      /* a bank is busy with a row that is closed afterwards */
	uint32_t activate, precharge; /* what a hit saves; what a collision costs */
	uint32_t page_window;	      /* commands after which the controller may change its mode */
	uint32_t frame;		      /* to the memory's buffer */
	uint32_t sync;		      /* frames from one of synchronisation to the next */
	uint32_t write_frames;	      /* with the data of a line */
	uint32_t calibrate;	      /* from one calibration of a rank to the next */
	uint32_t core_ports[FABRIC_CORES], home_ports[FABRIC_HOMES], link_ports[FABRIC_LINKS];
};

enum fabric_kind {
	FABRIC_READ_DATA,
	FABRIC_READ_CODE,
	FABRIC_READ_OWN,
	FABRIC_OWN, /* of a line that the requester reads already */
	FABRIC_WRITE_BACK,
	FABRIC_EVICT, /* the requester no longer has the line, which it did not change */
};

struct fabric_request {
	uint8_t kind;  /* enum fabric_kind */
	uint8_t core;  /* of all sockets: socket * cores of a socket + core */
	uint64_t time; /* fabric cycle */
	uint64_t line; /* number */
};

struct fabric_answer {
	uint64_t latency; /* from the request until the requester has data or completion */
	bool shared;	  /* others have the line too */
	bool from_cache;  /* another core's caches sent it */
	bool modified;	  /* and it is the requester's to write back */
	uint8_t message;  /* enum signal_message */
	uint8_t home;	  /* number of the home agent: socket * FABRIC_HOMES + home */
};

/* What a core's caches have of a line. */
enum fabric_found {
	FABRIC_NOTHING,
	FABRIC_SHARED,
	FABRIC_EXCLUSIVE,
	FABRIC_MODIFIED,
	/* The core's own request for the line has no answer yet. It acknowledges that when it
	 * comes, and is told then what to do with the line. */
	FABRIC_CONFLICT,
};

/* What happens to it there. */
enum fabric_snoop {
	FABRIC_LOOK,
	FABRIC_SHARE,	   /* it stays readable: another wants to read it */
	FABRIC_SHARE_CODE, /* the same, to execute it */
	FABRIC_INVALIDATE, /* it goes: another wants to write to it */
	FABRIC_CLAIM,	   /* the same, and has the line */
	FABRIC_ACKNOWLEDGE,
	FABRIC_FORWARD, /* after that, what one of those above was for: it stays readable, */
	FABRIC_FORWARD_OWN,
	FABRIC_FORWARD_CLAIM,
};

/* A packet on the way from a core to its port. */
struct fabric_sent {
	bool data;	       /* it is of the class with lines; else of the home classes */
	uint64_t ready, until; /* when it could begin; when all of it has gone */
	uint64_t blocked_from, blocked_until; /* without credits, in between */
	uint64_t low_from, low_until; /* the port has few credits left, as far as is known by now */
};

#define FABRIC_FEW_CREDITS 16u

struct fabric_watch {
	void *arg;
	/**
	 * Caches of a core, all levels.
	 * @param time  when the snoop comes; receives when the core begins with it. FABRIC_LOOK:
	 * NULL. FABRIC_ACKNOWLEDGE: when it said FABRIC_CONFLICT; receives when it acknowledges
	 * @return what they had before
	 */
	enum fabric_found (*snoop)(void *arg, unsigned core, uint64_t line, enum fabric_snoop what,
				   uint64_t *time);
	/** A core sends a packet. */
	void (*sent)(void *arg, unsigned core, const struct fabric_sent *sent);
	/** Something happened in a unit. */
	void (*event)(void *arg, const struct detail_event *event);
	const uint8_t *enabled; /* SIGNAL_COUNT bytes: signals that somebody counts */
};

/** Bytes that it takes. */
size_t fabric_size(void);
/**
 * In reset state, at time 0. It allocates nothing.
 * @param memory   fabric_size() bytes of zeros, aligned to 8; the caller's
 * @param params   must outlive it
 * @param sockets  at most FABRIC_SOCKETS
 * @param cores    a socket, at most FABRIC_CORES
 */
struct fabric *fabric_init(void *memory, const struct fabric_params *params, unsigned sockets,
			   unsigned cores);
void fabric_watch(struct fabric *fabric, const struct fabric_watch *watch);

/** Cycles from request to data that a read takes at least, in the requester's own socket. */
uint64_t fabric_least_latency(const struct fabric_params *params);

/** Does a transaction. */
void fabric_transact(struct fabric *fabric, const struct fabric_request *request,
		     struct fabric_answer *answer);
/** Tells what goes on by itself, up to a time. */
void fabric_settle(struct fabric *fabric, uint64_t now);

#endif
