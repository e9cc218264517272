/*
 * The inline part of machine/access.h: hits on lines that the L0 filter knows. Such a hit needs no
 * translation and no search. The tag word is shared and authoritative: other cores take lines away
 * by writing to it.
 */
#ifndef MACHINE_ACCESS_INLINE_H
#define MACHINE_ACCESS_INLINE_H

/* Constants come by value: so a feed need not have them in memory. */
MACHINE_OUTLINE void machine_attend(struct machine_hart *core);
/* As machine_run(). @param last  address of the block's last byte */
MACHINE_OUTLINE void machine_run_outline(struct machine_hart *core, uint64_t address, uint64_t last,
					 uint32_t ticks, uint32_t instructions, uint32_t branches);
/* Fetches the lines of a block. */
MACHINE_OUTLINE void machine_fetch_outline(struct machine_hart *core, uint64_t address,
					   uint64_t last);
MACHINE_OUTLINE void machine_load_outline(struct machine_hart *core, uint64_t address,
					  uint32_t size, struct machine_insn insn);
MACHINE_OUTLINE void machine_store_outline(struct machine_hart *core, uint64_t address,
					   uint32_t size, struct machine_insn insn);
MACHINE_OUTLINE void machine_locked_outline(struct machine_hart *core, uint64_t address,
					    uint32_t size, struct machine_insn insn);
MACHINE_OUTLINE void machine_load_dependent(struct machine_hart *core, uint64_t address,
					    struct machine_insn insn);

#define MACHINE_LIKELY(condition) __builtin_expect(!!(condition), 1)

/*
 * Uses the line of @address, which is that of @last too, if the filter knows it and L1 still has it
 * in @least or a better state.
 */
static inline bool machine_use(struct machine_l1 *l1, const struct machine_l0 *filter,
			       uint64_t address, uint64_t last, uint32_t least)
{
	/* Of two lines the filter does not know the first one at the place of the second. */
	const struct machine_l0 *known = &filter[(last >> 6) % MACHINE_L0_LINES];
	uint8_t *plru = &l1->plru[(address >> 6) % MACHINE_L1_SETS];
	uint32_t better;

	if (!MACHINE_LIKELY(known->line == address >> 6))
		return false;
	better = __atomic_load_n(&l1->words[known->slot], __ATOMIC_RELAXED) - known->shared -
		 (least - MACHINE_TAG_S);
	if (!MACHINE_LIKELY(better <= MACHINE_TAG_M - least))
		return false;
	*plru = (uint8_t)((*plru & known->plru_kept) | known->plru_on);
	return true;
}

static inline bool machine_use_data(struct machine_hart *core, uint64_t address, uint32_t size,
				    uint32_t least)
{
	return machine_use(core->l1d, core->data, address, address + size - 1, least);
}

/* What a block does but for its fetches. */
static inline void machine_execute(struct machine_hart *core, uint32_t ticks, uint32_t instructions,
				   uint32_t branches)
{
	struct machine_progress *progress = core->progress;

	progress->time += ticks;
	progress->branches += branches;
	progress->instructions += instructions;
	if (!MACHINE_LIKELY(progress->instructions < core->attention))
		machine_attend(core);
}

/* Most blocks are in one line. */
static inline void machine_run(struct machine_hart *core, const struct machine_block *block)
{
	uint64_t address = block->address, last = address + block->bytes - 1;

	if (!MACHINE_LIKELY(machine_use(core->l1i, core->code, address, last, MACHINE_TAG_S))) {
		machine_run_outline(core, address, last, block->ticks, block->instructions,
				    block->branches);
		return;
	}
	core->progress->fetches++;
	machine_execute(core, block->ticks, block->instructions, block->branches);
}

static inline bool machine_load_hits(struct machine_hart *core, uint64_t address, uint32_t size)
{
	if (!MACHINE_LIKELY(machine_use_data(core, address, size, MACHINE_TAG_S)))
		return false;
	core->progress->loads++;
	return true;
}

static inline bool machine_load_waits(const struct machine_hart *core, uint64_t address,
				      uint32_t registers)
{
	return !MACHINE_LIKELY(!core->scoreboard) &&
	       (core->scoreboard & registers ||
		core->in_flight >> (address >> 6) % MACHINE_L1_SETS & 1);
}

static inline void machine_load_late(struct machine_hart *core, uint64_t address,
				     const struct machine_insn *insn)
{
	if (insn->loads_registers)
		machine_load_dependent(core, address, *insn);
}

static inline void machine_load(struct machine_hart *core, uint64_t address, uint32_t size,
				const struct machine_insn *insn)
{
	if (!MACHINE_LIKELY(machine_load_hits(core, address, size)))
		machine_load_outline(core, address, size, *insn);
	else if (machine_load_waits(core, address, insn->address_registers | insn->loads_registers))
		machine_load_late(core, address, insn);
}

static inline bool machine_store_hits(struct machine_hart *core, uint64_t address, uint32_t size)
{
	if (!MACHINE_LIKELY(machine_use_data(core, address, size, MACHINE_TAG_M)))
		return false;
	core->progress->stores++;
	return true;
}

static inline void machine_store(struct machine_hart *core, uint64_t address, uint32_t size,
				 const struct machine_insn *insn)
{
	if (!MACHINE_LIKELY(machine_store_hits(core, address, size)))
		machine_store_outline(core, address, size, *insn);
}

static inline void machine_locked(struct machine_hart *core, uint64_t address, uint32_t size,
				  const struct machine_insn *insn)
{
	if (MACHINE_LIKELY(!core->miss_count && core->progress->time >= core->buffers.empty &&
			   machine_use_data(core, address, size, MACHINE_TAG_M))) {
		core->progress->locked++;
		core->progress->time += core->locked_ticks;
	} else {
		machine_locked_outline(core, address, size, *insn);
	}
}

static inline void machine_at(struct machine_hart *core, uint64_t place)
{
	core->place = place;
}

static inline void machine_in(struct machine_hart *core, uint32_t context)
{
	core->context = context;
}

static inline bool machine_hart_has_met(const struct machine_hart *core)
{
	return core->has_met;
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
