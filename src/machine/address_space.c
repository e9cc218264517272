#include "machine/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/file_pages.h"
#include "machine/machine.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE_ENTRIES	  (1u << ADDRESS_TABLE_LOG2)
#define LINE_ENTRIES	  (LINE_BYTES / sizeof(uint64_t))
#define TABLE_LEVELS	  4

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
	free(space->anonymous);
	free(space->shared);
	free(space);
}

static unsigned digit(uint64_t page, unsigned level)
{
	return page >> level * ADDRESS_DIGIT_LOG2 & (ADDRESS_DIGITS - 1);
}

/* Nodes are published whole, so that readers need no lock and a fork finds no half. */
static struct address_branch *branch_of(struct machine_address_space *space, uint64_t page)
{
	return __atomic_load_n(&space->branches[digit(page, 2)], __ATOMIC_ACQUIRE);
}

static struct address_leaf *leaf_of(struct machine_address_space *space, uint64_t page)
{
	struct address_branch *branch = branch_of(space, page);

	return branch ? __atomic_load_n(&branch->leaves[digit(page, 1)], __ATOMIC_ACQUIRE) : NULL;
}

uint32_t *address_space_find(struct machine_address_space *space, uint64_t page)
{
	struct address_leaf *leaf = leaf_of(space, page);

	return leaf ? &leaf->frames[digit(page, 0)] : NULL;
}

uint32_t *address_space_next(struct machine_address_space *space, uint64_t *page, uint64_t end)
{
	uint32_t *entry = NULL;

	while (*page < end && !(entry = address_space_find(space, *page)))
		*page += ADDRESS_DIGITS - *page % ADDRESS_DIGITS;
	return entry;
}

/* Where the frame of the table is noted that a walk reads at @level; NULL: nowhere. */
static uint32_t *table_of(struct machine_address_space *space, uint64_t page, unsigned level)
{
	const uint64_t number = page >> (level + 1) * ADDRESS_TABLE_LOG2;
	struct address_branch *branch = branch_of(space, page);
	struct address_leaf *leaf = leaf_of(space, page);

	switch (level) {
	case 0:
		return leaf ? &leaf->tables[number % ARRAY_SIZE(leaf->tables)] : NULL;
	case 1:
		return branch ? &branch->directories[number % ARRAY_SIZE(branch->directories)]
			      : NULL;
	case 2:
		return &space->upper[number % ARRAY_SIZE(space->upper)];
	default:
		return &space->root;
	}
}

int64_t address_space_table_line(struct machine_address_space *space, uint64_t page, unsigned level)
{
	const uint32_t *table = table_of(space, page, level);
	const uint32_t frame = table ? __atomic_load_n(table, __ATOMIC_ACQUIRE) : 0;
	const uint64_t entry = page >> level * ADDRESS_TABLE_LOG2 & (TABLE_ENTRIES - 1);

	return frame ? (int64_t)(frame - 1) * PAGE_LINES + (int64_t)(entry / LINE_ENTRIES) : -1;
}

bool address_space_is_large(struct machine_address_space *space, uint64_t page)
{
	const struct address_leaf *leaf = space->has_large ? leaf_of(space, page) : NULL;

	return leaf && leaf->large >> digit(page, 0) / TABLE_ENTRIES & 1;
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

		if (next[node] + machine->state->tables[node] < frames)
			return (uint32_t)(node * frames + next[node]++);
	}
	return (uint32_t)(socket * frames + next[socket]++ % frames);
}

/* From the end, so that programs get the same frames whether there are tables or not. */
static uint32_t next_table(struct machine *machine, unsigned node)
{
	const uint64_t frames = machine->lines_per_node >> (PAGE_LOG2 - LINE_LOG2);

	return (uint32_t)((node + 1) * frames - 1 - machine->state->tables[node]++ % frames);
}

/* The tables of a page's walk are where the core is that touches it first. */
static void make_tables(struct machine_address_space *space, uint64_t page,
			const struct machine_hart *core)
{
	for (unsigned level = 0; level < TABLE_LEVELS; level++) {
		uint32_t *table = table_of(space, page, level);

		if (table && !*table)
			__atomic_store_n(table, next_table(space->machine, core->socket) + 1,
					 __ATOMIC_RELEASE);
	}
}

/* The leaf's pages of which @page is one could be a large page, and none was touched yet. */
static bool is_untouched(const struct address_leaf *leaf, uint64_t page)
{
	const uint32_t *frames = &leaf->frames[digit(page, 0) & ~(TABLE_ENTRIES - 1)];

	for (unsigned i = 0; i < TABLE_ENTRIES; i++)
		if (frames[i])
			return false;
	return true;
}

/* Frames in a row, aligned. @return the first, or -1 where the node has none */
static int64_t next_large_frame(struct machine *machine, unsigned node)
{
	const uint64_t frames = machine->lines_per_node >> (PAGE_LOG2 - LINE_LOG2);
	uint64_t *next = &machine->state->next_frame[node];
	const uint64_t first = (*next + TABLE_ENTRIES - 1) / TABLE_ENTRIES * TABLE_ENTRIES;

	if (first + TABLE_ENTRIES + machine->state->tables[node] > frames)
		return -1;
	*next = first + TABLE_ENTRIES;
	return (int64_t)(node * frames + first);
}

