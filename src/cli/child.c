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

static const int guarded[CHILD_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/* For the signal handler, which can be given nothing else. */
static volatile sig_atomic_t child_pid, asked_to_end;

/* The terminal's signals reach the program by themselves. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	(void)context;
	asked_to_end = signal;
	if (child_pid > 0 && info->si_code != SI_KERNEL)
		kill((pid_t)child_pid, signal);
}

void child_guard(struct child_signals *signals)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	child_pid = asked_to_end = 0;
	/* Who started us may have left it ignored: then there would be no exit code. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &signals->before_sigchld);
	sigprocmask(SIG_SETMASK, NULL, &signals->mask);
	for (size_t i = 0; i < CHILD_SIGNALS; i++)
		sigaction(guarded[i], &action, &signals->before[i]);
}

void child_unguard(const struct child_signals *signals)
{
	for (size_t i = 0; i < CHILD_SIGNALS; i++)
		sigaction(guarded[i], &signals->before[i], NULL);
	sigaction(SIGCHLD, &signals->before_sigchld, NULL);
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
	int status;

	if (child->watch >= 0)
		watch(child);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	close(child->fate);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_abandon(struct child *child)
{
	kill(child->pid, SIGKILL);
	close(child->go);
	wait_for(child);
}

int child_finish(const struct cli *cli, struct child *child, int *exit)
{
	int errnum;
	ssize_t told;

	child_pid = child->pid;
	if (asked_to_end) {
		child_abandon(child);
		*exit = 128 + asked_to_end;
		return 0;
	}
	close(child->go);
	/* Ends empty when the program has begun. */
	while ((told = read(child->fate, &errnum, sizeof(errnum))) < 0 && errno == EINTR)
		;
	*exit = wait_for(child);
	if (told != sizeof(errnum))
		return 0;
	return cli_error(cli, errnum == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE,
			 "cannot run %s: %s", child->name, strerror(errnum));
}
