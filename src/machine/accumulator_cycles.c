/* What the accumulators say of cycles in which so many are at once. */
#include "machine/accumulator.h"
#include "machine/pipe.h"
#include "machine/waits.h"

#define SAYS(what) QUALIFIER_CORE_CYCLES_WAITING_##what

/*
 * Of one kind: for each number the cycles with so many or more, and how often it rose to that.
 * @param exact  amounts with exactly so many, @cycle of them a cycle
 */
static void tell(const struct machine *machine, unsigned core, struct accumulator_sum what,
		 const uint64_t *exact, const uint64_t *rises, unsigned most, uint64_t cycle,
		 uint64_t *reported)
{
	uint64_t sum = 0;

	for (unsigned least = most; least; least--) {
		sum += __atomic_load_n(&exact[least], __ATOMIC_RELAXED);
		what.amount = sum / cycle;
		accumulators_tell_level(machine, core, &what, least, false,
					&reported[2 * (least - 1)]);
		what.amount = __atomic_load_n(&rises[least], __ATOMIC_RELAXED);
		accumulators_tell_level(machine, core, &what, least, true,
					&reported[2 * least - 1]);
	}
}

static void tell_issue(const struct machine *machine, unsigned number)
{
	static const uint32_t says[PIPE_FLOATS] = {
	    [PIPE_LOADS] = QUALIFIER_CORE_CYCLES_LOADS_ALL,
	    [PIPE_LOADS_L1] = QUALIFIER_CORE_CYCLES_LOADS_L1,
	    [PIPE_BRANCHES] = QUALIFIER_CORE_CYCLES_BRANCHES_ALL,
	    [PIPE_BRANCHES_NEAR] = QUALIFIER_CORE_CYCLES_BRANCHES_NEAR,
	    [PIPE_CONDITIONAL] = QUALIFIER_CORE_CYCLES_BRANCHES_CONDITIONAL,
	    [PIPE_NOT_TAKEN] = QUALIFIER_CORE_CYCLES_BRANCHES_NOT_TAKEN,
	};
	struct core_cycles *cycles = &machine->cores[number].cycles;

	if (!__atomic_load_n(&cycles->known, __ATOMIC_RELAXED))
		return;
	for (unsigned kind = 0; kind < MACHINE_PIPE_KINDS; kind++)
		tell(machine, number,
		     (struct accumulator_sum){
			 .id = pipe_signal(kind),
			 .qualifiers = kind < PIPE_FLOATS
					   ? says[kind]
					   : pipe_float_sets[kind - PIPE_FLOATS].qualifier},
		     cycles->counts[kind], cycles->rises[kind], MACHINE_PIPE_MOST, 1,
		     cycles->reported[kind]);
}

/* Ticks in which there is any. */
static uint64_t any(const struct levels *level)
{
	uint64_t sum = 0;

	for (unsigned i = 1; i <= LEVELS_MAX; i++)
		sum += level->ticks[i];
	return sum;
}

static void tell_waits(const struct machine *machine, unsigned number)
{
	static const uint32_t says[WAIT_LOAD] = {
	    [WAIT_DATA] = SAYS(DATA),
	    [WAIT_OWN] = SAYS(OWN),
	    [WAIT_CODE] = SAYS(CODE),
	    [WAIT_ALL_DATA] = SAYS(ALL_DATA),
	    [WAIT_LINE] = SAYS(L1D),
	    [WAIT_WALK + TLB_LOAD] = SAYS(WALK_LOAD),
	    [WAIT_WALK + TLB_STORE] = SAYS(WALK_STORE),
	    [WAIT_WALK + TLB_FETCH] = SAYS(WALK_FETCH),
	};
	struct core_waits *waits = &machine->cores[number].waits;
	const uint64_t cycle = machine->core_ticks;

	if (!__atomic_load_n(&waits->known, __ATOMIC_RELAXED))
		return;
	waits_catch_up(machine, number);
	for (unsigned i = 0; i < WAIT_LOAD; i++)
		tell(machine, number,
		     (struct accumulator_sum){.id = SIGNAL_CORE_CYCLES_WAITING,
					      .qualifiers = says[i]},
		     waits->levels[i].ticks, waits->levels[i].rises, LEVELS_MAX, cycle,
		     waits->reported[i]);

	const struct accumulator_sum loads[] = {
	    {.id = SIGNAL_CORE_LOAD_PENDING,
	     .amount = any(&waits->levels[WAIT_LOAD]) / cycle,
	     .qualifiers = QUALIFIER_CORE_LOAD_PENDING_L1_MISS},
	    {.id = SIGNAL_CORE_LOAD_PENDING,
	     .amount = any(&waits->levels[WAIT_LOAD_FAR]) / cycle,
	     .qualifiers = QUALIFIER_CORE_LOAD_PENDING_L2_MISS},
	    {.id = SIGNAL_CORE_LOAD_WAITING, .amount = any(&waits->levels[WAIT_LOAD_ANY]) / cycle},
	};
	accumulators_tell(machine, number, loads, waits->reported_loads, 3);
}

void accumulators_tell_cycles(const struct machine *machine, unsigned number)
{
	tell_issue(machine, number);
	tell_waits(machine, number);
}
