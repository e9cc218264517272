/* Programs by the public API: emulated and native. */
#include <pmulab/program.h>
#include <pmulab/session.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static struct pmu_program *find(struct fixture *fixture, char *const *argv)
{
	struct pmu_program *program;

	if (pmu_program_new(&program, fixture->ctx, pmu_emul_machine(fixture->emul), argv, NULL))
		fail_msg("%s", pmu_message(fixture->ctx));
	return program;
}

static struct pmu_program_result run(struct fixture *fixture, struct pmu_program *program)
{
	struct pmu_program_result result = {.size = sizeof(result)};

	if (pmu_program_run(program, fixture->ctx, fixture->emul, &result))
		fail_msg("%s", pmu_message(fixture->ctx));
	return result;
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *script;
		int exit;
	} rows[] = {{"exit 7", 7}, {"kill -TERM $$", 128 + SIGTERM}, {"true", 0}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {"sh", "-c", (char *)rows[i].script, NULL};
		struct pmu_program *program = find(fixture, argv);
		struct pmu_program_result result = run(fixture, program);

		assert_int_equal(result.exit, rows[i].exit);
		assert_true(result.ran);
		assert_false(result.machine_ended);
		pmu_program_free(program);
	}
}

/* A program that can be run again; what it does is on the machine, and there at the end. */
static void test_machine(void **state)
{
	char *argv[] = {"/bin/true", NULL};
	struct fixture *fixture = *state;
	struct pmu_program *program = find(fixture, argv);
	double time = 0;
	uint64_t instructions = 0;

	for (int i = 0; i < 2; i++) {
		run(fixture, program);
		assert_true(statistics_of(fixture).instructions > instructions + 10000);
		assert_true(pmu_emul_time_ns(fixture->emul) > time);
		instructions = statistics_of(fixture).instructions;
		time = pmu_emul_time_ns(fixture->emul);
	}
	pmu_program_free(program);
}

static void test_refusals(void **state)
{
	char *nothing[] = {"/nowhere/at/all", NULL}, *folder[] = {"/", NULL}, *none[] = {NULL};
	struct fixture *fixture = *state;
	const struct pmu_machine *machine = pmu_emul_machine(fixture->emul);
	const struct pmu_program_options missing = {.size = sizeof(missing),
						    .plugin = "/nowhere.so"};
	char *argv[] = {"/bin/true", NULL};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct pmu_program *program;

	assert_int_equal(pmu_program_new(&program, fixture->ctx, machine, nothing, NULL),
			 PMU_E_UNKNOWN);
	assert_int_equal(pmu_program_new(&program, fixture->ctx, machine, folder, NULL),
			 PMU_E_UNSUPPORTED);
	assert_int_equal(pmu_program_new(&program, fixture->ctx, machine, none, NULL), PMU_E_RANGE);
	/* QEMU says itself what it cannot load, and ends. */
	assert_int_equal(pmu_program_new(&program, fixture->ctx, machine, argv, &missing), 0);
	assert_int_equal(pmu_program_run(program, fixture->ctx, fixture->emul, &result),
			 PMU_E_UNSUPPORTED);
	assert_int_equal(result.exit, 126);
	assert_false(result.ran);
	pmu_program_free(program);
	assert_int_equal(statistics_of(fixture).instructions, 0);
}

/* What the counters of the channels say is what the machine did. */
static void test_counts(void **state)
{
	char *argv[] = {"/bin/true", NULL};
	struct fixture *fixture = *state;
	struct pmu_program *program = find(fixture, argv);
	struct pmu_selection selection;
	const struct pmu_count *counts;
	struct pmu_session *session;
	struct pmu_bus *bus;
	uint64_t total = 0;
	size_t rows;

	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	assert_int_equal(
	    pmu_event_parse(fixture->ctx, pmu_bus_pmu(bus), "imc.CAS_COUNT.RD", &selection), 0);
	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	assert_int_equal(pmu_session_add(session, fixture->ctx, &selection), 0);
	assert_int_equal(pmu_session_start(session, fixture->ctx), 0);
	run(fixture, program);
	assert_int_equal(pmu_session_stop(session, fixture->ctx), 0);
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &rows), 0);
	for (size_t i = 0; i < rows; i++)
		total += counts[i].count;
	assert_true(total > 0);
	assert_int_equal(total, statistics_of(fixture).dram_reads);
	pmu_session_free(session);
	pmu_bus_free(bus);
	pmu_program_free(program);
}

