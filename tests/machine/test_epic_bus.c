/*
 * What an Itanium's core does outside of itself, by hand and in closed form: requests that wait for
 * each other, for an entry and for snoops, and snoops that wait for a line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/epic/core.h"

#define READ 280 /* cycles of a read that nothing delays: memory_latency */
#define T    1000

struct fixture {
	struct epic_params params;
	struct epic_core *core;
	struct fabric *fabric;
};

/* The core's clock is the fabric's. */
static struct fixture *begin(unsigned outstanding)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->params = *epic_params_find(NULL);
	f->params.outstanding = outstanding;
	f->fabric = fabric_init(calloc(1, fabric_size()), &f->params.fabric, 1, FABRIC_CORES);
	f->core = epic_init(calloc(1, epic_size(&f->params)), &f->params);
	epic_connect(f->core, f->fabric, 0, f->params.fabric.mhz);
	return f;
}

static void end(struct fixture *f)
{
	free(f->core);
	free(f->fabric);
	free(f);
}

static void sent(void *arg, unsigned core, const struct fabric_sent *packet)
{
	struct fixture *f = arg;

	assert_int_equal(core, 0);
	epic_sent(f->core, packet);
}

static unsigned request(struct fixture *f, enum fabric_kind kind, uint64_t line, uint64_t cycle)
{
	struct fabric_answer answer;

	return epic_bus_request(f->core, kind, line, cycle, &answer);
}

static unsigned count(const struct fixture *f, enum epic_cell cell)
{
	return (unsigned)epic_totals(f->core, SIGNAL_ALL)[cell];
}

/* All that held something back. */
static unsigned waits(const struct fixture *f)
{
	return count(f, CELL_REQUEST_WAITS_LINE) + count(f, CELL_REQUEST_WAITS_ENTRY) +
	       count(f, CELL_REQUEST_WAITS_SNOOP) + count(f, CELL_REQUEST_WAITS_ANSWER) +
	       count(f, CELL_SNOOP_WAITS_LINE) + count(f, CELL_SNOOP_WAITS_PLACE) +
	       count(f, CELL_REQUEST_WAITS_BUFFER) + count(f, CELL_SNOOP_WAITS_BUFFER) +
	       count(f, CELL_SNOOP_WAITS_ANSWER) + count(f, CELL_REQUEST_WAITS_ACKNOWLEDGEMENT) +
	       count(f, CELL_SNOOP_WAITS_ACKNOWLEDGEMENT) + count(f, CELL_REQUEST_WAITS_REQUEST) +
	       count(f, CELL_SNOOP_WAITS_REQUEST) + count(f, CELL_SNOOP_COMES_AGAIN) +
	       count(f, CELL_OWN_SNOOP_WAITS_SNOOP) + count(f, CELL_OWN_SNOOP_WAITS_REQUEST) +
	       count(f, CELL_OWN_SNOOP_WAITS_BUFFER);
}

/* A line goes to memory, behind its request: 1 + 8 to the home agent, 16 there, 60 in memory, 8
 * back. Who reads it meanwhile waits until that is over. */
static void test_line(void **state)
{
	const unsigned written = 1 + 8 + 16 + 60 + 8;
	struct fixture *f = begin(32);

	(void)state;
	assert_int_equal(request(f, FABRIC_WRITE_BACK, 4, T), written);
	assert_int_equal(request(f, FABRIC_READ_DATA, 4, T + 10), written - 10 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_LINE), 1);
	assert_int_equal(waits(f), 1);
	assert_int_equal(count(f, CELL_REQUEST_TAKEN), 2);
	end(f);
	f = begin(32); /* another one, and this one later */
	request(f, FABRIC_WRITE_BACK, 4, T);
	assert_int_equal(request(f, FABRIC_READ_DATA, 5, T + 20), READ);
	assert_int_equal(request(f, FABRIC_READ_DATA, 4, T + written), READ);
	assert_int_equal(waits(f), 0);
	end(f);
}

