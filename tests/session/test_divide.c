/*
 * Random lists of events, divided among as few PMUs as there can be: held against all ways to
 * divide them and to give them counters. LISTS=N for more of them.
 */
#include "session/divide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/seats.h"
#include "support/cmocka.h"
#include "support/random.h"

#define EVENTS_MAX   7
#define COUNTERS_MAX 16
#define SETS	     (1u << EVENTS_MAX)

enum known { UNKNOWN, YES, NO };

/* All that is tried for one list. */
struct trial {
	struct pmu_selection events[EVENTS_MAX];
	unsigned group[EVENTS_MAX]; /* 0: none */
	unsigned count;
	uint8_t together[EVENTS_MAX][COUNTERS_MAX][EVENTS_MAX][COUNTERS_MAX];
	uint8_t feasible[SETS];
	unsigned counter[EVENTS_MAX];
};

/* Random lists */

static bool parse_random(uint64_t *random, const struct pmu_box *box, bool single,
			 struct pmu_selection *selection)
{
	const struct pmu_event *event = &box->events[next_random(random) % box->event_count];
	const struct pmu_umask *umask =
	    event->umask_count ? &event->umasks[next_random(random) % event->umask_count] : NULL;
	char text[PMU_EVENT_TEXT_MAX], where[16] = "";
	size_t used;

	/* Who only prints registers knows of one core. */
	if (single)
		snprintf(where, sizeof(where), "%u",
			 box->scope == PMU_SCOPE_CORE
			     ? 0
			     : (unsigned)(next_random(random) % box->instance_count));
	used = (size_t)snprintf(text, sizeof(text), "%s/%s%s.%s%s%s", box->pmu, box->name, where,
				event->name, umask ? "." : "", umask ? umask->name : "");
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (!modifier->reg || !pmu_event_takes(event, modifier) || next_random(random) & 1)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, ":%s=%u", modifier->name,
					 (unsigned)(next_random(random) % 2 + 1));
	}
	return !pmu_event_parse(NULL, NULL, text, selection) &&
	       !selection_follows_counter0(selection);
}

/* Of one box, or of two. */
static void make_list(uint64_t *random, const struct pmu_pmu *pmu, struct trial *trial)
{
	const struct pmu_box *boxes[2];

	memset(trial, 0, sizeof(*trial));
	for (size_t i = 0; i < 2;) {
		boxes[i] = &pmu->boxes[next_random(random) % pmu->box_count];
		i += boxes[i]->event_count > 0;
	}
	for (unsigned tries = 0; trial->count < EVENTS_MAX && tries < 200; tries++) {
		const struct pmu_box *box = boxes[next_random(random) % 4 == 0];
		const bool single = seats_shared(box) || next_random(random) % 4 == 0;
		struct pmu_selection *selection = &trial->events[trial->count];
		bool again = !parse_random(random, box, single, selection);

		for (unsigned i = 0; i < trial->count && !again; i++)
			again = selection_equal(&trial->events[i], selection);
		trial->count += !again;
	}
}

/* All ways */

/* Whether two that are counted in the same counters can be programmed at once. */
static bool can_merge(const struct trial *trial, unsigned a, unsigned ca, unsigned b, unsigned cb)
{
	const struct pmu_selection *first = &trial->events[a], *second = &trial->events[b];
	unsigned instance = first->one_instance ? first->instance : second->instance;
	unsigned other = second->one_instance ? second->instance : instance;
	const struct pmu_placed both[] = {{.selection = first, .instance = instance, .counter = ca},
					  {.selection = second, .instance = other, .counter = cb}};
	struct pmu_write writes[2 * PMU_EVENT_WRITES];

	return pmu_event_merge(NULL, both, 2, writes, sizeof(writes) / sizeof(writes[0])) >= 0;
}

static bool meet(const struct pmu_selection *a, const struct pmu_selection *b)
{
	if (a->box != b->box)
		return false;
	if (!a->one_instance || !b->one_instance)
		return true;
	return seats_of(a->box, a->instance) == seats_of(a->box, b->instance);
}

