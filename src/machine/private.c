#include "machine/private.h"

#include "machine/slice.h"

uint64_t private_write_back(struct machine *machine, unsigned number, enum signal_request request,
			    uint32_t line, uint64_t now)
{
	machine->cores[number].l2_writebacks++;
	return slice_write(machine, number, request, line, machine_uncore_cycle(machine, now));
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

enum line_state private_take(struct machine *machine, struct core *core, uint32_t line)
{
	enum line_state state = best(l1_drop(&core->l1d, line), l1_drop(&core->l1i, line));
	int slot = l2_find(machine, core, line);

	if (slot >= 0) {
		state = best(state, cache_state(core->l2[slot]));
		lru8_drop(core->l2 + l2_first(machine, line), (unsigned)slot % L2_WAYS);
	}
	core_note_change(core);
	return state;
}

enum line_state private_invalidate(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	enum line_state state;

	private_hold(machine, core);
	state = private_take(machine, core, line);
	private_release(machine, core);
	return state;
}

enum line_state private_share(struct machine *machine, unsigned number, uint32_t line)
{
	struct core *core = &machine->cores[number];
	enum line_state state;
	int slot;

	private_hold(machine, core);
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
	core_note_change(core);
	private_release(machine, core);
	return state;
}

void private_drop(struct machine *machine, unsigned number, uint32_t line, uint64_t now)
{
	if (private_invalidate(machine, number, line) == LINE_M)
		private_write_back(machine, number, REQUEST_WRITEBACK, line, now);
}
