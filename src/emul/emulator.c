/* Starts the emulator on a program: its arguments, and what it inherits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"
#include "emul/child.h"
#include "emul/files.h"
#include "emul/program.h"
#include "emul/report.h"

/*
 * What the emulator is given beside its arguments: descriptors of this process, which it opens by
 * their paths. So do those that take its place when the program executes another.
 */
struct handed {
	int block;  /* the machine's; -1: none */
	int report; /* memory: struct emul_report */
	const struct pmu_machine *machine;
	int plugin, guest; /* libraries whose paths cannot be said; -1 */
};

/* What the emulator's options and the loader's lists are divided at, or replace. */
#define DIVIDERS ",: $"

#define OPEN_PATH_BYTES 48

static const char *path_of(int fd, char path[OPEN_PATH_BYTES])
{
	snprintf(path, OPEN_PATH_BYTES, "/proc/%d/fd/%d", (int)getpid(), fd);
	return path;
}

/*
 * A path that would not arrive as it is is named by a descriptor.
 * @param fd  receives it, or is left as it is
 */
static const char *plain_path(const char *library, char open_path[OPEN_PATH_BYTES], int *fd)
{
	if (!strpbrk(library, DIVIDERS))
		return library;
	*fd = open(library, O_RDONLY | O_CLOEXEC);
	/* Without, the emulator says itself what is wrong. */
	return *fd < 0 ? library : path_of(*fd, open_path);
}

/* In front of what the user has it load. */
static char *preload_argument(const char *library, int *fd)
{
	const char *others = getenv("LD_PRELOAD");
	char open_path[OPEN_PATH_BYTES], *argument;

	if (asprintf(&argument, "LD_PRELOAD=%s%s%s", plain_path(library, open_path, fd),
		     others ? ":" : "", others ? others : "") < 0)
		return NULL;
	return argument;
}

static char *plugin_argument(const char *plugin, struct handed *handed)
{
	char open_path[OPEN_PATH_BYTES], block[OPEN_PATH_BYTES], report[OPEN_PATH_BYTES];
	bool feeds = handed->block >= 0;
	char *argument;

	if (asprintf(&argument, "file=%s,%s%s%sreport=%s",
		     plain_path(plugin, open_path, &handed->plugin), feeds ? "machine=" : "",
		     feeds ? path_of(handed->block, block) : "", feeds ? "," : "",
		     path_of(handed->report, report)) < 0)
		return NULL;
	return argument;
}

/* A list of words that grows; NULL where there was no memory for one. */
struct words {
	char **all;
	size_t used, size;
};

/* Takes the word over; NULL stands for one that there was no memory for. */
static void take_word(struct words *words, char *word)
{
	char **more = words->all;

	if (words->all && word && words->used + 2 > words->size) {
		words->size *= 2;
		more = realloc(words->all, words->size * sizeof(*more));
	}
	if (words->all && word && more) {
		words->all = more;
		words->all[words->used++] = word;
		words->all[words->used] = NULL;
		return;
	}
	free(word);
	program_free_argv(words->all);
	words->all = NULL;
}

static void add_word(struct words *words, const char *word)
{
	take_word(words, strdup(word));
}

__attribute__((format(printf, 2, 3))) static void add_format(struct words *words,
							     const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		word = NULL;
	va_end(arguments);
	take_word(words, word);
}

static void add_program(struct words *words, const struct pmu_program *program)
{
	add_word(words, program->program);
	for (size_t i = 1; program->argv[i]; i++)
		add_word(words, program->argv[i]);
}

static void add_qemu(struct words *words, const struct pmu_program *program, struct handed *handed)
{
	add_word(words, program->emulator);
	add_word(words, "-cpu");
	add_word(words, program->cpu);
	add_word(words, "-plugin");
	take_word(words, plugin_argument(program->plugin, handed));
	if (program->guest) {
		add_word(words, "-E");
		take_word(words, preload_argument(program->guest, &handed->guest));
	}
	for (size_t i = 0; i < PROGRAM_SETTINGS && program->settings[i]; i++) {
		add_word(words, "-E");
		add_word(words, program->settings[i]);
	}
	add_word(words, "-0");
	add_word(words, program->argv[0]);
	add_program(words, program);
}

/* The program sees VALGRIND_LIB too: Valgrind wants to be told by its environment. */
static void add_valgrind(struct words *words, const struct pmu_program *program,
			 const struct handed *handed)
{
	char block[OPEN_PATH_BYTES], report[OPEN_PATH_BYTES];

	add_word(words, "env");
	add_format(words, "VALGRIND_LIB=%s", program->plugin);
	add_word(words, program->emulator);
	add_word(words, "--tool=pmulab");
	add_word(words, "--quiet");
	/* Of which 500 are its own choice; 7 KB each. */
	add_word(words, "--max-threads=4096");
	add_word(words, "--vgdb=no");
	add_word(words, "--run-libc-freeres=no");
	add_word(words, "--run-cxx-freeres=no");
	add_word(words, "--trace-children=yes");
	add_format(words, "--machine=%s", path_of(handed->block, block));
	add_format(words, "--report=%s", path_of(handed->report, report));
	add_program(words, program);
}

/* Arguments of the emulator; to be freed with program_free_argv(). */
static char **emulator_argv(const struct pmu_program *program, struct handed *handed)
{
	struct words words = {calloc(32, sizeof(*words.all)), 0, 32};

	if (program->options.feed == PMU_FEED_VALGRIND)
		add_valgrind(&words, program, handed);
	else
		add_qemu(&words, program, handed);
	return words.all;
}

