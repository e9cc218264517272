#include "cli/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/hardware.h"

#define DONE	    'd'	  /* tells the guardian that there is nothing to do */
#define PATIENCE_MS 10000 /* how long a fault waits for the guardian */
#define STACK_BYTES (64u << 10)

static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

#define FAULT_COUNT (sizeof(faults) / sizeof(faults[0]))

/* For the signal handler, which can be given nothing else. */
static volatile sig_atomic_t hold, ended; /* descriptors: closing it; hangs up when it has ended */
static const struct guardian *volatile guarding;

/* Nothing here depends on memory being whole, but on two numbers. */
static void let_go(int signal)
{
	struct pollfd watched = {.fd = ended};

	close(hold);
	poll(&watched, 1, PATIENCE_MS);
	sigaction(signal, &guarding->before[signal], NULL);
	/* Blocked until this returns. One that the processor raised comes again by itself too. */
	raise(signal);
}

static void catch_faults(struct guardian *guardian)
{
	struct sigaction action = {.sa_handler = let_go, .sa_flags = SA_ONSTACK};

	/* A stack that has overflown cannot take a handler. */
	guardian->stack = malloc(STACK_BYTES);
	if (guardian->stack)
		sigaltstack(&(stack_t){.ss_sp = guardian->stack, .ss_size = STACK_BYTES},
			    &guardian->stack_before);
	guarding = guardian;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < FAULT_COUNT; i++)
		sigaction(faults[i], &action, &guardian->before[faults[i]]);
}

static void release_faults(struct guardian *guardian)
{
	for (size_t i = 0; i < FAULT_COUNT; i++)
		sigaction(faults[i], &guardian->before[faults[i]], NULL);
	if (guardian->stack)
		sigaltstack(&guardian->stack_before, NULL);
	free(guardian->stack);
	guardian->stack = NULL;
}

/* Nobody waits for the end of this process's output, or takes its writes for that of another. */
static void leave_files(const int *private, size_t count)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < count; i++)
		if (private[i] >= 0)
			close(private[i]);
	for (int fd = 0; fd <= STDERR_FILENO && nothing >= 0; fd++)
		dup2(nothing, fd);
}

static _Noreturn void guard(struct guardian *guardian, struct pmu_bus *bus,
			    const struct pmu_access_op *writes, size_t count, int watched)
{
	char word = 0;
	ssize_t reported;

	while ((reported = read(watched, &word, 1)) < 0 && errno == EINTR)
		;
	if (reported <= 0 && bus_write_all(bus, NULL, writes, count))
		journal_fail(&guardian->journal);
	else if (reported <= 0)
		journal_remove(&guardian->journal);
	/* What the other process has in its buffers is not this one's to write. */
	_exit(EXIT_DONE);
}

/* In the other process: it outlives what ends this one, and the terminal. */
static _Noreturn void become_guardian(struct guardian *guardian, struct pmu_bus *bus,
				      const struct pmu_access_op *writes, size_t count,
				      const int *private, size_t private_count, int watched,
				      int telling)
{
	setsid();
	/* From here on what ends the group of the other process does not end this one. */
	if (write(telling, "", 1) != 1)
		_exit(errno);
	prctl(PR_SET_NAME, "pmulab-guardian");
	leave_files(private, private_count);
	guard(guardian, bus, writes, count, watched);
}

/*
 * Waits until the guardian is in a group of its own.
 * @return 0, or the error for which it is not; it has ended then
 */
static int await_guardian(pid_t pid, int watched, int fd)
{
	char word = 0;
	int failed, status;
	ssize_t got;

	while ((got = read(fd, &word, 1)) < 0 && errno == EINTR)
		;
	if (got == 1)
		return 0;
	failed = got < 0 ? errno : 0;
	/* Nothing is to be restored yet. */
	if (got < 0 && write(watched, &word, 1) != 1)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (failed)
		return failed;
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : ECHILD;
}

