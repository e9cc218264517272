#include "machine/numa.h"

#include "machine/address_space.h"

unsigned machine_hart_next_node(const struct machine_hart *core)
{
	return memory_policy_node(core->memory.nodes, core->interleaved);
}

struct machine_memory_policy machine_range_at(struct machine_address_space *space, uint64_t page)
{
	struct machine_memory_policy policy;

	machine_hold(space->machine, lock_thread());
	policy = memory_ranges_at(space->ranges, page);
	machine_let_go(space->machine);
	return policy;
}

bool machine_range_set(struct machine_address_space *space, uint64_t first, uint64_t count,
		       struct machine_memory_policy policy)
{
	bool done;

	machine_hold(space->machine, lock_thread());
	done = memory_ranges_set(
	    &space->ranges,
	    (struct memory_range){.first = first, .end = first + count, .policy = policy});
	machine_let_go(space->machine);
	return done;
}

bool machine_range_move(struct machine_address_space *space, uint64_t first, uint64_t count,
			uint64_t target, uint64_t target_count)
{
	struct machine_memory_policy policy;
	bool done;

	machine_hold(space->machine, lock_thread());
	policy = memory_ranges_at(space->ranges, first);
	done = memory_ranges_set(&space->ranges,
				 (struct memory_range){.first = first, .end = first + count}) &&
	       memory_ranges_set(&space->ranges, (struct memory_range){.first = target,
								       .end = target + target_count,
								       .policy = policy});
	machine_let_go(space->machine);
	return done;
}

int machine_page_node(struct machine_address_space *space, uint64_t page)
{
	const uint32_t *entry = address_space_find(space, page);
	const uint32_t frame = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	return frame ? (int)address_space_node(space->machine, address_frame(frame)) : -1;
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
	if (*entry && address_space_node(space->machine, address_frame(*entry)) != node)
		set_frame(space, entry, address_space_next_frame(space->machine, node) + 1);
}

void machine_page_move(struct machine_address_space *space, uint64_t page, unsigned node)
{
	uint32_t *entry = address_space_find(space, page);

	machine_hold(space->machine, lock_thread());
	if (entry)
		move_entry(space, entry, node);
	address_space_split(space, page);
	address_space_unmap(space, page, 1);
	machine_let_go(space->machine);
}

/* The lock is held. @return whether there were any */
static bool forget_frames(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	const uint32_t *entry;
	bool any = false;

	for (uint64_t page = first; (entry = address_space_next(space, &page, first + count));
	     page++) {
		if (!*entry)
			continue;
		address_space_forget(space, page);
		any = true;
	}
	return any;
}

void machine_pages_forget(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	machine_hold(space->machine, lock_thread());
	forget_frames(space, first, count);
	address_space_unmap(space, first, count);
	machine_let_go(space->machine);
}

void machine_pages_protect(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	if (!space->machine->translates)
		return;
	machine_hold(space->machine, lock_thread());
	address_space_unmap(space, first, count);
	machine_let_go(space->machine);
}

void machine_pages_unmap(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	/* What is mapped there next can be of another size. */
	if (space->machine->large_pages)
		machine_pages_forget(space, first, count);
	else
		machine_pages_protect(space, first, count);
}

void machine_pages_move(struct machine_hart *core, struct machine_address_space *space,
			uint64_t first, uint64_t count, uint64_t target)
{
	const uint64_t end = first + count;

	machine_hold(space->machine, lock_thread());
	for (uint64_t page = first; address_space_next(space, &page, end); page++)
		address_space_swap(space, page, target + page - first, end - page, core);
	__atomic_fetch_add(&space->moves, 1, __ATOMIC_RELEASE);
	address_space_unmap(space, first, count);
	machine_let_go(space->machine);
}

void machine_range_anonymous(struct machine_address_space *space, uint64_t first, uint64_t count,
			     bool is_anonymous)
{
	const struct machine_memory_policy policy = {.mode = is_anonymous ? MACHINE_MEMORY_LOCAL
									  : MACHINE_MEMORY_DEFAULT};

	if ((!space->machine->large_pages && !machine_has_kernel_io(space->machine)) || !count)
		return;
	machine_hold(space->machine, lock_thread());
	/* Without memory for the list, pages stay small, and each is its own. */
	memory_ranges_set(
	    &space->anonymous,
	    (struct memory_range){.first = first, .end = first + count, .policy = policy});
	machine_let_go(space->machine);
}

bool machine_is_anonymous(struct machine_address_space *space, uint64_t page)
{
	bool anonymous;

	machine_hold(space->machine, lock_thread());
	anonymous = memory_ranges_cover(space->anonymous, page, page + 1);
	machine_let_go(space->machine);
	return anonymous;
}

/* The lock is held. Without memory for the list, pages have frames of their own. */
static void set_object(struct machine_address_space *space, struct memory_range range)
{
	const uint64_t count = range.end - range.first;

	memory_ranges_set(&space->shared, range);
	/* What was never touched is in no TLB. */
	if (forget_frames(space, range.first, count))
		address_space_unmap(space, range.first, count);
}

void machine_range_share(struct machine_address_space *space, uint64_t first, uint64_t count,
			 struct machine_file_range file)
{
	const struct memory_range range = {
	    .first = first,
	    .end = first + count,
	    .policy = {.mode = MACHINE_MEMORY_LOCAL},
	    .object = {file.file, file.page - first, file.is_private},
	};

	machine_hold(space->machine, lock_thread());
	set_object(space, range);
	machine_let_go(space->machine);
}

void machine_range_unshare(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	const struct memory_range range = {.first = first, .end = first + count};

	if (!__atomic_load_n(&space->shared, __ATOMIC_ACQUIRE))
		return;
	machine_hold(space->machine, lock_thread());
	if (memory_ranges_meet(space->shared, first, first + count))
		set_object(space, range);
	machine_let_go(space->machine);
}

void machine_range_writable(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	const uint64_t end = first + count;
	const struct memory_range *range;

	if (!__atomic_load_n(&space->shared, __ATOMIC_ACQUIRE))
		return;
	machine_hold(space->machine, lock_thread());
	while (first < end && (range = memory_ranges_next(space->shared, first))) {
		const struct memory_range part = {
		    .first = machine_max(first, range->first),
		    .end = range->end < end ? range->end : end,
		};

		first = part.end;
		if (range->object.is_private && part.first < part.end)
			set_object(space, part);
	}
	machine_let_go(space->machine);
}

bool machine_range_file(struct machine_address_space *space, uint64_t page,
			struct machine_file_range *file)
{
	const struct memory_range *range;

	machine_hold(space->machine, lock_thread());
	range = memory_ranges_find(space->shared, page);
	if (range)
		*file = (struct machine_file_range){range->object.file, page + range->object.shift,
						    range->object.is_private};
	machine_let_go(space->machine);
	return range;
}

static void migrate_leaf(struct machine_address_space *space, struct address_leaf *leaf,
			 const uint8_t *targets)
{
	leaf->large = 0;
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
		if (leaf->frames[i])
			move_entry(space, &leaf->frames[i],
				   targets[address_space_node(space->machine,
							      address_frame(leaf->frames[i]))]);
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
	address_space_unmap(space, 0, UINT64_MAX);
	machine_let_go(space->machine);
}
