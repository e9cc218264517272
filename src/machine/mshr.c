#include "machine/mshr.h"

#define NO_INSTRUCTION UINT64_MAX

static void forget_ended(struct machine_hart *core)
{
	uint64_t now = core->progress->time, first = UINT64_MAX;
	uint32_t i = 0;

	if (now < core->first_end)
		return;
	while (i < core->miss_count) {
		uint64_t end = core->misses[i].end;

		if (end <= now) {
			core->misses[i] = core->misses[--core->miss_count];
			continue;
		}
		first = end < first ? end : first;
		i++;
	}
	core->first_end = first;
}

/* NULL where no load is outstanding. */
static const struct machine_mshr *oldest_load(const struct machine_hart *core)
{
	const struct machine_mshr *oldest = NULL;
	uint64_t instruction = NO_INSTRUCTION;

	for (uint32_t i = 0; i < core->miss_count; i++)
		if (core->misses[i].instruction < instruction) {
			oldest = &core->misses[i];
			instruction = oldest->instruction;
		}
	return oldest;
}

static void forget_waiting(struct machine_hart *core)
{
	core->scoreboard = 0;
	core->in_flight = 0;
}

void mshr_wait(struct machine_hart *core, uint64_t end)
{
	if (core->progress->time < end)
		core->progress->time = end;
}

void mshr_retire(struct machine_hart *core)
{
	const uint64_t window = core->machine->desc->reorder_window;
	const struct machine_mshr *load;

	forget_ended(core);
	while ((load = oldest_load(core)) &&
	       core->progress->instructions >= load->instruction + window) {
		mshr_wait(core, load->end);
		forget_ended(core);
	}
	if (core->progress->time >= core->arrival_last)
		forget_waiting(core);
}

uint64_t mshr_attention(const struct machine_hart *core)
{
	const struct machine_mshr *load = oldest_load(core);

	return load ? load->instruction + core->machine->desc->reorder_window : UINT64_MAX;
}

void mshr_drain(struct machine_hart *core)
{
	for (uint32_t i = 0; i < core->miss_count; i++)
		mshr_wait(core, core->misses[i].end);
	core->miss_count = 0;
	core->first_end = UINT64_MAX;
	forget_waiting(core);
}

static uint64_t last_arrival(const struct machine_hart *core, uint32_t registers)
{
	uint64_t last = 0;

	for (registers &= core->scoreboard; registers; registers &= registers - 1)
		last = machine_max(last, core->arrival[__builtin_ctz(registers)]);
	return last;
}

uint64_t mshr_issue(struct machine_hart *core, uint32_t registers)
{
	if (core->miss_count == core->machine->desc->fill_buffers) {
		mshr_wait(core, core->first_end);
		forget_ended(core);
	}
	if (!core->scoreboard)
		return core->progress->time;
	return machine_max(core->progress->time, last_arrival(core, registers));
}

static void add(struct machine_hart *core, struct machine_mshr miss)
{
	if (miss.end <= core->progress->time)
		return;
	core->misses[core->miss_count++] = miss;
	if (miss.end < core->first_end)
		core->first_end = miss.end;
}

static void await(struct machine_hart *core, uint32_t registers, uint64_t end)
{
	core->scoreboard |= registers | MACHINE_WAITS;
	core->arrival_last = machine_max(core->arrival_last, end);
	for (; registers; registers &= registers - 1)
		core->arrival[__builtin_ctz(registers)] = end;
}

void mshr_add_load(struct machine_hart *core, uint64_t line, uint32_t registers, uint64_t end)
{
	uint64_t due = core->progress->instructions + core->machine->desc->reorder_window;

	add(core, (struct machine_mshr){core->progress->instructions, end, line});
	await(core, registers, end);
	core->in_flight |= 1ull << line % L1_SETS;
	if (core->attention > due)
		core->attention = due;
}

void mshr_add_store(struct machine_hart *core, uint64_t end)
{
	add(core, (struct machine_mshr){NO_INSTRUCTION, end, 0});
}

/* When a load's line will be there. */
static uint64_t line_arrival(const struct machine_hart *core, uint64_t line)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < core->miss_count; i++)
		if (core->misses[i].line == line && core->misses[i].instruction != NO_INSTRUCTION)
			end = machine_max(end, core->misses[i].end);
	return end;
}

/* A hit: its destination is there with its address and its line. */
void machine_load_dependent(struct machine_hart *core, uint64_t address,
			    const struct machine_insn *insn)
{
	uint64_t arrival = machine_max(last_arrival(core, insn->address_registers),
				       line_arrival(core, address >> LINE_LOG2));

	core->scoreboard &= ~(uint32_t)insn->loads_registers;
	if (arrival > core->progress->time)
		await(core, insn->loads_registers, arrival);
}
