#include "machine/private.h"

#include "machine/private_near.h"
#include "machine/slice.h"

static uint64_t to_uclk(const struct machine *machine, uint64_t ticks)
{
	return (ticks + machine->uclk_ticks - 1) / machine->uclk_ticks;
}

static void write_back(struct machine *machine, unsigned number, enum signal_request request,
		       uint32_t line, uint64_t now)
{
	machine->cores[number].l2_writebacks++;
	slice_write(machine, number, request, line, to_uclk(machine, now));
}

/* L1D in M has newer data than a modified L2 line: that one needs no writeback. */
static void l2_evict(struct machine *machine, unsigned number, unsigned slot, uint64_t now)
{
	struct core *core = &machine->cores[number];
	uint32_t line = l2_line(machine, core->l2[slot], slot);
	bool modified = cache_state(core->l2[slot]) == LINE_M;
	int data;

	core->l2[slot] = 0;
	if (!modified)
		return;
	data = l1_find(core->l1d.words, line);
	if (data >= 0 && cache_state(core->l1d.words[data]) == LINE_M)
		return;
	if (data < 0 && l1_find(core->l1i.words, line) < 0)
		write_back(machine, number, REQUEST_WRITEBACK, line, now);
	else
		write_back(machine, number, REQUEST_WRITEBACK_KEEP, line, now);
}

static void l2_fill(struct machine *machine, unsigned number, uint32_t line, enum line_state state,
		    uint64_t now)
{
	struct core *core = &machine->cores[number];
	unsigned first = l2_first(machine, line);
	int way = cache_way(cache_free8(core->l2 + first));

	if (way < 0) {
		way = (int)lru_victim8(core->l2_recency + first);
		l2_evict(machine, number, first + (unsigned)way, now);
	}
	core->l2[first + (unsigned)way] = l2_tag(machine, line) | state;
	l2_touch(core, first + (unsigned)way);
}

/* The line's state in L2 becomes @state, wherever it comes from. */
static void l2_set(struct machine *machine, unsigned number, uint32_t line, enum line_state state,
		   uint64_t now)
{
	struct core *core = &machine->cores[number];
	int slot = l2_find(machine, core, line);

	if (slot < 0) {
		l2_fill(machine, number, line, state, now);
		return;
	}
	core->l2[slot] = l2_tag(machine, line) | state;
	l2_touch(core, (unsigned)slot);
}

/* Such a line may make a modified L2 line go to the LLC. */
static void l1_fill_far(const struct private_want *want, struct private_look *look, unsigned number,
			enum line_state state, uint64_t now)
{
	uint32_t victim;

	if (l1_fill(want, look, state))
		return;
	victim = l1_line(want->l1->words[look->room], want->line % L1_SETS);
	l1_write(&want->l1->words[look->room], 0);
	l2_fill(want->machine, number, victim, LINE_M, now);
	look->slot = look->room;
	l1_put(want, look->room, state);
}

/*
 * The core's own lock keeps its caches together against snoops. Who has the machine's lock takes it
 * after that one; nobody who has it waits for anything.
 */
static void hold_caches(struct machine *machine, struct core *core)
{
	lock_acquire(&core->caches, machine->holder);
}

static void release_caches(struct machine *machine, struct core *core)
{
	lock_release(&core->caches, machine->holder);
}

/* What others did to the caches while the core reached for the lock, and what was blocked. */
static MACHINE_OUTLINE enum private_level look_again(const struct private_want *want,
						     struct private_look *look, unsigned number,
						     uint64_t now)
{
	enum private_level level = PRIVATE_BELOW;
	enum line_state state;

	hold_caches(want->machine, want->core);
	l1_look(want, look);
	if (l1_use(want, look)) {
		level = PRIVATE_L1;
	} else if (look->slot < 0 && (state = l2_use(want)) != LINE_I) {
		l1_fill_far(want, look, number, state, now);
		level = PRIVATE_L2;
	}
	release_caches(want->machine, want->core);
	return level;
}

