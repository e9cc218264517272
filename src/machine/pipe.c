#include "machine/pipe.h"

#include "machine/branches.h"
#include "machine/plan.h"
#include "machine/state.h"
#include "machine/waits.h"

static_assert(MACHINE_PORTS == UARCH_PORTS, "a sum each");

enum pmu_signal_id pipe_signal(unsigned kind)
{
	static const enum pmu_signal_id signals[PIPE_FLOATS] = {
	    [PIPE_ISSUED] = SIGNAL_CORE_CYCLES_ISSUED,
	    [PIPE_EXECUTED] = SIGNAL_CORE_CYCLES_EXECUTED,
	    [PIPE_RETIRED] = SIGNAL_CORE_CYCLES_UOPS_RETIRED,
	    [PIPE_INSTRUCTIONS] = SIGNAL_CORE_CYCLES_RETIRED,
	    [PIPE_LOADS] = SIGNAL_CORE_CYCLES_LOADS,
	    [PIPE_LOADS_L1] = SIGNAL_CORE_CYCLES_LOADS,
	    [PIPE_BRANCHES] = SIGNAL_CORE_CYCLES_BRANCHES,
	    [PIPE_BRANCHES_NEAR] = SIGNAL_CORE_CYCLES_BRANCHES,
	    [PIPE_CONDITIONAL] = SIGNAL_CORE_CYCLES_BRANCHES,
	    [PIPE_NOT_TAKEN] = SIGNAL_CORE_CYCLES_BRANCHES,
	};

	return kind < PIPE_FLOATS ? signals[kind] : SIGNAL_CORE_CYCLES_FLOATS;
}

#define SD (1u << FLOAT_SCALAR_DOUBLE)
#define SS (1u << FLOAT_SCALAR_SINGLE)
#define D2 (1u << FLOAT_DOUBLE_128)
#define S4 (1u << FLOAT_SINGLE_128)
#define D4 (1u << FLOAT_DOUBLE_256)
#define S8 (1u << FLOAT_SINGLE_256)

const struct pipe_float_set pipe_float_sets[PIPE_FLOAT_SETS] = {
    {SD, QUALIFIER_CORE_CYCLES_FLOATS_SCALAR_DOUBLE},
    {SS, QUALIFIER_CORE_CYCLES_FLOATS_SCALAR_SINGLE},
    {D2, QUALIFIER_CORE_CYCLES_FLOATS_DOUBLE_128},
    {S4, QUALIFIER_CORE_CYCLES_FLOATS_SINGLE_128},
    {D4, QUALIFIER_CORE_CYCLES_FLOATS_DOUBLE_256},
    {S8, QUALIFIER_CORE_CYCLES_FLOATS_SINGLE_256},
    {SD | SS, QUALIFIER_CORE_CYCLES_FLOATS_SCALAR},
    {D2 | S4 | D4 | S8, QUALIFIER_CORE_CYCLES_FLOATS_PACKED},
    {SD | D2 | D4, QUALIFIER_CORE_CYCLES_FLOATS_DOUBLE},
    {SS | S4 | S8, QUALIFIER_CORE_CYCLES_FLOATS_SINGLE},
    {S4 | D4, QUALIFIER_CORE_CYCLES_FLOATS_FOUR},
};

static bool is_asked(const struct signal_port *port, enum pmu_signal_id id)
{
	return port->enabled && __atomic_load_n(&port->enabled[id], __ATOMIC_RELAXED);
}

/* @return bit: enum machine_pipe_kind */
static uint32_t asked_cycles(const struct signal_port *port)
{
	uint32_t asked = 0;

	for (unsigned kind = 0; kind < MACHINE_PIPE_KINDS; kind++)
		asked |= (uint32_t)is_asked(port, pipe_signal(kind)) << kind;
	return asked;
}

static void follow_cycles(struct machine_hart *core, uint32_t kinds)
{
	for (uint32_t left = kinds & ~core->followed; left; left &= left - 1)
		core->cycles[__builtin_ctz(left)] = (struct machine_pipe_cycle){.counted = true};
	if (kinds)
		__atomic_store_n(&core->core->cycles.known, true, __ATOMIC_RELAXED);
	core->followed = kinds;
	core->block_before.slots = 0;
}

void pipe_look(struct machine_hart *core)
{
	const struct signal_port *port = &core->machine->port;
	const uint32_t cycles = asked_cycles(port);
	const bool recorded = is_asked(port, SIGNAL_CORE_BRANCH_RECORD);
	const bool watched =
	    cycles || recorded || is_asked(port, SIGNAL_CORE_UOP_RETIRED) ||
	    is_asked(port, SIGNAL_CORE_PORT) || is_asked(port, SIGNAL_CORE_DIVIDER) ||
	    is_asked(port, SIGNAL_CORE_CYCLES_DIVIDING) ||
	    is_asked(port, SIGNAL_CORE_LOAD_WAITING) || is_asked(port, SIGNAL_CORE_FLOAT_RETIRED);

	for (unsigned i = 0; watched && !core->watched && i < MACHINE_L0_LINES; i++)
		core->code[i].line = UINT64_MAX;
	core->watched = watched;
	if (recorded && !core->recorded)
		core->branch_at = 0;
	core->recorded = recorded;
	if (cycles != core->followed)
		follow_cycles(core, cycles);
}

