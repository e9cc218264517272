/* DRAM commands request by request: cycles are worked out by hand from the timing. */
#include "memory_fixture.h"

static void first_read_opens_the_row(void **state)
{
	struct fixture *f = *state;
	const struct signal *cas;

	assert_int_equal(read_at(f, line_of(1, 5, 7, 3), 1000), 17 + 17 + 4);
	assert_int_equal(nth(f, SIGNAL_DRAM_ACTIVATE, 0)->time, 1000);
	assert_int_equal(nth(f, SIGNAL_DRAM_ACTIVATE, 0)->qualifiers, QUALIFIER_DRAM_ACTIVATE_READ);
	assert_int_equal(emitted(f, SIGNAL_DRAM_PRECHARGE), 0);
	cas = nth(f, SIGNAL_DRAM_CAS, 0);
	assert_int_equal(cas->time, 1017);
	assert_int_equal(cas->qualifiers,
			 QUALIFIER_DRAM_CAS_READ | QUALIFIER_DRAM_CAS_READ_IN_READ_MODE);
	assert_int_equal(cas->rank, 1);
	assert_int_equal(cas->bank, 5);
	assert_int_equal(cas->socket, 1);
	assert_int_equal(cas->unit, 3);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 0)->time, 1000);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 0)->duration, 17);
	assert_int_equal(stats(f)->rpq_cycles, 17);
}

static void an_open_row_needs_no_activate(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 0, 0, 0), 0);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 1), 0), 38 + 4);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 2), 1000), 17 + 4);
	assert_int_equal(stats(f)->activates, 1);
	assert_int_equal(stats(f)->precharges, 0);
}

static void another_row_waits_for_the_open_one(void **state)
{
	struct fixture *f = *state;

	/* Activate at 0, precharge not before t_ras = 39. */
	read_at(f, line_of(0, 0, 0, 0), 0);
	assert_int_equal(read_at(f, line_of(0, 0, 1, 0), 30), 39 - 30 + 55);
	assert_int_equal(nth(f, SIGNAL_DRAM_PRECHARGE, 0)->time, 39);
	assert_int_equal(nth(f, SIGNAL_DRAM_PRECHARGE, 0)->qualifiers,
			 QUALIFIER_DRAM_PRECHARGE_PAGE_MISS | QUALIFIER_DRAM_PRECHARGE_READ);
	assert_int_equal(nth(f, SIGNAL_DRAM_ACTIVATE, 1)->time, 56);
	assert_int_equal(read_at(f, line_of(0, 0, 2, 0), 1000), 55);
}

static void banks_overlap(void **state)
{
	struct fixture *f = *state;

	for (unsigned bank = 0; bank < 16; bank++)
		assert_int_equal(read_at(f, line_of(0, bank, 0, 0), 0), 38 + 4 * bank);
	/* 4096 lines apart: the next row of the same bank, if rows did not permute banks. */
	assert_int_equal(read_at(f, 100 * 4096, 1000), 55);
	assert_int_equal(read_at(f, 101 * 4096, 1000), 55 + 4);
}

static void ranks_need_a_gap_on_the_bus(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 0, 0, 0), 0);
	assert_int_equal(read_at(f, line_of(1, 0, 0, 0), 0), 38 + 2 + 4);
}

static void sequential_reads_fill_the_bus(void **state)
{
	struct fixture *f = *state;
	uint64_t duration = 0;

	for (unsigned i = 0; i < 1000; i++)
		duration = read_at(f, i, 0);
	assert_int_equal(duration, 38 + 4 * 999);
	assert_int_equal(stats(f)->activates, 8); /* rows of 128 lines */
	/* The 33rd read enters the queue when the first one leaves it. */
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 31)->time, 0);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 32)->time, 17);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 32)->duration, 32 * 4);
}

static void refresh_costs_little_of_a_stream(void **state)
{
	struct fixture *f = *state;
	uint64_t duration = 0, refreshes;

	memset(f->enabled, 0, sizeof(f->enabled));
	for (unsigned i = 0; i < 100000; i++)
		duration = read_at(f, i, 0);
	refreshes = stats(f)->refreshes;
	assert_in_range(refreshes, duration * 2 / 9360 - 1, duration * 2 / 9360);
	assert_true(duration > 38 + 4 * 99999);
	assert_true(duration <= 38 + 4 * 99999 + refreshes * (39 + 17 + 420 + 17));
}

