#include "machine/memory.h"

#include <assert.h>

#include "machine/cause.h"
#include "machine/memory_dram.h"

/* From the write queue a line takes as long as over the data bus (choice). */
#define WPQ_HIT_CYCLES 4

#define WPQ_NONE MEMORY_QUEUE_MAX

static_assert((MEMORY_QUEUE_MAX & (MEMORY_QUEUE_MAX - 1)) == 0, "ring indices wrap by a mask");
static_assert(MEMORY_QUEUE_MAX <= 64, "memory_wpq.partial has a bit an entry");

/* What the column accesses of writes are for, by major mode. */
struct write_mode {
	enum totals_cas underfill, write;
};
static const struct write_mode write_major = {TOTALS_UNDERFILL_WRITING, TOTALS_WRITE_WRITING};
static const struct write_mode read_major = {TOTALS_UNDERFILL, TOTALS_WRITE};

static uint32_t wpq_slot(const struct memory_wpq *wpq, uint32_t position)
{
	return (wpq->head + position) & (MEMORY_QUEUE_MAX - 1);
}

static uint32_t wpq_held(const struct memory_wpq *wpq)
{
	return wpq->scheduled + wpq->waiting;
}

void memory_init(struct memory_channel *channel, const struct pmu_machine *desc)
{
	assert(desc->rpq_entries && desc->rpq_entries <= MEMORY_QUEUE_MAX);
	assert(desc->wpq_entries <= MEMORY_QUEUE_MAX);
	assert(desc->wpq_low < desc->wpq_high && desc->wpq_high <= desc->wpq_entries);

	dram_init(channel, desc);
}

#define WPQ_HASHES 256

static uint8_t wpq_hash(uint32_t line)
{
	return (uint8_t)(line * 0x9e3779b1u >> 24);
}

/* What an entry that waits holds. */
struct wpq_entry {
	uint32_t line, cause;
	uint64_t entered;
	bool partial;
};

static struct wpq_entry wpq_get(const struct memory_wpq *wpq, uint32_t slot)
{
	return (struct wpq_entry){
	    .line = wpq->lines[slot],
	    .cause = wpq->causes[slot],
	    .entered = wpq->entered[slot],
	    .partial = wpq->partial >> slot & 1,
	};
}

static void wpq_put(struct memory_wpq *wpq, uint32_t slot, struct wpq_entry entry)
{
	wpq->lines[slot] = entry.line;
	wpq->causes[slot] = entry.cause;
	wpq->entered[slot] = entry.entered;
	wpq->partial &= ~(UINT64_C(1) << slot);
	wpq->partial |= (uint64_t)entry.partial << slot;
}

/* Slot of the entry that holds @line and has not left by @time. */
static uint32_t wpq_find(const struct memory_wpq *wpq, uint32_t line, uint64_t time)
{
	uint32_t held = wpq_held(wpq);

	/* Most lines are not there. */
	if (!wpq->hashed[wpq_hash(line)])
		return WPQ_NONE;
	for (uint32_t i = 0; i < held; i++) {
		uint32_t slot = wpq_slot(wpq, i);

		if (wpq->lines[slot] == line && (i >= wpq->scheduled || wpq->leaves[slot] > time))
			return slot;
	}
	return WPQ_NONE;
}

static inline void emit_held(struct memory_wpq *wpq, const struct memory_view *view, uint64_t time)
{
	if (MACHINE_EMITS)
		wpq->emitted = wpq_held(wpq);
	memory_emit(view, SIGNAL_DRAM_WRITE_QUEUE, 0, time, wpq_held(wpq));
}

static void wpq_post(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		     bool partial, uint64_t time)
{
	struct memory_wpq *wpq = &channel->wpq;
	uint32_t slot = wpq_slot(wpq, wpq_held(wpq));

	wpq_put(wpq, slot,
		(struct wpq_entry){.line = line,
				   .cause = MACHINE_EMITS ? cause_now(view->port) : 0,
				   .entered = time,
				   .partial = partial});
	wpq->hashed[wpq_hash(line)]++;
	wpq->waiting++;
	emit_held(wpq, view, time);
}

/* Lets go of the entries whose CAS is issued by @now. Until then they can be hit. */
static void wpq_release(struct memory_channel *channel, const struct memory_view *view,
			uint64_t now)
{
	struct memory_wpq *wpq = &channel->wpq;

	while (wpq->scheduled && wpq->leaves[wpq->head] <= now) {
		uint64_t left = wpq->leaves[wpq->head];

		wpq->hashed[wpq_hash(wpq->lines[wpq->head])]--;
		wpq->head = wpq_slot(wpq, 1);
		wpq->scheduled--;
		emit_held(wpq, view, left);
	}
}

