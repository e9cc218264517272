/* Threads on cores: who runs, and in which turn. */
#include <stdlib.h>
#include <string.h>

#include "machine/pace.h"
#include "machine/stream.h"
#include "machine/window.h"

#define PACE_CYCLES	  10000	   /* a core waits for the slowest that is so far behind */
#define TURN_CYCLES	  50000	   /* threads that share a core swap after that time */
#define TURN_PATIENCE_NS  20000000 /* then a thread goes on without its turn */
#define LOOK_INSTRUCTIONS 1024

/* Moves the clock over time in which the thread did nothing. */
static void skip_to(struct machine_core *core, uint64_t time)
{
	struct machine_progress *progress = core->progress;

	if (progress->time < time) {
		/* In this order for who reads meanwhile: see tally.c. */
		progress->idle += time - progress->time;
		__atomic_store_n(&progress->time, time, __ATOMIC_RELEASE);
	}
}

static void forget_lines(struct machine_core *core)
{
	for (unsigned set = 0; set < L1_SETS; set++)
		core->data[set] = core->code[set] = (struct machine_mru){.line = UINT64_MAX};
	memset(core->data_ways.line, 0xff, sizeof(core->data_ways.line));
	memset(core->code_ways.line, 0xff, sizeof(core->code_ways.line));
}

/*
 * Without the turn a thread goes on all the same: whoever has it may wait for this one in the host.
 * Two threads at once on a core cost some exactness of time, never a count: each counts for itself.
 */
static void take_turn(struct machine_core *core)
{
	struct core *shared = core->core;

	__atomic_fetch_add(&shared->waiting, 1, __ATOMIC_RELAXED);
	core->has_turn = lock_acquire_within(&shared->turn, core->thread, TURN_PATIENCE_NS);
	__atomic_fetch_sub(&shared->waiting, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->turns, 1, __ATOMIC_RELAXED);
	if (shared->last_user != core->user) {
		shared->last_user = core->user;
		forget_lines(core);
	}
	skip_to(core, core_clock(shared));
	core->turn_start = core->progress->time;
	core->attention = core->next_look = 0;
}

static void give_turn(struct machine_core *core)
{
	window_drain(core);
	pace_hide(core);
	if (core->has_turn)
		lock_release(&core->core->turn, core->thread);
	core->has_turn = false;
}

static void swap_turn(struct machine_core *core)
{
	struct core *shared = core->core;
	uint32_t turns = __atomic_load_n(&shared->turns, __ATOMIC_RELAXED);
	struct pace_wait wait = {.patience_ns = core->machine->patience_ns};

	give_turn(core);
	while (__atomic_load_n(&shared->turns, __ATOMIC_RELAXED) == turns && pace_wait_on(&wait))
		continue;
	take_turn(core);
}

static void look_around(struct machine_core *core)
{
	const uint64_t turn_ticks = TURN_CYCLES * core->machine->core_ticks;

	pace_show(core);
	pace_keep(core, PACE_CYCLES);
	if (!core->has_turn)
		core->has_turn = lock_acquire_within(&core->core->turn, core->thread, 0);
	if (__atomic_load_n(&core->core->waiting, __ATOMIC_RELAXED) &&
	    core->progress->time > core->turn_start + turn_ticks) {
		swap_turn(core);
		pace_show(core);
	}
	core->next_look = core->progress->instructions + LOOK_INSTRUCTIONS;
}

void machine_attend(struct machine_core *core)
{
	const struct machine_progress *progress = core->progress;
	uint64_t due;

	window_retire(core);
	if (progress->instructions >= core->next_look)
		look_around(core);
	due = window_attention(core);
	core->attention = due < core->next_look ? due : core->next_look;
}

static unsigned count_users(const struct core *shared)
{
	unsigned users = 0;

	for (unsigned i = 0; i < shared->users_high; i++)
		users += shared->users[i] != 0;
	return users;
}

static void forget_dead(struct machine *machine, unsigned number, uint32_t caller)
{
	struct core *shared = &machine->cores[number];
	bool died = false;

	for (unsigned i = 0; i < shared->users_high; i++) {
		uint32_t user = shared->users[i];

		if (user && user != caller && !lock_thread_lives(user)) {
			shared->users[i] = 0;
			died = true;
		}
	}
	if (died && !count_users(shared))
		machine->state->pace[number] = 0;
}

