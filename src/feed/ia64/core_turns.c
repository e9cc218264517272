#include "feed/ia64/core_turns.h"

/* Cycles by which a thread may run ahead of the others. */
#define AHEAD 1000u

void core_turns_init(struct core_turns *turns)
{
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->passed, NULL);
}

void core_turns_begin(struct core_turns *turns, struct core_turn *turn, struct epic_core *core)
{
	pthread_mutex_lock(&turns->lock);
	turn->core = core;
	turn->clock = epic_clock(core);
	turn->rested = turns->all;
	turn->next = turns->all;
	turns->several = turns->all;
	turns->all = turn;
	if (turns->now)
		turns->left = epic_cycle(turns->now->core);
	pthread_mutex_unlock(&turns->lock);
}

/* The one that is behind most of those that wait. */
static struct core_turn *behind_most(const struct core_turns *turns)
{
	struct core_turn *most = NULL;

	for (struct core_turn *t = turns->all; t; t = t->next)
		if (t->waits && (!most || *t->clock < *most->clock))
			most = t;
	return most;
}

/* Gives the turn to the next; its end is where it has run ahead of the one behind it. */
static void pass(struct core_turns *turns)
{
	struct core_turn *turn = behind_most(turns);
	const struct core_turn *other;

	turns->now = turn;
	if (!turn)
		return;
	turn->waits = false;
	other = behind_most(turns);
	turn->until = (other ? *other->clock : *turn->clock) + AHEAD;
	pthread_cond_broadcast(&turns->passed);
}

void core_turns_take(struct core_turns *turns, struct core_turn *turn)
{
	pthread_mutex_lock(&turns->lock);
	if (turn->rested)
		epic_rest(turn->core, turns->left);
	turn->rested = false;
	turn->waits = true;
	if (!turns->now || turns->now == turn)
		pass(turns);
	while (turns->now != turn)
		pthread_cond_wait(&turns->passed, &turns->lock);
	pthread_mutex_unlock(&turns->lock);
}

void core_turns_leave(struct core_turns *turns, struct core_turn *turn, bool rests)
{
	if (!turns->several)
		return;
	pthread_mutex_lock(&turns->lock);
	turns->left = epic_cycle(turn->core);
	turn->until = 0;
	turn->rested = rests;
	if (turns->now == turn)
		pass(turns);
	pthread_mutex_unlock(&turns->lock);
}

void core_turns_end(struct core_turns *turns)
{
	/* The lock may be another thread's, which is not here. */
	core_turns_init(turns);
	for (struct core_turn *t = turns->all; t; t = t->next)
		t->core = NULL;
	turns->all = NULL;
}
