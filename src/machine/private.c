#include "machine/private.h"

#include "machine/cache.h"
#include "machine/slice.h"

static uint64_t to_uclk(const struct machine *machine, uint64_t ticks)
{
	return (ticks + machine->uclk_ticks - 1) / machine->uclk_ticks;
}

static enum line_state l1_state(const uint32_t *words, int slot)
{
	return slot < 0 ? LINE_I : cache_state(l1_read(&words[slot]));
}

static void l2_touch(struct core *core, unsigned slot)
{
	lru_touch8(core->l2_recency + slot / L2_WAYS * L2_WAYS, slot % L2_WAYS);
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
	enum line_state data;

	core->l2[slot] = 0;
	if (!modified)
		return;
	data = l1_state(core->l1d, l1_find(core->l1d, line));
	if (data == LINE_M)
		return;
	if (data == LINE_I && l1_find(core->l1i, line) < 0)
		write_back(machine, number, REQUEST_WRITEBACK, line, now);
	else
		write_back(machine, number, REQUEST_WRITEBACK_KEEP, line, now);
}

static void l2_fill(struct machine *machine, unsigned number, uint32_t line, enum line_state state,
		    uint64_t now)
{
	struct core *core = &machine->cores[number];
	unsigned first = l2_first(machine, line);
	int way = cache_way(cache_match8(core->l2 + first, 0, 0));

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

/* State of the line in L2, which is used. */
static enum line_state l2_use(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	int slot = l2_find(machine, core, line);

	if (slot < 0)
		return LINE_I;
	l2_touch(core, (unsigned)slot);
	return cache_state(core->l2[slot]);
}

/* The slot that a fill takes. */
static unsigned l1_slot(const uint32_t *words, const uint8_t *plru, uint32_t line)
{
	unsigned set = line % L1_SETS;
	int way = cache_way(cache_match8(words + set * L1_WAYS, 0, 0));

	return set * L1_WAYS + (way < 0 ? plru_victim(plru[set]) : (unsigned)way);
}

static void l1d_put(struct core *core, unsigned slot, uint32_t line, enum line_state state)
{
	l1_write(&core->l1d[slot], l1_tag(line) | state);
	plru_touch(&core->l1d_plru[slot / L1_WAYS], slot % L1_WAYS);
}

/* Of a victim the modified data go to L2. @return the slot */
static int l1d_fill(struct machine *machine, unsigned number, uint32_t line, enum line_state state,
		    uint64_t now)
{
	struct core *core = &machine->cores[number];
	unsigned slot = l1_slot(core->l1d, core->l1d_plru, line);
	uint32_t victim = core->l1d[slot];

	if (cache_state(victim) == LINE_M) {
		l1_write(&core->l1d[slot], 0);
		l2_set(machine, number, l1_line(victim, line % L1_SETS), LINE_M, now);
	}
	l1d_put(core, slot, line, state);
	return (int)slot;
}

static int l1i_fill(struct core *core, uint32_t line)
{
	unsigned slot = l1_slot(core->l1i, core->l1i_plru, line);

	l1_write(&core->l1i[slot], l1_tag(line) | LINE_S);
	plru_touch(&core->l1i_plru[line % L1_SETS], slot % L1_WAYS);
	return (int)slot;
}

static struct slice_answer ask(struct machine *machine, unsigned number,
			       enum signal_request request, uint32_t line, uint64_t now)
{
	struct slice_answer answer =
	    slice_read(machine, number, request, line, to_uclk(machine, now));

	machine->cores[number].l2_misses++;
	machine->cores[number].llc_misses += answer.missed;
	return answer;
}

uint64_t private_l2_ticks(const struct machine *machine)
{
	return machine->desc->l2.latency * machine->core_ticks;
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

/* @return the state in which L1D gets the line, LINE_I where L2 cannot give it */
static enum line_state granted(enum line_state state, enum line_state wanted)
{
	if (wanted == LINE_M)
		return state >= LINE_E ? LINE_M : LINE_I;
	return state == LINE_M ? LINE_E : state;
}

/*
 * Only a modified L1D victim that L2 does not hold needs more than the core's own caches: it may
 * make a modified L2 line go to the LLC.
 */
static int serve_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread,
		      enum line_state wanted)
{
	struct core *core = &machine->cores[number];
	enum line_state state = LINE_I;
	unsigned slot;
	uint32_t victim;
	int victim_slot = 0, found;

	lock_acquire(&core->caches, thread);
	slot = l1_slot(core->l1d, core->l1d_plru, line);
	victim = core->l1d[slot];
	if (cache_state(victim) == LINE_M)
		victim_slot = l2_find(machine, core, l1_line(victim, line % L1_SETS));
	found = victim_slot < 0 ? -1 : l2_find(machine, core, line);
	if (found >= 0) {
		l2_touch(core, (unsigned)found);
		state = granted(cache_state(core->l2[found]), wanted);
	}
	if (state != LINE_I) {
		if (cache_state(victim) == LINE_M) {
			core->l2[victim_slot] |= LINE_M;
			l2_touch(core, (unsigned)victim_slot);
		}
		l1d_put(core, slot, line, state);
		core->l1d_misses++;
	}
	lock_release(&core->caches, thread);
	return state == LINE_I ? -1 : (int)slot;
}

int private_load_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread)
{
	return serve_near(machine, number, line, thread, LINE_S);
}

/* A line that L1D has in S stays to be asked for: L2 has no better. */
int private_store_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread)
{
	if (l1_find(machine->cores[number].l1d, line) >= 0)
		return -1;
	return serve_near(machine, number, line, thread, LINE_M);
}

