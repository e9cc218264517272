/* What an instruction group may not do: write a register twice. */
#ifndef FEED_IA64_GROUP_H
#define FEED_IA64_GROUP_H

#include "feed/ia64/decode.h"

/** Who wrote a register since the last stop: 0, or the qualifying predicate + 1. */
struct ia64_group {
	uint8_t general[128], floating[128];
};

/**
 * Adds an instruction to the group. False if it writes what one before it did, under no predicate
 * or under its own: hardware leaves undefined what comes of it; here it is an Illegal Operation
 * fault. Two different predicates may exclude each other.
 */
bool ia64_group_add(struct ia64_group *g, const struct ia64_insn *n);

#endif
