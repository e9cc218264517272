/* Threads and processes on one machine: invariants hold, nothing is waited for in vain. */
#include "machine_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/skew.h"
#include "machine/state.h"
#include "support/random.h"

#define SHARED_LINES	2048
#define STEPS		100000
#define SECONDS_TO_HANG 60

struct worker {
	struct fixture *fixture;
	unsigned number;
	pthread_t thread;
};

/* What a step does, drawn from its random number. */
enum kind { LOAD, STORE, LOCKED, STREAM, KINDS };

static enum kind kind_of(uint64_t random)
{
	static const enum kind kinds[16] = {STREAM, LOCKED, STORE, STORE, STORE};

	return kinds[random >> 60];
}

static uint64_t seed_of(unsigned number)
{
	return 88172645463325252 + number;
}

static void step_once(struct machine_hart *core, struct machine *machine, uint64_t random)
{
	uint64_t address = random % SHARED_LINES * 64;
	struct machine_block block;

	machine_block_init(machine, &block, 0x400000, 16, 4, 1, 1);
	block.branches = 1;
	machine_run(core, &block);
	switch (kind_of(random)) {
	case STREAM:
		machine_store_nt(core, address, 16);
		break;
	case LOCKED:
		machine_locked(core, address, 8, &plain);
		break;
	case STORE:
		machine_store(core, address, 8, &plain);
		break;
	default:
		machine_load(core, address, 8, &plain);
	}
}

static void work(struct machine_hart *core, struct machine *machine, unsigned number,
		 unsigned steps)
{
	uint64_t random = seed_of(number);

	for (unsigned i = 0; i < steps; i++) {
		step_once(core, machine, next_random(&random));
		if (random % 5000 == 0) {
			machine_hart_pause(core);
			machine_hart_resume(core);
		}
	}
}

/* Every step of threads 0 to @threads - 1 is counted once. */
static void check_counts(const struct machine_statistics *stats, unsigned threads, unsigned steps)
{
	uint64_t expected[KINDS] = {0};

	for (unsigned number = 0; number < threads; number++) {
		uint64_t random = seed_of(number);

		for (unsigned i = 0; i < steps; i++) {
			next_random(&random);
			expected[kind_of(random)]++;
		}
	}
	assert_int_equal(stats->instructions, (uint64_t)threads * steps * 4);
	assert_int_equal(stats->branches, (uint64_t)threads * steps);
	assert_int_equal(stats->fetches, (uint64_t)threads * steps);
	assert_int_equal(stats->loads, expected[LOAD]);
	assert_int_equal(stats->stores, expected[STORE]);
	assert_int_equal(stats->locked, expected[LOCKED]);
	assert_int_equal(stats->nt_stores, expected[STREAM]);
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	struct fixture *fixture = worker->fixture;
	struct machine_hart *core = machine_hart_enter(fixture->machine, fixture->space, 0);

	work(core, fixture->machine, worker->number, STEPS);
	machine_hart_leave(core);
	return NULL;
}

static unsigned holders(const struct fixture *fixture, uint64_t address, char state)
{
	unsigned count = 0;

	for (unsigned core = 0; core < fixture->desc.sockets * fixture->desc.cores; core++)
		count += machine_peek(fixture->machine, MACHINE_L1D, core, address) == state ||
			 machine_peek(fixture->machine, MACHINE_L2, core, address) == state;
	return count;
}

