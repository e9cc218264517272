#include "machine/address_space.h"

#include <stdlib.h>

#include "base/error.h"
#include "machine/machine.h"

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
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++) {
		struct address_branch *branch = space->branches[i];

		for (unsigned j = 0; branch && j < ADDRESS_DIGITS; j++)
			free(branch->leaves[j]);
		free(branch);
	}
	free(space->ranges);
	free(space);
}

static unsigned digit(uint64_t page, unsigned level)
{
	return page >> level * ADDRESS_DIGIT_LOG2 & (ADDRESS_DIGITS - 1);
}

/* Nodes are published whole, so that readers need no lock and a fork finds no half. */
uint32_t *address_space_find(struct machine_address_space *space, uint64_t page)
{
	struct address_branch *branch =
	    __atomic_load_n(&space->branches[digit(page, 2)], __ATOMIC_ACQUIRE);
	struct address_leaf *leaf;

	if (!branch)
		return NULL;
	leaf = __atomic_load_n(&branch->leaves[digit(page, 1)], __ATOMIC_ACQUIRE);
	return leaf ? &leaf->frames[digit(page, 0)] : NULL;
}

/* Makes what address_space_find() needs. @return NULL where memory ran out */
static uint32_t *grow(struct machine_address_space *space, uint64_t page)
{
	struct address_branch **branch = &space->branches[digit(page, 2)];
	struct address_leaf **leaf;

	if (!*branch)
		__atomic_store_n(branch, calloc(1, sizeof(**branch)), __ATOMIC_RELEASE);
	if (!*branch)
		return NULL;
	leaf = &(*branch)->leaves[digit(page, 1)];
	if (!*leaf)
		__atomic_store_n(leaf, calloc(1, sizeof(**leaf)), __ATOMIC_RELEASE);
	return address_space_find(space, page);
}

void machine_bind_memory(struct machine *machine, uint32_t nodes, bool interleaved)
{
	machine->state->memory_policy = (struct memory_policy){nodes, interleaved, 0};
}

static unsigned nearest(uint32_t nodes, unsigned socket)
{
	return nodes >> socket & 1 ? socket : memory_policy_node(nodes, 0);
}

/* Of the machine's own policy. */
static unsigned choose_default(struct machine *machine, unsigned socket)
{
	struct memory_policy *policy = &machine->state->memory_policy;

	if (!policy->nodes)
		return socket;
	if (policy->interleaved)
		return memory_policy_node(policy->nodes, policy->placed++);
	return nearest(policy->nodes, socket);
}

/* @param turn  of pages that are placed in turns */
static unsigned choose(struct machine *machine, struct machine_memory_policy policy,
		       unsigned socket, uint64_t turn)
{
	switch (policy.mode) {
	case MACHINE_MEMORY_LOCAL:
		return socket;
	case MACHINE_MEMORY_PREFERRED:
		return memory_policy_node(policy.nodes, 0);
	case MACHINE_MEMORY_BIND:
		return nearest(policy.nodes, socket);
	case MACHINE_MEMORY_INTERLEAVE:
		return memory_policy_node(policy.nodes, turn);
	default:
		return choose_default(machine, socket);
	}
}

static unsigned choose_node(const struct machine_address_space *space, uint64_t page,
			    struct machine_hart *core)
{
	const struct machine_memory_policy own = memory_ranges_at(space->ranges, page);
	const unsigned socket = machine_socket(core->machine, core->number);

	if (own.mode != MACHINE_MEMORY_DEFAULT)
		return choose(core->machine, own, socket, page);
	return choose(core->machine, core->memory, socket,
		      core->memory.mode == MACHINE_MEMORY_INTERLEAVE ? core->interleaved++ : 0);
}

/* In order; where every node is full, frames are used again. */
uint32_t address_space_next_frame(struct machine *machine, unsigned socket)
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

static uint32_t place(struct machine_address_space *space, uint64_t page, struct machine_hart *core)
{
	struct machine *machine = space->machine;
	uint32_t *entry, frame;

	machine_hold(machine, core->thread);
	entry = grow(space, page);
	if (entry && *entry) {
		frame = *entry - 1;
	} else {
		frame = address_space_next_frame(machine, choose_node(space, page, core));
		if (entry)
			__atomic_store_n(entry, frame + 1, __ATOMIC_RELEASE);
	}
	machine_let_go(machine);
	return frame;
}

uint32_t address_space_frame(struct machine_address_space *space, uint64_t page,
			     struct machine_hart *core)
{
	const uint32_t *entry = address_space_find(space, page);
	uint32_t frame = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	return frame ? frame - 1 : place(space, page, core);
}
