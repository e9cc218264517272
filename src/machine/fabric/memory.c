/*
 * Memory controllers: pages are closed after each access, so each takes an activate and a column
 * access with precharge, and as long as any other. Refreshes go on by themselves and delay nothing.
 */
#include "machine/fabric/state.h"

static void tell(struct fabric *f, struct unit at, unsigned id, uint32_t qualifiers, uint64_t time,
		 uint64_t amount)
{
	fabric_tell(f, (struct detail_event){.id = (uint16_t)id,
					     .socket = at.socket,
					     .unit = at.number,
					     .qualifiers = qualifiers,
					     .time = time,
					     .amount = amount});
}

void fabric_memory_settle(struct fabric *f, struct unit at, uint64_t now)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t refreshes = now / f->params->refresh;

	if (refreshes > m->refreshes) {
		tell(f, at, SIGNAL_MEMORY_DRAM, QUALIFIER_MEMORY_DRAM_REFRESH, now,
		     (refreshes - m->refreshes) * f->params->ranks);
		m->refreshes = refreshes;
	}
	if (now > m->idle_since) {
		tell(f, at, SIGNAL_MEMORY_QUEUE_STATE, QUALIFIER_MEMORY_QUEUE_STATE_EMPTY, now,
		     now - m->idle_since);
		m->idle_since = now;
	}
}

uint64_t fabric_memory(struct fabric *f, struct unit at, bool write, uint64_t time)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	const struct fabric_params *p = f->params;
	uint64_t cycles = write ? p->write : p->read;

	fabric_memory_settle(f, at, time);
	tell(f, at, SIGNAL_MEMORY_COMMAND,
	     write ? QUALIFIER_MEMORY_COMMAND_WRITE : QUALIFIER_MEMORY_COMMAND_READ, time, cycles);
	tell(f, at, SIGNAL_MEMORY_QUEUE,
	     write ? QUALIFIER_MEMORY_QUEUE_WRITE : QUALIFIER_MEMORY_QUEUE_READ, time, p->dispatch);
	tell(f, at, SIGNAL_MEMORY_QUEUE_STATE, QUALIFIER_MEMORY_QUEUE_STATE_BUSY, time,
	     fabric_more(&m->queue_busy, time, p->dispatch));
	if (m->queue_busy > m->idle_since)
		m->idle_since = m->queue_busy;
	tell(f, at, SIGNAL_MEMORY_DRAM, QUALIFIER_MEMORY_DRAM_ACTIVATE, time + p->dispatch, 1);
	tell(f, at, SIGNAL_MEMORY_DRAM,
	     write ? QUALIFIER_MEMORY_DRAM_WRITE : QUALIFIER_MEMORY_DRAM_READ, time + p->dispatch,
	     1);
	if (!write) /* the line goes from the controller's buffer to the home agent */
		tell(f, at, SIGNAL_MEMORY_COMMAND, QUALIFIER_MEMORY_COMMAND_FILL, time + cycles, 0);
	return time + cycles;
}