static bool agree(struct trial *trial, unsigned a, unsigned b)
{
	const unsigned ca = trial->counter[a], cb = trial->counter[b];
	uint8_t *known = &trial->together[a][ca][b][cb];

	if (!meet(&trial->events[a], &trial->events[b]))
		return true;
	if (ca == cb)
		return false;
	if (*known == UNKNOWN)
		*known = can_merge(trial, a, ca, b, cb) ? YES : NO;
	return *known == YES;
}

static bool is_of(const struct pmu_selection *selection, const struct pmu_bank *bank)
{
	return selection->box->banks <= bank &&
	       bank < selection->box->banks + selection->box->bank_count &&
	       !strcmp(selection->event->set_group, bank->group);
}

/* Events of sets count under the lead of their bank, of one set and with what the bank shares. */
static bool bank_holds(const struct trial *trial, unsigned set, const struct pmu_bank *bank)
{
	const struct pmu_selection *lead = NULL;

	for (unsigned i = 0; i < trial->count; i++)
		if (set >> i & 1 && is_of(&trial->events[i], bank) &&
		    trial->counter[i] == bank->lead)
			lead = &trial->events[i];
	for (unsigned i = 0; i < trial->count; i++) {
		const struct pmu_selection *event = &trial->events[i];

		if (!(set >> i & 1) || !is_of(event, bank) ||
		    !(bank->counters >> trial->counter[i] & 1))
			continue;
		if (!lead || event->event->set != lead->event->set ||
		    (pmu_event_control(event) ^ pmu_event_control(lead)) & bank->shared)
			return false;
	}
	return true;
}

static bool in_its_bank(const struct trial *trial, unsigned event)
{
	const struct pmu_selection *selection = &trial->events[event];
	bool found = !*selection->event->set_group;

	for (size_t b = 0; b < selection->box->bank_count && !found; b++)
		found = is_of(selection, &selection->box->banks[b]) &&
			selection->box->banks[b].counters >> trial->counter[event] & 1;
	return found;
}

static bool banks_hold(const struct trial *trial, unsigned set)
{
	for (unsigned i = 0; i < trial->count; i++) {
		const struct pmu_box *box = trial->events[i].box;

		if (!(set >> i & 1))
			continue;
		if (!in_its_bank(trial, i))
			return false;
		for (size_t b = 0; b < box->bank_count; b++)
			if (!bank_holds(trial, set, &box->banks[b]))
				return false;
	}
	return true;
}

static uint32_t counters_of(const struct pmu_selection *selection)
{
	uint32_t counters = selection->event->counters;

	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier->counters)
			counters &= selection->settings[i].modifier->counters;
	return counters;
}

static bool place_all(struct trial *trial, unsigned set, unsigned next)
{
	uint32_t counters;

	while (next < trial->count && !(set >> next & 1))
		next++;
	if (next == trial->count)
		return banks_hold(trial, set);
	counters = counters_of(&trial->events[next]);
	for (unsigned c = 0; c < COUNTERS_MAX; c++) {
		bool fits = counters >> c & 1;

		trial->counter[next] = c;
		for (unsigned i = 0; i < next && fits; i++)
			fits = !(set >> i & 1) || agree(trial, i, next);
		if (fits && place_all(trial, set, next + 1))
			return true;
	}
	return false;
}

static bool is_feasible(struct trial *trial, unsigned set)
{
	if (trial->feasible[set] == UNKNOWN)
		trial->feasible[set] = place_all(trial, set, 0) ? YES : NO;
	return trial->feasible[set] == YES;
}

