/*
 * The new emulator has the arguments of this one up to its program. The guest's words and variables
 * are passed on where they are: addresses that are not the guest's fail in execve as they should.
 *
 * QEMU takes signals for the guest, and loses those that it has taken and not yet delivered: until
 * just before execve they are blocked. If one came meanwhile QEMU's own call, which looks for
 * signals, delivers it and then comes again.
 */
#include "exec.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed/memory.h"

#define WORDS_MAX     (1u << 20)
#define SCRIPT_WORDS  3 /* that a script adds: interpreter, argument, path */
#define EMULATOR_PATH "/proc/self/exe"

/* QEMU's own: stops all other guest threads, or waits until they are in system calls. */
__attribute__((weak)) void start_exclusive(void);
__attribute__((weak)) void end_exclusive(void);

/* As they were when this emulator began. */
static struct {
	char **words;  /* NULL: not as we know them */
	size_t count;  /* of those before the program's */
	char *program; /* its path; NULL: not known */
	char emulator[PATH_MAX];
	char *files[3]; /* that it opens; NULL */
} own;

static _Thread_local uint32_t *native; /* what this thread executes; NULL */

/* A list of addresses of the new process's. */
struct vector {
	char **all;
	size_t used, size;
};

/* The loader gives these to libraries too. */
__attribute__((constructor)) static void learn_words(int argc, char **argv)
{
	ssize_t length = readlink(EMULATOR_PATH, own.emulator, sizeof(own.emulator) - 1);
	int i = 1;

	if (length < 0)
		return;
	own.emulator[length] = '\0';
	while (i + 1 < argc && strcmp(argv[i], "-plugin"))
		i += 2;
	own.count = (size_t)i + 2;
	while (i + 1 < argc && argv[i][0] == '-' && strcmp(argv[i], "--"))
		i += 2;
	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	if (i >= argc)
		return;
	own.words = argv;
	own.program = realpath(argv[i], NULL);
}

void exec_init(const char *machine, const char *report)
{
	Dl_info plugin;

	own.files[0] = strdup(machine);
	if (dladdr((const void *)&own, &plugin))
		own.files[1] = strdup(plugin.dli_fname);
	if (report)
		own.files[2] = strdup(report);
}

/*
 * Not where the guest has become another user, or has another root. access() looks without the
 * capabilities that it may have kept until now.
 */
static bool can_emulate(void)
{
	for (size_t i = 0; i < sizeof(own.files) / sizeof(own.files[0]); i++)
		if (own.files[i] && access(own.files[i], R_OK))
			return false;
	return own.words;
}

static bool add(struct vector *vector, const char *word)
{
	if (vector->used == vector->size) {
		size_t size = vector->size ? 2 * vector->size : 64;
		char **all = size > WORDS_MAX ? NULL : realloc(vector->all, size * sizeof(*all));

		if (!all)
			return false;
		vector->all = all;
		vector->size = size;
	}
	vector->all[vector->used++] = (char *)(uintptr_t)word;
	return true;
}

/* @param address  of a list of the guest's; 0: it is empty */
static bool add_guest_words(struct vector *vector, uint64_t address, uint64_t guest_base)
{
	uint64_t word = 0;

	for (; address; address += sizeof(word)) {
		if (feed_memory_read(&word, guest_base + address, sizeof(word)) != sizeof(word))
			return false;
		if (!word)
			break;
		if (!add(vector, (const char *)(uintptr_t)(guest_base + word)))
			return false;
	}
	return true;
}

static void reverse(struct vector *vector)
{
	for (size_t i = 0; i < vector->used / 2; i++) {
		char *word = vector->all[i];

		vector->all[i] = vector->all[vector->used - 1 - i];
		vector->all[vector->used - 1 - i] = word;
	}
}

