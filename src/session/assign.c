#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "session/banks.h"
#include "session/matching.h"
#include "session/seats.h"
#include "session/selection.h"
#include "session/session.h"

#define GROUP_MAX (MATCHING_COUNTERS_MAX + 1)

/* Events that meet in one instance of a box: those of every instance and those of this one. */
struct group {
	const struct pmu_box *box;
	struct session_event *events[GROUP_MAX];
	uint32_t allowed[GROUP_MAX];
	size_t count;
	size_t everywhere; /* the first ones are in every instance */
	unsigned instance; /* one of those where they meet */
};

/* Counters that can count the event, and look at what is set. */
static uint32_t counters_for(const struct pmu_selection *selection)
{
	uint32_t counters = selection->event->counters;

	for (size_t i = 0; i < selection->setting_count; i++)
		if (selection->settings[i].modifier->counters)
			counters &= selection->settings[i].modifier->counters;
	return counters;
}

static void join(struct group *group, struct session_event *event)
{
	if (group->count == GROUP_MAX)
		return; /* more than any box has counters: refused anyway */
	group->allowed[group->count] = counters_for(&event->selection);
	group->events[group->count++] = event;
}

/* Whether it is for this instance alone, or for every one where @instance is -1. */
static bool is_for(const struct session_event *event, int instance)
{
	const struct pmu_selection *selection = &event->selection;

	return selection->one_instance ? instance >= 0 && selection->instance == (unsigned)instance
				       : instance < 0;
}

static void gather_instance(struct pmu_session *session, const struct pmu_box *box, int instance,
			    struct group *group)
{
	for (size_t i = 0; i < session->event_count; i++) {
		struct session_event *event = &session->events[i];

		if (event->counted && event->selection.event && event->selection.box == box &&
		    is_for(event, instance))
			join(group, event);
	}
}

static void gather(struct pmu_session *session, const struct pmu_box *box, int instance,
		   struct group *group)
{
	*group = (struct group){.box = box, .instance = instance < 0 ? 0 : (unsigned)instance};
	gather_instance(session, box, -1, group);
	group->everywhere = group->count;
	if (instance >= 0)
		gather_instance(session, box, instance, group);
}

static bool instance_used(const struct pmu_session *session, const struct pmu_box *box,
			  int instance)
{
	for (size_t i = 0; i < session->event_count; i++) {
		const struct session_event *event = &session->events[i];

		if (event->counted && event->selection.box == box && is_for(event, instance))
			return true;
	}
	return false;
}

static void list_events(const struct group *group, uint64_t chosen, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < group->count; i++) {
		char name[PMU_EVENT_TEXT_MAX];

		if (!(chosen & UINT64_C(1) << i))
			continue;
		pmu_event_print(&group->events[i]->selection, name, sizeof(name));
		name_list_add(text, size, ", ", name);
	}
}

static void list_counters(uint32_t counters, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned c = 0; c < MATCHING_COUNTERS_MAX && used < size; c++)
		if (counters & 1u << c)
			used +=
			    (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "", c);
}

static int too_many(struct pmu_ctx *ctx, const struct group *group)
{
	char list[PMU_EVENT_TEXT_MAX];

	list_events(group, UINT64_MAX, list, sizeof(list));
	return error_set(ctx, PMU_E_CONFLICT,
			 "%s has %u counters, too few for %zu events: %s" SESSION_SEPARATELY,
			 group->box->name, group->box->counter_count, group->count, list);
}

static int too_few(struct pmu_ctx *ctx, const struct group *group, uint64_t blame)
{
	char list[PMU_EVENT_TEXT_MAX], counters[4 * MATCHING_COUNTERS_MAX];
	uint32_t allowed = 0;

	for (size_t i = 0; i < group->count; i++)
		if (blame & UINT64_C(1) << i)
			allowed |= group->allowed[i];
	list_events(group, blame, list, sizeof(list));
	list_counters(allowed, counters, sizeof(counters));
	return error_set(ctx, PMU_E_CONFLICT,
			 "%s has too few counters for %s: together they can only be on counter "
			 "%s" SESSION_SEPARATELY,
			 group->box->name, list, counters);
}

