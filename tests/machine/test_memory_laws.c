/*
 * A million random requests: what the channel emits is held against the rules of DDR4 and
 * against its totals by a subscriber that keeps its own account. Commands are fixed in the order of
 * the requests, and held against the rules in the order of their cycles.
 */
#include <stdlib.h>

#include "memory_fixture.h"
#include "support/random.h"

#define REQUESTS 1000000
/* DRAM cycles after which who asks waits for the answer, so that no queue outside grows for ever.
 */
#define PATIENCE     2000
#define PAST	     500    /* cycles that a request may come before the one before it */
#define SETTLED	     100000 /* so long ago nothing is fixed any more: many times PAST */
#define COMMANDS_MAX 1000000

struct bank {
	bool open, used;     /* used: since the last refresh */
	uint64_t closed;     /* by precharge or refresh, with its delay over */
	uint64_t busy_until; /* no precharge before */
};

struct witness {
	const struct pmu_machine *desc;
	uint64_t arrival;
	/* Some requests come in it: a row that such a one opens is not known to who has opened the
	 * next, or to who has refreshed the rank. */
	bool past;
	bool late;		 /* this one is such a read */
	struct signal *commands; /* to be put in order */
	size_t held;
	uint64_t latest[SIGNAL_COUNT], count[SIGNAL_COUNT];
	struct bank banks[8][64];
	uint64_t read_ready[8], refreshes[8], refreshed[8], precharged[8];
	uint64_t activates[8][4]; /* the latest, by rank, a ring by activated[rank] */
	uint64_t activated[8];
	uint64_t group_activate[8][8], group_cas[8][8]; /* the latest one's cycle, and one more */
	uint64_t data_end;
	unsigned data_rank;
	bool data_write;
	uint64_t reads, underfills, writes, pre_all_closed;
	/* Queues. */
	uint64_t rpq[128], rpq_cycles;
	unsigned rpq_held;
	uint64_t level, level_since, wpq_cycles, full_cycles, full_emitted, full_end;
	/* Modes: the writes of a drain are emitted before their mode. */
	uint64_t mode_start, mode_end, mode_groups, first_wmm, last_wmm, mode_writes;
};

static unsigned group_of(const struct witness *w, const struct signal *s)
{
	return w->desc->bank_groups ? s->bank / (w->desc->banks / w->desc->bank_groups) : 0;
}

static void see_activate(struct witness *w, const struct signal *s)
{
	struct bank *bank = &w->banks[s->rank][s->bank];

	uint64_t *group = &w->group_activate[s->rank][group_of(w, s)],
		 nth = w->activated[s->rank]++;

	assert_true(w->past || (!bank->open && s->time >= bank->closed));
	if (nth)
		assert_true(s->time >= w->activates[s->rank][(nth - 1) % 4] + w->desc->t_rrd_s);
	if (nth >= 4)
		assert_true(s->time >= w->activates[s->rank][nth % 4] + w->desc->t_faw);
	if (*group)
		assert_true(s->time >= *group - 1 + w->desc->t_rrd_l);
	w->activates[s->rank][nth % 4] = s->time;
	*group = s->time + 1;
	bank->open = bank->used = true;
	bank->busy_until = s->time + w->desc->t_ras;
}

static void close_bank(const struct witness *w, struct bank *bank, uint64_t time, uint64_t delay)
{
	assert_true(w->past || time >= bank->busy_until);
	bank->open = false;
	bank->closed = time + delay;
}

static void see_precharge(struct witness *w, const struct signal *s)
{
	struct bank *bank = &w->banks[s->rank][s->bank];

	assert_true(w->past || bank->open);
	close_bank(w, bank, s->time, w->desc->t_rp);
}

static void see_precharge_all(struct witness *w, const struct signal *s)
{
	uint64_t before = w->pre_all_closed;

	for (unsigned i = 0; i < w->desc->banks; i++) {
		struct bank *bank = &w->banks[s->rank][i];

		if (!bank->open)
			continue;
		close_bank(w, bank, s->time, w->desc->t_rp);
		w->pre_all_closed++;
	}
	assert_true(w->past || w->pre_all_closed > before);
	w->precharged[s->rank] = s->time + w->desc->t_rp;
}

