/* Counters of cycles in which so many are there at once: the levels that they take, together. */
#include "catalog/signal.h"
#include "pmon/ia64/uncore_state.h"

static bool is_one(const struct uncore_counter *c)
{
	return c->on && c->event->measure == PMU_MEASURE_WATERMARK;
}

static uint64_t sum_of(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index)
{
	const struct uncore_counter *c = uncore_counter(u, at, index);
	uint64_t sum = 0;

	for (unsigned message = 0; message < UNCORE_MESSAGES; message++) {
		const struct detail_event one = {.id = c->event->signal,
						 .message = (uint8_t)message};

		if (uncore_takes(u, at, index, c->event, c->umask, &one))
			sum += u->levels[at->socket][at->instance][message];
	}
	return sum;
}

void uncore_watermark(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index)
{
	const struct pmu_register *reg = uncore_box(u, at)->watermark;
	struct uncore_counter *c = uncore_counter(u, at, index);
	uint64_t sum, mark;

	if (!is_one(c))
		return;
	sum = sum_of(u, at, index);
	mark = uncore_role(u, at, reg, PMU_FIELD_WATERMARK);
	c->holds = uncore_bits(u, at, reg, PMU_FIELD_WATERMARK_OR_MORE) ? sum >= mark : sum <= mark;
}

void uncore_watermark_catch_up(struct uncore_counter *c, uint64_t now)
{
	if (!is_one(c) || now <= c->since)
		return;
	c->value += c->holds ? now - c->since : 0;
	c->since = now;
}

void uncore_level(struct pmon_uncore *u, const struct uncore_unit *at,
		  const struct detail_event *what)
{
	for (unsigned i = 0; i < counters_at(u, at); i++)
		uncore_watermark_catch_up(uncore_counter(u, at, i), what->time);
	u->levels[at->socket][at->instance][what->message] = (uint16_t)what->amount;
	for (unsigned i = 0; i < counters_at(u, at); i++)
		uncore_watermark(u, at, i);
}
