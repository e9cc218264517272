/* Accesses to lines that the L0 filter does not know. */
#include "machine/access.h"
#include "machine/accumulator.h"
#include "machine/cause.h"
#include "machine/prefetch_l1.h"
#include "machine/skew.h"
#include "machine/translate.h"
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

/* @param line  virtual; and the physical one. Not where many misses are outstanding */
static MACHINE_INLINE void prefetch_line(struct machine_hart *core, uint64_t line,
					 uint32_t physical)
{
	const struct private_want want = {core->machine, core->core, core->l1d, physical,
					  REQUEST_READ_DATA};
	const struct private_look look = {.slot = -1};
	struct found found;

	if (core->miss_count >= core->fill_buffers / 2)
		return;
	lock_acquire(&core->core->caches, core->thread);
	if (l1_find(core->l1d->words, physical) >= 0) {
		lock_release(&core->core->caches, core->thread);
		return;
	}
	touch(core, line << LINE_LOG2, LINE_BYTES);
	core->answers = core->core->answers[ANSWERS_PREFETCH][0];
	found = get_beyond_l1(core, &want, 0, look);
	core->answers = core->core->answers[ANSWERS_DEMAND][0];
	core->core->l1d_prefetch_hits += found.level == PRIVATE_L2;
	core->l1d->misses--;
	if (found.slot < 0)
		return;
	core->core->prefetch.into_l1d++;
	mshr_add_prefetch(core, line, found.end);
}

/* @param line  virtual, that is loaded; and the physical one */
static MACHINE_OUTLINE void prefetch_lines(struct machine_hart *core, uint64_t line,
					   uint32_t physical, uint8_t place)
{
	uint64_t lines[PREFETCH_L1_MAX];
	unsigned count =
	    prefetch_l1(&core->strides, prefetch_on(core->core), core->touched, place, lines);

	if (!count)
		return;
	mshr_forget_ended(core);
	for (unsigned i = 0; i < count; i++)
		prefetch_line(core, lines[i], physical + (uint32_t)(lines[i] - line));
}

/* A hit in L1 whose address is translated at @translated only. */
static MACHINE_OUTLINE void load_translated(struct machine_hart *core, struct machine_insn insn,
					    uint64_t translated)
{
	const uint64_t end = translated + core->tlbs.load_ticks;

	if (insn.decides)
		core->issue.decided = machine_max(core->issue.decided, end);
	mshr_add_translation(core, end);
	mshr_await(core, insn.loads_registers, end);
}

/* A load of a line that is on its way. */
static void await_load(struct machine_hart *core, struct machine_insn insn, uint64_t end)
{
	core->progress->loads++;
	core->progress->buffer_hits++;
	if (insn.decides)
		core->issue.decided = machine_max(core->issue.decided, end);
	mshr_await(core, insn.loads_registers, end);
}

static MACHINE_INLINE void hit_load(struct machine_hart *core, uint64_t line, uint32_t physical,
				    struct machine_insn insn, int slot, uint64_t translated)
{
	note(core, false, line, physical, slot);
	if (translated)
		load_translated(core, insn, translated);
	else if (machine_load_waits(core, line << LINE_LOG2,
				    insn.address_registers | insn.loads_registers))
		machine_load_late(core, line << LINE_LOG2, &insn);
	core->progress->loads++;
}

static MACHINE_OUTLINE void load_line(struct machine_hart *core, uint64_t line, uint32_t physical,
				      struct machine_insn insn)
{
	struct found found = get(core, core->l1d, REQUEST_READ_DATA, physical,
				 insn.address_registers | MACHINE_TRANSLATION);
	const uint64_t translated = tlb_end(core);

	if (found.slot < 0) {
		await_load(core, insn, found.end);
		return;
	}
	if (found.level == PRIVATE_L1) {
		found = check_prefetched(core, line, found);
		if (found.level != PRIVATE_L1) {
			core->progress->buffer_hits++;
			/* No branch waits for a prefetch. */
			insn.decides = false;
		}
	}
	if (found.level == PRIVATE_L1)
		hit_load(core, line, physical, insn, found.slot, translated);
	else
		finish_load(core, line, physical, insn, found);
	if (prefetch_on(core->core))
		prefetch_lines(core, line, physical, insn.place);
}