/* One owner, nobody beside an owner, and the LLC knows of every copy. */
static void check_invariants(const struct fixture *fixture, uint64_t address)
{
	unsigned modified = holders(fixture, address, 'M'),
		 exclusive = holders(fixture, address, 'E');

	for (unsigned core = 0; core < fixture->desc.sockets * fixture->desc.cores; core++) {
		unsigned socket = core / fixture->desc.cores;
		char l1d = machine_peek(fixture->machine, MACHINE_L1D, core, address);
		char l1i = machine_peek(fixture->machine, MACHINE_L1I, core, address);
		char l2 = machine_peek(fixture->machine, MACHINE_L2, core, address);
		char llc = machine_peek(fixture->machine, MACHINE_LLC, socket, address);
		uint32_t core_valid = machine_peek_core_valid(fixture->machine, socket, address);

		if (l1d == 'I' && l1i == 'I' && l2 == 'I')
			continue;
		assert_int_not_equal(llc, 'I');
		assert_true(core_valid >> core % fixture->desc.cores & 1);
		if (l1d == 'M' || l1d == 'E' || l2 == 'M') {
			assert_true(llc == 'M' || llc == 'E');
			assert_int_equal(__builtin_popcount(core_valid), 1);
			assert_int_equal(holders(fixture, address, 'S'), l2 == 'S');
		}
	}
	assert_true(modified + (exclusive && !modified) <= 1);
}

static void run_threads(unsigned threads)
{
	struct worker workers[16];
	struct machine_statistics stats;
	struct fixture fixture;

	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){&fixture, i, 0};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]),
				 0);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);

	for (uint64_t line = 0; line < 8 * SHARED_LINES; line++)
		check_invariants(&fixture, line * 64);
	machine_drain(fixture.machine);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.llc_misses, stats.home_reads);
	assert_int_equal(stats.home_writes, stats.llc_writebacks + stats.wc_lines);
	assert_int_equal(stats.llc_lookups, stats.l2_misses + stats.l2_writebacks + stats.wc_lines);
	assert_int_equal(stats.cas_writes + stats.wpq_write_hits, stats.home_writes);
	check_counts(&stats, threads, STEPS);
	fixture_down(&fixture);
}

static void four_threads(void **unused)
{
	(void)unused;
	run_threads(4);
}

static void nine_threads_on_four_cores(void **unused)
{
	(void)unused;
	run_threads(9);
}

/* A core that stands still holds the others up for a moment only. */
static void a_stopped_core_is_left_behind(void **unused)
{
	struct machine_hart *core;
	struct machine_statistics stats;
	struct worker worker;
	struct fixture fixture;
	uint64_t now;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	worker = (struct worker){&fixture, 0, 0};
	assert_int_equal(pthread_create(&worker.thread, NULL, run_worker, &worker), 0);
	pthread_join(worker.thread, NULL);
	assert_int_equal(machine_hart_time(core), 0);
	machine_statistics(fixture.machine, &stats);
	check_counts(&stats, 1, STEPS);
	/* It goes on where the others are. */
	now = machine_now(fixture.machine);
	work(core, fixture.machine, 0, 1);
	assert_true(machine_hart_time(core) >= now);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

struct runner {
	struct fixture *fixture;
	struct machine_hart *core;
	pthread_barrier_t *entered;
	pthread_mutex_t *lock;
	sem_t *passed;
	uint64_t posted; /* tick */
	bool stop;
	pthread_t thread;
};

#define HITS 1000000

/* Nothing but hits of the last used line, so that nothing but the counting takes time. */
static void hit(struct machine_hart *core, const struct machine *machine)
{
	struct machine_block block;

	machine_block_init(machine, &block, 0x400000, 16, 4, 2, 1);
	block.branches = 1;
	for (unsigned i = 0; i < HITS; i++) {
		machine_run(core, &block);
		machine_load(core, 0, 8, &plain);
		machine_load(core, 8, 8, &plain);
		machine_store(core, 16, 8, &plain);
	}
}

static void *run_at_once(void *argument)
{
	struct runner *runner = argument;
	struct fixture *fixture = runner->fixture;

	runner->core = machine_hart_enter(fixture->machine, fixture->space, 0);
	pthread_barrier_wait(runner->entered);
	hit(runner->core, fixture->machine);
	machine_hart_leave(runner->core);
	return NULL;
}

/*
 * One holds the only core and waits in the host until the other has come without the owner: then
 * both run there at once, and neither's counts may get lost.
 */
static void two_threads_own_one_core(void **unused)
{
	struct pmu_machine desc = *pmu_find_machine("xeon-e5v4-4c");
	struct machine_statistics stats;
	pthread_barrier_t entered;
	struct machine_hart *core;
	struct runner runner;
	struct fixture fixture;

	(void)unused;
	desc.cores = 1;
	fixture_up(&fixture, &desc);
	pthread_barrier_init(&entered, NULL, 2);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	runner = (struct runner){.fixture = &fixture, .entered = &entered};
	assert_int_equal(pthread_create(&runner.thread, NULL, run_at_once, &runner), 0);
	pthread_barrier_wait(&entered);
	hit(core, fixture.machine);
	machine_hart_leave(core);
	pthread_join(runner.thread, NULL);
	pthread_barrier_destroy(&entered);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.instructions, 2 * 4 * HITS);
	assert_int_equal(stats.branches, 2 * HITS);
	assert_int_equal(stats.fetches, 2 * HITS);
	assert_int_equal(stats.loads, 2 * 2 * HITS);
	assert_int_equal(stats.stores, 2 * HITS);
	fixture_down(&fixture);
}

