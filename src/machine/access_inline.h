/*
 * The inline part of machine/access.h: hits on lines that the L0 filter knows. Such a hit needs no
 * translation and no search. The tag word is shared and authoritative: other cores take lines away
 * by writing to it.
 */
#ifndef MACHINE_ACCESS_INLINE_H
#define MACHINE_ACCESS_INLINE_H

#define MACHINE_L1_SETS 64 /* L1I and L1D; machine_open() refuses others */
#define MACHINE_L1_WAYS 8

/* L1 tag words: ((line / sets) + 1) << 2 | state, 0 for invalid. */
#define MACHINE_TAG_S 1
#define MACHINE_TAG_E 2
#define MACHINE_TAG_M 3

#define MACHINE_TLB_LOG2 10
#define MACHINE_WAITS	 0x10000u /* loads are outstanding, whatever they determine */

/* An L1: tag words and the tree pseudo-LRU of each set (see cache.h). In the shared state. */
struct machine_l1 {
	_Alignas(64) uint32_t words[MACHINE_L1_SETS * MACHINE_L1_WAYS];
	uint8_t plru[MACHINE_L1_SETS];
	uint64_t misses;
};

/*
 * L0 filter: where in L1 a virtual line was found last. Direct-mapped; an entry holds while the
 * slot's tag word is the one noted.
 */
#define MACHINE_L0_LINES 1024
struct machine_l0 {
	uint64_t line;		    /* virtual line number, UINT64_MAX for none */
	uint32_t tag;		    /* its tag word without state */
	uint16_t slot;		    /* set * ways + way */
	uint8_t plru_kept, plru_on; /* what a use makes of the set's pseudo-LRU: see plru_touch() */
};

/* A thread's clock on a core and what it has done there, in the shared state. */
struct machine_progress {
	uint64_t time; /* ticks */
	uint64_t idle; /* ticks by which the clock was moved while the thread did not run */
	uint64_t instructions;
	uint64_t branches;
	uint64_t loads, stores, locked, fetches;
};

/* An outstanding L1D miss. */
#define MACHINE_FILL_BUFFERS_MAX 32 /* a power of two */
struct machine_mshr {
	uint64_t
	    instruction; /* number of the one that missed; UINT64_MAX: nobody waits (a store) */
	uint64_t end;	 /* tick */
	uint64_t line;	 /* virtual */
};

struct machine_translation {
	uint32_t tag; /* virtual page >> MACHINE_TLB_LOG2, UINT32_MAX for none */
	uint32_t frame;
};

/* A thread's hold on a core. Private to the thread. */
struct machine_hart {
	struct machine_progress *progress;
	struct machine_l1 *l1d, *l1i;
	uint64_t attention;  /* at this instruction number machine_attend() is due */
	uint64_t in_flight;  /* bit: L1 set with a line that a load waits for */
	uint32_t scoreboard; /* bit: general register that loads determine; MACHINE_WAITS */
	uint32_t thread;     /* of the holder, for locks */
	_Alignas(64) struct machine_l0 data[MACHINE_L0_LINES];
	_Alignas(64) struct machine_l0 code[MACHINE_L0_LINES];

	struct machine *machine;
	struct machine_address_space *space;
	struct core *core;
	unsigned number; /* of the core, over all sockets */
	bool owns_core;
	uint64_t user;	       /* unique number of this hold */
	uint64_t owned_since;  /* tick */
	uint64_t last_sync;    /* tick: see skew_synchronise() */
	uint64_t next_look;    /* instruction number: skew and owners are looked at */
	uint64_t skew_ignored; /* what cores show up to here they show without moving; 0: none */
	uint32_t first_miss, miss_count;
	struct machine_mshr misses[MACHINE_FILL_BUFFERS_MAX]; /* a ring, by rising end */
	uint64_t arrival[16]; /* tick at which an scoreboard register has its value */
	uint64_t arrival_last;
	struct machine_translation tlb[1 << MACHINE_TLB_LOG2];
};

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

/*
 * Uses the line if the filter knows it and L1 still has it in @least or a better state.
 * @param last  the last line of the access, which has to be the same
 */
static inline bool machine_use(struct machine_l1 *l1, const struct machine_l0 *filter,
			       uint64_t line, uint64_t last, uint32_t least)
{
	const struct machine_l0 *known = &filter[line % MACHINE_L0_LINES];
	uint8_t *plru = &l1->plru[line % MACHINE_L1_SETS];

	if (!MACHINE_LIKELY(known->line == line && last == line) ||
	    !MACHINE_LIKELY(__atomic_load_n(&l1->words[known->slot], __ATOMIC_RELAXED) -
				known->tag - least <=
			    MACHINE_TAG_M - least))
		return false;
	*plru = (uint8_t)((*plru & known->plru_kept) | known->plru_on);
	return true;
}

static inline bool machine_use_data(struct machine_hart *core, uint64_t address, uint32_t size,
				    uint32_t least)
{
	return machine_use(core->l1d, core->data, address >> 6, (address + size - 1) >> 6, least);
}

static inline void machine_run(struct machine_hart *core, const struct machine_block *block)
{
	struct machine_progress *progress = core->progress;
	uint64_t last = (block->address + block->bytes - 1) >> 6;

	for (uint64_t line = block->address >> 6; line <= last; line++) {
		if (MACHINE_LIKELY(machine_use(core->l1i, core->code, line, line, MACHINE_TAG_S)))
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
	if (!MACHINE_LIKELY(machine_use_data(core, address, size, MACHINE_TAG_S))) {
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
	if (MACHINE_LIKELY(machine_use_data(core, address, size, MACHINE_TAG_M)))
		core->progress->stores++;
	else
		machine_store_outline(core, address, size, insn);
}

static inline void machine_locked(struct machine_hart *core, uint64_t address, uint32_t size,
				  const struct machine_insn *insn)
{
	if (MACHINE_LIKELY(machine_use_data(core, address, size, MACHINE_TAG_M)))
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
