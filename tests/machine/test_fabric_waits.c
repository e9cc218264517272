/*
 * What waits between the cores of the Itanium machines, in closed form: for ways through a router,
 * for banks and refreshes; and pages that stay open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/fabric/lane.h"
#include "machine/fabric_fixture.h"

/*
 * Two cores send to one home agent in the same cycle: one goes a cycle later. The second line is
 * ready in cycle 17, while the first one leaves from 16 to 24.
 */
static void test_two_to_one(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 0, 0).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 0, 2).latency, 16 + 9 + 2);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 10, QUALIFIER_PORT_BID_FAILED_GLOBAL, 1, 1);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 7, 0, 0, 0);
	check(f, SIGNAL_PORT_ORDER_KILL, 0, 7, 0, 0, 0);
	check(f, SIGNAL_PORT_ENTRY, 0, 8, QUALIFIER_PORT_ENTRY_HOME, 1, 1);
	check(f, SIGNAL_PORT_ENTRY, 0, 7, QUALIFIER_PORT_ENTRY_HOME, 1, 2);
	check(f, SIGNAL_PORT_FAST, 0, 10, 0, 2, 2);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_DATA, 1, 25 - 17);
	check(f, SIGNAL_DIRECTORY_QUEUE_BUSY, 0, 0, QUALIFIER_DIRECTORY_QUEUE_BUSY_DATA, 1,
	      25 - 17);
	end(f);
}

/*
 * Lines of the other home agent come to core 1 from cycle 146 to 154 and from 162 to 170. Its third
 * one finds no nine cycles before, and comes in 173. Its home agent is done with it in 146, as the
 * port takes it until 154. So a snoop of it goes in 155, and is there 16 before it. The core says
 * so from 161 on, and has it told in 176 what it was for, which waits for the line's last flit at
 * the port, until 179: 2 to the core, 4 there, 1 for its answer, 2 to the requester.
 */
static void test_snoop_overtakes_line(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 130, 5).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 146, 7).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 130, 4).latency, 173 - 130);
	f->caches[1] = FABRIC_EXCLUSIVE;
	f->there = 173;
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 135, 4).latency,
			 180 + 2 + 4 + 1 + 2 - 135);
	check(f, SIGNAL_DIRECTORY_SNOOP, 0, 0, QUALIFIER_DIRECTORY_SNOOP_LOCAL, 1, 163 - 149);
	end(f);
}

/* The same a while apart, and to two home agents: nobody waits. */
static void test_apart(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 0, 0).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 0, 1).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 30, 2).latency, LEAST);
	for (unsigned port = 0; port < 12; port++) {
		check(f, SIGNAL_PORT_BID_FAILED, 0, port, 0, 0, 0);
		check(f, SIGNAL_PORT_ORDER_KILL, 0, port, 0, 0, 0);
	}
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, 0, 0, 0);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, 0, 0, 0);
	end(f);
}

/*
 * Core 1's line goes to the home agent from cycle 1 to 9. Core 0's request of cycle 1 loses against
 * it, and goes in 10; its next one comes in 2 and is killed with it, a third in 5 is killed in its
 * queue. They go in 11 and 12. The table has one entry for them: each gets it as the one before has
 * gone.
 */
static void test_order(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_WRITE_BACK, 1, 0, 0);
	transact(f, FABRIC_OWN, 0, 1, 2);
	transact(f, FABRIC_OWN, 0, 1, 4);
	transact(f, FABRIC_OWN, 0, 5, 6);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 10, QUALIFIER_PORT_BID_FAILED_GLOBAL, 1, 1);
	check(f, SIGNAL_PORT_ORDER_KILL, 0, 10, QUALIFIER_PORT_ORDER_KILL_GLOBAL, 1, 1);
	check(f, SIGNAL_PORT_ORDER_KILL, 0, 8, QUALIFIER_PORT_ORDER_KILL_QUEUE, 1, 1);
	check(f, SIGNAL_PORT_ENTRY, 0, 8, QUALIFIER_PORT_ENTRY_HOME, 3, 10 - 1 + 1 + 1 + 1);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 8, QUALIFIER_PORT_OVERFLOW_ENTRY_HOME, 3,
	      1 + 11 - 2 + 12 - 5);
	check(f, SIGNAL_PORT_OVERFLOW_BUSY, 0, 8, 0, 3, 12 - 1);
	end(f);
}

/*
 * The other home agent's line goes to core 0 from cycle 16 to 24. Two replies for it are ready in
 * 16 and 17, and wait until 25 and 26: the second one without an entry. So do two snoops.
 */
