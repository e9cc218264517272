/*
 * Plans are made by following the values of a block through its instructions. What values of the
 * block's begin pass on is followed for each of them; so a plan holds for whatever ran before.
 */
#include "machine/plan.h"

#include <assert.h>
#include <string.h>

#include "machine/predict.h"
#include "machine/spread.h"
#include "machine/state.h"

#define BEGIN	    PLAN_VALUES /* source: the block's begin */
#define SOURCES	    (PLAN_VALUES + 1)
#define OTHER_FLAGS PLAN_VALUES /* value: flags without the carry */
#define VALUES	    (PLAN_VALUES + 1)
#define NEVER	    (-0x40000000) /* anything is later */
#define STORES_MAX  32		  /* that later loads are compared with */
#define ROUNDS	    12		  /* of a loop, after whose first half its time is steady */

/* When a value is there: cycles after each of its sources. */
struct arrival {
	int32_t after[SOURCES];
};

/* An address of the block: its registers as they were at the begin, or after so many writes. */
struct place {
	struct machine_op_address operand;
	uint16_t base_version, index_version;
};

struct stored {
	struct place place;
	struct arrival data;
};

struct plan_maker {
	const struct machine_uarch *uarch;
	uint32_t slots, uops;
	uint32_t written;   /* bit: value */
	bool forwards;	    /* loads wait for stores of the same address, */
	uint32_t forwarded; /* and so many did */
	struct arrival values[VALUES];
	uint16_t versions[PLAN_LANES];
	int32_t steps[PLAN_LANES]; /* that a register of this version has been moved */
	struct stored stores[STORES_MAX];
	uint32_t stored;
	uint8_t resolver; /* of the last flags */
	struct spread ports;
};

static struct arrival never(void)
{
	struct arrival arrival;

	for (unsigned i = 0; i < SOURCES; i++)
		arrival.after[i] = NEVER;
	return arrival;
}

static void await(struct arrival *arrival, const struct arrival *other, int latency)
{
	for (unsigned i = 0; i < SOURCES; i++) {
		int32_t later = other->after[i] + latency;

		if (arrival->after[i] < later)
			arrival->after[i] = later;
	}
}

static void await_values(const struct plan_maker *maker, struct arrival *arrival, uint32_t values)
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

static struct place place_of(const struct plan_maker *maker, const struct machine_op *op)
{
	struct place place = {.operand = op->operand};
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
static bool is_same(const struct place *store, const struct place *load)
{
	return load->operand.bytes && store->operand.bytes >= load->operand.bytes &&
	       store->operand.base == load->operand.base &&
	       store->operand.index == load->operand.index &&
	       store->operand.scale == load->operand.scale &&
	       store->operand.displacement == load->operand.displacement &&
	       store->base_version == load->base_version &&
	       store->index_version == load->index_version;
}

static const struct stored *find_stored(const struct plan_maker *maker, const struct place *place)
{
	const uint32_t kept = maker->stored < STORES_MAX ? maker->stored : STORES_MAX;

	for (uint32_t i = 1; i <= kept; i++) {
		const struct stored *stored = &maker->stores[(maker->stored - i) % STORES_MAX];

		if (is_same(&stored->place, place))
			return stored;
	}
	return NULL;
}

/* @param begin  when the instruction is taken in */
static struct arrival load(struct plan_maker *maker, const struct machine_op *op,
			   const struct arrival *begin)
{
	const struct place place = place_of(maker, op);
	const struct stored *stored = maker->forwards ? find_stored(maker, &place) : NULL;
	struct arrival loaded = never(), address = *begin;

	await_values(maker, &address, op->address);
	await(&loaded, &address, load_latency(maker, op));
	if (!stored)
		return loaded;
	maker->forwarded++;
	await(&loaded, &stored->data, (int)maker->uarch->forward);
	return loaded;
}

static void store(struct plan_maker *maker, const struct machine_op *op, const struct arrival *data)
{
	maker->stores[maker->stored++ % STORES_MAX] =
	    (struct stored){.place = place_of(maker, op), .data = *data};
}

static void write(struct plan_maker *maker, uint32_t values, const struct arrival *arrival)
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
			const struct arrival *result)
{
	uint32_t registers = op->writes & ~(1u << PLAN_FLAGS);

	if (op->writes_flags)
		write(maker, 1u << PLAN_FLAGS, result);
	if (!op->writes_others)
		return;
	maker->values[OTHER_FLAGS] = *result;
	maker->resolver = op->writes_flags ? PLAN_FLAGS
			  : registers	   ? (uint8_t)__builtin_ctz(registers)
					   : PLAN_AT_ONCE;
}