/* What the last script's interpreter is given before the guest's own words. */
static bool add_script_words(struct vector *words, const struct feed_exec *exec)
{
	bool added = true;

	for (unsigned i = exec->scripts; i-- > 0;) {
		const struct executable *file = &exec->files[i];

		added = added && add(words, file->interpreter) &&
			(!file->argument || add(words, file->argument));
	}
	return added && add(words, exec->path);
}

/* The first is the program's name for itself, which QEMU takes apart from the others. */
static bool add_words(struct vector *words, const struct feed_exec *exec, uint64_t guest_base)
{
	struct vector guest = {0};
	bool added = (!exec->scripts || add_script_words(&guest, exec));
	size_t script_words = guest.used;

	added = added && add_guest_words(&guest, exec->argv, guest_base);
	/* A script's path stands for the first. */
	if (added && script_words && guest.used > script_words) {
		memmove(guest.all + script_words, guest.all + script_words + 1,
			(guest.used - script_words - 1) * sizeof(*guest.all));
		guest.used--;
	}
	added = added && add(words, "-0") && add(words, guest.used ? guest.all[0] : "") &&
		(*exec->program != '-' || add(words, "--")) && add(words, exec->program);
	for (size_t i = 1; i < guest.used && added; i++)
		added = add(words, guest.all[i]);
	free(guest.all);
	return added && add(words, NULL);
}

static bool add_own_words(struct vector *words)
{
	bool added = true;

	for (size_t i = 0; i < own.count && added; i++)
		added = add(words, own.words[i]);
	return added;
}

/* QEMU gives the program its variables in the opposite order. */
static bool add_variables(struct vector *variables, uint64_t envp, uint64_t guest_base)
{
	bool added = add_guest_words(variables, envp, guest_base);

	reverse(variables);
	return added && add(variables, NULL);
}

/* Also where the guest has another root. */
static void execute(char *const *words, char *const *variables)
{
	execve(own.emulator, words, variables);
	execve(EMULATOR_PATH, words, variables);
}

/* Returns where it fails: the guest goes on, and QEMU's own call finds the reason. */
static void replace(struct feed_process *process, struct feed_thread *thread,
		    const struct vector *words, const struct vector *variables,
		    const sigset_t *mask)
{
	bool others = process->threads_seen > 1 && start_exclusive && end_exclusive;

	/* Others may wait for this one on the machine. */
	feed_thread_pause(thread);
	if (others)
		start_exclusive();
	feed_exec_hand_on(process, thread);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	execute(words->all, variables->all);
	if (others)
		end_exclusive();
}

static bool has_signal(const sigset_t *mask)
{
	sigset_t pending;

	sigpending(&pending);
	for (int signal = 1; signal < NSIG; signal++)
		if (sigismember(&pending, signal) == 1 && sigismember(mask, signal) == 0)
			return true;
	return false;
}

static void emulate(struct feed_process *process, struct feed_thread *thread,
		    const struct feed_exec *exec, uint64_t guest_base, const sigset_t *mask)
{
	struct vector words = {0}, variables = {0};

	if (can_emulate() && add_own_words(&words) && add_words(&words, exec, guest_base) &&
	    add_variables(&variables, exec->envp, guest_base) && !has_signal(mask))
		replace(process, thread, &words, &variables, mask);
	free(words.all);
	free(variables.all);
}

void exec_guest(struct feed_process *process, struct feed_thread *thread, int64_t number,
		const uint64_t *arguments, uint64_t guest_base, struct emul_report *report)
{
	struct feed_exec *exec = malloc(sizeof(*exec));
	sigset_t all, mask;

	native = NULL;
	if (!exec)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	feed_exec_read(exec, number, arguments, guest_base, own.program);
	if (exec->fate == FEED_EXEC_EMULATED)
		emulate(process, thread, exec, guest_base, &mask);
	if (exec->fate != FEED_EXEC_FAILS) {
		feed_thread_leave(thread);
		native = emul_report_native(
		    report, exec->path, exec->why ? exec->why : "no emulator can be started there");
	}
	free(exec);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void exec_guest_failed(void)
{
	emul_native_failed(native);
	native = NULL;
}
