/* A fabric that remembers what it tells. */
#ifndef TESTS_MACHINE_FABRIC_FIXTURE_H
#define TESTS_MACHINE_FABRIC_FIXTURE_H

#include "catalog/signal.h"
#include "machine/fabric/fabric.h"

#define EVENTS 1000

/* A read in its own socket takes 2 + 3 + 10 + 1 + 2 cycles, and holds its entry for 14 of them. */
extern const struct fabric_params params;
#define LEAST 18u
#define HOLDS 14u

struct fixture {
	struct fabric *fabric;
	uint8_t enabled[SIGNAL_COUNT];
	struct detail_event events[EVENTS];
	unsigned count;
	enum fabric_found caches[FABRIC_SOCKETS * FABRIC_CORES];
	uint64_t there; /* when a line is there that cores wait for; snoops before are conflicts */
	/* Of core 0: cycles without credits, of home classes and of data; when few were left. */
	uint64_t blocked[2], few_from, few_until;
};

struct fixture *begin(unsigned sockets);
void end(struct fixture *f);
struct fabric_answer transact(struct fixture *f, enum fabric_kind kind, unsigned core,
			      uint64_t time, uint64_t line);

/* Of events that are equal in what is given: how many, and their amounts together. */
struct sum {
	unsigned count;
	uint64_t amount;
};

struct sum sum(const struct fixture *f, unsigned id, unsigned socket, unsigned unit,
	       uint32_t qualifiers);
void check(const struct fixture *f, unsigned id, unsigned socket, unsigned unit,
	   uint32_t qualifiers, unsigned count, uint64_t amount);

#endif