/* What a write does when it leaves the queue is caused by what put it there. */
static uint32_t begin_write(const struct memory_wpq *wpq, const struct memory_view *view,
			    uint32_t slot)
{
	return MACHINE_EMITS ? cause_begin(view->port, wpq->causes[slot]) : 0;
}

static void end_write(const struct memory_view *view, uint32_t before)
{
	if (MACHINE_EMITS)
		cause_end(view->port, before);
}

/* Or the two rows, of two banks, that lines are in by turns. */
static uint32_t wpq_row(const struct memory_channel *channel, uint32_t position)
{
	return channel->wpq.lines[wpq_slot(&channel->wpq, position)] >> channel->block_bits;
}

/* The waiting write at @from goes ahead to @to. */
static void move_ahead(struct memory_wpq *wpq, uint32_t from, uint32_t to)
{
	const struct wpq_entry entry = wpq_get(wpq, wpq_slot(wpq, from));

	for (; from > to; from--)
		wpq_put(wpq, wpq_slot(wpq, from), wpq_get(wpq, wpq_slot(wpq, from - 1)));
	wpq_put(wpq, wpq_slot(wpq, to), entry);
}

/* The first write from @from on of the row, and not of the bank group, of the one at @before. */
static uint32_t find_other_group(const struct memory_channel *channel, uint32_t before,
				 uint32_t from)
{
	const struct memory_wpq *wpq = &channel->wpq;
	const uint32_t held = wpq_held(wpq), line = wpq->lines[wpq_slot(wpq, before)];

	while (from < held && (wpq_row(channel, from) != line >> channel->block_bits ||
			       !((wpq->lines[wpq_slot(wpq, from)] ^ line) & channel->spread_bits)))
		from++;
	return from;
}

/* So orders writes of one row that none waits for the bank group of the one before. */
static void alternate_groups(struct memory_channel *channel, uint32_t first, uint32_t end)
{
	while (++first < end) {
		const uint32_t next = find_other_group(channel, first - 1, first);

		if (next == wpq_held(&channel->wpq))
			return;
		if (next > first)
			move_ahead(&channel->wpq, next, first);
	}
}

/*
 * Orders the next @count writes: the oldest, then all that wait for its row, and so on. In the
 * order of arrival the writes of several cores would close each other's rows.
 */
static void gather_rows(struct memory_channel *channel, uint32_t count)
{
	struct memory_wpq *wpq = &channel->wpq;
	const uint32_t held = wpq_held(wpq), end = wpq->scheduled + count;
	uint32_t next = wpq->scheduled, row;
	uint8_t of_row[WPQ_HASHES] = {0};

	for (uint32_t i = next; i < held; i++)
		of_row[wpq_hash(wpq_row(channel, i))]++;
	while (next < end) {
		const uint32_t first = next;

		row = wpq_row(channel, next++);
		if (of_row[wpq_hash(row)] == 1)
			continue;
		for (uint32_t i = next; i < held && next < end; i++)
			if (wpq_row(channel, i) == row)
				move_ahead(wpq, i, next++);
		alternate_groups(channel, first, next);
	}
}

/*
 * Schedules the @count waiting writes that are first. The underfill reads of partial ones go first
 * and together, so that the data bus turns once.
 */
static void write_out(struct memory_channel *channel, const struct memory_view *view,
		      uint32_t count, uint64_t earliest, const struct write_mode *mode)
{
	struct memory_wpq *wpq = &channel->wpq;
	uint64_t cas, merged = earliest;

	for (uint32_t i = 0; i < count && wpq->partial; i++) {
		uint32_t slot = wpq_slot(wpq, wpq->scheduled + i), before;

		if (!(wpq->partial >> slot & 1))
			continue;
		wpq->partial &= ~(UINT64_C(1) << slot);
		before = begin_write(wpq, view, slot);
		cas = dram_read(channel, view, wpq->lines[slot], earliest, mode->underfill);
		merged = dram_read_end(view->desc, cas);
		channel->stats.underfills++;
		end_write(view, before);
	}
	for (; count; count--) {
		uint32_t slot = wpq_slot(wpq, wpq->scheduled);
		uint32_t before = begin_write(wpq, view, slot);

		cas = dram_write(channel, view, wpq->lines[slot], merged, mode->write);
		end_write(view, before);
		wpq->leaves[slot] = cas;
		wpq->scheduled++;
		wpq->waiting--;
		channel->stats.wpq_cycles += cas - wpq->entered[slot];
	}
}

