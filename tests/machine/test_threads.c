/* Threads and processes on one machine: invariants hold, nothing is waited for in vain. */
#include "machine_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARED_LINES 2048
#define STEPS	     100000

struct worker {
	struct scene *scene;
	unsigned number;
	pthread_t thread;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void work(struct machine_core *core, struct machine *machine, uint64_t seed, unsigned steps)
{
	uint64_t random = 88172645463325252 + seed;

	for (unsigned i = 0; i < steps; i++) {
		uint64_t address = next_random(&random) % SHARED_LINES * 64;
		struct machine_block block;

		machine_block_init(machine, &block, 0x400000, 16, 4, 1, 1);
		machine_run(core, &block);
		switch (random >> 60) {
		case 0:
			machine_stream(core, address, 16);
			break;
		case 1:
			machine_locked(core, address, 8, &plain);
			break;
		case 2:
		case 3:
		case 4:
			machine_store(core, address, 8, &plain);
			break;
		default:
			machine_load(core, address, 8, &plain);
		}
		if (random % 5000 == 0) {
			machine_core_pause(core);
			machine_core_resume(core);
		}
	}
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	struct scene *scene = worker->scene;
	struct machine_core *core = machine_core_enter(scene->machine, scene->space, 0);

	work(core, scene->machine, worker->number, STEPS);
	machine_core_leave(core);
	return NULL;
}

static unsigned holders(const struct scene *scene, uint64_t address, char state)
{
	unsigned count = 0;

	for (unsigned core = 0; core < scene->desc.sockets * scene->desc.cores; core++)
		count += machine_peek(scene->machine, MACHINE_L1D, core, address) == state ||
			 machine_peek(scene->machine, MACHINE_L2, core, address) == state;
	return count;
}

/* One owner, nobody beside an owner, and the LLC knows of every copy. */
static void check_invariants(const struct scene *scene, uint64_t address)
{
	unsigned modified = holders(scene, address, 'M'), exclusive = holders(scene, address, 'E');

	for (unsigned core = 0; core < scene->desc.sockets * scene->desc.cores; core++) {
		unsigned socket = core / scene->desc.cores;
		char l1d = machine_peek(scene->machine, MACHINE_L1D, core, address);
		char l1i = machine_peek(scene->machine, MACHINE_L1I, core, address);
		char l2 = machine_peek(scene->machine, MACHINE_L2, core, address);
		char llc = machine_peek(scene->machine, MACHINE_LLC, socket, address);
		uint32_t core_valid = machine_peek_core_valid(scene->machine, socket, address);

		if (l1d == 'I' && l1i == 'I' && l2 == 'I')
			continue;
		assert_int_not_equal(llc, 'I');
		assert_true(core_valid >> core % scene->desc.cores & 1);
		if (l1d == 'M' || l1d == 'E' || l2 == 'M') {
			assert_true(llc == 'M' || llc == 'E');
			assert_int_equal(__builtin_popcount(core_valid), 1);
			assert_int_equal(holders(scene, address, 'S'), l2 == 'S');
		}
	}
	assert_true(modified + (exclusive && !modified) <= 1);
}

static void run_threads(unsigned threads)
{
	struct worker workers[16];
	struct machine_truth truth;
	struct scene scene;
	struct timespec start, end;

	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){&scene, i, 0};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]),
				 0);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_message("%u threads: %ld ms\n", threads,
		      (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000);

	for (uint64_t line = 0; line < 8 * SHARED_LINES; line++)
		check_invariants(&scene, line * 64);
	machine_drain(scene.machine);
	machine_truth(scene.machine, &truth);
	assert_int_equal(truth.llc_misses, truth.home_reads);
	assert_int_equal(truth.home_writes, truth.llc_writebacks + truth.wc_lines);
	assert_int_equal(truth.llc_lookups, truth.l2_misses + truth.l2_writebacks + truth.wc_lines);
	assert_int_equal(truth.cas_writes + truth.wpq_write_hits, truth.home_writes);
	if (threads <= 4) {
		assert_int_equal(truth.instructions, threads * STEPS * 4ull);
		assert_int_equal(truth.loads + truth.stores + truth.locked + truth.nt_stores,
				 threads * (uint64_t)STEPS);
	}
	close_machine(&scene);
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
	struct machine_core *core;
	struct worker worker;
	struct scene scene;

	(void)unused;
	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_core_enter(scene.machine, scene.space, 0);
	worker = (struct worker){&scene, 1, 0};
	assert_int_equal(pthread_create(&worker.thread, NULL, run_worker, &worker), 0);
	pthread_join(worker.thread, NULL);
	assert_int_equal(machine_core_time(core), 0);
	assert_true(machine_now(scene.machine) > 0);
	machine_core_leave(core);
	close_machine(&scene);
}

struct pacer {
	struct scene *scene;
	uint64_t apart; /* most ticks that it was ahead of the other */
	struct pacer *other;
	struct machine_core *core;
	pthread_barrier_t *ready;
	pthread_t thread;
};

