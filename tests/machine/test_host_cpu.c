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

static void set_up(struct thread *thread)
{
	*thread = (struct thread){.all = allowed()};
	thread->state = calloc(1, sizeof(*thread->state));
	thread->core = calloc(1, sizeof(*thread->core));
	assert_non_null(thread->state);
	assert_non_null(thread->core);
	thread->machine.state = thread->state;
	thread->core->machine = &thread->machine;
	thread->core->thread = lock_thread();
}

static void tear_down(struct thread *thread)
{
	assert_int_equal(sched_setaffinity(0, sizeof(thread->all), &thread->all), 0);
	free(thread->core);
	free(thread->state);
}

static void wait_often(struct thread *thread, int waits)
{
	for (int i = 0; i < waits; i++)
		host_cpu_wait(thread->core);
}

static void who_waits_is_bound_until_it_calls_the_system(void **unused)
{
	struct thread thread;
	cpu_set_t one;

	(void)unused;
	set_up(&thread);
	wait_often(&thread, WAITS - 1);
	assert_allowed(&thread.all);
	host_cpu_wait(thread.core);
	one = allowed();
	assert_int_equal(CPU_COUNT(&one), 1);
	assert_true(CPU_ISSET((int)thread.state->host_cpu - 1, &one));
	host_cpu_let_go(thread.core);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

static void who_waits_no_more_is_let_go(void **unused)
{
	struct thread thread;

	(void)unused;
	set_up(&thread);
	wait_often(&thread, WAITS);
	for (int i = 0; i < PASSES; i++) {
		assert_int_equal(thread.core->host_cpu.bound, thread.state->host_cpu);
		host_cpu_pass(thread.core);
	}
	assert_int_equal(thread.core->host_cpu.bound, 0);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

static void nobody_is_bound_where_it_cannot_run(void **unused)
{
	struct thread thread;

	(void)unused;
	set_up(&thread);
	thread.state->host_cpu_chosen = clock_ns();
	thread.state->host_cpu = CPU_SETSIZE;
	while (CPU_ISSET((int)thread.state->host_cpu - 1, &thread.all))
		thread.state->host_cpu--;
	wait_often(&thread, WAITS);
	assert_int_equal(thread.core->host_cpu.bound, 0);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

static void the_processor_is_chosen_anew(void **unused)
{
	struct thread thread;

	(void)unused;
	set_up(&thread);
	thread.state->host_cpu_chosen = 1;
	thread.state->host_cpu = CPU_SETSIZE;
	wait_often(&thread, WAITS);
	assert_int_not_equal(thread.state->host_cpu, CPU_SETSIZE);
	assert_int_equal(thread.core->host_cpu.bound, thread.state->host_cpu);
	/* The others are elsewhere by now: it is let go, and follows them. */
	thread.state->host_cpu = CPU_SETSIZE;
	wait_often(&thread, WAITS);
	assert_int_equal(thread.core->host_cpu.bound, 0);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

static void what_somebody_else_has_set_stays(void **unused)
{
	struct thread thread;
	cpu_set_t first;

	(void)unused;
	set_up(&thread);
	CPU_ZERO(&first);
	CPU_SET(sched_getcpu(), &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	wait_often(&thread, WAITS);
	assert_int_not_equal(thread.core->host_cpu.bound, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(thread.all), &thread.all), 0);
	host_cpu_let_go(thread.core);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

static void another_thread_lets_nobody_go(void **unused)
{
	struct thread thread;
	cpu_set_t one;

	(void)unused;
	set_up(&thread);
	wait_often(&thread, WAITS);
	one = allowed();
	thread.core->thread++;
	host_cpu_let_go(thread.core);
	assert_allowed(&one);
	assert_int_not_equal(thread.core->host_cpu.bound, 0);
	tear_down(&thread);
}

static void nothing(void)
{
}

static void who_defers_waits_is_not_bound(void **unused)
{
	struct thread thread;

	(void)unused;
	set_up(&thread);
	thread.machine.defer = nothing;
	wait_often(&thread, 2 * WAITS);
	assert_allowed(&thread.all);
	tear_down(&thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_waits_is_bound_until_it_calls_the_system),
	    cmocka_unit_test(who_waits_no_more_is_let_go),
	    cmocka_unit_test(nobody_is_bound_where_it_cannot_run),
	    cmocka_unit_test(the_processor_is_chosen_anew),
	    cmocka_unit_test(what_somebody_else_has_set_stays),
	    cmocka_unit_test(another_thread_lets_nobody_go),
	    cmocka_unit_test(who_defers_waits_is_not_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
