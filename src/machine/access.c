/* Accesses that are not to the last used line of their L1 set. */
#include "machine/cache.h"
#include "machine/pace.h"
#include "machine/private.h"
#include "machine/slice.h"
#include "machine/space.h"
#include "machine/stream.h"
#include "machine/tor.h"
#include "machine/window.h"

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
static uint32_t translate(struct machine_core *core, uint64_t line)
{
	const uint64_t page = line >> (PAGE_LOG2 - LINE_LOG2);
	struct machine_translation *entry = &core->tlb[page & ((1u << MACHINE_TLB_LOG2) - 1)];
	uint32_t tag = (uint32_t)(page >> MACHINE_TLB_LOG2);

	if (entry->tag != tag) {
		entry->frame = space_frame(
		    core->space, page, machine_socket(core->machine, core->number), core->thread);
		entry->tag = tag;
	}
	return entry->frame << (PAGE_LOG2 - LINE_LOG2) |
	       (line & ((1u << (PAGE_LOG2 - LINE_LOG2)) - 1));
}

static void remember(struct machine_recent *recent, uint64_t line, uint32_t physical, int slot)
{
	*recent = (struct machine_recent){
	    .line = line,
	    .tag = l1_tag(physical),
	    .slot = (uint32_t)slot,
	};
}

static void use(struct machine_core *core, uint64_t line, uint32_t physical, int slot)
{
	unsigned set = line % L1_SETS;

	plru_touch(&core->core->l1d_plru[set], (unsigned)slot % L1_WAYS);
	core->data_before[set] = core->data[set];
	remember(&core->data[set], line, physical, slot);
}

/*
 * A hit on the line used last but one, which changes places with the last one: found without
 * translation. @least: the tag word's state must be that at least.
 */
static bool use_before(struct machine_recent *last, struct machine_recent *before, uint64_t line,
		       const uint32_t *words, uint8_t *plru, enum line_state least)
{
	struct machine_recent found = *before;
	uint32_t state;

	if (found.line != line)
		return false;
	state = l1_read(&words[found.slot]) - found.tag;
	if (state - least > (uint32_t)LINE_M - least)
		return false;
	plru_touch(plru, found.slot % L1_WAYS);
	*before = *last;
	*last = found;
	return true;
}

static bool use_data_before(struct machine_core *core, uint64_t line, enum line_state least)
{
	unsigned set = line % L1_SETS;

	return use_before(&core->data[set], &core->data_before[set], line, core->l1d,
			  &core->core->l1d_plru[set], least);
}

/* An access that misses L1: the short way to L2, and the long one. */
struct way_behind {
	bool (*near)(struct machine *machine, unsigned number, uint32_t line, uint32_t thread);
	uint64_t (*far)(struct machine *machine, unsigned number, uint32_t line, uint64_t now);
};
static const struct way_behind to_load = {private_load_near, private_load};
static const struct way_behind to_store = {private_store_near, private_store};
static const struct way_behind to_fetch = {private_fetch_near, private_fetch};

static uint64_t go_far(struct machine_core *core, const struct way_behind *way, uint32_t physical,
		       uint64_t issued)
{
	struct machine_state *state = core->machine->state;
	uint64_t end;

	pace_meet(core);
	machine_hold(core->machine, core->thread);
	end = issued + way->far(core->machine, core->number, physical, issued);
	state->horizon = machine_max(state->horizon, end);
	machine_let_go(core->machine);
	return end;
}

/* @return the tick at which it has ended */
static uint64_t go_behind(struct machine_core *core, const struct way_behind *way,
			  uint32_t physical, uint64_t issued)
{
	/* Most that is not in L1 is not in L2 either; the LLC's set may be far away on the host. */
	tor_prefetch(core->machine, machine_socket(core->machine, core->number), physical);
	if (way->near(core->machine, core->number, physical, core->thread))
		return issued + private_l2_ticks(core->machine);
	return go_far(core, way, physical, issued);
}

static void use_filled(struct machine_core *core, uint64_t line, uint32_t physical)
{
	int slot = l1_find(core->core->l1d, physical);

	/* Gone already if another core was quicker. */
	if (slot < 0)
		return;
	core->data_before[line % L1_SETS] = core->data[line % L1_SETS];
	remember(&core->data[line % L1_SETS], line, physical, slot);
}

static bool find_line(struct machine_core *core, uint64_t line, uint32_t physical)
{
	int slot = l1_find(core->core->l1d, physical);

	if (slot >= 0)
		use(core, line, physical, slot);
	return slot >= 0;
}