static void refreshes_come_once_a_rank_and_interval(void **state)
{
	static const struct {
		uint64_t now, refreshes;
	} steps[] = {{4679, 0}, {4680, 1}, {9359, 1}, {9360, 2}, {93599, 19}, {93600, 20}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		memory_advance(&f->channel, &f->view, steps[i].now);
		assert_int_equal(stats(f)->refreshes, steps[i].refreshes);
	}
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(nth(f, SIGNAL_DRAM_REFRESH, i)->time, 4680 * (i + 1));
		assert_int_equal(nth(f, SIGNAL_DRAM_REFRESH, i)->rank, i % 2);
		assert_int_equal(nth(f, SIGNAL_DRAM_REFRESH, i)->qualifiers, 0);
	}
	assert_int_equal(emitted(f, SIGNAL_DRAM_PRECHARGE_ALL), 0);
	assert_int_equal(drain_at(f, 93600), 93600 + 420);
}

static void a_refresh_delays_its_rank_only(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, line_of(1, 0, 0, 0), 4680), 38);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 0), 4800), 4680 + 420 - 4800 + 38);
}

static void a_refresh_closes_all_rows(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 3, 0, 0), 4600);
	read_at(f, line_of(0, 4, 0, 0), 4600);
	/* Precharge all at 4680, refresh t_rp later, t_rfc, activate. */
	assert_int_equal(read_at(f, line_of(0, 3, 0, 1), 4690), 4680 + 17 + 420 + 38 - 4690);
	assert_int_equal(emitted(f, SIGNAL_DRAM_PRECHARGE_ALL), 1);
	assert_int_equal(nth(f, SIGNAL_DRAM_PRECHARGE_ALL, 0)->time, 4680);
	assert_int_equal(nth(f, SIGNAL_DRAM_REFRESH, 0)->time, 4697);
	assert_int_equal(nth(f, SIGNAL_DRAM_REFRESH, 0)->qualifiers, QUALIFIER_DRAM_REFRESH_HIGH);
	assert_int_equal(stats(f)->activates, 3);
	assert_int_equal(stats(f)->precharges, 0);
}

static void writes_follow_reads_on_the_bus(void **state)
{
	struct fixture *f = *state;

	read_at(f, 0, 0);
	write_at(f, 1, 0);
	/* Read data until 38, two idle cycles, write data. */
	assert_int_equal(drain_at(f, 0), 38 + 2 + 4);
}

static void a_written_row_closes_after_write_recovery(void **state)
{
	struct fixture *f = *state;

	write_at(f, line_of(0, 0, 0, 0), 0);
	assert_int_equal(drain_at(f, 0), 17 + 12 + 4);
	assert_int_equal(read_at(f, line_of(0, 0, 1, 0), 33), 18 + 55);
}

/* A read goes over the bus when that is free; writes come after all that is known. */
static void the_past_is_as_it_was(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, 0, 1000), 38);
	assert_int_equal(read_at(f, 1, 500), 38);
	assert_int_equal(read_at(f, 2, 1000), 42);
	assert_int_equal(write_at(f, 3, 0), 0);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE, 0)->time, 1000);
	assert_int_equal(drain_at(f, 0), 1042 + 2 + 4);
	/* Draining has taken time too. */
	assert_int_equal(read_at(f, 4, 1048), 9 + 17 + 4);
}

/* What JESD79-4 asks of DDR4-2400 with rows of 1 KB a device. */
static int with_limits(void **state)
{
	int error = fixture_up(state);
	struct fixture *f = *state;

	if (error)
		return error;
	f->desc.bank_groups = 4;
	f->desc.t_ccd_l = 6;
	f->desc.t_rrd_s = 4;
	f->desc.t_rrd_l = 6;
	f->desc.t_faw = 26;
	f->desc.t_rtp = 9;
	memory_init(&f->channel, &f->desc);
	return 0;
}

#define LIMITED(name) cmocka_unit_test_setup_teardown(name, with_limits, fixture_down)

/* From the low bits: half of the group, column, other half, bank in the group, rank, row; of the
   row 0. */
static uint64_t line_in_group(unsigned rank, unsigned group, unsigned bank, unsigned column)
{
	return ((uint64_t)rank * 8 + bank * 2 + group / 2) * 256 + column * 2 + group % 2;
}

