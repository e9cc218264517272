#include "session/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"
#include "bus/bus.h"
#include "bus/hardware.h"
#include "bus/journal_files.h"
#include "pmulab/journal.h"

#define DONE	    'd'	  /* tells the guardian that there is nothing to do */
#define PATIENCE_MS 10000 /* how long a fault waits for the guardian */
#define STACK_BYTES (64u << 10)

#define WARNING_MAX 1024

struct guardian {
	pid_t pid; /* 0: it does not run */
	struct pmu_guard_options options;
	int *descriptors; /* the options' */
	struct journal_file journal;
	struct sigaction before[_NSIG];
	void *stack; /* the alternate one of the thread @caught_by; NULL: it had one */
	pthread_t caught_by;
};

static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP};

#define FAULT_COUNT (sizeof(faults) / sizeof(faults[0]))

/* For the signal handler, which can be given nothing else. */
static volatile sig_atomic_t hold, ended;  /* descriptors: closing it; hangs up when it has ended */
static struct guardian *volatile guarding; /* NULL: none runs in this process */

__attribute__((format(printf, 2, 3))) static void warn(const struct guardian *guardian,
						       const char *format, ...)
{
	char text[WARNING_MAX];
	va_list arguments;

	if (!guardian->options.warn)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	guardian->options.warn(guardian->options.arg, text);
}

int guardian_new(struct guardian **out, struct pmu_ctx *ctx, const struct pmu_guard_options *given)
{
	struct guardian *guardian = calloc(1, sizeof(*guardian));
	struct pmu_guard_options *options;
	int error;

	if (!guardian)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a guardian");
	options = &guardian->options;
	error = option_take(ctx, options, sizeof(*options), given);
	guardian->descriptors = calloc(options->descriptor_count + 1, sizeof(int));
	if (!error && !guardian->descriptors)
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for a guardian");
	if (error) {
		guardian_free(guardian);
		return error;
	}
	for (size_t i = 0; i < options->descriptor_count; i++)
		guardian->descriptors[i] = options->descriptors[i];
	guardian->journal = (struct journal_file){.folder = -1, .fd = -1};
	*out = guardian;
	return 0;
}

void guardian_free(struct guardian *guardian)
{
	if (!guardian)
		return;
	free(guardian->stack);
	free(guardian->descriptors);
	free(guardian);
}

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

/* A stack that has overflown cannot take a handler. */
static void give_stack(struct guardian *guardian)
{
	stack_t before;

	if (sigaltstack(NULL, &before) || !(before.ss_flags & SS_DISABLE))
		return;
	if (!guardian->stack)
		guardian->stack = malloc(STACK_BYTES);
	if (!guardian->stack)
		return;
	guardian->caught_by = pthread_self();
	sigaltstack(&(stack_t){.ss_sp = guardian->stack, .ss_size = STACK_BYTES}, NULL);
}

/* That of another thread stays, as long as there is the guardian: no thread sets another's. */
static void take_stack(struct guardian *guardian)
{
	if (!guardian->stack || !pthread_equal(guardian->caught_by, pthread_self()))
		return;
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	free(guardian->stack);
	guardian->stack = NULL;
}

static void catch_faults(struct guardian *guardian)
{
	struct sigaction action = {.sa_handler = let_go, .sa_flags = SA_ONSTACK};

	give_stack(guardian);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < FAULT_COUNT; i++)
		sigaction(faults[i], &action, &guardian->before[faults[i]]);
}

static void release_faults(struct guardian *guardian)
{
	for (size_t i = 0; i < FAULT_COUNT; i++)
		sigaction(faults[i], &guardian->before[faults[i]], NULL);
	take_stack(guardian);
}

/* Nobody waits for the end of this process's output, or takes its writes for that of another. */
static void leave_files(const struct guardian *guardian)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < guardian->options.descriptor_count; i++)
		if (guardian->descriptors[i] >= 0)
			close(guardian->descriptors[i]);
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
	_exit(0);
}

/* In the other process: it outlives what ends this one, and the terminal. */
static _Noreturn void become_guardian(struct guardian *guardian, struct pmu_bus *bus,
				      const struct pmu_access_op *writes, size_t count, int watched,
				      int telling)
{
	setsid();
	/* From here on what ends the group of the other process does not end this one. */
	if (write(telling, "", 1) != 1)
		_exit(errno);
	prctl(PR_SET_NAME, "pmulab-guardian");
	leave_files(guardian);
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

static int start_process(struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
			 const struct pmu_access_op *writes, size_t count)
{
	int go[2], end[2], failed;
	sigset_t all, before;

	if (pipe2(go, O_CLOEXEC))
		return error_set(ctx, PMU_E_IO, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(end, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_set(ctx, PMU_E_IO, "cannot make a pipe: %s", strerror(errno));
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(go[1]);
		close(end[0]);
		become_guardian(guardian, bus, writes, count, go[0], end[1]);
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
	return error_set(ctx, PMU_E_IO, "cannot start the process that guards the registers: %s",
			 strerror(failed));
}

static void write_journal(struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
			  const struct pmu_access_op *writes, size_t count)
{
	struct journal journal;
	int error = journal_describe(&journal, ctx, bus_hardware_host(bus), pmu_bus_pmu(bus));

	/* Only read. */
	journal.writes = (struct pmu_access_op *)writes;
	journal.count = count;
	if (!error)
		error = journal_write(&guardian->journal, ctx, &journal);
	if (error)
		warn(guardian, "%s; if all processes of pmulab are killed, registers stay changed",
		     pmu_message(ctx));
}

int guardian_start(struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
		   const struct pmu_access_op *writes, size_t count)
{
	struct guardian *none = NULL;
	int error;

	if (!__atomic_compare_exchange_n(&guarding, &none, guardian, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return error_set(ctx, PMU_E_STATE,
				 "a process has one session with a guardian at a time");
	write_journal(guardian, ctx, bus, writes, count);
	error = start_process(guardian, ctx, bus, writes, count);
	if (!error) {
		catch_faults(guardian);
		return 0;
	}
	journal_remove(&guardian->journal);
	guarding = NULL;
	return error;
}

void guardian_end(struct guardian *guardian, bool restored)
{
	char done = DONE;

	if (!guardian->pid)
		return;
	if (restored && journal_remove(&guardian->journal))
		warn(guardian, "the journal of this measurement cannot be removed: %s",
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
	guarding = NULL;
}

struct search {
	const struct guardian *guardian;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	bool forced;
};

static int compare(void *arg, struct pmu_journal *journal)
{
	const char *what = pmu_journal_failed(journal)
			       ? "could not restore registers"
			       : "was killed before it could restore registers";
	struct search *search = arg;
	int process = (int)pmu_journal_process(journal);

	if (pmu_journal_error(journal))
		warn(search->guardian,
		     "%s is not a journal: %s; pmulab restore --forget removes it",
		     pmu_journal_path(journal), pmu_message(search->ctx));
	if (!pmu_journal_is_of(journal, search->bus))
		return 0;
	error_set(search->ctx, PMU_E_BUSY, "process %d %s: pmulab restore gives back what it found",
		  process, what);
	if (search->forced)
		warn(search->guardian, "%s", pmu_message(search->ctx));
	return PMU_E_BUSY;
}

int guardian_find_left(const struct guardian *guardian, struct pmu_ctx *ctx, struct pmu_bus *bus,
		       bool forced)
{
	struct search search = {guardian, ctx, bus, forced};

	/* Where journals cannot be looked for, none can be written either, which is said then. */
	return pmu_journals(ctx, compare, &search) == PMU_E_BUSY && !forced ? PMU_E_BUSY : 0;
}