static void *run_pacer(void *argument)
{
	struct pacer *pacer = argument;
	struct machine_block block;

	pacer->core = machine_core_enter(pacer->scene->machine, pacer->scene->space, 0);
	pthread_barrier_wait(pacer->ready);
	machine_block_init(pacer->scene->machine, &block, 0x400000, 16, 4, 0, 4);
	for (unsigned i = 0; i < 1000000; i++) {
		uint64_t mine, others;

		machine_run(pacer->core, &block);
		if (i % 64)
			continue;
		others = machine_core_time(pacer->other->core);
		mine = machine_core_time(pacer->core);
		if (mine > others && mine - others > pacer->apart)
			pacer->apart = mine - others;
	}
	pthread_barrier_wait(pacer->ready);
	machine_core_leave(pacer->core);
	return NULL;
}

static uint64_t farthest_apart(void)
{
	struct pacer pacers[2];
	pthread_barrier_t ready;
	struct scene scene;
	uint64_t cycle, apart;

	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	cycle = machine_ticks_per_second(scene.machine) / (scene.desc.core_mhz * 1000000ull);
	pthread_barrier_init(&ready, NULL, 2);
	for (unsigned i = 0; i < 2; i++) {
		pacers[i] = (struct pacer){&scene, 0, &pacers[1 - i], NULL, &ready, 0};
		assert_int_equal(pthread_create(&pacers[i].thread, NULL, run_pacer, &pacers[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(pacers[i].thread, NULL);
	apart = pacers[0].apart > pacers[1].apart ? pacers[0].apart : pacers[1].apart;
	pthread_barrier_destroy(&ready);
	close_machine(&scene);
	return apart / cycle;
}

/*
 * 10000 cycles, what runs between two looks, and what the other had not yet shown. A busy host may
 * stop one for longer than it is waited for: then nothing can be told.
 */
static void running_cores_keep_together(void **unused)
{
	(void)unused;
	for (int tries = 0; tries < 20; tries++)
		if (farthest_apart() <= 30000)
			return;
	skip();
}

/* A process that dies on a core, with the machine's lock and with the core's turn. */
static void the_dead_hold_nothing(void **unused)
{
	struct machine_core *core;
	struct machine_truth truth;
	struct scene scene;
	int status;
	pid_t child;

	(void)unused;
	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	child = fork();
	if (!child) {
		core = machine_core_enter(scene.machine, scene.space, 0);
		work(core, scene.machine, 7, 1000);
		machine_lock(scene.machine);
		kill(getpid(), SIGKILL);
	}
	/* Still a zombie when its lock is wanted. */
	while (waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT))
		assert_int_equal(errno, EINTR);
	core = machine_core_enter(scene.machine, scene.space, 0);
	work(core, scene.machine, 8, 1000);
	machine_core_leave(core);
	waitpid(child, &status, 0);
	machine_truth(scene.machine, &truth);
	assert_int_equal(truth.instructions, 2 * 4000);
	close_machine(&scene);
}

static void a_dead_thread_frees_its_core(void **unused)
{
	struct machine_core *core;
	struct scene scene;
	pid_t child;
	uint64_t before;

	(void)unused;
	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	child = fork();
	if (!child) {
		core = machine_core_enter(scene.machine, scene.space, 0);
		work(core, scene.machine, 7, 1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	before = machine_now(scene.machine);
	core = machine_core_enter(scene.machine, scene.space, 0);
	/* Core 0 again, whose clock is where the dead left it. */
	assert_true(machine_core_time(core) > before / 2);
	machine_core_leave(core);
	close_machine(&scene);
}

static void processes_share_the_caches(void **unused)
{
	struct machine_core *core;
	struct machine_truth truth;
	struct scene scene;
	pid_t child;

	(void)unused;
	open_machine(&scene, pmu_find_machine("xeon-e5v4-4c"));
	core = machine_core_enter(scene.machine, scene.space, 0);
	machine_store(core, 0, 8, &plain);
	child = fork();
	if (!child) {
		core = machine_core_enter(scene.machine, scene.space, 0);
		machine_load(core, 0, 8, &plain);
		machine_core_leave(core);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 0, 0), 'S');
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 1, 0), 'S');
	assert_int_equal(machine_peek(scene.machine, MACHINE_LLC, 0, 0), 'M');
	machine_truth(scene.machine, &truth);
	assert_int_equal(truth.home_reads, 1);
	machine_core_leave(core);
	close_machine(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(four_threads),
	    cmocka_unit_test(nine_threads_on_four_cores),
	    cmocka_unit_test(a_stopped_core_is_left_behind),
	    cmocka_unit_test(running_cores_keep_together),
	    cmocka_unit_test(the_dead_hold_nothing),
	    cmocka_unit_test(a_dead_thread_frees_its_core),
	    cmocka_unit_test(processes_share_the_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
