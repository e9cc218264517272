#include "pmon/changes.h"

#include <string.h>

void pmon_changes_clear(struct pmon_changes *changes)
{
	/* Blocks that were never used are not touched: most counters never count. */
	if (changes->near_count)
		memset(changes, 0, sizeof(*changes));
	changes->far_count = 0;
}

void pmon_changes_add_far(struct pmon_changes *changes, uint64_t time, struct pmon_change change)
{
	struct pmon_far_change *heap = changes->far;
	uint32_t at = changes->far_count++;

	while (at && heap[(at - 1) / 2].time > time) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = (struct pmon_far_change){time, change};
}

struct pmon_change pmon_changes_take_far(struct pmon_changes *changes)
{
	struct pmon_far_change *heap = changes->far;
	struct pmon_far_change first = heap[0], last = heap[--changes->far_count];
	uint32_t count = changes->far_count, at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && heap[child + 1].time < heap[child].time)
			child++;
		if (heap[child].time >= last.time)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first.change;
}
