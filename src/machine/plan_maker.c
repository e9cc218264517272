#include "machine/plan_maker.h"

#include <string.h>

#include "machine/hart.h"

static struct plan_arrival never(void)
{
	struct plan_arrival arrival;

	for (unsigned i = 0; i < PLAN_SOURCES; i++)
		arrival.after[i] = PLAN_NEVER;
	return arrival;
}

static void await(struct plan_arrival *arrival, const struct plan_arrival *other, int latency)
{
	for (unsigned i = 0; i < PLAN_SOURCES; i++) {
		int32_t later = other->after[i] + latency;

		if (arrival->after[i] < later)
			arrival->after[i] = later;
	}
}

static void await_values(const struct plan_maker *maker, struct plan_arrival *arrival,
			 uint32_t values)
{
	for (; values; values &= values - 1)
		await(arrival, &maker->values[__builtin_ctz(values)], 0);
}

static int load_latency(const struct plan_maker *maker, const struct machine_op *op)
{
	const struct machine_op_address *operand = &op->operand;

	if (op->vector_load)
		return (int)(op->wide_load ? maker->uarch->load_vector_256
					   : maker->uarch->load_vector);
	if (operand->bytes && operand->index == PLAN_ADDRESS_NONE &&
	    operand->base != PLAN_ADDRESS_NONE && operand->displacement >= 0 &&
	    operand->displacement < PLAN_ADDRESS_LITTLE)
		return (int)maker->uarch->load_simple;
	return (int)maker->uarch->load;
}

static struct plan_place place_of(const struct plan_maker *maker, const struct machine_op *op)
{
	struct plan_place place = {.operand = op->operand};
	uint8_t base = op->operand.base, index = op->operand.index;

	if (base < PLAN_LANES) {
		place.base_version = maker->versions[base];
		place.operand.displacement += maker->steps[base];
	}
	if (index < PLAN_LANES) {
		place.index_version = maker->versions[index];
		place.operand.displacement += maker->steps[index] * op->operand.scale;
	}
	return place;
}

/* A load of part of what was stored waits for it too. */
static bool is_same(const struct plan_place *store, const struct plan_place *load)
{
	return load->operand.bytes && store->operand.bytes >= load->operand.bytes &&
	       store->operand.base == load->operand.base &&
	       store->operand.index == load->operand.index &&
	       store->operand.scale == load->operand.scale &&
	       store->operand.displacement == load->operand.displacement &&
	       store->base_version == load->base_version &&
	       store->index_version == load->index_version;
}

static uint32_t stores_kept(const struct plan_maker *maker)
{
	return maker->stored < PLAN_STORES_MAX ? maker->stored : PLAN_STORES_MAX;
}

static const struct plan_stored *find_stored(const struct plan_maker *maker,
					     const struct plan_place *place)
{
	for (uint32_t i = 1; i <= stores_kept(maker); i++) {
		const struct plan_stored *stored =
		    &maker->stores[(maker->stored - i) % PLAN_STORES_MAX];

		if (is_same(&stored->place, place))
			return stored;
	}
	return NULL;
}

static void note_load(struct plan_maker *maker, int32_t begin, int32_t latency)
{
	if (!maker->load_end)
		maker->load_begin = begin;
	if (maker->load_end < begin + latency)
		maker->load_end = begin + latency;
}

/* @param begin  when the instruction is taken in */
static struct plan_arrival load(struct plan_maker *maker, const struct machine_op *op,
				const struct plan_arrival *begin)
{
	const struct plan_place place = place_of(maker, op);
	const struct plan_stored *stored = maker->forwards ? find_stored(maker, &place) : NULL;
	struct plan_arrival loaded = never(), address = *begin;

	note_load(maker, begin->after[PLAN_FROM_BEGIN], load_latency(maker, op));
	await_values(maker, &address, op->address);
	await(&loaded, &address, load_latency(maker, op));
	if (!stored)
		return loaded;
	maker->forwarded++;
	await(&loaded, &stored->data, (int)maker->uarch->forward);
	return loaded;
}

