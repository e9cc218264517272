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

static void the_past_is_taken_as_now(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, 0, 1000), 38);
	assert_int_equal(read_at(f, 1, 500), 42);
	assert_int_equal(write_at(f, 2, 0), 0);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE, 0)->time, 1000);
	assert_int_equal(drain_at(f, 0), 1042 + 2 + 4);
	/* Draining has taken time too. */
	assert_int_equal(read_at(f, 3, 0), 9 + 17 + 4);
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
	    TEST(the_past_is_taken_as_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
