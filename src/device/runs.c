/*
 * Programs that run on a machine with IA-64 cores for tools that see its registers. Its state lies
 * in memory that only forked processes share: so the process that serves the files starts them,
 * with the descriptors, folder and environment of who asks.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/runs.h"
#include "device/runs_state.h"
#include "emul/program.h"

struct device_runs *device_runs_new(struct emul_epic *epic)
{
	struct device_runs *runs = calloc(1, sizeof(*runs));

	if (!runs)
		return NULL;
	runs->epic = epic;
	runs->shared = mmap(NULL, sizeof(*runs->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (runs->shared == MAP_FAILED) {
		free(runs);
		return NULL;
	}
	pthread_mutex_init(&runs->lock, NULL);
	return runs;
}

void device_runs_free(struct device_runs *runs)
{
	if (!runs)
		return;
	/* With the thread that forked it the program's process has ended. */
	runs_join(runs);
	munmap(runs->shared, sizeof(*runs->shared));
	pthread_mutex_destroy(&runs->lock);
	free(runs);
}

bool device_runs_hold(struct device_runs *runs)
{
	pthread_mutex_lock(&runs->lock);
	if (!runs->running || runs->standing)
		return true;
	pthread_mutex_unlock(&runs->lock);
	return false;
}

void device_runs_let(struct device_runs *runs)
{
	pthread_mutex_unlock(&runs->lock);
}

/* @return where the words end, NULL: they do not by @end; *words is the caller's, of the heap */
static const char *split(char ***words, uint32_t count, const char *text, const char *end)
{
	*words = count <= REGISTER_FILE_REQUEST_MAX ? calloc(count + 1, sizeof(**words)) : NULL;
	for (uint32_t i = 0; *words && i < count; i++) {
		size_t length = strnlen(text, (size_t)(end - text));

		if (text + length == end)
			return NULL;
		(*words)[i] = (char *)text;
		text += length + 1;
	}
	return *words ? text : NULL;
}

/* The process of a thread. @return 0: it is gone */
static pid_t process_of(pid_t thread)
{
	char path[64], line[256];
	int process = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	file = fopen(path, "re");
	while (file && !process && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &process);
	if (file)
		fclose(file);
	return process;
}

/* In the new process. @return what failed; NULL: nothing */
static const char *take_place(const struct runs_asked *asked)
{
	int other = (int)syscall(SYS_pidfd_open, asked->process, 0);
	char folder[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		int theirs = (int)syscall(SYS_pidfd_getfd, other, fd, 0);

		if (theirs < 0 && errno != EBADF)
			return "cannot take the tool's descriptors";
		if (theirs < 0)
			close(fd);
		else if (dup2(theirs, fd) < 0)
			return "cannot take the tool's descriptors";
	}
	snprintf(folder, sizeof(folder), "/proc/%d/cwd", asked->process);
	if (chdir(folder))
		return "cannot enter the tool's folder";
	environ = asked->envp;
	return NULL;
}

static int run_program(const struct device_runs *runs, const struct runs_asked *asked,
		       struct register_file_result *result)
{
	const struct pmu_program_options options = {.size = sizeof(options)};
	struct pmu_program_result found = {.size = sizeof(found)};
	struct pmu_program *program;
	struct pmu_ctx *ctx = NULL;
	int error = pmu_ctx_new(&ctx);

	if (!error)
		error = pmu_program_new(&program, ctx, emul_epic_desc(runs->epic), asked->argv,
					&options);
	if (!error && runs->shared->watched)
		emul_epic_on_interrupt(runs->epic, runs_stand, runs->shared);
	if (!error)
		error = program_run_executor(program, ctx, runs->epic, &found);
	if (error && ctx)
		snprintf(result->message, sizeof(result->message), "%s", pmu_message(ctx));
	result->exit = found.exit;
	return error;
}

static _Noreturn void run_and_end(const struct device_runs *runs, const struct runs_asked *asked)
{
	struct register_file_result *result = &runs->shared->result;
	const char *problem = take_place(asked);

	if (problem)
		snprintf(result->message, sizeof(result->message), "%s: %s", problem,
			 strerror(errno));
	else
		result->error = run_program(runs, asked, result);
	_exit(EXIT_SUCCESS);
}

pid_t runs_fork(struct device_runs *runs, const struct runs_asked *asked)
{
	pid_t child;

	runs->shared->result =
	    (struct register_file_result){.error = PMU_E_IO, .message = "it was ended"};
	/* What this process has still to write is not the other's too. */
	fflush(NULL);
	child = fork();
	if (child == 0)
		run_and_end(runs, asked);
	return child;
}

int runs_wait(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -ECHILD;
	return 0;
}

bool runs_begin(struct device_runs *runs)
{
	bool begins;

	pthread_mutex_lock(&runs->lock);
	begins = !runs->running;
	if (begins) {
		runs->running = true;
		emul_epic_strict_pause(runs->epic);
	}
	pthread_mutex_unlock(&runs->lock);
	return begins;
}

void runs_end(struct device_runs *runs)
{
	emul_epic_settle(runs->epic);
	runs->running = runs->standing = false;
}

static int run(struct device_runs *runs, const struct runs_asked *asked,
	       struct register_file_result *result)
{
	int error = -EAGAIN;
	pid_t child;

	if (!runs_begin(runs))
		return -EBUSY;
	runs->shared->watched = false;
	child = runs_fork(runs, asked);
	if (child > 0)
		error = runs_wait(child);
	*result = runs->shared->result;
	pthread_mutex_lock(&runs->lock);
	runs_end(runs);
	pthread_mutex_unlock(&runs->lock);
	return error;
}

int runs_parse(struct runs_asked *asked, pid_t thread, const char *request, size_t size)
{
	struct register_file_request head;
	const char *next, *last = request + size;

	*asked = (struct runs_asked){.process = process_of(thread)};
	if (size < sizeof(head) || size > REGISTER_FILE_REQUEST_MAX)
		return -EINVAL;
	memcpy(&head, request, sizeof(head));
	next = split(&asked->argv, head.arguments, request + sizeof(head), last);
	if (next)
		next = split(&asked->envp, head.settings, next, last);
	return next == last && head.arguments && asked->process ? 0 : -EINVAL;
}

void runs_asked_free(struct runs_asked *asked)
{
	free(asked->argv);
	free(asked->envp);
}

ssize_t device_runs_run(struct device_runs *runs, pid_t thread, const char *request, size_t size,
			struct register_file_result *result)
{
	struct runs_asked asked;
	int error = runs_parse(&asked, thread, request, size);

	if (!error)
		error = run(runs, &asked, result);
	runs_asked_free(&asked);
	return error ? error : (ssize_t)size;
}