static void store(struct plan_maker *maker, const struct machine_op *op,
		  const struct plan_arrival *data)
{
	maker->stores[maker->stored++ % PLAN_STORES_MAX] =
	    (struct plan_stored){.place = place_of(maker, op), .data = *data};
}

static void write(struct plan_maker *maker, uint32_t values, const struct plan_arrival *arrival)
{
	maker->written |= values;
	for (; values; values &= values - 1)
		maker->values[__builtin_ctz(values)] = *arrival;
}

static void move_registers(struct plan_maker *maker, const struct machine_op *op)
{
	uint32_t registers = op->writes & ((1u << PLAN_LANES) - 1) & ~(1u << PLAN_FLAGS);

	if (op->stepped >= 0 && op->step == PLAN_STEP_UNKNOWN) {
		registers |= 1u << op->stepped;
	} else if (op->stepped >= 0) {
		maker->steps[op->stepped] += op->step;
		registers &= ~(1u << op->stepped);
	}
	for (; registers; registers &= registers - 1) {
		unsigned number = (unsigned)__builtin_ctz(registers);

		maker->versions[number]++;
		maker->steps[number] = 0;
	}
}

/* Flags have no place of their own outside of the block; a register written with them has. */
static void write_flags(struct plan_maker *maker, const struct machine_op *op,
			const struct plan_arrival *result)
{
	uint32_t registers = op->writes & ~(1u << PLAN_FLAGS);

	if (op->writes_flags)
		write(maker, 1u << PLAN_FLAGS, result);
	if (!op->writes_others)
		return;
	maker->values[PLAN_OTHER_FLAGS] = *result;
	maker->resolver = op->writes_flags ? PLAN_FLAGS
			  : registers	   ? (uint8_t)__builtin_ctz(registers)
					   : PLAN_AT_ONCE;
}

static struct plan_arrival result_of(struct plan_maker *maker, const struct machine_op *op,
				     const struct plan_arrival *begin)
{
	struct plan_arrival ready = *begin, result = never();

	await_values(maker, &ready, op->reads);
	if (op->reads_flags)
		await(&ready, &maker->values[PLAN_FLAGS], 0);
	if (op->reads_others)
		await(&ready, &maker->values[PLAN_OTHER_FLAGS], 0);
	if (op->loads) {
		struct plan_arrival loaded = load(maker, op, begin);

		await(&ready, &loaded, 0);
	}
	await(&result, &ready, op->pure ? 0 : maker->uarch->timings[op->timing].latency);
	return result;
}

/* @param fused  with the jump that follows, which has its port and its slot */
static uint32_t uops_of(const struct machine_uarch *uarch, const struct machine_op *op, bool fused)
{
	return op->pure || fused ? 0 : uarch->timings[op->timing].uops;
}

/* A load fuses with what uses it, and the two halves of a store are one. */
static uint32_t slots_of(const struct machine_op *op, uint32_t uops, bool fused)
{
	const uint32_t slots = uops + op->stores + (!uops && !fused ? op->loads : 0);

	return slots || fused ? slots : 1;
}

/* Units that moving @bytes takes what moves @each a cycle, as many as are asked for if it is 0. */
static uint32_t moving(uint32_t bytes, uint32_t each)
{
	return each ? bytes * UARCH_CYCLE / each : 0;
}