static void expect_cycles(const struct fixture *f, enum pmu_signal_id id, const unsigned *cycles,
			  size_t count)
{
	assert_int_equal(emitted(f, id), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(nth(f, id, i)->time, cycles[i]);
}

static void a_lone_read_takes_what_it_takes_without_limits(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, line_in_group(1, 3, 2, 5), 1000), 17 + 17 + 4);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->rank, 1);
	/* Four banks a group, in a row. */
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->bank, 3 * 4 + 2);
}

static void activates_of_a_rank_are_apart(void **state)
{
	struct fixture *f = *state;

	/* Other groups t_rrd_s = 4 apart, the fifth t_faw = 26 after the first. */
	for (unsigned i = 0; i < 6; i++)
		read_at(f, line_in_group(0, i % 4, i / 4, 0), 0);
	expect_cycles(f, SIGNAL_DRAM_ACTIVATE, (const unsigned[]){0, 4, 8, 12, 26, 30}, 6);
	/* t_rcd later; the bus is free by then. */
	expect_cycles(f, SIGNAL_DRAM_CAS, (const unsigned[]){17, 21, 25, 29, 43, 47}, 6);
}

static void activates_of_a_bank_group_are_further_apart(void **state)
{
	struct fixture *f = *state;

	/* t_rrd_l = 6 apart; from the first to the fifth are 24, less than t_faw. */
	for (unsigned i = 0; i < 4; i++)
		read_at(f, line_in_group(0, 2, i, 0), 0);
	read_at(f, line_in_group(0, 1, 0, 0), 0);
	expect_cycles(f, SIGNAL_DRAM_ACTIVATE, (const unsigned[]){0, 6, 12, 18, 26}, 5);
}

static void ranks_have_their_own_activates(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 8; i++)
		read_at(f, line_in_group(i % 2, i / 2, 0, 0), 0);
	expect_cycles(f, SIGNAL_DRAM_ACTIVATE, (const unsigned[]){0, 0, 4, 4, 8, 8, 12, 12}, 8);
}

static void lines_in_order_alternate_between_bank_groups(void **state)
{
	struct fixture *f = *state;
	uint64_t duration = 0;

	/* 256 lines are a row of two banks each; the second one's activate is 4 later. */
	for (unsigned i = 0; i < 256; i++)
		duration = read_at(f, i, 0);
	assert_int_equal(duration, 38 + 4 * 255);
	assert_int_equal(stats(f)->activates, 2);
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, i)->bank / 4, i % 2);
}

static void reads_of_a_bank_group_are_further_apart(void **state)
{
	struct fixture *f = *state;

	/* t_ccd_l = 6, and a burst of another group has room before; of one row and of two banks
	 * that are both open. */
	for (unsigned i = 0; i < 4; i++)
		read_at(f, line_in_group(0, 0, 0, i), 0);
	expect_cycles(f, SIGNAL_DRAM_CAS, (const unsigned[]){17, 25, 33, 41}, 4);
	read_at(f, line_in_group(0, 0, 1, 0), 1000);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(read_at(f, line_in_group(0, 0, i % 2, i), 2000), 21 + 8 * i);
	/* Of another rank, the bus's two cycles alone: its row was opened meanwhile. */
	read_at(f, line_in_group(1, 0, 0, 0), 2000);
	assert_int_equal(read_at(f, line_in_group(0, 0, 0, 0), 3000), 21);
	assert_int_equal(read_at(f, line_in_group(1, 0, 0, 0), 3000), 21 + 2 + 4);
}

static void writes_of_a_bank_group_are_further_apart(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3; i++)
		write_at(f, line_in_group(0, 0, 0, i), 0);
	assert_int_equal(drain_at(f, 0), 17 + 2 * 6 + 12 + 4);
	expect_cycles(f, SIGNAL_DRAM_CAS, (const unsigned[]){17, 23, 29}, 3);
}

static void a_row_closes_t_rtp_after_its_last_read(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_in_group(0, 0, 0, 0), 0);
	assert_int_equal(read_at(f, line_in_group(0, 0, 0, 1), 100), 21);
	/* Row 4, the lowest that keeps the group and permutes bank 1 to 0. Precharge at 109. */
	assert_int_equal(read_at(f, line_in_group(0, 0, 1, 0) + 4 * 4096, 101), 109 - 101 + 55);
	assert_int_equal(nth(f, SIGNAL_DRAM_PRECHARGE, 0)->time, 109);
	assert_int_equal(stats(f)->precharges, 1);
}