/* There is room: see choose_core(). @return where its progress is kept */
static struct machine_progress *list_user(struct core *shared, uint32_t thread)
{
	unsigned i = 0;

	while (i < shared->users_high && shared->users[i])
		i++;
	shared->users[i] = thread;
	if (i == shared->users_high)
		__atomic_store_n(&shared->users_high, i + 1, __ATOMIC_RELEASE);
	return &shared->progress[i];
}

static void unlist_user(struct core *shared, const struct machine_progress *progress)
{
	shared->users[progress - shared->progress] = 0;
}

/* @return its number, -1 where all cores have as many threads as they can */
static int choose_core(struct machine *machine, uint32_t thread)
{
	unsigned fewest = CORE_USERS_MAX;
	int best = -1;

	for (unsigned i = 0; i < machine->core_count && fewest; i++) {
		unsigned users;

		forget_dead(machine, i, thread);
		users = count_users(&machine->cores[i]);
		if (users < fewest) {
			best = (int)i;
			fewest = users;
		}
	}
	return best;
}

static bool is_alone(const struct machine *machine)
{
	unsigned users = 0;

	for (unsigned i = 0; i < machine->core_count; i++)
		users += count_users(&machine->cores[i]);
	return users == 1;
}

/* As long as nobody else comes, neither lock costs its thread more than plain loads and stores. */
static void lean(struct machine *machine, struct core *shared)
{
	lock_lean(&machine->state->lock, machine->holder);
	lock_acquire(&shared->caches, machine->holder);
	lock_lean(&shared->caches, machine->holder);
	lock_release(&shared->caches, machine->holder);
}

static void straighten(struct machine *machine, struct core *shared)
{
	lock_acquire(&shared->caches, machine->holder);
	lock_straighten(&shared->caches, machine->holder);
	lock_release(&shared->caches, machine->holder);
	lock_straighten(&machine->state->lock, machine->holder);
}

struct machine_core *machine_core_enter(struct machine *machine, struct machine_space *space,
					uint64_t not_before)
{
	struct machine_core *core = aligned_alloc(64, (sizeof(*core) + 63) / 64 * 64);
	struct core *shared;
	int number;

	if (!core)
		return NULL;
	memset(core, 0, sizeof(*core));
	memset(core->tlb, 0xff, sizeof(core->tlb));
	forget_lines(core);
	core->machine = machine;
	core->space = space;
	core->thread = lock_thread();
	core->first_end = UINT64_MAX;

	machine_hold(machine, core->thread);
	number = choose_core(machine, core->thread);
	if (number < 0) {
		machine_let_go(machine);
		free(core);
		return NULL;
	}
	core->number = (unsigned)number;
	shared = &machine->cores[core->number];
	core->progress = list_user(shared, core->thread);
	core->user = ++machine->state->next_user;
	if (machine->may_lean && is_alone(machine))
		lean(machine, shared);
	machine_let_go(machine);

	core->core = shared;
	core->l1d = shared->l1d;
	core->l1i = shared->l1i;
	take_turn(core);
	skip_to(core, not_before);
	skip_to(core, __atomic_load_n(&machine->state->passed, __ATOMIC_RELAXED));
	pace_show(core);
	return core;
}

void machine_core_pause(struct machine_core *core)
{
	give_turn(core);
}

void machine_core_resume(struct machine_core *core)
{
	take_turn(core);
	skip_to(core, machine_now(core->machine));
	pace_show(core);
}

void machine_core_leave(struct machine_core *core)
{
	struct machine *machine = core->machine;

	window_drain(core);
	machine_hold(machine, core->thread);
	window_wait(core, stream_drain(machine, core->number, core->progress->time));
	unlist_user(core->core, core->progress);
	straighten(machine, core->core);
	machine_let_go(machine);
	give_turn(core);
	free(core);
}

void machine_pass(struct machine *machine, uint64_t ticks)
{
	const uint64_t *pace = machine->state->pace;

	for (unsigned i = 0; i < machine->core_count; i++) {
		if (!__atomic_load_n(&pace[i], __ATOMIC_RELAXED))
			continue;
		forget_dead(machine, i, 0);
		if (__atomic_load_n(&pace[i], __ATOMIC_RELAXED))
			return;
	}
	machine->state->passed = machine_now(machine) + ticks;
	__atomic_store_n(&machine->state->horizon, machine->state->passed, __ATOMIC_RELAXED);
}
