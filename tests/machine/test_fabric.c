/* What lies between the cores of the Itanium machines: times and events in closed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/fabric_fixture.h"

static void test_read(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(fabric_least_latency(&params), LEAST);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 1000, 5).latency, LEAST);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 7, QUALIFIER_PORT_PACKET_IN_HOME, 1, 1);
	check(f, SIGNAL_PORT_PACKET_OUT, 0, 0, QUALIFIER_PORT_PACKET_OUT_HOME, 1, 1);
	check(f, SIGNAL_PORT_FLITS_IN, 0, 0, 0, 1, 9);
	check(f, SIGNAL_PORT_FLITS_OUT, 0, 7, 0, 1, 9);
	check(f, SIGNAL_DIRECTORY_ENTER, 0, 1, QUALIFIER_DIRECTORY_ENTER_NEW, 1, 1);
	check(f, SIGNAL_DIRECTORY_ENTRY, 0, 1, 0, 1, HOLDS);
	check(f, SIGNAL_DIRECTORY_TRANSACTION, 0, 1, QUALIFIER_DIRECTORY_TRANSACTION_REQUEST, 1,
	      HOLDS);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 1, QUALIFIER_MEMORY_COMMAND_READ, 1, 10);
	check(f, SIGNAL_MEMORY_DRAM, 0, 1, QUALIFIER_MEMORY_DRAM_ACTIVATE, 1, 1);
	check(f, SIGNAL_MEMORY_DRAM, 0, 1, QUALIFIER_MEMORY_DRAM_READ, 1, 1);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 1, 0, 0, 0);
	check(f, SIGNAL_DIRECTORY_ENTRY, 0, 0, 0, 0, 0); /* nothing of the other home agent */
	end(f);
}

/* Three reads of a line: each waits in the first one's queue until that before is over. */
static void test_conflict(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 0, 4);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 1, 1, 4).latency, LEAST + HOLDS - 1);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 2, 2, 4).latency, LEAST + 2 * HOLDS - 2);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_CONFLICT, 2,
	      HOLDS - 1 + 2 * HOLDS - 2);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_INTO_EMPTY, 1, HOLDS - 1);
	check(f, SIGNAL_DIRECTORY_QUEUE_BUSY, 0, 0, QUALIFIER_DIRECTORY_QUEUE_BUSY_CONFLICT, 2,
	      2 * HOLDS - 1);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_CONFLICTS, 2,
	      2 * HOLDS - 1);
	check(f, SIGNAL_DIRECTORY_QUEUE_BUSY, 0, 0, QUALIFIER_DIRECTORY_QUEUE_BUSY_ANY_CONFLICT, 2,
	      2 * HOLDS - 1);
	check(f, SIGNAL_DIRECTORY_ENTER, 0, 0, QUALIFIER_DIRECTORY_ENTER_AFTER_CONFLICT, 2, 2);
	check(f, SIGNAL_DIRECTORY_ENTRY_BUSY, 0, 0, 0, 3, 3 * HOLDS);
	end(f);
}

/*
 * Two entries for three lines. The second request comes a cycle later; its line waits until that of
 * the first has gone, 9 cycles from 16 on, and keeps its entry. The third waits for that one.
 */
static void test_full(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 0, 0);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 0, 2).latency, 16 + 9 + 2);
	assert_int_equal(transact(f, FABRIC_READ_DATA, 0, 4, 4).latency, 34 + 2 - 4);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_ENTRY, 1, HOLDS - 4);
	check(f, SIGNAL_DIRECTORY_QUEUE_BUSY, 0, 0, QUALIFIER_DIRECTORY_QUEUE_BUSY_ENTRY, 1,
	      HOLDS - 4);
	check(f, SIGNAL_DIRECTORY_QUEUE, 0, 0, QUALIFIER_DIRECTORY_QUEUE_DATA, 2,
	      25 - 17 + 34 - 30);
	check(f, SIGNAL_DIRECTORY_ENTRY_FULL, 0, 0, 0, 2, 16 - 3 + 25 - 16);
	check(f, SIGNAL_DIRECTORY_ENTRY_BUSY, 0, 0, 0, 3, 34 - 2);
	check(f, SIGNAL_DIRECTORY_ENTRY, 0, 0, 0, 3, HOLDS + 25 - 3 + 34 - 16);
	end(f);
}

