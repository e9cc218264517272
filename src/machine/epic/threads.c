/*
 * The two threads of a core: which one is in the foreground, and when they change.
 *
 * A thread has an urgency: 5, one less for each line that it waits for. Events end its turn at
 * once, but for those of memory: they do where the other thread is more urgent.
 */
#include "machine/epic/group.h"

#include <string.h>

#define WOKEN  6u /* urgency of one that was halted */
#define PUSHED 7u /* of one that the timer sent away */

static struct epic_core *other_of(const struct epic_core *core)
{
	return core->shared->threads[core == core->shared->threads[0]];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The first line that it waits for has come. */
static void line_came(struct turn *t)
{
	t->urgency += t->urgency < EPIC_URGENCY && t->miss_count <= EPIC_URGENCY;
	t->miss_count--;
	memmove(t->misses, t->misses + 1, t->miss_count * sizeof(t->misses[0]));
}

static void lines_came(struct turn *t, uint64_t until)
{
	while (t->miss_count && t->misses[0] <= until)
		line_came(t);
}

void epic_threads_missed(struct epic_core *core, uint64_t cycle, uint64_t ready)
{
	struct turn *t = &core->turn;
	unsigned at;

	if (!core->shared->threads[1])
		return;
	lines_came(t, cycle);
	t->urgency -= t->urgency > 0;
	if (t->miss_count == MISSES_MAX)
		line_came(t);
	for (at = t->miss_count++; at && t->misses[at - 1] > ready; at--)
		t->misses[at] = t->misses[at - 1];
	t->misses[at] = ready;
	if (t->cause == SWITCH_NONE) {
		t->cause = SWITCH_MISS;
		t->caused = later(cycle, core->cycle);
	}
}

void epic_pauses(struct epic_core *core)
{
	core->turn.advanced_count = 0;
}

void epic_advanced(struct epic_core *core, uint64_t address, unsigned bytes)
{
	struct turn *t = &core->turn;

	if (t->advanced_count < ADVANCED_MAX)
		t->advanced[t->advanced_count++] = (struct advanced){address, bytes};
}

void epic_threads_stored(struct epic_core *core, uint64_t address, unsigned bytes, uint64_t cycle)
{
	struct turn *others = &core->rival->turn;

	for (unsigned i = 0; others->armed && i < others->advanced_count; i++) {
		const struct advanced *a = &others->advanced[i];

		if (address < a->address + a->bytes && a->address < address + bytes) {
			others->armed = false;
			core->turn.cause = SWITCH_ALAT;
			core->turn.caused = later(cycle, core->cycle);
		}
	}
}

/* Counts its cycles in the background until a line comes. */
static void pass_background(struct epic_core *core, uint64_t until)
{
	struct turn *t = &core->turn;
	uint64_t from = later(core->cycle, t->counted);

	if (until <= from)
		return;
	epic_add(core, (enum epic_cell)(CELL_BACKGROUND_0 + t->urgency), until - from);
	t->counted = until;
}

static void count_background(struct epic_core *core, uint64_t until)
{
	struct turn *t = &core->turn;

	while (t->miss_count && t->misses[0] < until) {
		pass_background(core, t->misses[0]);
		lines_came(t, t->misses[0]);
	}
	pass_background(core, until);
}

/* The thread is in the foreground from a cycle on. */
static void come_in(struct epic_core *core, uint64_t cycle)
{
	struct epic_core *other = other_of(core);
	struct turn *t = &core->turn;

	count_background(core, cycle);
	core->group.start = core->group.open ? core->group.start + (cycle - core->cycle) : cycle;
	core->cycle = cycle;
	core->fetch.chunk = core->fetch.page = core->fetch.line = UINT64_MAX;
	core->fetch.next = cycle + 1;
	core->shared->stream.next = 0;
	core->shared->foreground = core;
	core->rival = other->turn.parked ? NULL : other;
	other->rival = NULL;
	t->urgency = t->urgency < EPIC_URGENCY ? t->urgency : EPIC_URGENCY;
	t->since = t->retired_at = cycle;
	t->retired = t->armed = false;
	t->cause = SWITCH_NONE;
}

static void count_stall(struct epic_core *core, uint64_t cycles)
{
	unsigned log2 = cycles ? 63u - (unsigned)__builtin_clzll(cycles) : 0;

	if (log2 >= 2)
		epic_add(core,
			 (enum epic_cell)(CELL_SWITCH_STALLED_4 + (log2 > 12 ? 12 : log2) - 2), 1);
}

/* held: why it did not change when it was due; a cell */
static void count_held(struct epic_core *core, enum epic_cell held, uint64_t cycles)
{
	if (!cycles)
		return;
	epic_add(core, held, 1);
	epic_add(core, CELL_SWITCH_HELD_CYCLES, cycles);
	epic_add(core, CELL_SWITCH_CYCLES, cycles);
}

static uint64_t cycles_until(const struct epic_core *core, uint64_t end)
{
	return end > core->cycle + 1 ? end - core->cycle - 1 : 0;
}

/* How long a change waits for moves of registers that are far away, and for data of the second
 * level that are on their way back: not for those that do not come yet. */
static void unfinished(const struct epic_core *core, uint64_t *moves, uint64_t *data)
{
	for (unsigned reg = 0; reg < PHYSICAL_COUNT; reg++) {
		unsigned via = core->done[reg] & 0xFF;
		uint64_t wait;

		if (core->done[reg] >> 8 <= core->cycle)
			continue;
		if (via == EPIC_VIA_APPLICATION || via == EPIC_VIA_STATUS ||
		    via == EPIC_VIA_INDIRECT) {
			wait = cycles_until(core, (uint64_t)epic_ready(core, reg, EPIC_USE_ALU));
			*moves = later(*moves, wait);
		} else if (via == EPIC_VIA_LOAD || via == EPIC_VIA_FLOAD) {
			wait = cycles_until(core, (core->done[reg] >> 8) - core->usual[via]);
			*data = wait < core->params->l2d.latency ? later(*data, wait) : *data;
		}
	}
}

static void wait_for_unfinished(struct epic_core *core)
{
	uint64_t moves = 0, data = 0, all;

	unfinished(core, &moves, &data);
	all = later(moves, data);
	epic_add(core, CELL_SWITCH_BY_MOVE, moves);
	epic_add(core, CELL_SWITCH_BY_DATA, data);
	epic_add(core, CELL_SWITCH_STALLED, all);
	epic_add(core, CELL_SWITCH_CYCLES, all);
	epic_bubbles(core, CELL_BUBBLE_EXCEPTION, all);
}

/* The pipeline is emptied, and the other thread has the foreground. */
static void change(struct epic_core *core, enum epic_switch cause)
{
	struct epic_core *other = other_of(core);

	epic_add(core, (enum epic_cell)(CELL_SWITCH_MISS + cause), 1);
	count_stall(core, core->cycle - core->turn.retired_at);
	wait_for_unfinished(core);
	epic_add(core, CELL_SWITCH_CYCLES, core->params->thread_switch);
	epic_bubbles(core, CELL_BUBBLE_EXCEPTION, core->params->thread_switch);
	if (cause == SWITCH_TIMER)
		core->turn.urgency = PUSHED;
	core->turn.cause = SWITCH_NONE;
	core->shared->busy = core->cycle;
	come_in(other, core->cycle);
}

/* Lines of the other thread that came: the first that makes it more urgent. */
static enum epic_switch look_at_lines(struct epic_core *core, uint64_t *when)
{
	struct turn *mine = &core->turn, *others = &core->rival->turn;
	enum epic_switch cause = SWITCH_NONE;