static struct arrival result_of(struct plan_maker *maker, const struct machine_op *op,
				const struct arrival *begin)
{
	struct arrival ready = *begin, result = never();

	await_values(maker, &ready, op->reads);
	if (op->reads_flags)
		await(&ready, &maker->values[PLAN_FLAGS], 0);
	if (op->reads_others)
		await(&ready, &maker->values[OTHER_FLAGS], 0);
	if (op->loads) {
		struct arrival loaded = load(maker, op, begin);

		await(&ready, &loaded, 0);
	}
	await(&result, &ready, op->pure ? 0 : maker->uarch->timings[op->timing].latency);
	return result;
}

/* @param fused  with the jump that follows, which has its port and its slot */
static void book(struct plan_maker *maker, const struct machine_op *op, bool fused)
{
	const struct machine_timing *timing = &maker->uarch->timings[op->timing];
	const bool indexed = op->operand.index != PLAN_ADDRESS_NONE;
	uint32_t uops = op->pure || fused ? 0 : timing->uops, slots = uops;

	if (uops)
		spread_add_uses(&maker->ports, timing->uses);
	if (!op->pure && timing->busy)
		spread_keep(&maker->ports, UARCH_DIVIDER, timing->busy);
	for (unsigned i = 0; i < op->loads; i++)
		spread_add_uses(&maker->ports, maker->uarch->use_load);
	for (unsigned i = 0; i < op->stores; i++)
		spread_add_uses(&maker->ports, indexed ? maker->uarch->use_store_indexed
						       : maker->uarch->use_store);
	/* A load fuses with what uses it, and the two halves of a store are one. */
	slots += op->stores + (!slots && !fused ? op->loads : 0);
	if (!slots && !fused)
		slots = 1;
	maker->uops += uops + op->loads + 2u * op->stores;
	maker->slots += slots;
}

static void follow(struct plan_maker *maker, const struct machine_op *op, bool fused)
{
	struct arrival begin = never(), result;

	begin.after[BEGIN] = (int32_t)(maker->slots / maker->uarch->issue_width);
	book(maker, op, fused);
	result = result_of(maker, op, &begin);
	if (op->stores)
		store(maker, op, &result);
	write(maker, op->writes, &result);
	write_flags(maker, op, &result);
	move_registers(maker, op);
}

static bool is_fused(const struct plan_maker *maker, const struct machine_op *const *ops, size_t i,
		     size_t count)
{
	return ops[i]->fuses && ops[i]->fuses <= maker->uarch->fusion && i + 1 < count &&
	       ops[i + 1]->branch == MACHINE_BRANCH_CONDITIONAL && !ops[i]->stores;
}

static void follow_all(struct plan_maker *maker, const struct machine_op *const *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		follow(maker, ops[i], is_fused(maker, ops, i, count));
}

static void begin(struct plan_maker *maker, const struct machine_uarch *uarch)
{
	memset(maker, 0, sizeof(*maker));
	maker->uarch = uarch;
	maker->forwards = true;
	maker->resolver = PLAN_FLAGS;
	for (unsigned i = 0; i < VALUES; i++) {
		maker->values[i] = never();
		maker->values[i].after[i == OTHER_FLAGS ? PLAN_FLAGS : i] = 0;
	}
}

/* The latest arrival after the block's begin, if all values are there then. */
static int latest(const struct plan_maker *maker)
{
	int latest = 0;

	for (unsigned i = 0; i < PLAN_VALUES; i++)
		for (unsigned source = 0; source < SOURCES; source++)
			if ((maker->written & 1u << i) && maker->values[i].after[source] > latest)
				latest = maker->values[i].after[source];
	return latest;
}

/* Cycles that a loop of the block takes for each of its later rounds. */
static uint32_t loop_cycles(const struct machine_uarch *uarch, const struct machine_op *const *ops,
			    size_t count, bool forwards)
{
	struct plan_maker maker;
	int half = 0;

	begin(&maker, uarch);
	maker.forwards = forwards;
	for (unsigned i = 0; i < ROUNDS; i++) {
		/* Taken in all at once: only what rounds pass on counts. */
		maker.slots = 0;
		follow_all(&maker, ops, count);
		if (i == ROUNDS / 2 - 1)
			half = latest(&maker);
	}
	return (uint32_t)((latest(&maker) - half) * UARCH_CYCLE / (ROUNDS - ROUNDS / 2));
}

static bool follows_itself(const struct machine_block *block, const struct machine_op *last)
{
	return last->branch == MACHINE_BRANCH_CONDITIONAL && last->target == -(int32_t)block->bytes;
}

/* Whether a round of the loop loads what the one before has stored. */
static bool passes_on(const struct machine_uarch *uarch, const struct machine_op *const *ops,
		      size_t count)
{
	struct plan_maker maker;
	uint32_t first;

	begin(&maker, uarch);
	follow_all(&maker, ops, count);
	first = maker.forwarded;
	if (maker.stored)
		follow_all(&maker, ops, count);
	return maker.forwarded > 2 * first;
}

