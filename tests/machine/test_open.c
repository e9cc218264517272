/* Machines as a whole: what is refused, clocks, views, cores. */
#include <pthread.h>
#include <sched.h>

#include "base/lock.h"
#include "machine_fixture.h"

#include "pmulab/pmulab.h"

static int try_to_open(const struct pmu_machine *desc, struct pmu_ctx *ctx)
{
	static _Alignas(64) char state[64]; /* must not be looked at */
	struct machine *machine;

	return machine_open(&machine, ctx, desc, state, true);
}

static void what_cannot_be_built_is_refused(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct pmu_ctx *ctx;

	(void)unused;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	desc.l1d.sets = 128;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(ctx), "L1D sets"));
	desc = small_machine();
	desc.l2.ways = 16;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	desc = small_machine();
	desc.llc.sets = 96;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	desc = small_machine();
	desc.sockets = 3;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	desc = small_machine();
	desc.tor_entries = 1;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	desc = small_machine();
	desc.memory_bytes = 1ull << 38;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	/* 4 slices of 64 sets, two sockets: a node may have 131,071 x 128 lines less one. */
	desc.memory_bytes = 131071ull * 128 * 64;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(ctx), "lines of memory a set of the LLC"));
	desc.memory_bytes -= 64;
	assert_int_equal(machine_check(ctx, &desc), 0);
	desc = small_machine();
	desc.bank_groups = 2 * desc.banks;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(ctx), "bank groups"));
	desc = small_machine();
	desc.bank_groups = 3;
	assert_int_equal(try_to_open(&desc, ctx), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(ctx), "bank groups"));
	pmu_ctx_free(ctx);
}

/* 184.8 GHz is the least frequency that 4 * 2.2 GHz, 2.8 and 1.2 GHz divide: four issue in a cycle.
 */
static void a_tick_divides_every_cycle(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	assert_int_equal(machine_ticks_per_second(fixture.machine), 184800000000);
	assert_int_equal(machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_UCLK), 66);
	assert_int_equal(machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_DCLK), 154);
	fixture_down(&fixture);
}

static void views_share_the_state(void **unused)
{
	struct machine_address_space *space;
	struct machine_hart *core;
	struct machine_statistics stats;
	struct machine *view;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	enter_all(&fixture);
	machine_store(fixture.cores[0], 0, 8, &plain);
	assert_int_equal(machine_open(&view, NULL, &fixture.desc, fixture.state, false), 0);
	assert_int_equal(machine_peek(view, MACHINE_L1D, 0, 0), 'M');
	machine_statistics(view, &stats);
	assert_int_equal(stats.stores, 1);
	assert_int_equal(stats.cas_reads, 1);
	/* A space of the other view gets the next frame. */
	assert_int_equal(machine_address_space_new(&space, view), 0);
	core = machine_hart_enter(view, space, 0);
	machine_store(core, 0, 8, &plain);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 4096), 'M');
	machine_hart_leave(core);
	machine_address_space_free(space);
	machine_close(view);
	fixture_down(&fixture);
}

static void signals_end_with_the_connection(void **unused)
{
	struct fixture fixture;
	size_t kept;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	enter_all(&fixture);
	machine_load(fixture.cores[0], 0, 8, &plain);
	assert_int_equal(fixture.count, 0);
	subscribe_to(&fixture, SIGNAL_LLC_LOOKUP);
	machine_load(fixture.cores[0], 64, 8, &plain);
	assert_int_equal(fixture.count, 1); /* that one only */
	subscribe_to(&fixture, SIGNAL_DRAM_READ_QUEUE);
	machine_load(fixture.cores[0], 128, 8, &plain);
	kept = fixture.count;
	assert_int_equal(kept, 3);
	machine_connect(fixture.machine, NULL);
	machine_load(fixture.cores[0], 192, 8, &plain);
	assert_int_equal(fixture.count, kept);
	fixture_down(&fixture);
}

static void cores_are_taken_from_the_lowest(void **unused)
{
	struct machine_hart *core[3];
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	for (unsigned i = 0; i < 3; i++) {
		core[i] = machine_hart_enter(fixture.machine, fixture.space, 1000 * i);
		assert_int_equal(machine_hart_time(core[i]), 1000 * i);
	}
	machine_hart_leave(core[1]);
	core[1] = machine_hart_enter(fixture.machine, fixture.space, 500);
	assert_int_equal(machine_hart_time(core[1]), 1000); /* core 1's own clock is later */
	assert_int_equal(machine_now(fixture.machine), 2000);
	for (unsigned i = 0; i < 3; i++)
		machine_hart_leave(core[i]);
	fixture_down(&fixture);
}

struct dying {
	struct fixture *fixture;
	uint32_t thread; /* of the host */
};

static void *enter_and_die(void *argument)
{
	struct dying *dying = argument;
	struct fixture *fixture = dying->fixture;

	dying->thread = lock_thread();
	fixture->cores[0] = machine_hart_enter(fixture->machine, fixture->space, 7000);
	return NULL;
}

/* Also of a core that nobody is on any more, whether its thread left or died. */
static void time_never_goes_back(void **unused)
{
	struct machine_hart *core;
	struct fixture fixture;
	struct dying dying = {&fixture, 0};
	pthread_t thread;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_hart_enter(fixture.machine, fixture.space, 5000);
	assert_int_equal(machine_now(fixture.machine), 5000);
	machine_hart_leave(core);
	assert_int_equal(machine_now(fixture.machine), 5000);

	assert_int_equal(pthread_create(&thread, NULL, enter_and_die, &dying), 0);
	pthread_join(thread, NULL);
	/* The kernel lets go of it a moment later. */
	while (lock_thread_lives(dying.thread))
		sched_yield();
	assert_int_equal(machine_now(fixture.machine), 7000);
	machine_lock(fixture.machine);
	machine_pass(fixture.machine, 10); /* finds that it died */
	machine_unlock(fixture.machine);
	assert_int_equal(machine_now(fixture.machine), 7010);
	free(fixture.cores[0]);
	fixture.cores[0] = NULL;
	fixture_down(&fixture);
}

/* A long idle time owes refreshes, which nobody asked for. */
static void catching_up_tells_of_refreshes(void **unused)
{
	const uint64_t refreshes = 100;
	struct machine_hart *core;
	struct fixture fixture;
	uint64_t dclk;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	subscribe_to(&fixture, SIGNAL_DRAM_REFRESH);
	dclk = machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_DCLK);
	/* Every rank of each channel, once in t_refi. */
	core = machine_hart_enter(fixture.machine, fixture.space,
				  (refreshes * fixture.desc.t_refi + 1) * dclk);
	machine_lock(fixture.machine);
	for (unsigned socket = 0; socket < fixture.desc.sockets; socket++)
		machine_catch_up_channels(fixture.machine, socket, UINT32_MAX);
	machine_unlock(fixture.machine);
	assert_int_equal(fixture.count, refreshes * fixture.desc.home_agents *
					    fixture.desc.channels * fixture.desc.ranks);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_cannot_be_built_is_refused),
	    cmocka_unit_test(a_tick_divides_every_cycle),
	    cmocka_unit_test(views_share_the_state),
	    cmocka_unit_test(signals_end_with_the_connection),
	    cmocka_unit_test(cores_are_taken_from_the_lowest),
	    cmocka_unit_test(time_never_goes_back),
	    cmocka_unit_test(catching_up_tells_of_refreshes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
