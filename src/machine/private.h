/*
 * A core's private caches: L1I, L1D and L2. All but the near accesses run under the machine's lock.
 * Times: @now is a tick of the core's clock; what is returned are ticks until the data are there.
 */
#ifndef MACHINE_PRIVATE_H
#define MACHINE_PRIVATE_H

#include "machine/state.h"

/*
 * What missed L1 and L2 can serve. These take no more than the core's own lock.
 * @return the slot of L1 that the line is in now; -1 where the others are needed
 */
int private_load_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread);
int private_store_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread);
int private_fetch_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread);
/** Ticks that a hit in L2 takes. */
uint64_t private_l2_ticks(const struct machine *machine);

struct private_answer {
	uint64_t ticks;
	int slot; /* of L1 */
};

/* What missed L1, or was taken away while the core reached for the lock. */
struct private_answer private_load(struct machine *machine, unsigned number, uint32_t line,
				   uint64_t now);
struct private_answer private_store(struct machine *machine, unsigned number, uint32_t line,
				    uint64_t now);
struct private_answer private_fetch(struct machine *machine, unsigned number, uint32_t line,
				    uint64_t now);

/** Drops the core's own copies before a non-temporal store, writing back a modified one. */
void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now);

/** Snoops: takes the line away, or leaves S of M and E. @return the best state that it had */
enum line_state private_invalidate(struct machine *machine, unsigned number, uint32_t line);
enum line_state private_share(struct machine *machine, unsigned number, uint32_t line);

#endif
