/* Counting, overflow and freeze. */
#include <string.h>

#include "catalog/signal.h"
#include "pmon/ia64/uncore_state.h"

static uint64_t limit_of(const struct uncore_box *b)
{
	return 1ull << b->box->counter_width;
}

/* The bit of a field with one for each counter; else the field itself, of the counter's control. */
static bool counter_bit(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
			enum pmu_field_role role)
{
	const struct uncore_box *b = uncore_box(u, at);
	const struct pmu_register *own = pmu_box_register(b->box, PMU_ROLE_COUNTER_CTL, index);
	const struct pmu_field *wide = b->control ? pmu_field_by_role(b->control, role, 0) : NULL;

	if (own && pmu_field_by_role(own, role, 0))
		return uncore_bits(u, at, own, role);
	return wide && wide->hi > wide->lo &&
	       uncore_field(u, at, b->control, wide->hi, wide->lo) >> index & 1;
}

/* Instances that share a counter: the one that its control names. */
static unsigned instance_of(const struct pmon_uncore *u, const struct uncore_unit *at,
			    unsigned index)
{
	const struct uncore_box *b = uncore_box(u, at);
	const struct pmu_register *control = pmu_box_register(b->box, PMU_ROLE_COUNTER_CTL, index);
	uint64_t bits = control ? pmu_field_bits(control, PMU_FIELD_INSTANCE_SELECT, 0) : 0;

	for (unsigned i = 0; bits && i < b->box->instance_count; i++)
		if (b->seat[i] == b->seat[at->instance] &&
		    (*uncore_slot(u, at, control) & bits) == b->box->instances[i].control)
			return i;
	return bits ? UINT8_MAX : at->instance;
}

void uncore_catch_up_counter(struct uncore_counter *c, uint64_t now)
{
	if (c->on && c->event->measure == PMU_MEASURE_CLOCK && now > c->since) {
		c->value += now - c->since;
		c->since = now;
	}
}

/*
 * One that wraps only if a bit says so stops where that is 0; or stops where another is 1, if it
 * does not freeze its box.
 */
static bool stops(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index)
{
	const struct uncore_box *b = uncore_box(u, at);
	const struct pmu_register *own = pmu_box_register(b->box, PMU_ROLE_COUNTER_CTL, index);

	if (own && pmu_field_by_role(own, PMU_FIELD_OVERFLOW_WRAP, 0))
		return !counter_bit(u, at, index, PMU_FIELD_OVERFLOW_WRAP);
	return counter_bit(u, at, index, PMU_FIELD_OVERFLOW_STOP) &&
	       !counter_bit(u, at, index, PMU_FIELD_OVERFLOW_FREEZE);
}

static void configure_counter(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
			      uint64_t now)
{
	struct uncore_counter *c = uncore_counter(u, at, index);
	const struct uncore_box *b = uncore_box(u, at);
	struct uncore_unit of = *at;
	bool held = uncore_bits(u, at, b->control, PMU_FIELD_HOLD_COUNTERS);

	uncore_catch_up_counter(c, now);
	uncore_watermark_catch_up(c, now);
	c->on = false;
	c->instance = (uint8_t)instance_of(u, at, index);
	if (held)
		c->value = c->rest = 0;
	c->stopped &= !held && stops(u, at, index);
	if (c->instance == UINT8_MAX || held || c->stopped || uncore_is_frozen(u, at) ||
	    !counter_bit(u, at, index, PMU_FIELD_ENABLE) ||
	    counter_bit(u, at, index, PMU_FIELD_FREEZE))
		return;
	of.instance = c->instance;
	c->event = uncore_selected(u, &of, index, -1, &c->umask);
	c->on = c->event;
	c->since = now;
	uncore_watermark(u, at, index);
}

/* Of all counters: what they count, and when the next of cycles overflows. */
static void note(struct pmon_uncore *u, const struct uncore_box *b, const struct uncore_counter *c)
{
	uint64_t left = limit_of(b) - c->value;

	if (!c->on)
		return;
	u->enabled[c->event->signal] = 1;
	if (c->event->measure == PMU_MEASURE_CLOCK && c->since + left < u->deadline)
		u->deadline = c->since + left;
}

