#include "machine/sleep.h"

#include <time.h>

#include "machine/skew.h"
#include "machine/stall.h"
#include "machine/users.h"

#define NAP_NS	  50000 /* between looks at the others */
#define NAPS_MOST 1000	/* after so many in which nobody did anything the sleep is over */

/* @return the least clock of cores that run, plus 1; 0: none does */
static uint64_t least_clock(const struct machine *machine)
{
	const struct machine_state *state = machine->state;
	uint64_t running = __atomic_load_n(&state->running, __ATOMIC_ACQUIRE), least = 0;

	for (; running; running &= running - 1) {
		const struct skew *skew = &state->skew[__builtin_ctzll(running)];
		const uint64_t shown = __atomic_load_n(&skew->clock, __ATOMIC_ACQUIRE);

		if (shown && (!least || shown < least))
			least = shown;
	}
	return least;
}

/* Whether there is anything to do on the machine before the core's sleep is over. */
static bool is_busy(const struct machine_hart *core, uint64_t least)
{
	if (least)
		return least <= core->wakes_at;
	return __atomic_load_n(&core->core->waiting, __ATOMIC_RELAXED) ||
	       users_any_to_begin(core->machine) ||
	       stall_any_awake(core->machine, core->thread, core->thread);
}

void sleep_on(struct machine_hart *core)
{
	uint64_t least = least_clock(core->machine), last;

	machine_hart_set_waits(core, true);
	for (unsigned naps = 0; naps < NAPS_MOST && is_busy(core, least); naps++) {
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		last = least;
		least = least_clock(core->machine);
		if (least != last)
			naps = 0;
	}
	machine_hart_set_waits(core, false);
}