static void test_overflow(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 0, 1);
	transact(f, FABRIC_OWN, 0, 10, 2);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 10, 0, 0, 0);
	transact(f, FABRIC_OWN, 0, 11, 4);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 10, QUALIFIER_PORT_OVERFLOW_ENTRY_RESPONSE, 1,
	      26 - 17);
	check(f, SIGNAL_PORT_ENTRY, 0, 10, QUALIFIER_PORT_ENTRY_RESPONSE, 2, 26 - 16 + 27 - 26);
	check(f, SIGNAL_PORT_OVERFLOW_BUSY, 0, 10, 0, 1, 26 - 17);
	end(f);
	f = begin(1);
	transact(f, FABRIC_READ_DATA, 0, 0, 1);
	for (unsigned i = 0; i < 2; i++) {
		f->caches[0] = FABRIC_SHARED;
		transact(f, FABRIC_OWN, 1, 11 + i, 2 + 2 * i);
		check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 10, QUALIFIER_PORT_OVERFLOW_ENTRY_SNOOP, i,
		      i * (26 - 17));
	}
	check(f, SIGNAL_PORT_ENTRY, 0, 10, QUALIFIER_PORT_ENTRY_SNOOP, 2, 26 - 16 + 27 - 26);
	end(f);
}

/* Lines: core 0's wait for core 1's in its port, the first from cycle 1 until it goes in 21, the
 * second from 11 on. A third, of when both have gone, has its entry at once. */
static void test_overflow_of_lines(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_WRITE_BACK, 1, 0, 0);
	transact(f, FABRIC_WRITE_BACK, 1, 0, 2);
	transact(f, FABRIC_WRITE_BACK, 0, 0, 4);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 8, QUALIFIER_PORT_OVERFLOW_ENTRY_DATA, 0, 0);
	transact(f, FABRIC_WRITE_BACK, 0, 0, 6);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 8, QUALIFIER_PORT_OVERFLOW_ENTRY_DATA, 1, 22 - 11);
	transact(f, FABRIC_WRITE_BACK, 0, 60, 8);
	check(f, SIGNAL_PORT_OVERFLOW_ENTRY, 0, 8, QUALIFIER_PORT_OVERFLOW_ENTRY_DATA, 1, 22 - 11);
	check(f, SIGNAL_PORT_ENTRY, 0, 8, QUALIFIER_PORT_ENTRY_DATA, 3, 22 - 1 + 32 - 22 + 1);
	end(f);
}

/*
 * Core 0's line, sent in cycle 1, waits for core 1's too and leaves its port from cycle 11 to 19,
 * behind its own request in 10. What it asks for in 12 finds its own port taken and goes in 20;
 * what it asks for in 13 is killed there.
 */
static void test_own_port(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_WRITE_BACK, 1, 0, 0);
	transact(f, FABRIC_WRITE_BACK, 0, 0, 2);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 10, QUALIFIER_PORT_BID_FAILED_GLOBAL, 2, 2);
	transact(f, FABRIC_OWN, 0, 12, 1);
	transact(f, FABRIC_OWN, 0, 13, 3);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 8, QUALIFIER_PORT_BID_FAILED_LOCAL, 1, 1);
	check(f, SIGNAL_PORT_ORDER_KILL, 0, 8, QUALIFIER_PORT_ORDER_KILL_LOCAL, 1, 1);
	check(f, SIGNAL_PORT_BID_FAILED, 0, 0, 0, 0, 0);
	check(f, SIGNAL_PORT_FAST, 0, 7, 0, 1, 1);
	check(f, SIGNAL_PORT_FAST, 0, 8, 0, 0, 0);
	end(f);
}

/*
 * Two replies without a line are ready while a line of 9 flits goes to the router: in cycle 18,
 * and, as the second of these requests has to wait for the first entry until 16, in 20.
 */
static void test_responses(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 0, 0); /* from cycle 16 to 24 */
	assert_int_equal(transact(f, FABRIC_OWN, 1, 12, 2).latency, 25 + 2 - 12);
	assert_int_equal(transact(f, FABRIC_OWN, 2, 13, 4).latency, 26 + 2 - 13);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_RESPONSE, 2,
	      25 - 18 + 26 - 20);
	check(f, SIGNAL_DIRECTORY_QUEUE_BUSY, 0, 0, QUALIFIER_DIRECTORY_QUEUE_BUSY_RESPONSE, 2,
	      26 - 18);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_DATA, 0, 0);
	end(f);
}

/* Lines 0 and 48 are rows of one bank, which is busy for 8 cycles from 15 on. */
static void test_bank(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 10, 0);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 12, 48).latency, 26 + 9 + 2 - 12);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, QUALIFIER_MEMORY_COMMAND_READ, 2, 10 + 23 - 17 + 10);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_FULL, 1, 1);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_ROOM, 0, 0);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_REFRESH, 0, 0);
	/* With two commands it is full, until the first is answered. */
	check(f, SIGNAL_MEMORY_FULL, 0, 0, 0, 1, 25 - 17);
	end(f);
}

