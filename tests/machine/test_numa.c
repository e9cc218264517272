/* Policies of pages: a list of ranges against a table of pages; and what becomes of pages. */
#include "catalog/entries.h"
#include "machine/machine_fixture.h"
#include "machine/numa.h"
#include "support/random.h"

#define FAR    (UINT64_C(1) << 34)
#define PAGES  64
#define ROUNDS 20000

static struct machine_memory_policy policy_of(unsigned number)
{
	static const struct machine_memory_policy policies[] = {
	    {MACHINE_MEMORY_DEFAULT, 0, 0},
	    {MACHINE_MEMORY_BIND, 1, 2},
	    {MACHINE_MEMORY_BIND, 2, 2},
	    {MACHINE_MEMORY_INTERLEAVE, 3, 3},
	};

	return policies[number % 4];
}

static void check(struct machine_address_space *space, const struct machine_memory_policy *pages)
{
	for (unsigned page = 0; page < PAGES; page++) {
		const struct machine_memory_policy found = machine_range_at(space, page);

		assert_memory_equal(&found, &pages[page], sizeof(found));
	}
}

static void ranges_are_those_of_each_page(void **state)
{
	struct machine_memory_policy pages[PAGES] = {{0}};
	struct machine_address_space *copy;
	struct fixture fixture;
	uint64_t random = 1;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	for (unsigned round = 0; round < ROUNDS; round++) {
		const unsigned first = next_random(&random) % PAGES,
			       count = 1 + next_random(&random) % (PAGES - first);
		const struct machine_memory_policy policy = policy_of(next_random(&random) % 4);

		assert_true(machine_range_set(fixture.space, first, count, policy));
		for (unsigned page = first; page < first + count; page++)
			pages[page] = policy;
		check(fixture.space, pages);
	}
	assert_int_equal(machine_address_space_new(&copy, fixture.machine), 0);
	assert_true(machine_range_copy(copy, fixture.space));
	check(copy, pages);
	machine_address_space_free(copy);
	fixture_down(&fixture);
}

static void pages_are_where_they_are_put(void **state)
{
	const uint8_t swapped[] = {1, 0};
	struct fixture fixture;
	struct machine_hart *hart;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	hart = machine_hart_enter(fixture.machine, fixture.space, 0);
	assert_non_null(hart);
	assert_int_equal(machine_page_node(fixture.space, 7), -1);
	assert_int_equal(machine_page_touch(hart, fixture.space, 7), 0);
	machine_page_move(fixture.space, 7, 1);
	assert_int_equal(machine_page_node(fixture.space, 7), 1);
	machine_page_move(fixture.space, 8, 1);
	assert_int_equal(machine_page_node(fixture.space, 8), -1);
	machine_hart_set_memory(hart, policy_of(3));
	assert_int_equal(machine_hart_next_node(hart), 0);
	assert_int_equal(machine_page_touch(hart, fixture.space, 8), 0);
	assert_int_equal(machine_hart_next_node(hart), 1);
	assert_int_equal(machine_page_touch(hart, fixture.space, UINT64_C(1) << 35), 1);
	machine_pages_migrate(fixture.space, swapped);
	assert_int_equal(machine_page_node(fixture.space, 7), 0);
	assert_int_equal(machine_page_node(fixture.space, 8), 1);
	assert_int_equal(machine_page_node(fixture.space, UINT64_C(1) << 35), 0);
	machine_pages_forget(fixture.space, 8, (UINT64_C(1) << 35) - 8);
	assert_int_equal(machine_page_node(fixture.space, 7), 0);
	assert_int_equal(machine_page_node(fixture.space, 8), -1);
	assert_int_equal(machine_page_node(fixture.space, UINT64_C(1) << 35), 0);
	machine_hart_leave(hart);
	fixture_down(&fixture);
}

/* Frames go along, and what the new addresses had comes back in their place. */
static void frames_go_with_moved_pages(void **state)
{
	struct fixture fixture;
	struct machine_hart *hart;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	hart = machine_hart_enter(fixture.machine, fixture.space, 0);
	assert_non_null(hart);
	for (uint64_t page = 1; page < 4; page++)
		machine_page_touch(hart, fixture.space, page);
	machine_page_move(fixture.space, 2, 1);
	machine_page_touch(hart, fixture.space, FAR + 1);
	machine_pages_move(hart, fixture.space, 1, 2, FAR);
	assert_int_equal(machine_page_node(fixture.space, FAR), 0);
	assert_int_equal(machine_page_node(fixture.space, FAR + 1), 1);
	assert_int_equal(machine_page_node(fixture.space, FAR + 2), -1);
	assert_int_equal(machine_page_node(fixture.space, 1), -1);
	assert_int_equal(machine_page_node(fixture.space, 2), 0);
	assert_int_equal(machine_page_node(fixture.space, 3), 0);
	machine_hart_leave(hart);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_are_those_of_each_page),
	    cmocka_unit_test(pages_are_where_they_are_put),
	    cmocka_unit_test(frames_go_with_moved_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
