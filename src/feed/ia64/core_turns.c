#include "feed/ia64/core_turns.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Cycles by which a thread may run ahead of the others. */
#define AHEAD 1000u

void core_turns_init(struct core_turns *turns)
{
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->passed, NULL);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool any_outside(const struct core_turns *turns)
{
	for (const struct core_turn *t = turns->all; t; t = t->next)
		if (t->outside)
			return true;
	return turns->others;
}

/* The cycle in which it can go on; UINT64_MAX: that is not known. */
static uint64_t cycle_of(const struct core_turn *t, bool outside)
{
	if (t->waits)
		return epic_foreground(t->core) ? *t->clock : UINT64_MAX;
	return t->key && !outside && t->deadline != UINT64_MAX ? later(t->deadline, *t->clock)
							       : UINT64_MAX;
}

/* The one that is behind most of those that wait. */
static struct core_turn *behind_most(const struct core_turns *turns)
{
	const bool outside = any_outside(turns);
	struct core_turn *most = NULL;
	uint64_t first = UINT64_MAX;

	for (struct core_turn *t = turns->all; t; t = t->next) {
		uint64_t cycle = cycle_of(t, outside);

		if (cycle < first) {
			first = cycle;
			most = t;
		}
	}
	return most;
}

static void wake(struct core_turn *turn)
{
	turn->key = 0;
	__atomic_store_n(&turn->awake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn->awake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Gives the turn to the next; its end is where it has run ahead of the one behind it. */
static void pass(struct core_turns *turns)
{
	struct core_turn *turn = behind_most(turns);
	const struct core_turn *other;

	while (turn && turn->key) {
		epic_rest(turn->core, turn->deadline);
		turn->timed_out = true;
		turn->waits = true;
		wake(turn);
		turn = behind_most(turns);
	}
	turns->now = turn;
	if (!turn)
		return;
	turn->waits = false;
	other = behind_most(turns);
	turn->until =
	    (other ? later(cycle_of(other, any_outside(turns)), *turn->clock) : *turn->clock) +
	    AHEAD;
	pthread_cond_broadcast(&turns->passed);
}

void core_turns_take(struct core_turns *turns, struct core_turn *turn)
{
	pthread_mutex_lock(&turns->lock);
	turn->outside = false;
	epic_resume(turn->core);
	if (turns->now != turn) {
		turn->waits = true;
		if (!turns->now)
			pass(turns);
	} else if (*turn->clock >= turn->until) {
		turn->waits = true;
		pass(turns);
	}
	while (turns->now != turn)
		pthread_cond_wait(&turns->passed, &turns->lock);
	pthread_mutex_unlock(&turns->lock);
}

/* The core has gone over to its other thread. */
static void in_background(void *arg)
{
	struct core_turn *turn = arg;
	struct core_turns *turns = turn->turns;

	pthread_mutex_lock(&turns->lock);
	turn->waits = true;
	pass(turns);
	while (turns->now != turn)
		pthread_cond_wait(&turns->passed, &turns->lock);
	pthread_mutex_unlock(&turns->lock);
}

void core_turns_begin(struct core_turns *turns, struct core_turn *turn, struct epic_core *core)
{
	pthread_mutex_lock(&turns->lock);
	turn->turns = turns;
	turn->core = core;
	turn->clock = epic_clock(core);
	turn->next = turns->all;
	turns->several = turns->all;
	turns->all = turn;
	epic_on_background(core, in_background, turn);
	epic_rest(core, epic_cycle(turns->now ? turns->now->core : core));
	turn->waits = turns->several;
	pthread_mutex_unlock(&turns->lock);
}

/* It executes nothing for now. The lock is the caller's. */
static void give_up(struct core_turns *turns, struct core_turn *turn)
{
	epic_park(turn->core);
	turn->until = 0;
	turn->waits = false;
	if (turns->now == turn)
		pass(turns);
}

void core_turns_leave(struct core_turns *turns, struct core_turn *turn)
{
	if (!turns->several)
		return;
	pthread_mutex_lock(&turns->lock);
	turn->outside = true;
	give_up(turns, turn);
	pthread_mutex_unlock(&turns->lock);
}

void core_turns_finish(struct core_turns *turns, struct core_turn *turn)
{
	pthread_mutex_lock(&turns->lock);
	turn->outside = false;
	give_up(turns, turn);
	pthread_mutex_unlock(&turns->lock);
}

bool core_turns_sleep(struct core_turns *turns, struct core_turn *turn, uint64_t cycles)
{
	bool sleeps;

	pthread_mutex_lock(&turns->lock);
	sleeps = turns->several && !any_outside(turns);
	if (sleeps) {
		epic_rest(turn->core, *turn->clock + cycles);
		turn->until = 0;
		turn->waits = true;
		pass(turns);
	}
	pthread_mutex_unlock(&turns->lock);
	return sleeps;
}

void core_turns_end(struct core_turns *turns)
{
	/* The lock may be another thread's, which is not here. */
	core_turns_init(turns);
	for (struct core_turn *t = turns->all; t; t = t->next)
		t->core = NULL;
	turns->all = NULL;
}

bool core_turns_block(struct core_turns *turns, struct core_turn *turn,
		      const struct core_wait *wait)
{
	bool holds;

	pthread_mutex_lock(&turns->lock);
	holds = __atomic_load_n(wait->word, __ATOMIC_SEQ_CST) == wait->value;
	if (holds) {
		turn->key = wait->key;
		turn->bits = wait->bits;
		turn->deadline = wait->deadline;
		turn->blockings = ++turns->blockings;
		turn->timed_out = false;
		turn->awake = 0;
		give_up(turns, turn);
	}
	pthread_mutex_unlock(&turns->lock);
	return holds;
}

enum core_unblocked core_turns_unblock(struct core_turns *turns, struct core_turn *turn,
				       bool expired)
{
	enum core_unblocked how = CORE_WOKEN;

	pthread_mutex_lock(&turns->lock);
	if (turn->timed_out)
		how = CORE_TIMED_OUT;
	else if (turn->key && expired)
		how = any_outside(turns) ? CORE_TIMED_OUT : CORE_BLOCKED;
	else if (turn->key)
		how = CORE_INTERRUPTED;
	if (how != CORE_BLOCKED)
		turn->key = 0;
	pthread_mutex_unlock(&turns->lock);
	return how;
}

/* The one that was blocked first on a key. */
static struct core_turn *first_blocked(const struct core_turns *turns, uint64_t key, uint32_t bits)
{
	struct core_turn *first = NULL;

	for (struct core_turn *t = turns->all; t; t = t->next)
		if (t->key == key && t->bits & bits && (!first || t->blockings < first->blockings))
			first = t;
	return first;
}

unsigned core_turns_wake(struct core_turns *turns, uint64_t key, uint64_t most, uint32_t bits)
{
	struct core_turn *turn;
	unsigned count = 0;

	pthread_mutex_lock(&turns->lock);
	while (count < most && (turn = first_blocked(turns, key, bits))) {
		if (turns->now)
			epic_rest(turn->core, *turns->now->clock);
		else
			epic_resume(turn->core);
		turn->waits = true;
		wake(turn);
		count++;
	}
	if (!turns->now)
		pass(turns);
	pthread_mutex_unlock(&turns->lock);
	return count;
}

unsigned core_turns_move(struct core_turns *turns, uint64_t key, uint64_t to, uint64_t most)
{
	struct core_turn *turn;
	unsigned count = 0;

	pthread_mutex_lock(&turns->lock);
	while (key != to && count < most && (turn = first_blocked(turns, key, UINT32_MAX))) {
		turn->key = to;
		count++;
	}
	pthread_mutex_unlock(&turns->lock);
	return count;
}