/* Cycles in which a home agent has so many commands of a kind, or more, at its memory. */
static uint64_t cycles_with(const struct fixture *f, unsigned message, uint64_t least)
{
	uint64_t time = 0, number = 0, cycles = 0;

	for (unsigned i = 0; i < f->count; i++) {
		const struct detail_event *e = &f->events[i];

		if (e->id != SIGNAL_DIRECTORY_MEMORY_LIVE)
			continue;
		assert_true(e->time >= time);
		cycles += number >= least ? e->time - time : 0;
		time = e->time;
		if (e->message == message)
			number = e->amount;
	}
	assert_int_equal(number, 0);
	return cycles;
}

/*
 * Two reads, at memory from cycle 5 to 15 and from 6 to 16, and a write a while later. They are
 * told once the home agent's clock has come so far.
 */
static void test_live(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	transact(f, FABRIC_READ_DATA, 0, 0, 0);
	transact(f, FABRIC_READ_DATA, 0, 0, 2);
	check(f, SIGNAL_DIRECTORY_MEMORY_LIVE, 0, 0, 0, 0, 0);
	transact(f, FABRIC_WRITE_BACK, 1, 40, 4);
	check(f, SIGNAL_DIRECTORY_MEMORY_LIVE, 0, 0, 0, 8, 1 + 2 + 1 + 0 + 2 * (1 + 0));
	fabric_settle(f->fabric, 100);
	assert_int_equal(cycles_with(f, MESSAGE_READ_DATA, 1), 16 - 5);
	assert_int_equal(cycles_with(f, MESSAGE_READ_DATA, 2), 15 - 6);
	assert_int_equal(cycles_with(f, MESSAGE_FILL, 1), 2);
	assert_int_equal(cycles_with(f, MESSAGE_FILL, 2), 0);
	assert_int_equal(cycles_with(f, MESSAGE_WRITEBACK, 1), params.write);
	check(f, SIGNAL_DIRECTORY_MEMORY_LIVE, 0, 1, 0, 0, 0);
	end(f);
}

/* Over a link and back: what goes out of one socket comes into the other. */
static void test_remote(void **state)
{
	struct fixture *f = begin(2);

	(void)state;
	assert_int_equal(transact(f, FABRIC_READ_CODE, 0, 0, 1).latency, LEAST + 2 * (5 + 2));
	check(f, SIGNAL_PORT_FLITS_OUT, 0, 6, 0, 1, 1);
	check(f, SIGNAL_PORT_FLITS_IN, 1, 6, 0, 1, 1);
	check(f, SIGNAL_PORT_FLITS_OUT, 1, 6, 0, 1, 9);
	check(f, SIGNAL_PORT_FLITS_IN, 0, 6, 0, 1, 9);
	check(f, SIGNAL_DIRECTORY_ENTRY, 1, 0, 0, 1, HOLDS);
	end(f);
}

/* Four sockets: each reads once from each other. Each link port has as much as its other end. */
static void test_links(void **state)
{
	struct fixture *f = begin(4);
	uint64_t out = 0, in = 0;

	(void)state;
	for (unsigned from = 0; from < 4; from++)
		for (unsigned to = 0; to < 4; to++)
			if (from != to)
				transact(f, FABRIC_READ_DATA, from * FABRIC_CORES, 1000 * from, to);
	for (unsigned socket = 0; socket < 4; socket++)
		for (unsigned link = 0; link < FABRIC_LINKS; link++) {
			unsigned port = params.link_ports[link];

			check(f, SIGNAL_PORT_FLITS_OUT, socket, port, 0, 2, 10);
			check(f, SIGNAL_PORT_FLITS_IN, socket, port, 0, 2, 10);
			out += sum(f, SIGNAL_PORT_FLITS_OUT, socket, port, 0).amount;
			in += sum(f, SIGNAL_PORT_FLITS_IN, socket, port, 0).amount;
		}
	assert_int_equal(out, 12 * 10);
	assert_int_equal(in, out);
	end(f);
}

