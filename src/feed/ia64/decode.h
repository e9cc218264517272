/* Bundles of IA-64 code taken apart. */
#ifndef FEED_IA64_DECODE_H
#define FEED_IA64_DECODE_H

#include "feed/ia64/isa.h"

#include <stdbool.h>
#include <stdint.h>

/** An instruction. Registers are by their place in the format: bits 12:6, 19:13, 26:20, 33:27. */
struct ia64_insn {
	uint64_t ip;	   /* of the bundle */
	uint16_t encoding; /* index of ia64_encodings; 0: illegal */
	uint8_t op, format, c[4];
	uint8_t slot, qp, r1, r2, r3, r4, p1, p2;
	bool stop;   /* a stop follows */
	int64_t imm; /* counts, positions, masks; a branch's distance from the bundle */
};

struct ia64_bundle {
	uint64_t low, high;
};

/**
 * Takes slot `slot` of a bundle apart. False if the template is reserved, or the slot the second
 * half of a long instruction: then insn->encoding is 0.
 */
bool ia64_decode(struct ia64_insn *insn, const struct ia64_bundle *bundle, uint64_t ip,
		 unsigned slot);

/** How many slots the template has: 2 with a long instruction, else 3. */
unsigned ia64_slots(const struct ia64_bundle *bundle);

#endif
