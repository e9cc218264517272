/*
 * The load and the store buffer, by the cycle: what is issued behind a miss, until a buffer is
 * full, and when it goes on. Blocks of a cycle each; the sizes are those of Intel 248966, 2.3.
 */
#include "machine_fixture.h"

#include "machine/address_space.h"
#include "machine/issue.h"
#include "machine/mshr.h"
#include "machine/uarch.h"
#include "support/random.h"

#define LOADS	 72u
#define STORES	 42u
#define REORDERS 192u
#define WIDTH	 4u
#define HIT	 0u	/* a line that is there, in M */
#define MISS	 0x800u /* lines that are not, of the same row */
#define CODE	 0x400000u

struct planned {
	struct fixture fixture;
	struct machine_hart *core;
	struct machine_plan *plan;
	uint64_t cycle, begin; /* ticks */
};

static const struct machine_op alu = {.timing = MACHINE_TIMING_ALU, .stepped = -1};
static const struct machine_op fence = {.timing = MACHINE_TIMING_FENCE_ALL, .stepped = -1};

/* A cycle's worth of instructions. What they access is up to the test. */
static struct machine_plan *block_of(const struct machine *machine, const struct machine_op *last)
{
	struct machine_plan *plan = aligned_alloc(64, (MACHINE_PLAN_BYTES_MAX + 63) / 64 * 64);
	const struct machine_op *const ops[WIDTH] = {&alu, &alu, &alu, last};
	struct machine_block block;

	assert_non_null(plan);
	machine_block_init(machine, &block, CODE, 16, WIDTH, 0, 0);
	machine_plan_make(plan, machine, &block, ops, WIDTH);
	return plan;
}

static void planned_up(struct planned *planned, const char *uarch)
{
	struct pmu_machine desc = *pmu_find_machine("xeon-e5v4-4c");
	struct fixture *fixture = &planned->fixture;

	desc.uarch = uarch;
	fixture_up(fixture, &desc);
	planned->core = fixture->cores[0] = machine_hart_enter(fixture->machine, fixture->space, 0);
	assert_non_null(planned->core);
	planned->cycle = machine_ticks_per_second(fixture->machine) / (desc.core_mhz * 1000000ull);
	planned->plan = block_of(fixture->machine, &alu);
	address_space_frame(fixture->space, 0, planned->core);
	machine_store(planned->core, HIT, 8, &plain);
	machine_run_planned(planned->core, planned->plan);
	machine_hart_pause(planned->core);
	machine_hart_resume(planned->core);
	planned->begin = machine_hart_time(planned->core);
}

static void planned_down(struct planned *planned)
{
	free(planned->plan);
	fixture_down(&planned->fixture);
}

/* A read of a line of the machine's only memory, whose row is open: docs/machine.md, "Time". */
static uint64_t memory_ticks(const struct fixture *fixture, uint64_t cycle)
{
	const struct pmu_machine *desc = &fixture->desc;
	const uint64_t uclk = machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_UCLK);
	const uint64_t dram = (desc->t_cl + desc->t_burst) *
			      machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_DCLK);

	return desc->l2.latency * cycle + (4 * desc->ring_hop + 1 + desc->llc.latency +
					   desc->ha_cycles + (dram + uclk - 1) / uclk) *
					      uclk;
}

static uint64_t passed(const struct planned *planned)
{
	return machine_hart_time(planned->core) - planned->begin;
}

static void load_hit(struct machine_hart *core)
{
	machine_load(core, HIT, 8, &plain);
}

static void store_hit(struct machine_hart *core)
{
	machine_store(core, HIT, 8, &plain);
}

static void nothing(struct machine_hart *core)
{
	(void)core;
}

/* Runs a block, after which so many ticks have passed; then it accesses so many times. */
static void run(struct planned *planned, uint64_t ticks, void (*access)(struct machine_hart *core),
		unsigned times)
{
	machine_run_planned(planned->core, planned->plan);
	assert_int_equal(passed(planned), ticks);
	for (unsigned i = 0; i < times; i++)
		access(planned->core);
}

/* Blocks that nothing holds up. */
static void run_free(struct planned *planned, unsigned blocks,
		     void (*access)(struct machine_hart *core), unsigned times)
{
	for (unsigned i = 1; i <= blocks; i++)
		run(planned, i * planned->cycle, access, times);
}

/* Blocks behind a miss. An access of the last of these @blocks waits until the miss ends. */
static void run_until_full(struct planned *planned, unsigned blocks,
			   void (*access)(struct machine_hart *core), unsigned times)
{
	const uint64_t end = memory_ticks(&planned->fixture, planned->cycle);

	run_free(planned, blocks, access, times);
	for (unsigned i = 1; i <= 10; i++)
		run(planned, end + i * planned->cycle, access, times);
}

