/* Accesses that are not to the last used line of their L1 set. */
#include "machine/access.h"
#include "machine/address_space.h"
#include "machine/cache.h"
#include "machine/mshr.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/slice.h"
#include "machine/tor.h"
#include "machine/write_combining.h"

void machine_block_init(const struct machine *machine, struct machine_block *block,
			uint64_t address, uint32_t bytes, uint32_t instructions, uint32_t loads,
			uint32_t stores)
{
	const uint64_t cycle = machine->core_ticks, width = machine->desc->issue_width;
	uint64_t ticks = (instructions * cycle + width - 1) / width;

	ticks = machine_max(ticks, (loads * cycle + 1) / 2);
	ticks = machine_max(ticks, stores * cycle);
	*block = (struct machine_block){
	    .address = address,
	    .bytes = bytes,
	    .instructions = instructions,
	    .ticks = (uint32_t)ticks,
	};
}

/* Physical line of a virtual one. */
static uint32_t translate(struct machine_hart *core, uint64_t line)
{
	const uint64_t page = line >> (PAGE_LOG2 - LINE_LOG2);
	struct machine_translation *entry = &core->tlb[page & ((1u << MACHINE_TLB_LOG2) - 1)];
	uint32_t tag = (uint32_t)(page >> MACHINE_TLB_LOG2);

	if (entry->tag != tag) {
		entry->frame = address_space_frame(
		    core->space, page, machine_socket(core->machine, core->number), core->thread);
		entry->tag = tag;
	}
	return entry->frame << (PAGE_LOG2 - LINE_LOG2) |
	       (line & ((1u << (PAGE_LOG2 - LINE_LOG2)) - 1));
}

/* What an L1 has of a thread: its tag words and replacement state, and what the thread noted. */
struct l1_view {
	uint32_t *words;
	uint8_t *plru;
	struct machine_mru *mru;
	struct machine_ways *ways;
};

static struct l1_view data_view(struct machine_hart *core)
{
	return (struct l1_view){core->core->l1d, core->core->l1d_plru, core->data,
				&core->data_ways};
}

static struct l1_view code_view(struct machine_hart *core)
{
	return (struct l1_view){core->core->l1i, core->core->l1i_plru, core->code,
				&core->code_ways};
}

static uint32_t hash_of(uint64_t line)
{
	return (uint32_t)(line / L1_SETS);
}

static void note_mru(const struct l1_view *l1, uint64_t line, uint32_t tag, unsigned slot)
{
	l1->mru[line % L1_SETS] = (struct machine_mru){.line = line, .tag = tag, .slot = slot};
}

/* The line is in that slot, and used. */
static void note(const struct l1_view *l1, uint64_t line, uint32_t physical, unsigned slot)
{
	const unsigned set = line % L1_SETS, way = slot % L1_WAYS;

	l1->ways->hash[set][way] = hash_of(line);
	l1->ways->line[set][way] = line;
	l1->ways->tag[set][way] = l1_tag(physical);
	note_mru(l1, line, l1_tag(physical), slot);
}

/*
 * A hit that needs no translation: the line was noted and is still there, in @least or a better
 * state. Of two lines with one hash only the first is found here.
 */
static inline __attribute__((always_inline)) bool use_noted(const uint32_t *words, uint8_t *plru,
							    struct machine_mru *mru,
							    const struct machine_ways *ways,
							    uint64_t line, enum line_state least)
{
	const unsigned set = line % L1_SETS;
	unsigned match = cache_match8(ways->hash[set], hash_of(line), 0);
	unsigned way = (unsigned)__builtin_ctz(match | 1u << (L1_WAYS - 1));
	uint32_t tag = ways->tag[set][way];
	uint32_t state = l1_read(&words[set * L1_WAYS + way]) - tag;

	if (ways->line[set][way] != line || state - least > (uint32_t)LINE_M - least)
		return false;
	plru_touch(&plru[set], way);
	mru[set] =
	    (struct machine_mru){.line = line, .tag = tag, .slot = (uint32_t)(set * L1_WAYS + way)};
	return true;
}

