#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run.h"

/* For the signal handler, which can be given nothing else. */
static volatile sig_atomic_t child_pid, asked_to_end;

static bool is_in(int signal, const int *signals, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (signals[i] == signal)
			return true;
	return false;
}

/* What a process gets for what it has done itself; the guardian's. */
static bool is_fault(int signal)
{
	static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

	return is_in(signal, faults, sizeof(faults) / sizeof(faults[0]));
}

/* Signals that end no process, and those that no process can handle. */
static bool ends_nothing(int signal)
{
	static const int harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT,  SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, 32, /* glibc's own */
				       33};

	return is_in(signal, harmless, sizeof(harmless) / sizeof(harmless[0]));
}

static bool is_guarded(int signal)
{
	return !is_fault(signal) && !ends_nothing(signal);
}

/* The terminal's signals reach the program by themselves. */
static bool reaches_program(int signal, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (signal == SIGINT || signal == SIGQUIT || signal == SIGHUP);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	int errnum = errno;

	(void)context;
	/*
	 * A write of our own that nobody reads (SIGPIPE) or that is beyond the limit (SIGXFSZ)
	 * fails, and is reported as such.
	 */
	if (info->si_code == SI_USER && info->si_pid == getpid())
		return;
	asked_to_end = signal;
	if (child_pid > 0 && !reaches_program(signal, info))
		kill((pid_t)child_pid, signal);
	errno = errnum;
}

void child_guard(struct child_signals *signals)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	child_pid = asked_to_end = 0;
	/* Who started us may have left it ignored: then there would be no exit code. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &signals->before[SIGCHLD]);
	sigprocmask(SIG_SETMASK, NULL, &signals->mask);
	for (int signal = 1; signal < _NSIG; signal++)
		if (is_guarded(signal))
			sigaction(signal, &action, &signals->before[signal]);
}

void child_unguard(const struct child_signals *signals)
{
	for (int signal = 1; signal < _NSIG; signal++)
		if (is_guarded(signal) || signal == SIGCHLD)
			sigaction(signal, &signals->before[signal], NULL);
}

static _Noreturn void become_program(char **argv, const struct child_signals *signals, int go,
				     int fate, pid_t parent)
{
	char nothing;
	int errnum;

	child_unguard(signals);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	/* If we are killed, nothing of ours stays behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	while (read(go, &nothing, 1) < 0 && errno == EINTR)
		;
	execvp(argv[0], argv);
	errnum = errno;
	if (write(fate, &errnum, sizeof(errnum)) < 0)
		_exit(EXIT_FAILED);
	_exit(RUN_NOT_EXECUTABLE);
}

int child_start(const struct cli *cli, struct child *child, char **argv,
		const struct child_signals *signals)
{
	int go[2], fate[2];
	pid_t parent = getpid();
	sigset_t all;

	if (pipe2(go, O_CLOEXEC))
		return cli_error(cli, EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(fate, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return cli_error(cli, EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	}
	fflush(NULL);
	/* What comes before the new process has its own handlers waits until it has. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	*child = (struct child){
	    .pid = fork(), .go = go[1], .fate = fate[0], .watch = -1, .name = argv[0]};
	if (child->pid == 0) {
		close(go[1]);
		become_program(argv, signals, go[0], fate[1], parent);
	}
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	close(go[0]);
	close(fate[1]);
	if (child->pid > 0)
		return 0;
	close(go[1]);
	close(fate[0]);
	return cli_error(cli, EXIT_FAILED, "cannot start a process: %s", strerror(errno));
}

/* Kills the program when what it depends on is gone. */
static void watch(struct child *child)
{
	struct pollfd watched[] = {
	    {.fd = (int)syscall(SYS_pidfd_open, child->pid, 0), .events = POLLIN},
	    {.fd = child->watch, .events = POLLIN},
	};

	/* Where there is none, poll() would see one end only, and wait for it. */
	if (watched[0].fd < 0)
		return;
	while (poll(watched, 2, -1) < 0 && errno == EINTR)
		;
	child->gone = watched[1].revents && !watched[0].revents;
	if (child->gone)
		kill(child->pid, SIGKILL);
	close(watched[0].fd);
}

static int wait_for(struct child *child)
{
	siginfo_t ended;
	int status = 0;

	if (child->watch >= 0)
		watch(child);
	/* It stays a zombie until no signal is passed on to it: its number may be another's then.
	 */
	while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	child_pid = 0;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->fate);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_abandon(struct child *child)
{
	kill(child->pid, SIGKILL);
	close(child->go);
	wait_for(child);
}

int child_run(struct child *child)
{
	int errnum = 0;

	child_pid = child->pid;
	child->ended_by = asked_to_end;
	if (child->ended_by) {
		child_abandon(child);
		return 128 + child->ended_by;
	}
	close(child->go);
	/* Ends empty when the program has begun. */
	while (read(child->fate, &errnum, sizeof(errnum)) < 0 && errno == EINTR)
		;
	child->refusal = errnum;
	child->ran = !errnum;
	return wait_for(child);
}

int child_explain(const struct cli *cli, const struct child *child)
{
	if (child->ran)
		return 0;
	if (child->ended_by)
		return cli_error(cli, 128 + child->ended_by, "%s did not start: signal %d (%s)",
				 child->name, child->ended_by, strsignal(child->ended_by));
	return cli_error(cli, child->refusal == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE,
			 "cannot run %s: %s", child->name, strerror(child->refusal));
}

int child_finish(const struct cli *cli, struct child *child, int *exit)
{
	*exit = child_run(child);
	return child_explain(cli, child);
}