int private_fetch_near(struct machine *machine, unsigned number, uint32_t line, uint32_t thread)
{
	struct core *core = &machine->cores[number];
	int slot = -1;

	lock_acquire(&core->caches, thread);
	if (l2_use(machine, number, line) != LINE_I) {
		slot = l1i_fill(core, line);
		core->l1i_misses++;
	}
	lock_release(&core->caches, thread);
	return slot;
}

/* Serves from L2 with all that this may displace. @return the slot, -1 where L2 cannot */
static int serve(struct machine *machine, unsigned number, uint32_t line, enum line_state wanted,
		 uint64_t now)
{
	enum line_state state = granted(l2_use(machine, number, line), wanted);

	return state == LINE_I ? -1 : l1d_fill(machine, number, line, state, now);
}

struct private_answer private_load(struct machine *machine, unsigned number, uint32_t line,
				   uint64_t now)
{
	struct core *core = &machine->cores[number];
	uint64_t ticks = private_l2_ticks(machine);
	struct slice_answer answer;
	int slot, served = -1;

	hold_caches(machine, core);
	slot = l1_find(core->l1d, line);
	if (slot < 0) {
		core->l1d_misses++;
		served = serve(machine, number, line, LINE_S, now);
	}
	release_caches(machine, core);
	if (slot >= 0)
		return (struct private_answer){0, slot};
	if (served >= 0)
		return (struct private_answer){ticks, served};

	answer = ask(machine, number, REQUEST_READ_DATA, line, now + ticks);
	hold_caches(machine, core);
	l2_fill(machine, number, line, answer.granted, now + ticks);
	slot = l1d_fill(machine, number, line, answer.granted, now + ticks);
	release_caches(machine, core);
	return (struct private_answer){ticks + answer.cycles * machine->uclk_ticks, slot};
}

/* The line becomes M in L1D, where it may be already. @return its slot */
static int l1d_set_modified(struct machine *machine, unsigned number, uint32_t line, uint64_t now)
{
	struct core *core = &machine->cores[number];
	int slot = l1_find(core->l1d, line);

	if (slot < 0)
		return l1d_fill(machine, number, line, LINE_M, now);
	l1d_put(core, (unsigned)slot, line, LINE_M);
	return slot;
}

struct private_answer private_store(struct machine *machine, unsigned number, uint32_t line,
				    uint64_t now)
{
	struct core *core = &machine->cores[number];
	uint64_t ticks = private_l2_ticks(machine);
	struct slice_answer answer;
	enum line_state state;
	int slot = -1, served = -1;

	hold_caches(machine, core);
	state = l1_state(core->l1d, l1_find(core->l1d, line));
	if (state == LINE_I)
		served = serve(machine, number, line, LINE_M, now);
	if (state >= LINE_E)
		slot = l1d_set_modified(machine, number, line, now);
	else
		core->l1d_misses++;
	release_caches(machine, core);
	if (slot >= 0)
		return (struct private_answer){0, slot};
	if (served >= 0)
		return (struct private_answer){ticks, served};

	answer = ask(machine, number, REQUEST_READ_OWN, line, now + ticks);
	hold_caches(machine, core);
	l2_set(machine, number, line, LINE_E, now + ticks);
	/* Freeing a way of the LLC may have taken a shared copy. */
	slot = l1d_set_modified(machine, number, line, now + ticks);
	release_caches(machine, core);
	return (struct private_answer){ticks + answer.cycles * machine->uclk_ticks, slot};
}

struct private_answer private_fetch(struct machine *machine, unsigned number, uint32_t line,
				    uint64_t now)
{
	struct core *core = &machine->cores[number];
	uint64_t ticks = private_l2_ticks(machine);
	struct slice_answer answer;
	int slot = l1_find(core->l1i, line);

	if (slot >= 0)
		return (struct private_answer){0, slot};
	slot = private_fetch_near(machine, number, line, machine->holder);
	if (slot >= 0)
		return (struct private_answer){ticks, slot};
	answer = ask(machine, number, REQUEST_READ_CODE, line, now + ticks);
	hold_caches(machine, core);
	core->l1i_misses++;
	l2_fill(machine, number, line, LINE_S, now + ticks);
	slot = l1i_fill(core, line);
	release_caches(machine, core);
	return (struct private_answer){ticks + answer.cycles * machine->uclk_ticks, slot};
}

/* Takes the line out of one level. @return the state that it had */
static enum line_state l1_drop(uint32_t *words, uint32_t line)
{
	int slot = l1_find(words, line);

	return slot < 0 ? LINE_I : cache_state(l1_take(&words[slot], 0));
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
	state = best(l1_drop(core->l1d, line), l1_drop(core->l1i, line));
	slot = l2_find(machine, core, line);
	if (slot >= 0) {
		state = best(state, cache_state(core->l2[slot]));
		core->l2[slot] = 0;
	}
	release_caches(machine, core);
	return state;
}

enum line_state private_share(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	enum line_state state;
	int slot;

	hold_caches(machine, core);
	state = l1_find(core->l1i, line) >= 0 ? LINE_S : LINE_I;
	slot = l1_find(core->l1d, line);
	if (slot >= 0)
		state = best(state, cache_state(l1_take(&core->l1d[slot], l1_tag(line) | LINE_S)));
	slot = l2_find(machine, core, line);
	if (slot >= 0) {
		state = best(state, cache_state(core->l2[slot]));
		core->l2[slot] = l2_tag(machine, line) | LINE_S;
	}
	release_caches(machine, core);
	return state;
}

void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now)
{
	if (private_invalidate(machine, number, line) == LINE_M)
		write_back(machine, number, REQUEST_WRITEBACK, line, now);
}
