/* Threads on cores: who runs, and in which turn. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/access.h"
#include "machine/accumulator.h"
#include "machine/address_space.h"
#include "machine/buffers.h"
#include "machine/control.h"
#include "machine/front.h"
#include "machine/host_cpu.h"
#include "machine/issue.h"
#include "machine/machine.h"
#include "machine/mshr.h"
#include "machine/pipe.h"
#include "machine/private.h"
#include "machine/skew.h"
#include "machine/sleep.h"
#include "machine/stall.h"
#include "machine/tlb.h"
#include "machine/turns.h"
#include "machine/users.h"
#include "machine/waits.h"
#include "machine/write_combining.h"

#define OWNERSHIP_CYCLES 50000	  /* threads that share a core swap after that time */
#define OWNER_LOOK_NS	 5000000  /* what the owner does is looked at while it is waited for, */
#define OWNER_LOOK_MOST	 80000000 /* by each of many at last so far apart, */
#define SWAP_NS		 50000	  /* who gives it away looks whether another has it, */
#define SWAP_NAPS	 400	  /* and after so many such looks whether one can take it */

/* Moves the clock over time in which the thread did nothing. */
static void skip_to(struct machine_hart *core, uint64_t time)
{
	struct machine_progress *progress = core->progress;

	if (progress->time < time) {
		if (core->tracked)
			waits_skip(core, progress->time, time);
		/* In this order for who reads meanwhile: see accumulator.c. */
		progress->idle += time - progress->time;
		__atomic_store_n(&progress->time, time, __ATOMIC_RELEASE);
	}
}

static void forget_lines(struct machine_hart *core)
{
	for (unsigned i = 0; i < MACHINE_L0_LINES; i++)
		core->data[i].line = core->code[i].line = UINT64_MAX;
	front_forget(core);
}

/* Pages may have other frames than it knows. */
static void find_moved(struct machine_hart *core)
{
	const uint64_t moves = __atomic_load_n(&core->space->moves, __ATOMIC_ACQUIRE);

	if (tlb_settle(core))
		forget_lines(core);
	if (core->moves == moves)
		return;
	core->moves = moves;
	memset(core->frames, 0xff, sizeof(core->frames));
	forget_lines(core);
}

/*
 * The next look at the owner. Of a crowd each looks more rarely the longer it waits, or the host
 * would do nothing else; but not once the owner seems unable to go on.
 */
static uint64_t look_after(const struct core *shared, const struct stall *stall, uint64_t ns)
{
	const uint64_t crowd =
	    __atomic_load_n(&shared->waiting, __ATOMIC_RELAXED) * (uint64_t)OWNER_LOOK_NS;
	const uint64_t most = crowd < OWNER_LOOK_MOST ? crowd : OWNER_LOOK_MOST;

	if (stall->looks || most < OWNER_LOOK_NS)
		return OWNER_LOOK_NS;
	return 2 * ns < most ? 2 * ns : most;
}

/* @return whether the thread got it: not where the owner sleeps, and may do so until we go on */
static bool acquire_owner(struct machine_hart *core)
{
	struct lock *owner = &core->core->owner;
	struct stall *stall = &core->owner_stall;
	uint64_t ns = stall_found(stall) ? 0 : OWNER_LOOK_NS;

	if (lock_owner(owner) == core->thread)
		return false;
	while (!lock_acquire_within(owner, core->thread, ns)) {
		uint32_t thread = lock_owner(owner);

		if (thread && stall_look(stall, core->machine, thread, core->thread))
			return false;
		ns = look_after(core->core, stall, ns);
	}
	return true;
}

/* It waits until it has the core, or whoever has it cannot go on. */
static void await_core(struct machine_hart *core)
{
	struct core *shared = core->core;

	__atomic_fetch_add(&shared->waiting, 1, __ATOMIC_RELAXED);
	machine_hart_set_waits(core, true);
	core->owns_core = acquire_owner(core);
	machine_hart_set_waits(core, false);
	__atomic_fetch_sub(&shared->waiting, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->owners, 1, __ATOMIC_RELAXED);
}

/* Of the threads of a core the one that has it now: what it noted may have been displaced. */
static void begin_hold(struct machine_hart *core)
{
	struct core *shared = core->core;
	uint64_t clock = core_clock(shared);

	skip_to(core, clock);
	if (__atomic_load_n(&shared->last_user, __ATOMIC_RELAXED) == core->user)
		return;
	__atomic_store_n(&shared->last_user, core->user, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->swapped_at, core->progress->time, __ATOMIC_RELAXED);
	forget_lines(core);
	/* The other may have been one of another process (choice: it was). */
	tlb_flush(core);
}

