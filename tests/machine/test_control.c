/* What programs do to caches on purpose: where the lines are then, and what was asked for. */
#include "machine_fixture.h"

#define DATA	 0x10000000ull
#define LINES	 32u
#define SOCKET_1 2 /* the first core of socket 1 */

/* The first page touched has frame 0; nothing is outstanding. */
static void open_touched(struct fixture *fixture)
{
	const struct pmu_machine desc = small_machine();

	fixture_up(fixture, &desc);
	enter_all(fixture);
	machine_load(fixture->cores[0], DATA + 4096 - 64, 8, &plain);
	subscribe_to_all(fixture);
	fixture->count = 0;
}

static char peek(const struct fixture *fixture, enum machine_level level, unsigned unit,
		 unsigned line)
{
	return machine_peek(fixture->machine, level, unit, line * 64ull);
}

static void prefetch(struct fixture *fixture, unsigned line, enum machine_hint hint)
{
	machine_prefetch(fixture->cores[0], DATA + line * 64ull, hint, &plain);
}

/* All cores are beyond what is outstanding. */
static void settle(struct fixture *fixture)
{
	for (unsigned i = 0; i < 4; i++)
		machine_hart_sleep(fixture->cores[i], 100000000);
}

static size_t memory_writes(const struct fixture *fixture)
{
	return count_signals(fixture, SIGNAL_HOME_MEMORY_WRITE, 0);
}

static void prefetched_lines_are_there(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	for (unsigned line = 0; line < LINES; line++) {
		prefetch(&fixture, line, MACHINE_HINT_L1);
		assert_int_equal(peek(&fixture, MACHINE_L1D, 0, line), 'E');
		assert_int_equal(peek(&fixture, MACHINE_L2, 0, line), 'E');
	}
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA), LINES);
	settle(&fixture);
	for (unsigned line = 0; line < LINES; line++) {
		machine_load(fixture.cores[0], DATA + line * 64ull, 8, &plain);
		prefetch(&fixture, line, MACHINE_HINT_L1);
	}
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA), LINES);
	fixture_down(&fixture);
}

/* Ticks that a load takes, and a locked access behind it that waits for it. */
static uint64_t time_load(struct fixture *fixture, unsigned line)
{
	static const struct machine_insn insn = {.loads_registers = 1};
	const uint64_t begin = machine_hart_time(fixture->cores[0]);

	machine_load(fixture->cores[0], DATA + line * 64ull, 8, &insn);
	machine_locked(fixture->cores[0], DATA + 4096 - 64, 8, &plain);
	return machine_hart_time(fixture->cores[0]) - begin;
}

/* Nobody waits for a prefetch; who loads the line then waits for what is left. */
static void a_load_waits_for_its_prefetch(void **unused)
{
	struct fixture fixture;
	uint64_t begin, hit, soon, later;

	(void)unused;
	open_touched(&fixture);
	machine_locked(fixture.cores[0], DATA + 4096 - 64, 8, &plain);
	settle(&fixture);
	hit = time_load(&fixture, 63);
	begin = machine_hart_time(fixture.cores[0]);
	prefetch(&fixture, 0, MACHINE_HINT_L1);
	assert_int_equal(machine_hart_time(fixture.cores[0]), begin);
	soon = time_load(&fixture, 0);
	prefetch(&fixture, 1, MACHINE_HINT_L1);
	settle(&fixture);
	later = time_load(&fixture, 1);
	assert_int_equal(later, hit);
	/* Memory is ten times as far as what a locked access takes by itself, or nearly. */
	assert_in_range(soon, 5 * hit, 100 * hit);
	fixture_down(&fixture);
}

static void of_l2_alone(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	prefetch(&fixture, 3, MACHINE_HINT_L2);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0, 3), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L2, 0, 3), 'E');
	prefetch(&fixture, 3, MACHINE_HINT_L2);
	machine_load(fixture.cores[0], DATA + 3 * 64, 8, &plain);
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA), 1);
	fixture_down(&fixture);
}

static void to_write_without_having_written(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	machine_load(fixture.cores[1], DATA, 8, &plain);
	machine_load(fixture.cores[SOCKET_1], DATA, 8, &plain);
	prefetch(&fixture, 0, MACHINE_HINT_WRITE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0, 0), 'E');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, SOCKET_1, 0), 'I');
	assert_int_equal(count_requests(&fixture, REQUEST_READ_OWN), 1);
	prefetch(&fixture, 0, MACHINE_HINT_WRITE);
	machine_store(fixture.cores[0], DATA, 8, &plain);
	prefetch(&fixture, 0, MACHINE_HINT_WRITE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0, 0), 'M');
	assert_int_equal(count_requests(&fixture, REQUEST_READ_OWN), 1);
	fixture_down(&fixture);
}

/* Its page is not present: on the part the walk ends there. */
static void nothing_of_pages_never_touched(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	for (unsigned hint = MACHINE_HINT_L1; hint <= MACHINE_HINT_WRITE; hint++) {
		machine_prefetch(fixture.cores[0], 0, (enum machine_hint)hint, &plain);
		machine_prefetch(fixture.cores[0], UINT64_MAX - 63, (enum machine_hint)hint,
				 &plain);
	}
	assert_int_equal(fixture.count, 0);
	fixture_down(&fixture);
}

