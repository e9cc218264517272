/*
 * Conservation of what cores do: counts that a session read from each core's registers against what
 * the kernels are made of and against the machine's statistics. To the last count.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "bus/emulated.h"
#include "emul/block.h"
#include "feed/kernels.h"
#include "pmulab/session.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define PASSES	     2
#define ARRAY_BYTES  (2u << 20)
#define CHASE_BYTES  (1u << 20)
#define RANDOM_STEPS 100000
#define CORES_MAX    44
#define SHARED_BASE  0x40000000u
#define SHARED_BYTES (24u << 20)

enum counted {
	FIXED_INSTRUCTIONS,
	FIXED_CYCLES,
	FIXED_REFERENCE,
	INSTRUCTIONS,
	CYCLES,
	XCLK,
	REFERENCES,
	MISSES,
	BRANCHES,
	COUNTED,
};

static const char *const events[COUNTED] = {
    [FIXED_INSTRUCTIONS] = "core.INST_RETIRED.ANY",
    [FIXED_CYCLES] = "core.CPU_CLK_UNHALTED.THREAD",
    [FIXED_REFERENCE] = "core.CPU_CLK_UNHALTED.REF_TSC",
    [INSTRUCTIONS] = "core.INST_RETIRED.ANY_P",
    [CYCLES] = "core.CPU_CLK_UNHALTED.THREAD_P",
    [XCLK] = "core.CPU_CLK_THREAD_UNHALTED.REF_XCLK",
    [REFERENCES] = "core.LONGEST_LAT_CACHE.REFERENCE",
    [MISSES] = "core.LONGEST_LAT_CACHE.MISS",
    [BRANCHES] = "core.BR_INST_RETIRED.ALL_BRANCHES",
};

struct fixture {
	const struct pmu_machine *desc;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_statistics before, after;
	/* By core, numbered over all sockets. */
	uint64_t counts[COUNTED][CORES_MAX];
	uint64_t sums[COUNTED];
};

static void fixture_up(struct fixture *fixture, const char *machine)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->desc = pmu_find_machine(machine);
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	if (pmu_bus_emulated(&fixture->bus, fixture->ctx, fixture->desc) ||
	    pmu_session_new(&fixture->session, fixture->ctx, fixture->bus))
		fail_msg("%s", pmu_message(fixture->ctx));
	for (int i = 0; i < COUNTED; i++) {
		struct pmu_selection selection;

		if (pmu_event_parse(fixture->ctx, pmu_find_pmu(fixture->desc->pmu), events[i],
				    &selection) ||
		    pmu_session_add(fixture->session, fixture->ctx, &selection) != i)
			fail_msg("%s: %s", events[i], pmu_message(fixture->ctx));
	}
	fixture->machine = emul_machine(bus_emulated_emul(fixture->bus));
	switch_prefetchers_off(fixture->machine);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

