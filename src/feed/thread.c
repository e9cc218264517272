#include "feed/thread.h"

#include "base/lock.h"

static void forget(struct feed_thread *thread)
{
	thread->wide_next = FEED_NOWHERE;
	thread->wide_end = 0;
	thread->once = NULL;
	thread->string_load = FEED_NOWHERE;
	thread->string_store = FEED_NOWHERE;
	thread->repeat_address = 0;
	thread->repeat_count = 0;
}

static bool claim(struct feed_thread *thread)
{
	return !atomic_flag_test_and_set_explicit(&thread->claimed, memory_order_acquire);
}

static void unclaim(struct feed_thread *thread)
{
	atomic_flag_clear_explicit(&thread->claimed, memory_order_release);
}

/* @return whether there was one */
static bool put_back(struct feed_thread *thread)
{
	const bool held = thread->held;

	if (held)
		thread->core = thread->held;
	thread->held = NULL;
	return held;
}

static void leave(struct feed_thread *thread, void (*leave_core)(struct machine_hart *core))
{
	put_back(thread);
	if (thread->placed) {
		thread->ran += machine_hart_ran(thread->placed);
		machine_hart_leave(thread->placed);
	}
	thread->placed = NULL;
	if (!thread->core)
		return;
	if (!thread->paused)
		thread->not_before = machine_hart_time(thread->core);
	thread->ran += machine_hart_ran(thread->core);
	leave_core(thread->core);
	thread->core = NULL;
	thread->paused = false;
}

void feed_thread_init(struct feed_thread *thread, struct machine_hart *placed, uint64_t not_before,
		      uint64_t cpus)
{
	*thread = (struct feed_thread){
	    .placed = placed, .not_before = not_before, .cpus = cpus, .claimed = ATOMIC_FLAG_INIT};
	forget(thread);
}

/* Who made the thread may be naming it. @return whether it has not ended with its process */
static bool claim_at_begin(struct feed_thread *thread)
{
	while (!claim(thread)) {
		if (atomic_load_explicit(&thread->ended, memory_order_relaxed))
			return false;
		__builtin_ia32_pause();
	}
	return true;
}

void feed_thread_enter(struct feed_thread *thread, struct machine *machine,
		       struct machine_address_space *space)
{
	if (!claim_at_begin(thread))
		return;
	thread->tid = lock_thread();
	thread->core = thread->placed
			   ? thread->placed
			   : machine_hart_place_on(machine, thread->cpus, thread->not_before);
	thread->placed = NULL;
	if (thread->core && !machine_hart_start(thread->core, space))
		thread->core = NULL;
	if (thread->core)
		machine_hart_set_memory(thread->core, thread->memory);
	unclaim(thread);
}

void feed_thread_made(struct feed_thread *thread, uint32_t host)
{
	/* Who fails has begun in the meantime. */
	if (!claim(thread))
		return;
	if (thread->placed && host) {
		machine_hart_name(thread->placed, host);
	} else if (thread->placed) {
		machine_hart_leave(thread->placed);
		thread->placed = NULL;
	}
	unclaim(thread);
}

static void pause_thread(struct feed_thread *thread, void (*pause_core)(struct machine_hart *core))
{
	if (!claim(thread))
		return;
	if (thread->core && !thread->paused) {
		thread->not_before = machine_hart_time(thread->core);
		thread->paused = true;
		pause_core(thread->core);
	}
	unclaim(thread);
}

void feed_thread_pause(struct feed_thread *thread)
{
	pause_thread(thread, machine_hart_pause);
}

void feed_thread_pause_briefly(struct feed_thread *thread)
{
	pause_thread(thread, machine_hart_pause_briefly);
}

/* Of a thread that is on a core. */
static void on_core(struct feed_thread *thread, void (*act)(struct machine_hart *core))
{
	if (!claim(thread))
		return;
	if (thread->core)
		act(thread->core);
	unclaim(thread);
}

void feed_thread_halt_others(struct feed_thread *thread)
{
	on_core(thread, machine_hart_halt_others);
}

void feed_thread_release_others(struct feed_thread *thread)
{
	on_core(thread, machine_hart_release_others);
}

bool feed_thread_is_misplaced(const struct feed_thread *thread)
{
	return thread->core && !(thread->cpus >> machine_hart_core(thread->core) & 1);
}