/* With as many requests under way as there can be, the next waits for the first. */
static void test_entries(void **state)
{
	struct fixture *f = begin(4);

	(void)state;
	for (unsigned line = 0; line < 4; line++)
		request(f, FABRIC_READ_DATA, line, T + line);
	assert_int_equal(waits(f), 0);
	assert_int_equal(request(f, FABRIC_READ_DATA, 4, T + 100), READ - 100 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_ENTRY), 1);
	assert_int_equal(waits(f), 1);
	end(f);
	f = begin(5);
	for (unsigned line = 0; line < 5; line++)
		request(f, FABRIC_READ_DATA, line, T + line);
	assert_int_equal(waits(f), 0);
	end(f);
}

/* A snoop takes 30 cycles, and its answer the one after. */
static void test_snoop(void **state)
{
	struct fixture *f = begin(32);
	uint64_t time = T;

	(void)state;
	epic_snoop(f->core, 4, FABRIC_INVALIDATE, &time);
	assert_int_equal(time, T);
	assert_int_equal(request(f, FABRIC_READ_OWN, 4, T + 10), 31 - 10 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_SNOOP), 1);
	assert_int_equal(waits(f), 1);
	assert_int_equal(count(f, CELL_SNOOP_CAME), 1);
	end(f);
	f = begin(32); /* sent before the snoop came */
	time = T;
	epic_snoop(f->core, 4, FABRIC_INVALIDATE, &time);
	assert_int_equal(request(f, FABRIC_READ_OWN, 4, T - 1), READ);
	assert_int_equal(waits(f), 0);
	end(f);
	f = begin(32); /* of another line */
	time = T;
	epic_snoop(f->core, 4, FABRIC_INVALIDATE, &time);
	assert_int_equal(request(f, FABRIC_READ_DATA, 5, T + 29), READ);
	assert_int_equal(waits(f), 0);
	end(f);
	f = begin(32); /* an answer goes before another line's request */
	time = T;
	epic_snoop(f->core, 4, FABRIC_SHARE, &time);
	assert_int_equal(request(f, FABRIC_READ_DATA, 5, T + 30), 1 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_ANSWER), 1);
	assert_int_equal(waits(f), 1);
	end(f);
}

/* The home agent has sent the line, and the snoop is there first. */
static void test_snoop_before_line(void **state)
{
	struct fixture *f = begin(32);
	uint64_t time = T + 200;

	(void)state;
	request(f, FABRIC_READ_DATA, 4, T);
	epic_snoop(f->core, 4, FABRIC_SHARE, &time);
	assert_int_equal(time, T + READ);
	assert_int_equal(count(f, CELL_SNOOP_WAITS_LINE), 1);
	assert_int_equal(waits(f), 1);
	time = T + 200; /* another one's; and when it is there */
	epic_snoop(f->core, 5, FABRIC_SHARE, &time);
	assert_int_equal(time, T + 200);
	time = T + READ + 5;
	epic_snoop(f->core, 4, FABRIC_SHARE, &time);
	assert_int_equal(time, T + READ + 5);
	assert_int_equal(waits(f), 1);
	end(f);
}

/* A cache gives up a line: the home agent is told if none else of the core has it. */
static void test_give_up(void **state)
{
	const uint64_t tag = (4 + 1) * 4;
	struct fixture *f = begin(32);

	(void)state;
	epic_cache_fill(&f->core->l3, 4, T);
	epic_bus_give_up(f->core, tag, false, T);
	epic_cache_drop(&f->core->l3, 4);
	epic_cache_fill(&f->core->l2d, 4, T);
	epic_bus_give_up(f->core, tag, false, T);
	epic_cache_drop(&f->core->l2d, 4);
	epic_cache_fill(&f->core->l2i, 4, T);
	epic_bus_give_up(f->core, tag, false, T);
	epic_cache_drop(&f->core->l2i, 4);
	epic_bus_give_up(f->core, tag | LINE_DIRTY, false, T);
	epic_bus_give_up(f->core, 0, false, T);
	assert_int_equal(count(f, CELL_REQUEST_TAKEN), 0);
	epic_bus_give_up(f->core, tag, false, T);
	assert_int_equal(count(f, CELL_BUS_EVICT_EXCLUSIVE), 1);
	assert_int_equal(count(f, CELL_BUS_EVICT_SHARED), 0);
	epic_bus_give_up(f->core, tag, true, 2 * T);
	assert_int_equal(count(f, CELL_BUS_EVICT_EXCLUSIVE), 1);
	assert_int_equal(count(f, CELL_BUS_EVICT_SHARED), 1);
	assert_int_equal(count(f, CELL_PACKET_EVICT), 2);
	end(f);
}