static void see_refresh(struct witness *w, const struct signal *s)
{
	const struct pmu_machine *desc = w->desc;
	uint64_t nth = ++w->refreshes[s->rank];
	uint64_t due = ((nth - 1) * desc->ranks + s->rank + 1) * desc->t_refi / desc->ranks;

	/* Due, and not later than half an interval. */
	assert_in_range(s->time, due, due + desc->t_refi / 2);
	assert_true(s->time >= w->precharged[s->rank]);
	for (unsigned i = 0; i < desc->banks; i++) {
		struct bank *bank = &w->banks[s->rank][i];

		assert_true(w->past || (!bank->open && s->time >= bank->closed));
		bank->closed = s->time + desc->t_rfc;
		bank->used = false;
	}
	w->refreshed[s->rank] = s->time + desc->t_rfc;
}

static bool is_write(const struct signal *cas)
{
	return cas->qualifiers &
	       (QUALIFIER_DRAM_CAS_WRITE_IN_WRITE_MODE | QUALIFIER_DRAM_CAS_WRITE_IN_READ_MODE);
}

static void see_data(struct witness *w, const struct signal *s, uint64_t begin)
{
	const bool write = is_write(s), turns = w->data_rank != s->rank || w->data_write != write;

	if (w->data_end)
		assert_true(begin >= w->data_end + (turns ? 2 : 0));
	w->data_end = begin + w->desc->t_burst;
	w->data_rank = s->rank;
	w->data_write = write;
}

/* In the order of cycles. */
static void see_cas(struct witness *w, const struct signal *s)
{
	uint64_t *group = &w->group_cas[s->rank][group_of(w, s)];

	/* Another row may be on its way: what its window has of this one counts as before it. */
	assert_true(w->past ||
		    (w->banks[s->rank][s->bank].used && s->time >= w->refreshed[s->rank]));
	if (*group)
		assert_true(s->time >= *group - 1 + w->desc->t_ccd_l);
	*group = s->time + 1;
}

/* In the order of requests. */
static void note_cas(struct witness *w, const struct signal *s)
{
	const struct pmu_machine *desc = w->desc;
	bool write_major = s->qualifiers & (QUALIFIER_DRAM_CAS_WRITE_IN_WRITE_MODE |
					    QUALIFIER_DRAM_CAS_READ_IN_WRITE_MODE);

	if (is_write(s)) {
		assert_int_equal(__builtin_popcount(s->qualifiers), 1);
		w->read_ready[s->rank] = s->time + desc->t_cwl + desc->t_burst + desc->t_wtr;
		w->writes++;
	} else {
		assert_int_equal(__builtin_popcount(s->qualifiers), 2);
		assert_true(w->late || s->time >= w->read_ready[s->rank]);
		w->reads++;
		w->underfills += !!(s->qualifiers & QUALIFIER_DRAM_CAS_UNDERFILL);
	}
	if (write_major) {
		if (!w->mode_writes++)
			w->first_wmm = s->time;
		w->last_wmm = s->time;
	} else {
		assert_true(w->late || s->time >= w->mode_end);
	}
}

static void see_mode(struct witness *w, const struct signal *s)
{
	assert_int_equal(s->qualifiers, QUALIFIER_DRAM_MODE_WRITE);
	assert_true(s->time >= w->mode_end);
	if (!w->mode_groups || s->time > w->mode_end)
		w->mode_groups++;
	assert_true(w->mode_writes >= w->desc->wpq_high - w->desc->wpq_low);
	assert_true(w->first_wmm >= s->time);
	w->mode_start = s->time;
	w->mode_end = s->time + s->duration;
	assert_int_equal(w->last_wmm + 1, w->mode_end);
	w->mode_writes = 0;
}