static void fixture_down(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

static void start(struct fixture *fixture)
{
	machine_statistics(fixture->machine, &fixture->before);
	if (pmu_session_start(fixture->session, fixture->ctx))
		fail_msg("%s", pmu_message(fixture->ctx));
}

static void stop(struct fixture *fixture)
{
	const struct pmu_count *counts = NULL;
	size_t count = 0;

	if (pmu_session_stop(fixture->session, fixture->ctx) ||
	    pmu_session_read(fixture->session, fixture->ctx, &counts, &count))
		fail_msg("%s", pmu_message(fixture->ctx));
	machine_statistics(fixture->machine, &fixture->after);
	assert_int_equal(count, COUNTED * fixture->desc->sockets * fixture->desc->cores);
	for (size_t i = 0; i < count; i++) {
		unsigned core = counts[i].socket * fixture->desc->cores + counts[i].instance;

		fixture->counts[counts[i].event][core] = counts[i].count;
		fixture->sums[counts[i].event] += counts[i].count;
	}
}

static void check_statistics(const struct fixture *fixture)
{
	const struct machine_statistics *a = &fixture->before, *b = &fixture->after;
	const uint64_t *sums = fixture->sums;

	assert_int_equal(sums[FIXED_INSTRUCTIONS], b->instructions - a->instructions);
	assert_int_equal(sums[INSTRUCTIONS], sums[FIXED_INSTRUCTIONS]);
	assert_int_equal(sums[FIXED_CYCLES], b->cycles - a->cycles);
	assert_int_equal(sums[CYCLES], sums[FIXED_CYCLES]);
	assert_int_equal(sums[REFERENCES], b->l2_misses - a->l2_misses);
	assert_int_equal(sums[MISSES], b->llc_misses - a->llc_misses);
	assert_int_equal(sums[BRANCHES], b->branches - a->branches);
	/* The core runs at its nominal frequency, which the base clock divides. */
	assert_int_equal(sums[FIXED_REFERENCE], sums[CYCLES]);
	for (unsigned i = 0; i < fixture->desc->sockets * fixture->desc->cores; i++) {
		uint64_t ratio = fixture->desc->core_mhz / 100, cycles = fixture->counts[CYCLES][i];

		assert_in_range(fixture->counts[XCLK][i], cycles / ratio, cycles / ratio + 1);
	}
}

static struct feed_arrays arrays_of(const struct feed_kernel *kernel)
{
	return (struct feed_arrays){
	    .address = 0x10000000,
	    .bytes = strcmp(kernel->name, "chase") ? ARRAY_BYTES : CHASE_BYTES,
	    .stride = 256,
	};
}

static void run_passes(struct fixture *fixture, const struct feed_kernel *kernel,
		       struct machine_hart *core)
{
	const struct feed_arrays arrays = arrays_of(kernel);

	for (int pass = 0; pass < PASSES; pass++)
		feed_kernel_run(kernel, fixture->machine, core, &arrays);
}

/* Steps of the loop, each with so many instructions and one branch. */
static void check_kernel(const struct fixture *fixture, const struct feed_kernel *kernel,
			 unsigned core)
{
	const struct feed_arrays arrays = arrays_of(kernel);
	uint64_t steps = PASSES * feed_kernel_steps(kernel, &arrays);

	assert_int_equal(fixture->counts[INSTRUCTIONS][core], steps * kernel->instructions);
	assert_int_equal(fixture->counts[BRANCHES][core], steps);
}

/* Every kernel; what ran before and after the session is not in it. */
static void test_kernels(void **state)
{
	static const char *const machines[] = {"xeon-e5v4-4c", "xeon-e5-2699v4-2s"};
	const struct feed_kernel *kernels;
	size_t count;

	(void)state;
	kernels = feed_kernels(&count);
	for (size_t i = 0; i < 2 * count; i++) {
		const struct feed_kernel *kernel = &kernels[i / 2];
		struct machine_hart *core;
		struct fixture fixture;

		fixture_up(&fixture, machines[i % 2]);
		core = machine_hart_enter(fixture.machine, fixture.space, 0);
		feed_kernel_run(&kernels[0], fixture.machine, core,
				&(struct feed_arrays){.bytes = 640});
		start(&fixture);
		run_passes(&fixture, kernel, core);
		stop(&fixture);
		feed_kernel_run(&kernels[1], fixture.machine, core,
				&(struct feed_arrays){.bytes = 640});
		machine_hart_leave(core);
		check_statistics(&fixture);
		check_kernel(&fixture, kernel, 0);
		/* Only core 0 did anything. */
		for (int e = 0; e < COUNTED; e++)
			assert_int_equal(fixture.counts[e][0], fixture.sums[e]);
		fixture_down(&fixture);
	}
}

static void pause_all(struct machine_hart **cores, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		machine_hart_pause(cores[i]);
}

/* Each core counts its own: core i does its kernel i + 1 times. */
static void test_both_sockets(void **state)
{
	const struct feed_kernel *kernel = feed_kernel_find("copy");
	const struct feed_arrays arrays = {.address = 0x10000000, .bytes = 64 << 10};
	struct machine_hart *cores[CORES_MAX];
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5-2699v4-2s");
	for (unsigned i = 0; i < CORES_MAX; i++)
		cores[i] = machine_hart_enter(fixture.machine, fixture.space, 0);
	pause_all(cores, CORES_MAX);
	start(&fixture);
	for (unsigned i = 0; i < CORES_MAX; i++) {
		machine_hart_resume(cores[i]);
		for (unsigned pass = 0; pass <= i; pass++)
			feed_kernel_run(kernel, fixture.machine, cores[i], &arrays);
		machine_hart_pause(cores[i]);
	}
	stop(&fixture);
	check_statistics(&fixture);
	for (unsigned i = 0; i < CORES_MAX; i++)
		assert_int_equal(fixture.counts[FIXED_INSTRUCTIONS][i],
				 (i + 1) * kernel->instructions *
				     feed_kernel_steps(kernel, &arrays));
	for (unsigned i = 0; i < CORES_MAX; i++) {
		machine_hart_resume(cores[i]);
		machine_hart_leave(cores[i]);
	}
	fixture_down(&fixture);
}

/* Lines move between four cores of both sockets. */
static void test_random(void **state)
{
	static const struct machine_insn insn = {0};
	struct machine_hart *cores[CORES_MAX];
	uint64_t random = 88172645463325252;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5-2699v4-2s");
	for (unsigned i = 0; i < CORES_MAX; i++)
		cores[i] = machine_hart_enter(fixture.machine, fixture.space, 0);
	pause_all(cores, CORES_MAX);
	start(&fixture);
	for (unsigned i = 0; i < RANDOM_STEPS; i++) {
		uint64_t word = next_random(&random);
		struct machine_hart *core = cores[word % 4 * 14];
		uint64_t address = SHARED_BASE + (word >> 24) % SHARED_BYTES;

		machine_hart_resume(core);
		if (word & 1u << 21)
			machine_load(core, address & ~7ull, 8, &insn);
		else
			machine_store(core, address & ~7ull, 8, &insn);
		machine_hart_pause(core);
	}
	stop(&fixture);
	check_statistics(&fixture);
	for (unsigned i = 0; i < CORES_MAX; i++)
		assert_int_equal(fixture.counts[REFERENCES][i] > 1000, i % 14 == 0);
	for (unsigned i = 0; i < CORES_MAX; i++) {
		machine_hart_resume(cores[i]);
		machine_hart_leave(cores[i]);
	}
	fixture_down(&fixture);
}

static uint64_t msr(struct fixture *fixture, unsigned core, uint32_t address)
{
	struct pmon_access access = {
	    .socket = 0, .core = core, .space = PMU_SPACE_MSR, .address = address, .width = 64};
	uint64_t value;

	assert_int_equal(emul_read(bus_emulated_emul(fixture->bus), &access, &value), 0);
	return value;
}

/* TSC, MPERF, APERF: 325384. Time passes for all, cycles only where somebody runs. */
static void test_clocks(void **state)
{
	const struct feed_kernel *kernel = feed_kernel_find("chase");
	struct machine_hart *core;
	struct machine_statistics stats;
	uint64_t ticks;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	ticks = machine_ticks_per_second(fixture.machine) / (fixture.desc->core_mhz * 1000000ull);
	core = machine_hart_enter(fixture.machine, fixture.space, 5000000);
	run_passes(&fixture, kernel, core);
	machine_hart_leave(core);
	machine_drain(fixture.machine);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(msr(&fixture, 0, 0x10), machine_now(fixture.machine) / ticks);
	assert_int_equal(msr(&fixture, 3, 0x10), msr(&fixture, 0, 0x10));
	assert_int_equal(msr(&fixture, 0, 0xE7), stats.cycles);
	assert_int_equal(msr(&fixture, 0, 0xE8), stats.cycles);
	assert_int_equal(msr(&fixture, 3, 0xE7), 0);
	assert_true(msr(&fixture, 0, 0x10) >= stats.cycles + 5000000 / ticks);
	fixture_down(&fixture);
}

/* A count is right though the counter wraps between two reads. */
static void test_wrap(void **state)
{
	const struct feed_kernel *kernel = feed_kernel_find("load");
	const uint64_t preload = (1ull << 48) - 1000;
	const struct feed_arrays arrays = arrays_of(kernel);
	struct pmon_access access = {
	    .socket = 0, .core = 0, .space = PMU_SPACE_MSR, .address = 0x309, .width = 64};
	struct machine_hart *core;
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	start(&fixture);
	assert_int_equal(emul_write(bus_emulated_emul(fixture.bus), &access, preload), 0);
	run_passes(&fixture, kernel, core);
	stop(&fixture);
	machine_hart_leave(core);
	assert_int_equal(fixture.counts[FIXED_INSTRUCTIONS][0],
			 preload +
			     PASSES * feed_kernel_steps(kernel, &arrays) * kernel->instructions);
	fixture_down(&fixture);
}

static void *work(void *argument)
{
	struct fixture *fixture = argument;
	const struct feed_kernel *kernel = feed_kernel_find("copy");
	const struct feed_arrays arrays = {.address = 0x10000000, .bytes = 64 << 10};
	struct machine_hart *core = machine_hart_enter(fixture->machine, fixture->space, 0);

	for (int pass = 0; pass < 300; pass++) {
		feed_kernel_run(kernel, fixture->machine, core, &arrays);
		machine_hart_pause(core);
		machine_hart_resume(core);
	}
	machine_hart_leave(core);
	return NULL;
}

/* Who reads while threads run sees counters that only rise, and in the end all of it. */
static void test_looking_on(void **state)
{
	uint64_t last[2][3] = {{0}};
	pthread_t threads[2];
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	start(&fixture);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &fixture), 0);
	for (int i = 0; i < 20000; i++)
		for (unsigned core = 0; core < 2; core++)
			for (unsigned k = 0; k < 3; k++) {
				uint64_t value = msr(&fixture, core, 0x309 + k);

				assert_true(value >= last[core][k]);
				last[core][k] = value;
			}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	stop(&fixture);
	check_statistics(&fixture);
	assert_int_equal(fixture.sums[INSTRUCTIONS], 2 * 300 * (64 << 10) / 8 * 4);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kernels), cmocka_unit_test(test_both_sockets),
	    cmocka_unit_test(test_random),  cmocka_unit_test(test_clocks),
	    cmocka_unit_test(test_wrap),    cmocka_unit_test(test_looking_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