static void store_line(struct machine_hart *core, uint64_t line, struct machine_insn insn)
{
	struct found found = own_line(core, line, REQUEST_READ_OWN, insn.address_registers);
	const uint64_t translated = tlb_end(core);

	if (found.level != PRIVATE_L1 && found.slot >= 0)
		mshr_add_store(core, line, found.end);
	/* A store retires when its address is known, whenever it is done. */
	if (translated)
		mshr_add_store_translation(core, translated);
	core->progress->stores++;
}

static void locked_line(struct machine_hart *core, uint64_t line, struct machine_insn insn)
{
	struct found found;

	/* It waits for all accesses before it. */
	mshr_drain(core);
	found = own_line(core, line, REQUEST_READ_OWN, insn.address_registers);
	core->progress->locked++;
	mshr_wait(core, tlb_end(core));
	if (found.level != PRIVATE_L1)
		mshr_wait(core, found.end);
	core->progress->time += core->locked_ticks;
}

static uint64_t first_line(uint64_t address)
{
	return address >> LINE_LOG2;
}

static uint64_t last_line(uint64_t address, uint32_t size)
{
	return (address + size - 1) >> LINE_LOG2;
}

static bool is_split(uint64_t address, uint32_t size)
{
	return address % LINE_BYTES + size > LINE_BYTES;
}

static MACHINE_OUTLINE void load_split(struct machine_hart *core, uint64_t address, uint32_t size,
				       struct machine_insn insn)
{
	uint32_t first = LINE_BYTES - address % LINE_BYTES;

	core->progress->split_loads++;
	machine_load_outline(core, address, first, insn);
	machine_load_outline(core, address + first, size - first, insn);
}

/*
 * The short way of a load, where nobody else runs and nothing is prefetched: who holds the machine
 * has the core's caches too. Each part goes on in the next, so that none has registers to save.
 * What is rare takes the long way from its beginning.
 */
static MACHINE_INLINE bool begin_alone(struct machine_hart *core)
{
	return !prefetch_on(core->core) &&
	       lock_acquire_biased(&core->machine->state->lock, core->thread);
}

static MACHINE_INLINE void end_alone(struct machine_hart *core)
{
	lock_release_biased(&core->machine->state->lock);
}

static MACHINE_OUTLINE void leave_alone(struct machine_hart *core, uint64_t line, uint32_t physical,
					struct machine_insn insn)
{
	end_alone(core);
	load_line(core, line, physical, insn);
}

/* As the next goes on, where that is followed. */
static MACHINE_OUTLINE void load_tracked(struct machine_hart *core, uint64_t line,
					 uint32_t physical, struct machine_insn insn, unsigned slot)
{
	const uint64_t issued = mshr_issue(core, insn.address_registers);
	uint64_t end = l2_give(core, REQUEST_READ_DATA, issued);

	lock_acquire(&core->core->caches, core->thread);
	end = waits_get_line(core, REQUEST_READ_DATA, physical, issued, end);
	finish_load(core, line, physical, insn, (struct found){PRIVATE_L2, (int)slot, end});
}

/* L2 has given the line to @slot of L1. */
static MACHINE_OUTLINE void load_from_l2(struct machine_hart *core, uint64_t line,
					 uint32_t physical, struct machine_insn insn, unsigned slot)
{
	core->l1d->misses++;
	core->core->l2_hits[REQUEST_READ_DATA]++;
	end_alone(core);
	if (__builtin_expect(core->tracked, 0)) {
		load_tracked(core, line, physical, insn, slot);
		return;
	}
	finish_load(core, line, physical, insn,
		    (struct found){PRIVATE_L2, (int)slot,
				   l2_give(core, REQUEST_READ_DATA,
					   mshr_issue(core, insn.address_registers))});
}