static inline __attribute__((always_inline)) bool
use_noted_data(struct machine_hart *core, uint64_t line, enum line_state least)
{
	return use_noted(core->l1d, core->core->l1d_plru, core->data, &core->data_ways, line,
			 least);
}

/* A hit of a line that was filled under another virtual address, or by another thread. */
static MACHINE_OUTLINE bool find_line(const struct l1_view *l1, uint64_t line, uint32_t physical)
{
	int slot = l1_find(l1->words, physical);

	if (slot < 0)
		return false;
	plru_touch(&l1->plru[line % L1_SETS], (unsigned)slot % L1_WAYS);
	note(l1, line, physical, (unsigned)slot);
	return true;
}

/* The ways behind L1: the near one to L2, and the far one. */
struct behind {
	int (*near)(struct machine *machine, unsigned number, uint32_t line, uint32_t thread);
	struct private_answer (*far)(struct machine *machine, unsigned number, uint32_t line,
				     uint64_t now);
};
static const struct behind to_load = {private_load_near, private_load};
static const struct behind to_store = {private_store_near, private_store};
static const struct behind to_fetch = {private_fetch_near, private_fetch};

static struct private_answer miss_far(struct machine_hart *core, const struct behind *behind,
				      uint32_t physical, uint64_t issued)
{
	struct machine_state *state = core->machine->state;
	struct private_answer answer;

	uint64_t meetings;

	tor_prefetch(core->machine, machine_socket(core->machine, core->number), physical);
	machine_hold(core->machine, core->thread);
	meetings = state->meetings;
	answer = behind->far(core->machine, core->number, physical, issued);
	state->horizon = machine_max(state->horizon, issued + answer.ticks);
	skew_note_request(core, state->meetings != meetings);
	machine_let_go(core->machine);
	return answer;
}

/* Fills L1. @return the tick at which the line is there */
static MACHINE_OUTLINE uint64_t fill(struct machine_hart *core, const struct behind *behind,
				     const struct l1_view *l1, uint64_t line, uint32_t physical,
				     uint64_t issued)
{
	struct private_answer answer = {.ticks = private_l2_ticks(core->machine)};

	answer.slot = behind->near(core->machine, core->number, physical, core->thread);
	if (answer.slot < 0)
		answer = miss_far(core, behind, physical, issued);
	note(l1, line, physical, (unsigned)answer.slot);
	return issued + answer.ticks;
}

static MACHINE_OUTLINE void load_unnoted(struct machine_hart *core, uint64_t line,
					 const struct machine_insn *insn)
{
	const struct l1_view l1 = data_view(core);
	uint32_t physical = translate(core, line);
	uint64_t end;

	if (find_line(&l1, line, physical)) {
		if (core->scoreboard)
			machine_load_scoreboard(core, line << LINE_LOG2, insn);
		return;
	}
	end = fill(core, &to_load, &l1, line, physical, mshr_issue(core, insn->address_registers));
	mshr_add_load(core, line, insn->loads_registers, end);
}

static inline void load_line(struct machine_hart *core, uint64_t line,
			     const struct machine_insn *insn)
{
	core->progress->loads++;
	if (!use_noted_data(core, line, LINE_S))
		load_unnoted(core, line, insn);
	else if (core->scoreboard)
		machine_load_scoreboard(core, line << LINE_LOG2, insn);
}

/* Whether the line is the core's own in L1D, and now modified. */
static bool own_line(const struct l1_view *l1, uint64_t line, uint32_t physical)
{
	int slot = l1_find(l1->words, physical);
	uint32_t *word;

	if (slot < 0)
		return false;
	word = &l1->words[slot];
	if (l1_read(word) != (l1_tag(physical) | LINE_M) && !l1_own(word, l1_tag(physical)))
		return false;
	plru_touch(&l1->plru[line % L1_SETS], (unsigned)slot % L1_WAYS);
	note(l1, line, physical, (unsigned)slot);
	return true;
}

