/* An emulated computer inside: its block, and this process's view of it. */
#ifndef EMUL_BLOCK_STATE_H
#define EMUL_BLOCK_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/description.h"
#include "catalog/signal.h"
#include "emul/attribution.h"
#include "machine/machine.h"
#include "pmon/pmon.h"

#define EMUL_PMUS_MAX 256 /* that listen to one machine */

/* For an access that is under way elsewhere: microseconds, unless its program is stopped. */
#define ACCESS_PATIENCE_NS 3000000000u

/*
 * The block: this header, the machine's description, the machine's state, and the state of the
 * PMUs: those that the machine has, and further ones that the same signals reach.
 */
struct block_header {
	uint64_t magic;
	uint32_t version, image_size; /* of the description, bytes */
	uint64_t machine_offset, pmon_offset, pmon_size, size;
	uint32_t pmu_count;
	uint32_t joined;	       /* other processes have a view of the block */
	uint8_t enabled[SIGNAL_COUNT]; /* what any of several PMUs subscribes to */
	uint32_t needed;	       /* of several PMUs: see struct signal_port */
	uint64_t attribution_offset;   /* of the table behind the PMUs; 0: there is none */
};

struct emul_pmu {
	struct pmon *pmon;
	struct signal_port port;
	void *mapped; /* its state, where it is no part of the block's mapping; else NULL */
};

struct emul {
	int fd;
	struct block_header *block;
	size_t size; /* of the mapping */
	const struct pmu_machine *desc;
	struct pmu_machine *read_desc; /* read from another process's block; NULL: the caller's */
	struct machine *machine;
	struct emul_pmu pmus[EMUL_PMUS_MAX];
	unsigned pmu_count;
	struct attribution attribution; /* table NULL: nobody asks */
	size_t attribution_bytes;	/* mapped by themselves; 0: a part of the block's mapping */
	uint32_t clock_mhz[PMON_CLOCKS];
	/* The machine's time as it was asked for last, in ticks and in cycles of each clock. */
	uint64_t ticks;
	struct pmon_time time;
};

/** After each register access, under the lock: it may change what a PMU subscribes to. */
void block_join_enabled(struct emul *emul);
/** Emits what all units have done by the present time; under the lock. */
void block_catch_up(struct emul *emul);

#endif
