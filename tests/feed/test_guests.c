/*
 * Guests of known instructions under an emulator, fed to a real machine. usage: test_feed_guests
 * qemu PLUGIN GUESTS or valgrind TOOL GUESTS. Exit status 77 without qemu-x86_64, or valgrind.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emul/block.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/untranslated.h"

#define COUNT	1000 /* of guests/guests.h */
#define WORK	100000
#define SKIPPED 77

static const char *plugin_path, *guests_path;
static bool is_valgrind;

static int computer_up(void **state)
{
	struct emul *emul;
	struct pmu_ctx *ctx;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	if (emul_new(&emul, ctx, untranslated("xeon-e5v4-4c")))
		fail_msg("%s", pmu_message(ctx));
	pmu_ctx_free(ctx);
	switch_prefetchers_off(emul_machine(emul));
	*state = emul;
	return 0;
}

static int computer_down(void **state)
{
	emul_free(*state);
	return 0;
}

static void become_qemu(const char *guest, const char *machine)
{
	char plugin[4200];

	snprintf(plugin, sizeof(plugin), "%s,machine=%s", plugin_path, machine);
	execlp("qemu-x86_64", "qemu-x86_64", "-plugin", plugin, guest, NULL);
}

/* Its tools are found by their folder. */
static void become_valgrind(const char *guest, const char *machine)
{
	char folder[4200], option[64];

	snprintf(folder, sizeof(folder), "%s", plugin_path);
	*strrchr(folder, '/') = '\0';
	snprintf(option, sizeof(option), "--machine=%s", machine);
	setenv("VALGRIND_LIB", folder, 1);
	execlp("valgrind", "valgrind", "--tool=pmulab", "--quiet", "--vgdb=no",
	       "--trace-children=yes", option, guest, NULL);
}

static _Noreturn void become(const char *guest, const char *machine)
{
	if (is_valgrind)
		become_valgrind(guest, machine);
	else
		become_qemu(guest, machine);
	_exit(127);
}

/* Runs a guest on the machine; complaints of a dying one are of no interest. */
static pid_t start(struct emul *emul, const char *guest)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		char path[4200], machine[64];

		snprintf(path, sizeof(path), "%s/%s", guests_path, guest);
		snprintf(machine, sizeof(machine), "/proc/%d/fd/%d", (int)getppid(), emul_fd(emul));
		/* Where those find each other that execute one another. */
		if (!chdir(guests_path))
			become(path, machine);
		_exit(127);
	}
	return pid;
}

