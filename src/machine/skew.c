#include "machine/skew.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine/host_cpu.h"
#include "machine/stall.h"

#define YIELDS_MOST   200      /* before it sleeps: another thread may have the processor */
#define YIELDS_TRIED  64       /* waits after which that is tried anew, where it was in vain */
#define SLEEP_NS      1000000  /* then it looks what the other does, at first */
#define SLEEP_MOST_NS 16000000 /* and after longer and longer times */
#define PASSES_MOST   1000     /* blocks executed without one that sleeps; then it does not run */
#define ALONE_LOOK_NS 1000000  /* what the core that runs alone does is looked at */

static void wake(struct skew *skew)
{
	if (!__atomic_exchange_n(&skew->wake_at, 0, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&skew->epoch, 1, __ATOMIC_SEQ_CST);
	/* Who sleeps has said so before it asked for the wake. */
	if (__atomic_load_n(&skew->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &skew->epoch, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint64_t core_bit(unsigned number)
{
	return 1ull << number;
}

static struct lock *alone_of(const struct machine_hart *core)
{
	return &core->machine->state->alone;
}

/* Ticks since the core took a line from another, or lost one. */
static uint64_t since_met(const struct skew *skew, uint64_t now)
{
	const uint64_t met = __atomic_load_n(&skew->met_at, __ATOMIC_RELAXED);

	if (!met)
		return UINT64_MAX;
	return now > met ? now - met : 0;
}

static bool is_meeting(const struct skew *skew, const struct machine *machine, uint64_t now)
{
	return since_met(skew, now) < SKEW_MEETING * machine->core_ticks;
}

/* Whether many of a core's requests go to queues that others may find full. */
static bool goes_out(const struct skew *skew, uint64_t now)
{
	return now < __atomic_load_n(&skew->out_until, __ATOMIC_RELAXED);
}

static void go_out(const struct machine_hart *core)
{
	__atomic_store_n(&skew_of(core)->out_until,
			 core->progress->time + SKEW_OUT_SPAN * core->machine->core_ticks,
			 __ATOMIC_RELAXED);
}

static bool takes_turns(const struct machine_hart *core)
{
	const uint64_t now = core->progress->time;

	return is_meeting(skew_of(core), core->machine, now) || goes_out(skew_of(core), now);
}

/*
 * Ticks that cores may be apart that met @since ticks ago. Should they meet now, they are late by
 * the same share of the time between, however long that is.
 */
static uint64_t grown(const struct machine *machine, uint64_t since)
{
	const uint64_t least = SKEW_QUANTUM_MEETING * machine->core_ticks;
	const uint64_t most = SKEW_QUANTUM_APART * machine->core_ticks;
	const uint64_t quantum = since / SKEW_SHARE;

	return quantum < least ? least : quantum > most ? most : quantum;
}

static uint64_t own_quantum(const struct machine_hart *core)
{
	return grown(core->machine, since_met(skew_of(core), core->progress->time));
}

static bool is_alone(const struct machine_hart *core)
{
	return lock_owner(alone_of(core)) == core->thread;
}

/* @param late  ticks by which whoever waits is woken late */
static void wake_awaited(struct skew *skew, uint64_t late)
{
	const uint64_t awaited = __atomic_load_n(&skew->wake_at, __ATOMIC_SEQ_CST);

	if (awaited && awaited + late < __atomic_load_n(&skew->clock, __ATOMIC_RELAXED))
		wake(skew);
}

void skew_let_others(struct machine_hart *core)
{
	if (core->in_turn) {
		core->in_turn = false;
		skew_show(core);
	}
	if (!is_alone(core))
		return;
	lock_release(alone_of(core), core->thread);
	wake_awaited(skew_of(core), 0);
}

void skew_show(struct machine_hart *core)
{
	struct machine_state *state = core->machine->state;
	struct skew *skew = skew_of(core);
	uint64_t shown = core->progress->time + 1;
	bool hidden = skew_is_hidden(core);

	__atomic_store_n(&skew->thread, core->thread, __ATOMIC_RELAXED);
	/* Who wants to be woken writes that, then reads the clock: see ask_for(). */
	__atomic_store_n(&skew->clock, shown, __ATOMIC_SEQ_CST);
	if (hidden) {
		__atomic_fetch_or(&state->running, core_bit(core->number), __ATOMIC_SEQ_CST);
		/* Who has woken it is near. */
		go_out(core);
	}
	/* Those with which it meets could not go on before it lets them. */
	wake_awaited(skew, is_alone(core) ? own_quantum(core) : 0);
}

/* As who has begun and who made it share what they begin with. */
static void note_begun(const struct machine_hart *core, uint64_t time)
{
	struct machine_state *state = core->machine->state;
	uint64_t running = __atomic_load_n(&state->running, __ATOMIC_RELAXED);

	for (; running; running &= running - 1) {
		struct skew *maker = &state->skew[__builtin_ctzll(running)];
		const uint64_t shown = __atomic_load_n(&maker->clock, __ATOMIC_RELAXED);

		if (!shown || __atomic_load_n(&maker->thread, __ATOMIC_RELAXED) != core->thread)
			continue;
		__atomic_store_n(&maker->met_at, shown, __ATOMIC_RELAXED);
		__atomic_fetch_add(&maker->meetings, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&skew_of(core)->met_at, time + 1, __ATOMIC_RELAXED);
}

void skew_show_placed(const struct machine_hart *core, uint64_t time)
{
	struct machine_state *state = core->machine->state;
	struct skew *skew = skew_of(core);

	if (__atomic_load_n(&skew->clock, __ATOMIC_RELAXED))
		return;
	note_begun(core, time);
	__atomic_store_n(&skew->thread, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&skew->clock, time + 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&state->running, core_bit(core->number), __ATOMIC_SEQ_CST);
}

void skew_name_placed(const struct machine_hart *core, uint32_t thread)
{
	uint32_t none = 0;

	__atomic_compare_exchange_n(&skew_of(core)->thread, &none, thread, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

bool skew_is_hidden(const struct machine_hart *core)
{
	return !__atomic_load_n(&skew_of(core)->clock, __ATOMIC_RELAXED);
}

void skew_forget(struct machine *machine, unsigned number)
{
	struct skew *skew = &machine->state->skew[number];

	__atomic_fetch_and(&machine->state->running, ~core_bit(number), __ATOMIC_SEQ_CST);
	__atomic_store_n(&skew->clock, 0, __ATOMIC_SEQ_CST);
	wake(skew);
}

void skew_hide(struct machine_hart *core)
{
	skew_let_others(core);
	skew_forget(core->machine, core->number);
}

/* The core that limits how far another may go, and by what. */
struct limit {
	unsigned number;
	bool in_turns;	  /* the two meet, or both go out: one runs at a time */
	uint64_t reach;	  /* the first tick at which the other may not go on */
	uint64_t quantum; /* ticks */
};

static uint64_t at_most(uint64_t quantum, const struct machine_hart *core, uint64_t cycles)
{
	const uint64_t most = cycles * core->machine->core_ticks;

	return quantum < most ? quantum : most;
}

/* @param since  ticks since the two can have met last */
static uint64_t quantum_of(const struct machine_hart *core, bool in_turns, uint64_t since)
{
	const uint64_t quantum = grown(core->machine, since);

	if (in_turns)
		return core->in_turn && !core->has_met ? at_most(quantum, core, SKEW_QUANTUM_TURN)
						       : 0;
	if (goes_out(skew_of(core), core->progress->time))
		return at_most(quantum, core, SKEW_QUANTUM_OUT);
	return quantum;
}

/* Of cores that meet at one time the first begins. */
static bool is_preceded(const struct machine_hart *core, unsigned number)
{
	return !core->in_turn && number < core->number;
}

/* @param shown  clock of core @number, plus 1 */
static struct limit limit_by(const struct machine_hart *core, unsigned number, uint64_t shown)
{
	const struct machine *machine = core->machine;
	const uint64_t now = core->progress->time;
	const struct skew *own = skew_of(core), *other = &machine->state->skew[number];
	const uint64_t since = machine_max(since_met(own, now), since_met(other, now));
	const bool in_turns = since < SKEW_MEETING * machine->core_ticks ||
			      (goes_out(own, now) && goes_out(other, now));
	const uint64_t quantum = quantum_of(core, in_turns, since);

	return (struct limit){
	    .number = number,
	    .in_turns = in_turns,
	    .reach = shown + quantum - (in_turns && is_preceded(core, number)),
	    .quantum = quantum,
	};
}

/*
 * Of cores for whose turns this one waits it looks at the last, which waits for those before it: so
 * the end of a turn wakes one thread.
 * @return whether @a is to be looked at rather than @b
 */
static bool limits_more(const struct machine_hart *core, const struct limit *a,
			const struct limit *b)
{
	const uint64_t now = core->progress->time;

	if (a->in_turns && b->in_turns && now >= a->reach && now >= b->reach)
		return a->reach > b->reach;
	return a->reach < b->reach;
}

/* Cores of the caller's own thread cannot move while it waits. @return whether there is another */
static bool find_limit(const struct machine_hart *core, struct limit *limit)
{
	const struct machine *machine = core->machine;
	uint64_t running = __atomic_load_n(&machine->state->running, __ATOMIC_ACQUIRE);
	bool found = false;

	for (running &= ~core_bit(core->number); running; running &= running - 1) {
		unsigned i = (unsigned)__builtin_ctzll(running);
		const struct skew *other = &machine->state->skew[i];
		const uint64_t shown = __atomic_load_n(&other->clock, __ATOMIC_ACQUIRE);
		struct limit candidate;

		if (!shown || __atomic_load_n(&other->thread, __ATOMIC_RELAXED) == core->thread)
			continue;
		candidate = limit_by(core, i, shown);
		if (found && !limits_more(core, &candidate, limit))
			continue;
		*limit = candidate;
		found = true;
	}
	return found;
}

/* @return whether the core has come to @tick, or runs no more */
static bool has_come(const struct skew *skew, uint64_t tick)
{
	uint64_t shown = __atomic_load_n(&skew->clock, __ATOMIC_SEQ_CST);

	return !shown || shown > tick;
}

/* The other shows its clock when it has come to @tick. */
static void ask_for(struct skew *skew, uint64_t tick)
{
	uint64_t awaited = __atomic_load_n(&skew->wake_at, __ATOMIC_RELAXED);

	while ((!awaited || awaited > tick) &&
	       !__atomic_compare_exchange_n(&skew->wake_at, &awaited, tick, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		continue;
}

/*
 * To sleep, and be woken on another processor, takes the host as long as many quanta. Where it is
 * in vain, as something else has the processors, it is given up step by step.
 */
static bool yield_until(struct machine_hart *core, struct skew *skew, uint64_t tick)
{
	if (core->waited++ % YIELDS_TRIED == 0)
		core->yields = YIELDS_MOST;
	for (uint32_t i = 0; i < core->yields; i++) {
		ask_for(skew, tick);
		if (has_come(skew, tick)) {
			core->yields = YIELDS_MOST;
			return true;
		}
		sched_yield();
	}
	core->yields /= 2;
	return false;
}

/* @return false where nothing came for @ns */
static bool sleep_until(struct skew *skew, uint64_t tick, long ns)
{
	uint32_t epoch = __atomic_load_n(&skew->epoch, __ATOMIC_SEQ_CST);
	bool woken = true;

	__atomic_fetch_add(&skew->sleepers, 1, __ATOMIC_SEQ_CST);
	ask_for(skew, tick);
	if (!has_come(skew, tick))
		woken = !syscall(SYS_futex, &skew->epoch, FUTEX_WAIT, epoch,
				 &(struct timespec){.tv_nsec = ns}, NULL, 0) ||
			errno != ETIMEDOUT;
	__atomic_fetch_sub(&skew->sleepers, 1, __ATOMIC_SEQ_CST);
	return woken;
}

/* As if it did not run. Should it go on, it shows its clock again. */
static void hide_other(struct skew *skew, uint64_t shown)
{
	if (__atomic_compare_exchange_n(&skew->clock, &shown, 0, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		wake(skew);
}

/*
 * An emulator that wants all threads to stand still has them where it wants them after a block, so
 * that the core which is passed stays in sight: it may go on any moment. Who sleeps for longer than
 * that does not run.
 * @return whether the core may execute a block without the other, which cannot go on
 */
static bool may_pass(struct machine_hart *core, unsigned number)
{
	const struct machine *machine = core->machine;
	struct skew *skew = &machine->state->skew[number];
	uint64_t shown = __atomic_load_n(&skew->clock, __ATOMIC_SEQ_CST);
	uint32_t thread = __atomic_load_n(&skew->thread, __ATOMIC_RELAXED);

	if (!thread && stall_all_dead(&machine->cores[number])) {
		hide_other(skew, shown);
		return true;
	}
	if (!thread || !stall_look(&core->stall, machine, thread, core->thread))
		return false;
	if (core->stall.sleep == LOCK_GONE || ++core->stall.passes == PASSES_MOST)
		hide_other(skew, shown);
	return true;
}

/*
 * Waits until the core has come to @tick or runs no more.
 * @return false where it cannot: then it is passed
 */
static bool wait_for(struct machine_hart *core, const struct limit *limit, uint64_t tick)
{
	struct skew *skew = &core->machine->state->skew[limit->number];
	long ns = SLEEP_NS;
	bool passes;

	if (limit->in_turns && !is_meeting(skew_of(core), core->machine, core->progress->time))
		host_cpu_wait(core);
	if (yield_until(core, skew, tick))
		return true;
	machine_hart_set_waits(core, true);
	passes = stall_found(&core->stall) && may_pass(core, limit->number);
	while (!passes && !has_come(skew, tick)) {
		if (sleep_until(skew, tick, ns))
			continue;
		passes = may_pass(core, limit->number);
		ns = ns < SLEEP_MOST_NS ? 2 * ns : ns;
	}
	machine_hart_set_waits(core, false);
	return !passes;
}

/*
 * What a core waits for is never later than its own clock: of cores that wait in a circle each
 * would be behind the next. Half a quantum is enough for those that need not wait for each other
 * again at once.
 */
static uint64_t enough(const struct machine_hart *core, const struct limit *limit)
{
	uint64_t now = core->progress->time;

	if (limit->in_turns)
		return now + is_preceded(core, limit->number);
	return now - limit->quantum / 2;
}

bool skew_would_wait(const struct machine_hart *core)
{
	struct limit limit = {0};

	return find_limit(core, &limit) && core->progress->time >= limit.reach;
}

/*
 * Of cores that meet one runs at a time. Else what one has written would be read by another before
 * the machine knows of it.
 * @return whether others may have moved meanwhile
 */
static bool run_alone(struct machine_hart *core)
{
	struct lock *alone = alone_of(core);

	/* Who defers waits runs its threads one at a time. */
	if (is_alone(core) || core->machine->defer)
		return false;
	if (!takes_turns(core))
		return false;
	machine_hart_set_waits(core, true);
	while (!lock_acquire_within(alone, core->thread, ALONE_LOOK_NS)) {
		const uint32_t owner = lock_owner(alone);

		/* It goes on among the others. */
		if (owner && stall_look(&core->stall, core->machine, owner, core->thread))
			lock_release(alone, owner);
	}
	machine_hart_set_waits(core, false);
	return true;
}

/* @return false where it is to look again after a block */
static bool keep_near(struct machine_hart *core)
{
	struct limit limit = {0};

	while (find_limit(core, &limit)) {
		core->skew_due = limit.reach;
		if (core->progress->time < core->skew_due)
			return true;
		skew_let_others(core);
		if (wait_for(core, &limit, enough(core, &limit)))
			continue;
		core->skew_due = 0;
		return false;
	}
	core->skew_due = UINT64_MAX;
	return true;
}

/* It goes on until it is ahead of another by the quantum. */
static void begin_turn(struct machine_hart *core)
{
	struct limit limit;

	core->in_turn = true;
	core->skew_due = find_limit(core, &limit) ? limit.reach : UINT64_MAX;
}

void skew_keep(struct machine_hart *core)
{
	core->meetings = __atomic_load_n(&skew_of(core)->meetings, __ATOMIC_RELAXED);
	if (!takes_turns(core))
		skew_let_others(core);
	/* Nobody begins before the turn is over. */
	if (!core->in_turn || skew_is_hidden(core))
		skew_show(core);
	while (keep_near(core) && run_alone(core))
		continue;
	/* Who has met, and is behind all the same, goes on until it is not. */
	if (!core->in_turn)
		core->has_met = false;
	host_cpu_pass(core);
	if (core->skew_due && takes_turns(core))
		begin_turn(core);
}

/* Requests that are few and far between find no queues, whoever else asks. */
static void note_out(struct machine_hart *core)
{
	const uint64_t now = core->progress->time;
	const uint64_t span = SKEW_OUT_SPAN * core->machine->core_ticks;

	if (now >= core->out_since + span) {
		core->out_since = now;
		core->out_requests = 0;
	}
	if (++core->out_requests < SKEW_OUT_REQUESTS)
		return;
	if (!goes_out(skew_of(core), now))
		core->skew_due = 0;
	go_out(core);
}

void skew_note_request(struct machine_hart *core, bool met)
{
	note_out(core);
	if (met) {
		core->has_met = true;
		core->skew_due = 0;
		__atomic_store_n(&skew_of(core)->met_at, core->progress->time, __ATOMIC_RELAXED);
	}
	core->attention = 0;
}

void skew_meet(struct machine *machine, unsigned socket, uint32_t cores)
{
	/* Until then its quantum is the least. */
	const uint64_t new = SKEW_QUANTUM_MEETING *SKEW_SHARE * machine->core_ticks;

	for (; cores; cores &= cores - 1) {
		unsigned number = socket * machine->desc->cores + (unsigned)__builtin_ctz(cores);
		struct skew *skew = &machine->state->skew[number];
		uint64_t shown = __atomic_load_n(&skew->clock, __ATOMIC_RELAXED);

		machine->state->meetings++;
		if (shown && since_met(skew, shown) >= new) {
			__atomic_store_n(&skew->met_at, shown, __ATOMIC_RELAXED);
			__atomic_fetch_add(&skew->meetings, 1, __ATOMIC_RELAXED);
		}
	}
}

uint64_t skew_quantum(const struct machine_hart *core)
{
	return at_most(own_quantum(core), core, SKEW_QUANTUM_TURN);
}

uint64_t skew_interval(const struct machine_hart *core)
{
	uint64_t cycles;

	/* Who passes another looks after each block. */
	if (!core->skew_due)
		return 0;
	/* No instruction takes less than the issue width's part of a cycle. */
	cycles = own_quantum(core) / core->machine->core_ticks;
	return cycles < SKEW_LOOK_INSTRUCTIONS ? cycles : SKEW_LOOK_INSTRUCTIONS;
}