/* Two threads of a core may run at once. */
static void add(uint64_t *sum, uint64_t more)
{
	__atomic_fetch_add(sum, more, __ATOMIC_RELAXED);
}

static uint32_t told_apart(uint32_t count)
{
	return count < MACHINE_PIPE_MOST ? count : MACHINE_PIPE_MOST;
}

/* The last cycle is over, as far as is known. */
static void end_cycle(struct machine_hart *core, enum machine_pipe_kind kind)
{
	struct machine_pipe_cycle *cycle = &core->cycles[kind];
	struct core_cycles *sums = &core->core->cycles;

	if (cycle->counted)
		return;
	cycle->counted = true;
	add(&sums->counts[kind][told_apart(cycle->count)], 1);
	for (uint32_t i = told_apart(cycle->before) + 1; i <= told_apart(cycle->count); i++)
		add(&sums->rises[kind][i], 1);
}

/* It goes on after a pause. */
static void go_on(struct machine_hart *core, enum machine_pipe_kind kind)
{
	struct machine_pipe_cycle *cycle = &core->cycles[kind];

	if (!cycle->counted)
		return;
	cycle->counted = false;
	add(&core->core->cycles.counts[kind][told_apart(cycle->count)], UINT64_MAX);
	if (cycle->before < cycle->count)
		cycle->before = cycle->count;
}

static void add_to_cycle(struct machine_hart *core, enum machine_pipe_kind kind, uint64_t number,
			 uint32_t count)
{
	struct machine_pipe_cycle *cycle = &core->cycles[kind];

	if (number == cycle->number && cycle->count) {
		go_on(core, kind);
		cycle->count += count;
		return;
	}
	end_cycle(core, kind);
	*cycle = (struct machine_pipe_cycle){
	    .number = number,
	    .count = count,
	    .before = number == cycle->number + 1 ? cycle->count : 0,
	};
}

/* So many, evenly in the time from @begin on, of which each slot has its part of @span. */
static void spread(struct machine_hart *core, enum machine_pipe_kind kind, uint32_t count,
		   uint64_t begin, uint64_t span)
{
	const uint64_t cycle = core->machine->core_ticks, width = core->machine->uarch->issue_width;
	uint64_t number = begin / cycle;
	uint32_t done = 0;

	for (; done < count; number++) {
		const uint64_t passed = ((number + 1) * cycle - begin) * width;
		const uint32_t due =
		    passed >= span ? count : (uint32_t)((passed * count + span - 1) / span);

		if (due > done)
			add_to_cycle(core, kind, number, due - done);
		done = due;
	}
}

static uint32_t retired_by(const struct machine_plan *plan)
{
	return plan->uops + machine_plan_front(plan)->eliminated;
}

/* Loads so far, as accumulators have them: one across a line's end is one, locked ones are loads.
 */
static uint64_t loads_of(const struct machine_progress *progress)
{
	return progress->loads - progress->split_loads + progress->locked - progress->split_locked;
}

/* Those that found their line in L1D, where one across its end is two: see find_loads(). */
static uint64_t l1_hits_of(const struct machine_hart *core)
{
	const uint64_t *answers = core->core->answers[ANSWERS_DEMAND][REQUEST_READ_DATA];
	const struct machine_progress *progress = core->progress;
	uint64_t hits = progress->loads - progress->buffer_hits + progress->walk_reads[0][1] +
			progress->walk_reads[1][1] - core->core->l2_hits[REQUEST_READ_DATA] +
			core->core->l1d_prefetch_hits;

	for (unsigned source = 0; source < SOURCES; source++)
		hits -= answers[source];
	return hits;
}

static void spread_loads(struct machine_hart *core, struct machine_pipe_block *block)
{
	const uint64_t loads = loads_of(core->progress) - block->loads;
	const int64_t hits = (int64_t)(l1_hits_of(core) - block->l1);

	spread(core, PIPE_LOADS, (uint32_t)loads, block->begin, block->span);
	if (hits > 0)
		spread(core, PIPE_LOADS_L1, (uint32_t)hits, block->begin, block->span);
	/* Of a block with less than none, later ones are as many less. */
	block->owed = hits < 0 ? (uint64_t)-hits : 0;
}

/* With the block's last slot. */
static void add_branch(struct machine_hart *core, const struct machine_pipe_block *block,
		       bool taken)
{
	const uint64_t parts = (uint64_t)block->slots * core->machine->uarch->issue_width;
	const uint64_t last = block->begin + (block->slots - 1) * block->span / parts;
	const uint64_t number = last / core->machine->core_ticks;
	const uint8_t branch = core->issue.end.branch;

	if (branch == MACHINE_BRANCH_NONE)
		return;
	add_to_cycle(core, PIPE_BRANCHES, number, 1);
	if (branch != MACHINE_BRANCH_SYSTEM)
		add_to_cycle(core, PIPE_BRANCHES_NEAR, number, 1);
	if (branch != MACHINE_BRANCH_CONDITIONAL)
		return;
	add_to_cycle(core, PIPE_CONDITIONAL, number, 1);
	if (!taken)
		add_to_cycle(core, PIPE_NOT_TAKEN, number, 1);
}

