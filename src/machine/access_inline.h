/*
 * The inline part of machine/access.h: hits on the most recently used line of an L1 set (MRU
 * filter). Such a hit changes nothing, not even the cache's replacement state, so one look at the
 * tag suffices. The tag word is shared and authoritative: other cores take lines away by writing to
 * it.
 */
#ifndef MACHINE_ACCESS_INLINE_H
#define MACHINE_ACCESS_INLINE_H

/* Kept out of the callbacks, which then need no stack frame. */
#define MACHINE_OUTLINE __attribute__((noinline))

MACHINE_OUTLINE void machine_attend(struct machine_hart *core);
MACHINE_OUTLINE void machine_fetch_line(struct machine_hart *core, uint64_t line);
MACHINE_OUTLINE void machine_load_outline(struct machine_hart *core, uint64_t address,
					  uint32_t size, const struct machine_insn *insn);
MACHINE_OUTLINE void machine_store_outline(struct machine_hart *core, uint64_t address,
					   uint32_t size, const struct machine_insn *insn);
MACHINE_OUTLINE void machine_locked_outline(struct machine_hart *core, uint64_t address,
					    uint32_t size, const struct machine_insn *insn);
MACHINE_OUTLINE void machine_load_dependent(struct machine_hart *core, uint64_t address,
					    const struct machine_insn *insn);

#define MACHINE_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Tag word of @mru now, if all of the access lies in that line; else 0. */
static inline uint32_t machine_mru_word(const uint32_t *tags, const struct machine_mru *mru,
					uint64_t address, uint32_t size)
{
	uint64_t line = address >> 6;

	if (mru->line == line && (address + size - 1) >> 6 == line)
		return __atomic_load_n(&tags[mru->slot], __ATOMIC_RELAXED);
	return 0;
}

static inline void machine_run(struct machine_hart *core, const struct machine_block *block)
{
	struct machine_progress *progress = core->progress;
	uint64_t last = (block->address + block->bytes - 1) >> 6;

	for (uint64_t line = block->address >> 6; line <= last; line++) {
		const struct machine_mru *mru = &core->code[line % MACHINE_L1_SETS];

		if (MACHINE_LIKELY(mru->line == line &&
				   __atomic_load_n(&core->l1i[mru->slot], __ATOMIC_RELAXED) ==
				       mru->tag + MACHINE_TAG_S))
			progress->fetches++;
		else
			machine_fetch_line(core, line);
	}
	progress->time += block->ticks;
	progress->instructions += block->instructions;
	progress->branches += block->branches;
	if (!MACHINE_LIKELY(progress->instructions < core->attention))
		machine_attend(core);
}

/* A hit whose destination may still depend on what is outstanding. */
static inline void machine_load_scoreboard(struct machine_hart *core, uint64_t address,
					   const struct machine_insn *insn)
{
	uint64_t same_set = core->in_flight >> (address >> 6) % MACHINE_L1_SETS & 1;

	if (insn->loads_registers &&
	    (same_set || core->scoreboard & (insn->address_registers | insn->loads_registers)))
		machine_load_dependent(core, address, insn);
}

static inline void machine_load(struct machine_hart *core, uint64_t address, uint32_t size,
				const struct machine_insn *insn)
{
	const struct machine_mru *mru = &core->data[(address >> 6) % MACHINE_L1_SETS];
	uint32_t word = machine_mru_word(core->l1d, mru, address, size);

	if (!MACHINE_LIKELY(word - mru->tag - MACHINE_TAG_S <= MACHINE_TAG_M - MACHINE_TAG_S)) {
		machine_load_outline(core, address, size, insn);
		return;
	}
	core->progress->loads++;
	if (!MACHINE_LIKELY(!core->scoreboard))
		machine_load_scoreboard(core, address, insn);
}

static inline void machine_store(struct machine_hart *core, uint64_t address, uint32_t size,
				 const struct machine_insn *insn)
{
	const struct machine_mru *mru = &core->data[(address >> 6) % MACHINE_L1_SETS];

	if (MACHINE_LIKELY(machine_mru_word(core->l1d, mru, address, size) ==
			   mru->tag + MACHINE_TAG_M))
		core->progress->stores++;
	else
		machine_store_outline(core, address, size, insn);
}

static inline void machine_locked(struct machine_hart *core, uint64_t address, uint32_t size,
				  const struct machine_insn *insn)
{
	const struct machine_mru *mru = &core->data[(address >> 6) % MACHINE_L1_SETS];

	if (MACHINE_LIKELY(machine_mru_word(core->l1d, mru, address, size) ==
			   mru->tag + MACHINE_TAG_M))
		core->progress->locked++;
	else
		machine_locked_outline(core, address, size, insn);
}

static inline uint64_t machine_hart_time(const struct machine_hart *core)
{
	return core->progress->time;
}

static inline uint64_t *machine_hart_instructions(struct machine_hart *core)
{
	return &core->progress->instructions;
}

#endif
