#include "machine/mshr.h"

/* NULL where no load is outstanding. */
static const struct machine_mshr *oldest_load(struct machine_hart *core)
{
	const struct machine_mshr *oldest = NULL;
	uint64_t instruction = MSHR_NO_INSTRUCTION;

	for (uint32_t i = 0; i < core->miss_count; i++) {
		const struct machine_mshr *miss = mshr_at(core, i);

		if (miss->instruction < instruction) {
			oldest = miss;
			instruction = miss->instruction;
		}
	}
	return oldest;
}

static void forget_waiting(struct machine_hart *core)
{
	core->scoreboard = 0;
	core->in_flight = 0;
}

uint64_t mshr_attention(struct machine_hart *core)
{
	const struct machine_mshr *load = oldest_load(core);

	return load ? load->instruction + core->reorder_window : UINT64_MAX;
}

uint64_t mshr_retire(struct machine_hart *core)
{
	const struct machine_mshr *load;

	mshr_forget_ended(core);
	while ((load = oldest_load(core)) &&
	       core->progress->instructions >= load->instruction + core->reorder_window) {
		mshr_wait(core, load->end);
		mshr_forget_ended(core);
	}
	if (core->progress->time >= core->arrival_last)
		forget_waiting(core);
	return load ? load->instruction + core->reorder_window : UINT64_MAX;
}

void mshr_drain(struct machine_hart *core)
{
	if (core->miss_count)
		mshr_wait(core, mshr_at(core, core->miss_count - 1)->end);
	core->miss_count = 0;
	forget_waiting(core);
}

/* When a load's line will be there. */
static uint64_t line_arrival(struct machine_hart *core, uint64_t line)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < core->miss_count; i++) {
		const struct machine_mshr *miss = mshr_at(core, i);

		if (miss->line == line && miss->instruction != MSHR_NO_INSTRUCTION)
			end = miss->end;
	}
	return end;
}

/* A hit: its destination is there with its address and its line. */
void machine_load_dependent(struct machine_hart *core, uint64_t address, struct machine_insn insn)
{
	uint64_t arrival = machine_max(mshr_last_arrival(core, insn.address_registers),
				       line_arrival(core, address >> LINE_LOG2));

	core->scoreboard &= ~(uint32_t)insn.loads_registers;
	if (arrival > core->progress->time)
		mshr_await(core, insn.loads_registers, arrival);
}
