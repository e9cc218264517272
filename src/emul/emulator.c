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
#include "emul/began.h"
#include "emul/child.h"
#include "emul/program.h"

/* What the emulator is given beside its arguments: open in the process it becomes, and only there.
 */
struct handed {
	int block;	   /* the machine's; -1: none */
	int began;	   /* memory: struct emul_began */
	int plugin, guest; /* libraries whose paths cannot be said; -1 */
};

/* What the emulator's options and the loader's lists are divided at, or replace. */
#define DIVIDERS ",: $"

#define OPEN_PATH_BYTES 32

/*
 * A path that would not arrive as it is is named by a descriptor. The library closes it when it
 * begins (plugin/).
 * @param fd  receives it, or is left as it is
 */
static const char *plain_path(const char *library, char open_path[OPEN_PATH_BYTES], int *fd)
{
	if (!strpbrk(library, DIVIDERS))
		return library;
	*fd = open(library, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return library; /* it says itself what is wrong */
	snprintf(open_path, OPEN_PATH_BYTES, "/proc/self/fd/%d", *fd);
	return open_path;
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
	char open_path[OPEN_PATH_BYTES], block[OPEN_PATH_BYTES] = "", *argument;

	if (handed->block >= 0)
		snprintf(block, sizeof(block), "fd=%d,", handed->block);
	if (asprintf(&argument, "file=%s,%sbegan=%d",
		     plain_path(plugin, open_path, &handed->plugin), block, handed->began) < 0)
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
	add_word(words, "env");
	add_format(words, "VALGRIND_LIB=%s", program->plugin);
	add_word(words, program->emulator);
	add_word(words, "--tool=pmulab");
	add_word(words, "--quiet");
	add_word(words, "--vgdb=no");
	add_word(words, "--run-libc-freeres=no");
	add_word(words, "--run-cxx-freeres=no");
	add_format(words, "--machine=%d", handed->block);
	add_format(words, "--began=%d", handed->began);
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

static void hand_over(const struct handed *handed, int flags)
{
	const int descriptors[] = {handed->block, handed->began, handed->plugin, handed->guest};

	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		if (descriptors[i] >= 0)
			fcntl(descriptors[i], F_SETFD, flags);
}

/* Who watched with us may have been the first to end the program. */
static bool has_hung_up(int watch)
{
	struct pollfd watched = {.fd = watch};

	return watch >= 0 && poll(&watched, 1, 0) == 1 && watched.revents & POLLHUP;
}

static int run_emulator(const struct pmu_program *program, struct pmu_ctx *ctx, char **argv,
			const struct handed *handed, int watch, struct pmu_program_result *result)
{
	const struct pmu_child_options options = {.size = sizeof(options),
						  .guard = program->options.guard};
	struct pmu_child *child;
	int error;

	hand_over(handed, 0);
	error = pmu_child_new(&child, ctx, argv, &options);
	hand_over(handed, FD_CLOEXEC);
	if (error)
		return error;
	child_watch(child, watch);
	error = pmu_child_run(child, ctx, result);
	pmu_child_free(child);
	if (!error && result->exit == 128 + SIGKILL && has_hung_up(watch))
		result->machine_ended = true;
	return error;
}

/* All zeros where it cannot be read. */
static struct emul_began what_began(const struct handed *handed)
{
	struct emul_began began = {0};

	if (pread(handed->began, &began, sizeof(began), 0) != sizeof(began))
		return (struct emul_began){0};
	began.refusal[sizeof(began.refusal) - 1] = '\0';
	return began;
}

/* A signal that was sent says enough by itself. */
static int never_ran(const struct pmu_program *program, struct pmu_ctx *ctx,
		     const struct emul_began *began, struct pmu_program_result *result)
{
	int exit = result->exit;

	if (exit > 128 && exit <= 128 + SIGRTMAX)
		return error_set(ctx, PMU_E_STATE,
				 "%s was ended by signal %d before it began to run",
				 program->argv[0], exit - 128);
	result->exit = CHILD_NOT_EXECUTABLE;
	if (*began->refusal)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s never began to run: %s",
				 program->argv[0], began->refusal);
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

static int run(const struct pmu_program *program, struct pmu_ctx *ctx, struct handed *handed,
	       int watch, struct pmu_program_result *result)
{
	struct emul_began began;
	char **argv;
	int error;

	if (handed->began < 0 || ftruncate(handed->began, sizeof(began)))
		return error_set(ctx, PMU_E_IO, "no memory to share with %s: %s", program->argv[0],
				 strerror(errno));
	argv = emulator_argv(program, handed);
	if (!argv)
		return error_set(ctx, PMU_E_IO, "cannot set up the emulator's arguments: %s",
				 strerror(errno));
	error = run_emulator(program, ctx, argv, handed, watch, result);
	program_free_argv(argv);
	began = what_began(handed);
	if (!began.began)
		result->ran = false;
	/* Of one that ended with its machine that is what is said. */
	if (!error && !began.began && !result->machine_ended)
		error = never_ran(program, ctx, &began, result);
	return error;
}

int program_run(const struct pmu_program *program, struct pmu_ctx *ctx, int block, int watch,
		struct pmu_program_result *result)
{
	struct handed handed = {.block = block,
				.plugin = -1,
				.guest = -1,
				.began = memfd_create("pmulab-began", MFD_CLOEXEC)};
	struct pmu_program_result found = {.size = sizeof(found), .exit = CHILD_FAILED};
	int given = 0, error = run(program, ctx, &handed, watch, &found);

	close_all((const int[]){handed.guest, handed.plugin, handed.began}, 3);
	if (result)
		given = option_give(result, &found, sizeof(found));
	return error ? error : given;
}
