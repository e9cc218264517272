#include "emul/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"

struct child_signals {
	struct sigaction before[_NSIG];
	sigset_t mask;
};

struct pmu_child {
	struct pmu_child_options options;
	struct child_signals signals;
	pid_t pid;
	int go;	   /* an event: the program begins; -1: it has been reported to */
	int fate;  /* tells why it could not be executed */
	int watch; /* a descriptor whose hanging up ends the program; -1: none */
	bool gone; /* it has */
	int asked; /* a descriptor that is served while it runs; -1: none */
	void (*serve)(void *arg);
	void *serve_arg;
	void (*prepare)(void); /* called before the program begins; NULL */
	const char *name;
	void (*body)(void *arg); /* what it does in the stead of a program; NULL: it becomes one */
	void *arg;
};

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

static void guard(struct pmu_child *child)
{
	struct child_signals *signals = &child->signals;
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	child_pid = asked_to_end = 0;
	/* Who started us may have left it ignored: then there would be no exit code. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &signals->before[SIGCHLD]);
	for (int signal = 1; signal < _NSIG; signal++)
		if (is_guarded(signal))
			sigaction(signal, &action, &signals->before[signal]);
}

static void unguard(const struct pmu_child *child)
{
	const struct child_signals *signals = &child->signals;

	if (!child->options.guard)
		return;
	for (int signal = 1; signal < _NSIG; signal++)
		if (is_guarded(signal) || signal == SIGCHLD)
			sigaction(signal, &signals->before[signal], NULL);
}

/* As exec() does it: no handler of this program's takes what is meant for the one that is to come.
 */
static void drop_handlers(void)
{
	for (int signal = 1; signal < _NSIG; signal++) {
		struct sigaction action;

		if (!sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN &&
		    action.sa_handler != SIG_DFL)
			sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	}
}

/* As exec() does it. */
static void close_on_exec(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(all) && fcntl(fd, F_GETFD) & FD_CLOEXEC)
			close(fd);
	}
	if (all)
		closedir(all);
}

static _Noreturn void call_body(const struct pmu_child *child)
{
	close_on_exec();
	child->body(child->arg);
	_exit(CHILD_NOT_EXECUTABLE);
}

static _Noreturn void become_program(const struct pmu_child *child, char *const *argv, int go,
				     int fate, pid_t parent)
{
	eventfd_t go_on;
	int errnum = 0;

	unguard(child);
	drop_handlers();
	sigprocmask(SIG_SETMASK, &child->signals.mask, NULL);
	/* If we are killed, nothing of ours stays behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CHILD_FAILED);
	/* No pipe: its end would let the program begin when who was to measure it is killed. */
	while (!errnum && eventfd_read(go, &go_on))
		errnum = errno == EINTR ? 0 : errno;
	if (!errnum && child->body)
		call_body(child);
	if (!errnum) {
		if (child->prepare)
			child->prepare();
		execvp(argv[0], argv);
		errnum = errno;
	}
	if (write(fate, &errnum, sizeof(errnum)) < 0)
		_exit(CHILD_FAILED);
	_exit(CHILD_NOT_EXECUTABLE);
}

static int start(struct pmu_child *child, struct pmu_ctx *ctx, char *const *argv)
{
	int go = eventfd(0, EFD_CLOEXEC), fate[2], errnum;
	pid_t parent = getpid();
	sigset_t all;

	if (go < 0)
		return error_set(ctx, PMU_E_IO, "cannot make an event: %s", strerror(errno));
	if (pipe2(fate, O_CLOEXEC)) {
		close(go);
		return error_set(ctx, PMU_E_IO, "cannot make a pipe: %s", strerror(errno));
	}
	fflush(NULL);
	/* What comes before the new process has its own handlers waits until it has. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &child->signals.mask);
	child->pid = fork();
	errnum = errno;
	if (child->pid == 0)
		become_program(child, argv, go, fate[1], parent);
	pthread_sigmask(SIG_SETMASK, &child->signals.mask, NULL);
	close(fate[1]);
	child->go = go;
	child->fate = fate[0];
	if (child->pid > 0)
		return 0;
	close(go);
	close(fate[0]);
	return error_set(ctx, PMU_E_IO, "cannot start a process: %s", strerror(errnum));
}

/* @param work  what it calls, copied from there */
static int make(struct pmu_child **out, struct pmu_ctx *ctx, char *const *argv,
		const struct pmu_child_options *options, const struct pmu_child *work)
{
	struct pmu_child *child = calloc(1, sizeof(*child));
	int error;

	if (!child)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a process");
	error = option_take(ctx, &child->options, sizeof(child->options), options);
	if (error)
		goto fail_options;
	child->watch = child->asked = -1;
	child->name = argv[0];
	child->prepare = work->prepare;
	child->body = work->body;
	child->arg = work->arg;
	if (child->options.guard)
		guard(child);
	error = start(child, ctx, argv);
	if (error)
		goto fail_start;
	*out = child;
	return 0;

fail_start:
	unguard(child);
fail_options:
	free(child);
	return error;
}

int child_new(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
	      const struct pmu_child_options *options, void (*prepare)(void))
{
	return make(child, ctx, argv, options, &(struct pmu_child){.prepare = prepare});
}

int child_new_calling(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
		      const struct pmu_child_options *options, void (*body)(void *arg), void *arg)
{
	return make(child, ctx, argv, options, &(struct pmu_child){.body = body, .arg = arg});
}

int pmu_child_new(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
		  const struct pmu_child_options *options)
{
	return child_new(child, ctx, argv, options, NULL);
}

/* A zombie has ended, though its number is still taken. */
static bool runs(pid_t pid)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	bool running;

	if (ended.fd < 0)
		return false;
	running = !poll(&ended, 1, 0);
	close(ended.fd);
	return running;
}