/* A read does not wait for the row of an older one. */
static void reads_overtake_a_row_that_opens(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 0, 0, 0), 0);
	read_at(f, line_of(0, 1, 0, 0), 0);
	/* Precharge, activate, CAS at 1000 + 34; data from 1051. */
	assert_int_equal(read_at(f, line_of(0, 0, 1, 0), 1000), 55);
	assert_int_equal(read_at(f, line_of(0, 1, 0, 1), 1001), 21);
	/* The bus is free from 1022 to 1051: for seven more. */
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(read_at(f, line_of(0, 1, 0, 2 + i), 1001), 21 + 4 * (i + 1));
	assert_int_equal(read_at(f, line_of(0, 1, 0, 9), 1001), 1055 + 4 - 1001);
	assert_int_equal(stats(f)->activates, 3);
}

/* A window is 128 cycles, as 32 reads take. Its requests for a row need one activate. */
static void rows_of_a_window_are_opened_once_each(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, line_of(0, 0, 0, 0), 1024), 38);
	/* A bank's activates are t_ras + t_rp apart: at 1080. */
	assert_int_equal(read_at(f, line_of(0, 0, 1, 0), 1030), 1080 + 38 - 1030);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 1), 1050), 21);
	assert_int_equal(read_at(f, line_of(0, 0, 1, 1), 1101), 21);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 2), 1110), 21);
	expect_cycles(f, SIGNAL_DRAM_ACTIVATE, (const unsigned[]){1024, 1080}, 2);
	expect_cycles(f, SIGNAL_DRAM_PRECHARGE, (const unsigned[]){1063}, 1);
	/* The row of the latest request is open in the next one. */
	assert_int_equal(read_at(f, line_of(0, 0, 0, 3), 1152), 21);
	assert_int_equal(stats(f)->activates, 2);
}

/* However short the read queue is: a window is at least t_ras + t_rp, here 64 cycles. */
static void each_row_has_a_window(void **state)
{
	struct fixture *f = *state;

	f->desc.rpq_entries = 1;
	memory_init(&f->channel, &f->desc);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 0), 1024), 38);
	assert_int_equal(read_at(f, line_of(0, 0, 1, 0), 1030), 1080 + 38 - 1030);
	assert_int_equal(read_at(f, line_of(0, 0, 2, 0), 1090), 1136 + 38 - 1090);
	expect_cycles(f, SIGNAL_DRAM_ACTIVATE, (const unsigned[]){1024, 1080, 1136}, 3);
}

/* Whoever asks late meets the rows of its own time. */
static void a_late_read_finds_the_row_that_was_open_then(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 0, 0, 0), 1024);
	read_at(f, line_of(0, 0, 1, 0), 2048);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 1), 1500), 21);
	assert_int_equal(stats(f)->activates, 2);
	/* Another row: precharge, activate at 1617, and one that has no place in that window. */
	assert_int_equal(read_at(f, line_of(0, 0, 2, 0), 1600), 55);
	assert_int_equal(read_at(f, line_of(0, 0, 3, 0), 1610), 1617 + 39 + 17 + 38 - 1610);
	assert_int_equal(read_at(f, line_of(0, 0, 1, 1), 2100), 21);
	assert_int_equal(stats(f)->activates, 4);
}

/* Wherever its data go: data of two ranks are two cycles apart. */
static void a_late_read_keeps_the_gap_between_ranks(void **state)
{
	struct fixture *f = *state;

	read_at(f, line_of(0, 0, 0, 0), 0);
	read_at(f, line_of(1, 0, 0, 0), 0);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 1), 1000), 21);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 2), 1010), 21);
	/* The bus is free from 1021 to 1027. */
	assert_int_equal(read_at(f, line_of(1, 0, 0, 1), 1000), 1031 + 2 + 4 - 1000);
	assert_int_equal(read_at(f, line_of(0, 0, 0, 3), 1000), 25);
}

static void expect_every_four(const struct fixture *f, unsigned cas, const unsigned *bursts,
			      unsigned from, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, cas + i)->time, from + 4 * bursts[i]);
}