static void store(struct fixture *fixture, unsigned core, uint64_t address)
{
	machine_store(fixture->cores[core], address, 8, &plain);
	settle(fixture);
}

static void assert_nowhere(const struct fixture *fixture, unsigned line)
{
	for (unsigned core = 0; core < 4; core++) {
		assert_int_equal(peek(fixture, MACHINE_L1D, core, line), 'I');
		assert_int_equal(peek(fixture, MACHINE_L2, core, line), 'I');
	}
	assert_int_equal(peek(fixture, MACHINE_LLC, 0, line), 'I');
	assert_int_equal(peek(fixture, MACHINE_LLC, 1, line), 'I');
}

/* @param writes  lines that memory gets */
static void flush_by(struct fixture *fixture, unsigned core, unsigned line, size_t writes)
{
	const size_t before = memory_writes(fixture),
		     flushes = count_requests(fixture, REQUEST_FLUSH);

	settle(fixture);
	machine_flush(fixture->cores[core], DATA + line * 64ull + 8);
	assert_nowhere(fixture, line);
	assert_int_equal(memory_writes(fixture) - before, writes);
	assert_int_equal(count_requests(fixture, REQUEST_FLUSH) - flushes, 1);
}

static void flushed_lines_are_nowhere(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	flush_by(&fixture, 0, 0, 0); /* nobody has it */
	for (unsigned core = 0; core < 4; core++)
		machine_load(fixture.cores[core], DATA, 8, &plain);
	flush_by(&fixture, 0, 0, 0);
	for (unsigned owner = 0; owner < 4; owner++)
		for (unsigned flusher = 0; flusher < 4; flusher++) {
			store(&fixture, owner, DATA);
			flush_by(&fixture, flusher, 0, 1);
		}
	/* Modified in the LLC alone: displaced from L1 and L2 of core 0. */
	store(&fixture, 0, DATA);
	machine_load(fixture.cores[1], DATA, 8, &plain);
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0, 0), 'M');
	flush_by(&fixture, 0, 0, 1);
	fixture_down(&fixture);
}

/* rep stos of elements of @size bytes, as a feed passes it on. */
static void store_string(struct fixture *fixture, uint64_t begin, unsigned bytes, unsigned size)
{
	struct machine_hart *core = fixture->cores[0];

	for (uint64_t address = begin; address < begin + bytes; address += size) {
		if (address == begin || address % MACHINE_STRING_BYTES == 0)
			machine_store_string(core, address, &plain);
		if ((address + size) % 64 == 0)
			machine_string_line(core, address);
	}
	step(fixture, 0);
}

/* Whole lines are owned, parts of lines are read. */
static void strings_own_whole_lines(void **unused)
{
	static const struct {
		unsigned begin, bytes, size, whole, parts, pieces;
	} strings[] = {
	    {0, 64, 1, 1, 0, 2},   {0, 63, 1, 0, 1, 2},	   {1, 63, 1, 0, 1, 2},
	    {0, 8, 8, 0, 1, 1},	   {0, 640, 8, 10, 0, 20}, {8, 640, 8, 9, 2, 21},
	    {40, 100, 4, 1, 2, 4}, {32, 32, 4, 0, 1, 1},   {60, 72, 4, 1, 2, 4},
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct machine_statistics before, after;
		struct fixture fixture;

		open_touched(&fixture);
		machine_statistics(fixture.machine, &before);
		store_string(&fixture, DATA + strings[i].begin, strings[i].bytes, strings[i].size);
		machine_statistics(fixture.machine, &after);
		assert_int_equal(count_requests(&fixture, REQUEST_OWN), strings[i].whole);
		assert_int_equal(count_requests(&fixture, REQUEST_READ_OWN), strings[i].parts);
		assert_int_equal(after.stores - before.stores, strings[i].pieces);
		/* One fetch. */
		assert_int_equal(after.home_reads - before.home_reads, strings[i].parts + 1);
		assert_int_equal(after.home_owns - before.home_owns, strings[i].whole);
		if (strings[i].whole)
			assert_int_equal(peek(&fixture, MACHINE_L1D, 0, strings[i].begin ? 1 : 0),
					 'M');
		fixture_down(&fixture);
	}
}

/* What others have modified goes to memory, as nobody wants it. */
static void strings_take_lines_from_others(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_touched(&fixture);
	machine_store(fixture.cores[SOCKET_1], DATA, 8, &plain);
	machine_store(fixture.cores[1], DATA + 64, 8, &plain);
	store_string(&fixture, DATA, 128, 8);
	assert_int_equal(peek(&fixture, MACHINE_L1D, SOCKET_1, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 1, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1, 1), 'I');
	assert_int_equal(count_requests(&fixture, REQUEST_OWN), 2);
	assert_int_equal(memory_writes(&fixture), 1);
	/* That it has: no request. */
	store_string(&fixture, DATA, 128, 8);
	assert_int_equal(count_requests(&fixture, REQUEST_OWN), 2);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prefetched_lines_are_there),
	    cmocka_unit_test(a_load_waits_for_its_prefetch),
	    cmocka_unit_test(of_l2_alone),
	    cmocka_unit_test(to_write_without_having_written),
	    cmocka_unit_test(nothing_of_pages_never_touched),
	    cmocka_unit_test(flushed_lines_are_nowhere),
	    cmocka_unit_test(strings_own_whole_lines),
	    cmocka_unit_test(strings_take_lines_from_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
