/* Ranges of pages that have a policy of their own, or are of what processes share. */
#ifndef MACHINE_MEMORY_RANGES_H
#define MACHINE_MEMORY_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/memory_policy.h"

/* What is mapped: pages of a file, or of what has no name. */
struct memory_object {
	uint64_t file;	 /* as of machine_copy; 0: none */
	uint64_t shift;	 /* from an address's page to the file's */
	bool is_private; /* only as long as nobody can write to it */
};

/* Pages [first, end). */
struct memory_range {
	uint64_t first, end;
	struct machine_memory_policy policy;
	struct memory_object object;
};

struct memory_ranges; /* NULL: none */

/** @return the range that has a page, or NULL */
const struct memory_range *memory_ranges_find(const struct memory_ranges *ranges, uint64_t page);
/** @return the first range that has @page or pages behind it, or NULL */
const struct memory_range *memory_ranges_next(const struct memory_ranges *ranges, uint64_t page);
/** MACHINE_MEMORY_DEFAULT: none of a range. */
struct machine_memory_policy memory_ranges_at(const struct memory_ranges *ranges, uint64_t page);
/** Whether ranges have one of these pages. */
bool memory_ranges_meet(const struct memory_ranges *ranges, uint64_t first, uint64_t end);
/** Whether a range has all of these pages. */
bool memory_ranges_cover(const struct memory_ranges *ranges, uint64_t first, uint64_t end);
/**
 * Sets what holds in a range; the policy MACHINE_MEMORY_DEFAULT: nothing. A copy of the process's
 * memory at any time has the list of before or after. @return false without memory
 */
bool memory_ranges_set(struct memory_ranges **ranges, struct memory_range range);

#endif