/* What waits for its bank group leaves cycles that another's read can use. */
static void reads_fill_the_bus_in_any_order(void **state)
{
	static const unsigned in_turns[] = {0, 1, 2, 3, 4, 5, 6, 7},
			      group_by_group[] = {0, 2, 4, 6, 1, 3, 5, 7};
	struct fixture *f = *state;

	read_at(f, line_in_group(0, 0, 0, 0), 0);
	read_at(f, line_in_group(0, 1, 0, 0), 0);
	for (unsigned i = 0; i < 8; i++)
		read_at(f, line_in_group(0, i % 2, 0, 1 + i / 2), 1000);
	expect_every_four(f, 2, in_turns, 1000, 8);
	for (unsigned i = 0; i < 8; i++)
		read_at(f, line_in_group(0, i / 4, 0, 1 + i % 4), 2000);
	expect_every_four(f, 10, group_by_group, 2000, 8);
}

/* Those of a row: 24 of 40 leave, of which twenty came of one bank group first. */
static void writes_alternate_between_bank_groups(void **state)
{
	static const unsigned in_turns[] = {0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10, 11,
					    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		write_at(f, 2 * (i % 20) + i / 20, 0);
	assert_int_equal(emitted(f, SIGNAL_DRAM_CAS), 24);
	expect_every_four(f, 0, in_turns, 17, 24);
}

/* In any order: t_rrd_s from both neighbours, and a window of five wherever it begins. */
static void activates_keep_their_distance_in_any_order(void **state)
{
	struct memory_activates kept = {0};
	const struct activate_limits limits = {.group = 6, .other = 4, .window = 26};

	(void)state;
	activates_take(&kept, 0, 100);
	activates_take(&kept, 1, 110);
	assert_int_equal(activates_find(&kept, &limits, 2, 50), 50);
	assert_int_equal(activates_find(&kept, &limits, 2, 97), 104);
	assert_int_equal(activates_find(&kept, &limits, 2, 96), 96);
	assert_int_equal(activates_find(&kept, &limits, 0, 96), 106);
	assert_int_equal(activates_find(&kept, &limits, 1, 105), 116);
	activates_take(&kept, 2, 104);
	assert_int_equal(activates_find(&kept, &limits, 3, 95), 95);
	activates_take(&kept, 3, 95);
	/* Four from 95 to 110: a fifth is at 110 - 26 at the latest, or at 95 + 26 at the soonest.
	 */
	assert_int_equal(activates_find(&kept, &limits, 3, 84), 84);
	assert_int_equal(activates_find(&kept, &limits, 3, 85), 121);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(first_read_opens_the_row),
	    TEST(an_open_row_needs_no_activate),
	    TEST(another_row_waits_for_the_open_one),
	    TEST(banks_overlap),
	    TEST(ranks_need_a_gap_on_the_bus),
	    TEST(sequential_reads_fill_the_bus),
	    TEST(refresh_costs_little_of_a_stream),
	    TEST(refreshes_come_once_a_rank_and_interval),
	    TEST(a_refresh_delays_its_rank_only),
	    TEST(a_refresh_closes_all_rows),
	    TEST(writes_follow_reads_on_the_bus),
	    TEST(a_written_row_closes_after_write_recovery),
	    TEST(the_past_is_as_it_was),
	    LIMITED(a_lone_read_takes_what_it_takes_without_limits),
	    LIMITED(activates_of_a_rank_are_apart),
	    LIMITED(activates_of_a_bank_group_are_further_apart),
	    LIMITED(ranks_have_their_own_activates),
	    LIMITED(lines_in_order_alternate_between_bank_groups),
	    LIMITED(reads_of_a_bank_group_are_further_apart),
	    LIMITED(writes_of_a_bank_group_are_further_apart),
	    LIMITED(a_row_closes_t_rtp_after_its_last_read),
	    TEST(reads_overtake_a_row_that_opens),
	    TEST(rows_of_a_window_are_opened_once_each),
	    TEST(each_row_has_a_window),
	    TEST(a_late_read_finds_the_row_that_was_open_then),
	    TEST(a_late_read_keeps_the_gap_between_ranks),
	    LIMITED(reads_fill_the_bus_in_any_order),
	    LIMITED(writes_alternate_between_bank_groups),
	    TEST(activates_keep_their_distance_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