/* The way for it has a modified line, which goes to L2 or farther. */
static MACHINE_OUTLINE void load_displacing(struct machine_hart *core, uint64_t line,
					    uint32_t physical, struct machine_insn insn,
					    unsigned slot, enum line_state state)
{
	const struct private_want want = {core->machine, core->core, core->l1d, physical,
					  REQUEST_READ_DATA};

	if (l1_fill(&want, slot, state))
		load_from_l2(core, line, physical, insn, slot);
	else
		leave_alone(core, line, physical, insn);
}

static MACHINE_INLINE void load_below(struct machine_hart *core, uint64_t line, uint32_t physical,
				      struct machine_insn insn)
{
	if (machine_is_quiet(core->machine) && machine_is_alone(core->machine))
		miss_load(core, line, physical, insn);
	else
		leave_alone(core, line, physical, insn);
}

/* L1 has not the line. */
static MACHINE_OUTLINE void load_beyond(struct machine_hart *core, uint64_t line, uint32_t physical,
					struct machine_insn insn)
{
	const struct private_want want = {core->machine, core->core, core->l1d, physical,
					  REQUEST_READ_DATA};
	enum line_state state = l2_use(&want);
	unsigned room;

	if (state == LINE_I) {
		load_below(core, line, physical, insn);
		return;
	}
	room = l1_room(&want);
	if (cache_state(core->l1d->words[room]) == LINE_M) {
		load_displacing(core, line, physical, insn, room, state);
		return;
	}
	l1_put(&want, room, state);
	load_from_l2(core, line, physical, insn, room);
}

static MACHINE_OUTLINE void load_from_l1(struct machine_hart *core, uint64_t line,
					 uint32_t physical, struct machine_insn insn, int slot)
{
	const struct private_want want = {core->machine, core->core, core->l1d, physical,
					  REQUEST_READ_DATA};

	if (core->prefetched >> line % L1_SETS & 1) {
		leave_alone(core, line, physical, insn);
		return;
	}
	l1_touch(&want, (unsigned)slot);
	end_alone(core);
	hit_load(core, line, physical, insn, slot, 0);
}

static MACHINE_INLINE void load_alone(struct machine_hart *core, uint64_t line, uint32_t physical,
				      struct machine_insn insn)
{
	int slot = l1_find(core->l1d->words, physical);

	if (slot < 0)
		load_beyond(core, line, physical, insn);
	else
		load_from_l1(core, line, physical, insn, slot);
}

/*
 * A store has to see that a page is inherited: the filter is not to know a line that others have
 * written. While the thread has the core nobody else writes to those that it knows. Of the page of
 * zeros it knows none, as threads are not told when the page gets a frame of its own.
 */
static void forget_inherited(struct machine_hart *core, uint64_t line)
{
	const bool zeros = frame_entry(core, line)->frame + 1 == core->machine->state->zeros;
	struct machine_l0 *known = &core->data[line % MACHINE_L0_LINES];

	if (known->line == line &&
	    (zeros || cache_state(l1_read(&core->l1d->words[known->slot])) == LINE_M))
		known->line = UINT64_MAX;
}

static MACHINE_OUTLINE void load_translating(struct machine_hart *core, uint64_t line,
					     struct machine_insn insn)
{
	load_line(core, line, translate(core, line, TLB_LOAD, insn.address_registers), insn);
	if (frame_entry(core, line)->tag != frame_tag(line))
		forget_inherited(core, line);
}

void machine_load_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			  struct machine_insn insn)
{
	const uint64_t line = first_line(address);
	const struct machine_translation *entry = frame_entry(core, line);

	touch(core, address, size);
	if (is_split(address, size))
		load_split(core, address, size, insn);
	else if (!MACHINE_LIKELY(entry->tag == frame_tag(line) && is_translated(core, line, false)))
		load_translating(core, line, insn);
	else if (begin_alone(core))
		load_alone(core, line, frame_line(entry, line), insn);
	else
		load_line(core, line, frame_line(entry, line), insn);
}

static MACHINE_OUTLINE void store_split(struct machine_hart *core, uint64_t address, uint32_t size,
					struct machine_insn insn)
{
	uint32_t first = LINE_BYTES - address % LINE_BYTES;

	core->progress->split_stores++;
	machine_store_outline(core, address, first, insn);
	machine_store_outline(core, address + first, size - first, insn);
}