/*
 * What a loop's rounds take beyond their slots because of what they pass on in memory, and as one
 * jump a cycle is taken. What they pass on in registers is seen when they run.
 */
static uint32_t carried_units(const struct machine_uarch *uarch,
			      const struct machine_op *const *ops, size_t count, uint32_t units)
{
	uint32_t all, least = UARCH_CYCLE;

	if (passes_on(uarch, ops, count)) {
		all = loop_cycles(uarch, ops, count, true);
		if (all > least && all > loop_cycles(uarch, ops, count, false))
			least = all;
	}
	return least > units ? least - units : 0;
}

static uint8_t biased(int after, int passed)
{
	int lag = after - passed + PLAN_BIAS;

	return lag < 0 ? 0 : lag > UINT8_MAX ? UINT8_MAX : (uint8_t)lag;
}

/* @return whether anything of the source reaches a value of the half */
static bool fill_row(const struct plan_maker *maker, uint8_t *row, unsigned source, unsigned half,
		     int passed)
{
	bool any = false;

	for (unsigned lane = 0; lane < PLAN_LANES; lane++) {
		unsigned value = half * PLAN_LANES + lane;
		bool written = maker->written & 1u << value;

		row[lane] = written ? biased(maker->values[value].after[source], passed) : 0;
		any |= row[lane] != 0;
	}
	return any;
}

/* What the block writes is there after its begin, by so little that it does not matter or more. */
static void fill_least(const struct plan_maker *maker, uint8_t *row, unsigned half, int passed)
{
	fill_row(maker, row, BEGIN, half, passed);
	for (unsigned lane = 0; lane < PLAN_LANES; lane++)
		if (maker->written & 1u << (half * PLAN_LANES + lane) && !row[lane])
			row[lane] = 1;
}

/* @return bytes of the row, 0: nothing of the source reaches any value */
static size_t add_row(const struct plan_maker *maker, uint8_t *row, unsigned source,
		      unsigned halves, int passed)
{
	bool any = false;

	for (unsigned half = 0; half < halves; half++)
		any |= fill_row(maker, row + (size_t)half * PLAN_LANES, source, half, passed);
	return any ? (size_t)halves * PLAN_LANES : 0;
}

/* @param passed  cycles that pass while the block is taken in. @return bytes */
static size_t fill_rows(const struct plan_maker *maker, struct machine_plan *plan, int passed)
{
	const unsigned halves = plan->vectors ? 2 : 1;
	uint8_t *row = plan->rows, from[PLAN_VALUES];

	plan->kept = biased(0, passed);
	for (unsigned half = 0; half < halves; half++, row += PLAN_LANES)
		fill_least(maker, row, half, passed);
	for (unsigned source = 0; source < PLAN_VALUES; source++) {
		const size_t bytes = add_row(maker, row, source, halves, passed);

		if (bytes)
			from[plan->row_count++] = (uint8_t)source;
		row += bytes;
	}
	if (plan->row_count <= PLAN_FROM_MOST) {
		memcpy(plan->from, from, plan->row_count);
	} else {
		memcpy(row, from, plan->row_count);
		row += plan->row_count;
	}
	return (size_t)(row - (uint8_t *)plan);
}

static bool has_vectors(const struct plan_maker *maker)
{
	const uint32_t vectors = UINT32_MAX << PLAN_VECTORS;
	bool any = maker->written & vectors;

	for (uint32_t written = maker->written; written; written &= written - 1)
		for (unsigned source = PLAN_VECTORS; source < PLAN_VALUES; source++)
			any |= maker->values[__builtin_ctz(written)].after[source] > NEVER / 2;
	return any;
}

static void fill_ports(struct plan_maker *maker, struct machine_plan *plan, uint32_t passed)
{
	spread_settle(&maker->ports);
	for (unsigned port = 0; port < UARCH_PORTS; port++) {
		const int64_t booked = (int64_t)maker->ports.units[port] - passed;

		plan->booked[port] = (int16_t)(booked > INT16_MAX   ? INT16_MAX
					       : booked < INT16_MIN ? INT16_MIN
								    : booked);
	}
}

/*
 * Cycles for which the block stops taking in, whatever ran before: its own chains and ports are so
 * far behind at its end.
 */
