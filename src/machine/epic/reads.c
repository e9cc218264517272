/* How many requests are on their way, cycle by cycle, by octal digit. */
#include "machine/epic/core.h"

static void pass(struct epic_core *core, struct reads *r, uint64_t cycle)
{
	epic_add(core, r->low, (cycle - r->now) * (r->count & 7));
	epic_add(core, (enum epic_cell)(r->low + 1), (cycle - r->now) * (r->count >> 3));
	r->now = cycle;
}

void epic_reads_count(struct epic_core *core, struct reads *r, uint64_t cycle)
{
	while (r->count && r->until[r->first] <= cycle) {
		pass(core, r, r->until[r->first]);
		r->first = (r->first + 1) % READS_MAX;
		r->count--;
	}
	if (!r->count)
		r->now = cycle > r->now ? cycle : r->now;
	else if (cycle > r->now)
		pass(core, r, cycle);
}

uint64_t epic_reads_room(struct epic_core *core, struct reads *r, uint64_t cycle, unsigned size)
{
	uint64_t until;

	epic_reads_count(core, r, cycle > r->now ? cycle : r->now);
	if (r->count < size)
		return cycle;
	until = r->until[(r->first + r->count - size) % READS_MAX];
	return until > cycle ? until : cycle;
}

void epic_reads_begin(struct epic_core *core, struct reads *r, uint64_t cycle, unsigned latency)
{
	uint64_t until;
	unsigned at;

	epic_reads_count(core, r, cycle > r->now ? cycle : r->now);
	if (r->count == READS_MAX)
		epic_reads_count(core, r, r->until[r->first]);
	until = r->now + latency;
	for (at = r->first + r->count++; at > r->first && r->until[(at - 1) % READS_MAX] > until;
	     at--)
		r->until[at % READS_MAX] = r->until[(at - 1) % READS_MAX];
	r->until[at % READS_MAX] = until;
}
