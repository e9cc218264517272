#include "machine/fabric_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct fabric_params params = {.mhz = 1000,
				     .entries = 2,
				     .line_flits = 9,
				     .credits = 20,
				     .hop = 2,
				     .link = 5,
				     .home = 3,
				     .reply = 1,
				     .read = 10,
				     .write = 6,
				     .dispatch = 2,
				     .snoop = 4,
				     .refresh = 100,
				     .refresh_cycles = 5,
				     .ranks = 3,
				     .row_lines = 1,
				     .row_cycle = 8,
				     .activate = 3,
				     .precharge = 2,
				     .page_window = 4,
				     .frame = 2,
				     .sync = 10,
				     .write_frames = 3,
				     .calibrate = 2000,
				     .core_ports = {8, 7, 3, 2},
				     .home_ports = {10, 0},
				     .link_ports = {6, 9, 5}};
static enum fabric_found snoop(void *arg, unsigned core, uint64_t line, enum fabric_snoop what,
			       uint64_t *time)
{
	enum fabric_found *cache = &((struct fixture *)arg)->caches[core], found = *cache;

	(void)line;
	if (what == FABRIC_ACKNOWLEDGE)
		*time = ((struct fixture *)arg)->there;
	if (what == FABRIC_LOOK || what == FABRIC_ACKNOWLEDGE)
		return found;
	if (what < FABRIC_ACKNOWLEDGE && *time < ((struct fixture *)arg)->there)
		return FABRIC_CONFLICT;
	if (found)
		*cache =
		    what == FABRIC_INVALIDATE || what == FABRIC_CLAIM || what >= FABRIC_FORWARD_OWN
			? FABRIC_NOTHING
			: FABRIC_SHARED;
	return found;
}

static void sent(void *arg, unsigned core, const struct fabric_sent *sent)
{
	struct fixture *f = arg;

	if (core)
		return;
	f->blocked[sent->data] += sent->blocked_until - sent->blocked_from;
	if (sent->low_until > sent->low_from) {
		f->few_from = f->few_from ? f->few_from : sent->low_from;
		f->few_until = sent->low_until;
	}
}

static void happened(void *arg, const struct detail_event *event)
{
	struct fixture *f = arg;

	assert_true(f->count < EVENTS);
	f->events[f->count++] = *event;
}

struct fixture *begin(unsigned sockets)
{
	struct fixture *f = calloc(1, sizeof(*f));
	void *memory = calloc(1, fabric_size());
	const struct fabric_watch watch = {
	    .arg = f, .snoop = snoop, .sent = sent, .event = happened, .enabled = f->enabled};

	assert_non_null(f);
	assert_non_null(memory);
	memset(f->enabled, 1, sizeof(f->enabled));
	f->fabric = fabric_init(memory, &params, sockets, FABRIC_CORES);
	fabric_watch(f->fabric, &watch);
	return f;
}

void end(struct fixture *f)
{
	free(f->fabric);
	free(f);
}

struct fabric_answer transact(struct fixture *f, enum fabric_kind kind, unsigned core,
			      uint64_t time, uint64_t line)
{
	const struct fabric_request request = {(uint8_t)kind, (uint8_t)core, time, line};
	struct fabric_answer answer;

	fabric_transact(f->fabric, &request, &answer);
	return answer;
}

struct sum sum(const struct fixture *f, unsigned id, unsigned socket, unsigned unit,
	       uint32_t qualifiers)
{
	struct sum s = {0, 0};

	for (unsigned i = 0; i < f->count; i++) {
		const struct detail_event *e = &f->events[i];

		if (e->id == id && e->socket == socket && e->unit == unit &&
		    (e->qualifiers & qualifiers) == qualifiers) {
			s.count++;
			s.amount += e->amount;
		}
	}
	return s;
}

void check(const struct fixture *f, unsigned id, unsigned socket, unsigned unit,
	   uint32_t qualifiers, unsigned count, uint64_t amount)
{
	struct sum s = sum(f, id, socket, unit, qualifiers);

	assert_int_equal(s.count, count);
	assert_int_equal(s.amount, amount);
}