/* Cycles that a core may be ahead when it looks, and instructions after which it looks again. */
#define AHEAD_CYCLES	  10000
#define LOOK_INSTRUCTIONS 1024

/* A cycle a store: one is an instruction with one, one has four in three instructions. */
static void run_fast(struct machine_hart *core, const struct machine *machine)
{
	struct machine_block block;

	machine_block_init(machine, &block, 0x400000, 16, 1, 0, 1);
	machine_run(core, &block);
}
#define FAST_LOOK_CYCLES LOOK_INSTRUCTIONS

static void run_slow(struct machine_hart *core, const struct machine *machine)
{
	struct machine_block block;

	machine_block_init(machine, &block, 0x400000, 16, 3, 0, 4);
	machine_run(core, &block);
}
#define SLOW_LOOK_CYCLES ((LOOK_INSTRUCTIONS + 2) / 3 * 4)

static void *run_ahead(void *argument)
{
	struct runner *runner = argument;
	struct fixture *fixture = runner->fixture;

	runner->core = machine_hart_enter(fixture->machine, fixture->space, 0);
	pthread_barrier_wait(runner->entered);
	while (!__atomic_load_n(&runner->stop, __ATOMIC_ACQUIRE))
		run_fast(runner->core, fixture->machine);
	machine_hart_leave(runner->core);
	return NULL;
}

static uint64_t clock_of(const struct machine_hart *core)
{
	return __atomic_load_n(&core->progress->time, __ATOMIC_RELAXED);
}

/*
 * The order that is worst for it: a core runs as far ahead as it can before the other does a block,
 * each time. The bound holds however the host schedules the two.
 */
static void running_cores_keep_together(void **unused)
{
	struct machine_hart *slow;
	pthread_barrier_t entered;
	struct runner runner;
	struct fixture fixture;
	uint64_t cycle, furthest = 0;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	cycle = machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_CORE);
	pthread_barrier_init(&entered, NULL, 2);
	slow = machine_hart_enter(fixture.machine, fixture.space, 0);
	runner = (struct runner){.fixture = &fixture, .entered = &entered};
	assert_int_equal(pthread_create(&runner.thread, NULL, run_ahead, &runner), 0);
	pthread_barrier_wait(&entered);
	/* Long enough after the second began: until then it may be ahead by less. */
	for (unsigned i = 0; i < 2 * AHEAD_CYCLES * SKEW_SHARE / 4; i++) {
		const struct skew *skew = fixture.machine->state->skew;
		uint64_t shown = skew[slow->number].clock - 1, ahead;

		while ((ahead = clock_of(runner.core)) <= shown + AHEAD_CYCLES * cycle &&
		       !__atomic_load_n(&machine_hart_user(runner.core)->waits, __ATOMIC_RELAXED))
			continue;
		if (ahead > shown + furthest)
			furthest = ahead - shown;
		assert_true(ahead <= shown + (AHEAD_CYCLES + FAST_LOOK_CYCLES) * cycle);
		assert_in_range(clock_of(slow), shown, shown + SLOW_LOOK_CYCLES * cycle);
		run_slow(slow, fixture.machine);
	}
	assert_true(furthest > AHEAD_CYCLES * cycle);
	__atomic_store_n(&runner.stop, true, __ATOMIC_RELEASE);
	machine_hart_pause(slow);
	pthread_join(runner.thread, NULL);
	pthread_barrier_destroy(&entered);
	machine_hart_resume(slow);
	machine_hart_leave(slow);
	fixture_down(&fixture);
}