/*
 * An event that repeats what counter 0 sees needs an event that can be there only; any other might
 * be moved to counter 0 or away from it (334291-001 §2.3.1.1).
 */
static int check_followers(struct pmu_ctx *ctx, const struct group *group)
{
	const struct session_event *follower = NULL;
	char name[PMU_EVENT_TEXT_MAX];

	for (size_t i = 0; i < group->count; i++) {
		if (group->allowed[i] == 1)
			return 0;
		if (selection_follows_counter0(&group->events[i]->selection))
			follower = group->events[i];
	}
	if (!follower)
		return 0;
	pmu_event_print(&follower->selection, name, sizeof(name));
	return error_set(ctx, PMU_E_CONFLICT,
			 "%s counts what counter 0 of %s sees: add an event that can only be on "
			 "counter 0",
			 name, group->box->name);
}

/* Whether all can be programmed at once, with these counters, on every socket. */
static int check_registers(const struct pmu_session *session, struct pmu_ctx *ctx,
			   const struct group *group, const uint8_t *counter)
{
	int error = 0;

	for (unsigned socket = 0; socket < session->sockets && !error; socket++) {
		struct pmu_selection selections[MATCHING_COUNTERS_MAX];
		struct pmu_placed events[MATCHING_COUNTERS_MAX];
		struct pmu_write writes[MATCHING_COUNTERS_MAX * PMU_EVENT_WRITES];

		for (size_t i = 0; i < group->count; i++) {
			selections[i] =
			    selection_on(&group->events[i]->selection, &session->nodes[socket]);
			events[i] = (struct pmu_placed){.selection = &selections[i],
							.instance = group->instance,
							.counter = counter[i]};
		}
		error = pmu_event_merge(ctx, events, group->count, writes,
					sizeof(writes) / sizeof(writes[0]));
		error = error < 0 ? error : 0;
	}
	if (error == PMU_E_CONFLICT && ctx) {
		char text[PMU_EVENT_TEXT_MAX];

		snprintf(text, sizeof(text), "%s", pmu_message(ctx));
		error_set(ctx, error, "%s" SESSION_SEPARATELY, text);
	}
	return error;
}

static int check_group(const struct pmu_session *session, struct pmu_ctx *ctx,
		       const struct group *group)
{
	uint8_t counter[GROUP_MAX];
	uint64_t blame;
	int error;

	if (group->count > group->box->counter_count)
		return too_many(ctx, group);
	if (!matching_find(group->allowed, group->count, counter, &blame))
		return too_few(ctx, group, blame);
	error = check_followers(ctx, group);
	return error ? error : check_registers(session, ctx, group, counter);
}

/* Places what this instance counts alone, beside events everywhere that have their counters. */
static bool place_rest(const struct group *group, uint32_t taken, bool keep)
{
	size_t rest = group->count - group->everywhere;
	uint32_t allowed[GROUP_MAX];
	uint8_t counter[GROUP_MAX];
	uint64_t blame;

	for (size_t i = 0; i < rest; i++)
		allowed[i] = group->allowed[group->everywhere + i] & ~taken;
	if (!matching_find(allowed, rest, counter, &blame))
		return false;
	for (size_t i = 0; i < rest && keep; i++)
		group->events[group->everywhere + i]->counter = counter[i];
	return true;
}

static bool place_instances(struct pmu_session *session, const struct pmu_box *box, uint32_t taken,
			    bool keep)
{
	for (int instance = 0; instance < (int)box->instance_count; instance++) {
		struct group group;

		if (!instance_used(session, box, instance))
			continue;
		gather(session, box, instance, &group);
		if (!place_rest(&group, taken, keep))
			return false;
	}
	return true;
}

/*
 * Events of every instance have one counter for all of them, which leaves the same counters free in
 * each. Few events and few counters: all ways are tried.
 */