/* Levels are followed while a counter is chosen for them, counting or not. */
static void note_levels(struct pmon_uncore *u, const struct uncore_unit *at)
{
	bool followed = false;

	for (unsigned i = 0; i < counters_at(u, at); i++) {
		uint8_t umask;
		const struct pmu_event *event = uncore_selected(u, at, i, -1, &umask);

		if (!event || event->measure != PMU_MEASURE_WATERMARK)
			continue;
		u->enabled[event->signal] = 1;
		followed = true;
	}
	if (!followed)
		memset(u->levels[at->socket][at->instance], 0,
		       sizeof(u->levels[at->socket][at->instance]));
}

static bool is_seat(const struct uncore_box *b, unsigned instance)
{
	return b->seat[instance] == instance;
}

static void note_all(struct pmon_uncore *u)
{
	struct uncore_unit at;

	memset(u->enabled, 0, sizeof(u->enabled));
	u->deadline = UINT64_MAX;
	for (at.socket = 0; at.socket < u->sockets; at.socket++)
		for (at.box = 0; at.box < u->pmu->box_count; at.box++) {
			const struct uncore_box *b = &u->boxes[at.box];

			for (at.instance = 0; b->box && at.instance < b->box->instance_count;
			     at.instance++) {
				if (b->watermark)
					note_levels(u, &at);
				for (unsigned i = 0; i < counters_at(u, &at) + b->accumulator_count;
				     i++)
					if (is_seat(b, at.instance))
						note(u, b, uncore_counter(u, &at, i));
			}
		}
	u->enabled[SIGNAL_NONE] = 0;
}

static void configure_accumulator(struct pmon_uncore *u, const struct uncore_unit *at,
				  unsigned index)
{
	const struct uncore_box *b = uncore_box(u, at);
	struct uncore_counter *c = uncore_counter(u, at, b->box->counter_count + index);

	c->event = uncore_selected(u, at, 0, b->accumulators[index].code, &c->umask);
	c->on = c->event && !uncore_bits(u, at, b->control, PMU_FIELD_HOLD_COUNTERS);
}

static void configure_instance(struct pmon_uncore *u, const struct uncore_unit *at, uint64_t now)
{
	const struct uncore_box *b = uncore_box(u, at);

	if (!is_seat(b, at->instance))
		return;
	for (unsigned i = 0; i < b->box->counter_count; i++)
		configure_counter(u, at, i, now);
	for (unsigned a = 0; a < b->accumulator_count; a++)
		configure_accumulator(u, at, a);
}

void uncore_configure(struct pmon_uncore *u, unsigned socket, uint64_t now)
{
	struct uncore_unit at = {.socket = socket};

	for (at.box = 0; at.box < u->pmu->box_count; at.box++) {
		const struct uncore_box *b = &u->boxes[at.box];

		for (at.instance = 0; b->box && at.instance < b->box->instance_count; at.instance++)
			configure_instance(u, &at, now);
	}
	note_all(u);
}

void uncore_freeze_socket(struct pmon_uncore *u, unsigned socket, bool frozen)
{
	memset(u->frozen[socket], frozen, sizeof(u->frozen[socket]));
}

/* Says in the socket's register which box it was. */
void uncore_tell_global(struct pmon_uncore *u, const struct uncore_unit *at, bool freezes)
{
	struct uncore_unit global = {.socket = at->socket};
	const struct uncore_box *b = uncore_box(u, at);
	uint64_t *control;

	if (!u->global)
		return;
	global.box = (unsigned)(u->global - u->boxes);
	control = uncore_slot(u, &global, u->global_control);
	if (*control & pmu_field_bits(u->global_control, PMU_FIELD_OVERFLOW_ENABLE, 0))
		for (unsigned i = 0; i < b->box->instance_count; i++)
			if (b->whole[i] == b->whole[at->instance])
				*control |= b->box->instances[i].overflow;
	if (freezes && *control & pmu_field_bits(u->global_control, PMU_FIELD_FREEZE_ENABLE, 0))
		uncore_freeze_socket(u, at->socket, true);
}

