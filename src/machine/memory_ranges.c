#include "machine/memory_ranges.h"

#include <stdlib.h>
#include <string.h>

/* In order; none reaches into another. */
struct memory_ranges {
	size_t count;
	struct memory_range all[];
};

const struct memory_range *memory_ranges_next(const struct memory_ranges *ranges, uint64_t page)
{
	for (size_t i = 0; ranges && i < ranges->count; i++)
		if (page < ranges->all[i].end)
			return &ranges->all[i];
	return NULL;
}

const struct memory_range *memory_ranges_find(const struct memory_ranges *ranges, uint64_t page)
{
	const struct memory_range *range = memory_ranges_next(ranges, page);

	return range && page >= range->first ? range : NULL;
}

struct machine_memory_policy memory_ranges_at(const struct memory_ranges *ranges, uint64_t page)
{
	const struct memory_range *range = memory_ranges_find(ranges, page);

	return range ? range->policy : (struct machine_memory_policy){0};
}

bool memory_ranges_meet(const struct memory_ranges *ranges, uint64_t first, uint64_t end)
{
	for (size_t i = 0; ranges && i < ranges->count; i++)
		if (first < ranges->all[i].end && end > ranges->all[i].first)
			return true;
	return false;
}

bool memory_ranges_cover(const struct memory_ranges *ranges, uint64_t first, uint64_t end)
{
	for (size_t i = 0; ranges && i < ranges->count; i++)
		if (first >= ranges->all[i].first && end <= ranges->all[i].end)
			return true;
	return false;
}

static struct memory_ranges *allocate(size_t count)
{
	struct memory_ranges *ranges = malloc(sizeof(*ranges) + count * sizeof(ranges->all[0]));

	if (ranges)
		ranges->count = 0;
	return ranges;
}

static bool is_same(const struct memory_object *a, const struct memory_object *b)
{
	return a->file == b->file && a->shift == b->shift && a->is_private == b->is_private;
}

/* Behind the others: grown where it goes on like the last one. */
static void append(struct memory_ranges *ranges, struct memory_range range)
{
	struct memory_range *last = ranges->count ? &ranges->all[ranges->count - 1] : NULL;

	if (range.first >= range.end)
		return;
	if (last && last->end == range.first &&
	    !memcmp(&last->policy, &range.policy, sizeof(range.policy)) &&
	    is_same(&last->object, &range.object))
		last->end = range.end;
	else
		ranges->all[ranges->count++] = range;
}

/* All but @range, which is in @to then unless its mode is the default. */
static void copy_around(struct memory_ranges *to, const struct memory_ranges *from,
			struct memory_range range)
{
	size_t i = 0;

	for (; from && i < from->count && from->all[i].end <= range.first; i++)
		append(to, from->all[i]);
	if (from && i < from->count && from->all[i].first < range.first) {
		struct memory_range part = from->all[i];

		part.end = range.first;
		append(to, part);
	}
	if (range.policy.mode != MACHINE_MEMORY_DEFAULT)
		append(to, range);
	for (; from && i < from->count; i++) {
		struct memory_range rest = from->all[i];

		if (rest.first < range.end)
			rest.first = range.end;
		append(to, rest);
	}
}

bool memory_ranges_set(struct memory_ranges **ranges, struct memory_range range)
{
	const size_t count = *ranges ? (*ranges)->count : 0;
	struct memory_ranges *after, *before = *ranges;

	if (!count && range.policy.mode == MACHINE_MEMORY_DEFAULT)
		return true;
	/* One that is cut in two makes one more, and the new one another. */
	after = allocate(count + 2);
	if (!after)
		return false;
	copy_around(after, before, range);
	__atomic_store_n(ranges, after, __ATOMIC_RELEASE);
	free(before);
	return true;
}