/* 2 to the home agent, 3 there, 2 to the owner, 4 in its caches, 1 for its answer, 2 to the
 * requester.
 */
static void test_owner(void **state)
{
	struct fixture *f = begin(1);
	struct fabric_answer answer;

	(void)state;
	f->caches[1] = FABRIC_MODIFIED;
	answer = transact(f, FABRIC_READ_DATA, 0, 0, 4);
	assert_int_equal(answer.latency, 14);
	assert_true(answer.shared && answer.from_cache);
	assert_int_equal(f->caches[1], FABRIC_SHARED);
	check(f, SIGNAL_DIRECTORY_SNOOP, 0, 0, QUALIFIER_DIRECTORY_SNOOP_LOCAL, 1, 2 + 4 + 2);
	check(f, SIGNAL_DIRECTORY_FORWARD, 0, 0, QUALIFIER_DIRECTORY_FORWARD_LOCAL_LOCAL, 1, 1);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, QUALIFIER_MEMORY_COMMAND_WRITE, 1, 6);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, QUALIFIER_MEMORY_COMMAND_READ, 0, 0);
	end(f);
	f = begin(1);
	f->caches[1] = FABRIC_MODIFIED;
	answer = transact(f, FABRIC_READ_OWN, 0, 0, 4);
	assert_int_equal(answer.latency, 14);
	assert_false(answer.shared);
	assert_int_equal(f->caches[1], FABRIC_NOTHING);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, 0, 0, 0);
	end(f);
}

/* 2 to the home agent, 3 there, 1 for the first snoop, 2 to the second reader, 4 there, 2 back, 1
 * at home, 2 to the requester. */
static void test_readers(void **state)
{
	struct fixture *f = begin(1);
	struct fabric_answer answer;

	(void)state;
	f->caches[1] = f->caches[2] = FABRIC_SHARED;
	answer = transact(f, FABRIC_OWN, 0, 0, 4);
	assert_int_equal(answer.latency, 17);
	assert_int_equal(f->caches[1] + f->caches[2], 0);
	check(f, SIGNAL_DIRECTORY_SNOOP, 0, 0, QUALIFIER_DIRECTORY_SNOOP_LOCAL, 2, 8 + 9);
	check(f, SIGNAL_DIRECTORY_TRANSACTION, 0, 0, QUALIFIER_DIRECTORY_TRANSACTION_SNOOP, 2,
	      8 + 9);
	check(f, SIGNAL_DIRECTORY_TRANSACTION, 0, 0, QUALIFIER_DIRECTORY_TRANSACTION_PACKET, 3, 3);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 7, QUALIFIER_PORT_PACKET_IN_HOME_RESPONSE, 1, 1);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 10, QUALIFIER_PORT_PACKET_IN_SNOOP, 2, 2);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 10, QUALIFIER_PORT_PACKET_IN_RESPONSE, 1, 1);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, 0, 0, 0);
	f->caches[1] = FABRIC_SHARED;
	answer = transact(f, FABRIC_READ_DATA, 0, 100, 6);
	assert_int_equal(answer.latency, LEAST);
	assert_true(answer.shared && !answer.from_cache);
	end(f);
}