/*
 * As Linux does at the first touch of what an anonymous mapping has all of. @return whether the
 * page is of a large page now
 */
static bool place_large(struct machine_address_space *space, uint64_t page, unsigned node)
{
	const uint64_t first = page & ~(uint64_t)(TABLE_ENTRIES - 1);
	struct address_leaf *leaf = leaf_of(space, page);
	int64_t frame;

	if (!leaf || !memory_ranges_cover(space->anonymous, first, first + TABLE_ENTRIES) ||
	    !is_untouched(leaf, page))
		return false;
	frame = next_large_frame(space->machine, node);
	if (frame < 0)
		return false;
	space->has_large = true;
	leaf->large |= (uint8_t)(1u << digit(page, 0) / TABLE_ENTRIES);
	for (unsigned i = 0; i < TABLE_ENTRIES; i++)
		__atomic_store_n(&leaf->frames[digit(first, 0) + i], (uint32_t)(frame + i + 1),
				 __ATOMIC_RELEASE);
	return true;
}

/* The one that the page has in all address spaces, or one of its own. */
static uint32_t choose_frame(struct machine_address_space *space, uint64_t page, unsigned node)
{
	const struct memory_range *shared = memory_ranges_find(space->shared, page);
	const struct page_cache_entry *entry;

	if (!shared)
		return address_space_next_frame(space->machine, node);
	entry = file_pages_get(space->machine, shared->object.file, page + shared->object.shift,
			       node, true);
	return entry->frame - 1;
}

/* Of a page that is accessed, and the process's own. @param fill  NULL: it is not accessed */
static void note_fill(const struct machine_address_space *space, uint64_t page, uint32_t frame,
		      bool large, struct address_fill *fill)
{
	if (!fill || !machine_has_kernel_io(space->machine) ||
	    memory_ranges_find(space->shared, page))
		return;
	fill->count = large ? TABLE_ENTRIES : 1;
	fill->first = large ? frame & ~(TABLE_ENTRIES - 1) : frame;
}

/* As Linux has one page read wherever nothing was written. With large pages that is not modelled.
 */
static bool reads_zeros(const struct machine_address_space *space, uint64_t page)
{
	return machine_has_kernel_io(space->machine) && !space->machine->large_pages &&
	       memory_ranges_cover(space->anonymous, page, page + 1);
}

static uint32_t zeros(struct machine *machine, unsigned node)
{
	uint32_t *frame = &machine->state->zeros;

	if (!*frame)
		*frame = address_space_next_frame(machine, node) + 1;
	return *frame - 1;
}

/* @param fill  as of note_fill() */
static uint32_t place_new(struct machine_address_space *space, uint64_t page, uint32_t *entry,
			  struct machine_hart *core, bool writes, struct address_fill *fill)
{
	struct machine *machine = space->machine;
	const unsigned node = choose_node(space, page, core);
	uint32_t frame;

	if (machine->translates)
		make_tables(space, page, core);
	if (machine->large_pages && place_large(space, page, node)) {
		frame = address_frame(*entry);
		note_fill(space, page, frame, true, fill);
		return frame;
	}
	if (fill && !writes && reads_zeros(space, page)) {
		frame = zeros(machine, node) | ADDRESS_INHERITED;
	} else {
		frame = choose_frame(space, page, node);
		note_fill(space, page, frame, false, fill);
	}
	if (entry)
		__atomic_store_n(entry, frame + 1, __ATOMIC_RELEASE);
	return frame;
}

static uint32_t place(struct machine_address_space *space, uint64_t page, struct machine_hart *core,
		      bool writes, struct address_fill *fill)
{
	uint32_t *entry, frame;

	machine_hold(space->machine, core->thread);
	entry = grow(space, page);
	frame = entry && *entry ? *entry - 1 : place_new(space, page, entry, core, writes, fill);
	machine_let_go(space->machine);
	return frame;
}

void address_space_set(struct machine_address_space *space, uint64_t page, uint32_t frame)
{
	uint32_t *entry = grow(space, page);

	if (entry)
		__atomic_store_n(entry, frame + 1, __ATOMIC_RELEASE);
}

uint32_t address_space_frame(struct machine_address_space *space, uint64_t page,
			     struct machine_hart *core)
{
	const uint32_t *entry = address_space_find(space, page);
	uint32_t frame = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	return frame ? address_frame(frame)
		     : place(space, page, core, false, NULL) & ~ADDRESS_INHERITED;
}

/* All but who moves a page, and knows it. The lock is held. */
static void tell_moved(struct machine_address_space *space, struct machine_hart *core)
{
	core->moves += core->moves == space->moves;
	__atomic_fetch_add(&space->moves, 1, __ATOMIC_RELEASE);
}

/* As Linux copies a page that is written, of a large one too: that becomes small ones. */
static uint32_t make_own(struct machine_address_space *space, uint64_t page,
			 struct machine_hart *core, struct address_fill *fill)
{
	uint32_t *entry = address_space_find(space, page), frame;

