/* What each prefetcher asks for, what that costs, and laws that hold with all of them. */
#include "machine_fixture.h"

#define PAGE_LINES 64u
#define DATA	   0x10000000ull
#define STREAM	   (1u << MACHINE_PREFETCH_STREAM)
#define ADJACENT   (1u << MACHINE_PREFETCH_ADJACENT)
#define NEXT	   (1u << MACHINE_PREFETCH_NEXT)
#define STRIDE	   (1u << MACHINE_PREFETCH_STRIDE)
#define ALL	   (STREAM | ADJACENT | NEXT | STRIDE)

/* One socket, whose core 0 prefetches; pages have the frames in which they are touched. */
static void open_with(struct fixture *fixture, uint32_t prefetchers)
{
	struct pmu_machine desc = small_machine();

	desc.sockets = 1;
	fixture_up(fixture, &desc);
	enter_all(fixture);
	machine_set_prefetchers(fixture->machine, 0, prefetchers);
	assert_int_equal(machine_prefetchers(fixture->machine, 0), prefetchers);
}

/* When everything is there that was asked for. */
static void settle(struct fixture *fixture)
{
	machine_hart_pause(fixture->cores[0]);
	machine_drain(fixture->machine);
	machine_hart_resume(fixture->cores[0]);
	machine_hart_sleep(fixture->cores[0],
			   24000 * machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_CORE));
}

static void load(struct fixture *fixture, uint64_t address)
{
	machine_load(fixture->cores[0], address, 8, &plain);
}

static void load_line(struct fixture *fixture, unsigned line)
{
	load(fixture, DATA + line * 64ull);
	settle(fixture);
}

/* Of the first page touched, which has frame 0. */
static char peek(const struct fixture *fixture, enum machine_level level, unsigned line)
{
	return machine_peek(fixture->machine, level, 0, line * 64ull);
}

static struct machine_statistics statistics(const struct fixture *fixture)
{
	struct machine_statistics stats;

	machine_statistics(fixture->machine, &stats);
	return stats;
}

static void assert_lines(const struct fixture *fixture, enum machine_level level, unsigned first,
			 unsigned count)
{
	for (unsigned line = first; line < first + count; line++)
		assert_int_not_equal(peek(fixture, level, line), 'I');
}

static void assert_no_lines(const struct fixture *fixture, enum machine_level level, unsigned first,
			    unsigned count)
{
	for (unsigned line = first; line < first + count; line++)
		assert_int_equal(peek(fixture, level, line), 'I');
}

static void nothing_where_all_are_off(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, 0);
	for (unsigned line = 0; line < 4 * PAGE_LINES; line++)
		load_line(&fixture, line);
	assert_int_equal(statistics(&fixture).l2_misses, 4 * PAGE_LINES);
	assert_int_equal(statistics(&fixture).llc_lookups, 4 * PAGE_LINES);
	assert_int_equal(statistics(&fixture).home_reads, 4 * PAGE_LINES);
	assert_int_equal(statistics(&fixture).l2_prefetches, 0);
	assert_int_equal(statistics(&fixture).llc_prefetches, 0);
	assert_int_equal(statistics(&fixture).l1d_prefetches, 0);
	fixture_down(&fixture);
}

/* One access a page, and then the other line of each pair: L2 holds 4096. */
static void adjacent_lines_complete_pairs(void **unused)
{
	const unsigned pages = 512;
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, ADJACENT);
	for (unsigned page = 0; page < pages; page++)
		load_line(&fixture, page * PAGE_LINES + page % PAGE_LINES);
	assert_int_equal(statistics(&fixture).l2_misses, pages);
	assert_int_equal(statistics(&fixture).l2_prefetches, pages);
	assert_int_equal(statistics(&fixture).home_reads, 2 * pages);
	for (unsigned page = 0; page < pages; page++)
		load_line(&fixture, page * PAGE_LINES + (page % PAGE_LINES ^ 1));
	assert_int_equal(statistics(&fixture).l2_misses, pages);
	assert_int_equal(statistics(&fixture).home_reads, 2 * pages);
	fixture_down(&fixture);
}

