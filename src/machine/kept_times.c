#include "machine/kept_times.h"

#include <stddef.h>

static struct kept_times_entry *find(struct kept_times *kept, uint32_t process)
{
	for (unsigned i = 0; i < KEPT_TIMES_MAX; i++)
		if (kept->entries[i].put && kept->entries[i].process == process)
			return &kept->entries[i];
	return NULL;
}

/* A free one, or the oldest. */
static struct kept_times_entry *find_room(struct kept_times *kept)
{
	struct kept_times_entry *room = kept->entries;

	for (unsigned i = 1; i < KEPT_TIMES_MAX; i++)
		if (kept->entries[i].put < room->put)
			room = &kept->entries[i];
	return room;
}

void kept_times_put(struct kept_times *kept, uint32_t process, struct machine_times times)
{
	struct kept_times_entry *entry = find(kept, process);

	if (!entry)
		entry = find_room(kept);
	*entry = (struct kept_times_entry){++kept->puts, process, times};
}

bool kept_times_take(struct kept_times *kept, uint32_t process, struct machine_times *times)
{
	struct kept_times_entry *entry = find(kept, process);

	if (!entry)
		return false;
	*times = entry->times;
	entry->put = 0;
	return true;
}