	machine_hold(space->machine, core->thread);
	if (*entry & ADDRESS_INHERITED) {
		fill->from = address_frame(*entry);
		fill->copies = fill->from + 1 != space->machine->state->zeros;
		frame = address_space_next_frame(space->machine, choose_node(space, page, core));
		if (address_space_is_large(space, page)) {
			address_space_split(space, page);
			address_space_unmap(space, page & ~(uint64_t)(TABLE_ENTRIES - 1),
					    TABLE_ENTRIES);
		}
		note_fill(space, page, frame, false, fill);
		__atomic_store_n(entry, frame + 1, __ATOMIC_RELEASE);
		if (fill->copies)
			tell_moved(space, core);
	}
	frame = address_frame(*entry);
	machine_let_go(space->machine);
	return frame;
}

/* What a fork inherits is in no table of its own yet. */
static void inherit_tables(struct machine_address_space *space, uint64_t page,
			   const struct machine_hart *core)
{
	const uint32_t *table = table_of(space, page, 0);

	if (__atomic_load_n(table, __ATOMIC_ACQUIRE))
		return;
	machine_hold(space->machine, core->thread);
	make_tables(space, page, core);
	machine_let_go(space->machine);
}

uint32_t address_space_access(struct machine_address_space *space, uint64_t page,
			      struct machine_hart *core, bool writes, struct address_fill *fill)
{
	const uint32_t *entry = address_space_find(space, page);
	const uint32_t found = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;

	if (!found)
		return place(space, page, core, writes, fill);
	if (!(found & ADDRESS_INHERITED))
		return address_frame(found);
	if (space->machine->translates)
		inherit_tables(space, page, core);
	return writes ? make_own(space, page, core, fill)
		      : address_frame(found) | ADDRESS_INHERITED;
}

static void inherit_leaf(struct address_leaf *leaf)
{
	memset(leaf->tables, 0, sizeof(leaf->tables));
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
		if (leaf->frames[i])
			leaf->frames[i] |= ADDRESS_INHERITED;
}

static void inherit_branch(struct address_branch *branch)
{
	memset(branch->directories, 0, sizeof(branch->directories));
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
		if (branch->leaves[i])
			inherit_leaf(branch->leaves[i]);
}

/* Pages of files are found when they are touched, as Linux leaves them to that. */
static void forget_files(struct machine_address_space *space)
{
	const struct memory_range *range = memory_ranges_next(space->shared, 0);

	for (; range; range = memory_ranges_next(space->shared, range->end)) {
		uint64_t page = range->first;
		uint32_t *entry;

		for (; (entry = address_space_next(space, &page, range->end)); page++)
			*entry = 0;
	}
}

void machine_address_space_inherit(struct machine_address_space *space)
{
	space->root = 0;
	memset(space->upper, 0, sizeof(space->upper));
	for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
		if (space->branches[i])
			inherit_branch(space->branches[i]);
	forget_files(space);
}

void address_space_split(struct machine_address_space *space, uint64_t page)
{
	struct address_leaf *leaf = leaf_of(space, page);

	if (leaf)
		leaf->large &= (uint8_t) ~(1u << digit(page, 0) / TABLE_ENTRIES);
}

void address_space_forget(struct machine_address_space *space, uint64_t page)
{
	struct address_leaf *leaf = leaf_of(space, page);

	if (!leaf || !leaf->frames[digit(page, 0)])
		return;
	address_space_split(space, page);
	__atomic_store_n(&leaf->frames[digit(page, 0)], 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&space->moves, 1, __ATOMIC_RELEASE);
}

/* The large page of which @page is one becomes small ones, but where it can stay one. */
static void move_large(struct machine_address_space *space, uint64_t page, uint64_t target,
		       uint64_t count)
{
	address_space_split(space, page);
	if (count >= TABLE_ENTRIES && page % TABLE_ENTRIES == 0 && target % TABLE_ENTRIES == 0)
		leaf_of(space, target)->large |= (uint8_t)(1u << digit(target, 0) / TABLE_ENTRIES);
}

void address_space_swap(struct machine_address_space *space, uint64_t page, uint64_t target,
			uint64_t count, const struct machine_hart *core)
{
	uint32_t *from = address_space_find(space, page), *to, frame;

	if (!from || !*from)
		return;
	frame = *from;
	to = grow(space, target);
	if (to && space->machine->translates)
		make_tables(space, target, core);
	if (to && address_space_is_large(space, page))
		move_large(space, page, target, count);
	__atomic_store_n(from, to ? *to : 0, __ATOMIC_RELEASE);
	if (to)
		__atomic_store_n(to, frame, __ATOMIC_RELEASE);
}

void address_space_unmap(struct machine_address_space *space, uint64_t first, uint64_t count)
{
	const uint64_t number = space->unmapped_count;

	if (!space->machine->translates)
		return;
	space->unmapped[number % ADDRESS_UNMAPPED] = (struct address_unmapped){first, count};
	__atomic_store_n(&space->unmapped_count, number + 1, __ATOMIC_RELEASE);
}