static void wait_for_process(void *arg)
{
	const pid_t pid = (pid_t)(intptr_t)arg;
	/* None: the process has ended meanwhile. */
	struct pollfd ended = {.fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
			       .events = POLLIN};

	while (!pid || ended.fd >= 0)
		if (poll(&ended, 1, -1) > 0)
			break;
	_exit(0);
}

int pmu_child_new_waiting(struct pmu_child **child, struct pmu_ctx *ctx, pid_t pid,
			  const struct pmu_child_options *options)
{
	static char name[] = "the wait for a process";
	char *const argv[] = {name, NULL};

	if (pid < 0 || (pid && !runs(pid)))
		return error_set(ctx, PMU_E_UNKNOWN, "there is no process %ld", (long)pid);
	return child_new_calling(child, ctx, argv, options, wait_for_process,
				 (void *)(intptr_t)pid);
}

pid_t pmu_child_pid(const struct pmu_child *child)
{
	return child->pid;
}

size_t pmu_child_descriptors(const struct pmu_child *child, int *descriptors, size_t size)
{
	const int own[] = {child->go, child->fate};

	for (size_t i = 0; i < size && i < 2; i++)
		descriptors[i] = own[i];
	return 2;
}

void child_watch(struct pmu_child *child, int descriptor)
{
	child->watch = descriptor;
}

void child_serve(struct pmu_child *child, int descriptor, void (*serve)(void *arg), void *arg)
{
	child->asked = descriptor;
	child->serve = serve;
	child->serve_arg = arg;
}

/* Until the program ends: kills it when what it depends on is gone. */
static void watch(struct pmu_child *child)
{
	/* poll() ignores those that are negative. */
	struct pollfd watched[] = {
	    {.fd = (int)syscall(SYS_pidfd_open, child->pid, 0), .events = POLLIN},
	    {.fd = child->watch, .events = POLLIN},
	    {.fd = child->asked, .events = POLLIN},
	};

	/* Where there is none, poll() would see one end only, and wait for it. */
	if (watched[0].fd < 0)
		return;
	while (!watched[0].revents && !watched[1].revents) {
		if (poll(watched, 3, -1) < 0 && errno != EINTR)
			break;
		if (watched[2].revents & POLLIN)
			child->serve(child->serve_arg);
	}
	child->gone = watched[1].revents && !watched[0].revents;
	if (child->gone)
		kill(child->pid, SIGKILL);
	close(watched[0].fd);
}

static int wait_for(struct pmu_child *child)
{
	siginfo_t ended;
	int status = 0;

	if (child->watch >= 0 || child->asked >= 0)
		watch(child);
	/* It stays a zombie until no signal is passed on to it: its number may be another's then.
	 */
	while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	if (child->options.guard)
		child_pid = 0;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->fate);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Says why it did not run, as a shell does. */
static int refused(const struct pmu_child *child, struct pmu_ctx *ctx, int errnum,
		   struct pmu_program_result *found)
{
	found->exit = errnum == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE;
	return error_set(ctx, errnum == ENOENT ? PMU_E_UNKNOWN : PMU_E_UNSUPPORTED,
			 "cannot run %s: %s", child->name, strerror(errnum));
}

static int kept_from_beginning(struct pmu_child *child, struct pmu_ctx *ctx, int signal,
			       struct pmu_program_result *found)
{
	kill(child->pid, SIGKILL);
	close(child->go);
	wait_for(child);
	found->exit = 128 + signal;
	return error_set(ctx, PMU_E_STATE, "%s did not start: signal %d (%s)", child->name, signal,
			 strsignal(signal));
}

static int run(struct pmu_child *child, struct pmu_ctx *ctx, struct pmu_program_result *found)
{
	int errnum = 0;

	if (child->options.guard) {
		child_pid = child->pid;
		if (asked_to_end)
			return kept_from_beginning(child, ctx, asked_to_end, found);
	}
	eventfd_write(child->go, 1);
	close(child->go);
	/* Ends empty when the program has begun. */
	while (read(child->fate, &errnum, sizeof(errnum)) < 0 && errno == EINTR)
		;
	found->ran = !errnum;
	found->exit = wait_for(child);
	found->machine_ended = child->gone;
	return errnum ? refused(child, ctx, errnum, found) : 0;
}

int pmu_child_run(struct pmu_child *child, struct pmu_ctx *ctx, struct pmu_program_result *result)
{
	struct pmu_program_result found = {.size = sizeof(found), .exit = CHILD_FAILED};
	const uint64_t begin = clock_ns();
	int error, given = 0;

	if (child->go < 0)
		return error_set(ctx, PMU_E_STATE, "%s has run already", child->name);
	error = run(child, ctx, &found);
	found.seconds = (double)(clock_ns() - begin) * 1e-9;
	child->go = -1;
	if (result)
		given = option_give(result, &found, sizeof(found));
	return error ? error : given;
}

void pmu_child_free(struct pmu_child *child)
{
	if (!child)
		return;
	if (child->go >= 0) {
		kill(child->pid, SIGKILL);
		close(child->go);
		wait_for(child);
	}
	unguard(child);
	free(child);
}
