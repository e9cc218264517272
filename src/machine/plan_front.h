/* What the front end of a core makes of a block's code: see front.h. */
#ifndef MACHINE_PLAN_FRONT_H
#define MACHINE_PLAN_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "machine/hart.h"
#include "machine/op.h"
#include "machine/uarch.h"

#define FRONT_WINDOW 32 /* aligned bytes of code that are kept decoded together */

/* What of a block's instructions begins in one window. */
struct machine_plan_window {
	uint32_t parts;	  /* bit: byte of the window that is the block's */
	uint8_t slots;	  /* without microcode */
	uint8_t entries;  /* that the decoded ones take, */
	uint8_t ways;	  /* and ways that these do */
	uint8_t prefixes; /* instructions of which a prefix changes the length */
	/* What fetch, with the search for lengths, and decoders take: units. */
	uint16_t fetch, decode;
};

/* How a block's micro-operations come; of variable length. */
struct machine_plan_front {
	uint16_t eliminated; /* of them retire without being executed: moves, zeros, nops */
	/* Slots of the microcode sequencer, and instructions that have them. */
	uint16_t microcoded, sequences;
	/* Units: its first load is issued, its last has its data if it hits. 0: it has none. */
	uint16_t load_begin, load_end;
	/* Units that data keep ports in which these execute nothing. */
	uint16_t loading, storing;
	uint16_t floats[MACHINE_FLOATS]; /* instructions that compute with them, as counted */
	uint16_t last_bytes;		 /* of the last instruction */
	uint16_t windows;
	struct machine_plan_window window[];
};

/** Ways of the DSB that so many entries of a window take. */
static inline uint32_t front_ways(const struct machine_uarch *uarch, uint32_t entries)
{
	uint32_t ways = 1;

	while (ways * uarch->dsb_way_uops < entries)
		ways++;
	return ways;
}

/**
 * Fills in the windows of the block at @address; the rest of @front is zeroed, but for what is
 * microcoded.
 * @return bytes of @front
 */
size_t plan_front_make(struct machine_plan_front *front, const struct machine_uarch *uarch,
		       uint64_t address, const struct machine_op *const *ops, size_t count);

#endif
