#include "perf/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/emulated.h"
#include "pmulab/notation.h"

int countings_init(struct countings *countings, struct pmu_ctx *ctx, struct emul *emul)
{
	int error;

	*countings = (struct countings){.ctx = ctx, .machine = emul_desc(emul)};
	error = bus_emulated_open(&countings->bus, ctx, emul);
	for (unsigned i = 0; i < COUNTING_PMUS && !error; i++)
		error = countings->bus->ops->another(&countings->banks[i].bus, ctx, countings->bus);
	return error;
}

void countings_fini(struct countings *countings)
{
	while (countings->all) {
		struct counting *counting = countings->all;

		countings->all = counting->next;
		free(counting);
	}
	for (unsigned i = 0; i < COUNTING_PMUS; i++) {
		pmu_session_free(countings->banks[i].session);
		pmu_bus_free(countings->banks[i].bus);
	}
	pmu_bus_free(countings->bus);
}

static bool is_same(const struct pmu_selection *a, const struct pmu_selection *b)
{
	char one[PMU_EVENT_TEXT_MAX], other[PMU_EVENT_TEXT_MAX];

	pmu_event_print(a, one, sizeof(one));
	pmu_event_print(b, other, sizeof(other));
	return !strcmp(one, other);
}

static int parse(struct countings *countings, const char *text, struct pmu_selection *selection)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(countings->machine->pmu);

	if (pmu_notation_parse(countings->ctx, pmu, text, selection))
		return -ENOENT;
	return pmu_selection_model_on(selection, countings->machine, NULL, 0) == PMU_MODEL_ABSENT
		   ? -EOPNOTSUPP
		   : 0;
}

int counting_get(struct countings *countings, const char *text, struct counting **out)
{
	struct pmu_selection selection;
	struct counting *counting;
	int error = parse(countings, text, &selection);

	if (error)
		return error;
	for (counting = countings->all; counting; counting = counting->next)
		if (is_same(&counting->selection, &selection))
			break;
	if (!counting) {
		counting = calloc(1, sizeof(*counting));
		if (!counting)
			return -ENOMEM;
		counting->selection = counting->counted = selection;
		counting->bank = -1;
		counting->next = countings->all;
		countings->all = counting;
	}
	counting->users++;
	*out = counting;
	return 0;
}

void counting_put(struct countings *countings, struct counting *counting)
{
	struct counting **at = &countings->all;

	if (--counting->users)
		return;
	if (counting->bank >= 0) {
		struct counting_bank *bank = &countings->banks[counting->bank];

		if (!--bank->users) {
			pmu_session_free(bank->session);
			bank->session = NULL;
		}
	}
	while (*at != counting)
		at = &(*at)->next;
	*at = counting->next;
	free(counting);
}

#define TOGETHER_MAX 128 /* that one session counts */

/* @return how many are on @bank (-1: wait), at most TOGETHER_MAX less @used, appended to @list */
static size_t find_on(const struct countings *countings, int bank, struct counting **list,
		      size_t used)
{
	for (struct counting *c = countings->all; c && used < TOGETHER_MAX; c = c->next)
		if (c->bank == bank)
			list[used++] = c;
	return used;
}

/* The field of another register at the same bits, whose event counts the same. */
static const struct pmu_modifier *twin_of(const struct pmu_box *box,
					  const struct pmu_modifier *modifier)
{
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *other = &box->modifiers[i];

		if (other->reg && other->reg != modifier->reg && other->lo == modifier->lo &&
		    other->hi == modifier->hi && !strcmp(other->reg->perf, modifier->reg->perf))
			return other;
	}
	return NULL;
}

static const struct pmu_event *event_with(const struct pmu_box *box,
					  const struct pmu_modifier *filter)
{
	for (size_t i = 0; i < box->event_count; i++)
		if (pmu_event_takes(&box->events[i], filter))
			return &box->events[i];
	return NULL;
}

/*
 * The kernel takes the other register of a core's filter where the first has another value.
 * @return whether there is one
 */