static void leave_write_mode(struct memory_channel *channel, const struct memory_view *view)
{
	if (!channel->writing)
		return;
	channel->writing = false;
	memory_emit(view, SIGNAL_DRAM_WRITE_MODE_END, QUALIFIER_DRAM_WRITE_MODE_END_LOW_MARK,
		    channel->mode_end, 0);
}

/* Reads that have their CAS fixed come first; a write mode still going on is prolonged. */
static void enter_write_mode(struct memory_channel *channel, const struct memory_view *view,
			     uint64_t time)
{
	uint64_t start = later(time, channel->dram.next_cas);
	const uint32_t count = channel->wpq.waiting - view->desc->wpq_low;

	if (start > channel->mode_end)
		leave_write_mode(channel, view);
	gather_rows(channel, count);
	write_out(channel, view, count, start, &write_major);
	channel->mode_end = channel->dram.next_cas;
	channel->writing = true;
	memory_emit(view, SIGNAL_DRAM_MODE, QUALIFIER_DRAM_MODE_WRITE, start,
		    channel->mode_end - start);
}

/*
 * The controller does not know when the next request comes: idle, it issues one write after the
 * other, and the last may delay that request.
 */
static void write_while_idle(struct memory_channel *channel, const struct memory_view *view,
			     uint64_t now)
{
	uint64_t begin;

	while (channel->wpq.waiting &&
	       (begin = later(channel->idle_from, channel->dram.next_cas)) < now)
		write_out(channel, view, 1, begin, &read_major);
}

/* What writes have to do before an arrival. */
static __attribute__((noinline)) void advance_writes(struct memory_channel *channel,
						     const struct memory_view *view, uint64_t now)
{
	/* Not yet at mode_end itself: a write at that cycle prolongs the mode. */
	if (channel->writing && channel->mode_end < now)
		leave_write_mode(channel, view);
	write_while_idle(channel, view, now);
	wpq_release(channel, view, now);
}

/* Brings the channel to an arrival and returns the cycle at which it is taken. */
static inline uint64_t advance(struct memory_channel *channel, const struct memory_view *view,
			       uint64_t now)
{
	now = later(now, channel->now);
	channel->now = now;
	if (channel->writing || wpq_held(&channel->wpq))
		advance_writes(channel, view, now);
	return now;
}

static void mark_busy(struct memory_channel *channel)
{
	channel->idle_from = later(channel->now, channel->dram.data_end) + MEMORY_IDLE_CYCLES;
}

/* Takes the entry that is free first and holds it from @accepted until @departure. */
static MACHINE_INLINE void rpq_hold(struct memory_rpq *rpq, uint32_t entries, uint64_t accepted,
				    uint64_t departure)
{
	uint32_t slot = rpq->head;

	rpq->head = slot + 1 < entries ? slot + 1 : 0;
	/* Only reads that hit the write queue leave before older ones. */
	while (slot != rpq->head) {
		uint32_t before = (slot ? slot : entries) - 1;

		if (rpq->departures[before] <= departure)
			break;
		rpq->departures[slot] = rpq->departures[before];
		rpq->accepted[slot] = rpq->accepted[before];
		slot = before;
	}
	rpq->departures[slot] = departure;
	rpq->accepted[slot] = accepted;
}

/* @return the cycle of the CAS of a read that finds an entry at @accepted */
static MACHINE_INLINE uint64_t read_line(struct memory_channel *channel,
					 const struct memory_view *view, uint32_t line,
					 uint64_t accepted, bool late)
{
	if (late)
		return dram_read_late(channel, view, line, accepted, TOTALS_READ);
	leave_write_mode(channel, view);
	return dram_read(channel, view, line, later(accepted, channel->mode_end), TOTALS_READ);
}