static MACHINE_OUTLINE void store_unnoted(struct machine_hart *core, uint64_t line,
					  const struct machine_insn *insn)
{
	const struct l1_view l1 = data_view(core);
	uint32_t physical = translate(core, line);

	if (!own_line(&l1, line, physical))
		mshr_add_store(core, fill(core, &to_store, &l1, line, physical,
					  mshr_issue(core, insn->address_registers)));
}

static inline void store_line(struct machine_hart *core, uint64_t line,
			      const struct machine_insn *insn)
{
	core->progress->stores++;
	if (!use_noted_data(core, line, LINE_M))
		store_unnoted(core, line, insn);
}

static void locked_line(struct machine_hart *core, uint64_t line, const struct machine_insn *insn)
{
	const struct l1_view l1 = data_view(core);
	uint32_t physical = translate(core, line);

	core->progress->locked++;
	if (own_line(&l1, line, physical))
		return;
	mshr_wait(core, fill(core, &to_store, &l1, line, physical,
			     mshr_issue(core, insn->address_registers)));
}

static uint64_t first_line(uint64_t address)
{
	return address >> LINE_LOG2;
}

static uint64_t last_line(uint64_t address, uint32_t size)
{
	return (address + size - 1) >> LINE_LOG2;
}

static MACHINE_OUTLINE void load_split(struct machine_hart *core, uint64_t address, uint32_t size,
				       const struct machine_insn *insn)
{
	load_line(core, first_line(address), insn);
	load_line(core, last_line(address, size), insn);
}

void machine_load_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			  const struct machine_insn *insn)
{
	if (last_line(address, size) == first_line(address))
		load_line(core, first_line(address), insn);
	else
		load_split(core, address, size, insn);
}

static MACHINE_OUTLINE void store_split(struct machine_hart *core, uint64_t address, uint32_t size,
					const struct machine_insn *insn)
{
	store_line(core, first_line(address), insn);
	store_line(core, last_line(address, size), insn);
}

void machine_store_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			   const struct machine_insn *insn)
{
	if (last_line(address, size) == first_line(address))
		store_line(core, first_line(address), insn);
	else
		store_split(core, address, size, insn);
}

void machine_locked_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			    const struct machine_insn *insn)
{
	locked_line(core, first_line(address), insn);
	if (last_line(address, size) != first_line(address))
		locked_line(core, last_line(address, size), insn);
}

/* The core has nothing to do before it has its instructions. */
static MACHINE_OUTLINE void fetch_unnoted(struct machine_hart *core, uint64_t line)
{
	const struct l1_view l1 = code_view(core);
	uint32_t physical = translate(core, line);

	if (!find_line(&l1, line, physical))
		mshr_wait(core, fill(core, &to_fetch, &l1, line, physical, core->progress->time));
}

void machine_fetch_line(struct machine_hart *core, uint64_t line)
{
	core->progress->fetches++;
	if (!use_noted(core->l1i, core->core->l1i_plru, core->code, &core->code_ways, line, LINE_S))
		fetch_unnoted(core, line);
}

static void store_nt_line(struct machine_hart *core, uint64_t address, uint32_t size)
{
	struct machine_state *state = core->machine->state;
	const struct wc_write write = {
	    .line = translate(core, first_line(address)),
	    .bytes = (size == LINE_BYTES ? UINT64_MAX : (1ull << size) - 1) << address % LINE_BYTES,
	};
	uint64_t issued = mshr_issue(core, 0), end;

	machine_hold(core->machine, core->thread);
	end = wc_gather(core->machine, core->number, write, issued);
	state->horizon = machine_max(state->horizon, end);
	skew_note_request(core, false);
	machine_let_go(core->machine);
	mshr_add_store(core, end);
}

void machine_store_nt(struct machine_hart *core, uint64_t address, uint32_t size)
{
	uint64_t boundary = last_line(address, size) << LINE_LOG2;

	if (boundary > address) {
		store_nt_line(core, address, (uint32_t)(boundary - address));
		store_nt_line(core, boundary, (uint32_t)(address + size - boundary));
	} else {
		store_nt_line(core, address, size);
	}
}