static bool take_other_filter(struct pmu_selection *selection)
{
	bool taken = false;

	for (unsigned i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier **modifier = &selection->settings[i].modifier;
		const struct pmu_modifier *twin;

		if (!(*modifier)->reg || !*(*modifier)->reg->perf)
			continue;
		twin = twin_of(selection->box, *modifier);
		if (!twin)
			return false;
		*modifier = twin;
		selection->event = event_with(selection->box, twin);
		taken = true;
	}
	return taken && selection->event;
}

/* @return a session that was not started, if one PMU can count all of them; else NULL */
static struct pmu_session *assign(struct countings *countings, struct pmu_bus *bus,
				  struct counting *const *list, const unsigned count,
				  unsigned events[TOGETHER_MAX])
{
	struct pmu_session *session;

	if (pmu_session_new(&session, countings->ctx, bus))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		int event = pmu_session_add(session, countings->ctx, &list[i]->counted);

		if (event < 0)
			goto fail;
		events[i] = (unsigned)event;
	}
	if (!pmu_session_assign(session, countings->ctx))
		return session;
fail:
	pmu_session_free(session);
	return NULL;
}

/* Takes the session in the place of the one that there is. What cannot be started waits again. */
static void replace(struct countings *countings, int number, struct pmu_session *session,
		    struct counting *const *list, unsigned count, const unsigned *events)
{
	struct counting_bank *bank = &countings->banks[number];
	bool failed;

	if (bank->session)
		countings->stops(countings->arg, number);
	pmu_session_free(bank->session);
	failed = pmu_session_start(session, countings->ctx);
	if (failed)
		pmu_session_free(session);
	bank->session = failed ? NULL : session;
	bank->users = failed ? 0 : count;
	for (unsigned i = 0; i < count; i++) {
		list[i]->bank = failed ? -1 : number;
		list[i]->event = events[i];
	}
	countings->started(countings->arg, number);
}

/* The last of the list may get another filter for that. */
static struct pmu_session *assign_last(struct countings *countings, struct pmu_bus *bus,
				       struct counting *const *list, unsigned count,
				       unsigned events[TOGETHER_MAX])
{
	struct counting *last = list[count - 1];
	struct pmu_session *session = assign(countings, bus, list, count, events);

	if (!session && take_other_filter(&last->counted))
		session = assign(countings, bus, list, count, events);
	if (!session)
		last->counted = last->selection;
	return session;
}

/* As many of those that wait as there are counters for, beside those that are counted. */
static void fill(struct countings *countings, int number)
{
	struct counting_bank *bank = &countings->banks[number];
	struct counting *list[TOGETHER_MAX], *waiting[TOGETHER_MAX];
	unsigned events[TOGETHER_MAX], used[TOGETHER_MAX];
	unsigned count = (unsigned)find_on(countings, number, list, 0);
	const size_t waits = find_on(countings, -1, waiting, 0);
	struct pmu_session *session = NULL;

	for (size_t i = 0; i < waits && count < TOGETHER_MAX; i++) {
		struct pmu_session *more;

		list[count] = waiting[i];
		more = assign_last(countings, bank->bus, list, count + 1, events);
		if (!more)
			continue;
		pmu_session_free(session);
		session = more;
		memcpy(used, events, sizeof(used));
		count++;
	}
	if (session)
		replace(countings, number, session, list, count, used);
}

void countings_start(struct countings *countings)
{
	struct counting *waiting[TOGETHER_MAX];

	/* Who counts already is disturbed only where no PMU is free. */
	for (int taken = 0; taken < 2; taken++)
		for (int i = 0; i < COUNTING_PMUS && find_on(countings, -1, waiting, 0); i++)
			if (!countings->banks[i].session == !taken)
				fill(countings, i);
}

uint64_t counting_read(struct countings *countings, const struct counting *counting, int socket,
		       int unit)
{
	const struct pmu_count *counts;
	uint64_t sum = 0;
	size_t count;

	if (counting->bank < 0 || pmu_session_read(countings->banks[counting->bank].session,
						   countings->ctx, &counts, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (counts[i].event == counting->event &&
		    (socket < 0 || counts[i].socket == (unsigned)socket) &&
		    (unit < 0 || counts[i].instance == (unsigned)unit))
			sum += counts[i].count;
	return sum;
}