/* The n-th line leaves until n * 19 cycles later. With eight buffers, the ninth waits for the
 * first, and the tenth for the second. */
static void test_buffers(void **state)
{
	struct fixture *f = begin(32);
	const struct fabric_watch watch = {.arg = f, .sent = sent};

	(void)state;
	fabric_watch(f->fabric, &watch);
	for (unsigned line = 0; line < 8; line++)
		request(f, FABRIC_WRITE_BACK, line, T + line);
	request(f, FABRIC_READ_DATA, 100, T + 8);
	assert_int_equal(waits(f), 0);
	request(f, FABRIC_WRITE_BACK, 8, T + 19);
	assert_int_equal(waits(f), 0);
	request(f, FABRIC_WRITE_BACK, 9, T + 20);
	request(f, FABRIC_WRITE_BACK, 10, T + 30);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_BUFFER), 2);
	assert_int_equal(waits(f), 2);
	end(f);
}

/* The same of a line that another core asks for: the answer waits. One without a line does not. */
static void test_buffer_of_answer(void **state)
{
	struct fixture *f = begin(32);
	const struct fabric_watch watch = {.arg = f, .sent = sent};
	uint64_t time = T - 30 + 10;

	(void)state;
	fabric_watch(f->fabric, &watch);
	epic_cache_fill(&f->core->l3, 50, 0);
	for (unsigned line = 0; line < 8; line++)
		request(f, FABRIC_WRITE_BACK, line, T + line);
	epic_snoop(f->core, 51, FABRIC_SHARE, &time);
	assert_int_equal(time, T - 30 + 10);
	assert_int_equal(waits(f), 0);
	time = T - 30 + 12;
	epic_snoop(f->core, 50, FABRIC_SHARE, &time);
	assert_int_equal(time, T + 19 - 30);
	assert_int_equal(count(f, CELL_SNOOP_WAITS_BUFFER), 1);
	assert_int_equal(waits(f), 1);
	end(f);
}

/* Of snoops that come at once, one is answered in a cycle. */
static void test_answers(void **state)
{
	struct fixture *f = begin(32);

	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		uint64_t time = T;

		epic_snoop(f->core, 50 + n, FABRIC_SHARE, &time);
		assert_int_equal(time, T + n);
		assert_int_equal(count(f, CELL_SNOOP_WAITS_ANSWER), n);
	}
	assert_int_equal(waits(f), 2);
	end(f);
}

/* Cycles of the link count once, whatever packets they have. */
static void test_link(void **state)
{
	struct fixture *f = begin(32);
	const struct fabric_sent home = {.ready = T,
					 .until = T + 11,
					 .blocked_from = T,
					 .blocked_until = T + 10,
					 .low_from = T + 10,
					 .low_until = T + 20};
	const struct fabric_sent line = {.data = true,
					 .ready = T + 4,
					 .until = T + 40,
					 .blocked_from = T + 5,
					 .blocked_until = T + 20,
					 .low_from = T + 5,
					 .low_until = T + 15};
	const struct fabric_sent free = {.ready = T + 9, .until = T + 50};

	(void)state;
	epic_sent(f->core, &home);
	epic_sent(f->core, &line);
	epic_sent(f->core, &free);
	assert_int_equal(count(f, CELL_LINK_HOME_VALID), 50);
	assert_int_equal(count(f, CELL_LINK_DATA_VALID), 36);
	assert_int_equal(count(f, CELL_LINK_HOME_BLOCKED), 10);
	assert_int_equal(count(f, CELL_LINK_DATA_BLOCKED), 15);
	assert_int_equal(count(f, CELL_LINK_BLOCKED), 20);
	assert_int_equal(count(f, CELL_LINK_FEW_CREDITS), 15);
	end(f);
}

/* Another core asks for a line before it is at the link, in cycle 193: this one says so. Then it
 * acknowledges, and gives the line when its caches have it. */
