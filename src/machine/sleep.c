#include "machine/sleep.h"

#include <time.h>

#include "machine/skew.h"
#include "machine/stall.h"
#include "machine/users.h"

#define NAP_NS	  50000 /* between looks at clocks */
#define LOOK_NAPS 20	/* between looks at the thread that is behind */
#define IDLE_NAPS 10000 /* who is about to run and does not by then never will */

/* @return the core that is farthest behind of those that run, -1: none does */
static int find_last(const struct machine *machine, uint64_t *clock)
{
	const struct machine_state *state = machine->state;
	uint64_t running = __atomic_load_n(&state->running, __ATOMIC_ACQUIRE);
	int last = -1;

	for (; running; running &= running - 1) {
		const int number = __builtin_ctzll(running);
		const uint64_t shown =
		    __atomic_load_n(&state->skew[number].clock, __ATOMIC_ACQUIRE);

		if (!shown || (last >= 0 && shown >= *clock))
			continue;
		*clock = shown;
		last = number;
	}
	return last;
}

static bool is_stuck(const struct machine_hart *core, int number, struct stall *stall)
{
	const struct machine *machine = core->machine;
	const uint32_t thread =
	    __atomic_load_n(&machine->state->skew[number].thread, __ATOMIC_RELAXED);

	return thread ? stall_look(stall, machine, thread, core->thread)
		      : stall_all_dead(&machine->cores[number]);
}

static bool is_wanted(const struct core *shared)
{
	return __atomic_load_n(&shared->waiting, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&shared->yielding, __ATOMIC_RELAXED);
}

/* Whether a thread is about to run, where none does. */
static bool any_comes(const struct machine_hart *core)
{
	const struct machine *machine = core->machine;

	for (unsigned i = 0; i < machine->core_count; i++)
		if (is_wanted(&machine->cores[i]))
			return true;
	return users_any_to_begin(machine) || stall_any_awake(machine, core->thread, core->thread);
}

/* Whether there is nothing to do on the machine before the sleep is over. */
static bool is_over(const struct machine_hart *core, unsigned naps, struct stall *stall)
{
	uint64_t clock = 0;
	const int last = find_last(core->machine, &clock);

	if (last < 0)
		return naps >= IDLE_NAPS || !any_comes(core);
	return clock > core->wakes_at || (naps % LOOK_NAPS == 0 && is_stuck(core, last, stall));
}

void sleep_on(struct machine_hart *core)
{
	struct stall stall = {0};

	machine_hart_set_waits(core, true);
	for (unsigned naps = 1; !is_over(core, naps, &stall); naps++)
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	machine_hart_set_waits(core, false);
}