static int start_process(const struct cli *cli, struct guardian *guardian, struct pmu_bus *bus,
			 const struct pmu_access_op *writes, size_t count, const int *private,
			 size_t private_count)
{
	int go[2], end[2], failed;
	sigset_t all, before;

	if (pipe2(go, O_CLOEXEC))
		return error_set(cli->ctx, PMU_E_IO, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(end, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_set(cli->ctx, PMU_E_IO, "cannot make a pipe: %s", strerror(errno));
	}
	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(go[1]);
		close(end[0]);
		become_guardian(guardian, bus, writes, count, private, private_count, go[0],
				end[1]);
	}
	failed = guardian->pid > 0 ? 0 : errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(go[0]);
	close(end[1]);
	if (!failed)
		failed = await_guardian(guardian->pid, go[1], end[0]);
	if (!failed) {
		hold = go[1];
		ended = end[0];
		return 0;
	}
	guardian->pid = 0;
	close(go[1]);
	close(end[0]);
	return error_set(cli->ctx, PMU_E_IO,
			 "cannot start the process that guards the registers: %s",
			 strerror(failed));
}

static void write_journal(const struct cli *cli, struct guardian *guardian, struct pmu_bus *bus,
			  const struct pmu_access_op *writes, size_t count)
{
	struct journal journal;
	int error = journal_describe(&journal, cli->ctx, bus_hardware_host(bus), pmu_bus_pmu(bus));

	/* Only read. */
	journal.writes = (struct pmu_access_op *)writes;
	journal.count = count;
	if (!error)
		error = journal_write(&guardian->journal, cli->ctx, &journal);
	if (error)
		cli_error(
		    cli, 0,
		    "warning: %s; if all processes of pmulab are killed, registers stay changed",
		    pmu_message(cli->ctx));
}

int guardian_start(const struct cli *cli, struct guardian *guardian, struct pmu_bus *bus,
		   const struct pmu_access_op *writes, size_t count, const int *private,
		   size_t private_count)
{
	int error;

	*guardian = (struct guardian){.journal = {.folder = -1, .fd = -1}};
	write_journal(cli, guardian, bus, writes, count);
	error = start_process(cli, guardian, bus, writes, count, private, private_count);
	if (error)
		journal_remove(&guardian->journal);
	else
		catch_faults(guardian);
	return error;
}

void guardian_end(const struct cli *cli, struct guardian *guardian, bool restored)
{
	char done = DONE;

	if (!guardian->pid)
		return;
	if (restored && journal_remove(&guardian->journal))
		cli_error(cli, 0, "warning: the journal of this measurement cannot be removed: %s",
			  strerror(errno));
	if (!restored)
		journal_fail(&guardian->journal);
	/* It may have been killed. */
	while (write(hold, &done, 1) < 0 && errno == EINTR)
		;
	release_faults(guardian);
	/* Who could not be reported sees the end, and restores once more. */
	close(hold);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(ended);
	guardian->pid = 0;
}

struct search {
	const struct cli *cli;
	struct journal own;
	bool found;
};

static int compare(void *arg, struct journal_file *file, const struct journal *journal, int error)
{
	struct search *search = arg;
	char folder[PATH_MAX];

	if (error)
		cli_error(search->cli, 0,
			  "%s/%s is not a journal: %s; pmulab restore --forget removes it",
			  journal_folder_name(folder), file->name, pmu_message(search->cli->ctx));
	if (error || !journal_same_registers(journal, &search->own))
		return 0;
	search->found = true;
	cli_error(search->cli, 0, "process %d %s: pmulab restore gives back what it found",
		  (int)journal->owner,
		  journal->failed ? "could not restore registers"
				  : "was killed before it could restore registers");
	return 1;
}

bool guardian_finds_left(const struct cli *cli, struct pmu_bus *bus)
{
	struct search search = {.cli = cli};

	if (!journal_describe(&search.own, cli->ctx, bus_hardware_host(bus), pmu_bus_pmu(bus)))
		journal_each_left(cli->ctx, compare, &search);
	return search.found;
}
