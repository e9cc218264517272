#include "session/banks.h"

#include <string.h>

#include "session/matching.h"

#define NO_BANK UINT8_MAX

struct search {
	const struct banks_wish *wish;
	uint32_t allowed[MATCHING_COUNTERS_MAX];
	uint8_t bank[MATCHING_COUNTERS_MAX]; /* of each event, or NO_BANK */
	uint8_t *counter;
};

static bool in_a_set(const struct pmu_selection *selection)
{
	return selection->event && *selection->event->set_group;
}

static bool in_group(const struct pmu_selection *selection, const char *group)
{
	return in_a_set(selection) && !strcmp(selection->event->set_group, group);
}

/* Whether @bank can count both at the same time. */
static bool agree(const struct pmu_bank *bank, const struct pmu_selection *a,
		  const struct pmu_selection *b)
{
	return a->event->set == b->event->set &&
	       !((pmu_event_control(a) ^ pmu_event_control(b)) & bank->shared);
}

/* One event of each bank in use goes to its lead; the rest is free matching. */
static bool place_leads(struct search *search, size_t bank)
{
	const struct banks_wish *wish = search->wish;
	const uint32_t lead = bank < wish->box->bank_count ? 1u << wish->box->banks[bank].lead : 0;
	bool used = false;

	if (bank == wish->box->bank_count) {
		uint64_t blame;

		return matching_find(search->allowed, wish->count, search->counter, &blame);
	}
	for (size_t i = 0; i < wish->count; i++) {
		uint32_t kept = search->allowed[i];

		if (search->bank[i] != bank)
			continue;
		used = true;
		if (!(kept & lead))
			continue;
		search->allowed[i] = lead;
		if (place_leads(search, bank + 1))
			return true;
		search->allowed[i] = kept;
	}
	return !used && place_leads(search, bank + 1);
}

static bool fits(const struct search *search, size_t bank, size_t item)
{
	const struct banks_wish *wish = search->wish;

	for (size_t i = 0; i < item; i++)
		if (search->bank[i] == bank &&
		    !agree(&wish->box->banks[bank], wish->selections[i], wish->selections[item]))
			return false;
	return true;
}

/* Few banks and few counters in them: all ways are tried. */
static bool place_in_banks(struct search *search, size_t item)
{
	const struct banks_wish *wish = search->wish;

	if (item == wish->count)
		return place_leads(search, 0);
	search->bank[item] = NO_BANK;
	search->allowed[item] = wish->allowed[item];
	if (!in_a_set(wish->selections[item]))
		return place_in_banks(search, item + 1);
	for (uint8_t b = 0; b < wish->box->bank_count; b++) {
		const struct pmu_bank *bank = &wish->box->banks[b];

		if (!in_group(wish->selections[item], bank->group) || !fits(search, b, item))
			continue;
		search->bank[item] = b;
		search->allowed[item] = wish->allowed[item] & bank->counters;
		if (search->allowed[item] && place_in_banks(search, item + 1))
			return true;
	}
	search->bank[item] = NO_BANK;
	return false;
}

bool banks_find(const struct banks_wish *wish, uint8_t *counter)
{
	struct search search = {.wish = wish, .counter = counter};

	return place_in_banks(&search, 0);
}

unsigned banks_of_group(const struct pmu_box *box, const char *group)
{
	unsigned count = 0;

	for (size_t b = 0; b < box->bank_count; b++)
		count += !strcmp(box->banks[b].group, group);
	return count;
}

/* Events of @bank's group that no earlier one agrees with. */
static unsigned kinds_wanted(const struct banks_wish *wish, const struct pmu_bank *bank)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < wish->count; i++) {
		bool fresh = in_group(wish->selections[i], bank->group);

		for (size_t j = 0; j < i && fresh; j++)
			fresh = !in_group(wish->selections[j], bank->group) ||
				!agree(bank, wish->selections[i], wish->selections[j]);
		kinds += fresh;
	}
	return kinds;
}

const char *banks_overfull(const struct banks_wish *wish)
{
	for (size_t b = 0; b < wish->box->bank_count; b++) {
		const struct pmu_bank *bank = &wish->box->banks[b];

		if (kinds_wanted(wish, bank) > banks_of_group(wish->box, bank->group))
			return bank->group;
	}
	return NULL;
}
