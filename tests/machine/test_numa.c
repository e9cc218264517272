/* Policies of pages: a list of ranges against a table of pages; and what becomes of pages. */
#include "catalog/entries.h"
#include "machine/address_space.h"
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
	machine_address_space_inherit(fixture.space);
	check(fixture.space, pages);
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

#define SPACES	   2
#define FILES	   3
#define FILE_PAGES 16

/* A page of a file, or of none. */
struct mapped {
	uint64_t file, page;
	bool is_private;
};

static void map_at_random(struct machine_address_space *space, struct mapped *pages,
			  uint64_t *random)
{
	const unsigned first = next_random(random) % PAGES,
		       count = 1 + next_random(random) % (PAGES - first);
	const uint64_t file = next_random(random) % (FILES + 1);
	const uint64_t page = next_random(random) % (FILE_PAGES + 1);
	const bool is_private = next_random(random) % 2;

	if (file)
		machine_range_share(space, first, count,
				    (struct machine_file_range){file, page, is_private});
	else
		machine_range_unshare(space, first, count);
	for (unsigned i = 0; i < count; i++)
		pages[first + i] =
		    file ? (struct mapped){file, page + i, is_private} : (struct mapped){0};
}

static void make_writable_at_random(struct machine_address_space *space, struct mapped *pages,
				    uint64_t *random)
{
	const unsigned first = next_random(random) % PAGES,
		       count = 1 + next_random(random) % (PAGES - first);

	machine_range_writable(space, first, count);
	for (unsigned i = first; i < first + count; i++)
		if (pages[i].is_private)
			pages[i] = (struct mapped){0};
}

/* The frames of pages, which are those of a file in all spaces, or a page's own. */
static void check_frames(struct machine_hart *hart, struct machine_address_space *const *spaces,
			 const struct mapped (*pages)[PAGES])
{
	static uint32_t frames[SPACES][PAGES];

	for (unsigned i = 0; i < SPACES * PAGES; i++)
		frames[i / PAGES][i % PAGES] =
		    address_space_frame(spaces[i / PAGES], i % PAGES, hart);
	for (unsigned i = 0; i < SPACES * PAGES; i++)
		for (unsigned j = 0; j < i; j++) {
			const struct mapped *a = &pages[i / PAGES][i % PAGES],
					    *b = &pages[j / PAGES][j % PAGES];
			const bool same = a->file && a->file == b->file && a->page == b->page;

			assert_int_equal(
			    frames[i / PAGES][i % PAGES] == frames[j / PAGES][j % PAGES], same);
		}
}

static void pages_of_files_are_shared(void **state)
{
	struct mapped pages[SPACES][PAGES] = {0};
	struct machine_address_space *spaces[SPACES];
	struct fixture fixture;
	struct machine_hart *hart;
	struct machine_file_range file;
	uint64_t random = 1;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	hart = machine_hart_enter(fixture.machine, fixture.space, 0);
	spaces[0] = fixture.space;
	assert_int_equal(machine_address_space_new(&spaces[1], fixture.machine), 0);
	for (unsigned round = 0; round < 200; round++) {
		const unsigned space = next_random(&random) % SPACES;

		map_at_random(spaces[space], pages[space], &random);
		check_frames(hart, spaces, (const struct mapped(*)[PAGES])pages);
		make_writable_at_random(spaces[space], pages[space], &random);
		check_frames(hart, spaces, (const struct mapped(*)[PAGES])pages);
	}
	machine_range_share(spaces[0], 0, PAGES, (struct machine_file_range){1, 5, false});
	assert_true(machine_range_file(spaces[0], 3, &file));
	assert_int_equal(file.file, 1);
	assert_int_equal(file.page, 8);
	assert_false(machine_range_file(spaces[0], PAGES, &file));
	machine_address_space_free(spaces[1]);
	machine_hart_leave(hart);
	fixture_down(&fixture);
}

struct access {
	unsigned page;
	bool writes;
	uint32_t frame; /* as address_space_access() has it */
	struct address_fill fill;
};

