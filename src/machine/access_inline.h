/*
 * The inline part of machine/access.h: hits on the most recently used line of an L1 set (MRU
 * filter). Such a hit changes nothing, not even the cache's replacement state, so one look at the
 * tag suffices. The tag word is shared and authoritative: other cores take lines away by writing to
 * it.
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

/* MRU filter: the last used line of an L1 set. */
struct machine_mru {
	uint64_t line; /* virtual line number, UINT64_MAX for none */
	uint32_t tag;  /* its tag word without state */
	uint32_t slot; /* set * ways + way */
};

/*
 * What each way of an L1 was filled or found as, so that a hit needs no translation. An entry holds
 * while the way's tag word is the one noted.
 */
struct machine_ways {
	_Alignas(64) uint32_t hash[MACHINE_L1_SETS][MACHINE_L1_WAYS]; /* of the virtual line */
	uint32_t tag[MACHINE_L1_SETS][MACHINE_L1_WAYS];		      /* tag word without state */
	uint64_t line[MACHINE_L1_SETS][MACHINE_L1_WAYS]; /* virtual, UINT64_MAX for none */
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
#define MACHINE_FILL_BUFFERS_MAX 32
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
	const uint32_t *l1d, *l1i; /* tag words */
	uint64_t attention;	   /* at this instruction number machine_attend() is due */
	uint64_t in_flight;	   /* bit: L1 set with a line that a load waits for */
	uint32_t scoreboard;	   /* bit: general register that loads determine; MACHINE_WAITS */
	uint32_t thread;	   /* of the holder, for locks */
	struct machine_mru data[MACHINE_L1_SETS];
	struct machine_mru code[MACHINE_L1_SETS];
	struct machine_ways data_ways, code_ways;

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
	uint64_t first_end;    /* of the misses, tick; UINT64_MAX for none */
	uint32_t miss_count;
	struct machine_mshr misses[MACHINE_FILL_BUFFERS_MAX];
	uint64_t arrival[16]; /* tick at which a scoreboard register has its value */
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
