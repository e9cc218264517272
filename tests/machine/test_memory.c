/* The queues request by request: cycles are worked out by hand from the timing. */
#include "memory_fixture.h"

static void writes_drain_at_the_high_mark(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 39; i++)
		assert_int_equal(write_at(f, i, 0), 0);
	assert_int_equal(stats(f)->cas_writes, 0);
	assert_int_equal(write_at(f, 39, 0), 0);
	assert_int_equal(stats(f)->cas_writes, 40 - 16);
	/* CAS at 17, 21, .. 17 + 23 * 4 = 109. */
	for (unsigned i = 0; i < 24; i++) {
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, i)->time, 17 + 4 * i);
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, i)->qualifiers,
				 QUALIFIER_DRAM_CAS_WRITE_IN_WRITE_MODE);
	}
	assert_int_equal(nth(f, SIGNAL_DRAM_ACTIVATE, 0)->qualifiers,
			 QUALIFIER_DRAM_ACTIVATE_WRITE);
	assert_int_equal(nth(f, SIGNAL_DRAM_MODE, 0)->time, 0);
	assert_int_equal(nth(f, SIGNAL_DRAM_MODE, 0)->duration, 110);
	assert_int_equal(nth(f, SIGNAL_DRAM_MODE, 0)->qualifiers, QUALIFIER_DRAM_MODE_WRITE);
	assert_int_equal(stats(f)->wpq_cycles, 24 * 17 + 4 * (23 * 24 / 2));
}

static void write_queue_level_falls_with_each_cas(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		write_at(f, i, 0);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE, i)->duration, i + 1);
	memory_advance(&f->channel, &f->view, 20);
	assert_int_equal(emitted(f, SIGNAL_DRAM_WRITE_QUEUE), 41);
	memory_advance(&f->channel, &f->view, 150);
	assert_int_equal(emitted(f, SIGNAL_DRAM_WRITE_QUEUE), 64);
	for (unsigned i = 0; i < 24; i++) {
		assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE, 40 + i)->time, 17 + 4 * i);
		assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE, 40 + i)->duration, 39 - i);
	}
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_MODE_END, 0)->time, 110);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_MODE_END, 0)->qualifiers,
			 QUALIFIER_DRAM_WRITE_MODE_END_LOW_MARK);
}

/* Rows 0 and 1 of a bank, by turns; @partial: numbers of two writes that are not complete. */
static void write_two_rows(struct fixture *f, const unsigned partial[2])
{
	for (unsigned i = 0; i < 40; i++) {
		const uint64_t line = line_of(0, 0, i % 2, i / 2);

		if (i == partial[0] || i == partial[1])
			partial_at(f, line, 0);
		else
			write_at(f, line, 0);
	}
}

static void writes_to_an_open_row_go_first(void **state)
{
	struct fixture *f = *state;

	write_two_rows(f, (const unsigned[]){40, 40});
	/* All 20 of row 0, then 4 of row 1: precharge t_wr after the last data, 93 + 16 + 18. */
	assert_int_equal(stats(f)->cas_writes, 24);
	assert_int_equal(stats(f)->activates, 2);
	assert_int_equal(stats(f)->precharges, 1);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, i)->time, 17 + 4 * i);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 20 + i)->time, 127 + 17 + 17 + 4 * i);
	/* In the order of arrival: at 165 the first two of row 1 have left, the next have not. */
	for (unsigned column = 0; column < 4; column++) {
		read_at(f, line_of(0, 0, 1, column), 165);
		assert_int_equal(stats(f)->wpq_read_hits, column < 2 ? 0 : column - 1);
	}
}

static void partial_writes_stay_so_when_others_go_first(void **state)
{
	struct fixture *f = *state;

	write_two_rows(f, (const unsigned[]){11, 38}); /* column 5 of row 1, 19 of row 0 */
	assert_int_equal(stats(f)->underfills, 1);
	drain_at(f, 0);
	assert_int_equal(stats(f)->underfills, 2);
	assert_int_equal(stats(f)->cas_writes, 40);
}

static void reads_wait_for_the_end_of_write_mode(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		write_at(f, i, 0);
	/* Last write data end at 109 + 12 + 4 = 125; CAS t_wtr later in the same rank. */
	assert_int_equal(read_at(f, line_of(0, 0, 0, 100), 50), 125 + 9 + 17 + 4 - 50);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_MODE_END, 0)->time, 110);
}

static void another_rank_is_read_right_after_write_mode(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		write_at(f, i, 0);
	assert_int_equal(read_at(f, line_of(1, 0, 0, 0), 50), 110 + 38 - 50);
}