/* An entry is taken at the arrival, or as soon as one is free. */
static void see_read(struct witness *w, const struct signal *s)
{
	unsigned leaving = 0, kept = 0;

	w->rpq_cycles += s->duration;
	/* What comes in the past may find the queue as it is later. */
	if (w->past) {
		assert_true(s->time < w->arrival || !w->late);
		return;
	}
	for (unsigned i = 0; i < w->rpq_held; i++) {
		leaving += w->rpq[i] == s->time;
		if (w->rpq[i] >= s->time)
			w->rpq[kept++] = w->rpq[i];
	}
	assert_true(s->time >= w->arrival);
	if (s->time > w->arrival)
		assert_true(leaving && kept >= w->desc->rpq_entries);
	assert_true(kept - leaving < w->desc->rpq_entries);
	w->rpq[kept++] = s->time + s->duration;
	w->rpq_held = kept;
}

static void see_level(struct witness *w, const struct signal *s)
{
	uint64_t passed = s->time - w->level_since;

	assert_true(s->duration == w->level + 1 || s->duration + 1 == w->level);
	assert_true(s->duration <= w->desc->wpq_entries);
	w->wpq_cycles += w->level * passed;
	if (w->level == w->desc->wpq_entries)
		w->full_cycles += passed;
	w->level = s->duration;
	w->level_since = s->time;
}

static void see_full(struct witness *w, const struct signal *s)
{
	assert_true(s->time >= w->full_end);
	w->full_end = s->time + s->duration;
	w->full_emitted += s->duration;
}

static uint64_t begin_of_data(const struct witness *w, const struct signal *cas)
{
	return cas->time + (is_write(cas) ? w->desc->t_cwl : w->desc->t_cl);
}

static int by_cycle(const void *a, const void *b)
{
	const struct signal *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return (one->id > other->id) - (one->id < other->id);
}

/* A write's data come sooner than a read's. */
static int by_data(const void *a, const void *b)
{
	const struct signal *one = a, *other = b;

	return (one->time > other->time) - (one->time < other->time);
}

static void see_command(struct witness *w, const struct signal *s)
{
	switch (s->id) {
	case SIGNAL_DRAM_ACTIVATE:
		see_activate(w, s);
		break;
	case SIGNAL_DRAM_PRECHARGE:
		see_precharge(w, s);
		break;
	case SIGNAL_DRAM_PRECHARGE_ALL:
		see_precharge_all(w, s);
		break;
	case SIGNAL_DRAM_REFRESH:
		see_refresh(w, s);
		break;
	case SIGNAL_DRAM_CAS:
		see_cas(w, s);
		break;
	}
}

/* What is before @until is known. */
static void settle(struct witness *w, uint64_t until)
{
	size_t known = 0, bursts = 0;

	qsort(w->commands, w->held, sizeof(*w->commands), by_cycle);
	while (known < w->held && w->commands[known].time < until)
		see_command(w, &w->commands[known++]);
	for (size_t i = 0; i < known; i++) {
		if (w->commands[i].id != SIGNAL_DRAM_CAS)
			continue;
		w->commands[i].time = begin_of_data(w, &w->commands[i]);
		w->commands[bursts++] = w->commands[i];
	}
	qsort(w->commands, bursts, sizeof(*w->commands), by_data);
	for (size_t i = 0; i < bursts; i++)
		see_data(w, &w->commands[i], w->commands[i].time);
	memmove(w->commands, w->commands + known, (w->held - known) * sizeof(*w->commands));
	w->held -= known;
}

static void see(void *subscriber, const struct signal *s)
{
	struct witness *w = subscriber;

	assert_true(s->time < UINT64_C(1) << 62);
	w->count[s->id]++;
	switch (s->id) {
	case SIGNAL_DRAM_CAS:
		note_cas(w, s);
		/* fall through */
	case SIGNAL_DRAM_ACTIVATE:
	case SIGNAL_DRAM_PRECHARGE:
	case SIGNAL_DRAM_PRECHARGE_ALL:
	case SIGNAL_DRAM_REFRESH:
		assert_true(w->held < COMMANDS_MAX);
		w->commands[w->held++] = *s;
		return;
	case SIGNAL_DRAM_READ_QUEUE:
		see_read(w, s);
		return;
	case SIGNAL_DRAM_MODE:
		see_mode(w, s);
		break;
	case SIGNAL_DRAM_WRITE_QUEUE:
		see_level(w, s);
		break;
	case SIGNAL_DRAM_WRITE_QUEUE_FULL:
		see_full(w, s);
		break;
	}
	assert_true(w->past || s->time >= w->latest[s->id]);
	w->latest[s->id] = later(w->latest[s->id], s->time);
}