static void fill(const struct private_want *want, struct private_look *look, uint64_t generation,
		 unsigned number, enum line_state state, uint64_t now)
{
	struct machine *machine = want->machine;

	hold_caches(machine, want->core);
	if (private_own(want))
		l2_set(machine, number, want->line, LINE_E, now);
	else
		l2_fill(machine, number, want->line, state, now);
	/* Freeing a way of the LLC may have taken a shared copy, or made room. */
	if (generation != want->core->generation)
		l1_look(want, look);
	if (look->slot >= 0)
		l1_put(want, (unsigned)look->slot, LINE_M);
	else
		l1_fill_far(want, look, number, private_own(want) ? LINE_M : state, now);
	release_caches(machine, want->core);
}

uint64_t private_far(const struct private_want *want, struct private_look *look,
		     uint64_t generation, struct tor_entry *entry, unsigned number, uint64_t now)
{
	struct machine *machine = want->machine;
	const uint64_t ticks = private_l2_ticks(machine);
	struct slice_answer answer;

	if (look->blocked || generation != want->core->generation) {
		enum private_level level = look_again(want, look, number, now);

		if (level != PRIVATE_BELOW)
			return level == PRIVATE_L1 ? 0 : ticks;
	}
	answer = slice_read(machine, entry, number, want->request, to_uclk(machine, now + ticks));
	want->core->l2_misses++;
	want->core->llc_misses += answer.missed;
	fill(want, look, generation, number, answer.granted, now + ticks);
	return ticks + answer.cycles * machine->uclk_ticks;
}

static bool l2_has(struct machine *machine, struct core *core, uint32_t line)
{
	bool has;

	hold_caches(machine, core);
	has = l2_find(machine, core, line) >= 0;
	release_caches(machine, core);
	return has;
}

uint64_t private_prefetch(struct machine *machine, unsigned number,
			  const struct private_prefetch *prefetch, uint64_t now)
{
	struct core *core = &machine->cores[number];
	struct slice_answer answer;
	struct tor_entry entry;

	if (l2_has(machine, core, prefetch->line))
		return 0;
	tor_locate(machine, &entry, machine_socket(machine, number), prefetch->line);
	answer = slice_read(machine, &entry, number, prefetch->request, to_uclk(machine, now));
	if (answer.granted == LINE_I) {
		core->prefetch.into_llc++;
	} else {
		hold_caches(machine, core);
		l2_set(machine, number, prefetch->line, answer.granted, now);
		core->generation++;
		release_caches(machine, core);
		core->prefetch.into_l2++;
	}
	return answer.cycles * machine->uclk_ticks;
}

/* Takes the line out of one level. @return the state that it had */
static enum line_state l1_drop(struct machine_l1 *l1, uint32_t line)
{
	int slot = l1_find(l1->words, line);
	enum line_state state;

	if (slot < 0)
		return LINE_I;
	state = cache_state(l1->words[slot]);
	l1_write(&l1->words[slot], 0);
	return state;
}

static enum line_state best(enum line_state a, enum line_state b)
{
	return a > b ? a : b;
}

enum line_state private_invalidate(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	enum line_state state;
	int slot;

	hold_caches(machine, core);
	state = best(l1_drop(&core->l1d, line), l1_drop(&core->l1i, line));
	slot = l2_find(machine, core, line);
	if (slot >= 0) {
		state = best(state, cache_state(core->l2[slot]));
		core->l2[slot] = 0;
	}
	core->generation++;
	release_caches(machine, core);
	return state;
}

enum line_state private_share(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	enum line_state state;
	int slot;

	hold_caches(machine, core);
	state = l1_find(core->l1i.words, line) >= 0 ? LINE_S : LINE_I;
	slot = l1_find(core->l1d.words, line);
	if (slot >= 0) {
		state = best(state, cache_state(core->l1d.words[slot]));
		l1_write(&core->l1d.words[slot], l1_tag(line) | LINE_S);
	}
	slot = l2_find(machine, core, line);
	if (slot >= 0) {
		state = best(state, cache_state(core->l2[slot]));
		core->l2[slot] = l2_tag(machine, line) | LINE_S;
	}
	core->generation++;
	release_caches(machine, core);
	return state;
}

void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now)
{
	if (private_invalidate(machine, number, line) == LINE_M)
		write_back(machine, number, REQUEST_WRITEBACK, line, now);
}
