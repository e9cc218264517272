#include "machine/numa.h"

#include <stdlib.h>
#include <string.h>

#include "machine/address_space.h"

/* Pages [first, end) that have a policy of their own. */
struct range {
	uint64_t first, end;
	struct machine_memory_policy policy;
};

/* In order; none reaches into another. */
struct numa_ranges {
	size_t count;
	struct range all[];
};

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

static unsigned nearest(uint32_t nodes, unsigned socket)
{
	return nodes >> socket & 1 ? socket : node_of(nodes, 0);
}

/* Of the machine's own policy. */
static unsigned choose_default(struct machine *machine, unsigned socket)
{
	struct memory_policy *policy = &machine->state->memory_policy;

	if (!policy->nodes)
		return socket;
	if (policy->interleaved)
		return node_of(policy->nodes, policy->placed++);
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
		return node_of(policy.nodes, 0);
	case MACHINE_MEMORY_BIND:
		return nearest(policy.nodes, socket);
	case MACHINE_MEMORY_INTERLEAVE:
		return node_of(policy.nodes, turn);
	default:
		return choose_default(machine, socket);
	}
}

static struct machine_memory_policy policy_at(const struct machine_address_space *space,
					      uint64_t page)
{
	const struct numa_ranges *ranges = space->ranges;

	for (size_t i = 0; ranges && i < ranges->count; i++)
		if (page >= ranges->all[i].first && page < ranges->all[i].end)
			return ranges->all[i].policy;
	return (struct machine_memory_policy){0};
}

unsigned numa_choose_node(struct machine_address_space *space, uint64_t page,
			  struct machine_hart *core)
{
	const struct machine_memory_policy own = policy_at(space, page);
	const unsigned socket = machine_socket(core->machine, core->number);

	if (own.mode != MACHINE_MEMORY_DEFAULT)
		return choose(core->machine, own, socket, page);
	return choose(core->machine, core->memory, socket,
		      core->memory.mode == MACHINE_MEMORY_INTERLEAVE ? core->interleaved++ : 0);
}

unsigned machine_hart_next_node(const struct machine_hart *core)
{
	return node_of(core->memory.nodes, core->interleaved);
}

struct machine_memory_policy machine_range_at(struct machine_address_space *space, uint64_t page)
{
	struct machine_memory_policy policy;

	machine_hold(space->machine, lock_thread());
	policy = policy_at(space, page);
	machine_let_go(space->machine);
	return policy;
}

static struct numa_ranges *allocate_ranges(size_t count)
{
	struct numa_ranges *ranges = malloc(sizeof(*ranges) + count * sizeof(ranges->all[0]));

	if (ranges)
		ranges->count = 0;
	return ranges;
}

static size_t count_ranges(const struct machine_address_space *space)
{
	return space->ranges ? space->ranges->count : 0;
}

/* Behind the others: grown where it goes on like the last one. */
static void append(struct numa_ranges *ranges, struct range range)
{
	struct range *last = ranges->count ? &ranges->all[ranges->count - 1] : NULL;

	if (range.first >= range.end)
		return;
	if (last && last->end == range.first &&
	    !memcmp(&last->policy, &range.policy, sizeof(range.policy)))
		last->end = range.end;
	else
		ranges->all[ranges->count++] = range;
}

/* The lock is held. All but @range, which is in @to then unless its mode is the default. */
static void copy_around(struct numa_ranges *to, const struct numa_ranges *from, struct range range)
{
	size_t i = 0;

	for (; from && i < from->count && from->all[i].end <= range.first; i++)
		append(to, from->all[i]);
	if (from && i < from->count && from->all[i].first < range.first)
		append(to, (struct range){from->all[i].first, range.first, from->all[i].policy});
	if (range.policy.mode != MACHINE_MEMORY_DEFAULT)
		append(to, range);
	for (; from && i < from->count; i++) {
		struct range rest = from->all[i];

		if (rest.first < range.end)
			rest.first = range.end;
		append(to, rest);
	}
}