MACHINE_PATH uint64_t memory_read(struct memory_channel *channel, const struct memory_view *view,
				  uint32_t line, uint64_t now)
{
	const struct pmu_machine *desc = view->desc;
	const bool late = now < channel->now;
	uint64_t accepted = now, departure, end;

	if (!late) {
		now = advance(channel, view, now);
		accepted = later(now, channel->rpq.departures[channel->rpq.head]);
	}
	channel->stats.reads++;
	if (wpq_find(&channel->wpq, line, accepted) != WPQ_NONE) {
		channel->stats.wpq_read_hits++;
		memory_emit(view, SIGNAL_DRAM_WRITE_QUEUE_READ_HIT, 0, accepted, 0);
		departure = end = accepted + WPQ_HIT_CYCLES;
	} else {
		departure = read_line(channel, view, line, accepted, late);
		end = dram_read_end(desc, departure);
	}
	rpq_hold(&channel->rpq, desc->rpq_entries, MACHINE_EMITS ? departure : accepted, departure);
	channel->stats.rpq_cycles += departure - accepted;
	if (!MACHINE_EMITS) {
		channel->totals.used = true;
		total_add(&channel->totals.read_queue, departure - accepted);
	}
	memory_emit(view, SIGNAL_DRAM_READ_QUEUE, 0, accepted, departure - accepted);
	mark_busy(channel);
	return end - now;
}

/* The line is in the queue: no entry and no CAS of its own. */
static void overwrite(struct memory_channel *channel, const struct memory_view *view, uint32_t slot,
		      bool partial)
{
	channel->stats.wpq_write_hits++;
	if (!partial)
		channel->wpq.partial &= ~(UINT64_C(1) << slot);
	memory_emit(view, SIGNAL_DRAM_WRITE_QUEUE_WRITE_HIT, 0, channel->now, 0);
	mark_busy(channel);
}

uint64_t memory_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		      bool partial, uint64_t now)
{
	struct memory_wpq *wpq = &channel->wpq;
	const struct pmu_machine *desc = view->desc;
	const uint64_t arrived = now;
	uint64_t posted, waited = 0;
	uint32_t slot;

	posted = now = advance(channel, view, now);
	channel->stats.writes++;
	memory_emit(view, SIGNAL_DRAM_WRITE,
		    partial ? QUALIFIER_DRAM_WRITE_PARTIAL : QUALIFIER_DRAM_WRITE_FULL, now, 0);
	slot = wpq_find(wpq, line, now);
	if (slot != WPQ_NONE) {
		overwrite(channel, view, slot, partial);
		return 0;
	}
	/* Full with less than wpq_high waiting: some are scheduled, the oldest leaves first. */
	if (wpq_held(wpq) == desc->wpq_entries) {
		posted = wpq->leaves[wpq->head];
		/* Who asks late waits from its own time on. */
		waited = posted - arrived;
		wpq_release(channel, view, posted);
	}
	wpq_post(channel, view, line, partial, posted);
	if (wpq->waiting >= desc->wpq_high)
		enter_write_mode(channel, view, posted);
	if (wpq_held(wpq) == desc->wpq_entries)
		memory_emit(view, SIGNAL_DRAM_WRITE_QUEUE_FULL, 0, posted,
			    wpq->leaves[wpq->head] - posted);
	mark_busy(channel);
	return waited;
}

void memory_advance(struct memory_channel *channel, const struct memory_view *view, uint64_t now)
{
	struct memory_wpq *wpq = &channel->wpq;

	if (MACHINE_EMITS && signal_needs_none(view->port)) {
		memory_advance_quiet(channel, view, now);
		return;
	}
	now = advance(channel, view, now);
	dram_refresh(channel, view, now);
	if (wpq->emitted == wpq_held(wpq))
		return;
	wpq->emitted = wpq_held(wpq);
	signal_emit(view->port, (struct signal){.id = SIGNAL_DRAM_WRITE_QUEUE,
						.socket = view->socket,
						.unit = view->unit,
						.time = now,
						.duration = wpq->emitted});
}

uint64_t memory_drain(struct memory_channel *channel, const struct memory_view *view, uint64_t now)
{
	const struct memory_dram *dram = &channel->dram;

	if (MACHINE_EMITS && signal_needs_none(view->port))
		return memory_drain_quiet(channel, view, now);
	now = advance(channel, view, now);
	leave_write_mode(channel, view);
	write_out(channel, view, channel->wpq.waiting, later(now, dram->next_cas), &read_major);
	dram_refresh(channel, view, now);
	channel->now = later(now, later(dram->data_end, dram->refresh_end));
	wpq_release(channel, view, channel->now);
	return channel->now;
}

const struct memory_statistics *memory_statistics(const struct memory_channel *channel)
{
	return &channel->stats;
}
