#include "machine/address_space.h"

#include <stdlib.h>

#include "base/error.h"
#include "machine/machine.h"

#define NODE_LOG2 12 /* three levels of 4096: page numbers of 48-bit addresses */
#define NODE_SIZE (1u << NODE_LOG2)

/* Frames plus 1; 0: not touched yet. */
struct leaf {
	uint32_t frames[NODE_SIZE];
};

struct branch {
	struct leaf *leaves[NODE_SIZE];
};

struct machine_address_space {
	struct machine *machine;
	struct branch *branches[NODE_SIZE];
};

int machine_address_space_new(struct machine_address_space **space, struct machine *machine)
{
	*space = calloc(1, sizeof(**space));
	if (!*space)
		return PMU_E_NOMEM;
	(*space)->machine = machine;
	return 0;
}

void machine_address_space_free(struct machine_address_space *space)
{
	if (!space)
		return;
	for (unsigned i = 0; i < NODE_SIZE; i++) {
		struct branch *branch = space->branches[i];

		for (unsigned j = 0; branch && j < NODE_SIZE; j++)
			free(branch->leaves[j]);
		free(branch);
	}
	free(space);
}

static unsigned digit(uint64_t page, unsigned level)
{
	return page >> level * NODE_LOG2 & (NODE_SIZE - 1);
}

/* Nodes are published whole, so that readers need no lock and a fork finds no half. */
static uint32_t *find(struct machine_address_space *space, uint64_t page)
{
	struct branch *branch = __atomic_load_n(&space->branches[digit(page, 2)], __ATOMIC_ACQUIRE);
	struct leaf *leaf;

	if (!branch)
		return NULL;
	leaf = __atomic_load_n(&branch->leaves[digit(page, 1)], __ATOMIC_ACQUIRE);
	return leaf ? &leaf->frames[digit(page, 0)] : NULL;
}

/* Makes what find() needs. @return NULL where memory ran out */
static uint32_t *grow(struct machine_address_space *space, uint64_t page)
{
	struct branch **branch = &space->branches[digit(page, 2)];
	struct leaf **leaf;

	if (!*branch)
		__atomic_store_n(branch, calloc(1, sizeof(**branch)), __ATOMIC_RELEASE);
	if (!*branch)
		return NULL;
	leaf = &(*branch)->leaves[digit(page, 1)];
	if (!*leaf)
		__atomic_store_n(leaf, calloc(1, sizeof(**leaf)), __ATOMIC_RELEASE);
	return find(space, page);
}

void machine_bind_memory(struct machine *machine, uint32_t nodes, bool interleaved)
{
	machine->state->memory_policy = (struct memory_policy){nodes, interleaved, 0};
}

/* The @index-th node of a set, counted round. */
static unsigned node_of(uint32_t nodes, uint64_t index)
{
	for (index %= (unsigned)__builtin_popcount(nodes); index; index--)
		nodes &= nodes - 1;
	return (unsigned)__builtin_ctz(nodes);
}

static unsigned choose_node(struct memory_policy *policy, unsigned socket)
{
	if (!policy->nodes)
		return socket;
	if (policy->interleaved)
		return node_of(policy->nodes, policy->placed++);
	return policy->nodes >> socket & 1 ? socket : node_of(policy->nodes, 0);
}

/* In order; where every node is full, frames are used again. */
static uint32_t next_frame(struct machine *machine, unsigned socket)
{
	const uint64_t frames = machine->lines_per_node >> (PAGE_LOG2 - LINE_LOG2);
	uint64_t *next = machine->state->next_frame;

	for (unsigned i = 0; i < machine->desc->sockets; i++) {
		unsigned node = (socket + i) % machine->desc->sockets;

		if (next[node] < frames)
			return (uint32_t)(node * frames + next[node]++);
	}
	return (uint32_t)(socket * frames + next[socket]++ % frames);
}

static uint32_t place(struct machine_address_space *space, uint64_t page, unsigned socket,
		      uint32_t thread)
{
	struct machine *machine = space->machine;
	uint32_t *entry, frame;

	machine_hold(machine, thread);
	entry = grow(space, page);
	if (entry && *entry) {
		frame = *entry - 1;
	} else {
		frame = next_frame(machine, choose_node(&machine->state->memory_policy, socket));
		if (entry)
			__atomic_store_n(entry, frame + 1, __ATOMIC_RELEASE);
	}
	machine_let_go(machine);
	return frame;
}

uint32_t address_space_frame(struct machine_address_space *space, uint64_t page, unsigned socket,
			     uint32_t thread)
{
	const uint32_t *entry = find(space, page);
	uint32_t frame = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	return frame ? frame - 1 : place(space, page, socket, thread);
}
