#include "session/divide.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/matching.h"

/* Events that stay together: a group, or one that is in none. */
struct block {
	size_t first; /* the index of its first event */
	size_t part;
	size_t component; /* boxes that blocks join: what is placed elsewhere is not in its way */
	bool follows;	  /* repeats what counter 0 sees */
};

struct division {
	struct pmu_session *whole;
	struct pmu_ctx *ctx;
	struct block *blocks;
	size_t block_count;
	size_t *component_of;	     /* [box] */
	struct pmu_session **trials; /* one a part, with the events of one component */
	size_t trial_count;
	unsigned left; /* placements that may still be tried */
};

static bool is_member(const struct pmu_session *whole, const struct block *block,
		      const struct session_event *event)
{
	const struct session_event *first = &whole->events[block->first];

	return event == first || (first->group && event->group == first->group);
}

static size_t box_number(const struct pmu_session *whole, const struct session_event *event)
{
	return (size_t)(event->selection.box - whole->pmu->boxes);
}

/* Blocks */

static bool begins_block(const struct pmu_session *whole, size_t event)
{
	for (size_t i = 0; i < event; i++)
		if (whole->events[i].group && whole->events[i].group == whole->events[event].group)
			return false;
	return true;
}

/* All boxes of a block become one component. */
static void join_boxes(struct division *division, const struct block *block)
{
	const struct pmu_session *whole = division->whole;
	const size_t into = division->component_of[box_number(whole, &whole->events[block->first])];

	for (size_t i = 0; i < whole->event_count; i++) {
		size_t from;

		if (!is_member(whole, block, &whole->events[i]))
			continue;
		from = division->component_of[box_number(whole, &whole->events[i])];
		for (size_t b = 0; b < whole->pmu->box_count; b++)
			if (division->component_of[b] == from)
				division->component_of[b] = into;
	}
}

static void make_blocks(struct division *division)
{
	const struct pmu_session *whole = division->whole;

	for (size_t b = 0; b < whole->pmu->box_count; b++)
		division->component_of[b] = b;
	for (size_t i = 0; i < whole->event_count; i++) {
		const struct session_event *event = &whole->events[i];
		struct block *block = &division->blocks[division->block_count];

		if (!begins_block(whole, i))
			continue;
		*block = (struct block){.first = i,
					.follows = !event->group &&
						   selection_follows_counter0(&event->selection)};
		division->block_count++;
		join_boxes(division, block);
	}
	for (size_t i = 0; i < division->block_count; i++)
		division->blocks[i].component = division->component_of[box_number(
		    whole, &whole->events[division->blocks[i].first])];
}

/* Placing */

static int new_trial(struct division *division)
{
	struct pmu_session **trials =
	    realloc(division->trials, (division->trial_count + 1) * sizeof(struct pmu_session *));
	int error;

	if (!trials)
		return error_set(division->ctx, PMU_E_NOMEM, "out of memory for a group of events");
	division->trials = trials;
	error = session_new_for(&trials[division->trial_count], division->ctx, division->whole);
	division->trial_count += !error;
	return error;
}

/* @return 0; PMU_E_CONFLICT where the part has no room for it, and is as it was */
static int place(struct division *division, const struct block *block, size_t part)
{
	const struct pmu_session *whole = division->whole;
	struct pmu_session *trial = division->trials[part];
	const size_t before = trial->event_count;
	int error = 0;

	for (size_t i = block->first; i < whole->event_count && error >= 0; i++)
		if (is_member(whole, block, &whole->events[i]))
			error = pmu_session_add(trial, division->ctx, &whole->events[i].selection);
	error = error < 0 ? error : 0;
	for (size_t i = before; i < trial->event_count && !error; i++)
		error = session_assign_box(trial, division->ctx, trial->events[i].selection.box);
	if (error)
		trial->event_count = before;
	return error;
}

static void clear_trials(struct division *division)
{
	for (size_t i = 0; i < division->trial_count; i++)
		division->trials[i]->event_count = 0;
}

/* In the first part that has room. */
static int place_first(struct division *division, struct block *block)
{
	int error = PMU_E_CONFLICT;

	for (size_t p = 0; p < division->trial_count && error == PMU_E_CONFLICT; p++) {
		error = place(division, block, p);
		block->part = p;
	}
	if (error != PMU_E_CONFLICT)
		return error;
	error = new_trial(division);
	block->part = division->trial_count - 1;
	return error ? error : place(division, block, block->part);
}

static size_t parts_of(const struct division *division, size_t component)
{
	size_t parts = 0;

	for (size_t i = 0; i < division->block_count; i++)
		if (division->blocks[i].component == component && division->blocks[i].part >= parts)
			parts = division->blocks[i].part + 1;
	return parts;
}

/* What repeats counter 0 goes where that has its event already. */
static int first_fit(struct division *division, size_t component)
{
	int error = 0;

	clear_trials(division);
	for (int followers = 0; followers <= 1; followers++)
		for (size_t i = 0; i < division->block_count && !error; i++) {
			struct block *block = &division->blocks[i];

			if (block->component == component && block->follows == followers)
				error = place_first(division, block);
		}
	return error;
}

/* Bounds */