#define WHILE_NS 50000000 /* many times what a look at a thread that sleeps takes */

static void begin_ahead(struct runner *runner, struct fixture *fixture, pthread_barrier_t *entered)
{
	*runner = (struct runner){.fixture = fixture, .entered = entered};
	pthread_barrier_init(entered, NULL, 2);
	assert_int_equal(pthread_create(&runner->thread, NULL, run_ahead, runner), 0);
	pthread_barrier_wait(entered);
}

static void end_ahead(struct runner *runner, pthread_barrier_t *entered)
{
	__atomic_store_n(&runner->stop, true, __ATOMIC_RELEASE);
	pthread_join(runner->thread, NULL);
	pthread_barrier_destroy(entered);
}

/* The caller is awake all the time. */
static void pass_time(uint64_t ns)
{
	uint64_t begin = clock_ns();

	while (clock_ns() - begin < ns)
		continue;
}

static uint64_t furthest_ahead(const struct fixture *fixture)
{
	return (AHEAD_CYCLES + FAST_LOOK_CYCLES) *
	       machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_CORE);
}

static void await_passing(const struct runner *runner)
{
	while (clock_of(runner->core) <= furthest_ahead(runner->fixture))
		continue;
}

/* It runs on the machine from then on: how long it takes to begin is the host's affair. */
static void a_thread_is_waited_for_before_it_begins(void **unused)
{
	struct machine_hart *placed;
	pthread_barrier_t entered;
	struct runner runner;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	placed = machine_hart_place(fixture.machine, 0);
	begin_ahead(&runner, &fixture, &entered);
	pass_time(WHILE_NS);
	assert_true(clock_of(runner.core) <= furthest_ahead(&fixture));
	machine_hart_leave(placed);
	await_passing(&runner);
	end_ahead(&runner, &entered);
	fixture_down(&fixture);
}

static void *sleep_for_lock(void *argument)
{
	struct runner *runner = argument;
	struct fixture *fixture = runner->fixture;

	runner->core = machine_hart_enter(fixture->machine, fixture->space, 0);
	pthread_barrier_wait(runner->entered);
	pthread_mutex_lock(runner->lock);
	pthread_mutex_unlock(runner->lock);
	machine_hart_leave(runner->core);
	return NULL;
}

/*
 * As in an emulator where one thread translates code and another wants to: who has the lock is
 * awake, and so the one that sleeps for it will go on.
 */
static void a_sleeper_is_waited_for_while_another_is_awake(void **unused)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct machine_hart *awake;
	pthread_barrier_t entered[2];
	struct runner sleeper, runner;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	awake = machine_hart_enter(fixture.machine, fixture.space, 0);
	pthread_mutex_lock(&lock);
	pthread_barrier_init(&entered[0], NULL, 2);
	sleeper = (struct runner){.fixture = &fixture, .entered = &entered[0], .lock = &lock};
	assert_int_equal(pthread_create(&sleeper.thread, NULL, sleep_for_lock, &sleeper), 0);
	pthread_barrier_wait(&entered[0]);
	machine_hart_pause(awake);
	begin_ahead(&runner, &fixture, &entered[1]);
	pass_time(4 * WHILE_NS);
	assert_true(clock_of(runner.core) <= furthest_ahead(&fixture));
	pthread_mutex_unlock(&lock);
	pthread_join(sleeper.thread, NULL);
	await_passing(&runner);
	end_ahead(&runner, &entered[1]);
	pthread_barrier_destroy(&entered[0]);
	machine_hart_resume(awake);
	machine_hart_leave(awake);
	fixture_down(&fixture);
}

