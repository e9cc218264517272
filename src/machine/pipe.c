#include "machine/pipe.h"

#include "machine/plan.h"
#include "machine/state.h"

static_assert(MACHINE_PORTS == UARCH_PORTS, "a sum each");

static bool is_asked(const struct signal_port *port)
{
	static const enum pmu_signal_id ids[] = {SIGNAL_CORE_UOP_RETIRED, SIGNAL_CORE_PORT,
						 SIGNAL_CORE_DIVIDER};

	for (unsigned i = 0; port->enabled && i < sizeof(ids) / sizeof(ids[0]); i++)
		if (__atomic_load_n(&port->enabled[ids[i]], __ATOMIC_RELAXED))
			return true;
	return false;
}

void pipe_look(struct machine_hart *core)
{
	const bool watched = is_asked(&core->machine->port);

	for (unsigned i = 0; watched && !core->watched && i < MACHINE_L0_LINES; i++)
		core->code[i].line = UINT64_MAX;
	core->watched = watched;
}

void pipe_count(struct machine_hart *core, const struct machine_plan *plan)
{
	struct machine_pipe *pipe = &core->progress->pipe;

	pipe->retired += plan->uops + machine_plan_eliminated(plan);
	for (unsigned port = 0; port < UARCH_PORTS; port++)
		pipe->units[port] += (uint64_t)((int64_t)plan->booked[port] + plan->units);
}

void pipe_end_call(struct machine_hart *core)
{
	struct machine_block_end *end = &core->issue.end;

	if (end->branch != MACHINE_BRANCH_SYSTEM)
		return;
	core->progress->went[MACHINE_BRANCH_SYSTEM][0]++;
	end->branch = MACHINE_BRANCH_NONE;
}
