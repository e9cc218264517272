#include "machine/skew.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"

#define SYNC_CYCLES 1000 /* before something shared is taken, so far ahead at most */
#define SYNC_EVERY  500	 /* cycles between looks for that */
#define YIELDS	    200	 /* what a core is behind costs microseconds; after that a nap */
#define NAP_NS	    50000

bool skew_wait_on(struct skew_wait *wait)
{
	uint64_t now = clock_ns();

	if (!wait->rounds)
		wait->deadline =
		    wait->patience_ns > UINT64_MAX - now ? UINT64_MAX : now + wait->patience_ns;
	if (now >= wait->deadline)
		return false;
	if (wait->rounds++ < YIELDS)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	return true;
}

static uint64_t *clock_shown(const struct machine_hart *core)
{
	return &core->machine->state->skew[core->number];
}

void skew_show(struct machine_hart *core)
{
	__atomic_store_n(clock_shown(core), core->progress->time + 1, __ATOMIC_RELAXED);
}

void skew_hide(struct machine_hart *core)
{
	__atomic_store_n(clock_shown(core), 0, __ATOMIC_RELAXED);
}

/*
 * Whether a core that can move is more than @cycles behind; @shown receives the latest that such
 * cores show. Those of the caller's own thread cannot move while it waits.
 */
static bool is_ahead(const struct machine_hart *core, uint64_t cycles, uint64_t *shown)
{
	const struct machine *machine = core->machine;
	uint64_t limit = cycles * machine->core_ticks, now = core->progress->time;
	bool ahead = false;

	if (now <= limit)
		return false;
	*shown = 0;
	for (unsigned i = 0; i < machine->core_count; i++) {
		uint64_t other = __atomic_load_n(&machine->state->skew[i], __ATOMIC_RELAXED);

		if (other <= core->skew_ignored || other - 1 >= now - limit ||
		    lock_owner(&machine->cores[i].owner) == core->thread)
			continue;
		ahead = true;
		*shown = machine_max(*shown, other);
	}
	return ahead;
}

void skew_keep(struct machine_hart *core, uint64_t cycles)
{
	struct skew_wait wait = {.patience_ns = core->machine->patience_ns};
	uint64_t behind;

	while (is_ahead(core, cycles, &behind))
		if (!skew_wait_on(&wait)) {
			core->skew_ignored = behind;
			return;
		}
}

void skew_synchronise(struct machine_hart *core)
{
	uint64_t now = core->progress->time;

	if (now <= core->last_sync + SYNC_EVERY * core->machine->core_ticks)
		return;
	core->last_sync = now;
	skew_show(core);
	skew_keep(core, SYNC_CYCLES);
}