static void the_streamer_follows_both_directions(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, STREAM);
	load_line(&fixture, 8);
	load_line(&fixture, 9);
	assert_int_equal(statistics(&fixture).l2_prefetches, 0);
	load_line(&fixture, 10);
	assert_lines(&fixture, MACHINE_L2, 11, 2);
	assert_no_lines(&fixture, MACHINE_L2, 13, PAGE_LINES - 13);
	assert_no_lines(&fixture, MACHINE_L1D, 11, 2);
	load_line(&fixture, 11); /* that L2 has */
	assert_int_equal(statistics(&fixture).l2_misses, 3);
	assert_lines(&fixture, MACHINE_L2, 13, 2);
	assert_no_lines(&fixture, MACHINE_L2, 15, PAGE_LINES - 15);
	load_line(&fixture, 40);
	load_line(&fixture, 39);
	load_line(&fixture, 38);
	assert_lines(&fixture, MACHINE_L2, 36, 2);
	assert_no_lines(&fixture, MACHINE_L2, 41, PAGE_LINES - 41);
	assert_int_equal(statistics(&fixture).l2_prefetches, 6);
	fixture_down(&fixture);
}

/* A slow reader: two lines a request until the stream is its length ahead. */
static void a_stream_ends_with_its_length_and_its_page(void **unused)
{
	struct fixture fixture;
	unsigned ahead;

	(void)unused;
	open_with(&fixture, STREAM);
	ahead = fixture.desc.stream_lines;
	for (unsigned line = 0; line < 2 + ahead; line++)
		load_line(&fixture, line);
	assert_lines(&fixture, MACHINE_LLC, 0, 2 + 2 * ahead);
	assert_no_lines(&fixture, MACHINE_LLC, 2 + 2 * ahead, PAGE_LINES - 2 - 2 * ahead);
	assert_int_equal(statistics(&fixture).home_reads, 2 + 2 * ahead);
	/* What is far ahead, the LLC alone takes: nobody has it. */
	assert_int_equal(peek(&fixture, MACHINE_L2, 1 + 2 * ahead), 'I');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, (1 + 2 * ahead) * 64ull), 0);
	assert_in_range(statistics(&fixture).llc_prefetches, 1, ahead);
	for (unsigned line = 2 + ahead; line < PAGE_LINES; line++)
		load_line(&fixture, line);
	assert_int_equal(statistics(&fixture).home_reads, PAGE_LINES);
	fixture_down(&fixture);
}

static void stores_prefetch_for_ownership(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, STREAM);
	machine_load(fixture.cores[1], DATA + 3 * 64, 8, &plain);
	for (unsigned line = 0; line < 3; line++) {
		machine_store(fixture.cores[0], DATA + line * 64ull, 8, &plain);
		settle(&fixture);
	}
	assert_int_equal(peek(&fixture, MACHINE_L2, 3), 'E');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 1, 3 * 64ull), 'I');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, 3 * 64ull), 1);
	fixture_down(&fixture);
}

static void l1d_prefetches_the_line_behind(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, NEXT);
	load_line(&fixture, 20);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 21), 'I');
	load_line(&fixture, 21);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 22), 'E');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 23), 'I');
	load_line(&fixture, 19); /* downwards it does not go */
	assert_int_equal(peek(&fixture, MACHINE_L1D, 18), 'I');
	assert_int_equal(statistics(&fixture).l1d_prefetches, 1);
	assert_int_equal(statistics(&fixture).l1d_misses, 3);
	load_line(&fixture, PAGE_LINES - 2);
	load_line(&fixture, PAGE_LINES - 1); /* the page's last */
	assert_int_equal(statistics(&fixture).l1d_prefetches, 1);
	fixture_down(&fixture);
}

static void load_by(struct fixture *fixture, uint8_t place, uint64_t offset)
{
	machine_load(fixture->cores[0], DATA + offset, 8, &(struct machine_insn){.place = place});
	settle(fixture);
}

static void l1d_prefetches_by_steps_of_an_instruction(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, STRIDE);
	for (unsigned i = 0; i < 3; i++) { /* two instructions in turns */
		load_by(&fixture, 7, i * 256);
		load_by(&fixture, 8, 4032 - i * 320);
	}
	assert_int_equal(peek(&fixture, MACHINE_L1D, 3 * 256 / 64), 'E');
	assert_int_equal(peek(&fixture, MACHINE_L1D, (4032 - 3 * 320) / 64), 'E');
	assert_int_equal(statistics(&fixture).l1d_prefetches, 2);
	load_by(&fixture, 7, 128); /* another step */
	load_by(&fixture, 9, 0x1000);
	load_by(&fixture, 9, 0x1000 + 2112); /* too far */
	load_by(&fixture, 9, 0x1000 + 4224);
	load_by(&fixture, 9, 0x1000 + 6336);
	assert_int_equal(statistics(&fixture).l1d_prefetches, 2);
	fixture_down(&fixture);
}