static void a_full_queue_holds_writes_back(void **state)
{
	struct fixture *f = *state;

	/* From the 40th on, CAS at 17, 21, .. as above; the queue holds 48 until then. */
	for (unsigned i = 0; i < 48; i++)
		assert_int_equal(write_at(f, i, 0), 0);
	assert_int_equal(write_at(f, 48, 0), 17);
	assert_int_equal(write_at(f, 49, 5), 21 - 5);
	assert_int_equal(emitted(f, SIGNAL_DRAM_WRITE_QUEUE_FULL), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE_FULL, i)->time, i ? 13 + 4 * i : 0);
		assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE_FULL, i)->duration, i ? 4 : 17);
	}
}

static void write_mode_goes_on_while_the_queue_refills(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40 + 24; i++)
		write_at(f, i, 0);
	/* 24 more writes on the open row, the first 4 cycles after the one at 109. */
	assert_int_equal(emitted(f, SIGNAL_DRAM_MODE), 2);
	assert_int_equal(nth(f, SIGNAL_DRAM_MODE, 1)->time, 110);
	assert_int_equal(nth(f, SIGNAL_DRAM_MODE, 1)->duration, 24 * 4);
	memory_advance(&f->channel, &f->view, 300);
	assert_int_equal(emitted(f, SIGNAL_DRAM_WRITE_MODE_END), 1);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_MODE_END, 0)->time, 110 + 96);
}

static void queued_writes_are_hit(void **state)
{
	struct fixture *f = *state;

	write_at(f, 7, 10);
	assert_int_equal(write_at(f, 7, 20), 0);
	assert_int_equal(read_at(f, 7, 30), 4);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE_WRITE_HIT, 0)->time, 20);
	assert_int_equal(nth(f, SIGNAL_DRAM_WRITE_QUEUE_READ_HIT, 0)->time, 30);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 0)->time, 30);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 0)->duration, 4);
	assert_int_equal(emitted(f, SIGNAL_DRAM_CAS), 0);
	assert_int_equal(read_at(f, 8, 40), 38);
	drain_at(f, 100);
	assert_int_equal(stats(f)->cas_writes, 1);
	assert_int_equal(stats(f)->cas_reads, 1);
	/* Nothing is left to hit. */
	assert_int_equal(read_at(f, 7, 1000), 17 + 4);
}

static void a_write_can_be_hit_until_its_cas(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		write_at(f, i, 0);
	assert_int_equal(read_at(f, 1, 20), 4); /* its CAS is at 21 */
	assert_int_equal(stats(f)->wpq_read_hits, 1);
	read_at(f, 1, 21);
	assert_int_equal(stats(f)->wpq_read_hits, 1);
}

static void a_read_looks_into_the_queue_when_accepted(void **state)
{
	struct fixture *f = *state;

	f->desc.rpq_entries = 1;
	for (unsigned i = 0; i < 40; i++)
		write_at(f, i, 0);
	read_at(f, line_of(1, 0, 0, 0), 0); /* after the writes: leaves at 127 */
	read_at(f, 1, 5);		    /* written at 21 */
	assert_int_equal(stats(f)->wpq_read_hits, 0);
	read_at(f, 30, 5); /* waits for a drain yet */
	assert_int_equal(stats(f)->wpq_read_hits, 1);
}

static void a_hit_frees_its_read_entry_early(void **state)
{
	struct fixture *f = *state;

	f->desc.rpq_entries = 2;
	write_at(f, 500, 0);
	read_at(f, 0, 0);			 /* leaves at 17 */
	assert_int_equal(read_at(f, 500, 0), 4); /* leaves at 4 */
	assert_int_equal(read_at(f, 1, 0), 42);	 /* CAS at 21 */
	assert_int_equal(read_at(f, 2, 0), 46);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 2)->time, 4);
	assert_int_equal(nth(f, SIGNAL_DRAM_READ_QUEUE, 3)->time, 17);
}

static void partial_writes_read_first(void **state)
{
	struct fixture *f = *state;

	partial_at(f, 7, 0);
	/* Read CAS at 17, data until 38, then the write: 12 + 4. */
	assert_int_equal(drain_at(f, 0), 38 + 12 + 4);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->qualifiers,
			 QUALIFIER_DRAM_CAS_UNDERFILL | QUALIFIER_DRAM_CAS_READ_IN_READ_MODE);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->time, 17);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 1)->qualifiers,
			 QUALIFIER_DRAM_CAS_WRITE_IN_READ_MODE);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 1)->time, 38);
	assert_int_equal(stats(f)->underfills, 1);
	assert_int_equal(stats(f)->cas_reads, 1);
}

