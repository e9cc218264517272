/*
 * What a core waits for: the MSHR holds its outstanding misses, bounded by reorder window and fill
 * buffers, and the scoreboard the registers that they determine.
 */
#ifndef MACHINE_MSHR_H
#define MACHINE_MSHR_H

#include "machine/buffers.h"
#include "machine/mshr_ring.h"

/**
 * Lets the clock pass as far as the full reorder window and full buffers demand.
 * @param ticks  that the block took which has just been taken in; its accesses are yet to come
 * @return as mshr_attention()
 */
uint64_t mshr_retire(struct machine_hart *core, uint64_t ticks);
/** Lets the clock pass until nothing is outstanding, and no store waits. */
void mshr_drain(struct machine_hart *core);

/** The instruction number at which mshr_retire() is due, but for the buffers. */
uint64_t mshr_attention(struct machine_hart *core);

/** Lets the clock pass until @end. */
static inline void mshr_wait(struct machine_hart *core, uint64_t end)
{
	if (core->progress->time < end)
		core->progress->time = end;
}

static inline void mshr_forget_ended(struct machine_hart *core)
{
	const uint64_t now = core->progress->time;
	uint32_t first = core->first_miss, end = first + core->miss_count;

	while (first != end && core->misses[first % MACHINE_MISSES_MAX].end <= now)
		first++;
	core->first_miss = first;
	core->miss_count = end - first;
}

/* When the last of @registers, of those that loads determine, is there. */
static inline uint64_t mshr_last_arrival(const struct machine_hart *core, uint32_t registers)
{
	uint64_t last = 0;

	for (registers &= core->scoreboard; registers; registers &= registers - 1)
		last = machine_max(last, core->arrival[__builtin_ctz(registers)]);
	return last;
}

/**
 * Lets the clock pass until a miss can be issued.
 * @param registers  bit: general register that forms its address
 * @return the tick of issue: later than the clock where the address is scoreboard
 */
static inline uint64_t mshr_issue(struct machine_hart *core, uint32_t registers)
{
	const uint64_t ready = mshr_last_arrival(core, registers);

	if (core->miss_count >= core->fill_buffers) {
		/* Stores that have no buffer yet are before it. */
		const uint32_t waiting = core->miss_count - core->fill_buffers;
		const struct machine_mshr *miss = mshr_at(core, waiting);

		/* On the part what waits for its address would have no buffer yet. */
		mshr_stall(core, ready > core->progress->time ? mshr_stall_of(miss) : STALL_BUFFER,
			   miss->end);
		core->first_miss += waiting + 1;
		core->miss_count -= waiting + 1;
		mshr_forget_ended(core);
	}
	return machine_max(core->progress->time, ready);
}

/**
 * The same for a store that misses. It waits in the store buffer for its fill buffer: where the
 * core has one, the clock passes until that has room for the store.
 */
MACHINE_OUTLINE uint64_t mshr_issue_store(struct machine_hart *core, uint32_t registers);

/** Adds a miss that ends before others. */
MACHINE_OUTLINE void mshr_insert(struct machine_hart *core, uint64_t instruction, uint64_t end,
				 uint64_t line, enum machine_miss_level level);

/* Most end in the order in which they begin. */
static inline void mshr_add(struct machine_hart *core, uint64_t instruction, uint64_t end,
			    uint64_t line, enum machine_miss_level level)
{
	const uint64_t now = core->progress->time;

	if (end <= now)
		return;
	if (__builtin_expect(core->miss_last > end, 0)) {
		mshr_insert(core, instruction, end, line, level);
	} else {
		core->miss_last = end;
		*mshr_at(core, core->miss_count++) = (struct machine_mshr){
		    .instruction = instruction, .end = end, .line = line, .level = (uint8_t)level};
	}
	if (level < MISS_PREFETCHED && end - now > core->buffers.hold)
		buffers_note(core, end, instruction != MSHR_NO_INSTRUCTION, level);
}

static inline void mshr_await(struct machine_hart *core, uint32_t registers, uint64_t end)
{
	core->scoreboard |= registers | MACHINE_WAITS;
	core->arrival_last = machine_max(core->arrival_last, end);
	for (; registers; registers &= registers - 1)
		core->arrival[__builtin_ctz(registers)] = end;
}

/** A load of virtual line @line is outstanding until @end; @registers depend on it. */
static inline void mshr_add_load(struct machine_hart *core, uint64_t line, uint32_t registers,
				 uint64_t end, enum machine_miss_level level)
{
	uint64_t due = core->progress->instructions + core->reorder_window;

	mshr_await(core, registers, end);
	core->in_flight |= 1ull << line % L1_SETS;
	if (core->attention > due)
		core->attention = due;
	mshr_add(core, core->progress->instructions, end, line, level);
}

/** The present instruction, whose line is there, has its address translated at @end: nothing
 * retires before. It takes a buffer until then, as what misses does (choice). */
void mshr_add_translation(struct machine_hart *core, uint64_t end);
/** The same of a store, which waits for no buffer. */
void mshr_add_store_translation(struct machine_hart *core, uint64_t end);

/** A line that L1D prefetches comes at @end. */
static inline void mshr_add_prefetch(struct machine_hart *core, uint64_t line, uint64_t end)
{
	mshr_add(core, MSHR_NO_INSTRUCTION, end, line, MISS_PREFETCHED);
	core->prefetched |= UINT64_C(1) << line % L1_SETS;
	/* It may have known the line in the same slot before. */
	core->data[line % MACHINE_L0_LINES].line = UINT64_MAX;
}

/** The line is asked for. @return the tick at which it comes, 0: it is not on its way */
uint64_t mshr_take_prefetch(struct machine_hart *core, uint64_t line);

/** A miss that no instruction waits for; @line: the virtual line that it makes the core's own.
 * Before the store is counted. */
static inline void mshr_add_store(struct machine_hart *core, uint64_t line, uint64_t end)
{
	mshr_add(core, MSHR_NO_INSTRUCTION, end, line, MISS_FAR);
}

/** What takes a fill buffer and brings no line. */
static inline void mshr_add_posted(struct machine_hart *core, uint64_t end)
{
	mshr_add(core, MSHR_NO_INSTRUCTION, end, UINT64_MAX, MISS_POSTED);
}

/**
 * The tick at which a virtual line comes that is on its way, 0: it is not.
 * @param own  only where it will be the core's own
 */
static inline uint64_t mshr_pending(struct machine_hart *core, uint64_t line, bool own)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < core->miss_count; i++) {
		const struct machine_mshr *miss = mshr_at(core, i);

		if (miss->line == line && miss->level != MISS_PREFETCHED &&
		    miss->end > core->progress->time &&
		    (!own || miss->instruction == MSHR_NO_INSTRUCTION))
			end = miss->end;
	}
	return end;
}

#endif
