/* What the system copies between programs and files: which lines it asks for, and who has them. */
#include "machine/copy.h"

#include "machine/state.h"
#include "machine_fixture.h"

#define DATA	   0x10000000ull
#define FILE_A	   7
#define PIPE	   9
#define PIPE_PAGES 16
#define PAGE	   4096ull
#define LINES	   128u
#define BYTES	   (LINES * 64ull)
#define NEIGHBOUR  1 /* of the same socket */

static void open_small(struct fixture *fixture)
{
	const struct pmu_machine desc = small_machine();

	fixture_up(fixture, &desc);
	enter_all(fixture);
	subscribe_to_all(fixture);
}

static void copy(struct fixture *fixture, unsigned core, bool reads, struct machine_copy copy)
{
	copy.reads = reads;
	copy.pages = copy.file == PIPE ? PIPE_PAGES : UINT64_MAX;
	fixture->count = 0;
	machine_copy(fixture->cores[core], &copy);
}

static void assert_requests(const struct fixture *fixture, size_t reads, size_t owns, size_t wholes)
{
	assert_int_equal(count_requests(fixture, REQUEST_READ_DATA), reads);
	assert_int_equal(count_requests(fixture, REQUEST_READ_OWN), owns);
	assert_int_equal(count_requests(fixture, REQUEST_OWN), wholes);
}

static void reading_owns_whole_lines_unread(void **unused)
{
	struct machine_statistics statistics;
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	copy(&fixture, 0, true, (struct machine_copy){FILE_A, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, LINES, 0, LINES);
	machine_statistics(fixture.machine, &statistics);
	assert_int_equal(statistics.loads, BYTES / MACHINE_STRING_BYTES);
	assert_int_equal(statistics.stores, BYTES / MACHINE_STRING_BYTES);
	assert_int_equal(statistics.instructions, 0);
	/* The program's memory is the core's own now; the next pages of the file are not. */
	copy(&fixture, 0, true,
	     (struct machine_copy){FILE_A, .offset = BYTES, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, LINES, 0, 0);
	copy(&fixture, 0, true,
	     (struct machine_copy){FILE_A, .offset = BYTES, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, 0, 0, 0);
	fixture_down(&fixture);
}

static void parts_of_lines_are_read_to_own(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	/* Of two lines of the file into parts of two lines. */
	copy(&fixture, 0, true,
	     (struct machine_copy){FILE_A, .offset = 30, .address = DATA + 10, .bytes = 66});
	assert_requests(&fixture, 2, 2, 0);
	fixture_down(&fixture);
}

static void processes_share_what_was_written(void **unused)
{
	struct machine_address_space *other;
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	machine_hart_leave(fixture.cores[NEIGHBOUR]);
	assert_int_equal(machine_address_space_new(&other, fixture.machine), 0);
	fixture.cores[NEIGHBOUR] = machine_hart_enter(fixture.machine, other, 0);
	copy(&fixture, 0, false, (struct machine_copy){FILE_A, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, LINES, 0, LINES);
	copy(&fixture, NEIGHBOUR, true,
	     (struct machine_copy){FILE_A, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, LINES, 0, LINES);
	/* The file's lines come from the core that wrote them. */
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_MEMORY_READ, 0), 0);
	machine_hart_leave(fixture.cores[NEIGHBOUR]);
	fixture.cores[NEIGHBOUR] = NULL;
	machine_address_space_free(other);
	fixture_down(&fixture);
}

static void nothing_keeps_what_has_no_file(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	copy(&fixture, 0, true,
	     (struct machine_copy){MACHINE_NO_FILE, .address = DATA, .bytes = BYTES});
	assert_requests(&fixture, 0, 0, LINES);
	copy(&fixture, 0, false,
	     (struct machine_copy){MACHINE_NO_FILE, .address = DATA + BYTES, .bytes = BYTES});
	assert_requests(&fixture, LINES, 0, 0);
	fixture_down(&fixture);
}

static void a_pipe_has_few_pages(void **unused)
{
	const uint64_t lines = PIPE_PAGES * PAGE / 64;
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	copy(&fixture, 0, false,
	     (struct machine_copy){PIPE, .address = DATA, .bytes = PIPE_PAGES * PAGE});
	assert_requests(&fixture, lines, 0, lines);
	copy(&fixture, 0, false,
	     (struct machine_copy){PIPE, .offset = PIPE_PAGES * PAGE, .address = DATA,
				   .bytes = PAGE});
	assert_requests(&fixture, 0, 0, 0);
	fixture_down(&fixture);
}

static void the_oldest_pages_are_used_again(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_small(&fixture);
	for (uint64_t page = 0; page < 2 * PAGE_CACHE_PAGES; page++)
		copy(&fixture, 0, false,
		     (struct machine_copy){FILE_A, .offset = page * PAGE, .address = DATA,
					   .bytes = 8});
	assert_in_range(fixture.machine->state->next_frame[0], PAGE_CACHE_PAGES / 2,
			PAGE_CACHE_PAGES + 1);
	/* The last one is still there. */
	copy(&fixture, 0, true,
	     (struct machine_copy){FILE_A, .offset = (2 * PAGE_CACHE_PAGES - 1) * PAGE,
				   .address = DATA, .bytes = 8});
	assert_requests(&fixture, 0, 0, 0);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reading_owns_whole_lines_unread),
	    cmocka_unit_test(parts_of_lines_are_read_to_own),
	    cmocka_unit_test(processes_share_what_was_written),
	    cmocka_unit_test(nothing_keeps_what_has_no_file),
	    cmocka_unit_test(a_pipe_has_few_pages),
	    cmocka_unit_test(the_oldest_pages_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
