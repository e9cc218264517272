/* What the accumulators say of cycles in which so many are at once. */
#include "machine/accumulator.h"

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

void accumulators_tell_cycles(const struct machine *machine, unsigned number)
{
	static const enum pmu_signal_id ids[MACHINE_PIPE_KINDS] = {
	    [PIPE_ISSUED] = SIGNAL_CORE_CYCLES_ISSUED,
	    [PIPE_EXECUTED] = SIGNAL_CORE_CYCLES_EXECUTED,
	    [PIPE_RETIRED] = SIGNAL_CORE_CYCLES_UOPS_RETIRED,
	    [PIPE_INSTRUCTIONS] = SIGNAL_CORE_CYCLES_RETIRED,
	};
	struct core_cycles *cycles = &machine->cores[number].cycles;

	if (!__atomic_load_n(&cycles->known, __ATOMIC_RELAXED))
		return;
	for (unsigned kind = 0; kind < MACHINE_PIPE_KINDS; kind++)
		tell(machine, number, (struct accumulator_sum){.id = ids[kind]},
		     cycles->counts[kind], cycles->rises[kind], MACHINE_PIPE_MOST, 1,
		     cycles->reported[kind]);
}