/* The lock is held. */
static bool set_range(struct machine_address_space *space, struct range range)
{
	/* One that is cut in two makes one more, and the new one another. */
	struct numa_ranges *ranges = allocate_ranges(count_ranges(space) + 2), *before;

	if (!ranges)
		return false;
	copy_around(ranges, space->ranges, range);
	before = space->ranges;
	/* A child that is forked now has one or the other. */
	__atomic_store_n(&space->ranges, ranges, __ATOMIC_RELEASE);
	free(before);
	return true;
}

bool machine_range_set(struct machine_address_space *space, uint64_t first, uint64_t count,
		       struct machine_memory_policy policy)
{
	bool done = true;

	machine_hold(space->machine, lock_thread());
	if (policy.mode != MACHINE_MEMORY_DEFAULT || count_ranges(space))
		done = set_range(space, (struct range){first, first + count, policy});
	machine_let_go(space->machine);
	return done;
}

bool machine_range_move(struct machine_address_space *space, uint64_t first, uint64_t count,
			uint64_t target, uint64_t target_count)
{
	const struct machine_memory_policy none = {0};
	bool done = true;

	machine_hold(space->machine, lock_thread());
	if (count_ranges(space)) {
		const struct machine_memory_policy policy = policy_at(space, first);

		done = set_range(space, (struct range){first, first + count, none}) &&
		       set_range(space, (struct range){target, target + target_count, policy});
	}
	machine_let_go(space->machine);
	return done;
}

bool machine_range_copy(struct machine_address_space *space,
			const struct machine_address_space *parent)
{
	const size_t count = count_ranges(parent);

	if (!count)
		return true;
	space->ranges = allocate_ranges(count);
	if (!space->ranges)
		return false;
	memcpy(space->ranges, parent->ranges,
	       sizeof(*space->ranges) + count * sizeof(space->ranges->all[0]));
	return true;
}

int machine_page_node(struct machine_address_space *space, uint64_t page)
{
	const uint32_t *entry = address_space_find(space, page);
	const uint32_t frame = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	return frame ? (int)address_space_node(space->machine, frame - 1) : -1;
}

unsigned machine_page_touch(struct machine_hart *core, struct machine_address_space *space,
			    uint64_t page)
{
	return address_space_node(space->machine, address_space_frame(space, page, core));
}

/* The lock is held. @param frame  plus 1; 0: none */
static void set_frame(struct machine_address_space *space, uint32_t *entry, uint32_t frame)
{
	__atomic_store_n(entry, frame, __ATOMIC_RELEASE);
	__atomic_fetch_add(&space->moves, 1, __ATOMIC_RELEASE);
}

static void move_entry(struct machine_address_space *space, uint32_t *entry, unsigned node)
{
	if (*entry && address_space_node(space->machine, *entry - 1) != node)
		set_frame(space, entry, address_space_next_frame(space->machine, node) + 1);
}

void machine_page_move(struct machine_address_space *space, uint64_t page, unsigned node)
{
	uint32_t *entry = address_space_find(space, page);

	machine_hold(space->machine, lock_thread());
	if (entry)
		move_entry(space, entry, node);
	machine_let_go(space->machine);
}

void machine_pages_forget(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	machine_hold(space->machine, lock_thread());
	for (uint64_t page = first, end = first + count; page < end;) {
		uint32_t *entry = address_space_find(space, page);

		if (entry && *entry)
			set_frame(space, entry, 0);
		page += entry ? 1 : ADDRESS_DIGITS - page % ADDRESS_DIGITS;
	}
	machine_let_go(space->machine);
}

static void migrate_leaf(struct machine_address_space *space, struct address_leaf *leaf,
			 const uint8_t *targets)
{
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
		if (leaf->frames[i])
			move_entry(
			    space, &leaf->frames[i],
			    targets[address_space_node(space->machine, leaf->frames[i] - 1)]);
}

void machine_pages_migrate(struct machine_address_space *space, const uint8_t *targets)
{
	machine_hold(space->machine, lock_thread());
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++) {
		const struct address_branch *branch = space->branches[i];

		for (unsigned j = 0; branch && j < ADDRESS_DIGITS; j++)
			if (branch->leaves[j])
				migrate_leaf(space, branch->leaves[j], targets);
	}
	machine_let_go(space->machine);
}