/* It goes on without the other. */
static void post_and_run(struct runner *runner)
{
	runner->posted = clock_of(runner->core);
	sem_post(runner->passed);
	while (!__atomic_load_n(&runner->stop, __ATOMIC_ACQUIRE))
		run_fast(runner->core, runner->fixture->machine);
	machine_hart_leave(runner->core);
}

static void *run_past(void *argument)
{
	struct runner *runner = argument;
	struct fixture *fixture = runner->fixture;

	runner->core = machine_hart_enter(fixture->machine, fixture->space, 0);
	pthread_barrier_wait(runner->entered);
	while (!runner->core->stall.passes)
		run_fast(runner->core, fixture->machine);
	post_and_run(runner);
	return NULL;
}

/*
 * One that sleeps while all others wait for it is passed, by a block at a time: from the moment it
 * is awake they wait for it as before. The last block may have begun when it was not.
 */
static void a_core_that_was_passed_stays_in_sight(void **unused)
{
	struct machine_hart *core;
	pthread_barrier_t entered;
	struct runner runner;
	struct fixture fixture;
	sem_t passed;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	sem_init(&passed, 0, 0);
	pthread_barrier_init(&entered, NULL, 2);
	runner = (struct runner){.fixture = &fixture, .entered = &entered, .passed = &passed};
	assert_int_equal(pthread_create(&runner.thread, NULL, run_past, &runner), 0);
	pthread_barrier_wait(&entered);
	assert_int_equal(sem_wait(&passed), 0);
	pass_time(WHILE_NS);
	assert_true(clock_of(runner.core) <=
		    runner.posted + machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_CORE));
	machine_hart_pause(core);
	end_ahead(&runner, &entered);
	sem_destroy(&passed);
	machine_hart_resume(core);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

static void *run_beside(void *argument)
{
	struct runner *runner = argument;
	struct fixture *fixture = runner->fixture;

	runner->core = machine_hart_place_on(fixture->machine, 1, 0);
	assert_true(machine_hart_start(runner->core, fixture->space));
	post_and_run(runner);
	return NULL;
}

/*
 * Who begins on a core whose thread sleeps does not wait for it; from the moment that one is awake
 * it does, after the next look, or its clock would run free of all others.
 */
static void who_goes_on_without_its_core_waits_for_it_again(void **unused)
{
	struct machine_hart *core;
	struct runner runner;
	struct fixture fixture;
	sem_t passed;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	sem_init(&passed, 0, 0);
	runner = (struct runner){.fixture = &fixture, .passed = &passed};
	assert_int_equal(pthread_create(&runner.thread, NULL, run_beside, &runner), 0);
	assert_int_equal(sem_wait(&passed), 0);
	pass_time(WHILE_NS);
	assert_true(clock_of(runner.core) <=
		    runner.posted + FAST_LOOK_CYCLES *
					machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_CORE));
	machine_hart_pause(core);
	while (lock_owner(&fixture.machine->cores[0].owner) != runner.core->thread)
		continue;
	__atomic_store_n(&runner.stop, true, __ATOMIC_RELEASE);
	pthread_join(runner.thread, NULL);
	sem_destroy(&passed);
	machine_hart_resume(core);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

/* A process that dies on a core, with the machine's lock and with the core's owner. */
static void the_dead_hold_nothing(void **unused)
{
	struct machine_hart *core;
	struct machine_statistics stats;
	struct fixture fixture;
	int status;
	pid_t child;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	child = fork();
	if (!child) {
		core = machine_hart_enter(fixture.machine, fixture.space, 0);
		work(core, fixture.machine, 7, 1000);
		machine_lock(fixture.machine);
		kill(getpid(), SIGKILL);
	}
	/* Still a zombie when its lock is wanted. */
	while (waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT))
		assert_int_equal(errno, EINTR);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	work(core, fixture.machine, 8, 1000);
	machine_hart_leave(core);
	waitpid(child, &status, 0);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.instructions, 2 * 4000);
	assert_int_equal(stats.branches, 2 * 1000);
	fixture_down(&fixture);
}