static uint32_t own_wait(struct plan_maker *maker, const struct machine *machine, uint32_t cycles)
{
	const uint32_t lag = (uint32_t)latest(maker), lag_most = machine_plan_lag_most(machine);
	const uint32_t port_most = machine_plan_port_most(machine);
	uint32_t wait = lag > cycles + lag_most ? lag - cycles - lag_most : 0, port;

	spread_settle(&maker->ports);
	port = spread_most(&maker->ports) / UARCH_CYCLE;
	if (port > cycles + port_most && port - cycles - port_most > wait)
		wait = port - cycles - port_most;
	return wait;
}

static struct machine_block_end end_of(const struct plan_maker *maker,
				       const struct machine_block *block,
				       const struct machine_op *const *ops, size_t count)
{
	const struct machine_op *last = ops[count - 1];
	struct machine_block_end end = {
	    .hash = predict_hash(block->address + block->bytes),
	    .deciders = machine_plan_deciders(ops, count, NULL),
	    .branch = last->branch,
	    .resolver = PLAN_AT_ONCE,
	};

	if (last->branch == MACHINE_BRANCH_CONDITIONAL)
		end.resolver = maker->resolver;
	else if (last->loads)
		end.resolver = PLAN_LOADED;
	else if (last->reads & ((1u << PLAN_LANES) - 1))
		end.resolver = (uint8_t)__builtin_ctz(last->reads);
	return end;
}

/* What a branch waits for, found backwards: values and flags. */
struct slice_of_branch {
	uint32_t values;
	bool flags, others;
};

static bool is_needed(const struct slice_of_branch *needed, const struct machine_op *op)
{
	return op->writes & needed->values || (op->writes_flags && needed->flags) ||
	       (op->writes_others && needed->others);
}

static void need(struct slice_of_branch *needed, const struct machine_op *op)
{
	needed->values &= ~op->writes;
	needed->flags = (needed->flags && !op->writes_flags) || op->reads_flags;
	needed->others = (needed->others && !op->writes_others) || op->reads_others;
	needed->values |= op->reads | (op->loads ? op->address : 0);
}

uint16_t machine_plan_deciders(const struct machine_op *const *ops, size_t count, bool *decides)
{
	const struct machine_op *last = ops[count - 1];
	struct slice_of_branch needed = {0};

	for (size_t i = 0; decides && i < count; i++)
		decides[i] = false;
	if (last->branch == MACHINE_BRANCH_NONE || last->branch == MACHINE_BRANCH_SYSTEM)
		return 0;
	need(&needed, last);
	if (decides)
		decides[count - 1] = last->loads;
	for (size_t i = count - 1; i-- > 0;) {
		if (!is_needed(&needed, ops[i]))
			continue;
		need(&needed, ops[i]);
		if (decides)
			decides[i] = ops[i]->loads;
	}
	return (uint16_t)(needed.values & ~(1u << PLAN_FLAGS));
}

size_t machine_plan_make(struct machine_plan *plan, const struct machine *machine,
			 const struct machine_block *block, const struct machine_op *const *ops,
			 size_t count)
{
	const struct machine_op *last = ops[count - 1];
	const struct machine_uarch *uarch = machine->uarch;
	struct plan_maker maker;
	uint32_t units, wait;

	assert(count > 0 && count <= PLAN_OPS_MAX);
	begin(&maker, uarch);
	follow_all(&maker, ops, count);
	memset(plan, 0, sizeof(*plan));
	plan->address = block->address;
	plan->bytes = (uint16_t)block->bytes;
	plan->instructions = (uint16_t)block->instructions;
	plan->branches = (uint8_t)block->branches;
	units = maker.slots * UARCH_CYCLE / uarch->issue_width;
	wait = own_wait(&maker, machine, units / UARCH_CYCLE);
	plan->rest = (uint8_t)(units % UARCH_CYCLE);
	units += wait * UARCH_CYCLE;
	plan->units = units;
	plan->slots = (uint16_t)maker.slots;
	plan->uops = (uint16_t)maker.uops;
	plan->ticks = (uint32_t)(units * machine->core_ticks / UARCH_CYCLE);
	if (follows_itself(block, last))
		plan->carried = (uint32_t)(carried_units(uarch, ops, count, units) *
					   machine->core_ticks / UARCH_CYCLE);
	plan->vectors = has_vectors(&maker);
	plan->end = end_of(&maker, block, ops, count);
	fill_ports(&maker, plan, units);
	return fill_rows(&maker, plan, (int)(units / UARCH_CYCLE));
}

bool machine_plans(const struct machine *machine)
{
	return machine->uarch;
}

/* What waits in the reorder buffer was taken in that long ago. */
uint32_t machine_plan_lag_most(const struct machine *machine)
{
	return machine->uarch->reorder_buffer / machine->uarch->issue_width;
}

/* Half of the scheduler waits for the port that is asked for most. */
uint32_t machine_plan_port_most(const struct machine *machine)
{
	return machine->uarch->scheduler / 2;
}