static int run_elsewhere(const char *name)
{
	char *argv[] = {"sh", "-c", "exit 5", NULL};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct pmu_program *program;
	struct pmu_emul *emul;
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx) || pmu_emul_attach(&emul, ctx, name) ||
	    pmu_program_new(&program, ctx, pmu_emul_machine(emul), argv, NULL) ||
	    pmu_program_run(program, ctx, emul, &result))
		return 1;
	pmu_program_free(program);
	pmu_emul_free(emul);
	pmu_ctx_free(ctx);
	return result.exit;
}

static void test_attached(void **state)
{
	struct fixture *fixture = *state;
	char name[32];
	int status = -1;
	pid_t pid;

	snprintf(name, sizeof(name), "test-program-%d", (int)getpid());
	assert_int_equal(pmu_emul_offer(fixture->emul, fixture->ctx, name), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(run_elsewhere(name));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_true(statistics_of(fixture).instructions > 10000);
}

static void test_child(void **state)
{
	char *argv[] = {"sh", "-c", "sleep 0.1; exit 3", NULL},
	     *nothing[] = {"/nowhere/at/all", NULL};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct fixture *fixture = *state;
	struct pmu_child *child;

	assert_int_equal(pmu_child_new(&child, fixture->ctx, argv, NULL), 0);
	assert_int_equal(kill(pmu_child_pid(child), 0), 0);
	assert_int_equal(pmu_child_run(child, fixture->ctx, &result), 0);
	assert_int_equal(result.exit, 3);
	assert_true(result.ran);
	assert_true(result.seconds >= 0.1);
	assert_int_equal(pmu_child_run(child, fixture->ctx, &result), PMU_E_STATE);
	pmu_child_free(child);

	assert_int_equal(pmu_child_new(&child, fixture->ctx, nothing, NULL), 0);
	assert_int_equal(pmu_child_run(child, fixture->ctx, &result), PMU_E_UNKNOWN);
	assert_int_equal(result.exit, 127);
	assert_false(result.ran);
	pmu_child_free(child);
}

/* One that never ran is gone, and signals are the caller's again. */
static void test_abandoned(void **state)
{
	const struct pmu_child_options options = {.size = sizeof(options), .guard = true};
	char *argv[] = {"/bin/true", NULL};
	struct fixture *fixture = *state;
	struct sigaction before, found;
	struct pmu_child *child;
	pid_t pid;

	sigaction(SIGTERM, NULL, &before);
	assert_int_equal(pmu_child_new(&child, fixture->ctx, argv, &options), 0);
	pid = pmu_child_pid(child);
	sigaction(SIGTERM, NULL, &found);
	assert_true(found.sa_handler != before.sa_handler);
	pmu_child_free(child);
	assert_int_equal(kill(pid, 0), -1);
	sigaction(SIGTERM, NULL, &found);
	assert_true(found.sa_handler == before.sa_handler);
}

static void nothing(int signal)
{
	(void)signal;
}

/* A signal that the caller handles ends the child that waits: it is the program's already. */
static void test_handlers(void **state)
{
	char *argv[] = {"sleep", "100", NULL};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct fixture *fixture = *state;
	struct pmu_child *child;

	signal(SIGXFSZ, nothing);
	assert_int_equal(pmu_child_new(&child, fixture->ctx, argv, NULL), 0);
	assert_int_equal(kill(pmu_child_pid(child), SIGXFSZ), 0);
	pmu_child_run(child, fixture->ctx, &result);
	assert_int_equal(result.exit, 128 + SIGXFSZ);
	pmu_child_free(child);
	signal(SIGXFSZ, SIG_DFL);
}

/* A signal that comes before the program begins keeps it from beginning. */
static void test_guard(void **state)
{
	const struct pmu_child_options options = {.size = sizeof(options), .guard = true};
	struct pmu_program_result result = {.size = sizeof(result)};
	char *argv[] = {"/bin/true", NULL};
	struct fixture *fixture = *state;
	struct pmu_child *child;
	int status = -1;
	pid_t other;

	assert_int_equal(pmu_child_new(&child, fixture->ctx, argv, &options), 0);
	fflush(NULL);
	other = fork();
	if (other == 0)
		_exit(kill(getppid(), SIGTERM));
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(pmu_child_run(child, fixture->ctx, &result), PMU_E_STATE);
	assert_int_equal(result.exit, 128 + SIGTERM);
	assert_false(result.ran);
	pmu_child_free(child);
}

#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, fixture_up, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    MACHINE_TEST(test_exit_codes), MACHINE_TEST(test_machine),	MACHINE_TEST(test_refusals),
	    MACHINE_TEST(test_counts),	   MACHINE_TEST(test_attached), MACHINE_TEST(test_child),
	    MACHINE_TEST(test_abandoned),  MACHINE_TEST(test_handlers), MACHINE_TEST(test_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