/* A refresh begins in cycle 300 and takes 5. */
static void test_refresh(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 296, 0).latency, LEAST + 4);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_REFRESH, 1, 1);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_ROOM, 1, 1);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 400, 2).latency, LEAST);
	check(f, SIGNAL_MEMORY_RETRY, 0, 0, QUALIFIER_MEMORY_RETRY_REFRESH, 1, 1);
	check(f, SIGNAL_MEMORY_FULL, 0, 0, 0, 0, 0);
	end(f);
}

/*
 * Of four commands three ask for the row that their bank had last: from the fourth on, in cycle 75,
 * pages stay open. Of the next four two do: from the eighth on, in cycle 235, they are closed
 * again.
 */
static void test_pages(void **state)
{
	static const struct {
		uint16_t time, line;
	} reads[] = {{10, 0}, {30, 0}, {50, 0}, {70, 0}, {80, 0}, {90, 48}, {210, 48}, {230, 0}};
	struct fixture *f = begin(1);
	uint64_t frames = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		transact(f, FABRIC_READ_DATA, i % 4, reads[i].time, reads[i].line);
	fabric_settle(f->fabric, 1000);
	check(f, SIGNAL_MEMORY_PAGE, 0, 0, QUALIFIER_MEMORY_PAGE_HIT, 1, 1);
	check(f, SIGNAL_MEMORY_PAGE, 0, 0, QUALIFIER_MEMORY_PAGE_COLLISION, 1, 1);
	check(f, SIGNAL_MEMORY_PAGE, 0, 0, QUALIFIER_MEMORY_PAGE_MISS, 6, 6);
	check(f, SIGNAL_MEMORY_PAGE, 0, 0, QUALIFIER_MEMORY_PAGE_TO_OPEN, 1, 1);
	check(f, SIGNAL_MEMORY_PAGE, 0, 0, QUALIFIER_MEMORY_PAGE_TO_CLOSED, 1, 1);
	check(f, SIGNAL_MEMORY_PAGE_MODE, 0, 0, QUALIFIER_MEMORY_PAGE_MODE_OPEN, 4, 235 - 75);
	assert_int_equal(
	    sum(f, SIGNAL_MEMORY_PAGE_MODE, 0, 0, QUALIFIER_MEMORY_PAGE_MODE_CLOSED).amount,
	    1000 - 160);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_ACTIVATE, 7, 7);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_READ, 4, 4);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_READ_OPEN, 4, 4);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_PRECHARGE, 1, 1);
	/* By the refresh in cycle 200, and by the change of mode. */
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_PRECHARGE_ALL, 2, 2);
	check(f, SIGNAL_MEMORY_DRAM, 1, 0, 0, 0, 0);
	assert_int_equal(sum(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_SYNC).amount,
			 1000 / 2 / 10);
	frames = sum(f, SIGNAL_MEMORY_DRAM, 0, 0, 0).amount;
	assert_int_equal(frames, 1000 / 2);
	end(f);
}

/* Latencies of such reads, each by another core. */
static void test_page_latencies(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(transact(f, FABRIC_READ_DATA, i, 10 + 20 * i, 0).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 110, 0).latency, LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 130, 0).latency, LEAST - 3);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 2, 150, 48).latency, LEAST + 2);
	end(f);
}

/* Every rank is calibrated every 2000 cycles, each with a frame. */
static void test_calibration(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	fabric_settle(f->fabric, 1999);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_CALIBRATE, 0, 0);
	fabric_settle(f->fabric, 2000);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_CALIBRATE, 1, 3);
	fabric_settle(f->fabric, 7999);
	check(f, SIGNAL_MEMORY_DRAM, 0, 1, QUALIFIER_MEMORY_DRAM_CALIBRATE, 2, 9);
	end(f);
}

/* A write has its data in three frames. */
static void test_write_frames(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_WRITE_BACK, 0, 10, 0);
	fabric_settle(f->fabric, 90);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_DATA, 1, 3);
	check(f, SIGNAL_MEMORY_DRAM, 0, 1, QUALIFIER_MEMORY_DRAM_DATA, 0, 0);
	assert_int_equal(sum(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_IDLE).amount,
			 90 / 2 - 4 - 2 - 3);
	end(f);
}

/*
 * A port has room for 20 flits. Core 1's two lines and their requests go to the home agent in
 * cycles 0 to 19; those of core 0 wait behind them. Its port has the first request (1 flit, from 0
 * to 21), the line (9, from 1 to 30), the second request (1, from 10 to 31) and line (9, from 11 to
 * 40). They are all of its room when the third request is there, in cycle 20: that goes in the
 * reserved room, until 41. The next one, in 21, finds the first's flit free. The last is there in
 * 22, and waits until the first line has left. Fewer than 16 are left from the first line until the
 * second one has gone.
 */