/* Data of more than a port moves in a cycle keep its path longer than the micro-operation does. */
static void book_data(struct plan_maker *maker, const struct machine_op *op)
{
	const struct machine_uarch *uarch = maker->uarch;
	const uint32_t bytes = op->wide_access ? 32 : 16;
	const uint32_t loading = op->loads * moving(bytes, uarch->load_bytes) +
				 op->stores * moving(uarch->address_bytes, uarch->load_bytes);
	const uint32_t store = moving(bytes, uarch->store_bytes);
	const uint32_t storing = store > UARCH_CYCLE ? op->stores * (store - UARCH_CYCLE) : 0;

	spread_keep(&maker->ports, UARCH_LOADING, loading);
	spread_keep(&maker->ports, UARCH_STORING, storing);
	maker->loading += loading;
	maker->storing += storing;
}

static void book(struct plan_maker *maker, const struct machine_op *op, bool fused)
{
	const struct machine_timing *timing = &maker->uarch->timings[op->timing];
	const bool indexed = op->operand.index != PLAN_ADDRESS_NONE;
	const uint32_t uops = uops_of(maker->uarch, op, fused);

	if (uops)
		spread_add_uses(&maker->ports, timing->uses);
	if (!op->pure && timing->busy)
		spread_keep(&maker->ports, UARCH_DIVIDER, timing->busy * UARCH_CYCLE);
	for (unsigned i = 0; i < op->loads; i++)
		spread_add_uses(&maker->ports, maker->uarch->use_load);
	for (unsigned i = 0; i < op->stores; i++)
		spread_add_uses(&maker->ports, indexed ? maker->uarch->use_store_indexed
						       : maker->uarch->use_store);
	book_data(maker, op);
	maker->eliminated += !fused && !uops && !op->loads && !op->stores;
	maker->uops += uops + op->loads + 2u * op->stores;
	maker->slots += slots_of(op, uops, fused);
}

static void follow(struct plan_maker *maker, const struct machine_op *op, bool fused)
{
	struct plan_arrival begin = never(), result;

	begin.after[PLAN_FROM_BEGIN] = (int32_t)(maker->slots / maker->uarch->issue_width);
	book(maker, op, fused);
	result = result_of(maker, op, &begin);
	if (op->stores)
		store(maker, op, &result);
	write(maker, op->writes, &result);
	write_flags(maker, op, &result);
	move_registers(maker, op);
}

static bool is_fused(const struct machine_uarch *uarch, const struct machine_op *const *ops,
		     size_t i, size_t count)
{
	return ops[i]->fuses && ops[i]->fuses <= uarch->fusion && i + 1 < count &&
	       ops[i + 1]->branch == MACHINE_BRANCH_CONDITIONAL && !ops[i]->stores;
}

uint32_t plan_slots(const struct machine_uarch *uarch, const struct machine_op *const *ops,
		    size_t i, size_t count)
{
	const bool fused = is_fused(uarch, ops, i, count);

	return slots_of(ops[i], uops_of(uarch, ops[i], fused), fused);
}

void plan_follow(struct plan_maker *maker, const struct machine_op *const *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		follow(maker, ops[i], is_fused(maker->uarch, ops, i, count));
}

void plan_begin(struct plan_maker *maker, const struct machine_uarch *uarch)
{
	memset(maker, 0, sizeof(*maker));
	maker->uarch = uarch;
	maker->forwards = true;
	maker->resolver = PLAN_FLAGS;
	for (unsigned i = 0; i < PLAN_ARRIVALS; i++) {
		maker->values[i] = never();
		maker->values[i].after[i == PLAN_OTHER_FLAGS ? PLAN_FLAGS : i] = 0;
	}
}

static int later(int latest, const struct plan_arrival *arrival)
{
	for (unsigned source = 0; source < PLAN_SOURCES; source++)
		if (arrival->after[source] > latest)
			latest = arrival->after[source];
	return latest;
}

int plan_latest(const struct plan_maker *maker)
{
	int latest = 0;

	for (unsigned i = 0; i < PLAN_VALUES; i++)
		if (maker->written & 1u << i)
			latest = later(latest, &maker->values[i]);
	for (uint32_t i = 0; i < stores_kept(maker); i++)
		latest = later(latest, &maker->stores[i].data);
	return latest;
}