/* Two requests for a line in two cycles: a core that has it is never at two snoops of it. */
static void test_one_snoop(void **state)
{
	struct fixture *f = begin(1);
	uint64_t until = 0;
	unsigned snoops = 0;

	(void)state;
	f->caches[1] = FABRIC_SHARED;
	transact(f, FABRIC_OWN, 0, 0, 4);
	f->caches[1] = FABRIC_SHARED;
	transact(f, FABRIC_OWN, 2, 1, 4);
	for (unsigned i = 0; i < f->count; i++) {
		const struct detail_event *e = &f->events[i];

		if (e->id != SIGNAL_DIRECTORY_SNOOP)
			continue;
		assert_true(e->time >= until);
		until = e->time + e->amount;
		snoops++;
	}
	assert_int_equal(snoops, 2);
	end(f);
}

/* Packets of home agents, to or from them, or of ports, with a message: as each is told once. */
static unsigned packets(const struct fixture *f, unsigned id, unsigned message)
{
	static const uint32_t kinds[SIGNAL_COUNT] = {
	    [SIGNAL_DIRECTORY_PACKET_IN] = QUALIFIER_DIRECTORY_PACKET_IN_BY_SENDER,
	    [SIGNAL_DIRECTORY_PACKET_OUT] = QUALIFIER_DIRECTORY_PACKET_OUT_BY_DESTINATION,
	    [SIGNAL_DIRECTORY_TRANSACTION] = QUALIFIER_DIRECTORY_TRANSACTION_PACKET};
	unsigned count = 0;

	for (unsigned i = 0; i < f->count; i++)
		count += f->events[i].id == id && f->events[i].message == message &&
			 (!kinds[id] || f->events[i].qualifiers & kinds[id]);
	return count;
}

/* The next one out of a home agent, and what comes in for it. */
static void check_again(const struct fixture *f, unsigned forward, unsigned answer)
{
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_OUT, forward), 1);
	assert_int_equal(packets(f, SIGNAL_PORT_PACKET_OUT, forward), 1);
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_TRANSACTION, forward), 1);
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_IN, answer), 1);
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_IN, MESSAGE_ANSWER_CONFLICT), 1);
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_IN, MESSAGE_ACKNOWLEDGE), 1);
	assert_int_equal(packets(f, SIGNAL_PORT_PACKET_OUT, MESSAGE_ACKNOWLEDGE), 1);
}

/*
 * The snoop comes in cycle 7, before the owner has the line, as it says from 11 to 13. It has it in
 * 20: 2 to the home agent, 1 there, 2 back, 4 in its caches, 1 for its answer, 2 to the requester.
 */
static void test_owner_waits(void **state)
{
	static const struct {
		enum fabric_kind kind;
		uint8_t snoop, forward, answer;
	} rows[] = {
	    {FABRIC_READ_DATA, MESSAGE_SNOOP_DATA, MESSAGE_FORWARD_CODE,
	     MESSAGE_ANSWER_FORWARDED_SHARED},
	    {FABRIC_READ_CODE, MESSAGE_SNOOP_CODE, MESSAGE_FORWARD_CODE,
	     MESSAGE_ANSWER_FORWARDED_SHARED},
	    {FABRIC_READ_OWN, MESSAGE_SNOOP_OWN, MESSAGE_FORWARD_OWN,
	     MESSAGE_ANSWER_FORWARDED_INVALID},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture *f = begin(1);

		f->caches[1] = FABRIC_EXCLUSIVE;
		f->there = 20;
		assert_int_equal(transact(f, rows[i].kind, 0, 0, 4).latency,
				 20 + 2 + 1 + 2 + 4 + 1 + 2);
		assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_OUT, rows[i].snoop), 1);
		check_again(f, rows[i].forward, rows[i].answer);
		check(f, SIGNAL_DIRECTORY_SNOOP, 0, 0, QUALIFIER_DIRECTORY_SNOOP_LOCAL, 1, 13 - 5);
		check(f, SIGNAL_PORT_PACKET_IN, 0, 7, QUALIFIER_PORT_PACKET_IN_HOME, 1, 1);
		check(f, SIGNAL_PORT_PACKET_IN, 0, 7, QUALIFIER_PORT_PACKET_IN_HOME_RESPONSE, 2, 2);
		end(f);
	}
}