/* The bit that says a counter overflowed: in its own registers, or in the box's. */
uint64_t *uncore_overflow_bit(const struct pmon_uncore *u, const struct uncore_unit *at,
			      unsigned index, uint64_t *bit)
{
	const struct uncore_box *b = uncore_box(u, at);
	const struct pmu_register *own[] = {pmu_box_register(b->box, PMU_ROLE_COUNTER, index),
					    pmu_box_register(b->box, PMU_ROLE_COUNTER_CTL, index)};

	for (unsigned i = 0; i < 2; i++)
		if (own[i] && (*bit = pmu_field_bits(own[i], PMU_FIELD_OVERFLOW, 0)))
			return uncore_slot(u, at, own[i]);
	*bit = pmu_overflow_bit(b->box, b->status, false, index);
	return uncore_slot(u, at, b->status);
}

/* Whether an overflow of the counter freezes its box. */
static bool freezes(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index)
{
	return counter_bit(u, at, index, PMU_FIELD_OVERFLOW_FREEZE) ||
	       counter_bit(u, at, index, PMU_FIELD_FREEZE_ENABLE);
}

static bool interrupts(const struct pmon_uncore *u, const struct uncore_unit *at)
{
	const struct pmu_register *control = uncore_box(u, at)->control;

	return !control || !pmu_field_bits(control, PMU_FIELD_OVERFLOW_ENABLE, 0) ||
	       uncore_bits(u, at, control, PMU_FIELD_OVERFLOW_ENABLE);
}

void uncore_freeze_box(struct pmon_uncore *u, const struct uncore_unit *at)
{
	u->frozen[at->socket][at->box][uncore_box(u, at)->whole[at->instance]] = true;
	u->interrupts[at->socket] += interrupts(u, at);
}

/* A carry out of the top bit. A new freeze needs the overflow bit of the last to be cleared. */
static void overflow(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		     uint64_t now)
{
	struct uncore_counter *c = uncore_counter(u, at, index);
	uint64_t bit, *reg = uncore_overflow_bit(u, at, index, &bit);
	bool fresh = !(*reg & bit), freeze = fresh && freezes(u, at, index);

	c->value &= limit_of(uncore_box(u, at)) - 1;
	if (freeze && c->event && c->event->measure == PMU_MEASURE_WATERMARK)
		c->value = 0; /* it is noticed later */
	*reg |= bit;
	c->stopped = !freeze && stops(u, at, index);
	if (freeze)
		uncore_freeze_box(u, at);
	uncore_tell_global(u, at, freeze);
	uncore_configure(u, at->socket, now);
}

/* Counters of cycles that overflow by a time. @return whether one did */
static bool one_due(struct pmon_uncore *u, uint64_t due)
{
	struct uncore_unit at;

	for (at.socket = 0; at.socket < u->sockets; at.socket++)
		for (at.box = 0; at.box < u->pmu->box_count; at.box++) {
			const struct uncore_box *b = &u->boxes[at.box];

			for (at.instance = 0; b->box && at.instance < b->box->instance_count;
			     at.instance++)
				for (unsigned i = 0; i < counters_at(u, &at); i++) {
					struct uncore_counter *c = uncore_counter(u, &at, i);

					uncore_catch_up_counter(c, due);
					if (is_seat(b, at.instance) && c->value >= limit_of(b)) {
						overflow(u, &at, i, due);
						return true;
					}
				}
		}
	return false;
}

void uncore_catch_up(struct pmon_uncore *u, uint64_t now)
{
	while (u->deadline <= now)
		if (!one_due(u, u->deadline))
			note_all(u);
}

