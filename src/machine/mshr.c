#include "machine/mshr.h"

void mshr_insert(struct machine_hart *core, uint64_t instruction, uint64_t end, uint64_t line,
		 enum machine_miss_level level)
{
	uint32_t position = core->miss_count++;
	struct machine_mshr *place = mshr_at(core, position), *before;

	/* Those that end later move on by one. */
	for (; position && (before = mshr_at(core, position - 1))->end > end; position--) {
		*place = *before;
		place = before;
	}
	*place = (struct machine_mshr){
	    .instruction = instruction, .end = end, .line = line, .level = (uint8_t)level};
}

static void make_room(struct machine_hart *core)
{
	mshr_forget_ended(core);
	while (core->miss_count >= MACHINE_MISSES_MAX - 1) {
		mshr_stall(core, STALL_BUFFER, mshr_at(core, 0)->end);
		mshr_forget_ended(core);
	}
}

uint64_t mshr_issue_store(struct machine_hart *core, uint32_t registers)
{
	uint64_t ready;

	if (!core->buffers.stores)
		return mshr_issue(core, registers);
	buffers_admit_store(core);
	make_room(core);
	ready = machine_max(core->progress->time, mshr_last_arrival(core, registers));
	if (core->miss_count < core->fill_buffers)
		return ready;
	return machine_max(ready, mshr_at(core, core->miss_count - core->fill_buffers)->end);
}

static void add_translation(struct machine_hart *core, uint64_t end)
{
	const uint64_t due = core->progress->instructions + core->reorder_window;

	mshr_add(core, core->progress->instructions, end, UINT64_MAX, MISS_NEAR);
	if (core->attention > due)
		core->attention = due;
}

void mshr_add_translation(struct machine_hart *core, uint64_t end)
{
	mshr_issue(core, 0);
	add_translation(core, end);
}

void mshr_add_store_translation(struct machine_hart *core, uint64_t end)
{
	if (core->buffers.stores)
		make_room(core);
	else
		mshr_issue(core, 0);
	add_translation(core, end);
}

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

uint64_t mshr_retire(struct machine_hart *core, uint64_t ticks)
{
	const struct machine_mshr *load;

	buffers_settle(core, ticks);
	mshr_forget_ended(core);
	while ((load = oldest_load(core)) &&
	       core->progress->instructions >= load->instruction + core->reorder_window) {
		mshr_stall(core, mshr_stall_of(load), load->end);
		mshr_forget_ended(core);
	}
	if (core->progress->time >= core->arrival_last)
		forget_waiting(core);
	return load ? load->instruction + core->reorder_window : UINT64_MAX;
}

/* Nobody waits for prefetches, which stay. */
void mshr_drain(struct machine_hart *core)
{
	for (uint32_t i = 0; i < core->miss_count; i++)
		if (mshr_at(core, i)->level != MISS_PREFETCHED)
			mshr_wait(core, mshr_at(core, i)->end);
	mshr_wait(core, buffers_drained(core));
	mshr_forget_ended(core);
	forget_waiting(core);
}

/* The miss at @position, before which few are. */
static void take_out(struct machine_hart *core, uint32_t position)
{
	for (; position; position--)
		*mshr_at(core, position) = *mshr_at(core, position - 1);
	core->first_miss++;
	core->miss_count--;
}

uint64_t mshr_take_prefetch(struct machine_hart *core, uint64_t line)
{
	uint64_t end = 0, left = 0;

	mshr_forget_ended(core);
	for (uint32_t i = 0; i < core->miss_count;) {
		const struct machine_mshr *miss = mshr_at(core, i);

		if (miss->level == MISS_PREFETCHED && miss->line == line) {
			end = miss->end;
			take_out(core, i);
			continue;
		}
		left |= (uint64_t)(miss->level == MISS_PREFETCHED) << miss->line % L1_SETS;
		i++;
	}
	core->prefetched = left;
	return end;
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

/* Where no load waits for a line of the set any more, hits there need no look. */
static void forget_set(struct machine_hart *core, uint64_t line)
{
	for (uint32_t i = 0; i < core->miss_count; i++) {
		const struct machine_mshr *miss = mshr_at(core, i);

		if ((miss->line ^ line) % L1_SETS == 0 && miss->end > core->progress->time)
			return;
	}
	core->in_flight &= ~(UINT64_C(1) << line % L1_SETS);
}

/* A hit: its destination is there with its address and its line. */
void machine_load_dependent(struct machine_hart *core, uint64_t address, struct machine_insn insn)
{
	uint64_t arrival = line_arrival(core, address >> LINE_LOG2);

	if (arrival > core->progress->time)
		core->progress->buffer_hits++;
	else
		forget_set(core, address >> LINE_LOG2);
	arrival = machine_max(arrival, mshr_last_arrival(core, insn.address_registers));
	if (insn.decides)
		core->issue.decided = machine_max(core->issue.decided, arrival);
	core->scoreboard &= ~(uint32_t)insn.loads_registers;
	if (arrival > core->progress->time)
		mshr_await(core, insn.loads_registers, arrival);
}