static void test_conflict(void **state)
{
	struct fixture *f = begin(32);
	uint64_t time = T + 100;

	(void)state;
	request(f, FABRIC_READ_DATA, 4, T);
	assert_int_equal(epic_snoop(f->core, 4, FABRIC_SHARE, &time), FABRIC_CONFLICT);
	assert_int_equal(time, T + 100);
	assert_int_equal(count(f, CELL_SNOOP_CONFLICT), 1);
	assert_int_equal(count(f, CELL_SNOOP_LOCKS), 0);
	assert_int_equal(count(f, CELL_PACKET_SNOOP_DATA), 1);
	assert_int_equal(count(f, CELL_SNOOPED_DATA_MISS), 1);
	assert_int_equal(count(f, CELL_PACKET_ANSWER_CONFLICT), 1);
	time = T + 130;
	epic_snoop(f->core, 4, FABRIC_ACKNOWLEDGE, &time);
	assert_int_equal(time, T + 193);
	assert_int_equal(count(f, CELL_PACKET_ACKNOWLEDGE), 1);
	epic_cache_fill(&f->core->l3, 4, T);
	time = T + 217;
	assert_int_equal(epic_snoop(f->core, 4, FABRIC_FORWARD, &time), FABRIC_EXCLUSIVE);
	assert_int_equal(time, T + READ);
	assert_int_equal(count(f, CELL_SNOOP_FORWARD), 1);
	assert_int_equal(count(f, CELL_PACKET_FORWARD_CODE), 1);
	assert_int_equal(count(f, CELL_SNOOPED_CODE_HIT), 1);
	assert_int_equal(count(f, CELL_PACKET_ANSWER_FORWARDED_SHARED), 1);
	assert_int_equal(count(f, CELL_PACKET_SENT_S), 1);
	/* A request, the three answers and a line; a line, the snoop, and what came for the second.
	 */
	assert_int_equal(count(f, CELL_FLITS_SENT), 1 + 3 + 18);
	assert_int_equal(count(f, CELL_FLITS_CAME), 18 + 2);
	assert_int_equal(count(f, CELL_SNOOP_CAME), 0);
	assert_int_equal(waits(f), 0);
	end(f);
}

/* The same of one that takes the line away. */
static void test_conflict_of_writers(void **state)
{
	static const struct {
		enum fabric_snoop snoop, forward;
		enum epic_cell came, forwarded;
	} rows[] = {
	    {FABRIC_INVALIDATE, FABRIC_FORWARD_OWN, CELL_PACKET_SNOOP_OWN, CELL_PACKET_FORWARD_OWN},
	    {FABRIC_CLAIM, FABRIC_FORWARD_CLAIM, CELL_PACKET_SNOOP_CLAIM,
	     CELL_PACKET_FORWARD_CLAIM}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = begin(32);
		uint64_t time = T + 100;

		request(f, FABRIC_READ_DATA, 4, T);
		epic_snoop(f->core, 4, rows[i].snoop, &time);
		assert_int_equal(count(f, CELL_SNOOPED_OWN_MISS), 1);
		assert_int_equal(count(f, rows[i].came), 1);
		epic_cache_fill(&f->core->l3, 4, T);
		epic_cache_peek(&f->core->l3, 4)->tag |= LINE_SHARED;
		assert_int_equal(epic_snoop(f->core, 4, rows[i].forward, &time), FABRIC_SHARED);
		assert_int_equal(count(f, rows[i].forwarded), 1);
		assert_int_equal(count(f, CELL_SNOOPED_OWN_HIT), 1);
		assert_int_equal(count(f, CELL_PACKET_ANSWER_INVALID), 1);
		assert_null(epic_cache_peek(&f->core->l3, 4));
		end(f);
	}
}

/* The line comes to the link from 170 to 199: while the core is at a snoop of it. */
static void test_locks(void **state)
{
	static const struct {
		unsigned snoop, conflicts, locks;
	} rows[] = {{163, 1, 0}, {164, 1, 1}, {192, 1, 1}, {193, 0, 0}};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct fixture *f = begin(32);
		uint64_t time = T + rows[i].snoop;

		request(f, FABRIC_READ_OWN, 4, T);
		epic_snoop(f->core, 4, FABRIC_INVALIDATE, &time);
		assert_int_equal(count(f, CELL_SNOOP_CONFLICT), rows[i].conflicts);
		assert_int_equal(count(f, CELL_SNOOP_LOCKS), rows[i].locks);
		assert_int_equal(count(f, CELL_SNOOP_WAITS_LINE), !rows[i].conflicts);
		end(f);
	}
}

