/* Starts the emulator on a program: its arguments, and what it inherits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/run.h"
#include "feed/began.h"

/* What the emulator is given beside its arguments: open in the process it becomes, and only there.
 */
struct handed {
	int block;	   /* the machine's; -1: none */
	int began;	   /* a byte of memory, enum feed_began */
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

/* Arguments of the emulator; to be freed with run_free_argv(). */
static char **qemu_argv(const struct run *run, struct handed *handed)
{
	size_t count = 0, used = 0;
	char **argv;

	while (run->argv[count])
		count++;
	argv = calloc(count + 10, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[used++] = strdup(run->qemu);
	argv[used++] = strdup("-cpu");
	argv[used++] = strdup(run->cpu);
	argv[used++] = strdup("-plugin");
	argv[used++] = plugin_argument(run->plugin, handed);
	if (run->guest) {
		argv[used++] = strdup("-E");
		argv[used++] = preload_argument(run->guest, &handed->guest);
	}
	argv[used++] = strdup("-0");
	argv[used++] = strdup(run->argv[0]);
	argv[used++] = strdup(run->program);
	for (size_t i = 1; i < count; i++)
		argv[used++] = strdup(run->argv[i]);
	for (size_t i = 0; i < used; i++)
		if (!argv[i]) {
			/* What follows the gap would be lost to run_free_argv(). */
			while (used-- > i)
				free(argv[used]);
			run_free_argv(argv);
			return NULL;
		}
	return argv;
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

static int run_emulator(const struct cli *cli, const struct run *run, char **argv,
			const struct handed *handed, int *exit)
{
	struct child_signals signals;
	struct child child;
	int code;

	child_guard(&signals);
	hand_over(handed, 0);
	code = child_start(cli, &child, argv, &signals);
	hand_over(handed, FD_CLOEXEC);
	child.watch = run->watch;
	if (!code)
		code = child_finish(cli, &child, exit);
	if (!code && (child.gone || (*exit == 128 + SIGKILL && has_hung_up(run->watch))))
		code = cli_error(cli, EXIT_FAILED, "the machine has ended, and with it %s",
				 run->argv[0]);
	child_unguard(&signals);
	return code;
}

static enum feed_began what_began(const struct handed *handed)
{
	char began;

	return pread(handed->began, &began, 1, 0) == 1 ? (enum feed_began)began : FEED_NOT_BEGUN;
}

/* A signal that was sent says enough by itself, as the plugin has where it refused. */
static int never_ran(const struct cli *cli, const struct run *run, enum feed_began began, int exit)
{
	if (began == FEED_REFUSED)
		return RUN_NOT_EXECUTABLE;
	if (exit > 128 && exit <= 128 + SIGRTMAX)
		return cli_error(cli, exit, "%s was ended by signal %d before it began to run",
				 run->argv[0], exit - 128);
	return cli_error(cli, RUN_NOT_EXECUTABLE,
			 "%s never began to run: %s ended with exit code %d", run->argv[0],
			 run->qemu, exit);
}

static void close_all(const int *descriptors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
}

int run_program(const struct cli *cli, const struct run *run, int block, int *exit)
{
	struct handed handed = {.block = block,
				.plugin = -1,
				.guest = -1,
				.began = memfd_create("pmulab-began", MFD_CLOEXEC)};
	char **argv = NULL;
	enum feed_began began;
	int code;

	*exit = EXIT_FAILED;
	if (handed.began < 0 || ftruncate(handed.began, 1)) {
		code = cli_error(cli, EXIT_FAILED, "no memory to share with %s: %s", run->argv[0],
				 strerror(errno));
		goto out;
	}
	argv = qemu_argv(run, &handed);
	if (!argv) {
		code = cli_error(cli, EXIT_FAILED, "cannot set up the emulator's arguments: %s",
				 strerror(errno));
		goto out;
	}
	code = run_emulator(cli, run, argv, &handed, exit);
	began = what_began(&handed);
	if (!code && began != FEED_BEGAN)
		code = never_ran(cli, run, began, *exit);
out:
	run_free_argv(argv);
	close_all((const int[]){handed.guest, handed.plugin, handed.began}, 3);
	return code;
}