	while (others->miss_count && others->misses[0] <= core->cycle) {
		uint64_t now = others->misses[0];

		lines_came(mine, now);
		pass_background(core->rival, now);
		line_came(others);
		if (others->urgency <= mine->urgency) {
			epic_add(core, CELL_SWITCH_MISSED, 1);
		} else if (cause == SWITCH_NONE) {
			cause = SWITCH_RETURN;
			*when = now;
		}
	}
	lines_came(mine, core->cycle);
	return cause;
}

/* Why the thread's turn ends now, and since when it should have. */
static enum epic_switch look(struct epic_core *core, uint64_t *when)
{
	struct turn *t = &core->turn;
	enum epic_switch own = t->cause, cause;

	t->cause = SWITCH_NONE;
	if (core->rival->cycle > core->cycle) /* it is halted until then */
		return SWITCH_NONE;
	*when = core->cycle;
	cause = look_at_lines(core, when);
	if (own == SWITCH_MISS && core->rival->turn.urgency <= t->urgency) {
		epic_add(core, CELL_SWITCH_MISSED, 1);
	} else if (own != SWITCH_NONE) {
		cause = own;
		*when = t->caused;
	}
	if (cause == SWITCH_NONE && core->cycle >= t->since + core->params->quantum) {
		cause = SWITCH_TIMER;
		*when = t->since + core->params->quantum;
	}
	*when = later(*when, core->rival->cycle);
	*when = *when < core->cycle ? *when : core->cycle;
	return cause;
}

static void maybe_change(struct epic_core *core, enum epic_cell held)
{
	uint64_t when;
	enum epic_switch cause = look(core, &when);

	if (cause == SWITCH_NONE)
		return;
	count_held(core, held, core->cycle - when);
	change(core, cause);
	if (core->turn.wait)
		core->turn.wait(core->turn.wait_arg);
}

uint64_t epic_threads_span(struct epic_core *core, uint64_t cycles)
{
	const struct turn *t = &core->turn, *others = &core->rival->turn;
	uint64_t now = core->cycle,
		 due = later(t->since + core->params->quantum, core->rival->cycle);

	if (!t->retired)
		return cycles;
	if (t->cause != SWITCH_NONE)
		return 0;
	if (others->miss_count && others->misses[0] < due && core->rival->cycle <= now)
		due = others->misses[0];
	due = later(due, now);
	return due - now < cycles ? due - now : cycles;
}

void epic_threads_stalled(struct epic_core *core)
{
	maybe_change(core, CELL_SWITCH_HELD_PIPE);
}

void epic_threads_retired(struct epic_core *core)
{
	struct turn *t = &core->turn;
	enum epic_cell held = t->retired ? CELL_SWITCH_HELD_PIPE : CELL_SWITCH_HELD_PROGRESS;

	t->retired = true;
	t->retired_at = core->cycle;
	if (t->hinted) {
		t->hinted = false;
		t->armed = true;
		t->cause = SWITCH_HINT;
		t->caused = core->cycle;
	}
	maybe_change(core, held);
}

/* -- Threads that execute, and that do not ------------------------------------------------------
 */

/* In the foreground it stops: the other one goes on, if it can before a cycle. */
static void give_way(struct epic_core *core, uint64_t until)
{
	struct epic_core *other = other_of(core);

	core->shared->busy = core->cycle;
	if (!other || other->turn.parked || other->cycle >= until)
		return;
	if (other->cycle <= core->cycle) {
		change(core, SWITCH_HALT);
		return;
	}
	epic_add(core, CELL_SWITCH_HALT, 1);
	come_in(other, other->cycle);
}

/* A thread can go on in its cycle: in the foreground, if nobody else is at work there. */
static void compete(struct epic_core *core)
{
	struct epic_core *other = other_of(core);

	if (!other)
		return;
	if (core->shared->foreground == core) {
		core->rival = other->turn.parked ? NULL : other;
	} else if (other->turn.parked ||
		   (other->cycle == other->turn.rested && other->cycle > core->cycle)) {
		epic_add(other, CELL_SWITCH_HALT, 1);
		come_in(core, later(core->cycle, core->shared->busy));
	} else {
		other->rival = core;
	}
}

void epic_park(struct epic_core *core)
{
	struct epic_core *other = other_of(core);

	core->rival = NULL;
	core->turn.parked = true;
	if (core->shared->foreground == core)
		give_way(core, UINT64_MAX);
	else
		other->rival = NULL;
}

void epic_rest(struct epic_core *core, uint64_t until)
{
	bool halted = until > core->cycle;

	core->rival = NULL;
	epic_group_settle(core);
	if (core->shared->foreground == core && halted)
		give_way(core, until);
	if (until > core->cycle) {
		epic_add(core, CELL_HALTED, until - core->cycle);
		core->group.start = core->cycle = until;
	}
	if (core->fetch.next < core->cycle)
		core->fetch.next = core->cycle;
	core->turn.rested = core->cycle;
	core->turn.parked = false;
	compete(core);
	if (halted && core->shared->foreground != core)
		core->turn.urgency = WOKEN;
}

void epic_resume(struct epic_core *core)
{
	if (core->turn.parked)
		epic_rest(core, core->shared->foreground->cycle);
}

bool epic_foreground(const struct epic_core *core)
{
	return core->shared->foreground == core;
}

void epic_on_background(struct epic_core *core, void (*wait)(void *arg), void *arg)
{
	core->turn.wait = wait;
	core->turn.wait_arg = arg;
}

void epic_settle(struct epic_core *core)
{
	const struct epic_core *at_work = core->shared->foreground;

	core->rival = NULL;
	core->turn.wait = NULL;
	if (at_work != core && !core->turn.parked && at_work->cycle > core->cycle)
		come_in(core, at_work->cycle);
	core->rival = NULL;
	epic_group_settle(core);
	core->turn.parked = true;
}
