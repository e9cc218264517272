/* Threads on cores: who runs, and in which turn. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine.h"
#include "machine/mshr.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/turns.h"
#include "machine/write_combining.h"

#define OWNERSHIP_CYCLES 50000	 /* threads that share a core swap after that time */
#define OWNER_LOOK_NS	 5000000 /* what the owner does is looked at while it is waited for, */
#define OWNER_STALLS	 4	 /* and so often seen asleep it is not waited for any more */
#define SWAP_NS		 50000
#define SWAP_NAPS	 400

/* Moves the clock over time in which the thread did nothing. */
static void skip_to(struct machine_hart *core, uint64_t time)
{
	struct machine_progress *progress = core->progress;

	if (progress->time < time) {
		/* In this order for who reads meanwhile: see accumulator.c. */
		progress->idle += time - progress->time;
		__atomic_store_n(&progress->time, time, __ATOMIC_RELEASE);
	}
}

static void forget_lines(struct machine_hart *core)
{
	for (unsigned i = 0; i < MACHINE_L0_LINES; i++)
		core->data[i].line = core->code[i].line = UINT64_MAX;
}

/* @return whether the thread got it: not where the owner sleeps, and may do so until we go on */
static bool acquire_owner(struct machine_hart *core)
{
	struct lock *owner = &core->core->owner;
	unsigned stalls = 0;

	if (lock_owner(owner) == core->thread)
		return false;
	while (!lock_acquire_within(owner, core->thread, OWNER_LOOK_NS)) {
		stalls = skew_is_stopped(core->machine, core->number) ? stalls + 1 : 0;
		if (stalls == OWNER_STALLS)
			return false;
	}
	return true;
}

/* Of the threads of a core the one that has it now: what it noted may have been displaced. */
static void begin_hold(struct machine_hart *core)
{
	struct core *shared = core->core;
	uint64_t clock = core_clock(shared);

	skip_to(core, clock);
	if (shared->last_user == core->user)
		return;
	shared->last_user = core->user;
	shared->swapped_at = core->progress->time;
	forget_lines(core);
}

static void take_turn(struct machine_hart *core)
{
	core->has_met = false;
	skip_to(core, turns_take(core));
	core->owns_core = true;
	begin_hold(core);
}

/*
 * Without the owner a thread goes on all the same: whoever has it may wait for this one in the
 * host. Two threads at once on a core cost some exactness of time, never a count: each counts for
 * itself.
 */
static void acquire_core(struct machine_hart *core)
{
	struct core *shared = core->core;

	if (turns_are_taken(core)) {
		take_turn(core);
	} else {
		__atomic_fetch_add(&shared->waiting, 1, __ATOMIC_RELAXED);
		core->owns_core = acquire_owner(core);
		__atomic_fetch_sub(&shared->waiting, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->owners, 1, __ATOMIC_RELAXED);
		begin_hold(core);
	}
	core->owned_since = core->progress->time;
	core->attention = core->next_look = 0;
}

static void release_core(struct machine_hart *core)
{
	mshr_drain(core);
	if (!core->owns_core)
		return;
	skew_hide(core);
	core->owns_core = false;
	if (!turns_are_taken(core))
		lock_release(&core->core->owner, core->thread);
}

static void yield_core(struct machine_hart *core)
{
	struct core *shared = core->core;
	uint32_t owners = __atomic_load_n(&shared->owners, __ATOMIC_RELAXED);

	release_core(core);
	for (unsigned i = 0; i < SWAP_NAPS; i++) {
		if (__atomic_load_n(&shared->owners, __ATOMIC_RELAXED) != owners ||
		    !__atomic_load_n(&shared->waiting, __ATOMIC_RELAXED))
			break;
		nanosleep(&(struct timespec){.tv_nsec = SWAP_NS}, NULL);
	}
	acquire_core(core);
}

/* In turns: @return whether the thread is one of those */
static bool keep_turn(struct machine_hart *core)
{
	if (!turns_are_taken(core))
		return false;
	skew_show(core);
	core->meetings = __atomic_load_n(&skew_of(core)->meetings, __ATOMIC_RELAXED);
	if (core->progress->time >= core->skew_due || !turns_have(core))
		take_turn(core);
	core->next_look = core->progress->instructions + skew_interval(core);
	return true;
}

/* Another thread of the core waits, and this one has had its time. */
static bool must_yield(const struct machine_hart *core)
{
	const uint64_t slice_ticks = OWNERSHIP_CYCLES * core->machine->core_ticks;

	return core->owns_core && __atomic_load_n(&core->core->waiting, __ATOMIC_RELAXED) &&
	       core->progress->time > core->owned_since + slice_ticks;
}

void machine_hart_wait(struct machine_hart *core)
{
	if (keep_turn(core))
		return;
	if (!core->owns_core)
		core->owns_core = lock_acquire_within(&core->core->owner, core->thread, 0);
	if (must_yield(core))
		yield_core(core);
	if (core->owns_core)
		skew_keep(core);
	else
		core->skew_due = UINT64_MAX;
	core->next_look = core->progress->instructions + skew_interval(core);
}

