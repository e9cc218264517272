/*
 * Memory controllers. A command waits while another is in its bank, or while its rank is refreshed.
 * Pages are closed after each access, or stay open: after each so many commands the controller
 * takes the mode that would have served these better. Refreshes go on by themselves.
 */
#include "machine/fabric/state.h"

static void tell(struct fabric *f, struct unit at, unsigned id, uint32_t qualifiers, uint64_t time,
		 uint64_t amount)
{
	if (amount)
		fabric_tell(f, (struct detail_event){.id = (uint16_t)id,
						     .socket = at.socket,
						     .unit = at.number,
						     .qualifiers = qualifiers,
						     .time = time,
						     .amount = amount});
}

/* Commands to DRAM, each with a frame of its own. */
static void command(struct fabric *f, struct unit at, uint32_t kind, uint64_t time, uint64_t amount)
{
	f->homes[at.socket][at.number].memory.frames_used += amount;
	tell(f, at, SIGNAL_MEMORY_DRAM, kind, time, amount);
}

/* A rank's open pages are closed by one command. */
static void close_pages(struct fabric *f, struct unit at, uint64_t time)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;

	for (unsigned rank = 0; rank < f->params->ranks; rank++) {
		bool open = false;

		for (unsigned i = 0; i < BANKS; i++) {
			struct bank *bank = &m->banks[rank * BANKS + i];

			open |= bank->open;
			bank->open = false;
		}
		command(f, at, QUALIFIER_MEMORY_DRAM_PRECHARGE_ALL, time, open);
	}
}

/* Frames that carry no command. */
static void settle_frames(struct fabric *f, struct unit at, uint64_t now)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t frames = now / f->params->frame, syncs = frames / f->params->sync;

	if (syncs > m->syncs) {
		command(f, at, QUALIFIER_MEMORY_DRAM_SYNC, now, syncs - m->syncs);
		m->syncs = syncs;
	}
	if (frames > m->frames + m->frames_used) {
		tell(f, at, SIGNAL_MEMORY_DRAM, QUALIFIER_MEMORY_DRAM_IDLE, now,
		     frames - m->frames - m->frames_used);
		m->frames = frames;
		m->frames_used = 0;
	}
}

/* Behind a refresh: that is often enough to look. */
static void calibrate(struct fabric *f, struct unit at, uint64_t now)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t calibrations = now / f->params->calibrate;

	command(f, at, QUALIFIER_MEMORY_DRAM_CALIBRATE, now,
		(calibrations - m->calibrations) * f->params->ranks);
	m->calibrations = calibrations;
}

void fabric_memory_settle(struct fabric *f, struct unit at, uint64_t now)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t refreshes = now / f->params->refresh;

	if (refreshes > m->refreshes) {
		close_pages(f, at, now);
		command(f, at, QUALIFIER_MEMORY_DRAM_REFRESH, now,
			(refreshes - m->refreshes) * f->params->ranks);
		m->refreshes = refreshes;
		calibrate(f, at, now);
	}
	if (now > m->idle_since) {
		tell(f, at, SIGNAL_MEMORY_QUEUE_STATE, QUALIFIER_MEMORY_QUEUE_STATE_EMPTY, now,
		     now - m->idle_since);
		m->idle_since = now;
	}
	if (now > m->mode_told) {
		tell(f, at, SIGNAL_MEMORY_PAGE_MODE,
		     m->open_mode ? QUALIFIER_MEMORY_PAGE_MODE_OPEN
				  : QUALIFIER_MEMORY_PAGE_MODE_CLOSED,
		     now, now - m->mode_told);
		m->mode_told = now;
	}
	settle_frames(f, at, now);
}

/* Once in so many commands: whether most of them asked for the row that their bank had last. */
static void choose_mode(struct fabric *f, struct unit at, bool again, uint64_t time)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	bool open;

	m->again += again;
	if (++m->commands < f->params->page_window)
		return;
	open = 2 * m->again > m->commands;
	m->commands = m->again = 0;
	if (open == m->open_mode)
		return;
	if (!open)
		close_pages(f, at, time);
	tell(f, at, SIGNAL_MEMORY_PAGE,
	     open ? QUALIFIER_MEMORY_PAGE_TO_OPEN : QUALIFIER_MEMORY_PAGE_TO_CLOSED, time, 1);
	m->open_mode = open;
}

/* How many of the commands that the controller can have are there. */
static unsigned in_flight(const struct memory *m, unsigned count, uint64_t time)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += m->answers[i] > time;
	return found;
}

/* @return when the command can go: its bank and rank are free */
static uint64_t retry(struct fabric *f, struct unit at, const struct bank *bank, uint64_t time)
{
	const struct memory *m = &f->homes[at.socket][at.number].memory;
	const struct fabric_params *p = f->params;
	uint64_t start = bank->from <= time && time < bank->until ? bank->until : time;
	uint64_t since = start % p->refresh;

	if (start >= p->refresh && since < p->refresh_cycles) {
		tell(f, at, SIGNAL_MEMORY_RETRY, QUALIFIER_MEMORY_RETRY_REFRESH, time, 1);
		start += p->refresh_cycles - since;
	}
	if (start > time)
		tell(f, at, SIGNAL_MEMORY_RETRY,
		     in_flight(m, p->entries, time) + 1 < p->entries ? QUALIFIER_MEMORY_RETRY_ROOM
								     : QUALIFIER_MEMORY_RETRY_FULL,
		     time, 1);
	return start;
}

