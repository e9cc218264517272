/*
 * A home agent's table of requests in flight. A request for a line that has an entry waits in the
 * conflict queue of that entry, one that finds no entry free in another queue, and replies for
 * which the router has no time in two more.
 */
#include "machine/fabric/state.h"

static void tell(struct fabric *f, struct unit at, unsigned id, uint32_t qualifiers,
		 unsigned number, uint64_t time, uint64_t amount)
{
	if (amount)
		fabric_tell(f, (struct detail_event){.id = (uint16_t)id,
						     .socket = at.socket,
						     .unit = at.number,
						     .qualifiers = qualifiers,
						     .number = (uint8_t)number,
						     .time = time,
						     .amount = amount});
}

/* The entry of the line that is in flight; else the one that is free first. */
static struct entry *find(struct home *home, unsigned count, uint64_t line, uint64_t now)
{
	struct entry *first = home->entries;

	for (struct entry *e = home->entries; e < home->entries + count; e++) {
		if (e->line == line + 1 && e->until > now)
			return e;
		if (e->until < first->until)
			first = e;
	}
	return first;
}

static void wait_for_line(struct fabric *f, struct unit at, struct entry *e, uint64_t now)
{
	struct home *home = &f->homes[at.socket][at.number];
	unsigned number = (unsigned)(e - home->entries);
	uint64_t cycles = e->until - now;
	uint32_t first = e->waiting_until > now ? 0 : QUALIFIER_DIRECTORY_QUEUE_INTO_EMPTY;

	uint64_t more = fabric_more(&e->waiting_until, now, cycles);

	tell(f, at, SIGNAL_DIRECTORY_QUEUE, QUALIFIER_DIRECTORY_QUEUE_CONFLICT | first, number, now,
	     cycles);
	tell(f, at, SIGNAL_DIRECTORY_QUEUE, QUALIFIER_DIRECTORY_QUEUE_CONFLICTS, 0, now, more);
	tell(f, at, SIGNAL_DIRECTORY_QUEUE_BUSY, QUALIFIER_DIRECTORY_QUEUE_BUSY_CONFLICT, number,
	     now, more);
	tell(f, at, SIGNAL_DIRECTORY_QUEUE_BUSY, QUALIFIER_DIRECTORY_QUEUE_BUSY_ANY_CONFLICT, 0,
	     now, fabric_more(&home->conflict_busy, now, cycles));
}

static void wait_for_entry(struct fabric *f, struct unit at, uint64_t now, uint64_t cycles)
{
	struct home *home = &f->homes[at.socket][at.number];

	tell(f, at, SIGNAL_DIRECTORY_QUEUE, QUALIFIER_DIRECTORY_QUEUE_ENTRY, 0, now, cycles);
	tell(f, at, SIGNAL_DIRECTORY_QUEUE_BUSY, QUALIFIER_DIRECTORY_QUEUE_BUSY_ENTRY, 0, now,
	     fabric_more(&home->wait_busy, now, cycles));
}

struct entry *fabric_enter(struct fabric *f, struct unit at, uint64_t line, uint64_t arrival,
			   uint64_t *start)
{
	struct home *home = &f->homes[at.socket][at.number];
	uint64_t now = arrival;
	struct entry *e = find(home, f->params->entries, line, now);
	bool waits = e->until > now, conflict = waits && e->line == line + 1;

	home->now = now;
	fabric_live_settle(f, at, now);
	*start = waits ? e->until : now;
	if (conflict)
		wait_for_line(f, at, e, now);
	else if (waits)
		wait_for_entry(f, at, now, *start - now);
	tell(f, at, SIGNAL_DIRECTORY_ENTER,
	     conflict ? QUALIFIER_DIRECTORY_ENTER_AFTER_CONFLICT : QUALIFIER_DIRECTORY_ENTER_NEW, 0,
	     *start, 1);
	return e->line = line + 1, e;
}

/* From when on no entry is free, and until when, once this one is taken. */
static uint64_t full_cycles(const struct home *home, unsigned count, uint64_t start)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < count; i++)
		if (home->entries[i].until < first)
			first = home->entries[i].until;
	return first > start ? first - start : 0;
}

void fabric_leave(struct fabric *f, struct unit at, struct entry *entry, uint64_t start,
		  uint64_t end)
{
	struct home *home = &f->homes[at.socket][at.number];

	entry->until = end;
	tell(f, at, SIGNAL_DIRECTORY_ENTRY, 0, 0, start, end - start);
	tell(f, at, SIGNAL_DIRECTORY_ENTRY_BUSY, 0, 0, start,
	     fabric_more(&home->busy, start, end - start));
	tell(f, at, SIGNAL_DIRECTORY_ENTRY_FULL, 0, 0, start,
	     full_cycles(home, f->params->entries, start));
}

void fabric_wait_for_router(struct fabric *f, struct unit at, bool data, uint64_t from,
			    uint64_t until)
{
	struct home *home = &f->homes[at.socket][at.number];
	uint64_t *busy = data ? &home->data_busy : &home->response_busy;

	tell(f, at, SIGNAL_DIRECTORY_QUEUE,
	     data ? QUALIFIER_DIRECTORY_QUEUE_DATA : QUALIFIER_DIRECTORY_QUEUE_RESPONSE, 0, from,
	     until - from);
	tell(f, at, SIGNAL_DIRECTORY_QUEUE_BUSY,
	     data ? QUALIFIER_DIRECTORY_QUEUE_BUSY_DATA : QUALIFIER_DIRECTORY_QUEUE_BUSY_RESPONSE,
	     0, from, fabric_more(busy, from, until - from));
}