/* The least number of parts, by all ways to divide. */
static unsigned divide(struct trial *trial, unsigned next, unsigned *sets, unsigned used,
		       unsigned best)
{
	unsigned block = 0;

	while (next < trial->count) {
		bool placed = false;

		for (unsigned p = 0; p < used; p++)
			placed |= sets[p] >> next & 1;
		if (!placed)
			break;
		next++;
	}
	if (next == trial->count)
		return used;
	for (unsigned i = next; i < trial->count; i++)
		if (i == next || (trial->group[i] && trial->group[i] == trial->group[next]))
			block |= 1u << i;
	for (unsigned p = 0; p <= used && p + 1 < best; p++) {
		unsigned before = p < used ? sets[p] : 0, found;

		if (!is_feasible(trial, before | block))
			continue;
		sets[p] = before | block;
		found = divide(trial, next + 1, sets, p == used ? used + 1 : used, best);
		best = found < best ? found : best;
		sets[p] = before;
	}
	return best;
}

/* Against what the session does */

static void ignore(void *arg, bool write, const struct pmu_access_op *op)
{
	(void)arg;
	(void)write;
	(void)op;
}

static void show(const struct trial *trial, const struct pmu_session *session)
{
	for (unsigned i = 0; i < trial->count; i++) {
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(&trial->events[i], text, sizeof(text));
		print_message("  %zu  %s  group %u\n", session->events[i].part, text,
			      trial->group[i]);
	}
}

static void check_list(struct trial *trial, struct pmu_ctx *ctx, struct pmu_session *session,
		       uint64_t *random)
{
	unsigned sets[EVENTS_MAX + 1] = {0}, least;
	size_t parts = 0;

	session->event_count = 0;
	session->group_count = 0;
	for (unsigned i = 0; i < trial->count; i++)
		if (pmu_session_add(session, ctx, &trial->events[i]) != (int)i)
			fail_msg("%s", pmu_message(ctx));
	if (trial->count > 1 && next_random(random) % 2) {
		const unsigned pair[] = {0,
					 (unsigned)(next_random(random) % (trial->count - 1)) + 1};

		if (!pmu_session_group(session, ctx, pair, 2))
			trial->group[pair[0]] = trial->group[pair[1]] = 1;
	}
	if (divide_events(session, ctx, &parts))
		fail_msg("%s", pmu_message(ctx));
	for (unsigned i = 0; i < trial->count; i++)
		sets[session->events[i].part] |= 1u << i;
	for (size_t p = 0; p < parts; p++)
		if (!is_feasible(trial, sets[p])) {
			show(trial, session);
			fail_msg("part %zu cannot be counted", p);
		}
	memset(sets, 0, sizeof(sets));
	least = divide(trial, 0, sets, 0, trial->count + 1);
	if (least != parts) {
		show(trial, session);
		fail_msg("%zu parts, %u are enough", parts, least);
	}
}

static void test_lists(void **state)
{
	const char *wanted = getenv("LISTS");
	const unsigned lists = wanted ? (unsigned)atoi(wanted) : 60;
	struct trial *trial = malloc(sizeof(*trial));
	const struct pmu_pmu *pmu;

	(void)state;
	assert_non_null(trial);
	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++) {
		uint64_t random = 0x9e3779b97f4a7c15;
		unsigned divided = 0;
		struct pmu_session *session;
		struct pmu_bus *bus;
		struct pmu_ctx *ctx;

		assert_int_equal(pmu_ctx_new(&ctx), 0);
		assert_int_equal(pmu_bus_dry_run(&bus, ctx, pmu, 1, ignore, NULL), 0);
		assert_int_equal(pmu_session_new(&session, ctx, bus), 0);
		for (unsigned list = 0; list < lists; list++) {
			make_list(&random, pmu, trial);
			check_list(trial, ctx, session, &random);
			for (unsigned e = 0; e < trial->count; e++)
				if (session->events[e].part) {
					divided++;
					break;
				}
		}
		print_message("%s: %u lists, %u of them divided\n", pmu_pmu_name(pmu), lists,
			      divided);
		assert_true(divided > 0);
		pmu_session_free(session);
		pmu_bus_free(bus);
		pmu_ctx_free(ctx);
	}
	free(trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