/* A stream, a few hot lines, or anything. */
static uint64_t next_line(uint64_t *seed, uint64_t *stream)
{
	uint64_t random = next_random(seed);

	switch (random >> 60 & 3) {
	case 0:
		return random % 64 * 4099;
	case 1:
		return random % (1 << 26);
	default:
		return ++*stream;
	}
}

/* Mostly dense, with calm and bursts, idle times and, if @past, arrivals in it. */
static uint64_t next_arrival(uint64_t *seed, uint64_t now, bool past)
{
	uint64_t random = next_random(seed), phase = now >> 14 & 3;

	if (random % 1000 == 0)
		return now + (random >> 32) % 100000;
	if (past && random % 100 == 1)
		return now > PAST ? now - PAST : 0;
	return now + (random >> 32) % (phase ? 8 * phase : 2);
}

static void check_totals(const struct witness *w, const struct memory_statistics *t)
{
	assert_int_equal(t->reads, w->count[SIGNAL_DRAM_READ_QUEUE]);
	assert_int_equal(t->reads, t->cas_reads - t->underfills + t->wpq_read_hits);
	assert_int_equal(t->writes, t->cas_writes + t->wpq_write_hits);
	assert_int_equal(t->cas_reads, w->reads);
	assert_int_equal(t->cas_writes, w->writes);
	assert_int_equal(t->underfills, w->underfills);
	assert_int_equal(t->wpq_read_hits, w->count[SIGNAL_DRAM_WRITE_QUEUE_READ_HIT]);
	assert_int_equal(t->wpq_write_hits, w->count[SIGNAL_DRAM_WRITE_QUEUE_WRITE_HIT]);
	assert_int_equal(t->activates, w->count[SIGNAL_DRAM_ACTIVATE]);
	assert_int_equal(t->precharges, w->count[SIGNAL_DRAM_PRECHARGE]);
	assert_int_equal(t->refreshes, w->count[SIGNAL_DRAM_REFRESH]);
	assert_int_equal(t->rpq_cycles, w->rpq_cycles);
	assert_int_equal(t->wpq_cycles, w->wpq_cycles);
	assert_int_equal(w->level, 0);
	assert_int_equal(w->full_emitted, w->full_cycles);
	assert_int_equal(w->mode_groups, w->count[SIGNAL_DRAM_WRITE_MODE_END]);
	/* Every way through the channel was taken. */
	for (int id = SIGNAL_DRAM_CAS; id <= SIGNAL_DRAM_WRITE_MODE_END; id++)
		assert_true(w->count[id] > 100);
}

static void run_requests(const struct pmu_machine *desc, bool past)
{
	struct witness w = {
	    .desc = desc, .past = past, .commands = calloc(COMMANDS_MAX, sizeof(*w.commands))};
	uint8_t enabled[SIGNAL_COUNT];
	struct signal_port port = {.subscriber = &w, .emit = see, .enabled = enabled};
	struct memory_view view = {.desc = desc, .port = &port};
	struct memory_channel channel = {0};
	const struct memory_statistics *t = memory_statistics(&channel);
	uint64_t seed = 0x9E3779B97F4A7C15, stream = 0, now = 0, end, open;

	assert_non_null(w.commands);
	memset(enabled, 1, sizeof(enabled));
	memory_init(&channel, desc);
	for (unsigned i = 0; i < REQUESTS; i++) {
		uint64_t line = next_line(&seed, &stream), what = next_random(&seed) % 16, duration;

		now = next_arrival(&seed, now, past);
		if (now > w.arrival)
			w.arrival = now;
		w.late = what < 9 && now < w.arrival;
		if (what < 9)
			duration = memory_read(&channel, &view, line, now);
		else
			duration = memory_write(&channel, &view, line, what == 15, now);
		assert_in_range(duration, what < 9 ? 4 : 0, PATIENCE + 20000);
		if (duration > PATIENCE)
			now += duration;
		w.late = false;
		if (i % 100000 == 0)
			w.arrival = now = memory_drain(&channel, &view, now);
		if (w.held > COMMANDS_MAX / 2)
			settle(&w, later(w.arrival, SETTLED) - SETTLED);
	}
	end = memory_drain(&channel, &view, now);
	assert_true(end >= now);
	check_totals(&w, t);
	assert_int_equal(t->reads + t->writes, REQUESTS);

	/* Quiet until the middle between two refreshes: their number is the time's. */
	now = (end / desc->t_refi + 2) * desc->t_refi + desc->t_refi / (2 * desc->ranks);
	memory_advance(&channel, &view, now);
	assert_int_equal(t->refreshes, now / desc->t_refi * desc->ranks);

	settle(&w, UINT64_MAX);
	open = 0;
	for (unsigned rank = 0; rank < desc->ranks; rank++)
		for (unsigned bank = 0; bank < desc->banks; bank++)
			open += w.banks[rank][bank].open;
	if (!past)
		assert_int_equal(t->activates, t->precharges + w.pre_all_closed + open);
	free(w.commands);
}

