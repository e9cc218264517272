/* The superqueue beside a list without order, over random requests. */
#include "machine/superqueue.h"
#include "support/cmocka.h"
#include "support/random.h"

#define STEPS 200000
#define LINES 40 /* few, so that many are asked for again */

static uint64_t random_state = 12345;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next_random(&random_state) >> 33) % limit;
}

struct request {
	uint64_t end, order;
	uint32_t line;
	bool demand;
};

struct list {
	struct request requests[SUPERQUEUE_MAX];
	uint64_t order;
};

/* Instead of that which ends first, of several the one that was entered first. */
static void enter(struct list *list, unsigned entries, struct request request)
{
	struct request *first = list->requests;

	for (struct request *r = first + 1; r < list->requests + entries; r++)
		if (r->end < first->end || (r->end == first->end && r->order < first->order))
			first = r;
	request.order = ++list->order;
	*first = request;
}

static void check(const struct superqueue *queue, const struct list *list, unsigned entries,
		  uint64_t now)
{
	const uint32_t line = below(LINES);
	uint64_t arrival = now, first = UINT64_MAX;
	unsigned held = 0, demands = 0;

	for (const struct request *r = list->requests; r < list->requests + entries; r++) {
		held += r->end > now;
		demands += r->end > now && r->demand;
		first = r->end < first ? r->end : first;
		if (r->order && r->line == line && r->end > arrival)
			arrival = r->end;
	}
	assert_int_equal(superqueue_arrival(queue, entries, line, now), arrival);
	assert_int_equal(superqueue_admit(queue, now), first > now ? first : now);
	for (unsigned count = 0; count <= entries; count++)
		assert_int_equal(superqueue_has_more(queue, entries, count, now),
				 entries - held > count);
	for (int most = 1; most <= SUPERQUEUE_MAX; most++)
		assert_int_equal(superqueue_is_busy(queue, entries, most, now),
				 demands >= (unsigned)most);
}

static void it_is_the_list(void **unused)
{
	(void)unused;
	for (unsigned entries = 1; entries <= SUPERQUEUE_MAX; entries++) {
		struct superqueue queue = {0};
		struct list list = {0};
		uint64_t now = 0;

		for (unsigned step = 0; step < STEPS / SUPERQUEUE_MAX; step++) {
			const struct request request = {
			    .end = now + 1 + below(below(4) ? 10 : 100),
			    .line = below(LINES),
			    .demand = below(2),
			};

			superqueue_enter(&queue, entries, request.line, request.end,
					 request.demand);
			enter(&list, entries, request);
			check(&queue, &list, entries, now + below(20));
			now += below(8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_the_list)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
