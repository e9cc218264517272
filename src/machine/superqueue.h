/*
 * The superqueue: what a core has outstanding below its L2, by itself and by its prefetchers, and
 * its write-backs, as a ring whose entries come in the order in which they are free again. Without
 * prefetchers nobody looks at it. The core's caches are held.
 */
#ifndef MACHINE_SUPERQUEUE_H
#define MACHINE_SUPERQUEUE_H

#include "machine/scan.h"
#include "machine/state.h"

#define SUPERQUEUE_NO_LINE UINT32_MAX /* that anybody waits for */

static_assert(SUPERQUEUE_MAX <= SCAN_MAX, "a bit an entry");

static inline uint32_t superqueue_before(uint32_t slot, uint32_t entries)
{
	return (slot ? slot : entries) - 1;
}

/* The bits of a ring of @entries from @slot on, which then is the first. */
static inline uint32_t superqueue_turned(uint32_t bits, uint32_t slot, uint32_t entries)
{
	return (uint32_t)(((uint64_t)bits << entries | bits) >> slot) &
	       (uint32_t)((UINT64_C(1) << entries) - 1);
}

/* The entry at @slot is new: the @count entries behind it have moved on by one. */
static inline void superqueue_set_demand(struct superqueue *queue, uint32_t entries, uint32_t slot,
					 uint32_t count, bool demand)
{
	uint32_t turned, moved;

	if (!count) {
		queue->demands = (queue->demands & ~(1u << slot)) | (uint32_t)demand << slot;
		return;
	}
	turned = superqueue_turned(queue->demands, slot, entries);
	moved = (1u << count) - 1;
	turned = (turned & ~(moved << 1 | 1)) | (turned & moved) << 1 | demand;
	queue->demands = superqueue_turned(turned, entries - slot, entries);
}

static inline void superqueue_enter(struct superqueue *queue, uint32_t entries, uint32_t line,
				    uint64_t end, bool demand)
{
	uint32_t slot = queue->first, moved = 0;

	queue->first = slot + 1 < entries ? slot + 1 : 0;
	/* Most come in the order in which they were asked for. */
	for (; slot != queue->first; moved++) {
		const uint32_t before = superqueue_before(slot, entries);

		if (queue->ends[before] <= end)
			break;
		queue->ends[slot] = queue->ends[before];
		queue->lines[slot] = queue->lines[before];
		slot = before;
	}
	queue->ends[slot] = end;
	queue->lines[slot] = line + 1;
	superqueue_set_demand(queue, entries, slot, moved, demand);
}

/**
 * What L2 gives up takes an entry for @ticks, as soon as one is free beside that of the request
 * which displaces it.
 */
static inline void superqueue_write_back(struct superqueue *queue, uint32_t entries, uint64_t now,
					 uint64_t ticks)
{
	const uint32_t second = queue->first + 1 < entries ? queue->first + 1 : 0;

	superqueue_enter(queue, entries, SUPERQUEUE_NO_LINE,
			 machine_max(now, queue->ends[second]) + ticks, false);
}

/** @return the tick, from @now on, at which there is room */
static inline uint64_t superqueue_admit(const struct superqueue *queue, uint64_t now)
{
	return machine_max(now, queue->ends[queue->first]);
}

/** Whether more than @count entries are free at @now. */
static inline bool superqueue_has_more(const struct superqueue *queue, uint32_t entries,
				       uint32_t count, uint64_t now)
{
	uint32_t slot = queue->first + count;

	if (count >= entries)
		return false;
	return queue->ends[slot < entries ? slot : slot - entries] <= now;
}

/** Whether the core itself waits for @most lines or more at @now. */
static inline bool superqueue_is_busy(const struct superqueue *queue, uint32_t entries, int most,
				      uint64_t now)
{
	if (__builtin_popcount(queue->demands) < most)
		return false;
	return __builtin_popcount(scan_later(queue->ends, entries, now) & queue->demands) >= most;
}

/** @return when a line comes that has been asked for, @now where that is before or never */
static inline uint64_t superqueue_arrival(const struct superqueue *queue, uint32_t entries,
					  uint32_t line, uint64_t now)
{
	uint32_t found;

	if (queue->ends[superqueue_before(queue->first, entries)] <= now)
		return now;
	for (found = scan_equal(queue->lines, entries, line + 1); found; found &= found - 1)
		now = machine_max(now, queue->ends[__builtin_ctz(found)]);
	return now;
}

#endif