/* An acknowledgement goes before a request and an answer of its cycle, the request before the
 * answer.
 */
static void test_acknowledgement(void **state)
{
	struct fixture *f = begin(32);
	uint64_t time = T;

	(void)state;
	epic_snoop(f->core, 4, FABRIC_ACKNOWLEDGE, &time);
	assert_int_equal(request(f, FABRIC_READ_DATA, 6, T), 1 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_ACKNOWLEDGEMENT), 1);
	time = T - 30;
	epic_snoop(f->core, 7, FABRIC_SHARE, &time);
	assert_int_equal(time, T - 30 + 2);
	assert_int_equal(count(f, CELL_SNOOP_WAITS_ACKNOWLEDGEMENT), 1);
	assert_int_equal(waits(f), 2);
	end(f);
	f = begin(32); /* before, and after */
	time = T;
	epic_snoop(f->core, 4, FABRIC_ACKNOWLEDGE, &time);
	assert_int_equal(request(f, FABRIC_READ_DATA, 5, T - 1), READ);
	assert_int_equal(request(f, FABRIC_READ_DATA, 6, T + 100), READ);
	time = T - 30 + 1;
	epic_snoop(f->core, 7, FABRIC_SHARE, &time);
	assert_int_equal(time, T - 30 + 1);
	assert_int_equal(waits(f), 0);
	end(f);
}

/* Of requests one is taken in a cycle, and no answer goes in it. */
static void test_one_a_cycle(void **state)
{
	const unsigned granted = READ - 153; /* without memory */
	struct fixture *f = begin(32);
	uint64_t time = T - 30;

	(void)state;
	for (unsigned line = 0; line < 3; line++)
		assert_int_equal(request(f, FABRIC_OWN, line, T), line + granted);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_REQUEST), 1 + 2);
	assert_int_equal(waits(f), 3);
	epic_snoop(f->core, 50, FABRIC_SHARE, &time);
	assert_int_equal(time, T - 30 + 3);
	assert_int_equal(count(f, CELL_SNOOP_WAITS_REQUEST), 1);
	time = T - 30 + 4;
	epic_snoop(f->core, 51, FABRIC_SHARE, &time);
	assert_int_equal(time, T - 30 + 4);
	assert_int_equal(waits(f), 4);
	end(f);
}

/* A snoop that comes in the cycle of a request, an answer or an acknowledgement comes again. */
static void test_comes_again(void **state)
{
	static const struct {
		unsigned comes, again;
	} rows[] = {{99, 0},  {100, 1}, {101, 0}, {199, 0}, {200, 1},
		    {201, 0}, {299, 0}, {300, 2}, {301, 1}, {302, 0}};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = begin(32);
		uint64_t time = T + 200;

		epic_snoop(f->core, 4, FABRIC_ACKNOWLEDGE, &time);
		time = T + 300 - 30;
		epic_snoop(f->core, 50, FABRIC_SHARE, &time);
		time = T + 300 - 30;
		epic_snoop(f->core, 51, FABRIC_SHARE, &time);
		request(f, FABRIC_READ_DATA, 4, T + 100);
		time = T + rows[i].comes;
		epic_snoop(f->core, 52, FABRIC_SHARE, &time);
		assert_int_equal(time, T + rows[i].comes + rows[i].again);
		assert_int_equal(count(f, CELL_SNOOP_COMES_AGAIN), rows[i].again > 0);
		end(f);
	}
}

/*
 * A core's answer to its own snoop, of a line that it flushes, waits for another core's snoop of
 * that line, for a request in its cycle, and for one for the line. A flush of what the core does
 * not have needs none.
 */