/* Opens the row if need be. @return by how much longer or, below 0, shorter that takes */
static int open_row(struct fabric *f, struct unit at, struct bank *bank, bool again, uint64_t time)
{
	bool hit = bank->open && again, collision = bank->open && !again;

	tell(f, at, SIGNAL_MEMORY_PAGE,
	     hit	 ? QUALIFIER_MEMORY_PAGE_HIT
	     : collision ? QUALIFIER_MEMORY_PAGE_COLLISION
			 : QUALIFIER_MEMORY_PAGE_MISS,
	     time, 1);
	command(f, at, QUALIFIER_MEMORY_DRAM_PRECHARGE, time, collision);
	command(f, at, QUALIFIER_MEMORY_DRAM_ACTIVATE, time, !hit);
	return hit ? -(int)f->params->activate : collision ? (int)f->params->precharge : 0;
}

static void column(struct fabric *f, struct unit at, bool write, uint64_t time)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;

	if (m->open_mode)
		command(f, at,
			write ? QUALIFIER_MEMORY_DRAM_WRITE_OPEN : QUALIFIER_MEMORY_DRAM_READ_OPEN,
			time, 1);
	else
		command(f, at, write ? QUALIFIER_MEMORY_DRAM_WRITE : QUALIFIER_MEMORY_DRAM_READ,
			time, 1);
	if (write)
		command(f, at, QUALIFIER_MEMORY_DRAM_DATA, time, f->params->write_frames);
}

static uint64_t *first_answer(struct memory *m, unsigned count)
{
	uint64_t *first = m->answers;

	for (unsigned i = 1; i < count; i++)
		if (m->answers[i] < *first)
			first = &m->answers[i];
	return first;
}

/* The command is in the controller until then. */
static void hold(struct fabric *f, struct unit at, uint64_t time, uint64_t end)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t until;

	*first_answer(m, f->params->entries) = end;
	until = *first_answer(m, f->params->entries);
	if (until > time)
		tell(f, at, SIGNAL_MEMORY_FULL, 0, time,
		     fabric_more(&m->full_busy, time, until - time));
}

static void queue(struct fabric *f, struct unit at, bool write, uint64_t time)
{
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t cycles = f->params->dispatch;

	tell(f, at, SIGNAL_MEMORY_QUEUE,
	     write ? QUALIFIER_MEMORY_QUEUE_WRITE : QUALIFIER_MEMORY_QUEUE_READ, time, cycles);
	tell(f, at, SIGNAL_MEMORY_QUEUE_STATE, QUALIFIER_MEMORY_QUEUE_STATE_BUSY, time,
	     fabric_more(&m->queue_busy, time, cycles));
	if (m->queue_busy > m->idle_since)
		m->idle_since = m->queue_busy;
}

/* To the bank of the line. @return when DRAM has done it */
static uint64_t access_bank(struct fabric *f, struct unit at, uint64_t line, bool write,
			    uint64_t time)
{
	const struct fabric_params *p = f->params;
	struct memory *m = &f->homes[at.socket][at.number].memory;
	uint64_t row = line / (f->sockets * FABRIC_HOMES) / p->row_lines;
	struct bank *bank = &m->banks[row % (p->ranks * BANKS)];
	uint64_t start = retry(f, at, bank, time), end;
	bool again = bank->row == row + 1;

	queue(f, at, write, start);
	choose_mode(f, at, again, start);
	end = start + (write ? p->write : p->read) +
	      (uint64_t)(int64_t)open_row(f, at, bank, again, start + p->dispatch);
	column(f, at, write, start + p->dispatch);
	*bank = (struct bank){.row = row + 1,
			      .from = time,
			      .until = start + (bank->open && again ? p->dispatch : p->row_cycle),
			      .open = m->open_mode};
	return end;
}

uint64_t fabric_memory(struct fabric *f, struct unit at, uint64_t line, bool write, uint64_t time)
{
	uint64_t end;

	fabric_memory_settle(f, at, time);
	end = access_bank(f, at, line, write, time);
	tell(f, at, SIGNAL_MEMORY_COMMAND,
	     write ? QUALIFIER_MEMORY_COMMAND_WRITE : QUALIFIER_MEMORY_COMMAND_READ, time,
	     end - time);
	hold(f, at, time, end);
	if (!write) /* the line goes from the controller's buffer to the home agent */
		fabric_tell(f, (struct detail_event){.id = SIGNAL_MEMORY_COMMAND,
						     .socket = at.socket,
						     .unit = at.number,
						     .qualifiers = QUALIFIER_MEMORY_COMMAND_FILL,
						     .time = end});
	return end;
}
