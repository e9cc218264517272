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
#include <sys/stat.h>
#include <unistd.h>

#include "feed/memory.h"

#define WORDS_MAX     (1u << 20)
#define SCRIPT_WORDS  3 /* that a script adds: interpreter, argument, path */
#define EMULATOR_PATH "/proc/self/exe"

/* In front of a variable that the emulator sets for its program. */
#define SET_VARIABLE "-E"
#define PRELOAD	     "LD_PRELOAD="

/* Runs programs on a machine with an emulator of its own. */
#define COMMAND "pmulab"

#define FILES_MAX 4

/* QEMU's own: stops all other guest threads, or waits until they are in system calls. */
__attribute__((weak)) void start_exclusive(void);
__attribute__((weak)) void end_exclusive(void);

/* As they were when this emulator began. */
static struct {
	char **words;  /* NULL: not as we know them */
	size_t count;  /* of those before the program's variables */
	char *program; /* its path; NULL: not known */
	char emulator[PATH_MAX];
	char *files[FILES_MAX]; /* that it opens; NULL */
	bool is_tool;		/* the guest sees the machine, and does not run on it */
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

	if (machine)
		own.files[0] = strdup(machine);
	if (dladdr((const void *)&own, &plugin))
		own.files[1] = strdup(plugin.dli_fname);
	if (report)
		own.files[2] = strdup(report);
}

/* Path of what the emulator was told to load into the guest; NULL: nothing. To be freed */
static char *preloaded(void)
{
	for (size_t i = own.count; own.words && !strcmp(own.words[i], SET_VARIABLE); i += 2) {
		const char *path = own.words[i + 1] + strlen(PRELOAD);

		if (!strncmp(own.words[i + 1], PRELOAD, strlen(PRELOAD)))
			return strndup(path, strcspn(path, ":"));
	}
	return NULL;
}

void exec_init_tool(const char *path, struct emul_report *report)
{
	struct executable file;

	own.is_tool = true;
	exec_init(NULL, path);
	own.files[3] = preloaded();
	if (!own.program)
		return;
	executable_read(&file, own.program);
	/* Nothing is loaded into it, which could answer. */
	if (file.kind == EXECUTABLE_PROGRAM && !file.names_loader)
		emul_report_native(report, own.program, "statically linked");
}

/*
 * Not where the guest has become another user, or has another root. access() looks without the
 * capabilities that it may have kept until now.
 */
static bool can_emulate(void)
{
	for (size_t i = 0; i < FILES_MAX; i++)
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

/* @return the guest's value of "NAME=..."; NULL: it has none */
static const char *value_of(const struct vector *variables, const char *setting)
{
	size_t length = strcspn(setting, "=") + 1;

	for (size_t i = 0; i < variables->used; i++)
		if (variables->all[i] && !strncmp(variables->all[i], setting, length))
			return variables->all[i] + length;
	return NULL;
}

/*
 * What this emulator was told to load first, and behind it what the guest wants loaded. A guest
 * that has not loaded it, a static program, still has it in its own list.
 * @return what is to be freed, or NULL
 */
static char *preload(const char *setting, const char *wanted)
{
	size_t length = strcspn(setting, ":"), name = strlen(PRELOAD);
	bool listed = wanted && !strncmp(wanted, setting + name, length - name);
	char *word;

	/* The emulator takes a comma for the end of the variable. */
	if (wanted && strchr(wanted, ','))
		return NULL;
	if (asprintf(&word, "%.*s%s%s", (int)(listed ? name : length), setting,
		     wanted && *wanted && !listed ? ":" : "", wanted ? wanted : "") < 0)
		return NULL;
	return word;
}

/*
 * A tool's settings, as they were given first: for one whose environment was cleaned too. What the
 * guest has set otherwise stays.
 * @param made  receives what is to be freed
 */
static bool add_settings(struct vector *words, const struct vector *variables, char **made)
{
	bool added = true;

	for (size_t i = own.count; added && !strcmp(own.words[i], SET_VARIABLE); i += 2) {
		const char *setting = own.words[i + 1];
		const char *value = value_of(variables, setting);

		if (!strncmp(setting, PRELOAD, strlen(PRELOAD)))
			setting = *made = preload(setting, value);
		else if (value)
			continue;
		added = setting && add(words, SET_VARIABLE) && add(words, setting);
	}
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

/* Of a tool nobody counts the threads. */
static bool has_others(const struct feed_process *process)
{
	return (!process || process->threads_seen > 1) && start_exclusive && end_exclusive;
}

/* Returns where it fails: the guest goes on, and QEMU's own call finds the reason. */
static void replace(struct feed_process *process, struct feed_thread *thread,
		    const struct vector *words, const struct vector *variables,
		    const sigset_t *mask)
{
	bool others = has_others(process);

	/* Others may wait for this one on the machine. */
	if (thread)
		feed_thread_pause(thread);
	if (others)
		start_exclusive();
	if (process)
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
	char *made = NULL;

	if (can_emulate() && add_variables(&variables, exec->envp, guest_base) &&
	    add_own_words(&words) && add_settings(&words, &variables, &made) &&
	    add_words(&words, exec, guest_base) && !has_signal(mask))
		replace(process, thread, &words, &variables, mask);
	free(made);
	free(words.all);
	free(variables.all);
}

/* What a tool starts to run programs on the machine runs as it is, and needs no mention. */
static bool runs_programs(const char *path)
{
	char *real = realpath(path, NULL);
	bool found = real && (!strcmp(real, own.emulator) || !strcmp(basename(real), COMMAND));

	free(real);
	return found;
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
	if (exec->fate == FEED_EXEC_EMULATED && own.is_tool && runs_programs(exec->program))
		exec->fate = FEED_EXEC_FAILS;
	if (exec->fate == FEED_EXEC_EMULATED)
		emulate(process, thread, exec, guest_base, &mask);
	if (exec->fate != FEED_EXEC_FAILS) {
		if (thread) {
			feed_thread_leave(thread);
			feed_process_keep_times(process);
		}
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
