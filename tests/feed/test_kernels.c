/* The kernels' traffic, from their definitions: what a step does, and each line missing once. */
#include "feed/kernels.h"
#include "fixture.h"

#define DATA  0x10000000
#define BYTES ((uint64_t)1 << 20) /* beyond L2 */
#define LINES (BYTES / 64)

static void run_once(const struct fixture *fixture, const char *name, uint64_t stride,
		     struct machine_statistics *stats)
{
	struct feed_arrays arrays = {.address = DATA, .bytes = BYTES, .stride = stride};
	const struct feed_kernel *kernel = feed_kernel_find(name);
	struct machine_hart *core;

	assert_non_null(kernel);
	core = machine_hart_enter(fixture->machine, fixture->space, 0);
	feed_kernel_run(kernel, fixture->machine, core, &arrays);
	machine_hart_leave(core);
	machine_drain(fixture->machine);
	machine_statistics(fixture->machine, stats);
}

/* Accesses follow from the table for every kernel; lines are 64 bytes, elements 8. */
static void accesses(void **state)
{
	struct feed_arrays arrays = {.address = DATA, .bytes = BYTES, .stride = 4096};
	size_t count;
	const struct feed_kernel *kernels = feed_kernels(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct feed_kernel *kernel = &kernels[i];
		uint64_t steps = feed_kernel_steps(kernel, &arrays);
		struct machine_statistics stats;
		void *fixture = NULL;

		fixture_up(&fixture);
		run_once(fixture, kernel->name, arrays.stride, &stats);
		assert_int_equal(stats.instructions, steps * kernel->instructions);
		assert_int_equal(stats.loads, steps * kernel->loads);
		assert_int_equal(stats.stores, steps * kernel->stores);
		assert_int_equal(stats.nt_stores, steps * kernel->streams);
		fixture_down(&fixture);
	}
}

/* Reads of memory: every line of the arrays once, and the line of code. */
static void lines_read(void **state)
{
	static const struct {
		const char *name;
		uint64_t stride, lines;
	} expected[] = {
	    {"load", 0, LINES},		  {"store", 0, LINES},	      {"copy", 0, 2 * LINES},
	    {"update", 0, LINES},	  {"triad", 0, 3 * LINES},    {"chase", 0, LINES},
	    {"stride", 64, LINES},	  {"stride", 256, LINES / 4}, {"stride", 8, LINES},
	    {"stride", 4096, LINES / 64},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct machine_statistics stats;
		void *fixture = NULL;

		fixture_up(&fixture);
		run_once(fixture, expected[i].name, expected[i].stride, &stats);
		assert_int_equal(stats.l1d_misses, expected[i].lines);
		assert_int_equal(stats.l1i_misses, 1);
		assert_int_equal(stats.home_reads, expected[i].lines + 1);
		fixture_down(&fixture);
	}
}

/* A stream writes every line whole and reads none; the code is read. */
static void lines_streamed(void **state)
{
	struct machine_statistics stats;

	run_once(*state, "stream", 0, &stats);
	assert_int_equal(stats.home_owns, LINES);
	assert_int_equal(stats.home_writes, LINES);
	assert_int_equal(stats.home_reads, 1);
	assert_int_equal(stats.cas_writes, LINES);
	assert_int_equal(stats.cas_reads, 1);
}

static void unknown_name(void **state)
{
	(void)state;
	assert_null(feed_kernel_find("no such kernel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(accesses),
	    cmocka_unit_test(lines_read),
	    cmocka_unit_test_setup_teardown(lines_streamed, fixture_up, fixture_down),
	    cmocka_unit_test(unknown_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
