#include "cli/rounds.h"

void rounds_init(struct rounds *rounds, size_t events)
{
	*rounds = (struct rounds){.events = events, .size = events};
}

size_t rounds_next(const struct rounds *rounds, size_t *which)
{
	size_t count = 0;

	for (size_t i = 0; i < rounds->events && count < rounds->size; i++)
		if (!rounds->done[i])
			which[count++] = i;
	return count;
}

void rounds_take(struct rounds *rounds, const size_t *which, const bool *whole, size_t count)
{
	bool any = count == 1;

	for (size_t i = 0; i < count; i++) {
		rounds->done[which[i]] = whole[i] || count == 1;
		any |= whole[i];
	}
	if (!any)
		rounds->size = (count + 1) / 2;
}
