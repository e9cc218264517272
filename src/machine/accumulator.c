#include "machine/accumulator.h"

#include "machine/access.h"
#include "machine/cause.h"

/* What a core has done so far; in the order in which struct core keeps what was reported. */
struct sum {
	enum pmu_signal_id id;
	uint64_t amount;
};

/*
 * Ticks in which a thread ran. The thread may be running now: the clock is read before the time
 * that it skipped, which is written first, so that the difference is never too large.
 */
static uint64_t ticks_run(const struct machine_progress *progress)
{
	uint64_t time = __atomic_load_n(&progress->time, __ATOMIC_ACQUIRE);
	uint64_t idle = __atomic_load_n(&progress->idle, __ATOMIC_RELAXED);

	return time > idle ? time - idle : 0;
}

/* Of all threads that the core ever had. */
struct done {
	uint64_t ticks, instructions, branches;
};

static struct done add_up(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	struct done done = {0};

	for (uint32_t i = 0; i < users; i++) {
		const struct machine_progress *progress = &core->progress[i];

		done.ticks += ticks_run(progress);
		done.instructions += __atomic_load_n(&progress->instructions, __ATOMIC_RELAXED);
		done.branches += __atomic_load_n(&progress->branches, __ATOMIC_RELAXED);
	}
	return done;
}

/* A number that is another one whenever a core has done something: all that it counts goes up. */
static uint64_t activity(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	uint64_t sum = core->l2_misses;

	for (uint32_t i = 0; i < users; i++)
		sum += __atomic_load_n(&core->progress[i].time, __ATOMIC_RELAXED) +
		       __atomic_load_n(&core->progress[i].instructions, __ATOMIC_RELAXED);
	return sum;
}

static void tell_core(const struct machine *machine, unsigned number)
{
	struct core *core = &machine->cores[number];
	const struct done done = add_up(core);
	const struct sum sums[ACCUMULATORS] = {
	    {SIGNAL_CORE_CYCLES, done.ticks / machine->core_ticks},
	    /* The core never leaves its nominal frequency. */
	    {SIGNAL_CORE_REFERENCE_CYCLES, done.ticks / machine->core_ticks},
	    {SIGNAL_CORE_BASE_CYCLES, done.ticks / machine->bclk_ticks},
	    {SIGNAL_CORE_RETIRED, done.instructions},
	    {SIGNAL_CORE_BRANCHES, done.branches},
	    {SIGNAL_CORE_LLC_REFERENCE, core->l2_misses},
	    {SIGNAL_CORE_LLC_MISS, core->llc_misses},
	};

	for (unsigned i = 0; i < ACCUMULATORS; i++) {
		const struct signal signal = {
		    .id = (uint16_t)sums[i].id,
		    .socket = (uint8_t)machine_socket(machine, number),
		    .unit = (uint8_t)(number % machine->desc->cores),
		    .duration = sums[i].amount - core->reported[i],
		};

		/* Less than was reported: a block that is left early, or a clock that is being
		 * moved.
		 */
		if (sums[i].amount <= core->reported[i])
			continue;
		core->reported[i] = sums[i].amount;
		signal_emit(&machine->port, signal);
	}
}

void accumulators_report(const struct machine *machine, unsigned core)
{
	struct core *state = &machine->cores[core];
	uint64_t now = activity(state);

	/* Most cores of most machines do nothing. */
	if (now == state->reported_at)
		return;
	state->reported_at = now;
	tell_core(machine, core);
}

void accumulators_account(struct machine_hart *core)
{
	const struct signal_port *port = &core->machine->port;

	if (!core->block || !cause_is_asked(port))
		return;
	cause_begin(port, port->cause_of(port->asker, core->context, core->block));
	accumulators_report(core->machine, core->number);
	cause_end(port, 0);
}

void machine_end_block(struct machine_hart *core)
{
	if (!core->block)
		return;
	machine_hold(core->machine, core->thread);
	accumulators_account(core);
	machine_let_go(core->machine);
}

void machine_at_block(struct machine_hart *core, uint64_t place)
{
	/* A block that loops is accounted for at its end. */
	if (core->block != place)
		machine_end_block(core);
	core->place = core->block = place;
}