static int end(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int run(struct emul *emul, const char *guest)
{
	return end(start(emul, guest));
}

static void read_statistics(struct emul *emul, struct machine_statistics *stats)
{
	machine_drain(emul_machine(emul));
	machine_statistics(emul_machine(emul), stats);
}

struct expected {
	const char *guest;
	uint64_t instructions, loads, stores, locked, nt_stores, branches;
};

/*
 * Counted by reading the guests. Each begins with a few instructions, goes COUNT times through its
 * loop, which ends with two (dec, jnz), and leaves with three, the last a system call.
 */
#define LOADS (2 + 4 * COUNT + 3)
static const struct expected table[] = {
    {"loads", LOADS, COUNT, 0, 0, 0, COUNT + 1},
    {"updates", 1 + 4 * COUNT + 3, 2 * COUNT, 2 * COUNT, 0, 0, COUNT + 1},
    {"stack", 1 + 8 * COUNT + 3, 4 * COUNT, 4 * COUNT, 0, 0, 3 * COUNT + 1},
    {"locked", 1 + 7 * COUNT + 3, 0, 0, 5 * COUNT, 0, COUNT + 1},
    {"wide", 1 + 9 * COUNT + 3, 4 * COUNT, 3 * COUNT, 0, 0, COUNT + 1},
    {"exchanges", 1 + 3 * COUNT + 3, COUNT, COUNT, 0, 0, COUNT + 1},
    /* an operand in two lines is two accesses to L1 */
    {"pieces", 1 + 5 * COUNT + 3, 2 * COUNT + 2 * COUNT, 0, 0, 0, COUNT + 1},
    /* one of the stores is in two lines, one has no element */
    {"masked", 3 + 9 * COUNT + 3, 3 * COUNT, 4 * COUNT, 0, 0, COUNT + 1},
    {"beyond", 1 + 9 * COUNT + 3, 7 * COUNT, 0, 0, 0, COUNT + 1},
    {"unused", 1 + 19 * COUNT + 3, 16 * COUNT, COUNT, 0, 0, COUNT + 1},
    {"hints", 1 + 7 * COUNT + 3, 0, 0, 0, 0, COUNT + 1},
    {"controls", 3 + 8 * COUNT + 1 + 7 * COUNT + 2 + 3, 0, COUNT, 0, 0, 2 * COUNT + 1},
    {"pages", 2 + 5 * COUNT + 3, COUNT, 0, 0, 0, 1 + COUNT + 1},
    /* 1 MiB in pieces of 32 bytes, loaded and stored, then stored again */
    {"strings", 3 + 1 + 2 + 1 + 3, 32768, 2 * 32768, 0, 0, 1},
    /* three comparisons of two operands a byte, then a scan */
    {"scans", 1 + 3 * 6 + 4 + 2 + 3, 3 * 2 * COUNT + COUNT, 0, 0, 0, 3 + 1},
    {"streams", 2 + 8 * 4 * COUNT + 1 + 4 * 4 * COUNT + 1 + 3, 0, 0, 0, 12 * COUNT, 12 * COUNT + 1},
    /* five to the fork, six to wait, one and a loop of three in both; three in the child before */
    {"fork", 5 + 6 + 3 + 2 * (1 + 3 * COUNT + 3), 2 * COUNT, 0, 0, 0, 2 + 1 + 1 + 2 * (COUNT + 1)},
    /* six system calls, two comparisons; a store and a return in the handler */
    {"handles", 6 + 6 + 5 + 6 + 2 + 2 + 3, 3, 1, 0, 0, 6 + 2 + 1},
    /* what they do themselves, and loads */
    {"execs", 7 + 7 + 6 + LOADS, 2 + COUNT, 3, 0, 0, 3 + 2 + 3 + COUNT + 1},
    {"execat", 11 + LOADS, COUNT, 0, 0, 0, 2 + COUNT + 1},
    {"vforks", 4 + 6 + 3 + 2 + 5 + LOADS, COUNT, 0, 0, 0, 2 + 4 + COUNT + 1},
    {"passes", 2 * (1 + 2 * WORK + 2) + 5 + 3, 2, 0, 0, 0, 2 * (WORK + 1) + 2},
};

static void check(const struct expected *expected, const struct machine_statistics *before,
		  const struct machine_statistics *after)
{
	const struct expected counted = {
	    .instructions = after->instructions - before->instructions,
	    .loads = after->loads - before->loads,
	    .stores = after->stores - before->stores,
	    .locked = after->locked - before->locked,
	    .nt_stores = after->nt_stores - before->nt_stores,
	    .branches = after->branches - before->branches,
	};

	if (counted.instructions != expected->instructions || counted.loads != expected->loads ||
	    counted.stores != expected->stores || counted.locked != expected->locked ||
	    counted.nt_stores != expected->nt_stores || counted.branches != expected->branches)
		fail_msg("%s: %lu instructions, %lu loads, %lu stores, %lu locked, %lu streamed, "
			 "%lu branches",
			 expected->guest, counted.instructions, counted.loads, counted.stores,
			 counted.locked, counted.nt_stores, counted.branches);
}

static void run_and_check(struct emul *emul, const struct expected *expected)
{
	struct machine_statistics before, after;

	read_statistics(emul, &before);
	assert_int_equal(run(emul, expected->guest), 0);
	read_statistics(emul, &after);
	check(expected, &before, &after);
}

/* One after the other on one machine, which is never reset. */
static void exact_counts(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		run_and_check(*state, &table[i]);
}

/* The array of the loads guest, its cell of code: every line once, from memory. */
static void lines_of_an_array(void **state)
{
	struct machine_statistics stats;

	assert_int_equal(run(*state, "loads"), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.l1d_misses, 8 * COUNT / 64);
	assert_int_equal(stats.home_reads, stats.l1d_misses + stats.l1i_misses);
	assert_int_equal(stats.cas_reads, stats.home_reads);
	assert_int_equal(stats.home_writes, 0);
}

/* Code is what is touched first, and begins with its page: frame 0. */
static void first_thread_on_first_core(void **state)
{
	assert_int_equal(run(*state, "loads"), 0);
	assert_int_equal(machine_peek(emul_machine(*state), MACHINE_L1I, 0, 0), 'S');
	assert_int_equal(machine_peek(emul_machine(*state), MACHINE_L1I, 1, 0), 'I');
}

/* Full lines: written whole, without reading; a part of a line would need an underfill read. */
static void full_lines_streamed(void **state)
{
	struct machine_statistics stats;

	assert_int_equal(run(*state, "streams"), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.home_owns, 2 * COUNT);
	assert_int_equal(stats.home_writes, 2 * COUNT);
	assert_int_equal(stats.cas_writes, 2 * COUNT);
	assert_int_equal(stats.cas_reads, stats.l1i_misses);
}

/* A guest that ends leaves its core, which drains what its buffers hold of a line. */
static void part_of_a_line(void **state)
{
	struct machine_statistics stats;

	assert_int_equal(run(*state, "partial"), 0);
	machine_statistics(emul_machine(*state), &stats);
	assert_int_equal(stats.nt_stores, 1);
	assert_int_equal(stats.home_owns, 1);
	assert_int_equal(stats.home_writes, 1);
	read_statistics(*state, &stats);
	assert_int_equal(stats.cas_reads, stats.l1i_misses + 1);
}

/*
 * Written, taken from all caches, and read again, in E; nothing of an address without a page. QEMU
 * tells none of it.
 */
static void lines_flushed_and_prefetched(void **state)
{
	struct machine_statistics stats;

	assert_int_equal(run(*state, "controls"), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.flushes, is_valgrind ? COUNT : 0);
	assert_int_equal(stats.flush_writes, stats.flushes);
	assert_int_equal(stats.home_reads, COUNT + stats.flushes + stats.l1i_misses);
	assert_int_equal(stats.l2_misses, stats.home_reads);
}

static void four_threads(void **state)
{
	struct machine_statistics stats;

	/* Status 0: no increment was lost, so they did run as atomic ones. */
	assert_int_equal(run(*state, "threads"), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.locked, 4 * COUNT + 4);
	assert_int_equal(stats.stores, 0);
}

/*
 * Parent and child touch pages of their own: the cell is read from memory twice; the line of their
 * code, which is the file's, once.
 */
static void fork_has_own_pages(void **state)
{
	struct machine_statistics stats;

	assert_int_equal(run(*state, "fork"), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.l1d_misses, 2);
	assert_int_equal(stats.l1i_misses, 2);
	assert_int_equal(stats.cas_reads, 2 + 1);
}

static double core_cycles(struct emul *emul)
{
	const struct machine *machine = emul_machine(emul);

	return (double)machine_now(machine) / (double)machine_ticks_per_second(machine) *
	       emul_desc(emul)->core_mhz * 1e6;
}

/* Two loops of WORK turns, one after the other; each turn waits a cycle for the count of the last.
 */
static void check_sequence(struct emul *emul, const char *guest)
{
	const double loop = WORK;

	assert_int_equal(run(emul, guest), 0);
	if (core_cycles(emul) < 2 * loop || core_cycles(emul) > 2.2 * loop)
		fail_msg("%s took %.0f cycles", guest, core_cycles(emul));
}

static void time_passes_while_waiting(void **state)
{
	struct machine_statistics stats;

	check_sequence(*state, "waits");
	/* On a core of its own the child fetches both lines of code anew. */
	read_statistics(*state, &stats);
	assert_int_equal(stats.l1i_misses, 4);
}

static void thread_begins_when_made(void **state)
{
	check_sequence(*state, "relay");
}

/* One after the other, as threads of a process would work; the code is fetched anew. */
static void execve_goes_on_in_time(void **state)
{
	check_sequence(*state, "passes");
}

/* However far the first thread comes: it loads nothing, and leaves nothing behind. */
static void execve_ends_other_threads(void **state)
{
	struct machine_statistics stats;

	for (uint64_t i = 1; i <= 5; i++) {
		assert_int_equal(run(*state, "usurps"), 0);
		read_statistics(*state, &stats);
		assert_int_equal(stats.loads, i * COUNT);
	}
	run_and_check(*state, &table[0]);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* However a guest ends, the next one finds the machine as it should be. */
static void killed(void **state)
{
	struct machine_statistics stats;
	pid_t pid = start(*state, "endless");
	int waited = 0, status;

	do {
		nap();
		machine_statistics(emul_machine(*state), &stats);
	} while (stats.instructions < 1000000 && waited++ < 3000);
	kill(pid, SIGKILL);
	status = end(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(stats.instructions >= 1000000);
	machine_lock(emul_machine(*state));
	machine_unlock(emul_machine(*state));
	run_and_check(*state, &table[0]);
}

static void killed_often(void **state)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = start(*state, "endless");

		nanosleep(&(struct timespec){.tv_nsec = 20000000 + 1000003 * i}, NULL);
		kill(pid, SIGKILL);
		end(pid);
	}
	run_and_check(*state, &table[0]);
}

/* An illegal instruction kills the guest; its block of one was entered, and is counted. */
static void faulted(void **state)
{
	struct machine_statistics stats;
	int status = run(*state, "faults");

	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
	read_statistics(*state, &stats);
	assert_int_equal(stats.instructions, 1 + 3 * COUNT + 1);
	assert_int_equal(stats.loads, COUNT);
	run_and_check(*state, &table[0]);
}

/* Threads that spin or wait when the process ends do not keep it, nor what comes after. */
static void abandoned(void **state)
{
	struct machine_statistics stats;

	for (uint64_t i = 1; i <= 20; i++) {
		assert_int_equal(run(*state, "abandons"), 0);
		machine_statistics(emul_machine(*state), &stats);
		assert_int_equal(stats.locked, 2 * i);
	}
	run_and_check(*state, &table[0]);
}

static void three_at_once(void **state)
{
	struct machine_statistics stats;
	pid_t pids[3];

	for (size_t i = 0; i < 3; i++)
		pids[i] = start(*state, "streams");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(end(pids[i]), 0);
	read_statistics(*state, &stats);
	assert_int_equal(stats.nt_stores, 3 * 12 * COUNT);
	assert_int_equal(stats.home_owns, 3 * 2 * COUNT);
}

static void wrong_argument(void **state)
{
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		close(STDERR_FILENO);
		become("/bin/true", "3x");
	}
	assert_int_equal(end(pid), EXIT_FAILURE << 8);
}

static bool have_emulator(void)
{
	return system(is_valgrind ? "valgrind --version > /dev/null 2>&1"
				  : "qemu-x86_64 --version > /dev/null 2>&1") == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(exact_counts, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(lines_of_an_array, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(first_thread_on_first_core, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(full_lines_streamed, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(lines_flushed_and_prefetched, computer_up,
					    computer_down),
	    cmocka_unit_test_setup_teardown(part_of_a_line, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(four_threads, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(fork_has_own_pages, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(time_passes_while_waiting, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(thread_begins_when_made, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(execve_goes_on_in_time, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(execve_ends_other_threads, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(killed, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(killed_often, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(faulted, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(abandoned, computer_up, computer_down),
	    cmocka_unit_test_setup_teardown(three_at_once, computer_up, computer_down),
	    cmocka_unit_test(wrong_argument),
	};

	if (argc != 4)
		return 2;
	is_valgrind = !strcmp(argv[1], "valgrind");
	plugin_path = argv[2];
	guests_path = argv[3];
	if (!have_emulator())
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