static void load_line(struct machine_core *core, uint64_t line, const struct machine_insn *insn)
{
	bool hit = use_data_before(core, line, LINE_S);
	uint32_t physical = 0;
	uint64_t end;

	core->progress->loads++;
	if (!hit) {
		physical = translate(core, line);
		hit = find_line(core, line, physical);
	}
	if (hit) {
		if (core->awaited)
			machine_load_while_waiting(core, line << LINE_LOG2, insn);
		return;
	}
	end = go_behind(core, &to_load, physical, window_issue(core, insn->address_registers));
	window_add_load(core, line, insn->loads_registers, end);
	use_filled(core, line, physical);
}

/* Whether the line is the core's own in L1D, and now modified. */
static bool own_line(struct machine_core *core, uint64_t line, uint32_t physical)
{
	int slot = l1_find(core->core->l1d, physical);
	uint32_t *word;

	if (slot < 0)
		return false;
	word = &core->core->l1d[slot];
	if (l1_read(word) != (l1_tag(physical) | LINE_M) && !l1_own(word, l1_tag(physical)))
		return false;
	use(core, line, physical, slot);
	return true;
}

static void store_line(struct machine_core *core, uint64_t line, const struct machine_insn *insn)
{
	uint32_t physical;
	uint64_t end;

	core->progress->stores++;
	if (use_data_before(core, line, LINE_M))
		return;
	physical = translate(core, line);
	if (own_line(core, line, physical))
		return;
	end = go_behind(core, &to_store, physical, window_issue(core, insn->address_registers));
	window_add_store(core, end);
	use_filled(core, line, physical);
}

static void locked_line(struct machine_core *core, uint64_t line, const struct machine_insn *insn)
{
	uint32_t physical = translate(core, line);

	core->progress->locked++;
	if (own_line(core, line, physical))
		return;
	window_wait(core, go_behind(core, &to_store, physical,
				    window_issue(core, insn->address_registers)));
	use_filled(core, line, physical);
}

static uint64_t first_line(uint64_t address)
{
	return address >> LINE_LOG2;
}

static uint64_t last_line(uint64_t address, uint32_t size)
{
	return (address + size - 1) >> LINE_LOG2;
}

void machine_load_outline(struct machine_core *core, uint64_t address, uint32_t size,
			  const struct machine_insn *insn)
{
	load_line(core, first_line(address), insn);
	if (last_line(address, size) != first_line(address))
		load_line(core, last_line(address, size), insn);
}

void machine_store_outline(struct machine_core *core, uint64_t address, uint32_t size,
			   const struct machine_insn *insn)
{
	store_line(core, first_line(address), insn);
	if (last_line(address, size) != first_line(address))
		store_line(core, last_line(address, size), insn);
}

void machine_locked_outline(struct machine_core *core, uint64_t address, uint32_t size,
			    const struct machine_insn *insn)
{
	locked_line(core, first_line(address), insn);
	if (last_line(address, size) != first_line(address))
		locked_line(core, last_line(address, size), insn);
}

/* The core has nothing to do before it has its instructions. */
void machine_fetch_line(struct machine_core *core, uint64_t line)
{
	const unsigned set = line % L1_SETS;
	uint32_t physical;
	int slot;

	core->progress->fetches++;
	if (use_before(&core->code[set], &core->code_before[set], line, core->l1i,
		       &core->core->l1i_plru[set], LINE_S))
		return;
	physical = translate(core, line);
	slot = l1_find(core->core->l1i, physical);
	if (slot >= 0) {
		plru_touch(&core->core->l1i_plru[set], (unsigned)slot % L1_WAYS);
	} else {
		window_wait(core, go_behind(core, &to_fetch, physical, core->progress->time));
		slot = l1_find(core->core->l1i, physical);
	}
	if (slot < 0)
		return;
	core->code_before[set] = core->code[set];
	remember(&core->code[set], line, physical, slot);
}

static void stream_line(struct machine_core *core, uint64_t address, uint32_t size)
{
	struct machine_state *state = core->machine->state;
	const struct stream_write write = {
	    .line = translate(core, first_line(address)),
	    .bytes = (size == LINE_BYTES ? UINT64_MAX : (1ull << size) - 1) << address % LINE_BYTES,
	};
	uint64_t issued = window_issue(core, 0), end;

	pace_meet(core);
	machine_hold(core->machine, core->thread);
	end = stream_gather(core->machine, core->number, write, issued);
	state->horizon = machine_max(state->horizon, end);
	machine_let_go(core->machine);
	window_add_store(core, end);
}

void machine_stream(struct machine_core *core, uint64_t address, uint32_t size)
{
	uint64_t boundary = last_line(address, size) << LINE_LOG2;

	if (boundary > address) {
		stream_line(core, address, (uint32_t)(boundary - address));
		stream_line(core, boundary, (uint32_t)(address + size - boundary));
	} else {
		stream_line(core, address, size);
	}
}
