/* The read address buffer: which lines of code the first level waits for, eight at most. */
#include "machine/epic/core.h"

/* How long all entries but so many are taken, from the last request on. */
static uint64_t taken(const struct addresses *a, unsigned but)
{
	uint64_t least = UINT64_MAX, next = UINT64_MAX;

	for (unsigned i = 0; i < ADDRESSES; i++) {
		if (a->until[i] < least) {
			next = least;
			least = a->until[i];
		} else if (a->until[i] < next) {
			next = a->until[i];
		}
	}
	return but ? next : least;
}

static uint64_t cycles(const struct addresses *a, unsigned but, uint64_t cycle)
{
	uint64_t until = taken(a, but);

	until = until < cycle ? until : cycle;
	return until > a->asked ? until - a->asked : 0;
}

void epic_addresses_count(struct epic_core *core, uint64_t cycle)
{
	struct addresses *a = &core->shared->addresses;

	if (!a->crowded || cycle <= a->asked)
		return;
	epic_add(core, CELL_ADDRESSES_FULL, cycles(a, 0, cycle));
	epic_add(core, CELL_ADDRESSES_ALMOST, cycles(a, 1, cycle));
	a->asked = cycle;
}

void epic_addresses_begin(struct epic_core *core, uint64_t cycle, unsigned latency)
{
	struct addresses *a = &core->shared->addresses;
	unsigned count = 0, at = 0;

	epic_addresses_count(core, cycle);
	if (cycle > a->asked)
		a->asked = cycle;
	for (unsigned i = 0; i < ADDRESSES; i++) {
		bool busy = a->until[i] > a->asked;

		count += busy;
		at = busy ? at : i;
	}
	a->until[at] = a->asked + latency;
	a->crowded = count + 2 >= ADDRESSES;
}
