/* What the accumulators say of branches, micro-operations and stalls. */
#include "machine/accumulator.h"

/* Of all threads that the core ever had. */
struct done {
	uint64_t went[MACHINE_BRANCH_KINDS][2], mispredicted[MACHINE_BRANCH_KINDS][2];
	uint64_t ticks, slots, uops, stalls[MACHINE_STALLS];
	struct machine_pipe pipe;
};

static void add(uint64_t *sums, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sums[i] += __atomic_load_n(&numbers[i], __ATOMIC_RELAXED);
}

static struct done add_up(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	struct done done = {0};

	for (uint32_t i = 0; i < users; i++) {
		const struct machine_progress *progress = &core->progress[i];

		/* Before the clock: the time of what is counted here has passed then. */
		add(&done.slots, &progress->slots, 1);
		add(done.stalls, progress->stalls, MACHINE_STALLS);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		done.ticks += accumulators_ticks_run(progress);
		add(done.went[0], progress->went[0], 2 * MACHINE_BRANCH_KINDS);
		add(done.mispredicted[0], progress->mispredicted[0], 2 * MACHINE_BRANCH_KINDS);
		add(&done.uops, &progress->uops, 1);
		add(&done.pipe.retired, &progress->pipe.retired, 1);
		add(done.pipe.units, progress->pipe.units, MACHINE_PORTS);
		add(done.pipe.floats, progress->pipe.floats, MACHINE_FLOATS);
	}
	return done;
}

static uint64_t both(const uint64_t ways[2])
{
	return ways[0] + ways[1];
}

static uint64_t above(uint64_t sum, uint64_t part)
{
	return sum > part ? sum - part : 0;
}

/* Ticks in which nothing was issued for another reason than those that are noted. */
static uint64_t other_stalls(const struct machine *machine, const struct done *done)
{
	uint64_t known = done->slots * machine->core_ticks / machine->uarch->issue_width;

	for (unsigned i = 0; i < MACHINE_STALLS; i++)
		known += done->stalls[i];
	return above(done->ticks, known);
}

/* What no port has executed that there is: ports are as many as the core has, without the divider.
 */
static uint64_t of_no_port(const struct done *done)
{
	uint64_t units = 0;

	for (unsigned port = 0; port < UARCH_DIVIDER; port++)
		units += done->pipe.units[port];
	return above(done->uops, units / UARCH_CYCLE);
}

static void tell_divider(const struct machine *machine, unsigned number, uint64_t units)
{
	struct core_cycles *cycles = &machine->cores[number].cycles;
	struct accumulator_sum sum = {SIGNAL_CORE_CYCLES_DIVIDING, units / UARCH_CYCLE, 0};

	accumulators_tell_level(machine, number, &sum, 1, false, &cycles->reported_divisions[0]);
	sum.amount = __atomic_load_n(&cycles->divisions, __ATOMIC_RELAXED);
	accumulators_tell_level(machine, number, &sum, 1, true, &cycles->reported_divisions[1]);
}