static void a_dead_thread_frees_its_core(void **unused)
{
	struct machine_hart *core;
	struct fixture fixture;
	pid_t child;
	uint64_t before;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	child = fork();
	if (!child) {
		core = machine_hart_enter(fixture.machine, fixture.space, 0);
		work(core, fixture.machine, 7, 1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	before = core_clock(&fixture.machine->cores[0]);
	assert_true(before > 0);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	/* Core 0 again, whose clock is where the dead left it. */
	assert_int_equal(core->number, 0);
	assert_int_equal(machine_hart_time(core), before);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

static void *start_last_first(void *argument)
{
	struct runner *runner = argument;

	assert_true(machine_hart_start(runner->core, runner->fixture->space));
	machine_load(runner->core, 64 * runner->core->number, 8, &plain);
	return NULL;
}

/* Each starts where it was placed, whoever comes first. */
static void places_are_in_order_of_creation(void **unused)
{
	struct runner runners[4] = {0};
	struct machine_hart *fifth;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	for (unsigned i = 0; i < 4; i++) {
		runners[i] = (struct runner){.fixture = &fixture,
					     .core = machine_hart_place(fixture.machine, 0)};
		assert_int_equal(runners[i].core->number, i);
	}
	for (unsigned i = 4; i-- > 0;) {
		assert_int_equal(
		    pthread_create(&runners[i].thread, NULL, start_last_first, &runners[i]), 0);
		pthread_join(runners[i].thread, NULL);
		assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, i, 64 * i), 'E');
	}
	/* All four have died without leaving. */
	fifth = machine_hart_place(fixture.machine, 0);
	assert_int_equal(fifth->number, 0);
	machine_hart_leave(fifth);
	for (unsigned i = 0; i < 4; i++)
		free(runners[i].core);
	fixture_down(&fixture);
}

static void processes_share_the_caches(void **unused)
{
	struct machine_hart *core;
	struct machine_statistics stats;
	struct fixture fixture;
	pid_t child;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	machine_store(core, 0, 8, &plain);
	child = fork();
	if (!child) {
		core = machine_hart_enter(fixture.machine, fixture.space, 0);
		machine_load(core, 0, 8, &plain);
		machine_hart_leave(core);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 0), 'S');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 1, 0), 'S');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_LLC, 0, 0), 'M');
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.home_reads, 1);
	machine_hart_leave(core);
	fixture_down(&fixture);
}

static void read_lines(struct machine_hart *core, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++)
		machine_load(core, 64 * (uint64_t)i, 8, &plain);
}

/* Who makes room has its own caches already when the victim is in two cores. */
static void one_is_left_with_the_lines_of_two(void **unused)
{
	const struct pmu_machine desc = small_machine();
	const unsigned lines = desc.slices * desc.llc.sets * desc.llc.ways;
	struct machine_hart *cores[2], *left;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	for (unsigned i = 0; i < 2; i++) {
		cores[i] = machine_hart_enter(fixture.machine, fixture.space, 0);
		read_lines(cores[i], 0, lines / 2);
	}
	for (unsigned i = 0; i < 2; i++)
		machine_hart_leave(cores[i]);
	alarm(SECONDS_TO_HANG);
	left = machine_hart_enter(fixture.machine, fixture.space, 0);
	read_lines(left, lines, 2 * lines);
	alarm(0);
	for (unsigned i = 0; i < lines / 2; i++)
		assert_int_equal(machine_peek(fixture.machine, MACHINE_LLC, 0, 64 * (uint64_t)i),
				 'I');
	assert_int_equal(lock_owner(&fixture.machine->cores[0].caches), left->thread);
	machine_hart_leave(left);
	fixture_down(&fixture);
}

#define HOLD_NS	    400000000u
#define PATIENCE_NS 50000000u

struct holder {
	struct machine *machine;
	sem_t holds, is_over;
	bool sleeps;
};

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void *hold(void *arg)
{
	struct holder *holder = arg;
	const uint64_t begin = clock_ns();

	machine_lock(holder->machine);
	sem_post(&holder->holds);
	if (holder->sleeps)
		await(&holder->is_over);
	while (clock_ns() - begin < HOLD_NS)
		continue;
	machine_unlock(holder->machine);
	return NULL;
}