void feed_thread_move(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	if (feed_thread_is_misplaced(thread)) {
		if (!thread->paused)
			thread->not_before = machine_hart_time(thread->core);
		thread->placed = machine_hart_move(thread->core, thread->cpus);
		thread->core = NULL;
		thread->paused = false;
	}
	unclaim(thread);
}

void feed_thread_come_back(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	if (thread->core && thread->paused)
		machine_hart_come_back(thread->core);
	unclaim(thread);
}

void feed_thread_resume(struct feed_thread *thread)
{
	feed_thread_move(thread);
	if (!claim(thread))
		return;
	if (thread->core && thread->paused) {
		machine_hart_resume(thread->core);
		thread->paused = false;
	}
	unclaim(thread);
}

void feed_thread_hold(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	thread->held = thread->core;
	thread->core = NULL;
	unclaim(thread);
}

bool feed_thread_unhold(struct feed_thread *thread)
{
	bool held;

	if (!claim(thread))
		return false;
	held = put_back(thread);
	unclaim(thread);
	return held;
}

void feed_thread_wait(struct feed_thread *thread)
{
	on_core(thread, machine_hart_wait);
}

bool feed_thread_has_turn(struct feed_thread *thread)
{
	bool has = true;

	if (!claim(thread))
		return true;
	if (thread->core && !thread->paused)
		has = machine_hart_has_turn(thread->core);
	unclaim(thread);
	return has;
}

void feed_thread_leave(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	leave(thread, machine_hart_leave);
	unclaim(thread);
}

void feed_thread_exec(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	if (thread->core) {
		if (!thread->paused)
			thread->not_before = machine_hart_time(thread->core);
		machine_hart_exec(thread->core);
		thread->placed = thread->core;
		thread->core = NULL;
		thread->paused = false;
	}
	unclaim(thread);
}

void feed_thread_exit(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	leave(thread, machine_hart_exit);
	unclaim(thread);
}

void feed_thread_end(struct feed_thread *thread)
{
	if (!claim(thread))
		return;
	atomic_store_explicit(&thread->ended, true, memory_order_relaxed);
	leave(thread, machine_hart_end);
}

/*
 * The first iteration comes with whatever stands before the instruction, the others as blocks of
 * the instruction alone. Such a block is a further iteration if nothing ran since the one before.
 */
static bool is_iteration(const struct feed_thread *thread, const struct feed_repeat *repeat)
{
	return repeat->first.address == repeat->address &&
	       thread->repeat_address == repeat->address &&
	       thread->repeat_count == *machine_hart_instructions(thread->core);
}

void feed_run_repeating(struct feed_thread *thread, const struct feed_repeat *repeat)
{
	if (is_iteration(thread, repeat)) {
		if (!repeat->fast)
			machine_run(thread->core, &repeat->iteration);
		return;
	}
	if (repeat->plan)
		machine_run_planned(thread->core, repeat->plan);
	else
		machine_run(thread->core, &repeat->first);
	thread->repeat_address = repeat->address;
	thread->repeat_count = *machine_hart_instructions(thread->core);
	thread->string_load = FEED_NOWHERE;
	thread->string_store = FEED_NOWHERE;
}

static void store_string(struct feed_thread *thread, uint64_t address,
			 const struct feed_repeat *repeat)
{
	const uint64_t piece = address / MACHINE_STRING_BYTES;

	if (thread->string_store != piece) {
		if (thread->string_store != FEED_NOWHERE)
			machine_run(thread->core, &repeat->iteration);
		thread->string_store = piece;
		machine_store_string(thread->core, address, &repeat->access.registers);
	}
	if ((address + repeat->access.size) % 64 == 0)
		machine_string_line(thread->core, address);
}

void feed_string(struct feed_thread *thread, uint64_t address, bool store,
		 const struct feed_repeat *repeat)
{
	const uint64_t piece = address / MACHINE_STRING_BYTES;

	if (store) {
		store_string(thread, address, repeat);
	} else if (thread->string_load != piece) {
		thread->string_load = piece;
		machine_load(thread->core, piece * MACHINE_STRING_BYTES, MACHINE_STRING_BYTES,
			     &repeat->access.registers);
	}
}
