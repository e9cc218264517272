#include "machine/control.h"

#include "machine/cause.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/slice.h"
#include "machine/translate.h"

static_assert(LINE_BYTES == 2 * MACHINE_STRING_BYTES, "two pieces a line");
#define BOTH_PIECES 3u

/* Whether the line's page has a frame: only a page that is present does. */
static bool is_present(struct machine_hart *core, uint64_t line)
{
	const uint32_t *frame = address_space_find(core->space, line >> (PAGE_LOG2 - LINE_LOG2));

	return frame && __atomic_load_n(frame, __ATOMIC_ACQUIRE);
}

/* What an instruction asks for waits for a fill buffer, as a load does. */
static void prefetch_into_l1(struct machine_hart *core, uint64_t line, uint32_t registers)
{
	const uint32_t physical = translate(core, line, TLB_LOAD, registers);
	struct found found;

	core->answers = core->core->answers[ANSWERS_PREFETCH][0];
	found = get(core, core->l1d, REQUEST_READ_DATA, physical, registers | MACHINE_TRANSLATION);
	tlb_end(core);
	core->answers = core->core->answers[ANSWERS_DEMAND][0];
	core->core->l1d_prefetch_hits += found.level == PRIVATE_L2;

	if (found.level == PRIVATE_L1)
		return;
	core->l1d->misses--;
	if (found.slot >= 0)
		mshr_add_prefetch(core, line, found.end);
}

static void prefetch_into_l2(struct machine_hart *core, uint64_t line, uint32_t registers)
{
	const uint32_t physical = translate(core, line, TLB_LOAD, registers);
	const uint64_t issued = machine_max(
	    core->progress->time, mshr_last_arrival(core, registers | MACHINE_TRANSLATION));

	tlb_end(core);
	lock_acquire(&core->core->caches, core->thread);
	prefetch_one(core, physical, issued + core->l2_ticks);
}

/* What a store would find in M is in E: nothing is written yet. */
static void leave_clean(struct machine_hart *core, uint32_t line)
{
	int slot;

	lock_acquire(&core->core->caches, core->thread);
	slot = l1_find(core->l1d->words, line);
	if (slot >= 0)
		l1_write(&core->l1d->words[slot], l1_tag(line) | LINE_E);
	lock_release(&core->core->caches, core->thread);
}

static bool is_owned(struct machine_hart *core, uint32_t line)
{
	int slot;
	bool owned;

	lock_acquire(&core->core->caches, core->thread);
	slot = l1_find(core->l1d->words, line);
	owned = slot >= 0 && cache_state(core->l1d->words[slot]) >= LINE_E;
	lock_release(&core->core->caches, core->thread);
	return owned;
}

static void prefetch_to_write(struct machine_hart *core, uint64_t line, uint32_t registers)
{
	const uint32_t physical = translate(core, line, TLB_STORE, registers);
	struct found found;

	if (is_owned(core, physical)) {
		tlb_end(core);
		return;
	}
	/* As what reads: it is no store that could wait. */
	mshr_issue(core, 0);
	found = get(core, core->l1d, REQUEST_READ_OWN, physical, registers | MACHINE_TRANSLATION);
	tlb_end(core);
	core->l1d->misses--;
	if (found.slot < 0)
		return;
	leave_clean(core, physical);
	mshr_add_prefetch(core, line, found.end);
}

void machine_prefetch(struct machine_hart *core, uint64_t address, enum machine_hint hint,
		      const struct machine_insn *insn)
{
	const uint64_t line = address >> LINE_LOG2;

	if (!is_present(core, line))
		return;
	touch(core, address, 1);
	switch (hint) {
	case MACHINE_HINT_L1:
		prefetch_into_l1(core, line, insn->address_registers);
		break;
	case MACHINE_HINT_L2:
		prefetch_into_l2(core, line, insn->address_registers);
		break;
	case MACHINE_HINT_WRITE:
		prefetch_to_write(core, line, insn->address_registers);
	}
}

void machine_flush(struct machine_hart *core, uint64_t address)
{
	struct machine *machine = core->machine;
	const uint32_t line = translate(core, address >> LINE_LOG2, TLB_LOAD, 0);
	const uint64_t issued = mshr_issue(core, MACHINE_TRANSLATION);
	uint64_t end;
	bool modified;

	tlb_end(core);
	machine_hold(machine, core->thread);
	cause_request(core, REQUEST_FLUSH);
	core->core->flushes++;
	modified = private_invalidate(machine, core->number, line) == LINE_M;
	end = issued + slice_flush(machine, core->number, line, modified,
				   machine_uncore_cycle(machine, issued)) *
			   machine->uclk_ticks;
	machine->state->horizon = machine_max(machine->state->horizon, end);
	skew_note_request(core, false);
	cause_end(&machine->port, 0);
	machine_let_go(machine);
	mshr_add_posted(core, end);
}

static uint32_t piece_bit(uint64_t address)
{
	return 1u << address % LINE_BYTES / MACHINE_STRING_BYTES;
}

static void store_piece(struct machine_hart *core, uint64_t address,
			const struct machine_insn *insn)
{
	machine_store(core, address & ~(uint64_t)(MACHINE_STRING_BYTES - 1), MACHINE_STRING_BYTES,
		      insn);
}

void machine_end_string(struct machine_hart *core)
{
	struct machine_string *string = &core->string;
	const uint64_t begin = string->line << LINE_LOG2;
	const uint32_t pieces = string->pieces;

	string->pieces = 0;
	for (uint64_t address = begin; address < begin + LINE_BYTES;
	     address += MACHINE_STRING_BYTES)
		if (pieces & piece_bit(address))
			store_piece(core, address, &string->insn);
}

static void begin_string(struct machine_hart *core, uint64_t line, const struct machine_insn *insn)
{
	struct machine_string *string = &core->string;

	string->line = line;
	string->insn = *insn;
	/* Iterations are no instructions: the next one ends it. */
	string->due = core->progress->instructions + 1;
	if (core->attention > string->due)
		core->attention = string->due;
}

void machine_string_line(struct machine_hart *core, uint64_t address)
{
	struct machine_string *string = &core->string;
	const uint64_t line = address >> LINE_LOG2;
	struct found found;

	if (string->pieces != BOTH_PIECES || string->line != line)
		return;
	string->pieces = 0;
	touch(core, line << LINE_LOG2, LINE_BYTES);
	found = own_line(core, line, REQUEST_OWN, string->insn.address_registers);
	if (found.level != PRIVATE_L1 && found.slot >= 0)
		mshr_add_store(core, line, found.end);
	core->progress->stores += LINE_BYTES / MACHINE_STRING_BYTES;
}

void machine_store_string(struct machine_hart *core, uint64_t address,
			  const struct machine_insn *insn)
{
	struct machine_string *string = &core->string;
	const uint64_t line = address >> LINE_LOG2;

	if (!string->pieces || string->line != line) {
		machine_end_string(core);
		if (address % LINE_BYTES) {
			store_piece(core, address, insn);
			return;
		}
		begin_string(core, line, insn);
	}
	string->pieces |= piece_bit(address);
}