/* Who waits loses its patience with a holder that sleeps, and not with one that computes. */
static void a_busy_holder_is_waited_for(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	for (int sleeps = 0; sleeps < 2; sleeps++) {
		struct holder holder = {.machine = fixture.machine, .sleeps = sleeps};
		pthread_t thread;
		bool taken;

		sem_init(&holder.holds, 0, 0);
		sem_init(&holder.is_over, 0, 0);
		assert_int_equal(pthread_create(&thread, NULL, hold, &holder), 0);
		await(&holder.holds);
		taken = machine_lock_within(fixture.machine, PATIENCE_NS);
		sem_post(&holder.is_over);
		assert_int_equal(taken, !sleeps);
		if (taken)
			machine_unlock(fixture.machine);
		pthread_join(thread, NULL);
		sem_destroy(&holder.holds);
		sem_destroy(&holder.is_over);
	}
	fixture_down(&fixture);
}

#define PASSED_MS     5
#define PAUSES	      20000
#define WAIT_CYCLES   10000 /* no read of memory takes as long */
#define PASS_PATIENCE 1000000

struct passing {
	struct machine *machine;
	bool ends;
};

static void *let_time_pass(void *argument)
{
	struct passing *passing = argument;
	struct machine *machine = passing->machine;
	const uint64_t ticks = machine_ticks_per_second(machine) / 1000 * PASSED_MS;

	while (!__atomic_load_n(&passing->ends, __ATOMIC_RELAXED)) {
		if (!machine_lock_within(machine, PASS_PATIENCE))
			continue;
		machine_pass(machine, ticks);
		machine_catch_up_channels(machine, 0, UINT32_MAX);
		machine_unlock(machine);
	}
	return NULL;
}

/* A thread that comes back while time passes begins after it, and does not wait for it. */
static void time_that_passes_is_nobodys(void **unused)
{
	struct machine_hart *core;
	struct passing passing = {0};
	struct fixture fixture;
	uint64_t longest = 0;
	pthread_t thread;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5v4-4c"));
	passing.machine = fixture.machine;
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	assert_int_equal(pthread_create(&thread, NULL, let_time_pass, &passing), 0);
	for (uint64_t i = 0; i < PAUSES; i++) {
		uint64_t begin;

		machine_hart_pause(core);
		machine_hart_resume(core);
		begin = machine_hart_time(core);
		machine_load(core, i * 64, 8, &plain);
		machine_locked(core, 0, 8, &plain);
		if (machine_hart_time(core) - begin > longest)
			longest = machine_hart_time(core) - begin;
	}
	__atomic_store_n(&passing.ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	machine_hart_leave(core);
	assert_in_range(longest, 1, WAIT_CYCLES * fixture.machine->core_ticks);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_busy_holder_is_waited_for),
	    cmocka_unit_test(four_threads),
	    cmocka_unit_test(nine_threads_on_four_cores),
	    cmocka_unit_test(two_threads_own_one_core),
	    cmocka_unit_test(a_stopped_core_is_left_behind),
	    cmocka_unit_test(running_cores_keep_together),
	    cmocka_unit_test(a_thread_is_waited_for_before_it_begins),
	    cmocka_unit_test(a_sleeper_is_waited_for_while_another_is_awake),
	    cmocka_unit_test(a_core_that_was_passed_stays_in_sight),
	    cmocka_unit_test(who_goes_on_without_its_core_waits_for_it_again),
	    cmocka_unit_test(the_dead_hold_nothing),
	    cmocka_unit_test(a_dead_thread_frees_its_core),
	    cmocka_unit_test(time_that_passes_is_nobodys),
	    cmocka_unit_test(places_are_in_order_of_creation),
	    cmocka_unit_test(processes_share_the_caches),
	    cmocka_unit_test(one_is_left_with_the_lines_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