static void test_own_snoop(void **state)
{
	const uint64_t tag = (4 + 1) * 4;
	struct fixture *f = begin(32);
	uint64_t time = T;

	(void)state;
	epic_bus_flush(f->core, 0, false, T);
	epic_bus_flush(f->core, tag, false, T - 200);
	assert_int_equal(waits(f), 0);
	epic_snoop(f->core, 4, FABRIC_SHARE, &time);
	epic_bus_flush(f->core, tag, true, T + 10);
	assert_int_equal(count(f, CELL_OWN_SNOOP_WAITS_SNOOP), 1);
	assert_int_equal(waits(f), 1);
	request(f, FABRIC_READ_DATA, 6, 2 * T);
	epic_bus_flush(f->core, tag, false, 2 * T);
	assert_int_equal(count(f, CELL_OWN_SNOOP_WAITS_REQUEST), 1);
	request(f, FABRIC_READ_DATA, 4, 3 * T);
	epic_bus_flush(f->core, tag, false, 3 * T + 10);
	assert_int_equal(count(f, CELL_OWN_SNOOP_WAITS_REQUEST), 2);
	assert_int_equal(waits(f), 3);
	assert_int_equal(count(f, CELL_OWN_SNOOP_ANSWERED), 4);
	assert_int_equal(count(f, CELL_FLUSH_TAKEN), 5);
	end(f);
}

/* Until it is told what to do with the line, the core asks for it no more: then it is at a snoop.
 */
static void test_request_of_conflict(void **state)
{
	struct fixture *f = begin(32);
	uint64_t time = T + 300;

	(void)state;
	request(f, FABRIC_READ_DATA, 4, T);
	epic_snoop(f->core, 4, FABRIC_FORWARD_OWN, &time);
	assert_int_equal(time, T + 300);
	assert_int_equal(request(f, FABRIC_READ_OWN, 4, T + 290), 10 + 31 + READ);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_LINE), 1);
	assert_int_equal(count(f, CELL_REQUEST_WAITS_SNOOP), 1);
	assert_int_equal(waits(f), 2);
	end(f);
}

/* A request of the second level, in a cycle. @return cycles until it has its line */
static unsigned ask(struct fixture *f, enum epic_kind kind, uint64_t line, uint64_t cycle)
{
	const struct access access = {.address = line * 128, .kind = (uint8_t)kind, .bytes = 8};
	struct access_time time = {0};

	epic_request(f->core, &access, cycle, &time);
	return time.latency;
}

static void snoop(struct fixture *f, uint64_t line, uint64_t cycle)
{
	epic_snoop(f->core, line, FABRIC_SHARE, &cycle);
}

/* Requests in the queue of the second level whose line is snooped: five cycles of a hit. */
static void test_snoop_of_queue(void **state)
{
	static const unsigned lost[] = {0, 1, 2, 2, 2, 2, 1, 0};

	(void)state;
	for (unsigned cycle = 0; cycle < 8; cycle++) {
		struct fixture *f = begin(32);

		epic_cache_fill(&f->core->l2d, 4, 0);
		epic_cache_fill(&f->core->l2d, 5, 0);
		ask(f, EPIC_LOAD, 4, T + 1);
		ask(f, EPIC_LOAD, 4, T + 2);
		ask(f, EPIC_LOAD, 5, T + 2);
		snoop(f, 4, T + cycle);
		assert_int_equal(count(f, CELL_INSERT_LOST), lost[cycle]);
		end(f);
	}
}

/* A snoop and a line that come to the second level in the same three cycles. */
static void test_snoop_of_fill(void **state)
{
	(void)state;
	for (int apart = -4; apart <= 4; apart++) {
		struct fixture *f = begin(32);
		uint64_t there;

		epic_cache_fill(&f->core->l3, 4, 0);
		epic_cache_fill(&f->core->l3, 5, 0);
		there = T + ask(f, EPIC_LOAD, 4, T);
		snoop(f, 5, there);
		assert_int_equal(count(f, CELL_BYPASS_SNOOPED_FILL), 0);
		snoop(f, 4, (uint64_t)((int64_t)there + apart));
		assert_int_equal(count(f, CELL_BYPASS_SNOOPED_FILL), apart >= -2 && apart <= 2);
		end(f);
	}
}

/*
 * A line that comes while a snoop waits for it is given away 30 cycles later: the time that a snoop
 * takes. One that comes to the caches of code, or is there, does not count.
 */