static bool would_wait(const struct machine_hart *core)
{
	if (turns_are_taken(core))
		return core->progress->time >= core->skew_due || !turns_have(core);
	return must_yield(core) || (core->owns_core && skew_would_wait(core));
}

static void synchronise(struct machine_hart *core)
{
	void (*defer)(void) = core->machine->defer;

	if (defer && (core->owns_core || turns_are_taken(core)))
		skew_show(core);
	if (defer && would_wait(core))
		defer();
	else
		machine_hart_wait(core);
}

void machine_attend(struct machine_hart *core)
{
	const struct machine_progress *progress = core->progress;
	uint64_t due;

	due = mshr_retire(core);
	if (progress->instructions >= core->next_look || skew_is_due(core)) {
		synchronise(core);
		due = mshr_attention(core);
	}
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
	if (died && !count_users(shared)) {
		skew_forget(machine, number);
		machine_vacate(machine, number);
	}
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

/* @return its number, -1 where all cores have as many threads as they can */
static int choose_core(struct machine *machine, uint32_t thread, uint64_t cpus)
{
	unsigned fewest = CORE_USERS_MAX;
	int best = -1;

	for (unsigned i = 0; i < machine->core_count && fewest; i++) {
		unsigned users;

		if (!(cpus >> i & 1))
			continue;
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
static void bias_locks(struct machine *machine, struct core *shared)
{
	lock_bias(&machine->state->lock, machine->holder);
	lock_acquire(&shared->caches, machine->holder);
	lock_bias(&shared->caches, machine->holder);
	lock_release(&shared->caches, machine->holder);
}

static void revoke_locks(struct machine *machine, struct core *shared)
{
	lock_acquire(&shared->caches, machine->holder);
	lock_revoke(&shared->caches, machine->holder);
	lock_release(&shared->caches, machine->holder);
	lock_revoke(&machine->state->lock, machine->holder);
}

static void show(struct machine_hart *core)
{
	if (core->owns_core)
		skew_show(core);
}

static uint32_t *user_of(const struct machine_hart *core)
{
	return &core->core->users[core->progress - core->core->progress];
}

static uint64_t *cpus_of(const struct machine_hart *core)
{
	return &core->core->cpus[core->progress - core->core->progress];
}

static void sit_on(struct machine_hart *core, unsigned number)
{
	core->number = number;
	core->core = &core->machine->cores[number];
	core->l1d = &core->core->l1d;
	core->l1i = &core->core->l1i;
}

/* The lock is held. @return whether there is room on a core */
static bool take_place(struct machine_hart *core)
{
	struct machine *machine = core->machine;
	int number = choose_core(machine, core->thread, core->cpus);

	if (number < 0)
		return false;
	sit_on(core, (unsigned)number);
	core->progress = list_user(core->core, core->thread);
	*cpus_of(core) = core->cpus;
	machine_occupy(machine, core->number);
	return true;
}

/* That has no place yet. */
static void clear_hart(struct machine_hart *core, struct machine *machine)
{
	memset(core, 0, sizeof(*core));
	memset(core->tlb, 0xff, sizeof(core->tlb));
	forget_lines(core);
	core->machine = machine;
	core->fill_buffers = machine->desc->fill_buffers;
	core->reorder_window = machine->desc->reorder_window;
	core->l2_ticks = private_l2_ticks(machine);
	core->thread = lock_thread();
}

static struct machine_hart *allocate_hart(struct machine *machine)
{
	struct machine_hart *core = aligned_alloc(64, (sizeof(*core) + 63) / 64 * 64);

	if (core)
		clear_hart(core, machine);
	return core;
}

static struct machine_hart *place_hart(struct machine *machine, uint64_t cpus, bool in_turns)
{
	struct machine_hart *core = allocate_hart(machine);
	bool placed;

	if (!core)
		return NULL;
	core->cpus = cpus;
	machine_hold(machine, core->thread);
	placed = take_place(core);
	core->user = ++machine->state->next_user;
	if (placed && in_turns)
		turns_join(core);
	machine_let_go(machine);
	if (!placed) {
		free(core);
		return NULL;
	}
	return core;
}

struct machine_hart *machine_hart_place(struct machine *machine)
{
	return place_hart(machine, UINT64_MAX, true);
}

struct machine_hart *machine_hart_place_on(struct machine *machine, uint64_t cpus)
{
	return place_hart(machine, cpus, true);
}

uint64_t machine_hart_cpus(const struct machine_hart *core)
{
	return core->cpus;
}

unsigned machine_hart_core(const struct machine_hart *core)
{
	return core->number;
}

/* The place is the starting thread's. It was lost where the thread that took it has died since. */
static bool take_over(struct machine_hart *core)
{
	uint32_t *user = user_of(core);
	uint32_t placer = core->thread;

	core->thread = lock_thread();
	if (*user != placer)
		return take_place(core);
	*user = core->thread;
	return true;
}

bool machine_hart_start(struct machine_hart *core, struct machine_address_space *space,
			uint64_t not_before)
{
	struct machine *machine = core->machine;
	bool placed;

	machine_hold(machine, lock_thread());
	placed = take_over(core);
	if (placed && machine->may_bias && is_alone(machine))
		bias_locks(machine, core->core);
	machine_let_go(machine);
	if (!placed) {
		free(core);
		return false;
	}
	core->space = space;
	acquire_core(core);
	skip_to(core, not_before);
	skip_to(core, __atomic_load_n(&machine->state->passed, __ATOMIC_RELAXED));
	show(core);
	return true;
}

struct machine_hart *machine_hart_enter(struct machine *machine,
					struct machine_address_space *space, uint64_t not_before)
{
	struct machine_hart *core = place_hart(machine, UINT64_MAX, false);

	return core && machine_hart_start(core, space, not_before) ? core : NULL;
}

void machine_hart_pause(struct machine_hart *core)
{
	release_core(core);
	if (turns_are_taken(core))
		turns_pause(core);
}

void machine_hart_sleep(struct machine_hart *core, uint64_t ticks)
{
	skip_to(core, core->progress->time + ticks);
}

void machine_hart_pause_briefly(struct machine_hart *core)
{
	if (turns_are_taken(core))
		mshr_drain(core);
	else
		machine_hart_pause(core);
}

void machine_hart_resume(struct machine_hart *core)
{
	if (turns_are_taken(core) && core->owns_core) {
		turns_await_placed(core);
		core->attention = core->next_look = 0;
		return;
	}
	acquire_core(core);
	if (!turns_are_taken(core))
		skip_to(core, machine_now(core->machine));
	show(core);
}

/* Of one that never started the core has seen nothing. */
static void finish(struct machine_hart *core)
{
	if (!core->space)
		return;
	mshr_drain(core);
	mshr_wait(core, wc_drain(core->machine, core->number, core->progress->time));
	revoke_locks(core->machine, core->core);
}

void machine_hart_leave(struct machine_hart *core)
{
	struct machine *machine = core->machine;

	machine_hold(machine, core->thread);
	finish(core);
	*user_of(core) = 0;
	if (!count_users(core->core))
		machine_vacate(machine, core->number);
	machine_let_go(machine);
	release_core(core);
	if (turns_are_taken(core))
		turns_leave(core);
	free(core);
}

struct machine_hart *machine_hart_move(struct machine_hart *core, uint64_t cpus)
{
	struct machine *machine = core->machine;

	machine_hart_leave(core);
	return machine_hart_place_on(machine, cpus);
}

void machine_hart_exit(struct machine_hart *core)
{
	core->exits = true;
	machine_hart_leave(core);
}

void machine_hart_exec(struct machine_hart *core)
{
	struct machine_progress *progress = core->progress;
	const unsigned number = core->number, member = core->member;
	const uint64_t user = core->user, cpus = core->cpus;
	/* Whichever thread executes a program becomes the first one of its process. */
	const uint32_t heir = (uint32_t)getpid();

	machine_hold(core->machine, core->thread);
	finish(core);
	*user_of(core) = heir;
	*cpus_of(core) = cpus;
	machine_let_go(core->machine);
	release_core(core);
	if (turns_are_taken(core))
		turns_hand_on(core, heir);
	clear_hart(core, core->machine);
	sit_on(core, number);
	core->thread = heir;
	core->progress = progress;
	core->cpus = cpus;
	core->member = member;
	core->user = user;
}

/* The lock is held. The first place of the thread is the hart's; it keeps no other. */
static bool find_place(struct machine_hart *core)
{
	struct machine *machine = core->machine;
	bool found = false;

	for (unsigned number = 0; number < machine->core_count; number++) {
		struct core *shared = &machine->cores[number];

		for (unsigned i = 0; i < shared->users_high; i++) {
			if (shared->users[i] != core->thread)
				continue;
			if (found) {
				shared->users[i] = 0;
				continue;
			}
			sit_on(core, number);
			core->progress = &shared->progress[i];
			core->cpus = shared->cpus[i];
			found = true;
		}
	}
	return found;
}

struct machine_hart *machine_hart_continue(struct machine *machine)
{
	struct machine_hart *core = allocate_hart(machine);
	bool found;

	if (!core)
		return NULL;
	machine_hold(machine, core->thread);
	found = find_place(core);
	if (found && !turns_continue(core))
		core->user = ++machine->state->next_user;
	machine_let_go(machine);
	if (found)
		return core;
	free(core);
	return NULL;
}

void machine_pass(struct machine *machine, uint64_t ticks)
{
	const struct skew *skew = machine->state->skew;

	for (unsigned i = 0; i < machine->core_count; i++) {
		if (!__atomic_load_n(&skew[i].clock, __ATOMIC_RELAXED))
			continue;
		forget_dead(machine, i, 0);
		if (__atomic_load_n(&skew[i].clock, __ATOMIC_RELAXED))
			return;
	}
	machine->state->passed = machine_now(machine) + ticks;
	__atomic_store_n(&machine->state->horizon, machine->state->passed, __ATOMIC_RELAXED);
}