void machine_store_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			   struct machine_insn insn)
{
	touch(core, address, size);
	if (MACHINE_LIKELY(!is_split(address, size)))
		store_line(core, first_line(address), insn);
	else
		store_split(core, address, size, insn);
}

void machine_locked_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			    struct machine_insn insn)
{
	const uint32_t first = LINE_BYTES - address % LINE_BYTES;

	if (is_split(address, size)) {
		core->progress->split_locked++;
		machine_locked_outline(core, address, first, insn);
		machine_locked_outline(core, address + first, size - first, insn);
		return;
	}
	touch(core, address, size);
	locked_line(core, first_line(address), insn);
}

/* @param address  of the block's first byte */
static void fetch_line(struct machine_hart *core, uint64_t address, uint64_t line)
{
	const uint64_t begin = line << LINE_LOG2;
	uint32_t physical;
	struct found found;

	core->fetched = begin > address ? (uint32_t)(begin - address) : 0;
	physical = translate(core, line, TLB_FETCH, 0);
	mshr_stall(core, STALL_FETCH_PAGE, tlb_end(core));
	found = get(core, core->l1i, REQUEST_READ_CODE, physical, 0);

	core->progress->fetches++;
	/* See pipe.h. */
	if (MACHINE_LIKELY(!core->watched))
		note(core, true, line, physical, found.slot);
	/* The core has nothing to do before it has its instructions. */
	if (found.level != PRIVATE_L1)
		mshr_stall(core, STALL_FETCH, found.end);
}

/* Uses the lines of a block that is in two, if the filter knows both: where one is not enough, two
 * nearly always are. */
static inline bool use_two(struct machine_hart *core, uint64_t address, uint64_t last)
{
	struct machine_l1 *l1i = core->l1i;

	return (last >> LINE_LOG2) - (address >> LINE_LOG2) == 1 &&
	       machine_use(l1i, core->code, address, address, MACHINE_TAG_S) &&
	       machine_use(l1i, core->code, last, last, MACHINE_TAG_S);
}

void machine_fetch_outline(struct machine_hart *core, uint64_t address, uint64_t last)
{
	if (MACHINE_LIKELY(use_two(core, address, last))) {
		core->progress->fetches += 2;
		return;
	}
	for (uint64_t line = address >> LINE_LOG2; line <= last >> LINE_LOG2; line++)
		if (machine_use(core->l1i, core->code, line << LINE_LOG2, line << LINE_LOG2,
				MACHINE_TAG_S))
			core->progress->fetches++;
		else
			fetch_line(core, address, line);
}

void machine_run_outline(struct machine_hart *core, uint64_t address, uint64_t last, uint32_t ticks,
			 uint32_t instructions, uint32_t branches)
{
	machine_fetch_outline(core, address, last);
	machine_execute(core, ticks, instructions, branches);
}

static void store_nt_line(struct machine_hart *core, uint64_t address, uint32_t size)
{
	struct machine_state *state = core->machine->state;
	const struct wc_write write = {
	    .line = translate(core, first_line(address), TLB_STORE, 0),
	    .bytes = (size == LINE_BYTES ? UINT64_MAX : (1ull << size) - 1) << address % LINE_BYTES,
	};
	uint64_t issued = mshr_issue(core, MACHINE_TRANSLATION), end;

	tlb_end(core);
	machine_hold(core->machine, core->thread);
	cause_request(core, REQUEST_STREAM);
	end = wc_gather(core->machine, core->number, write, issued);
	state->horizon = machine_max(state->horizon, end);
	skew_note_request(core, false);
	cause_end(&core->machine->port, 0);
	machine_let_go(core->machine);
	mshr_add_posted(core, end);
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

void machine_end_block(struct machine_hart *core)
{
	if (!core->block)
		return;
	machine_hold(core->machine, core->thread);
	accumulators_account(core);
	machine_let_go(core->machine);
}

void machine_at_block(struct machine_hart *core, uint64_t place)
{
	/* A block that loops is accounted for at its end. */
	if (core->block != place)
		machine_end_block(core);
	core->place = core->block = place;
}