static bool place_everywhere(struct pmu_session *session, const struct group *group, size_t next,
			     uint32_t taken)
{
	if (next == group->count)
		return place_instances(session, group->box, taken, false) &&
		       place_instances(session, group->box, taken, true);
	for (uint8_t c = 0; c < group->box->counter_count; c++) {
		if (!(group->allowed[next] & ~taken & 1u << c))
			continue;
		group->events[next]->counter = c;
		if (place_everywhere(session, group, next + 1, taken | 1u << c))
			return true;
	}
	return false;
}

static int assign_mixed(struct pmu_session *session, struct pmu_ctx *ctx,
			const struct group *everywhere)
{
	const struct pmu_box *box = everywhere->box;

	for (int instance = 0; instance < (int)box->instance_count; instance++) {
		struct group group;
		int error;

		if (!instance_used(session, box, instance))
			continue;
		gather(session, box, instance, &group);
		error = check_group(session, ctx, &group);
		if (error)
			return error;
	}
	if (!place_everywhere(session, everywhere, 0, 0))
		return error_set(
		    ctx, PMU_E_CONFLICT,
		    "no counters of %s serve the events of every instance and those of "
		    "single instances" SESSION_SEPARATELY,
		    box->name);
	return 0;
}

static uint64_t group_members(const struct group *group, const char *set_group)
{
	uint64_t members = 0;

	for (size_t i = 0; i < group->count; i++)
		if (!strcmp(group->events[i]->selection.event->set_group, set_group))
			members |= UINT64_C(1) << i;
	return members;
}

static int too_many_sets(struct pmu_ctx *ctx, const struct group *group, const char *set_group)
{
	char list[PMU_EVENT_TEXT_MAX];

	list_events(group, group_members(group, set_group), list, sizeof(list));
	return error_set(ctx, PMU_E_CONFLICT,
			 "%s: of the sets of %s events, with their unit masks where counters share "
			 "them, %s counts %u at a time" SESSION_SEPARATELY,
			 list, set_group, group->box->name, banks_of_group(group->box, set_group));
}

/* A box with banks has one instance: what is counted everywhere and what there is one group. */
static int assign_banked(struct pmu_session *session, struct pmu_ctx *ctx,
			 const struct pmu_box *box)
{
	const struct pmu_selection *selections[GROUP_MAX];
	uint8_t counter[GROUP_MAX];
	struct group group;
	struct banks_wish wish = {box, selections, group.allowed, 0};
	const char *overfull;
	int error;

	gather(session, box, 0, &group);
	error = check_group(session, ctx, &group);
	if (error)
		return error;
	wish.count = group.count;
	for (size_t i = 0; i < group.count; i++)
		selections[i] = &group.events[i]->selection;
	overfull = banks_overfull(&wish);
	if (overfull)
		return too_many_sets(ctx, &group, overfull);
	if (!banks_find(&wish, counter)) {
		char list[PMU_EVENT_TEXT_MAX];

		list_events(&group, ~group_members(&group, ""), list, sizeof(list));
		return error_set(ctx, PMU_E_CONFLICT,
				 "no counters of %s serve the sets of %s" SESSION_SEPARATELY,
				 box->name, list);
	}
	for (size_t i = 0; i < group.count; i++)
		group.events[i]->counter = counter[i];
	return 0;
}

int session_assign_box(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box)
{
	uint8_t counter[GROUP_MAX];
	struct group everywhere;
	uint64_t blame;
	int error;

	if (box->bank_count)
		return assign_banked(session, ctx, box);
	if (seats_shared(box))
		return seats_assign(session, ctx, box);
	gather(session, box, -1, &everywhere);
	error = check_group(session, ctx, &everywhere);
	for (int instance = 0; instance < (int)box->instance_count && !error; instance++)
		if (instance_used(session, box, instance))
			return assign_mixed(session, ctx, &everywhere);
	if (error)
		return error;
	matching_find(everywhere.allowed, everywhere.count, counter, &blame);
	for (size_t i = 0; i < everywhere.count; i++)
		everywhere.events[i]->counter = counter[i];
	return 0;
}

int session_assign(struct pmu_session *session, struct pmu_ctx *ctx)
{
	for (size_t i = 0; i < session->pmu->box_count; i++) {
		int error = session_assign_box(session, ctx, &session->pmu->boxes[i]);

		if (error)
			return error;
	}
	return 0;
}