static struct access access_at_random(struct machine_address_space *space,
				      struct machine_hart *hart, uint64_t *random)
{
	struct access access = {.page = next_random(random) % PAGES};

	access.writes = next_random(random) % 4 == 0;
	access.frame = address_space_access(space, access.page, hart, access.writes, &access.fill);
	return access;
}

static void assert_fill(const struct address_fill *fill, uint32_t count, uint32_t first)
{
	assert_int_equal(fill->count, count);
	if (count)
		assert_int_equal(fill->first, first);
}

/* Loads and stores of pages at random, against what a fork's are: those of files stay, others are
 * its parent's until they are written, and then copies. */
static void check_fork(bool fills)
{
	struct machine_file_range file = {1, 0, false};
	uint32_t before[PAGES], own[PAGES] = {0};
	struct fixture fixture;
	struct machine_hart *hart;
	uint64_t random = 1;

	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	if (fills)
		machine_set_kernel_io(fixture.machine);
	hart = machine_hart_enter(fixture.machine, fixture.space, 0);
	machine_range_share(fixture.space, 0, PAGES / 4, file);
	for (unsigned page = 0; page < PAGES; page++)
		before[page] = address_space_frame(fixture.space, page, hart);
	machine_address_space_inherit(fixture.space);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct access access = access_at_random(fixture.space, hart, &random);
		const uint32_t frame = access.frame;
		const unsigned page = access.page;
		bool copied = false;

		if (page < PAGES / 4) {
			assert_int_equal(frame, before[page]);
		} else if (own[page]) {
			assert_int_equal(frame, own[page]);
		} else if (!access.writes) {
			assert_int_equal(frame, before[page] | ADDRESS_INHERITED);
		} else {
			for (unsigned other = 0; other < PAGES; other++)
				assert_true(frame != before[other] && frame != own[other]);
			own[page] = frame;
			copied = fills;
		}
		assert_fill(&access.fill, copied, frame);
		if (copied) {
			assert_true(access.fill.copies);
			assert_int_equal(access.fill.from, before[page]);
		}
		assert_int_equal(machine_page_node(fixture.space, page), 0);
	}
	machine_hart_leave(hart);
	fixture_down(&fixture);
}

static void a_fork_has_pages_until_it_writes_them(void **state)
{
	(void)state;
	check_fork(false);
	check_fork(true);
}

/* The same of new pages: anonymous ones are that of zeros until they are written, others their own
 * from the first touch on. */
static void new_pages_are_cleared(void **state)
{
	uint32_t zeros = 0, own[PAGES] = {0};
	struct fixture fixture;
	struct machine_hart *hart;
	uint64_t random = 1;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	machine_set_kernel_io(fixture.machine);
	hart = machine_hart_enter(fixture.machine, fixture.space, 0);
	machine_range_anonymous(fixture.space, 0, PAGES / 2, true);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct access access = access_at_random(fixture.space, hart, &random);
		const uint32_t frame = access.frame;
		const unsigned page = access.page;
		const bool is_new = !own[page] && (access.writes || page >= PAGES / 2);

		assert_fill(&access.fill, is_new, frame);
		assert_false(is_new && access.fill.copies);
		if (is_new) {
			for (unsigned other = 0; other < PAGES; other++)
				assert_true(frame + 1 != own[other]);
			assert_true((frame | ADDRESS_INHERITED) != zeros);
			own[page] = frame + 1;
		} else if (own[page]) {
			assert_int_equal(frame + 1, own[page]);
		} else {
			assert_true(frame & ADDRESS_INHERITED);
			assert_true(!zeros || frame == zeros);
			zeros = frame;
		}
	}
	machine_hart_leave(hart);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_are_those_of_each_page),
	    cmocka_unit_test(pages_are_where_they_are_put),
	    cmocka_unit_test(frames_go_with_moved_pages),
	    cmocka_unit_test(pages_of_files_are_shared),
	    cmocka_unit_test(a_fork_has_pages_until_it_writes_them),
	    cmocka_unit_test(new_pages_are_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