/* Core cycles until a load, and all that the core waits for, is there. */
static uint64_t load_cycles(struct fixture *fixture, unsigned line)
{
	struct machine_hart *core = fixture->cores[0];
	const uint64_t begin = machine_hart_time(core);

	load(fixture, DATA + line * 64ull);
	machine_hart_pause_briefly(core);
	machine_hart_resume(core);
	return (machine_hart_time(core) - begin) /
	       machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_CORE);
}

static void sleep_cycles(struct fixture *fixture, uint64_t cycles)
{
	machine_hart_sleep(fixture->cores[0],
			   cycles * machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_CORE));
}

static uint64_t memory_cycles(void)
{
	struct fixture fixture;
	uint64_t cycles;

	open_with(&fixture, 0);
	cycles = load_cycles(&fixture, 0);
	fixture_down(&fixture);
	return cycles;
}

/* Line 3 is in L2, and its load makes L2 ask memory for line 5, which is loaded next. */
static uint64_t cycles_of_the_fifth(uint64_t after)
{
	struct fixture fixture;
	uint64_t cycles;

	open_with(&fixture, STREAM);
	for (unsigned line = 0; line < 3; line++)
		load_line(&fixture, line);
	assert_int_equal(load_cycles(&fixture, 3), fixture.desc.l2.latency);
	sleep_cycles(&fixture, after);
	cycles = load_cycles(&fixture, 5);
	assert_int_equal(statistics(&fixture).l2_misses, 3);
	fixture_down(&fixture);
	return cycles;
}

/* What is left of its request, and no more: the request leaves when line 3 is looked up. */
static void a_line_on_its_way_to_l2_is_waited_for(void **unused)
{
	const uint64_t memory = memory_cycles(), at_once = cycles_of_the_fifth(0);

	(void)unused;
	assert_true(memory > 150);
	assert_in_range(at_once, memory - 2 * small_machine().l2.latency, memory);
	assert_int_equal(cycles_of_the_fifth(50), at_once - 50);
	assert_int_equal(cycles_of_the_fifth(1000), small_machine().l2.latency);
}

/* A reader whose stream is far ahead: the LLC alone asks memory for the line that it reads next. */
static void a_line_on_its_way_to_the_llc_is_waited_for(void **unused)
{
	const unsigned last = 2 * small_machine().stream_lines + 1;
	struct fixture fixture;
	unsigned line;

	(void)unused;
	open_with(&fixture, STREAM);
	for (line = 0; peek(&fixture, MACHINE_LLC, last) == 'I'; line++) {
		settle(&fixture);
		load_cycles(&fixture, line);
	}
	assert_int_equal(peek(&fixture, MACHINE_L2, last), 'I');
	assert_in_range(load_cycles(&fixture, last), memory_cycles() - 2 * fixture.desc.l2.latency,
			memory_cycles());
	fixture_down(&fixture);
}

/* Line 2 is in L1D, and its load makes L1D ask for line 3, which is loaded next. */
static uint64_t cycles_of_the_third(uint64_t after, bool store)
{
	struct fixture fixture;
	uint64_t cycles;

	open_with(&fixture, NEXT);
	load_line(&fixture, 0);
	load_line(&fixture, 1);
	assert_int_equal(load_cycles(&fixture, 2), 0);
	sleep_cycles(&fixture, after);
	if (store)
		machine_store(fixture.cores[0], DATA + 3 * 64, 8, &plain);
	cycles = load_cycles(&fixture, 3);
	/* Three lines that were loaded or prefetched; the third; and the fourth, by its load. */
	assert_int_equal(statistics(&fixture).l2_misses, 5 - store);
	fixture_down(&fixture);
	return cycles;
}

static void a_line_on_its_way_to_l1d_is_waited_for(void **unused)
{
	const uint64_t memory = memory_cycles();

	(void)unused;
	assert_in_range(cycles_of_the_third(0, true), memory - 5, memory);
	assert_int_equal(cycles_of_the_third(50, true), cycles_of_the_third(0, true) - 50);
	assert_in_range(cycles_of_the_third(0, false), memory - 5, memory);
	assert_int_equal(cycles_of_the_third(1000, false), 0);
}

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return x[0] != y[0] ? (x[0] > y[0] ? 1 : -1) : (int)(x[1] - y[1]);
}

/* The most TOR entries that reads held at once. */
static int64_t most_at_once(const struct fixture *fixture)
{
	int64_t(*changes)[2] = calloc(2 * fixture->count, sizeof(*changes)), now = 0, most = 0;
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++) {
		const struct signal *signal = &fixture->signals[i];

		if (signal->id != SIGNAL_LLC_REQUEST || signal->request == REQUEST_NONE)
			continue;
		changes[count][0] = (int64_t)signal->time;
		changes[count++][1] = 1;
		changes[count][0] = (int64_t)(signal->time + signal->duration);
		changes[count++][1] = -1;
	}
	qsort(changes, count, sizeof(*changes), by_time);
	for (size_t i = 0; i < count; i++) {
		now += changes[i][1];
		most = now > most ? now : most;
	}
	free(changes);
	return most;
}