/* Who watched with us may have been the first to end the program. */
static bool has_hung_up(int watch)
{
	struct pollfd watched = {.fd = watch};

	return watch >= 0 && poll(&watched, 1, 0) == 1 && watched.revents & POLLHUP;
}

/* QEMU gives the program its variables in the opposite order. */
static void reverse_environment(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	for (size_t i = 0; i < count / 2; i++) {
		char *variable = environ[i];

		environ[i] = environ[count - 1 - i];
		environ[count - 1 - i] = variable;
	}
}

static void make_files(void *files)
{
	emul_files_make(files);
}

/* @param files  NULL: the program does not ask for any */
static int run_emulator(const struct pmu_program *program, struct pmu_ctx *ctx, char **argv,
			int watch, struct emul_files *files, struct pmu_program_result *result)
{
	const struct pmu_child_options options = {.size = sizeof(options),
						  .guard = program->options.guard};
	struct pmu_child *child;
	int error;

	error = child_new(&child, ctx, argv, &options,
			  program->options.feed == PMU_FEED_QEMU ? reverse_environment : NULL);
	if (error)
		return error;
	child_watch(child, watch);
	if (files)
		child_serve(child, files->asked, make_files, files);
	error = pmu_child_run(child, ctx, result);
	pmu_child_free(child);
	if (!error && result->exit == 128 + SIGKILL && has_hung_up(watch))
		result->machine_ended = true;
	return error;
}

/* Shared with the emulators; NULL where there is no memory for it. */
static struct emul_report *map_report(int fd)
{
	struct emul_report *report;

	if (fd < 0 || ftruncate(fd, sizeof(*report)))
		return NULL;
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return report == MAP_FAILED ? NULL : report;
}

static void keep_natives(struct pmu_program *program, const struct emul_report *report)
{
	program->hints_ignored = report->hints_ignored;
	program->native_count = 0;
	for (uint32_t i = 0; i < report->native_count && i < EMUL_NATIVES_MAX; i++) {
		struct emul_native *kept = &program->natives[program->native_count];

		*kept = report->natives[i];
		kept->path[sizeof(kept->path) - 1] = kept->why[sizeof(kept->why) - 1] = '\0';
		if (kept->named && kept->times)
			program->native_count++;
	}
	if (report->more)
		program->natives[program->native_count++] = (struct emul_native){
		    .path = "others", .why = "too many to name", .times = report->more};
}

/* A signal that was sent says enough by itself. */
static int never_ran(const struct pmu_program *program, struct pmu_ctx *ctx,
		     const struct emul_report *report, struct pmu_program_result *result)
{
	int exit = result->exit;

	if (exit > 128 && exit <= 128 + SIGRTMAX)
		return error_set(ctx, PMU_E_STATE,
				 "%s was ended by signal %d before it began to run",
				 program->argv[0], exit - 128);
	result->exit = CHILD_NOT_EXECUTABLE;
	if (*report->refusal)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s never began to run: %s",
				 program->argv[0], report->refusal);
	if (exit > CHILD_FAILED && exit < CHILD_NOT_EXECUTABLE)
		return error_set(ctx, PMU_E_IO,
				 "%s never began to run: the emulator cannot open its memory: %s",
				 program->argv[0], strerror(exit));
	return error_set(ctx, PMU_E_UNSUPPORTED,
			 "%s never began to run: %s ended with exit code %d", program->argv[0],
			 program->emulator, exit);
}

static void close_all(const int *descriptors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
}

static int run(struct pmu_program *program, struct pmu_ctx *ctx, struct handed *handed,
	       struct emul_report *report, int watch, struct pmu_program_result *result)
{
	struct emul_files files;
	char **argv = emulator_argv(program, handed);
	int error;

	if (!argv)
		return error_set(ctx, PMU_E_IO, "cannot set up the emulator's arguments: %s",
				 strerror(errno));
	/* Tools find the files where they are mounted. */
	if (handed->machine)
		emul_files_init(&files, handed->machine, report);
	error = run_emulator(program, ctx, argv, watch, handed->machine ? &files : NULL, result);
	if (handed->machine)
		emul_files_fini(&files);
	program_free_argv(argv);
	report->refusal[sizeof(report->refusal) - 1] = '\0';
	keep_natives(program, report);
	if (!report->began)
		result->ran = false;
	/* Of one that ended with its machine that is what is said. */
	if (!error && !report->began && !result->machine_ended)
		error = never_ran(program, ctx, report, result);
	return error;
}

int program_run(struct pmu_program *program, struct pmu_ctx *ctx, const struct pmu_machine *machine,
		int block, int watch, struct pmu_program_result *result)
{
	struct handed handed = {.block = block,
				.plugin = -1,
				.guest = -1,
				.machine = machine,
				.report = memfd_create("pmulab-report", MFD_CLOEXEC)};
	struct pmu_program_result found = {.size = sizeof(found), .exit = CHILD_FAILED};
	struct emul_report *report = map_report(handed.report);
	int error, given = 0;

	if (report)
		error = run(program, ctx, &handed, report, watch, &found);
	else
		error = error_set(ctx, PMU_E_IO, "no memory to share with %s: %s", program->argv[0],
				  strerror(errno));
	if (report)
		munmap(report, sizeof(*report));
	close_all((const int[]){handed.guest, handed.plugin, handed.report}, 3);
	if (result)
		given = option_give(result, &found, sizeof(found));
	return error ? error : given;
}
