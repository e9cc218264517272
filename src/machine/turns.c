#include "machine/turns.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine/host_cpu.h"
#include "machine/machine.h"
#include "machine/skew.h"
#include "machine/stall.h"
#include "machine/users.h"

#define NAP_NS	      20000   /* between looks whether it is settled who can have the turn */
#define SLEEP_NS      1000000 /* then a thread looks whether who has the turn does anything */
#define SETTLING_NAPS 100000  /* a thread that was made and does not begin by then never will */
#define BELIEVED_NAPS 500     /* who seems to sleep for so long does, wherever that is */
#define DOUBTED_NAPS  50000   /* the same of one of which the system has told that before */
#define STALLED_NAPS  1000    /* who still sleeps then needs another to go on before it does */
#define TURN_CYCLES   1000    /* a turn at most */
#define SHARED_CYCLES 50000   /* threads of one core swap after that time */

static struct turns *turns_of(const struct machine_hart *core)
{
	return &core->machine->state->turns;
}

static struct turns_member *member_of(const struct machine_hart *core)
{
	return &turns_of(core)->members[core->member - 1];
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void hold(const struct machine_hart *core)
{
	lock_acquire(&turns_of(core)->lock, core->thread);
}

static void let_go(const struct machine_hart *core)
{
	lock_release(&turns_of(core)->lock, core->thread);
}

/*
 * Who looks whether a thread sleeps, or is stalled, has the lock: one that waits for it is neither,
 * be it in a system call or with the turn.
 * @param me  NULL: of no member
 */
static void wait_and_hold(const struct machine_hart *core, struct turns_member *me)
{
	if (me)
		__atomic_store_n(&me->waits, true, __ATOMIC_SEQ_CST);
	hold(core);
}

static void let_go_and_go_on(const struct machine_hart *core, struct turns_member *me)
{
	let_go(core);
	if (me)
		__atomic_store_n(&me->waits, false, __ATOMIC_SEQ_CST);
}

static void wake(struct turns_member *member)
{
	__atomic_fetch_add(&member->word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &member->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static long sleep_on(uint32_t *word, uint32_t value, uint64_t ns)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, &(struct timespec){.tv_nsec = (long)ns},
		       NULL, 0);
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Of a thread that makes another. NULL: it takes no turns, or says already that it waits */
static struct turns_member *find_maker(struct turns *turns, uint32_t thread)
{
	for (unsigned i = 0; i < turns->high; i++) {
		struct turns_member *member = &turns->members[i];

		if ((member->state == TURNS_READY || member->state == TURNS_AWAY) &&
		    member->thread == thread)
			return __atomic_load_n(&member->waits, __ATOMIC_SEQ_CST) ? NULL : member;
	}
	return NULL;
}

void turns_join(struct machine_hart *core)
{
	struct turns *turns = turns_of(core);
	struct turns_member *maker;

	if (!turns->enabled)
		return;
	maker = find_maker(turns, core->thread);
	wait_and_hold(core, maker);
	for (unsigned i = 0; i < TURNS_MEMBERS_MAX && !core->member; i++)
		if (turns->members[i].state == TURNS_FREE) {
			core->member = i + 1;
			turns->members[i].state = TURNS_PLACED;
			turns->members[i].thread = core->thread;
			turns->members[i].core = core->number;
			turns->members[i].user = core->user;
			turns->members[i].stuck = 0;
			turns->members[i].is_told = false;
			turns->settled = false;
			if (turns->high <= i)
				turns->high = i + 1;
		}
	let_go_and_go_on(core, maker);
}

/* Of one that seems to sleep. */
static bool is_off(struct turns *turns, struct turns_member *member, unsigned naps)
{
	if (!lock_thread_is_off(member->thread, &turns->is_told))
		return naps > (member->is_told ? DOUBTED_NAPS : BELIEVED_NAPS);
	member->is_told = turns->is_told;
	return true;
}

/* @return whether it sleeps; at a second look: still the same sleep */
static bool sleeps(const struct machine *machine, struct turns_member *member, unsigned naps,
		   bool again)
{
	uint64_t sleep = lock_thread_sleep(member->thread, member->thread);
	bool same = !again || sleep == member->sleep;

	if (!sleep && stall_in_vfork(&machine->cores[member->core], member->thread))
		return true;
	member->sleep = sleep;
	if (!sleep || !same || users_in_lock(machine, member->thread))
		return false;
	return !again || is_off(&machine->state->turns, member, naps);
}

/*
 * Of one that is stalled and sleeps: whether another has to go on before it does. For whom a thread
 * in vfork() is in the way, only as long as it is there: then all that waited come for their turn.
 */
static bool is_stuck(const struct machine *machine, struct turns_member *member, unsigned naps)
{
	if (stall_by_vfork(machine, member->thread))
		return true;
	if (naps > STALLED_NAPS)
		member->stuck = member->sleep;
	return member->stuck == member->sleep;
}

static bool has_ended(const struct turns_member *member)
{
	return member->state == TURNS_ENDED ? lock_process_has_ended(member->thread)
					    : !lock_thread_lives(member->thread);
}

/* @return whether it cannot change by itself any more what the member is about to do */
static bool is_settled(const struct machine *machine, struct turns_member *member, unsigned naps,
		       bool again)
{
	if (member->state == TURNS_FREE)
		return true;
	if (member->state == TURNS_GONE || member->state == TURNS_ENDED) {
		/* The next look sees whom its end has woken. */
		if (has_ended(member))
			member->state = TURNS_FREE;
		return false;
	}
	if (!lock_thread_lives(member->thread) ||
	    (member->state == TURNS_PLACED && naps > SETTLING_NAPS))
		member->state = TURNS_FREE;
	switch (member->state) {
	case TURNS_PLACED:
		return false;
	case TURNS_STALLED:
		return sleeps(machine, member, naps, again) && is_stuck(machine, member, naps);
	case TURNS_AWAY:
		/* Who has come back may sleep until a lock is free, and says so before. */
		return sleeps(machine, member, naps, again) &&
		       !__atomic_load_n(&member->waits, __ATOMIC_SEQ_CST);
	default:
		return true;
	}
}

static bool look_at_all(const struct machine *machine, unsigned naps, bool again)
{
	struct turns *turns = &machine->state->turns;
	bool settled = true;

	for (unsigned i = 0; i < turns->high && settled; i++)
		settled = is_settled(machine, &turns->members[i], naps, again);
	return settled;
}

/* Who is stalled goes on without a system call of any other. */
static bool any_stalled(const struct turns *turns)
{
	bool stalled = false;

	for (unsigned i = 0; i < turns->high && !stalled; i++)
		stalled = turns->members[i].state == TURNS_STALLED;
	return stalled;
}

/*
 * One that is looked at later may wake one that was seen asleep, and sleep itself when it is its
 * turn to be looked at: all are settled if nobody has been awake from a first round of looks to a
 * second. They are so until one calls the system.
 */
static bool all_settled(const struct machine *machine, unsigned naps)
{
	struct turns *turns = &machine->state->turns;
	bool settled = look_at_all(machine, naps, false) && look_at_all(machine, naps, true);

	turns->settled = settled && !any_stalled(turns);
	return settled;
}

/* Where threads share a core, the others' time comes when the one that runs there has had its own.
 */
static uint64_t time_of(const struct machine *machine, const struct turns_member *member)
{
	const struct core *shared = &machine->cores[member->core];

	if (shared->last_user == member->user || !shared->last_user)
		return member->time;
	return machine_max(member->time, shared->swapped_at + SHARED_CYCLES * machine->core_ticks);
}

/* Of several that wait for one core's time, who waits longest; at last who was made first. */
static bool is_before(const struct machine *machine, const struct turns_member *a,
		      const struct turns_member *b)
{
	uint64_t time_a = time_of(machine, a), time_b = time_of(machine, b);

	if (time_a != time_b)
		return time_a < time_b;
	return a->time < b->time || (a->time == b->time && a->user < b->user);
}

/* Of those that are ready but @but. NULL: none */
static struct turns_member *find_next(const struct machine *machine, const struct turns_member *but)
{
	struct turns *turns = &machine->state->turns;
	struct turns_member *next = NULL;

	for (unsigned i = 0; i < turns->high; i++) {
		struct turns_member *member = &turns->members[i];

		if (member != but && member->state == TURNS_READY &&
		    (!next || is_before(machine, member, next)))
			next = member;
	}
	return next;
}

/* Who came back from a system call was woken by something that has happened by now. */
static void set_times(const struct machine *machine)
{
	struct turns *turns = &machine->state->turns;
	uint64_t now = machine_now(machine);

	for (unsigned i = 0; i < turns->high; i++) {
		struct turns_member *member = &turns->members[i];

		if (member->state == TURNS_READY && member->was_away)
			member->time = machine_max(member->time, now);
		member->was_away = false;
	}
}

/* Nobody has the turn. @return false where that is not settled yet */
static bool give_turn(const struct machine_hart *core, unsigned naps)
{
	struct turns *turns = turns_of(core);
	struct turns_member *next;

	if (!turns->settled && !all_settled(core->machine, naps))
		return false;
	set_times(core->machine);
	next = find_next(core->machine, NULL);
	turns->holder = next->user;
	turns->given++;
	if (next != member_of(core))
		wake(next);
	return true;
}

static struct turns_member *holder_of(struct turns *turns)
{
	for (unsigned i = 0; i < turns->high; i++)
		if (turns->members[i].state != TURNS_FREE &&
		    turns->members[i].user == turns->holder)
			return &turns->members[i];
	return NULL;
}

static void take_away(struct turns *turns)
{
	turns->holder = 0;
	turns->settled = false;
}

/* Takes the turn from who has died with it, or cannot go on outside of system calls. */
static void check_holder(const struct machine_hart *core, struct stall *stall)
{
	struct turns_member *holder;

	hold(core);
	holder = holder_of(turns_of(core));
	if (!holder || !lock_thread_lives(holder->thread)) {
		take_away(turns_of(core));
	} else if (!holder->waits &&
		   stall_look(stall, core->machine, holder->thread, core->thread)) {
		holder->state = TURNS_STALLED;
		take_away(turns_of(core));
	}
	let_go(core);
}

/* @return the member that has halted the others of the process, 0: none */
static uint32_t halted_by(const struct machine *machine)
{
	return __atomic_load_n(&machine->halt.by, __ATOMIC_SEQ_CST);
}

/* Who has halted the others waits until none rests. */
static void rest(struct machine *machine)
{
	uint32_t by;

	__atomic_fetch_add(&machine->halt.resting, 1, __ATOMIC_SEQ_CST);
	if (halted_by(machine)) {
		machine->halt.rest(true);
		while ((by = halted_by(machine)))
			sleep_on(&machine->halt.by, by, SLEEP_NS);
		machine->halt.rest(false);
	}
	__atomic_fetch_sub(&machine->halt.resting, 1, __ATOMIC_SEQ_CST);
}

/* Of one turn: whether it is settled who has it. */
struct looks {
	unsigned naps; /* between them */
	uint64_t given;
};

/* @return whether the thread has the turn; else it has waited for a while */
static bool try_to_take(struct machine_hart *core, struct stall *stall, struct looks *looks)
{
	struct turns *turns = turns_of(core);
	struct turns_member *me = member_of(core);
	bool settled = true;
	uint32_t word;
	long woken;

	if (halted_by(core->machine))
		rest(core->machine);
	hold(core);
	if (turns->given != looks->given)
		*looks = (struct looks){.given = turns->given};
	if (!turns->holder)
		settled = give_turn(core, ++looks->naps);
	word = __atomic_load_n(&me->word, __ATOMIC_SEQ_CST);
	if (turns->holder == me->user) {
		let_go(core);
		return true;
	}
	let_go(core);
	if (!settled) {
		nap(NAP_NS);
		return false;
	}
	host_cpu_wait(core);
	woken = sleep_on(&me->word, word, SLEEP_NS);
	if (woken)
		check_holder(core, stall);
	return false;
}

/*
 * The turn lasts until another is behind by more than the quantum, and not longer than that of who
 * is made or woken meanwhile: it is not known before the next look that it is ready.
 */
static uint64_t end_of_turn(const struct machine_hart *core)
{
	const struct turns_member *next = find_next(core->machine, member_of(core));
	uint64_t end = core->progress->time + TURN_CYCLES * core->machine->core_ticks;

	return next ? min(end, time_of(core->machine, next) + skew_quantum(core)) : end;
}

uint64_t turns_take(struct machine_hart *core)
{
	struct turns_member *me = member_of(core);
	struct stall stall = {0};
	struct looks looks = {0};

	__atomic_store_n(&me->waits, true, __ATOMIC_SEQ_CST);
	hold(core);
	me->was_away = me->state == TURNS_AWAY || me->state == TURNS_STALLED;
	if (me->state != TURNS_READY)
		turns_of(core)->settled = false;
	me->state = TURNS_READY;
	me->thread = core->thread;
	me->core = core->number;
	me->user = core->user;
	me->time = core->progress->time;
	if (turns_of(core)->holder == me->user)
		turns_of(core)->holder = 0;
	let_go(core);
	if (try_to_take(core, &stall, &looks)) {
		host_cpu_pass(core);
	} else {
		while (!try_to_take(core, &stall, &looks))
			continue;
	}
	hold(core);
	__atomic_store_n(&me->waits, false, __ATOMIC_SEQ_CST);
	core->skew_due = end_of_turn(core);
	let_go(core);
	return me->time;
}

static bool any_placed(const struct machine_hart *core)
{
	const struct turns *turns = turns_of(core);
	bool placed = false;

	hold(core);
	for (unsigned i = 0; i < turns->high; i++)
		placed |= turns->members[i].state == TURNS_PLACED &&
			  lock_thread_lives(turns->members[i].thread);
	let_go(core);
	return placed;
}

/* It has the turn, and is not stalled while it naps. */
void turns_await_placed(struct machine_hart *core)
{
	__atomic_store_n(&member_of(core)->waits, true, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < SETTLING_NAPS && any_placed(core); i++)
		nap(NAP_NS);
	__atomic_store_n(&member_of(core)->waits, false, __ATOMIC_SEQ_CST);
}

bool turns_have(const struct machine_hart *core)
{
	return __atomic_load_n(&turns_of(core)->holder, __ATOMIC_RELAXED) == core->user;
}

/* Whoever is next looks whether that is settled. */
static void end_turn(const struct machine_hart *core, enum turns_state state, uint32_t thread)
{
	struct turns_member *me = member_of(core), *next;

	wait_and_hold(core, me);
	turns_of(core)->settled = false;
	me->state = state;
	me->thread = thread;
	if (turns_of(core)->holder == me->user)
		turns_of(core)->holder = 0;
	next = find_next(core->machine, me);
	if (next)
		wake(next);
	let_go_and_go_on(core, me);
}

void turns_call(struct machine_hart *core)
{
	wait_and_hold(core, member_of(core));
	turns_of(core)->settled = false;
	let_go_and_go_on(core, member_of(core));
}

/* One that is stalled may wait for the others to come to the end of a block, and have them so. */
void turns_halt(struct machine_hart *core)
{
	struct turns *turns = turns_of(core);

	wait_and_hold(core, member_of(core));
	if (turns->holder != core->user || any_stalled(turns)) {
		let_go_and_go_on(core, member_of(core));
		return;
	}
	__atomic_store_n(&core->machine->halt.by, core->member, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < turns->high; i++)
		if (turns->members[i].state == TURNS_READY)
			wake(&turns->members[i]);
	let_go(core);
}

void turns_release(struct machine_hart *core)
{
	struct machine *machine = core->machine;

	if (halted_by(machine) != core->member)
		return;
	__atomic_store_n(&machine->halt.by, 0, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &machine->halt.by, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (__atomic_load_n(&machine->halt.resting, __ATOMIC_SEQ_CST))
		nap(NAP_NS);
	__atomic_store_n(&member_of(core)->waits, false, __ATOMIC_SEQ_CST);
}

void turns_pause(struct machine_hart *core)
{
	end_turn(core, TURNS_AWAY, core->thread);
}

void turns_come_back(struct machine_hart *core)
{
	struct turns_member *me = member_of(core);

	if (me->state == TURNS_AWAY)
		__atomic_store_n(&me->waits, true, __ATOMIC_SEQ_CST);
}

/* The first thread of the process ends when another executes a program, which has its number. */
static void forget_ended(const struct machine_hart *core, uint32_t thread)
{
	struct turns *turns = turns_of(core);

	wait_and_hold(core, member_of(core));
	for (unsigned i = 0; i < turns->high; i++)
		if (turns->members[i].state == TURNS_GONE && turns->members[i].thread == thread)
			turns->members[i].state = TURNS_FREE;
	let_go_and_go_on(core, member_of(core));
}

void turns_hand_on(struct machine_hart *core, uint32_t heir)
{
	forget_ended(core, heir);
	end_turn(core, TURNS_PLACED, heir);
}

bool turns_continue(struct machine_hart *core)
{
	const struct turns *turns = turns_of(core);

	hold(core);
	for (unsigned i = 0; i < turns->high && !core->member; i++)
		if (turns->members[i].state == TURNS_PLACED &&
		    turns->members[i].thread == core->thread) {
			core->member = i + 1;
			core->user = turns->members[i].user;
		}
	let_go(core);
	return core->member;
}

void turns_leave(struct machine_hart *core)
{
	enum turns_state state = core->exits ? TURNS_GONE : TURNS_FREE;

	if (core->ends_process)
		state = TURNS_ENDED;
	end_turn(core, state, core->thread);
}
