/*
 * Plans are made by following the values of a block through its instructions. What values of the
 * block's begin pass on is followed for each of them; so a plan holds for whatever ran before.
 */
#include "machine/plan.h"

#include <assert.h>
#include <string.h>

#include "machine/plan_front.h"
#include "machine/plan_maker.h"
#include "machine/predict.h"
#include "machine/state.h"

#define ROUNDS 12 /* of a loop, after whose first half its time is steady */

/* Cycles that a loop of the block takes for each of its later rounds. */
static uint32_t loop_cycles(const struct machine_uarch *uarch, const struct machine_op *const *ops,
			    size_t count, bool forwards)
{
	struct plan_maker maker;
	int half = 0;

	plan_begin(&maker, uarch);
	maker.forwards = forwards;
	for (unsigned i = 0; i < ROUNDS; i++) {
		/* Taken in all at once: only what rounds pass on counts. */
		maker.slots = 0;
		plan_follow(&maker, ops, count);
		if (i == ROUNDS / 2 - 1)
			half = plan_latest(&maker);
	}
	return (uint32_t)((plan_latest(&maker) - half) * UARCH_CYCLE / (ROUNDS - ROUNDS / 2));
}

static bool follows_itself(const struct machine_block *block, const struct machine_op *last)
{
	return (last->branch == MACHINE_BRANCH_CONDITIONAL ||
		last->branch == MACHINE_BRANCH_JUMP) &&
	       last->target == -(int32_t)block->bytes;
}

/* Whether a round of the loop loads what the one before has stored. */
static bool passes_on(const struct machine_uarch *uarch, const struct machine_op *const *ops,
		      size_t count)
{
	struct plan_maker maker;
	uint32_t first;

	plan_begin(&maker, uarch);
	plan_follow(&maker, ops, count);
	first = maker.forwarded;
	if (maker.stored)
		plan_follow(&maker, ops, count);
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
	fill_row(maker, row, PLAN_FROM_BEGIN, half, passed);
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

/* @param passed  cycles that pass while the block is taken in */
static void fill_rows(const struct plan_maker *maker, struct machine_plan *plan, int passed)
{
	const unsigned halves = plan->special & PLAN_BOTH_HALVES ? 2 : 1;
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
		plan->special |= PLAN_MANY_ROWS;
		memcpy(row, from, plan->row_count);
	}
}

/* @return bytes of the plan */
static size_t fill_front(const struct plan_maker *maker, struct machine_plan *plan,
			 const struct machine_op *const *ops, size_t count, bool loops)
{
	const size_t at = machine_plan_front_at(plan);
	struct machine_plan_front *front = (void *)((uint8_t *)plan + at);
	const size_t bytes = plan_front_make(front, maker->uarch, plan->address, ops, count);

	front->eliminated = (uint16_t)maker->eliminated;
	for (size_t i = 0; i < count; i++)
		front->floats[ops[i]->float_kind] += ops[i]->floats;
	front->loading = (uint16_t)maker->loading;
	front->storing = (uint16_t)maker->storing;
	front->load_begin = (uint16_t)(maker->load_begin * UARCH_CYCLE);
	front->load_end = (uint16_t)(maker->load_end * UARCH_CYCLE);
	if (front->sequences)
		plan->special |= PLAN_SEQUENCES;
	else if (loops && plan->slots <= maker->uarch->loop_buffer)
		plan->special |= PLAN_LOOPS;
	return at + bytes;
}

static bool has_vectors(const struct plan_maker *maker)
{
	const uint32_t vectors = UINT32_MAX << PLAN_VECTORS;
	bool any = maker->written & vectors;

	for (uint32_t written = maker->written; written; written &= written - 1)
		for (unsigned source = PLAN_VECTORS; source < PLAN_VALUES; source++)
			any |= maker->values[__builtin_ctz(written)].after[source] > PLAN_NEVER / 2;
	return any;
}

/* The ports are settled. */
static void fill_ports(const struct plan_maker *maker, struct machine_plan *plan, uint32_t passed)
{
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
	const uint32_t lag = (uint32_t)plan_latest(maker),
		       lag_most = machine_plan_lag_most(machine);
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

static bool fences(const struct machine_op *const *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i]->timing == MACHINE_TIMING_FENCE_ALL)
			return true;
	return false;
}

size_t machine_plan_make(struct machine_plan *plan, const struct machine *machine,
			 const struct machine_block *block, const struct machine_op *const *ops,
			 size_t count)
{
	const struct machine_op *last = ops[count - 1];
	const struct machine_uarch *uarch = machine->uarch;
	struct plan_maker maker;
	const bool loops = follows_itself(block, last);
	uint32_t units, wait;

	assert(count > 0 && count <= PLAN_OPS_MAX);
	plan_begin(&maker, uarch);
	plan_follow(&maker, ops, count);
	memset(plan, 0, sizeof(*plan));
	plan->address = block->address;
	plan->bytes = (uint16_t)block->bytes;
	plan->instructions = (uint16_t)block->instructions;
	plan->branches = (uint16_t)block->branches;
	units = maker.slots * UARCH_CYCLE / uarch->issue_width;
	wait = own_wait(&maker, machine, units / UARCH_CYCLE);
	plan->rest = (uint8_t)(units % UARCH_CYCLE);
	units += wait * UARCH_CYCLE;
	plan->units = units;
	plan->slots = (uint16_t)maker.slots;
	plan->uops = (uint16_t)maker.uops;
	plan->ticks = (uint32_t)(units * machine->core_ticks / UARCH_CYCLE);
	if (loops)
		plan->carried = (uint32_t)(carried_units(uarch, ops, count, units) *
					   machine->core_ticks / UARCH_CYCLE);
	plan->special =
	    (uint8_t)((plan->carried ? PLAN_CARRIES : 0) | (fences(ops, count) ? PLAN_FENCES : 0) |
		      (has_vectors(&maker) ? PLAN_BOTH_HALVES : 0));
	plan->end = end_of(&maker, block, ops, count);
	fill_ports(&maker, plan, units);
	fill_rows(&maker, plan, (int)(units / UARCH_CYCLE));
	return fill_front(&maker, plan, ops, count, loops);
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
