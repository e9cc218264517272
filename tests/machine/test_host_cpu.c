/* Where threads run that take turns: what the host is told. */
#include <sched.h>

#include "base/clock.h"
#include "machine/host_cpu.h"
#include "machine_fixture.h"

#define WAITS  16 /* as host_cpu.c has them */
#define PASSES 64

struct thread {
	struct machine machine;
	struct machine_state *state;
	struct machine_hart *core;
	cpu_set_t all;
};

static cpu_set_t allowed(void)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	return cpus;
}

static void assert_allowed(const cpu_set_t *cpus)
{
	const cpu_set_t now = allowed();

	assert_true(CPU_EQUAL(&now, cpus));
}

static int set_up(void **state)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	assert_non_null(thread);
	thread->all = allowed();
	thread->state = calloc(1, sizeof(*thread->state));
	thread->core = calloc(1, sizeof(*thread->core));
	assert_non_null(thread->state);
	assert_non_null(thread->core);
	thread->machine.state = thread->state;
	thread->core->machine = &thread->machine;
	thread->core->thread = lock_thread();
	*state = thread;
	return 0;
}

static int tear_down(void **state)
{
	struct thread *thread = *state;

	assert_int_equal(sched_setaffinity(0, sizeof(thread->all), &thread->all), 0);
	free(thread->core);
	free(thread->state);
	free(thread);
	return 0;
}

static void wait_often(struct thread *thread, int waits)
{
	for (int i = 0; i < waits; i++)
		host_cpu_wait(thread->core);
}

static void who_waits_is_bound_until_it_calls_the_system(void **state)
{
	struct thread *thread = *state;
	cpu_set_t one;

	wait_often(thread, WAITS - 1);
	assert_allowed(&thread->all);
	host_cpu_wait(thread->core);
	one = allowed();
	assert_int_equal(CPU_COUNT(&one), 1);
	assert_true(CPU_ISSET((int)thread->state->host_cpu - 1, &one));
	host_cpu_let_go(thread->core);
	assert_allowed(&thread->all);
}

static void who_waits_no_more_is_let_go(void **state)
{
	struct thread *thread = *state;

	wait_often(thread, WAITS);
	for (int i = 0; i < PASSES; i++) {
		assert_int_equal(thread->core->host_cpu.bound, thread->state->host_cpu);
		host_cpu_pass(thread->core);
	}
	assert_int_equal(thread->core->host_cpu.bound, 0);
	assert_allowed(&thread->all);
}

static void nobody_is_bound_where_it_cannot_run(void **state)
{
	struct thread *thread = *state;

	thread->state->host_cpu_chosen = clock_ns();
	thread->state->host_cpu = CPU_SETSIZE;
	while (CPU_ISSET((int)thread->state->host_cpu - 1, &thread->all))
		thread->state->host_cpu--;
	wait_often(thread, WAITS);
	assert_int_equal(thread->core->host_cpu.bound, 0);
	assert_allowed(&thread->all);
}

static void the_processor_is_chosen_anew(void **state)
{
	struct thread *thread = *state;

	thread->state->host_cpu_chosen = 1;
	thread->state->host_cpu = CPU_SETSIZE;
	wait_often(thread, WAITS);
	assert_int_not_equal(thread->state->host_cpu, CPU_SETSIZE);
	assert_int_equal(thread->core->host_cpu.bound, thread->state->host_cpu);
	/* The others are elsewhere by now: it is let go, and follows them. */
	thread->state->host_cpu = CPU_SETSIZE;
	wait_often(thread, WAITS);
	assert_int_equal(thread->core->host_cpu.bound, 0);
	assert_allowed(&thread->all);
}

static void what_somebody_else_has_set_stays(void **state)
{
	struct thread *thread = *state;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(sched_getcpu(), &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	wait_often(thread, WAITS);
	assert_int_not_equal(thread->core->host_cpu.bound, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(thread->all), &thread->all), 0);
	host_cpu_let_go(thread->core);
	assert_allowed(&thread->all);
}

static void another_thread_lets_nobody_go(void **state)
{
	struct thread *thread = *state;
	cpu_set_t one;

	wait_often(thread, WAITS);
	one = allowed();
	thread->core->thread++;
	host_cpu_let_go(thread->core);
	assert_allowed(&one);
	assert_int_not_equal(thread->core->host_cpu.bound, 0);
}

static void nothing(void)
{
}

static void who_defers_waits_is_not_bound(void **state)
{
	struct thread *thread = *state;

	thread->machine.defer = nothing;
	wait_often(thread, 2 * WAITS);
	assert_allowed(&thread->all);
}

static void who_runs_alone_in_turns_is_not_bound(void **unused)
{
	const struct pmu_machine desc = small_machine();
	const cpu_set_t all = allowed();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	machine_take_turns(fixture.machine);
	fixture.cores[0] = machine_hart_place(fixture.machine, 0);
	assert_non_null(fixture.cores[0]);
	assert_true(machine_hart_start(fixture.cores[0], fixture.space));
	/* A turn is 1,000 cycles, of four instructions. */
	for (int turns = 0; turns < 4 * WAITS; turns++) {
		for (int i = 0; i < 4000; i++)
			step(&fixture, 0);
		assert_allowed(&all);
	}
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(who_waits_is_bound_until_it_calls_the_system, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(who_waits_no_more_is_let_go, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(nobody_is_bound_where_it_cannot_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_processor_is_chosen_anew, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_somebody_else_has_set_stays, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(another_thread_lets_nobody_go, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(who_defers_waits_is_not_bound, set_up, tear_down),
	    cmocka_unit_test(who_runs_alone_in_turns_is_not_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
