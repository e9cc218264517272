/*
 * A counter's pending changes: the cycles at which the number of signals that it adds up changes.
 * Near changes are summed in a ring with an entry a cycle; far ones are in a heap.
 */
#ifndef PMON_CHANGES_H
#define PMON_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#define PMON_RING     4096 /* cycles; a power of two */
#define PMON_RING_SET (PMON_RING / 64)
#define PMON_FAR      256
#define PMON_NEVER    UINT64_MAX

/* By how much the signals that are wanted change, and all of the same signal. */
struct pmon_change {
	int32_t level, open;
};

struct pmon_far_change {
	uint64_t time;
	struct pmon_change change;
};

struct pmon_changes {
	uint32_t near_count, far_count;
	uint64_t used[PMON_RING_SET]; /* a bit for each slot */
	struct pmon_change ring[PMON_RING];
	struct pmon_far_change far[PMON_FAR]; /* a binary heap, the earliest first */
};

void pmon_changes_clear(struct pmon_changes *changes);

/** Adds a change beyond the ring; there must be room. */
void pmon_changes_add_far(struct pmon_changes *changes, uint64_t time, struct pmon_change change);

/** Takes the earliest of the far changes. */
struct pmon_change pmon_changes_take_far(struct pmon_changes *changes);

/** Whether two more changes can be added, wherever they fall. */
static inline bool pmon_changes_have_room(const struct pmon_changes *changes)
{
	return changes->far_count <= PMON_FAR - 2;
}

/** Adds a change at or after @now, before which nothing is pending. */
static inline void pmon_changes_add(struct pmon_changes *changes, uint64_t now, uint64_t time,
				    struct pmon_change change)
{
	unsigned slot = time % PMON_RING;
	uint64_t bit = 1ull << slot % 64;

	if (time - now >= PMON_RING) {
		pmon_changes_add_far(changes, time, change);
		return;
	}
	changes->near_count += !(changes->used[slot / 64] & bit);
	changes->used[slot / 64] |= bit;
	changes->ring[slot].level += change.level;
	changes->ring[slot].open += change.open;
}

/** Cycle of the earliest change, at or after @now; PMON_NEVER if there is none. */
static inline uint64_t pmon_changes_next(const struct pmon_changes *changes, uint64_t now)
{
	uint64_t far = changes->far_count ? changes->far[0].time : PMON_NEVER, near = PMON_NEVER;
	unsigned first = now % PMON_RING, word = first / 64;
	uint64_t bits = changes->used[word] & ~0ull << first % 64;

	if (!changes->near_count)
		return far;
	while (!bits) {
		word = (word + 1) % PMON_RING_SET;
		bits = changes->used[word];
	}
	near = now + ((word * 64 + (unsigned)__builtin_ctzll(bits) - first) % PMON_RING);
	return near < far ? near : far;
}

/** Takes what changes at @time, which is the earliest cycle with a change. */
static inline struct pmon_change pmon_changes_take(struct pmon_changes *changes, uint64_t time)
{
	unsigned slot = time % PMON_RING;
	uint64_t bit = 1ull << slot % 64;
	struct pmon_change sum = {0, 0};

	if (changes->used[slot / 64] & bit) {
		sum = changes->ring[slot];
		changes->ring[slot] = (struct pmon_change){0, 0};
		changes->used[slot / 64] &= ~bit;
		changes->near_count--;
	}
	while (changes->far_count && changes->far[0].time == time) {
		struct pmon_change far = pmon_changes_take_far(changes);

		sum.level += far.level;
		sum.open += far.open;
	}
	return sum;
}

#endif