/* In order, as fast as it goes: memory reads each line once, and as many requests are outstanding
 * as the superqueue has. */
static void whole_pages_are_read_once(void **unused)
{
	const unsigned lines = 64 * PAGE_LINES, code = 2; /* a line and the other of its pair */
	struct machine_statistics stats;
	struct fixture fixture;

	(void)unused;
	open_with(&fixture, ALL);
	subscribe_to(&fixture, SIGNAL_LLC_REQUEST);
	for (unsigned line = 0; line < lines; line++)
		for (unsigned part = 0; part < 4; part++) {
			step(&fixture, 0);
			load(&fixture, DATA + line * 64ull + part * 16);
		}
	machine_drain(fixture.machine);
	stats = statistics(&fixture);
	assert_int_equal(stats.home_reads, lines + code);
	assert_int_equal(stats.cas_reads, lines + code);
	assert_int_equal(stats.llc_misses, lines + code);
	assert_int_equal(stats.llc_lookups,
			 stats.l2_misses + stats.l2_prefetches + stats.llc_prefetches);
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA) +
			     count_requests(&fixture, REQUEST_READ_CODE),
			 stats.l2_misses + stats.l2_prefetches);
	assert_int_equal(count_requests(&fixture, REQUEST_PREFETCH_DATA), stats.llc_prefetches);
	assert_true(stats.l2_prefetches > lines / 2);
	assert_in_range(most_at_once(&fixture), fixture.desc.superqueue_entries / 2,
			fixture.desc.superqueue_entries);
	fixture_down(&fixture);
}

/* By misses of the core, which has ten fill buffers, and by prefetches. */
static void the_superqueue_bounds_what_is_outstanding(void **unused)
{
	(void)unused;
	for (unsigned apart = 1; apart <= PAGE_LINES; apart += PAGE_LINES - 1) {
		struct pmu_machine desc = small_machine();
		struct fixture fixture;

		desc.sockets = 1;
		desc.superqueue_entries = 4;
		fixture_up(&fixture, &desc);
		enter_all(&fixture);
		machine_set_prefetchers(fixture.machine, 0, STREAM);
		subscribe_to(&fixture, SIGNAL_LLC_REQUEST);
		for (unsigned line = 0; line < 64; line++)
			load(&fixture, DATA + line * apart * 64ull);
		assert_int_equal(most_at_once(&fixture), 4);
		fixture_down(&fixture);
	}
}

/* A part of each page: no prefetch goes beyond the stream's length, a pair and a line of L1D. */
static void overshoot_is_bounded(void **unused)
{
	const unsigned pages = 64;

	(void)unused;
	for (unsigned lines = 1; lines < PAGE_LINES; lines += 6) {
		struct machine_statistics stats;
		struct fixture fixture;
		unsigned most;

		open_with(&fixture, ALL);
		for (unsigned page = 0; page < pages; page++)
			for (unsigned line = 0; line < lines; line++)
				load(&fixture, DATA + page * 4096ull + line * 64ull);
		machine_drain(fixture.machine);
		stats = statistics(&fixture);
		most = lines + fixture.desc.stream_lines + 2;
		most = most < PAGE_LINES ? most : PAGE_LINES;
		assert_in_range(stats.home_reads, pages * lines, pages * most);
		assert_int_equal(stats.cas_reads, stats.home_reads);
		fixture_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_where_all_are_off),
	    cmocka_unit_test(adjacent_lines_complete_pairs),
	    cmocka_unit_test(the_streamer_follows_both_directions),
	    cmocka_unit_test(a_stream_ends_with_its_length_and_its_page),
	    cmocka_unit_test(stores_prefetch_for_ownership),
	    cmocka_unit_test(l1d_prefetches_the_line_behind),
	    cmocka_unit_test(l1d_prefetches_by_steps_of_an_instruction),
	    cmocka_unit_test(a_line_on_its_way_to_l2_is_waited_for),
	    cmocka_unit_test(a_line_on_its_way_to_the_llc_is_waited_for),
	    cmocka_unit_test(a_line_on_its_way_to_l1d_is_waited_for),
	    cmocka_unit_test(whole_pages_are_read_once),
	    cmocka_unit_test(the_superqueue_bounds_what_is_outstanding),
	    cmocka_unit_test(overshoot_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
