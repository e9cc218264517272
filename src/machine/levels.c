#include "machine/levels.h"

#include <string.h>

void level_reset(struct levels *level, uint64_t now)
{
	level->now = now;
	level->count = level->pending = 0;
}

static void insert(struct levels *level, uint64_t time, int32_t by)
{
	uint32_t at = level->pending++;

	for (; at && level->changes[at - 1].time > time; at--)
		level->changes[at] = level->changes[at - 1];
	level->changes[at] = (struct level_change){time, by};
}

void level_add(struct levels *level, uint64_t begin, uint64_t end)
{
	if (begin < level->now)
		begin = level->now;
	if (begin >= end || level->pending + 2 > LEVEL_CHANGES)
		return;
	insert(level, begin, 1);
	insert(level, end, -1);
}

static uint32_t known(uint32_t count)
{
	return count < LEVELS_MAX ? count : LEVELS_MAX;
}

static void stay(struct levels *level, uint64_t until, bool counts)
{
	if (counts)
		level->ticks[known(level->count)] += until - level->now;
	level->now = until;
}

static void change(struct levels *level, uint32_t count)
{
	for (uint32_t i = known(level->count) + 1; i <= known(count); i++)
		level->rises[i]++;
	level->count = count;
}

void level_pass(struct levels *level, uint64_t until, bool counts)
{
	uint32_t i = 0;

	while (i < level->pending && level->changes[i].time <= until) {
		const uint64_t time = level->changes[i].time;
		uint32_t count = level->count;

		/* What ends and what begins at one time is one change. */
		for (; i < level->pending && level->changes[i].time == time; i++)
			count = (uint32_t)((int32_t)count + level->changes[i].by);
		stay(level, time, counts);
		change(level, count);
	}
	level->pending -= i;
	memmove(level->changes, level->changes + i, level->pending * sizeof(level->changes[0]));
	if (until > level->now)
		stay(level, until, counts);
}
