#include "pmon/count.h"

#include "pmon/overflow.h"
#include "pmon/select.h"
#include "pmon/taps.h"

static struct pmon_changes *changes_of(const struct pmon *pmon, const struct pmon_unit *unit,
				       unsigned index)
{
	return pmon->changes + pmon_counter_number(pmon, unit, index);
}

/* What arrives at the threshold comparison in a cycle. */
static uint64_t increment(const struct pmon_counter *counter)
{
	const struct pmon_subscription *subscription = &counter->subscription;
	uint64_t level = counter->level > 0 ? (uint64_t)counter->level : 0;

	if (subscription->measure == PMU_MEASURE_CLOCK)
		return 1;
	if (subscription->default_qualifier && counter->open <= 0)
		level++;
	return subscription->measure == PMU_MEASURE_NONEMPTY ? level > 0 : level;
}

static bool passes(const struct pmon_counter *counter, uint64_t increment)
{
	return (increment >= counter->thresh) != counter->invert;
}

void pmon_compare(struct pmon_counter *counter)
{
	counter->high = counter->thresh && passes(counter, increment(counter));
}

void pmon_add(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t rate,
	      uint64_t cycles, uint64_t from)
{
	struct pmon_counter *counter = &unit->counters[index];

	while (rate && cycles) {
		uint64_t stop = pmon_stop(pmon, unit); /* an overflow may bring it nearer */
		uint64_t sum, used;

		if (from >= stop)
			return;
		if (cycles > stop - from)
			cycles = stop - from;
		if (!__builtin_mul_overflow(rate, cycles, &sum) &&
		    sum < counter->limit - counter->value) {
			counter->value += sum;
			return;
		}
		/* Carry out of the top bit, in the cycle in which it happens; counting goes on. */
		used = (counter->limit - counter->value + rate - 1) / rate;
		counter->value = (counter->value + rate * used) & (counter->limit - 1);
		pmon_overflow(pmon, unit, index, from + used - 1);
		from += used;
		cycles -= used;
	}
}

/* The cycles from counter->now up to @until, which are all alike. */
static void count_cycles(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t until)
{
	struct pmon_counter *counter = &unit->counters[index];
	uint64_t from = counter->now, rate = increment(counter);

	counter->now = until;
	if (counter->thresh) {
		bool high = passes(counter, rate), rises = high && !counter->high;

		counter->high = high;
		if (counter->edge)
			until = from + 1;
		rate = counter->edge ? rises : high;
	}
	pmon_add(pmon, unit, index, rate, until - from, from);
}

static void settle(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		   struct pmon_changes *changes, uint64_t until)
{
	struct pmon_counter *counter = &unit->counters[index];

	if (counter->summed && counter->now < until)
		counter->now = until;
	while (counter->now < until) {
		uint64_t next = pmon_changes_next(changes, counter->now);
		struct pmon_change change;

		if (next >= until) {
			count_cycles(pmon, unit, index, until);
			return;
		}
		if (next > counter->now)
			count_cycles(pmon, unit, index, next);
		change = pmon_changes_take(changes, next);
		counter->level += change.level;
		counter->open += change.open;
	}
}

void pmon_settle(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t until)
{
	settle(pmon, unit, index, changes_of(pmon, unit, index), until);
}

/*
 * Prepares for changes from @time on: what lies behind the window becomes final, and two changes
 * find room; where there is none, the window moves on to the earliest of the far ones.
 */
static void move_window(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
			struct pmon_changes *changes, uint64_t time)
{
	if (time > unit->counters[index].now + PMON_WINDOW)
		settle(pmon, unit, index, changes, time - PMON_WINDOW);
	while (!pmon_changes_have_room(changes))
		settle(pmon, unit, index, changes, changes->far[0].time + 1);
}

/* As long as it is only added up: then all of it is the signal's. */
static void tell_span(const struct pmon *pmon, const struct pmon_unit *unit,
		      const struct pmon_counter *counter, const struct signal *signal)
{
	if (pmon_is_sum(counter) && signal->time < pmon_stop(pmon, unit))
		pmon_tell(pmon, counter,
			  signal_table[signal->id].kind == SIGNAL_PULSE ? 1 : signal->duration);
}

void pmon_receive(struct pmon *pmon, struct pmon_unit *unit, unsigned index,
		  const struct signal *signal)
{
	struct pmon_counter *counter = &unit->counters[index];
	const struct pmon_subscription *subscription = &counter->subscription;
	struct pmon_changes *changes = changes_of(pmon, unit, index);
	int32_t level = pmon_matches(subscription, signal);
	/* Beginnings are counted as what is there for one cycle. */
	bool beginnings = subscription->measure == PMU_MEASURE_COUNT ||
			  signal_table[signal->id].kind == SIGNAL_PULSE;
	uint64_t begin = signal->time, cycles = beginnings ? 1 : signal->duration;

	if (cycles == 0 || (!level && !subscription->default_qualifier))
		return;
	if (level && counter->column)
		tell_span(pmon, unit, counter, signal);
	if (counter->summed) {
		pmon_add_span(pmon, unit, index, signal);
		return;
	}
	move_window(pmon, unit, index, changes, begin);
	if (begin < counter->now) {
		/*
		 * Emitted too late: taken as beginning now. Where entries are only added up, what
		 * has passed is added at once instead, so that it ends when it really does.
		 */
		if (level && !counter->thresh && subscription->measure == PMU_MEASURE_OCCUPANCY) {
			uint64_t passed = counter->now - begin;

			if (passed > cycles)
				passed = cycles;
			pmon_add(pmon, unit, index, passed, 1, counter->now);
			cycles -= passed;
		}
		begin = counter->now;
	}
	if (cycles == 0)
		return;
	pmon_changes_add(changes, counter->now, begin, (struct pmon_change){level, 1});
	pmon_changes_add(changes, counter->now, begin + cycles, (struct pmon_change){-level, -1});
}

void pmon_receive_level(struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t time,
			int32_t level_change, int32_t open_change)
{
	struct pmon_changes *changes = changes_of(pmon, unit, index);
	const struct pmon_counter *counter = &unit->counters[index];

	move_window(pmon, unit, index, changes, time);
	if (time < counter->now)
		time = counter->now;
	pmon_changes_add(changes, counter->now, time,
			 (struct pmon_change){level_change, open_change});
}

void pmon_restart(const struct pmon *pmon, struct pmon_unit *unit, unsigned index, uint64_t now,
		  struct pmon_change held)
{
	struct pmon_counter *counter = &unit->counters[index];

	pmon_changes_clear(changes_of(pmon, unit, index));
	counter->now = now;
	counter->level = held.level;
	counter->open = held.open;
}