static void test_credits(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_WRITE_BACK, 1, 0, 0);
	transact(f, FABRIC_WRITE_BACK, 1, 0, 2);
	transact(f, FABRIC_WRITE_BACK, 0, 0, 4);
	transact(f, FABRIC_WRITE_BACK, 0, 0, 6);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 8, QUALIFIER_PORT_PACKET_IN_RESERVED, 0, 0);
	assert_int_equal(f->few_from, 1);
	assert_int_equal(f->few_until, 40);
	transact(f, FABRIC_OWN, 0, 12, 8);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 8,
	      QUALIFIER_PORT_PACKET_IN_RESERVED | QUALIFIER_PORT_PACKET_IN_HOME, 1, 1);
	transact(f, FABRIC_OWN, 0, 12, 10);
	assert_int_equal(f->blocked[0], 0);
	transact(f, FABRIC_OWN, 0, 12, 12);
	assert_int_equal(f->blocked[0], 30 - 22);
	assert_int_equal(f->blocked[1], 0);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 8, QUALIFIER_PORT_PACKET_IN_RESERVED, 1, 1);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 8, QUALIFIER_PORT_PACKET_IN_ADAPTIVE, 6, 6);
	end(f);
}

/* The same lines without another core's: none waits, and each leaves as it comes. */
static void test_credits_left(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		transact(f, FABRIC_WRITE_BACK, 0, 0, 4 + 2 * i);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 8, QUALIFIER_PORT_PACKET_IN_RESERVED, 0, 0);
	assert_int_equal(f->blocked[0] + f->blocked[1], 0);
	end(f);
}

#define TWIN_CYCLES 3000u

/* A lane does what a list of cycles does, one looked at after the other. */
static void test_lane(void **state)
{
	static bool list[TWIN_CYCLES + 200];
	static struct lane lane;
	uint32_t random = 1;

	(void)state;
	for (unsigned n = 0; n < 2000; n++) {
		unsigned cycles, start, free = 0;
		uint64_t time;

		random = random * 1664525u + 1013904223u;
		cycles = 1 + (random >> 8) % 64;
		time = (random >> 14) % TWIN_CYCLES;
		for (start = (unsigned)time; free < cycles && start + free < TWIN_CYCLES + 200;)
			if (list[start + free])
				start += free + 1, free = 0;
			else
				free++;
		if (free < cycles)
			continue;
		assert_int_equal(lane_find(&lane, time, cycles), start);
		if (random >> 31)
			continue;
		lane_take(&lane, start, cycles);
		for (unsigned i = 0; i < cycles; i++)
			list[start + i] = true;
	}
	/* Long after, it has forgotten; what is older than it remembers waits for nothing. */
	assert_int_equal(lane_find(&lane, 1000000, 64), 1000000);
	lane_take(&lane, 1000000, 64);
	assert_int_equal(lane_find(&lane, 1000000, 1), 1000064);
	lane_take(&lane, 100, 64);
	assert_int_equal(lane_find(&lane, 100, 64), 100);
	assert_int_equal(lane_find(&lane, 100 + 245 * LANE_CYCLES, 64), 100 + 245 * LANE_CYCLES);
}

/* Cycles of several that may be the same count once, in whatever order they come. */
static void test_joined(void **state)
{
	static struct lane lane;

	(void)state;
	assert_int_equal(lane_join(&lane, 1000, 100), 100);
	assert_int_equal(lane_join(&lane, 1050, 100), 50);
	assert_int_equal(lane_join(&lane, 900, 300), 150);
	assert_int_equal(lane_join(&lane, 900, 300), 0);
	assert_int_equal(lane_join(&lane, 500, 10), 10);
	assert_int_equal(lane_find(&lane, 900, 1), 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_to_one),	   cmocka_unit_test(test_snoop_overtakes_line),
	    cmocka_unit_test(test_apart),	   cmocka_unit_test(test_order),
	    cmocka_unit_test(test_own_port),	   cmocka_unit_test(test_responses),
	    cmocka_unit_test(test_bank),	   cmocka_unit_test(test_refresh),
	    cmocka_unit_test(test_pages),	   cmocka_unit_test(test_lane),
	    cmocka_unit_test(test_page_latencies), cmocka_unit_test(test_write_frames),
	    cmocka_unit_test(test_joined),	   cmocka_unit_test(test_credits),
	    cmocka_unit_test(test_credits_left),   cmocka_unit_test(test_calibration),
	    cmocka_unit_test(test_overflow),	   cmocka_unit_test(test_overflow_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