/* Of what is followed only where somebody subscribes to it. */
static void find_subscribers(struct machine_hart *core)
{
	pipe_look(core);
	waits_look(core);
}

static void take_turn(struct machine_hart *core)
{
	core->has_met = false;
	machine_hart_set_waits(core, true);
	skip_to(core, turns_take(core));
	machine_hart_set_waits(core, false);
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
	if (turns_are_taken(core)) {
		take_turn(core);
	} else {
		core->owner_stall = (struct stall){0};
		await_core(core);
		begin_hold(core);
	}
	core->owned_since = core->progress->time;
	core->attention = core->next_look = 0;
	find_subscribers(core);
}

/* As soon as the owner goes on there is one thread again: without a core its clock would run free.
 */
static void regain_core(struct machine_hart *core)
{
	await_core(core);
	if (!core->owns_core)
		return;
	begin_hold(core);
	core->owned_since = core->progress->time;
}

static void give_up_core(struct machine_hart *core)
{
	if (!core->owns_core)
		return;
	skew_hide(core);
	core->owns_core = false;
	if (!turns_are_taken(core))
		lock_release(&core->core->owner, core->thread);
}

/* Whether a thread that waits for the core only has to be scheduled by the host. */
static bool is_wanted(const struct core *shared)
{
	for (unsigned i = 0; i < shared->users_high; i++) {
		const struct core_user *user = &shared->users[i];
		uint32_t thread = __atomic_load_n(&user->thread, __ATOMIC_RELAXED);

		if (thread && __atomic_load_n(&user->waits, __ATOMIC_RELAXED) &&
		    !lock_thread_sleep(thread, thread))
			return true;
	}
	return false;
}

static void release_core(struct machine_hart *core)
{
	pipe_end_call(core);
	machine_end_string(core);
	mshr_drain(core);
	machine_end_block(core);
	give_up_core(core);
}

