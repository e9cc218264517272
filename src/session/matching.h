/* Which counter for which selection: an exact bipartite matching. */
#ifndef SESSION_MATCHING_H
#define SESSION_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCHING_COUNTERS_MAX 32

/**
 * Gives each of @count items a counter of its own.
 * @param allowed  bit c of allowed[i]: item i may have counter c
 * @param counter  receives the counter of each item
 * @param blame    where there is no matching: bits of items that together have fewer counters than
 *                 they are; at most the first MATCHING_COUNTERS_MAX + 1 items
 */
bool matching_find(const uint32_t *allowed, size_t count, uint8_t *counter, uint64_t *blame);

#endif
