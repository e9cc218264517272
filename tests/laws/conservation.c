#include "conservation.h"

#include <stdio.h>
#include <string.h>

#include "machine/access.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define RANDOM_STEPS 40000
#define SHARED_BYTES (2u << 20)

static size_t index_of(const struct counts *counts, const char *event)
{
	size_t i = 0;

	while (i < counts->count && strcmp(counts->events[i], event))
		i++;
	return i;
}

static void want(struct counts *counts, const char *const *events)
{
	for (int i = 0; i < TERMS_MAX && events[i]; i++) {
		if (index_of(counts, events[i]) < counts->count)
			continue;
		assert_true(counts->count < EVENTS_MAX);
		counts->events[counts->count++] = events[i];
	}
}

uint64_t sum(const struct counts *counts, const char *const *events)
{
	uint64_t total = 0;

	for (int i = 0; i < TERMS_MAX && events[i]; i++)
		total += counts->values[index_of(counts, events[i])];
	return total;
}

static void fixture_up(struct fixture *fixture, const struct pmu_machine *desc)
{
	*fixture = (struct fixture){.desc = desc};
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	if (pmu_bus_emulated(&fixture->bus, fixture->ctx, desc) ||
	    pmu_session_new(&fixture->session, fixture->ctx, fixture->bus))
		fail_msg("%s", pmu_message(fixture->ctx));
	fixture->machine = emul_machine(bus_emulated_emul(fixture->bus));
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

static void fixture_down(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

/* @return 0, or the session's error where the pack does not fit */
static int begin(struct fixture *fixture, const struct counts *counts, unsigned pack)
{
	size_t chosen = 0;

	for (size_t i = 0; i < counts->count; i++) {
		struct pmu_selection selection;
		int index;

		if (counts->packs[i] != pack)
			continue;
		if (pmu_event_parse(fixture->ctx, pmu_find_pmu(fixture->desc->pmu),
				    counts->events[i], &selection))
			fail_msg("%s: %s", counts->events[i], pmu_message(fixture->ctx));
		index = pmu_session_add(fixture->session, fixture->ctx, &selection);
		if (index < 0)
			return index;
		assert_int_equal(index, chosen);
		fixture->events[chosen++] = i;
	}
	return pmu_session_start(fixture->session, fixture->ctx);
}

static bool fits(const struct counts *counts, const struct pmu_machine *desc, unsigned pack)
{
	struct fixture fixture;
	int error;

	fixture_up(&fixture, desc);
	error = begin(&fixture, counts, pack);
	fixture_down(&fixture);
	return !error;
}

/* Each event goes to the first pack that has a counter and a filter for it. */
static void pack_events(struct counts *counts, const struct pmu_machine *desc)
{
	const size_t count = counts->count;

	for (size_t i = 0; i < count; i++) {
		counts->count = i + 1;
		counts->packs[i] = 0;
		while (!fits(counts, desc, counts->packs[i]))
			if (counts->packs[i]++ == counts->pack_count)
				fail_msg("%s fits nowhere", counts->events[i]);
		if (counts->packs[i] == counts->pack_count)
			counts->pack_count++;
	}
}

void choose_events(struct counts *counts, const struct rules *rules, const struct pmu_machine *desc)
{
	*counts = (struct counts){.count = 0};
	for (size_t i = 0; i < rules->law_count; i++) {
		want(counts, rules->laws[i].left);
		want(counts, rules->laws[i].right);
	}
	for (size_t i = 0; i < rules->witness_count; i++)
		want(counts, rules->witnesses[i].events);
	pack_events(counts, desc);
}

static void end(struct fixture *fixture, struct counts *counts)
{
	const struct pmu_count *values = NULL;
	size_t count = 0;

	machine_drain(fixture->machine);
	if (pmu_session_stop(fixture->session, fixture->ctx) ||
	    pmu_session_read(fixture->session, fixture->ctx, &values, &count))
		fail_msg("%s", pmu_message(fixture->ctx));
	for (size_t i = 0; i < count; i++)
		counts->values[fixture->events[values[i].event]] += values[i].count;
	machine_statistics(fixture->machine, &counts->stats);
}

void count_all(struct counts *counts, const struct pmu_machine *desc,
	       void (*drive)(struct fixture *fixture, const void *argument), const void *argument)
{
	struct fixture fixture;

	memset(counts->values, 0, sizeof(counts->values));
	for (unsigned pack = 0; pack < counts->pack_count; pack++) {
		fixture_up(&fixture, desc);
		if (begin(&fixture, counts, pack))
			fail_msg("%s", pmu_message(fixture.ctx));
		drive(&fixture, argument);
		end(&fixture, counts);
		fixture_down(&fixture);
	}
}

bool applies(const struct law *law, unsigned sockets)
{
	return law->relation != (sockets == 1 ? EQUAL_ON_TWO : EQUAL_ON_ONE);
}

static unsigned check_law(const struct counts *counts, const struct law *law, size_t number)
{
	uint64_t left = sum(counts, law->left), right = sum(counts, law->right);
	bool at_most = law->relation == AT_MOST ||
		       (law->relation == EQUAL_OF_DEMANDS && counts->stats.l2_prefetches);

	if (at_most ? left <= right : left == right)
		return 0;
	print_error("law %zu: %s...: %llu is not %s%llu\n", number, law->left[0],
		    (unsigned long long)left, at_most ? "at most " : "", (unsigned long long)right);
	return 1;
}

static unsigned check_witness(const struct counts *counts, const char *const *events,
			      size_t statistic)
{
	uint64_t found = sum(counts, events), reported;

	memcpy(&reported, (const char *)&counts->stats + statistic, sizeof(reported));
	if (found == reported)
		return 0;
	print_error("%s: %llu, the statistics say %llu\n", events[0], (unsigned long long)found,
		    (unsigned long long)reported);
	return 1;
}

void check_rules(const struct counts *counts, const struct rules *rules, unsigned sockets)
{
	unsigned broken = 0;

	for (size_t i = 0; i < rules->law_count; i++)
		if (applies(&rules->laws[i], sockets))
			broken += check_law(counts, &rules->laws[i], i);
	for (size_t i = 0; i < rules->witness_count; i++)
		broken += check_witness(counts, rules->witnesses[i].events,
					rules->witnesses[i].statistic);
	assert_int_equal(broken, 0);
}

uint64_t counted(const struct counts *counts, const char *event)
{
	return counts->values[index_of(counts, event)];
}

void expect(const struct counts *counts, const char *event, uint64_t expected)
{
	const uint64_t found = counted(counts, event);

	if (found != expected)
		fail_msg("%s: %llu, not %llu", event, (unsigned long long)found,
			 (unsigned long long)expected);
}

static void step_once(struct fixture *fixture, struct machine_hart *core, uint64_t word)
{
	static const struct machine_insn insn = {0};
	uint64_t offset = (word >> 24) % (word & 1u << 20 ? 64 << 10 : SHARED_BYTES) & ~63ull;
	struct machine_block block;

	switch (word >> 16 & 7) {
	case 0:
		machine_store_nt(core, DATA + offset, 8);
		break;
	case 1:
		machine_store_nt(core, DATA + offset, 64);
		break;
	case 2:
		machine_locked(core, DATA + offset, 8, &insn);
		break;
	case 3:
		machine_block_init(fixture->machine, &block, CODE + offset, 16, 4, 0, 0);
		machine_run(core, &block);
		break;
	case 4:
	case 5:
		machine_store(core, DATA + offset, 8, &insn);
		break;
	default:
		machine_load(core, DATA + offset, 8, &insn);
	}
}

void drive_random(struct fixture *fixture, const void *on)
{
	const unsigned cores = fixture->desc->sockets * fixture->desc->cores,
		       step = cores / CORES_USED;
	struct machine_hart *core[CORES_MAX];
	uint64_t random = 88172645463325252;

	set_all_prefetchers(fixture->machine, *(const uint32_t *)on);
	for (unsigned i = 0; i < cores; i++)
		core[i] = machine_hart_enter(fixture->machine, fixture->space, 0);
	for (unsigned i = 0; i < RANDOM_STEPS; i++) {
		uint64_t word = next_random(&random);

		step_once(fixture, core[word % CORES_USED * step], word);
	}
	for (unsigned i = 0; i < cores; i++)
		machine_hart_leave(core[i]);
}