static void yield_core(struct machine_hart *core)
{
	struct core *shared = core->core;
	uint32_t owners = __atomic_load_n(&shared->owners, __ATOMIC_RELAXED);

	__atomic_fetch_add(&shared->yielding, 1, __ATOMIC_RELAXED);
	release_core(core);
	for (unsigned i = 1; __atomic_load_n(&shared->owners, __ATOMIC_RELAXED) == owners &&
			     __atomic_load_n(&shared->waiting, __ATOMIC_RELAXED);
	     i++) {
		if (i % SWAP_NAPS == 0 && !is_wanted(shared))
			break;
		nanosleep(&(struct timespec){.tv_nsec = SWAP_NS}, NULL);
	}
	acquire_core(core);
	__atomic_fetch_sub(&shared->yielding, 1, __ATOMIC_RELAXED);
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

/*
 * The thread goes on at @time, or where it is if that is later. The lock is held since the caller
 * looked at the clock: else machine_pass() could come between, and the thread would be behind what
 * has passed.
 */
static void come_in(struct machine_hart *core, uint64_t time)
{
	skip_to(core, time);
	if (core->owns_core)
		skew_show(core);
}

/* Where the others have passed a core that could not go on, it goes on where they are. */
static void keep_together(struct machine_hart *core)
{
	const uint64_t apart = SKEW_QUANTUM_APART * core->machine->core_ticks;

	if (skew_is_hidden(core)) {
		uint64_t now;

		machine_hold(core->machine, core->thread);
		now = machine_now(core->machine);
		come_in(core, now > core->progress->time + 2 * apart ? now : 0);
		machine_let_go(core->machine);
	}
	skew_keep(core);
}

void machine_hart_wait(struct machine_hart *core)
{
	find_subscribers(core);
	if (keep_turn(core))
		return;
	if (!core->owns_core)
		regain_core(core);
	if (must_yield(core))
		yield_core(core);
	if (core->owns_core)
		keep_together(core);
	else
		core->skew_due = UINT64_MAX;
	core->next_look = core->progress->instructions + skew_interval(core);
}

bool machine_hart_has_turn(const struct machine_hart *core)
{
	return !turns_are_taken(core) || turns_have(core);
}

static bool would_wait(const struct machine_hart *core)
{
	if (turns_are_taken(core))
		return core->progress->time >= core->skew_due || !turns_have(core);
	return !core->owns_core || must_yield(core) || skew_would_wait(core);
}

static void synchronise(struct machine_hart *core)
{
	void (*defer)(void) = core->machine->defer;
	bool waits = defer && would_wait(core);

	if (defer && (core->owns_core || turns_are_taken(core)) && (waits || !core->in_turn))
		skew_show(core);
	if (waits)
		defer();
	else
		machine_hart_wait(core);
}

void machine_attend(struct machine_hart *core)
{
	machine_attend_block(core, 0);
}

void machine_attend_block(struct machine_hart *core, uint64_t ticks)
{
	const struct machine_progress *progress = core->progress;
	uint64_t due;

	if (core->attention == core->buffers.due && buffers_pass(core))
		return;
	if (core->string.pieces && progress->instructions >= core->string.due)
		machine_end_string(core);
	if (progress->instructions >= core->buffers.fence) {
		core->buffers.fence = UINT64_MAX;
		mshr_drain(core);
	}
	due = mshr_retire(core, ticks);
	if (progress->instructions >= core->next_look || skew_is_due(core)) {
		synchronise(core);
		due = mshr_attention(core);
	} else if (core->in_turn && !core->machine->defer && skew_is_awaited(core)) {
		skew_show(core);
	}
	if (core->string.pieces && core->string.due < due)
		due = core->string.due;
	if (core->buffers.fence < due)
		due = core->buffers.fence;
	buffers_attend(core, due < core->next_look ? due : core->next_look);
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

static uint64_t *cpus_of(const struct machine_hart *core)
{
	return &core->core->cpus[core->progress - core->core->progress];
}

static struct machine_memory_policy *memory_of(const struct machine_hart *core)
{
	return &core->core->memory[core->progress - core->core->progress];
}

static void sit_on(struct machine_hart *core, unsigned number)
{
	core->number = number;
	core->socket = machine_socket(core->machine, number);
	core->number_in_socket = machine_core_of_socket(core->machine, number);
	core->core = &core->machine->cores[number];
	core->answers = core->core->answers[ANSWERS_DEMAND][0];
	core->l1d = &core->core->l1d;
	core->l1i = &core->core->l1i;
}

/* The lock is held. @return whether there is room on a core */
static bool take_place(struct machine_hart *core)
{
	struct machine *machine = core->machine;
	int number = users_choose_core(machine, core->thread, core->cpus);

	if (number < 0)
		return false;
	sit_on(core, (unsigned)number);
	core->progress = users_list(core->core, core->thread);
	machine_hart_user(core)->process = (uint32_t)getpid();
	machine_hart_user(core)->before = accumulators_ticks_run(core->progress);
	*cpus_of(core) = core->cpus;
	*memory_of(core) = core->memory;
	machine_occupy(machine, core->number);
	return true;
}

/* That has no place yet. */
static void clear_hart(struct machine_hart *core, struct machine *machine)
{
	memset(core, 0, sizeof(*core));
	memset(core->frames, 0xff, sizeof(core->frames));
	forget_lines(core);
	core->machine = machine;
	core->fill_buffers = machine->desc->fill_buffers;
	core->reorder_window = machine->desc->reorder_window;
	core->l2_ticks = private_l2_ticks(machine);
	front_init(core);
	if (machine->uarch)
		predict_init(&core->predictor, machine->uarch);
	issue_init(core);
	buffers_init(core);
	tlb_init(core);
	core->thread = lock_thread();
	/* A block's stores have a cycle each. */
	core->locked_ticks = (uint32_t)(machine->core_ticks * (machine->desc->locked_cycles -
							       !!machine->desc->locked_cycles));
}

static struct machine_hart *allocate_hart(struct machine *machine)
{
	struct machine_hart *core = aligned_alloc(64, (sizeof(*core) + 63) / 64 * 64);

	if (core)
		clear_hart(core, machine);
	return core;
}

static uint64_t clock_at_start(const struct machine_hart *core)
{
	uint64_t passed = __atomic_load_n(&core->machine->state->passed, __ATOMIC_RELAXED);

	return machine_max(machine_max(core->not_before, passed), core_clock(core->core));
}

/* It has no core any more. */
static void forget(struct machine_hart *core)
{
	if (turns_are_taken(core))
		turns_leave(core);
	free(core);
}

/*
 * Takes a core for a hart that has its time and the cores on which it may run.
 * @param ran  ticks that its thread has executed for on another
 * @return it; NULL: all have as many threads as they can, and it is gone
 */
static struct machine_hart *settle(struct machine_hart *core, uint64_t ran, bool in_turns)
{
	struct machine *machine = core->machine;
	bool placed;

	machine_hold(machine, core->thread);
	placed = take_place(core);
	if (!core->user)
		core->user = ++machine->state->next_user;
	if (placed && in_turns)
		turns_join(core);
	if (placed)
		machine_hart_user(core)->before -= ran;
	if (placed && !turns_are_taken(core))
		skew_show_placed(core, clock_at_start(core));
	machine_let_go(machine);
	if (placed)
		return core;
	forget(core);
	return NULL;
}

static struct machine_hart *place_hart(struct machine *machine, uint64_t cpus, uint64_t not_before,
				       bool in_turns)
{
	struct machine_hart *core = allocate_hart(machine);

	if (!core)
		return NULL;
	core->not_before = not_before;
	core->cpus = cpus;
	return settle(core, 0, in_turns);
}

struct machine_hart *machine_hart_place(struct machine *machine, uint64_t not_before)
{
	return place_hart(machine, UINT64_MAX, not_before, true);
}

struct machine_hart *machine_hart_place_on(struct machine *machine, uint64_t cpus,
					   uint64_t not_before)
{
	return place_hart(machine, cpus, not_before, true);
}

uint64_t machine_hart_cpus(const struct machine_hart *core)
{
	return core->cpus;
}

void machine_hart_set_memory(struct machine_hart *core, struct machine_memory_policy policy)
{
	core->memory = policy;
	*memory_of(core) = policy;
}

struct machine_memory_policy machine_hart_memory(const struct machine_hart *core)
{
	return core->memory;
}

uint64_t machine_hart_ran(const struct machine_hart *core)
{
	return accumulators_ticks_run(core->progress) - machine_hart_user(core)->before;
}

unsigned machine_hart_core(const struct machine_hart *core)
{
	return core->number;
}

/* The place is the starting thread's. It was lost where the thread that took it has died since. */
static bool take_over(struct machine_hart *core)
{
	struct core_user *user = machine_hart_user(core);
	uint32_t placer = core->thread;

	core->thread = lock_thread();
	if (user->thread != placer && user->thread != core->thread && !take_place(core))
		return false;
	users_name(machine_hart_user(core), core->thread, false);
	machine_hart_user(core)->process = (uint32_t)getpid();
	__atomic_store_n(&machine_hart_user(core)->begun, 1, __ATOMIC_RELAXED);
	return true;
}

void machine_hart_name(struct machine_hart *core, uint32_t thread)
{
	struct core_user *user = machine_hart_user(core);

	machine_hold(core->machine, lock_thread());
	if (user->unnamed && user->thread == lock_thread()) {
		users_name(user, thread, false);
		skew_name_placed(core, thread);
	}
	machine_let_go(core->machine);
}

bool machine_hart_start(struct machine_hart *core, struct machine_address_space *space)
{
	struct machine *machine = core->machine;
	bool placed;

	machine_hold(machine, lock_thread());
	placed = take_over(core);
	if (placed && machine->may_bias && users_are_one(machine))
		bias_locks(machine, core->core);
	machine_let_go(machine);
	if (!placed) {
		free(core);
		return false;
	}
	core->space = space;
	acquire_core(core);
	machine_hold(machine, core->thread);
	come_in(core, clock_at_start(core));
	machine_let_go(machine);
	return true;
}

struct machine_hart *machine_hart_enter(struct machine *machine,
					struct machine_address_space *space, uint64_t not_before)
{
	struct machine_hart *core = place_hart(machine, UINT64_MAX, not_before, false);

	return core && machine_hart_start(core, space) ? core : NULL;
}

void machine_hart_pause(struct machine_hart *core)
{
	host_cpu_let_go(core);
	release_core(core);
	if (turns_are_taken(core))
		turns_pause(core);
}

void machine_hart_halt_others(struct machine_hart *core)
{
	if (turns_are_taken(core) && core->machine->halt.rest)
		turns_halt(core);
}

void machine_hart_release_others(struct machine_hart *core)
{
	if (turns_are_taken(core))
		turns_release(core);
}

void machine_hart_vfork(struct machine_hart *core)
{
	__atomic_store_n(&machine_hart_user(core)->in_vfork, 1, __ATOMIC_RELAXED);
}

void machine_hart_come_back(struct machine_hart *core)
{
	__atomic_store_n(&machine_hart_user(core)->in_vfork, 0, __ATOMIC_RELAXED);
	if (turns_are_taken(core))
		turns_come_back(core);
}

void machine_hart_sleep(struct machine_hart *core, uint64_t ticks)
{
	if (core->owns_core)
		skip_to(core, core->progress->time + ticks);
	else
		core->wakes_at = core->progress->time + ticks;
}

/* The sleep of one that is paused is over. */
static void wake_up(struct machine_hart *core)
{
	if (!core->wakes_at)
		return;
	if (!turns_are_taken(core))
		sleep_on(core);
	skip_to(core, core->wakes_at);
	core->wakes_at = 0;
}

/* The system may have the other threads stand still meanwhile. */
static void pause_in_place(struct machine_hart *core)
{
	host_cpu_let_go(core);
	pipe_end_call(core);
	mshr_drain(core);
	skew_let_others(core);
	if (turns_are_taken(core))
		turns_call(core);
}

void machine_hart_pause_briefly(struct machine_hart *core)
{
	if (!turns_are_taken(core) && __atomic_load_n(&core->core->waiting, __ATOMIC_RELAXED))
		machine_hart_pause(core);
	else
		pause_in_place(core);
}

void machine_hart_resume(struct machine_hart *core)
{
	wake_up(core);
	if (core->owns_core) {
		if (turns_are_taken(core))
			turns_await_placed(core);
		core->attention = core->next_look = 0;
		find_subscribers(core);
		find_moved(core);
		return;
	}
	acquire_core(core);
	/* Others may have moved them until it had its turn. */
	find_moved(core);
	machine_hold(core->machine, core->thread);
	come_in(core, turns_are_taken(core) ? 0 : machine_now(core->machine));
	machine_let_go(core->machine);
}

/* Of one that never started the core has seen nothing. */
static void finish(struct machine_hart *core)
{
	if (!core->space)
		return;
	host_cpu_let_go(core);
	pipe_end_call(core);
	mshr_drain(core);
	mshr_wait(core, wc_drain(core->machine, core->number, core->progress->time));
	revoke_locks(core->machine, core->core);
}

/* The thread leaves its core, and keeps its turn. */
static void vacate(struct machine_hart *core)
{
	struct machine *machine = core->machine;

	machine_hold(machine, core->thread);
	finish(core);
	accumulators_account(core);
	users_unlist(machine_hart_user(core));
	if (!users_count(core->core))
		machine_vacate(machine, core->number);
	if (!core->space)
		skew_forget(machine, core->number);
	give_up_core(core);
	machine_let_go(machine);
}

void machine_hart_leave(struct machine_hart *core)
{
	vacate(core);
	forget(core);
}

struct machine_hart *machine_hart_move(struct machine_hart *core, uint64_t cpus)
{
	const uint64_t time = machine_max(core->progress->time, core->wakes_at);
	const uint64_t ran = machine_hart_ran(core);
	const uint64_t user = core->user;
	const unsigned member = core->member;

	vacate(core);
	clear_hart(core, core->machine);
	core->not_before = time;
	core->cpus = cpus;
	core->user = user;
	core->member = member;
	return settle(core, ran, true);
}

void machine_hart_exit(struct machine_hart *core)
{
	core->exits = true;
	machine_hart_leave(core);
}

void machine_hart_end(struct machine_hart *core)
{
	core->ends_process = true;
	machine_hart_exit(core);
}

void machine_hart_exec(struct machine_hart *core)
{
	struct machine_progress *progress = core->progress;
	const unsigned number = core->number, member = core->member;
	const uint64_t user = core->user, cpus = core->cpus;
	const struct machine_memory_policy memory = core->memory;
	/* Whichever thread executes a program becomes the first one of its process. */
	const uint32_t heir = (uint32_t)getpid();

	machine_hold(core->machine, core->thread);
	finish(core);
	users_name(machine_hart_user(core), heir, false);
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
	core->memory = memory;
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
			if (shared->users[i].thread != core->thread)
				continue;
			if (found) {
				users_unlist(&shared->users[i]);
				continue;
			}
			sit_on(core, number);
			core->progress = &shared->progress[i];
			core->cpus = shared->cpus[i];
			core->memory = shared->memory[i];
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
		users_forget_dead(machine, i, 0);
		if (__atomic_load_n(&skew[i].clock, __ATOMIC_RELAXED))
			return;
	}
	machine->state->passed = machine_now(machine) + ticks;
	__atomic_store_n(&machine->state->horizon, machine->state->passed, __ATOMIC_RELAXED);
}
