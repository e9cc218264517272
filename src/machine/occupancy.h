/*
 * Occupancy reservation: a queue of finite length, as entries that each hold the time at which they
 * are free again. A request takes an entry, and writes its departure into it when that is known.
 */
#ifndef MACHINE_OCCUPANCY_H
#define MACHINE_OCCUPANCY_H

#include <stdint.h>

#define OCCUPANCY_NONE UINT32_MAX

/** The long way of the next two. */
static __attribute__((noinline, unused)) uint32_t occupancy_search(const uint64_t *free_from,
								   uint32_t count, uint64_t now,
								   uint32_t except, uint32_t *hint)
{
	uint32_t first = OCCUPANCY_NONE;

	for (uint32_t i = 0, slot = *hint; i < count; i++) {
		uint32_t next = slot + 1 < count ? slot + 1 : 0;

		if (slot != except && free_from[slot] <= now) {
			*hint = next;
			return slot;
		}
		if (slot != except &&
		    (first == OCCUPANCY_NONE || free_from[slot] < free_from[first]))
			first = slot;
		slot = next;
	}
	return first;
}

/**
 * Finds an entry that is free at @now, or the one that is free first.
 * @param hint  where to begin: behind what the last call found free
 */
static inline uint32_t occupancy_find(const uint64_t *free_from, uint32_t count, uint64_t now,
				      uint32_t *hint)
{
	const uint32_t slot = *hint;

	if (__builtin_expect(free_from[slot] > now, 0))
		return occupancy_search(free_from, count, now, OCCUPANCY_NONE, hint);
	*hint = slot + 1 < count ? slot + 1 : 0;
	return slot;
}

/** The same, but not @except. */
static inline uint32_t occupancy_find_other(const uint64_t *free_from, uint32_t count, uint64_t now,
					    uint32_t except, uint32_t *hint)
{
	const uint32_t slot = *hint;

	if (__builtin_expect(slot == except || free_from[slot] > now, 0))
		return occupancy_search(free_from, count, now, except, hint);
	*hint = slot + 1 < count ? slot + 1 : 0;
	return slot;
}

#endif
