/* What the accumulators say of where micro-operations come from. */
#include "machine/accumulator.h"

/* Of all threads that the core ever had. */
struct done {
	uint64_t slots;
	uint64_t fetch,
	    lines; /* ticks that lines of instructions take, with their pages, without */
	struct machine_front_counts front;
};

static struct done add_up(const struct core *core)
{
	const uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	struct done done = {0};

	for (uint32_t i = 0; i < users; i++) {
		const struct machine_progress *progress = &core->progress[i];
		const uint64_t *counts = (const uint64_t *)&progress->front;
		uint64_t *sums = (uint64_t *)&done.front;

		done.lines += __atomic_load_n(&progress->stalls[STALL_FETCH], __ATOMIC_RELAXED);
		done.fetch +=
		    __atomic_load_n(&progress->stalls[STALL_FETCH_PAGE], __ATOMIC_RELAXED);
		for (size_t n = 0; n < sizeof(done.front) / sizeof(*sums); n++)
			sums[n] += __atomic_load_n(&counts[n], __ATOMIC_RELAXED);
		/* A block's are counted at its end. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		done.slots += __atomic_load_n(&progress->slots, __ATOMIC_RELAXED);
	}
	done.fetch += done.lines;
	return done;
}

static uint64_t above(uint64_t sum, uint64_t part)
{
	return sum > part ? sum - part : 0;
}

static uint64_t slots_of(const struct machine_front_rate *rates)
{
	uint64_t slots = 0;

	for (unsigned rate = 0; rate < MACHINE_FRONT_RATES; rate++)
		slots += rates[rate].slots;
	return slots;
}

/* Units with so many at least: of a rate between two numbers some have one, the rest the other. */
static uint64_t units_with(const struct machine_front_rate *rates, unsigned least)
{
	uint64_t units = 0;

	for (unsigned rate = 0; rate < MACHINE_FRONT_RATES; rate++) {
		if (rate >= least)
			units += rates[rate].units;
		else if (rate + 1 == least)
			units += above(rates[rate].slots * UARCH_CYCLE, rate * rates[rate].units);
	}
	return units;
}

static uint64_t kept(const struct done *done)
{
	const struct machine_front_counts *front = &done->front;

	return above(done->slots, slots_of(front->decoding) + front->looped + front->sequenced[0] +
				      front->sequenced[1]);
}

/* Cycles with exactly so many. */
static uint64_t delivered(const struct done *done, unsigned count)
{
	return above(units_with(done->front.late, count), units_with(done->front.late, count + 1)) /
	       UARCH_CYCLE;
}

/* From DSB to decoders. */
static uint64_t switches(const struct machine *machine, const struct machine_front_counts *front)
{
	const uint32_t each = machine->uarch->dsb_switch * UARCH_CYCLE;

	return each ? front->switched / each : 0;
}

/* clang-format off */
void accumulators_tell_front(const struct machine *machine, unsigned number)
{
	const struct done done = add_up(&machine->cores[number]);
	const struct machine_front_counts *front = &done.front;
	const uint64_t width = machine->uarch->issue_width;
	const struct machine_front_rate *decoding = front->decoding;
	const uint64_t prefixes = front->prefixes * machine->uarch->length_prefix;
	const uint64_t cycle = machine->core_ticks, none = done.fetch / cycle + delivered(&done, 0);
	const struct accumulator_sum sums[] = {
	    {SIGNAL_CORE_DELIVERY, none, QUALIFIER_CORE_DELIVERY_NONE},
	    {SIGNAL_CORE_DELIVERY, delivered(&done, 1), QUALIFIER_CORE_DELIVERY_ONE},
	    {SIGNAL_CORE_DELIVERY, delivered(&done, 2), QUALIFIER_CORE_DELIVERY_TWO},
	    {SIGNAL_CORE_DELIVERY, delivered(&done, 3), QUALIFIER_CORE_DELIVERY_THREE},
	    {SIGNAL_CORE_FRONT, slots_of(decoding), QUALIFIER_CORE_FRONT_DECODED},
	    {SIGNAL_CORE_FRONT, kept(&done), QUALIFIER_CORE_FRONT_KEPT},
	    {SIGNAL_CORE_FRONT, front->looped, QUALIFIER_CORE_FRONT_LOOPED},
	    {SIGNAL_CORE_FRONT, front->sequenced[1], QUALIFIER_CORE_FRONT_SEQUENCED_DECODED},
	    {SIGNAL_CORE_FRONT, front->sequenced[0], QUALIFIER_CORE_FRONT_SEQUENCED_KEPT},
	    {SIGNAL_CORE_FRONT_CYCLES, units_with(decoding, 1) / UARCH_CYCLE, QUALIFIER_CORE_FRONT_CYCLES_DECODED},
	    {SIGNAL_CORE_FRONT_CYCLES, units_with(decoding, 4) / UARCH_CYCLE, QUALIFIER_CORE_FRONT_CYCLES_DECODED_FOUR},
	    {SIGNAL_CORE_FRONT_CYCLES, kept(&done) / width, QUALIFIER_CORE_FRONT_CYCLES_KEPT},
	    {SIGNAL_CORE_FRONT_CYCLES, front->looped / width, QUALIFIER_CORE_FRONT_CYCLES_LOOPED},
	    {SIGNAL_CORE_FRONT_CYCLES, front->sequenced[1] / width, QUALIFIER_CORE_FRONT_CYCLES_SEQUENCED_DECODED},
	    {SIGNAL_CORE_FRONT_CYCLES, front->sequenced[0] / width, QUALIFIER_CORE_FRONT_CYCLES_SEQUENCED_KEPT},
	    {SIGNAL_CORE_FRONT_SEQUENCE, front->sequences[1], QUALIFIER_CORE_FRONT_SEQUENCE_DECODED},
	    {SIGNAL_CORE_FRONT_SEQUENCE, front->sequences[0], QUALIFIER_CORE_FRONT_SEQUENCE_KEPT},
	    {SIGNAL_CORE_FRONT_PENALTY, front->switched / UARCH_CYCLE, QUALIFIER_CORE_FRONT_PENALTY_SWITCHED},
	    {SIGNAL_CORE_FRONT_PENALTY, prefixes, QUALIFIER_CORE_FRONT_PENALTY_PREFIXES},
	    {SIGNAL_CORE_FRONT_SWITCH, switches(machine, front), 0},
	    {SIGNAL_CORE_FRONT_EMPTY, none + front->refilled / cycle, 0},
	    {SIGNAL_CORE_FETCH_WAIT, done.lines / cycle, 0},
	};

	static_assert(sizeof(sums) / sizeof(sums[0]) == FRONT_ACCUMULATORS, "each is reported");
	accumulators_tell(machine, number, sums, machine->cores[number].reported_front, FRONT_ACCUMULATORS);
}
/* clang-format on */