/* It has an entry itself. The last block that takes a cycle has the store that has to wait. */
static void stores_behind_a_store(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	machine_store(planned.core, MISS, 8, &plain);
	run_until_full(&planned, STORES, store_hit, 1);
	planned_down(&planned);
}

static void stores_behind_a_load(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	machine_load(planned.core, MISS, 8, &plain);
	assert_true(STORES + 1 < REORDERS / WIDTH);
	run_until_full(&planned, STORES + 1, store_hit, 1);
	planned_down(&planned);
}

static void stores_behind_none(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	store_hit(planned.core);
	run_free(&planned, 10 * STORES, store_hit, 1);
	planned_down(&planned);
}

/* Two a cycle. */
static void loads_behind_a_load(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	machine_load(planned.core, MISS, 8, &plain);
	assert_true(LOADS / 2 < REORDERS / WIDTH);
	run_until_full(&planned, LOADS / 2, load_hit, 2);
	planned_down(&planned);
}

/* A store holds up no load, and the reorder buffer neither. */
static void loads_behind_a_store(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	machine_store(planned.core, MISS, 8, &plain);
	run_free(&planned, REORDERS, load_hit, 2);
	planned_down(&planned);
}

/* Without either, the reorder buffer is what is full: by the block that comes to it. */
static void instructions_behind_a_load(void **unused)
{
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	machine_load(planned.core, MISS, 8, &plain);
	run_free(&planned, REORDERS / WIDTH - 1, nothing, 1);
	run(&planned, memory_ticks(&planned.fixture, planned.cycle), nothing, 1);
	planned_down(&planned);
}

/* Stores that miss wait for fill buffers in the store buffer. */
static void stores_that_miss(void **unused)
{
	struct planned planned;
	uint64_t end;

	(void)unused;
	planned_up(&planned, "broadwell");
	assert_true(planned.fixture.desc.fill_buffers < STORES);
	for (unsigned i = 0; i < STORES; i++)
		machine_store(planned.core, MISS + i * 64, 8, &plain);
	assert_int_equal(passed(&planned), 0);
	end = memory_ticks(&planned.fixture, planned.cycle);
	machine_store(planned.core, MISS + STORES * 64, 8, &plain);
	assert_int_equal(passed(&planned), end);
	planned_down(&planned);
}

/*
 * Lines that L2 has in M, and each displaces another one from L1D: of both ways L2 has one line at
 * a time. So ten fill buffers are enough.
 */
static void stores_that_l2_serves(void **unused)
{
	const struct machine_uarch *uarch = machine_uarch_find("broadwell");
	const unsigned lines = 1024, stores = 25;
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	for (unsigned page = 1; page < lines / 64; page++)
		address_space_frame(planned.fixture.space, page, planned.core);
	for (unsigned i = 0; i < lines; i++)
		machine_store(planned.core, i * 64, 8, &plain);
	machine_hart_pause(planned.core);
	machine_hart_resume(planned.core);
	planned.begin = machine_hart_time(planned.core);
	for (unsigned i = 0; i < stores; i++)
		machine_store(planned.core, i * 64, 8, &plain);
	assert_int_equal(passed(&planned), 0);
	machine_hart_pause(planned.core);
	assert_int_equal(passed(&planned),
			 (stores - 1) * (line_ticks(planned.cycle, uarch->l2_own) +
					 line_ticks(planned.cycle, uarch->l2_write)) +
			     planned.fixture.desc.l2.latency * planned.cycle);
	planned_down(&planned);
}

/* Cycles from the end of a store that misses, or so many @late, until a locked access begins.
 * Behind the first are some stores that hit. */
static uint64_t locked_after(unsigned stores, void (*each)(struct machine_hart *core),
			     unsigned late, void (*look)(struct machine_hart *core))
{
	struct planned planned;
	uint64_t time, end = 0;

	planned_up(&planned, "broadwell");
	machine_store(planned.core, MISS, 8, &plain);
	for (unsigned i = 0; i < stores; i++) {
		machine_run_planned(planned.core, planned.plan);
		each(planned.core);
	}
	if (late)
		end = memory_ticks(&planned.fixture, planned.cycle) + late * planned.cycle;
	while (passed(&planned) < end) {
		machine_run_planned(planned.core, planned.plan);
		look(planned.core);
	}
	machine_locked(planned.core, HIT, 8, &plain);
	/* The store of a locked access has a cycle in its block. */
	time = passed(&planned) - (planned.fixture.desc.locked_cycles - 1) * planned.cycle -
	       memory_ticks(&planned.fixture, planned.cycle);
	time /= planned.cycle;
	planned_down(&planned);
	return time;
}

static void a_locked_access_drains(void **unused)
{
	(void)unused;
	assert_int_equal(locked_after(10, nothing, 0, nothing), 0);
	assert_int_equal(locked_after(10, store_hit, 0, nothing), 10);
}

static void look(struct machine_hart *core)
{
	core->attention = 0;
}