static void settle_watermarks(struct pmon_uncore *u, const struct uncore_unit *at, uint64_t now)
{
	for (unsigned i = 0; i < counters_at(u, at); i++) {
		struct uncore_counter *c = uncore_counter(u, at, i);

		uncore_watermark_catch_up(c, now);
		if (c->value >= limit_of(uncore_box(u, at)))
			overflow(u, at, i, now);
	}
}

void uncore_settle(struct pmon_uncore *u, uint64_t now)
{
	struct uncore_unit at;

	uncore_catch_up(u, now);
	for (at.socket = 0; at.socket < u->sockets; at.socket++)
		for (at.box = 0; at.box < u->pmu->box_count; at.box++) {
			const struct uncore_box *b = &u->boxes[at.box];

			for (at.instance = 0; b->watermark && at.instance < b->box->instance_count;
			     at.instance++)
				settle_watermarks(u, &at, now);
		}
}

static uint64_t amount_of(const struct pmu_event *event, const struct detail_event *what)
{
	return event->measure == PMU_MEASURE_OCCUPANCY ||
		       signal_table[what->id].kind == SIGNAL_ACCUMULATOR
		   ? what->amount
		   : 1;
}

/* The accumulator's own total, which goes on while counters are frozen. */
static void accumulate(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		       const struct detail_event *what)
{
	const struct accumulator *a = &uncore_box(u, at)->accumulators[index - counters_at(u, at)];
	struct uncore_counter *c = uncore_counter(u, at, index);
	uint64_t *reg = uncore_slot(u, at, a->reg), sum;

	c->carry = 0;
	if (!c->on || c->event->signal != what->id ||
	    !uncore_takes(u, at, 0, c->event, c->umask, what))
		return;
	sum = ((*reg & a->mask) >> a->lo) + amount_of(c->event, what);
	c->carry = sum / c->event->per;
	*reg = (*reg & ~a->mask) | (sum % c->event->per << a->lo & a->mask);
}

static const struct uncore_counter *accumulator_of(const struct pmon_uncore *u,
						   const struct uncore_unit *at,
						   const struct pmu_event *event)
{
	const struct uncore_box *b = uncore_box(u, at);

	for (unsigned a = 0; a < b->accumulator_count; a++)
		if (b->accumulators[a].code == event->code)
			return uncore_counter(u, at, b->box->counter_count + a);
	return NULL;
}

static void count(struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		  const struct detail_event *what)
{
	struct uncore_counter *c = uncore_counter(u, at, index);
	const struct uncore_counter *a = accumulator_of(u, at, c->event);

	if (a) {
		c->value += a->carry;
		return;
	}
	c->rest += amount_of(c->event, what);
	c->value += c->rest / c->event->per;
	c->rest %= c->event->per;
}

void pmon_uncore_event(struct pmon_uncore *u, const struct detail_event *what)
{
	const struct pmu_unit_binding *binding = &u->pmu->units[signal_table[what->id].unit];
	struct uncore_unit at = {what->socket, binding->box, what->unit};

	uncore_catch_up(u, what->time);
	if (signal_table[what->id].kind == SIGNAL_LEVEL)
		uncore_level(u, &at, what);
	for (unsigned a = 0; a < uncore_box(u, &at)->accumulator_count; a++)
		accumulate(u, &at, counters_at(u, &at) + a, what);
	for (unsigned i = 0; i < counters_at(u, &at); i++) {
		const struct uncore_counter *c = uncore_counter(u, &at, i);

		if (c->on && c->instance == at.instance && c->event->signal == what->id &&
		    c->event->measure != PMU_MEASURE_WATERMARK &&
		    uncore_takes(u, &at, i, c->event, c->umask, what))
			count(u, &at, i, what);
	}
	/* A freeze holds from the next event on: all have counted this one. */
	for (unsigned i = 0; i < counters_at(u, &at); i++)
		if (uncore_counter(u, &at, i)->value >= limit_of(uncore_box(u, &at)))
			overflow(u, &at, i, what->time);
}