static void partial_writes_merge(void **state)
{
	struct fixture *f = *state;

	partial_at(f, 1, 0); /* then completed: no underfill */
	write_at(f, 1, 0);
	write_at(f, 2, 0); /* complete already */
	partial_at(f, 2, 0);
	partial_at(f, 3, 0); /* one underfill for both */
	partial_at(f, 3, 0);
	drain_at(f, 0);
	assert_int_equal(stats(f)->underfills, 1);
	assert_int_equal(stats(f)->wpq_write_hits, 3);
	assert_int_equal(stats(f)->cas_writes, 3);
}

static void underfills_of_a_drain_carry_its_mode(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 40; i++)
		partial_at(f, i, 0);
	assert_int_equal(stats(f)->underfills, 24);
	for (unsigned i = 0; i < 24; i++) {
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, i)->qualifiers,
				 QUALIFIER_DRAM_CAS_UNDERFILL |
				     QUALIFIER_DRAM_CAS_READ_IN_WRITE_MODE);
		/* All data are there at 38 + 23 * 4 = 130. */
		assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 24 + i)->time, 130 + 4 * i);
	}
}

static void idle_channels_write(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 10; i++)
		write_at(f, i, 0);
	memory_advance(&f->channel, &f->view, 200);
	assert_int_equal(stats(f)->cas_writes, 0);
	/* Idle from 200: activate at 200, CAS at 217 and 221, the third would be after 222. */
	assert_int_equal(read_at(f, 100, 222), 221 + 12 + 4 + 9 + 17 + 4 - 222);
	assert_int_equal(stats(f)->cas_writes, 2);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->time, 217);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 0)->qualifiers,
			 QUALIFIER_DRAM_CAS_WRITE_IN_READ_MODE);
	assert_int_equal(nth(f, SIGNAL_DRAM_CAS, 1)->time, 221);
	memory_advance(&f->channel, &f->view, 1000);
	assert_int_equal(stats(f)->cas_writes, 10);
	assert_int_equal(emitted(f, SIGNAL_DRAM_MODE), 0);
}

/* Advances to the last cycle before the queue is written and one further. */
static void expect_idle_from(struct fixture *f, uint64_t cycle)
{
	memory_advance(&f->channel, &f->view, cycle);
	assert_int_equal(stats(f)->cas_writes, 0);
	memory_advance(&f->channel, &f->view, cycle + 1);
	assert_int_equal(stats(f)->cas_writes, 1);
}

static void reads_keep_a_channel_busy(void **state)
{
	struct fixture *f = *state;

	write_at(f, 0, 0);
	read_at(f, 100, 150);
	expect_idle_from(f, 150 + 38 + 200);
}

static void hits_keep_a_channel_busy(void **state)
{
	struct fixture *f = *state;

	write_at(f, 0, 0);
	write_at(f, 0, 150);
	expect_idle_from(f, 150 + 200);
}

static void nothing_is_emitted_unsubscribed(void **state)
{
	struct fixture *f = *state;

	memset(f->enabled, 0, sizeof(f->enabled));
	for (unsigned i = 0; i < 100; i++)
		partial_at(f, i, 0);
	read_at(f, 1000, 0);
	drain_at(f, 10000);
	assert_int_equal(f->count, 0);
	assert_int_equal(stats(f)->cas_writes, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(writes_drain_at_the_high_mark),
	    TEST(write_queue_level_falls_with_each_cas),
	    TEST(writes_to_an_open_row_go_first),
	    TEST(partial_writes_stay_so_when_others_go_first),
	    TEST(reads_wait_for_the_end_of_write_mode),
	    TEST(another_rank_is_read_right_after_write_mode),
	    TEST(a_full_queue_holds_writes_back),
	    TEST(write_mode_goes_on_while_the_queue_refills),
	    TEST(queued_writes_are_hit),
	    TEST(a_write_can_be_hit_until_its_cas),
	    TEST(a_read_looks_into_the_queue_when_accepted),
	    TEST(a_hit_frees_its_read_entry_early),
	    TEST(partial_writes_read_first),
	    TEST(partial_writes_merge),
	    TEST(underfills_of_a_drain_carry_its_mode),
	    TEST(idle_channels_write),
	    TEST(reads_keep_a_channel_busy),
	    TEST(hits_keep_a_channel_busy),
	    TEST(nothing_is_emitted_unsubscribed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
