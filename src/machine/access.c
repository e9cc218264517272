/* Accesses to lines that the L0 filter does not know. */
#include "machine/access.h"
#include "machine/accumulator.h"
#include "machine/cause.h"
#include "machine/look.h"
#include "machine/prefetch_l1.h"
#include "machine/skew.h"
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
	core->answers = core->core->answers[1][0];
	found = get_beyond_l1(core, &want, 0, look);
	core->answers = core->core->answers[0][0];
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

static void load_line(struct machine_hart *core, uint64_t line, struct machine_insn insn)
{
	uint32_t physical = translate(core, line);
	struct found found =
	    get(core, core->l1d, REQUEST_READ_DATA, physical, insn.address_registers);

	core->progress->loads++;
	if (insn.decides)
		core->issue.decided = machine_max(core->issue.decided, found.end);
	if (found.slot < 0) {
		core->progress->buffer_hits++;
		mshr_await(core, insn.loads_registers, found.end);
		return;
	}
	if (found.level == PRIVATE_L1) {
		found = check_prefetched(core, line, found);
		core->progress->buffer_hits += found.level != PRIVATE_L1;
	}
	note(core->data, line, physical, found.slot);
	if (found.level != PRIVATE_L1)
		mshr_add_load(core, line, insn.loads_registers, found.end);
	else if (machine_load_waits(core, line << LINE_LOG2,
				    insn.address_registers | insn.loads_registers))
		machine_load_late(core, line << LINE_LOG2, &insn);
	if (prefetch_on(core->core))
		prefetch_lines(core, line, physical, insn.place);
}

static void store_line(struct machine_hart *core, uint64_t line, struct machine_insn insn)
{
	struct found found = own_line(core, line, REQUEST_READ_OWN, insn.address_registers);

	core->progress->stores++;
	if (found.level != PRIVATE_L1 && found.slot >= 0)
		mshr_add_store(core, line, found.end);
}

static void locked_line(struct machine_hart *core, uint64_t line, struct machine_insn insn)
{
	struct found found;

	/* It waits for all accesses before it. */
	mshr_drain(core);
	found = own_line(core, line, REQUEST_READ_OWN, insn.address_registers);
	core->progress->locked++;
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

void machine_load_outline(struct machine_hart *core, uint64_t address, uint32_t size,
			  struct machine_insn insn)
{
	touch(core, address, size);
	if (MACHINE_LIKELY(!is_split(address, size)))
		load_line(core, first_line(address), insn);
	else
		load_split(core, address, size, insn);
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
	uint32_t physical = translate(core, line);
	struct found found;

	core->fetched = begin > address ? (uint32_t)(begin - address) : 0;
	found = get(core, core->l1i, REQUEST_READ_CODE, physical, 0);

	core->progress->fetches++;
	note(core->code, line, physical, found.slot);
	/* The core has nothing to do before it has its instructions. */
	if (found.level != PRIVATE_L1)
		mshr_wait(core, found.end);
}

void machine_fetch_outline(struct machine_hart *core, uint64_t address, uint64_t last)
{
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
	    .line = translate(core, first_line(address)),
	    .bytes = (size == LINE_BYTES ? UINT64_MAX : (1ull << size) - 1) << address % LINE_BYTES,
	};
	uint64_t issued = mshr_issue(core, 0), end;

	machine_hold(core->machine, core->thread);
	cause_request(core, REQUEST_STREAM);
	end = wc_gather(core->machine, core->number, write, issued);
	state->horizon = machine_max(state->horizon, end);
	skew_note_request(core, false);
	cause_end(&core->machine->port, 0);
	machine_let_go(core->machine);
	mshr_add_store(core, UINT64_MAX, end);
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