static void spread_floats(struct machine_hart *core, const struct machine_plan *plan,
			  uint64_t begin, uint64_t span)
{
	const uint16_t *floats = machine_plan_front(plan)->floats;

	for (unsigned set = 0; set < PIPE_FLOAT_SETS; set++) {
		uint32_t count = 0;

		for (uint32_t left = pipe_float_sets[set].kinds; left; left &= left - 1)
			count += floats[__builtin_ctz(left)];
		spread(core, (enum machine_pipe_kind)(PIPE_FLOATS + set), count, begin, span);
	}
}

static void end_block(struct machine_hart *core, bool taken)
{
	struct machine_pipe_block *block = &core->block_before;

	if (block->slots && core->followed & 1u << PIPE_LOADS)
		spread_loads(core, block);
	if (block->slots && core->followed & 1u << PIPE_BRANCHES)
		add_branch(core, block, taken);
	core->block_before.slots = 0;
}

static void begin_block(struct machine_hart *core, uint32_t slots, uint64_t begin, uint64_t span)
{
	core->block_before = (struct machine_pipe_block){
	    .begin = begin,
	    .span = span,
	    .slots = slots,
	    .loads = loads_of(core->progress),
	    .l1 = l1_hits_of(core) + core->block_before.owed,
	};
}

/* @param late  as pipe_count() has it */
static void count_cycles(struct machine_hart *core, const struct machine_plan *plan, uint64_t late)
{
	const uint64_t begin = core->progress->time - late;
	const uint64_t span =
	    plan->slots * core->machine->core_ticks + late * core->machine->uarch->issue_width;
	const uint32_t counts[] = {
	    [PIPE_ISSUED] = plan->slots,
	    [PIPE_EXECUTED] = plan->uops,
	    [PIPE_RETIRED] = retired_by(plan),
	    [PIPE_INSTRUCTIONS] = plan->instructions,
	};

	end_block(core, plan->address != core->issue.next);
	begin_block(core, plan->slots, begin, span);
	for (unsigned kind = 0; kind < sizeof(counts) / sizeof(counts[0]); kind++)
		if (core->followed & 1u << kind)
			spread(core, (enum machine_pipe_kind)kind, counts[kind], begin, span);
	if (core->followed & 1u << PIPE_FLOATS)
		spread_floats(core, plan, begin, span);
}

/* What the block books of a port: units. */
static uint64_t booked(const struct machine_plan *plan, unsigned port)
{
	return (uint64_t)((int64_t)plan->booked[port] + plan->units);
}

/* Whether nothing is booked ahead of the divider any more. */
static bool divider_is_idle(const struct machine_hart *core)
{
	const uint64_t now = core->progress->time, then = core->issue.time;
	const uint64_t passed =
	    now > then ? (now - then) * UARCH_CYCLE / core->machine->core_ticks : 0;

	return core->issue.ports[UARCH_DIVIDER] <= passed;
}

/* From when the block's first load is issued to when its last has its data, if L1D has them. */
static void wait_for_loads(struct machine_hart *core, const struct machine_plan_front *block)
{
	const uint64_t now = core->progress->time, cycle = core->machine->core_ticks;

	if (block->load_end)
		waits_note_load(core, now + block->load_begin * cycle / UARCH_CYCLE,
				now + block->load_end * cycle / UARCH_CYCLE);
}

void pipe_count(struct machine_hart *core, const struct machine_plan *plan, uint64_t late)
{
	const struct machine_plan_front *front = machine_plan_front(plan);
	struct machine_pipe *pipe = &core->progress->pipe;

	pipe->retired += retired_by(plan);
	for (unsigned port = 0; port < UARCH_PORTS; port++)
		pipe->units[port] += booked(plan, port);
	pipe->units[UARCH_LOADING] -= front->loading;
	pipe->units[UARCH_STORING] -= front->storing;
	for (unsigned kind = 0; kind < MACHINE_FLOATS; kind++)
		pipe->floats[kind] += front->floats[kind];
	if (booked(plan, UARCH_DIVIDER) && divider_is_idle(core))
		add(&core->core->cycles.divisions, 1);
	if (core->followed)
		count_cycles(core, plan, late);
	if (core->tracked)
		wait_for_loads(core, front);
	if (core->recorded)
		branches_note(core, plan->address, plan->address + plan->bytes - front->last_bytes);
}

void pipe_end_call(struct machine_hart *core)
{
	struct machine_block_end *end = &core->issue.end;

	if (core->followed)
		end_block(core, false);
	for (uint32_t left = core->followed; left; left &= left - 1)
		end_cycle(core, (enum machine_pipe_kind)__builtin_ctz(left));
	if (end->branch != MACHINE_BRANCH_SYSTEM)
		return;
	core->progress->went[MACHINE_BRANCH_SYSTEM][0]++;
	end->branch = MACHINE_BRANCH_NONE;
}