/* Events of a box that can only be on counters of @counters. */
static size_t confined(const struct pmu_session *whole, const struct pmu_box *box,
		       uint32_t counters)
{
	size_t everywhere = 0, most = 0;

	for (int instance = -1; instance < (int)box->instance_count; instance++) {
		size_t count = 0;

		for (size_t i = 0; i < whole->event_count; i++) {
			const struct session_event *event = &whole->events[i];
			const struct pmu_selection *selection = &event->selection;

			count += event->counted && selection->event && selection->box == box &&
				 !(selection->event->counters & ~counters) &&
				 (selection->one_instance ? instance == (int)selection->instance
							  : instance < 0);
		}
		if (instance < 0)
			everywhere = count;
		else if (count > most)
			most = count;
	}
	return everywhere + most;
}

/* No fewer parts can do, by the number of counters. */
static size_t least_parts(const struct division *division, size_t component)
{
	const struct pmu_session *whole = division->whole;
	size_t least = 1;

	for (size_t b = 0; b < whole->pmu->box_count; b++) {
		const struct pmu_box *box = &whole->pmu->boxes[b];

		if (division->component_of[b] != component)
			continue;
		for (unsigned first = 0; first < box->counter_count; first++)
			for (unsigned last = first; last < box->counter_count; last++) {
				const size_t counters = last - first + 1;
				size_t parts =
				    (confined(whole, box, (uint32_t)pmu_mask(last, first)) +
				     counters - 1) /
				    counters;

				if (parts > least)
					least = parts;
			}
	}
	return least;
}

/* Search */

struct search {
	struct division *division;
	struct block *blocks[DIVIDE_BLOCKS_MAX];
	size_t count, parts;
};

/*
 * All ways to place the blocks from @next on, of which those before are in @used parts.
 * @return 0; PMU_E_CONFLICT: there is none, or too many were tried; other errors
 */
static int search_from(struct search *search, size_t next, size_t used)
{
	struct division *division = search->division;
	/* Parts that nothing is in are alike: one of them is tried. */
	const size_t ways = used < search->parts ? used + 1 : used;

	if (next == search->count)
		return 0;
	for (size_t p = 0; p < ways; p++) {
		const size_t before = division->trials[p]->event_count;
		int error;

		if (!division->left)
			return PMU_E_CONFLICT;
		division->left--;
		error = place(division, search->blocks[next], p);
		if (!error) {
			search->blocks[next]->part = p;
			error = search_from(search, next + 1, p == used ? used + 1 : used);
			if (!error)
				return 0;
			division->trials[p]->event_count = before;
		}
		if (error != PMU_E_CONFLICT)
			return error;
	}
	return PMU_E_CONFLICT;
}

static int try_parts(struct division *division, size_t component, size_t parts)
{
	struct search search = {.division = division, .parts = parts};

	for (size_t i = 0; i < division->block_count; i++) {
		if (division->blocks[i].component != component)
			continue;
		if (search.count == DIVIDE_BLOCKS_MAX || division->blocks[i].follows)
			return PMU_E_CONFLICT;
		search.blocks[search.count++] = &division->blocks[i];
	}
	clear_trials(division);
	return search_from(&search, 0, 0);
}

/* Fewer parts than first fit finds, where that is possible. */
static int improve(struct division *division, size_t component, size_t *parts)
{
	size_t *before = calloc(division->block_count + 1, sizeof(*before));
	int error = PMU_E_CONFLICT;

	if (!before)
		return error_set(division->ctx, PMU_E_NOMEM, "out of memory for a group of events");
	for (size_t i = 0; i < division->block_count; i++)
		before[i] = division->blocks[i].part;
	for (size_t k = least_parts(division, component); k < *parts && error == PMU_E_CONFLICT;
	     k++) {
		error = try_parts(division, component, k);
		if (!error)
			*parts = k;
	}
	for (size_t i = 0; i < division->block_count && error; i++)
		division->blocks[i].part = before[i];
	free(before);
	return error == PMU_E_CONFLICT ? 0 : error;
}

static bool is_component(const struct division *division, size_t component)
{
	for (size_t i = 0; i < division->block_count; i++)
		if (division->blocks[i].component == component)
			return true;
	return false;
}

static int divide(struct division *division, size_t *parts)
{
	int error = 0;

	*parts = 0;
	for (size_t c = 0; c < division->whole->pmu->box_count && !error; c++) {
		size_t here;

		if (!is_component(division, c))
			continue;
		error = first_fit(division, c);
		here = parts_of(division, c);
		/* Fewer are of use only where other boxes need fewer too. */
		if (!error && here > *parts)
			error = improve(division, c, &here);
		if (here > *parts)
			*parts = here;
	}
	return error;
}

static void give_parts(const struct division *division)
{
	struct pmu_session *whole = division->whole;

	for (size_t b = 0; b < division->block_count; b++)
		for (size_t i = 0; i < whole->event_count; i++)
			if (is_member(whole, &division->blocks[b], &whole->events[i]))
				whole->events[i].part = division->blocks[b].part;
}

int divide_events(struct pmu_session *whole, struct pmu_ctx *ctx, size_t *parts)
{
	struct division division = {.whole = whole, .ctx = ctx, .left = DIVIDE_TRIALS_MAX};
	int error = 0;

	division.blocks = calloc(whole->event_count + 1, sizeof(*division.blocks));
	division.component_of = calloc(whole->pmu->box_count, sizeof(*division.component_of));
	if (!division.blocks || !division.component_of)
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for a group of events");
	if (!error) {
		make_blocks(&division);
		error = divide(&division, parts);
	}
	if (!error)
		give_parts(&division);
	for (size_t i = 0; i < division.trial_count; i++)
		pmu_session_free(division.trials[i]);
	free(division.trials);
	free(division.blocks);
	free(division.component_of);
	return error;
}
