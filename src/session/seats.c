#include "session/seats.h"

#include <stdio.h>

#include "base/error.h"
#include "session/matching.h"

/* An event in one instance, which wants a counter. */
struct seat {
	struct session_event *event;
	unsigned instance, counter;
};

#define KEYS_MAX 128 /* seats, each with each copy of the fields that select its event */

struct seats {
	const struct pmu_session *session;
	const struct pmu_box *box;
	struct seat seat[MATCHING_COUNTERS_MAX + 1];
	size_t count;
	size_t most; /* how many were placed at once: the next one is what there is no place for */
	uint8_t known[KEYS_MAX][KEYS_MAX]; /* enum agreement, by key() */
};

enum agreement {
	UNKNOWN,
	AGREE,
	DISAGREE,
};

unsigned seats_of(const struct pmu_box *box, unsigned instance)
{
	const struct pmu_register *counter = pmu_box_register(box, PMU_ROLE_COUNTER, 0);

	/* Those of cores have one address, but are reached from their cores. */
	for (unsigned i = 0; i < instance && counter && box->scope != PMU_SCOPE_CORE; i++)
		if (pmu_register_address(box, counter, i) ==
		    pmu_register_address(box, counter, instance))
			return i;
	return instance;
}

bool seats_shared(const struct pmu_box *box)
{
	for (unsigned i = 0; i < box->instance_count; i++)
		if (seats_of(box, i) != i)
			return true;
	return false;
}

static bool is_present(const struct pmu_session *session, const struct pmu_box *box,
		       unsigned instance)
{
	for (unsigned socket = 0; socket < session->sockets; socket++)
		if (*session_present(session, socket, box) & 1u << instance)
			return true;
	return false;
}

static bool can_be_merged(const struct pmu_session *session, const struct seat *a,
			  const struct seat *b)
{
	bool agree = true;

	for (unsigned socket = 0; socket < session->sockets && agree; socket++) {
		const struct selection_nodes *nodes = &session->nodes[socket];
		struct pmu_selection first = selection_on(&a->event->selection, nodes);
		struct pmu_selection second = selection_on(&b->event->selection, nodes);
		struct pmu_placed both[] = {
		    {.selection = &first, .instance = a->instance, .counter = a->counter},
		    {.selection = &second, .instance = b->instance, .counter = b->counter}};
		struct pmu_write writes[2 * PMU_EVENT_WRITES];

		agree =
		    pmu_event_merge(NULL, both, 2, writes, sizeof(writes) / sizeof(writes[0])) >= 0;
	}
	return agree;
}

/* A seat, and which copy of the selecting fields its counter takes. */
static size_t key(const struct seats *seats, const struct seat *seat)
{
	unsigned copies = seat->event->selection.event->copies;

	copies = copies ? copies : 1;
	return (size_t)(seat - seats->seat) * copies + seat->counter % copies;
}

/* Whether two can be programmed at the same time, with the counters that they have. */
static bool agree(struct seats *seats, const struct seat *a, const struct seat *b)
{
	uint8_t *known = &seats->known[key(seats, a)][key(seats, b)];

	if (a->counter == b->counter)
		return false;
	if (*known == UNKNOWN)
		*known = can_be_merged(seats->session, a, b) ? AGREE : DISAGREE;
	return *known == AGREE;
}

/* Few events and few counters: all ways are tried. */
static bool place(struct seats *seats, size_t next)
{
	struct seat *seat = &seats->seat[next];

	if (seats->most < next)
		seats->most = next;
	if (next == seats->count)
		return true;
	for (seat->counter = 0; seat->counter < seats->box->counter_count; seat->counter++) {
		bool fits = seat->event->selection.event->counters >> seat->counter & 1;

		for (size_t i = 0; i < next && fits; i++)
			fits = agree(seats, &seats->seat[i], seat);
		if (fits && place(seats, next + 1))
			return true;
	}
	return false;
}

static int too_many(struct pmu_ctx *ctx, const struct seats *seats)
{
	const struct pmu_box *box = seats->box;
	const struct seat *first = &seats->seat[0], *last = &seats->seat[seats->most];
	char name[PMU_EVENT_TEXT_MAX], other[PMU_EVENT_TEXT_MAX];

	pmu_event_print(&last->event->selection, name, sizeof(name));
	pmu_event_print(&first->event->selection, other, sizeof(other));
	return error_set(
	    ctx, PMU_E_CONFLICT,
	    "%s%u has no counter left for %s: it shares %u counters with %s%u, and "
	    "some registers serve several of them (%s is counted too)" SESSION_SEPARATELY,
	    box->name, last->instance, name, box->counter_count, box->name, first->instance, other);
}

/* All that wants the counters of one seat. */
static int gather(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box,
		  unsigned of, struct seats *seats)
{
	*seats = (struct seats){.session = session, .box = box};
	for (size_t e = 0; e < session->event_count; e++)
		for (unsigned i = 0; i < box->instance_count; i++) {
			struct session_event *event = &session->events[e];

			if (!event->counted || event->selection.box != box ||
			    !event->selection.event || seats_of(box, i) != of ||
			    !selection_covers(&event->selection, i) || !is_present(session, box, i))
				continue;
			seats->seat[seats->count] = (struct seat){event, i, 0};
			if (seats->count++ == box->counter_count) {
				seats->most = box->counter_count;
				return too_many(ctx, seats);
			}
		}
	return 0;
}

int seats_assign(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box)
{
	for (unsigned of = 0; of < box->instance_count; of++) {
		struct seats seats;
		int error;

		if (seats_of(box, of) != of)
			continue;
		error = gather(session, ctx, box, of, &seats);
		if (error)
			return error;
		if (!place(&seats, 0))
			return too_many(ctx, &seats);
		for (size_t i = 0; i < seats.count; i++)
			seats.seat[i].event->counters[seats.seat[i].instance] =
			    (uint8_t)seats.seat[i].counter;
	}
	return 0;
}
