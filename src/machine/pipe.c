#include "machine/pipe.h"

#include "machine/plan.h"
#include "machine/state.h"

static_assert(MACHINE_PORTS == UARCH_PORTS, "a sum each");

static bool is_asked(const struct signal_port *port, enum pmu_signal_id id)
{
	return port->enabled && __atomic_load_n(&port->enabled[id], __ATOMIC_RELAXED);
}

/* @return bit: enum machine_pipe_kind */
static uint8_t asked_cycles(const struct signal_port *port)
{
	return (uint8_t)(is_asked(port, SIGNAL_CORE_CYCLES_ISSUED) << PIPE_ISSUED |
			 is_asked(port, SIGNAL_CORE_CYCLES_EXECUTED) << PIPE_EXECUTED |
			 is_asked(port, SIGNAL_CORE_CYCLES_UOPS_RETIRED) << PIPE_RETIRED |
			 is_asked(port, SIGNAL_CORE_CYCLES_RETIRED) << PIPE_INSTRUCTIONS);
}

static void follow_cycles(struct machine_hart *core, uint8_t kinds)
{
	for (uint8_t left = kinds & ~core->followed; left; left &= (uint8_t)(left - 1))
		core->cycles[__builtin_ctz(left)] = (struct machine_pipe_cycle){.counted = true};
	if (kinds)
		__atomic_store_n(&core->core->cycles.known, true, __ATOMIC_RELAXED);
	core->followed = kinds;
}

void pipe_look(struct machine_hart *core)
{
	const struct signal_port *port = &core->machine->port;
	const uint8_t cycles = asked_cycles(port);
	const bool watched =
	    cycles || is_asked(port, SIGNAL_CORE_UOP_RETIRED) || is_asked(port, SIGNAL_CORE_PORT) ||
	    is_asked(port, SIGNAL_CORE_DIVIDER) || is_asked(port, SIGNAL_CORE_CYCLES_DIVIDING);

	for (unsigned i = 0; watched && !core->watched && i < MACHINE_L0_LINES; i++)
		core->code[i].line = UINT64_MAX;
	core->watched = watched;
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

/* So many, evenly in the slots from now on. */
static void spread(struct machine_hart *core, enum machine_pipe_kind kind, uint32_t count,
		   uint32_t slots)
{
	const uint64_t cycle = core->machine->core_ticks, width = core->machine->uarch->issue_width;
	const uint64_t begin = core->progress->time, span = slots * cycle;
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
	return plan->uops + machine_plan_eliminated(plan);
}

static void count_cycles(struct machine_hart *core, const struct machine_plan *plan)
{
	for (uint8_t left = core->followed; left; left &= (uint8_t)(left - 1)) {
		const enum machine_pipe_kind kind = (enum machine_pipe_kind)__builtin_ctz(left);
		const uint32_t count = kind == PIPE_ISSUED     ? plan->slots
				       : kind == PIPE_EXECUTED ? plan->uops
				       : kind == PIPE_RETIRED  ? retired_by(plan)
							       : plan->instructions;

		spread(core, kind, count, plan->slots);
	}
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

void pipe_count(struct machine_hart *core, const struct machine_plan *plan)
{
	struct machine_pipe *pipe = &core->progress->pipe;

	pipe->retired += retired_by(plan);
	for (unsigned port = 0; port < UARCH_PORTS; port++)
		pipe->units[port] += booked(plan, port);
	if (booked(plan, UARCH_DIVIDER) && divider_is_idle(core))
		add(&core->core->cycles.divisions, 1);
	if (core->followed)
		count_cycles(core, plan);
}

void pipe_end_call(struct machine_hart *core)
{
	struct machine_block_end *end = &core->issue.end;

	for (uint8_t left = core->followed; left; left &= (uint8_t)(left - 1))
		end_cycle(core, (enum machine_pipe_kind)__builtin_ctz(left));
	if (end->branch != MACHINE_BRANCH_SYSTEM)
		return;
	core->progress->went[MACHINE_BRANCH_SYSTEM][0]++;
	end->branch = MACHINE_BRANCH_NONE;
}
