#include "session/matching.h"

#define NOBODY UINT8_MAX

struct matching {
	const uint32_t *allowed;
	uint8_t owner[MATCHING_COUNTERS_MAX];
	uint32_t visited; /* counters that the present search has tried */
};

/* An augmenting path from @item: a free counter, or else one whose owner can move. */
static bool place(struct matching *matching, uint8_t item)
{
	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX; c++) {
		if (matching->allowed[item] & 1u << c && matching->owner[c] == NOBODY) {
			matching->owner[c] = item;
			return true;
		}
	}
	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX; c++) {
		if (!(matching->allowed[item] & ~matching->visited & 1u << c))
			continue;
		matching->visited |= 1u << c;
		if (place(matching, matching->owner[c])) {
			matching->owner[c] = item;
			return true;
		}
	}
	return false;
}

/* A search that fails has tried all counters of all owners it met (Hall's condition violated). */
static uint64_t blamed(const struct matching *matching, size_t item)
{
	uint64_t blame = UINT64_C(1) << item;

	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX; c++)
		if (matching->visited & 1u << c)
			blame |= UINT64_C(1) << matching->owner[c];
	return blame;
}

bool matching_find(const uint32_t *allowed, size_t count, uint8_t *counter, uint64_t *blame)
{
	struct matching matching = {.allowed = allowed};

	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX; c++)
		matching.owner[c] = NOBODY;
	for (size_t i = 0; i < count; i++) {
		matching.visited = 0;
		/* Item MATCHING_COUNTERS_MAX cannot be placed any more: the loop ends by then. */
		if (!place(&matching, (uint8_t)i)) {
			*blame = blamed(&matching, i);
			return false;
		}
	}
	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX; c++)
		if (matching.owner[c] != NOBODY)
			counter[matching.owner[c]] = (uint8_t)c;
	return true;
}