static void run(const struct pmu_machine *desc)
{
	run_requests(desc, false);
	run_requests(desc, true);
}

static void laws_hold_for_ddr4(void **state)
{
	(void)state;
	run(&ddr4);
}

static void laws_hold_with_limits(void **state)
{
	struct pmu_machine desc = ddr4;

	(void)state;
	desc.bank_groups = 4;
	desc.t_ccd_l = 6;
	desc.t_rrd_s = 4;
	desc.t_rrd_l = 6;
	desc.t_faw = 26;
	desc.t_rtp = 9;
	run(&desc);
	/* So tight that they are what takes the time. */
	desc.bank_groups = 8;
	desc.t_ccd_l = 30;
	desc.t_rrd_s = 20;
	desc.t_rrd_l = 50;
	desc.t_faw = 150;
	desc.t_rtp = 40;
	run(&desc);
}

static void laws_hold_for_small_queues(void **state)
{
	struct pmu_machine desc = ddr4;

	(void)state;
	desc.rpq_entries = 2;
	desc.wpq_entries = 5;
	desc.wpq_high = 4;
	desc.wpq_low = 1;
	run(&desc);
}

static void laws_hold_for_three_ranks(void **state)
{
	struct pmu_machine desc = ddr4;

	(void)state;
	desc.ranks = 3;
	desc.banks = 4;
	desc.rpq_entries = 7;
	desc.wpq_entries = 64;
	desc.wpq_high = 64;
	desc.wpq_low = 0;
	run(&desc);
}

static uint64_t durations(bool advance, struct memory_statistics *totals)
{
	struct memory_channel channel = {0};
	static const uint8_t none[SIGNAL_COUNT];
	const struct signal_port port = {.enabled = none};
	struct memory_view view = {.desc = &ddr4, .port = &port};
	uint64_t seed = 88172645463325252, stream = 0, now = 0, sum = 0;

	memory_init(&channel, &ddr4);
	for (unsigned i = 0; i < REQUESTS / 10; i++) {
		uint64_t line = next_line(&seed, &stream), what = next_random(&seed) % 4;
		uint64_t gap = next_random(&seed) % 1000;

		if (advance)
			memory_advance(&channel, &view, now + gap * 2 / 3);
		now += gap;
		if (what)
			sum = sum * 31 + memory_read(&channel, &view, line, now);
		else
			sum = sum * 31 + memory_write(&channel, &view, line, false, now);
	}
	*totals = *memory_statistics(&channel);
	return sum;
}

static void looking_changes_nothing(void **state)
{
	struct memory_statistics looked, alone;

	(void)state;
	assert_int_equal(durations(true, &looked), durations(false, &alone));
	assert_memory_equal(&looked, &alone, sizeof(looked));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(laws_hold_for_ddr4),
	    cmocka_unit_test(laws_hold_with_limits),
	    cmocka_unit_test(laws_hold_for_small_queues),
	    cmocka_unit_test(laws_hold_for_three_ranks),
	    cmocka_unit_test(looking_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
