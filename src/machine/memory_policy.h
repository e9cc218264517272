/* On which sockets' memory pages are placed, as a thread or a range of pages asks for it. */
#ifndef MACHINE_MEMORY_POLICY_H
#define MACHINE_MEMORY_POLICY_H

#include <stdint.h>

enum machine_memory_mode {
	MACHINE_MEMORY_DEFAULT,	   /* none */
	MACHINE_MEMORY_LOCAL,	   /* the node of the core that touches */
	MACHINE_MEMORY_PREFERRED,  /* the first of the nodes */
	MACHINE_MEMORY_BIND,	   /* local where that is among the nodes, else the first of them */
	MACHINE_MEMORY_INTERLEAVE, /* in turns; in a range by the number of the page */
};

struct machine_memory_policy {
	uint8_t mode;	/* enum machine_memory_mode */
	uint8_t nodes;	/* bit: a socket's memory; not 0 where the mode speaks of them */
	uint16_t asked; /* the caller's: how it was asked for */
};

/** The @index-th node of a set that is not empty, counted round. */
static inline unsigned memory_policy_node(uint32_t nodes, uint64_t index)
{
	for (index %= (unsigned)__builtin_popcount(nodes); index; index--)
		nodes &= nodes - 1;
	return (unsigned)__builtin_ctz(nodes);
}

#endif