/* clang-format off */
void accumulators_tell_pipe(const struct machine *machine, unsigned number)
{
	const struct done done = add_up(&machine->cores[number]);
	const uint64_t (*went)[2] = done.went, (*wrong)[2] = done.mispredicted;
	const uint64_t *stalls = done.stalls, *units = done.pipe.units, cycle = machine->core_ticks;
	const uint64_t fetch = stalls[STALL_FETCH] + stalls[STALL_FETCH_PAGE];
	const struct accumulator_sum sums[] = {
	    {SIGNAL_CORE_BRANCH, went[MACHINE_BRANCH_CONDITIONAL][0], QUALIFIER_CORE_BRANCH_NOT_TAKEN},
	    {SIGNAL_CORE_BRANCH, went[MACHINE_BRANCH_CONDITIONAL][1], QUALIFIER_CORE_BRANCH_TAKEN},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_JUMP]), QUALIFIER_CORE_BRANCH_JUMP},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_JUMP_INDIRECT]), QUALIFIER_CORE_BRANCH_JUMP_INDIRECT},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_CALL]), QUALIFIER_CORE_BRANCH_CALL},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_CALL_INDIRECT]), QUALIFIER_CORE_BRANCH_CALL_INDIRECT},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_RETURN]), QUALIFIER_CORE_BRANCH_RETURN},
	    {SIGNAL_CORE_BRANCH, both(went[MACHINE_BRANCH_SYSTEM]), QUALIFIER_CORE_BRANCH_SYSTEM},
	    {SIGNAL_CORE_MISPREDICTED, wrong[MACHINE_BRANCH_CONDITIONAL][0], QUALIFIER_CORE_MISPREDICTED_NOT_TAKEN},
	    {SIGNAL_CORE_MISPREDICTED, wrong[MACHINE_BRANCH_CONDITIONAL][1], QUALIFIER_CORE_MISPREDICTED_TAKEN},
	    {SIGNAL_CORE_MISPREDICTED, both(wrong[MACHINE_BRANCH_JUMP_INDIRECT]), QUALIFIER_CORE_MISPREDICTED_JUMP_INDIRECT},
	    {SIGNAL_CORE_MISPREDICTED, both(wrong[MACHINE_BRANCH_CALL_INDIRECT]), QUALIFIER_CORE_MISPREDICTED_CALL_INDIRECT},
	    {SIGNAL_CORE_MISPREDICTED, both(wrong[MACHINE_BRANCH_RETURN]), QUALIFIER_CORE_MISPREDICTED_RETURN},
	    {SIGNAL_CORE_UOP_ISSUED, done.slots, 0},
	    {SIGNAL_CORE_UOP_EXECUTED, done.uops, 0},
	    {SIGNAL_CORE_UOP_RETIRED, done.pipe.retired, 0},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_SCALAR_DOUBLE], QUALIFIER_CORE_FLOAT_RETIRED_SCALAR_DOUBLE},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_SCALAR_SINGLE], QUALIFIER_CORE_FLOAT_RETIRED_SCALAR_SINGLE},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_DOUBLE_128], QUALIFIER_CORE_FLOAT_RETIRED_DOUBLE_128},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_SINGLE_128], QUALIFIER_CORE_FLOAT_RETIRED_SINGLE_128},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_DOUBLE_256], QUALIFIER_CORE_FLOAT_RETIRED_DOUBLE_256},
	    {SIGNAL_CORE_FLOAT_RETIRED, done.pipe.floats[FLOAT_SINGLE_256], QUALIFIER_CORE_FLOAT_RETIRED_SINGLE_256},
	    {SIGNAL_CORE_PORT, units[0] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT0},
	    {SIGNAL_CORE_PORT, units[1] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT1},
	    {SIGNAL_CORE_PORT, units[2] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT2},
	    {SIGNAL_CORE_PORT, units[3] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT3},
	    {SIGNAL_CORE_PORT, units[4] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT4},
	    {SIGNAL_CORE_PORT, units[5] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT5},
	    {SIGNAL_CORE_PORT, units[6] / UARCH_CYCLE, QUALIFIER_CORE_PORT_PORT6},
	    {SIGNAL_CORE_PORT, of_no_port(&done), QUALIFIER_CORE_PORT_PORT7},
	    {SIGNAL_CORE_DIVIDER, units[UARCH_DIVIDER] / UARCH_CYCLE, 0},
	    {SIGNAL_CORE_STALL, stalls[STALL_BRANCH] / cycle, QUALIFIER_CORE_STALL_BRANCH},
	    {SIGNAL_CORE_STALL, fetch / cycle, QUALIFIER_CORE_STALL_FETCH},
	    {SIGNAL_CORE_STALL, stalls[STALL_NEAR] / cycle, QUALIFIER_CORE_STALL_LOAD_NEAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_FAR] / cycle, QUALIFIER_CORE_STALL_LOAD_FAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_BUFFER] / cycle, QUALIFIER_CORE_STALL_BUFFER},
	    {SIGNAL_CORE_STALL, stalls[STALL_STORES] / cycle, QUALIFIER_CORE_STALL_STORES},
	    {SIGNAL_CORE_STALL, stalls[STALL_STORES_NEAR] / cycle, QUALIFIER_CORE_STALL_STORES_NEAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_STORES_FAR] / cycle, QUALIFIER_CORE_STALL_STORES_FAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_LOADS_NEAR] / cycle, QUALIFIER_CORE_STALL_LOADS_NEAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_LOADS_FAR] / cycle, QUALIFIER_CORE_STALL_LOADS_FAR},
	    {SIGNAL_CORE_STALL, stalls[STALL_VALUES] / cycle, QUALIFIER_CORE_STALL_VALUES},
	    {SIGNAL_CORE_STALL, stalls[STALL_PORTS] / cycle, QUALIFIER_CORE_STALL_PORTS},
	    {SIGNAL_CORE_STALL, stalls[STALL_DECODE] / cycle, QUALIFIER_CORE_STALL_DECODE},
	    {SIGNAL_CORE_STALL, other_stalls(machine, &done) / cycle, QUALIFIER_CORE_STALL_OTHER},
	    {SIGNAL_CORE_UNDELIVERED, (fetch + stalls[STALL_DECODE]) * machine->uarch->issue_width / cycle, 0},
	};

	static_assert(sizeof(sums) / sizeof(sums[0]) == PIPE_ACCUMULATORS, "each is reported");
	accumulators_tell(machine, number, sums, machine->cores[number].reported_pipe, PIPE_ACCUMULATORS);
	tell_divider(machine, number, units[UARCH_DIVIDER]);
}
/* clang-format on */
