/* Ranges of pages that have a policy of their own. */
#ifndef MACHINE_MEMORY_RANGES_H
#define MACHINE_MEMORY_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/memory_policy.h"

/* Pages [first, end). */
struct memory_range {
	uint64_t first, end;
	struct machine_memory_policy policy;
};

struct memory_ranges; /* NULL: none */

/** MACHINE_MEMORY_DEFAULT: none of a range. */
struct machine_memory_policy memory_ranges_at(const struct memory_ranges *ranges, uint64_t page);
/** Whether a range has all of these pages. */
bool memory_ranges_cover(const struct memory_ranges *ranges, uint64_t first, uint64_t end);
/**
 * Sets the policy of a range; MACHINE_MEMORY_DEFAULT: none. A copy of the process's memory at any
 * time has the list of before or after. @return false without memory
 */
bool memory_ranges_set(struct memory_ranges **ranges, struct memory_range range);
/** @return false without memory */
bool memory_ranges_copy(struct memory_ranges **copy, const struct memory_ranges *ranges);

#endif