static void test_snooped_fill(void **state)
{
	static const struct {
		enum epic_kind kind;
		int apart;
		unsigned snooped, exclusive, cycles;
	} rows[] = {{EPIC_LOAD, -1, 1, 1, 30},
		    {EPIC_LOAD, -80, 1, 1, 30},
		    {EPIC_LOAD, 0, 0, 0, 0},
		    {EPIC_STORE, -1, 1, 0, 30},
		    {EPIC_STORE, 0, 0, 0, 0}};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = begin(32);
		uint64_t there = T + ask(f, rows[i].kind, 4, T);

		snoop(f, 5, there - 1);
		snoop(f, 4, (uint64_t)((int64_t)there + rows[i].apart));
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED), rows[i].snooped);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED_E), rows[i].exclusive);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED_CYCLES), rows[i].cycles);
		end(f);
	}
	{
		struct fixture *f = begin(32);

		request(f, FABRIC_READ_CODE, 4, T);
		snoop(f, 4, T + READ - 1);
		assert_int_equal(count(f, CELL_SNOOP_WAITS_LINE), 1);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED), 0);
		end(f);
	}
}

/* Two more requests that wait for it come back for it. */
static void test_used_fill(void **state)
{
	(void)state;
	for (unsigned snooped = 0; snooped < 2; snooped++) {
		struct fixture *f = begin(32);
		uint64_t there = T + ask(f, EPIC_LOAD, 4, T);

		ask(f, EPIC_LOAD, 4, T + 20);
		ask(f, EPIC_STORE, 4, T + 30);
		ask(f, EPIC_LOAD, 5, T + 40);
		snoop(f, 4, there - snooped);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED_USED), 2 * snooped);
		end(f);
	}
}

/* The same of one that is acknowledged, and then asked for again before it is there, or later. */
static void test_forwarded_fill(void **state)
{
	(void)state;
	for (int apart = -1; apart < 1; apart++) {
		struct fixture *f = begin(32);
		uint64_t time = T + 100, there = T + ask(f, EPIC_LOAD, 4, T);

		assert_int_equal(epic_snoop(f->core, 4, FABRIC_INVALIDATE, &time), FABRIC_CONFLICT);
		time = (uint64_t)((int64_t)there + apart);
		epic_snoop(f->core, 4, FABRIC_FORWARD_OWN, &time);
		assert_int_equal(time, there);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED), apart < 0);
		assert_int_equal(count(f, CELL_L2D_FILL_SNOOPED_CYCLES), apart < 0 ? 30 : 0);
		end(f);
	}
}

/* A modified line is read for the third level five cycles after the miss that takes its place, and
 * is there 16 after that line. */
static void test_snoop_of_victim(void **state)
{
	const unsigned sets = 256;
	unsigned latency = 0;

	(void)state;
	for (unsigned step = 0; step < 4; step++) {
		struct fixture *f = begin(32);

		for (unsigned way = 0; way < 8; way++) {
			epic_cache_fill(&f->core->l2d, 4 + way * sets, 0);
			epic_cache_peek(&f->core->l2d, 4 + way * sets)->tag |= LINE_DIRTY;
		}
		epic_cache_fill(&f->core->l3, 4 + 8 * sets, 0);
		latency = ask(f, EPIC_LOAD, 4 + 8 * sets, T);
		snoop(f, 4 + sets, T + 10);
		assert_int_equal(count(f, CELL_BYPASS_SNOOPED_VICTIM), 0);
		snoop(f, 4, T + (unsigned[]){4, 5, latency + 15, latency + 16}[step]);
		assert_int_equal(count(f, CELL_BYPASS_SNOOPED_VICTIM), step == 1 || step == 2);
		end(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_line),
	    cmocka_unit_test(test_entries),
	    cmocka_unit_test(test_snoop),
	    cmocka_unit_test(test_snoop_before_line),
	    cmocka_unit_test(test_give_up),
	    cmocka_unit_test(test_link),
	    cmocka_unit_test(test_buffers),
	    cmocka_unit_test(test_buffer_of_answer),
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_conflict),
	    cmocka_unit_test(test_conflict_of_writers),
	    cmocka_unit_test(test_locks),
	    cmocka_unit_test(test_acknowledgement),
	    cmocka_unit_test(test_one_a_cycle),
	    cmocka_unit_test(test_comes_again),
	    cmocka_unit_test(test_own_snoop),
	    cmocka_unit_test(test_request_of_conflict),
	    cmocka_unit_test(test_snoop_of_queue),
	    cmocka_unit_test(test_snoop_of_fill),
	    cmocka_unit_test(test_snoop_of_victim),
	    cmocka_unit_test(test_snooped_fill),
	    cmocka_unit_test(test_used_fill),
	    cmocka_unit_test(test_forwarded_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
