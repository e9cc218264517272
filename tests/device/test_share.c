/* Machines by name: who may have them, and what becomes of them. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emul/block.h"
#include "emul/share.h"
#include "support/cmocka.h"

struct fixture {
	struct pmu_ctx *ctx;
	struct emul *emul;
	char name[32];
};

static struct fixture fixture;

static int fixture_up(void **state)
{
	(void)state;
	fixture = (struct fixture){0};
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	assert_int_equal(emul_new(&fixture.emul, fixture.ctx, pmu_find_machine("xeon-e5v4-4c")), 0);
	snprintf(fixture.name, sizeof(fixture.name), "test-%d", getpid());
	return 0;
}

static int fixture_down(void **state)
{
	(void)state;
	emul_free(fixture.emul);
	pmu_ctx_free(fixture.ctx);
	return 0;
}

static struct emul_offer *offer(void)
{
	struct emul_offer *offered;

	assert_int_equal(
	    emul_offer(&offered, fixture.ctx, fixture.name, emul_fd(fixture.emul), STDERR_FILENO),
	    0);
	return offered;
}

/* A value written on one side is read on the other: it is the same machine. */
static void who_joins_has_the_same_machine(void **state)
{
	const struct pmon_access counter = {.space = PMU_SPACE_MSR, .address = 0xE08, .width = 64};
	struct emul_offer *offered = offer();
	struct emul_share share;
	struct emul *joined;
	uint64_t value;

	(void)state;
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), 0);
	assert_int_equal(emul_attach(&joined, fixture.ctx, share.block), 0);
	assert_int_equal(emul_write(joined, &counter, 0x1234), 0);
	assert_int_equal(emul_read(fixture.emul, &counter, &value), 0);
	assert_int_equal(value, 0x1234);
	emul_free(joined);
	emul_part(&share);
	emul_withdraw(offered);
}

static void a_name_is_taken_once(void **state)
{
	struct emul_offer *offered = offer(), *second;

	(void)state;
	assert_int_equal(
	    emul_offer(&second, fixture.ctx, fixture.name, emul_fd(fixture.emul), STDERR_FILENO),
	    PMU_E_CONFLICT);
	assert_non_null(strstr(pmu_message(fixture.ctx), fixture.name));
	emul_withdraw(offered);
	emul_withdraw(offer());
}

static void unknown_names_list_what_there_is(void **state)
{
	struct emul_offer *offered = offer();
	struct emul_share share;

	(void)state;
	assert_int_equal(emul_join(&share, fixture.ctx, "nobody-has-this"), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture.ctx), fixture.name));
	emul_withdraw(offered);
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), PMU_E_UNKNOWN);
}

static void names_are_checked(void **state)
{
	char longest[128];
	struct emul_share share;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(emul_join(&share, fixture.ctx, ""), PMU_E_RANGE);
	assert_int_equal(emul_join(&share, fixture.ctx, longest), PMU_E_RANGE);
	assert_int_equal(emul_join(&share, fixture.ctx, "a b"), PMU_E_RANGE);
	assert_int_equal(emul_join(&share, fixture.ctx, "\033[31mred\x9b"), PMU_E_RANGE);
	assert_non_null(strstr(pmu_message(fixture.ctx), "\"\\x1B[31mred\\x9B\""));
}

/* A socket at a machine's place, as any user can have it. */
static int listen_as(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length =
	    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "pmulab/%s", name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(
	    bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
	    0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

static void names_of_others_are_shown_as_text(void **state)
{
	struct emul_share share;
	int fd = listen_as("\033]0;title\a\x9b");

	(void)state;
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture.ctx), "\\x1B]0;title\\x07\\x9B"));
	assert_null(strpbrk(pmu_message(fixture.ctx), "\033\a\x9b"));
	close(fd);
}

/* Neither one that takes no connection nor one that takes it and says nothing. */
static void silent_listeners_are_not_waited_for(void **state)
{
	struct emul_share share;
	int fd = listen_as(fixture.name);
	time_t begin = time(NULL);

	(void)state;
	alarm(60);
	/* The first fills the queue, though it leaves. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), PMU_E_IO);
		assert_non_null(strstr(pmu_message(fixture.ctx), "not answered"));
	}
	assert_true(time(NULL) - begin < 20);
	alarm(0);
	close(fd);
}

static double processor_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Whoever asks is turned away at once, and nothing spins. */
static void an_owner_out_of_descriptors_turns_away(void **state)
{
	struct emul_offer *offered = offer();
	struct rlimit before, none;
	struct emul_share share;
	double begin;
	int go[2], lowest, status;
	char byte;
	pid_t asker;

	(void)state;
	assert_int_equal(pipe(go), 0);
	asker = fork();
	if (asker == 0) {
		alarm(30);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(emul_join(&share, fixture.ctx, fixture.name) == PMU_E_RIGHTS ? 0 : 2);
	}
	/* All below are open. */
	lowest = dup(STDERR_FILENO);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){.rlim_cur = (rlim_t)lowest, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	begin = processor_seconds();
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(asker, &status, 0), asker);
	usleep(500000);
	assert_true(processor_seconds() - begin < 0.25);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(status, 0);
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), 0);
	emul_part(&share);
	emul_withdraw(offered);
	close(go[0]);
	close(go[1]);
}

static bool hangs_up(int connection)
{
	struct pollfd watched = {.fd = connection, .events = POLLIN};

	return poll(&watched, 1, 5000) == 1 && watched.revents & POLLHUP;
}

static void the_connection_ends_with_the_offer(void **state)
{
	struct emul_offer *offered = offer();
	struct emul_share share;
	struct pollfd watched;

	(void)state;
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), 0);
	watched = (struct pollfd){.fd = share.connection, .events = POLLIN};
	assert_int_equal(poll(&watched, 1, 50), 0);
	emul_withdraw(offered);
	assert_true(hangs_up(share.connection));
	emul_part(&share);
}

/* Killed, the owner leaves neither the name nor a connection that looks alive. */
static void a_killed_owner_leaves_nothing(void **state)
{
	struct emul_share share;
	int ready[2], status;
	char byte;
	pid_t owner;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	owner = fork();
	if (owner == 0) {
		offer();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), 0);
	kill(owner, SIGKILL);
	waitpid(owner, &status, 0);
	assert_true(hangs_up(share.connection));
	emul_part(&share);
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), PMU_E_UNKNOWN);
	emul_withdraw(offer());
	close(ready[0]);
	close(ready[1]);
}

/* Names are free to all: root that joins would run programs among another user's files. */
static void root_does_not_join_others(void **state)
{
	struct emul_share share;
	int ready[2], status;
	char byte;
	pid_t owner;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	owner = fork();
	if (owner == 0) {
		if (setuid(65534) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		offer();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(emul_join(&share, fixture.ctx, fixture.name), PMU_E_RIGHTS);
	assert_non_null(strstr(pmu_message(fixture.ctx), "another user"));
	kill(owner, SIGKILL);
	waitpid(owner, &status, 0);
	close(ready[0]);
	close(ready[1]);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_up, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(who_joins_has_the_same_machine),
	    TEST(a_name_is_taken_once),
	    TEST(unknown_names_list_what_there_is),
	    TEST(names_are_checked),
	    TEST(the_connection_ends_with_the_offer),
	    TEST(a_killed_owner_leaves_nothing),
	    TEST(root_does_not_join_others),
	    TEST(names_of_others_are_shown_as_text),
	    TEST(an_owner_out_of_descriptors_turns_away),
	    TEST(silent_listeners_are_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
