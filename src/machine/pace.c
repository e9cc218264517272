#include "machine/pace.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"

#define MEETING_CYCLES 1000 /* before something shared is taken, so far ahead at most */
#define MEETING_EVERY  500  /* cycles between looks for that */
#define YIELDS	       200  /* what a core is behind costs microseconds; after that a nap */
#define NAP_NS	       50000

bool pace_wait_on(struct pace_wait *wait)
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

static uint64_t *clock_shown(const struct machine_core *core)
{
	return &core->machine->state->pace[core->number];
}

void pace_show(struct machine_core *core)
{
	__atomic_store_n(clock_shown(core), core->progress->time + 1, __ATOMIC_RELAXED);
}

void pace_hide(struct machine_core *core)
{
	__atomic_store_n(clock_shown(core), 0, __ATOMIC_RELAXED);
}

/*
 * Whether a core that can move is more than @cycles behind; @shown receives the latest that such
 * cores show. Those of the caller's own thread cannot move while it waits.
 */
static bool is_ahead(const struct machine_core *core, uint64_t cycles, uint64_t *shown)
{
	const struct machine *machine = core->machine;
	uint64_t limit = cycles * machine->core_ticks, now = core->progress->time;
	bool ahead = false;

	if (now <= limit)
		return false;
	*shown = 0;
	for (unsigned i = 0; i < machine->core_count; i++) {
		uint64_t other = __atomic_load_n(&machine->state->pace[i], __ATOMIC_RELAXED);

		if (other <= core->pace_ignored || other - 1 >= now - limit ||
		    lock_owner(&machine->cores[i].turn) == core->thread)
			continue;
		ahead = true;
		*shown = machine_max(*shown, other);
	}
	return ahead;
}

void pace_keep(struct machine_core *core, uint64_t cycles)
{
	struct pace_wait wait = {.patience_ns = core->machine->patience_ns};
	uint64_t behind;

	while (is_ahead(core, cycles, &behind))
		if (!pace_wait_on(&wait)) {
			core->pace_ignored = behind;
			return;
		}
}

void pace_meet(struct machine_core *core)
{
	uint64_t now = core->progress->time;

	if (now <= core->last_meeting + MEETING_EVERY * core->machine->core_ticks)
		return;
	core->last_meeting = now;
	pace_show(core);
	pace_keep(core, MEETING_CYCLES);
}