/* The same of a reader, who gives it up: 4 in its caches, 2 to the home agent, 1 there, 2 to the
 * requester. */
static void test_reader_waits(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	f->caches[1] = FABRIC_SHARED;
	f->there = 20;
	assert_int_equal(transact(f, FABRIC_OWN, 0, 0, 4).latency, 20 + 2 + 1 + 2 + 4 + 2 + 1 + 2);
	assert_int_equal(packets(f, SIGNAL_DIRECTORY_PACKET_OUT, MESSAGE_SNOOP_CLAIM), 1);
	check_again(f, MESSAGE_FORWARD_CLAIM, MESSAGE_ANSWER_INVALID);
	assert_int_equal(f->caches[1], FABRIC_NOTHING);
	end(f);
}

/* A request and, 1 later, a line to the home agent, 3 there, 6 in memory, 2 back. */
static void test_write_back(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_WRITE_BACK, 0, 0, 4).latency, 14);
	check(f, SIGNAL_PORT_FLITS_IN, 0, 8, 0, 2, 10);
	check(f, SIGNAL_PORT_FLITS_OUT, 0, 8, 0, 1, 1);
	check(f, SIGNAL_DIRECTORY_MEMORY, 0, 0, 0, 1, 6);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_WRITE, 1, 1);
	end(f);
}

/* 2 to the home agent, 3 there and 1 for its answer, 2 back; nothing goes to memory. */
static void test_evict(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	assert_int_equal(transact(f, FABRIC_EVICT, 0, 0, 4).latency, 8);
	check(f, SIGNAL_DIRECTORY_ENTRY, 0, 0, 0, 1, 3 + 1);
	check(f, SIGNAL_PORT_FLITS_IN, 0, 8, 0, 1, 1);
	check(f, SIGNAL_PORT_FLITS_OUT, 0, 8, 0, 1, 1);
	check(f, SIGNAL_PORT_PACKET_IN, 0, 10, QUALIFIER_PORT_PACKET_IN_RESPONSE, 1, 1);
	check(f, SIGNAL_MEMORY_COMMAND, 0, 0, 0, 0, 0);
	check(f, SIGNAL_DIRECTORY_SNOOP, 0, 0, 0, 0, 0);
	end(f);
}

/* Three ranks are refreshed every 100 cycles; the queue is empty but for 2 cycles. */
static void test_alone(void **state)
{
	struct fixture *f = begin(1);

	(void)state;
	fabric_settle(f->fabric, 250);
	transact(f, FABRIC_READ_DATA, 0, 300, 4);
	fabric_settle(f->fabric, 400);
	check(f, SIGNAL_MEMORY_DRAM, 0, 0, QUALIFIER_MEMORY_DRAM_REFRESH, 3, 4 * 3);
	check(f, SIGNAL_MEMORY_DRAM, 0, 1, QUALIFIER_MEMORY_DRAM_REFRESH, 2, 4 * 3);
	check(f, SIGNAL_MEMORY_QUEUE_STATE, 0, 0, QUALIFIER_MEMORY_QUEUE_STATE_BUSY, 1, 2);
	check(f, SIGNAL_MEMORY_QUEUE_STATE, 0, 0, QUALIFIER_MEMORY_QUEUE_STATE_EMPTY, 3, 398);
	check(f, SIGNAL_MEMORY_QUEUE_STATE, 0, 1, QUALIFIER_MEMORY_QUEUE_STATE_EMPTY, 2, 400);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read),	cmocka_unit_test(test_conflict),
	    cmocka_unit_test(test_full),	cmocka_unit_test(test_remote),
	    cmocka_unit_test(test_live),	cmocka_unit_test(test_one_snoop),
	    cmocka_unit_test(test_links),	cmocka_unit_test(test_owner),
	    cmocka_unit_test(test_readers),	cmocka_unit_test(test_write_back),
	    cmocka_unit_test(test_alone),	cmocka_unit_test(test_evict),
	    cmocka_unit_test(test_owner_waits), cmocka_unit_test(test_reader_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