/* The miss has ended, the stores behind it are not all in L1D: whoever looks after the core. */
static void a_locked_access_drains_late(void **unused)
{
	(void)unused;
	assert_int_equal(locked_after(10, store_hit, 3, nothing), 10);
	assert_int_equal(locked_after(10, store_hit, 3, look), 10);
	assert_int_equal(locked_after(10, store_hit, 15, nothing), 15);
	assert_int_equal(locked_after(10, store_hit, 15, look), 15);
}

static void a_fence_drains(void **unused)
{
	struct machine_plan *fencing;
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	fencing = block_of(planned.fixture.machine, &fence);
	machine_store(planned.core, MISS, 8, &plain);
	machine_run_planned(planned.core, planned.plan);
	store_hit(planned.core);
	machine_run_planned(planned.core, fencing);
	assert_true(passed(&planned) < memory_ticks(&planned.fixture, planned.cycle));
	/* Of the block with the fence. */
	store_hit(planned.core);
	machine_run_planned(planned.core, planned.plan);
	assert_int_equal(passed(&planned),
			 memory_ticks(&planned.fixture, planned.cycle) + 2 * planned.cycle);
	free(fencing);
	planned_down(&planned);
}

#define STEPS 300000u

/* A miss, and the stores before it. */
struct noted {
	uint64_t end, stores;
};

/* The tick at which there is an entry for one store more: all misses are looked at. */
static uint64_t entry_at(const struct machine_hart *core, const struct noted *all, unsigned count)
{
	uint64_t at = core->progress->time;

	for (unsigned i = 0; i < count; i++)
		if (core->progress->stores - all[i].stores >= STORES && all[i].end > at)
			at = all[i].end;
	return at;
}

/* Misses that end in any order, at most so many at once as are outstanding. */
static void misses_in_any_order(void **unused)
{
	static struct noted all[STEPS];
	uint64_t random = 4711;
	unsigned count = 0, waits = 0;
	struct machine_hart *core;
	struct planned planned;

	(void)unused;
	planned_up(&planned, "broadwell");
	core = planned.core;
	for (unsigned i = 0; i < STEPS; i++) {
		struct machine_progress *progress = core->progress;
		const uint64_t lasts = 1 + next_random(&random) % (16 * core->buffers.hold);
		const unsigned what = next_random(&random) % 8;
		uint64_t at;

		progress->time += next_random(&random) % (4 * planned.cycle);
		mshr_forget_ended(core);
		if (core->miss_count > MACHINE_MISSES_MAX / 2) {
			progress->time = mshr_at(core, 0)->end;
			mshr_forget_ended(core);
		}
		progress->loads += next_random(&random) % 4;
		progress->stores += next_random(&random) % 3;
		if (lasts > core->buffers.hold)
			all[count++] = (struct noted){progress->time + lasts, progress->stores};
		if (what < 4) {
			mshr_add_load(core, i, 0, progress->time + lasts, MISS_FAR);
			progress->loads++;
		} else if (what < 7) {
			mshr_add_store(core, i, progress->time + lasts);
		} else {
			mshr_add_store_translation(core, progress->time + lasts);
		}
		progress->stores += what >= 4;
		/* For a while nobody looks, and what has ended is still there. */
		if (i / 256 % 2)
			continue;
		at = entry_at(core, count > 1000 ? all + count - 1000 : all,
			      count > 1000 ? 1000 : count);
		waits += at > progress->time;
		buffers_admit_store(core);
		assert_int_equal(progress->time, at);
	}
	assert_true(waits > STEPS / 100);
	planned_down(&planned);
}

/* Other cores have other sizes. */
static void sizes(void **unused)
{
	static const struct {
		const char *uarch;
		unsigned stores;
	} cores[] = {{"sandybridge", 36}, {"nehalem", 32}};

	(void)unused;
	for (unsigned i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		struct planned planned;

		planned_up(&planned, cores[i].uarch);
		for (unsigned j = 0; j < cores[i].stores; j++)
			machine_store(planned.core, MISS + j * 64, 8, &plain);
		assert_int_equal(passed(&planned), 0);
		machine_store(planned.core, MISS + cores[i].stores * 64, 8, &plain);
		assert_int_equal(passed(&planned), memory_ticks(&planned.fixture, planned.cycle));
		planned_down(&planned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stores_behind_a_store),  cmocka_unit_test(stores_behind_a_load),
	    cmocka_unit_test(stores_behind_none),     cmocka_unit_test(loads_behind_a_load),
	    cmocka_unit_test(loads_behind_a_store),   cmocka_unit_test(instructions_behind_a_load),
	    cmocka_unit_test(stores_that_miss),	      cmocka_unit_test(stores_that_l2_serves),
	    cmocka_unit_test(a_locked_access_drains), cmocka_unit_test(a_locked_access_drains_late),
	    cmocka_unit_test(a_fence_drains),	      cmocka_unit_test(sizes),
	    cmocka_unit_test(misses_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
