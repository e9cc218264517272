#include "base/error.h"
#include "catalog/entries.h"
#include "pmulab/event.h"

/* Several encodings on their way to one. */
struct merge {
	struct pmu_ctx *ctx;
	const struct pmu_placed *events;
	struct pmu_write *writes;
	size_t count, size;
	size_t controls; /* where they begin */
};

static bool is_control(const struct pmu_write *write)
{
	return write->reg->role == PMU_ROLE_COUNTER_CTL || write->reg->role == PMU_ROLE_FIXED_CTL;
}

static bool same_place(const struct pmu_write *a, const struct pmu_write *b)
{
	return a->space == b->space && a->address == b->address;
}

/* What users call some bits of a register: the modifier's name, or else the field's. */
static const char *bits_name(const struct pmu_box *box, const struct pmu_register *reg,
			     uint64_t bits)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (modifier->reg == reg && pmu_mask(modifier->hi, modifier->lo) & bits)
			return modifier->name;
	}
	for (size_t i = 0; i < reg->field_count; i++)
		if (pmu_mask(reg->fields[i].hi, reg->fields[i].lo) & bits)
			return reg->fields[i].name;
	return reg->name;
}

/* Bits of which both need different values. */
static uint64_t difference(const struct pmu_write *a, const struct pmu_write *b)
{
	return same_place(a, b) ? (a->value ^ b->value) & a->mask & b->mask : 0;
}

/* The event before @event that needs what @write cannot have. */
static const struct pmu_selection *opponent(const struct merge *merge, size_t event,
					    const struct pmu_write *write)
{
	for (size_t i = 0; i < event; i++) {
		const struct pmu_placed *placed = &merge->events[i];
		struct pmu_write writes[PMU_EVENT_WRITES];
		int count = pmu_event_encode(merge->ctx, placed->selection, placed->instance,
					     placed->counter, writes);

		for (int w = 0; w < count; w++)
			if (difference(&writes[w], write))
				return placed->selection;
	}
	return merge->events[event].selection;
}

static int refuse(const struct merge *merge, size_t event, const struct pmu_write *write,
		  uint64_t bits)
{
	const struct pmu_selection *selection = merge->events[event].selection;
	char name[PMU_EVENT_TEXT_MAX], other[PMU_EVENT_TEXT_MAX];

	pmu_event_print(opponent(merge, event, write), other, sizeof(other));
	pmu_event_print(selection, name, sizeof(name));
	if (is_control(write) && selection->event)
		return error_set(merge->ctx, PMU_E_CONFLICT,
				 "%s and %s cannot both be on counter %u of %s", other, name,
				 merge->events[event].counter, selection->box->name);
	return error_set(merge->ctx, PMU_E_CONFLICT,
			 "%s and %s need different values of %s, of which %s has one for all its "
			 "counters (%s)",
			 other, name, bits_name(selection->box, write->reg, bits),
			 selection->box->name, write->reg->name);
}

/* Adds a write of @event at @at, behind which the others move. */
static int insert(struct merge *merge, size_t at, const struct pmu_write *write)
{
	if (merge->count == merge->size)
		return error_set(merge->ctx, PMU_E_RANGE, "more than %zu register writes",
				 merge->size);
	for (size_t i = merge->count++; i > at; i--)
		merge->writes[i] = merge->writes[i - 1];
	merge->writes[at] = *write;
	merge->controls += !is_control(write);
	return 0;
}

/* Where a filter's write belongs: in the catalog's order, instance by instance. */
static size_t filter_place(const struct merge *merge, const struct pmu_write *write)
{
	size_t at = 0;

	while (at < merge->controls &&
	       (merge->writes[at].reg < write->reg || (merge->writes[at].reg == write->reg &&
						       merge->writes[at].address < write->address)))
		at++;
	return at;
}

/*
 * Adds one write of an event to those of the events before it, which are @before controls: a
 * control that is written twice is so by one event.
 */
static int add(struct merge *merge, size_t event, const struct pmu_write *write, size_t before)
{
	size_t from = is_control(write) ? merge->controls : 0;
	size_t to = is_control(write) ? merge->controls + before : merge->controls;

	for (size_t i = from; i < to; i++) {
		struct pmu_write *other = &merge->writes[i];
		uint64_t bits = difference(other, write);

		if (!same_place(other, write))
			continue;
		if (bits)
			return refuse(merge, event, write, bits);
		other->value = (other->value & ~write->mask) | (write->value & write->mask);
		other->mask |= write->mask;
		return 0;
	}
	return insert(merge, is_control(write) ? merge->count : filter_place(merge, write), write);
}

int pmu_event_merge(struct pmu_ctx *ctx, const struct pmu_placed *events, size_t count,
		    struct pmu_write *writes, size_t size)
{
	struct merge merge = {.ctx = ctx, .events = events, .writes = writes, .size = size};

	for (size_t i = 0; i < count; i++) {
		struct pmu_write own[PMU_EVENT_WRITES];
		int own_count = pmu_event_encode(ctx, events[i].selection, events[i].instance,
						 events[i].counter, own);
		size_t before = merge.count - merge.controls;
		int error = own_count < 0 ? own_count : 0;

		for (int w = 0; w < own_count && !error; w++)
			error = add(&merge, i, &own[w], before);
		if (error)
			return error;
	}
	return (int)merge.count;
}
